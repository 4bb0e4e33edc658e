//! Whether members have carried out an exclusion: whoever excludes asks, and each member that has
//! answers.
//!
//! ```text
//! question     = 1 | nonce 16 | statement
//! confirmation = 2 | SHA-256 of the question 32 | certificate | signature of its key,
//!                under "folkmoot lcm excluded v1", over the SHA-256 | the group, as text
//! ```
//! Both travel plainly. A confirmation counts for one question alone: what was recorded answers
//! no other one. It says that the member has the exclusion on disk, and that no key that it uses
//! is shared with whoever was excluded.

use super::{Danger, Domain, Permit, Root};
use crate::discovery::Papers;
use crate::discovery::message::CERTIFICATE_BYTES_MAX;
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Blob, DecodeError, Digest, Entropy, UnixTime, digest, draw};
use folkmoot_signing::plain::Signature;

const LABEL: &[u8] = b"folkmoot lcm excluded v1\0";

/// What is said about an exclusion beside the statement itself.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Confirming {
    /// Who has carried this exclusion out?
    #[tls_codec(discriminant = 1)]
    Question(Question),
    /// I have.
    #[tls_codec(discriminant = 2)]
    Confirmation(Confirmation),
}

/// Who has carried this exclusion out?
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Question {
    /// Drawn for this question: what answers it is fresh.
    nonce: [u8; 16],
    /// The statement of the root.
    pub statement: Blob,
}

/// I have.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Confirmation {
    question: Digest,
    certificate: Blob,
    signature: Blob,
}

impl Confirming {
    /// Reads what came.
    ///
    /// # Errors
    /// [`DecodeError`]: it is neither of the two, in its one encoding, or it is too long.
    pub fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let read: Self = codec::decode(bytes)?;
        let longest = match &read {
            Self::Question(one) => one.statement.0.len(),
            Self::Confirmation(one) => one.certificate.0.len().max(one.signature.0.len()),
        };
        if longest <= CERTIFICATE_BYTES_MAX { Ok(read) } else { Err(DecodeError::Malformed) }
    }

    /// As it travels.
    pub fn encode(&self) -> Bytes {
        codec::encode(self).into()
    }
}

impl Question {
    /// A question that nobody has answered yet.
    pub fn new(statement: Bytes, entropy: &mut dyn Entropy) -> Self {
        Self { nonce: draw(entropy), statement: Blob(statement) }
    }

    /// The answer of whoever has these papers.
    pub fn confirm(&self, group: &Domain, papers: &impl Papers) -> Confirmation {
        let question = self.digest();
        let signature = papers.sign(&covered(&question, group));
        let certificate = Blob(Bytes::copy_from_slice(papers.certificate()));
        Confirmation { question, certificate, signature: Blob(signature.into()) }
    }

    fn digest(&self) -> Digest {
        digest(&[&self.nonce, &self.statement.0])
    }
}

impl Confirmation {
    /// Who confirms, if this answers `question` in `group` and a certificate of this root that
    /// counts now has signed it.
    pub fn judge(
        &self,
        question: &Question,
        group: &Domain,
        root: &Root,
        now: UnixTime,
        skew_seconds: u64,
    ) -> Option<Permit> {
        if self.question != question.digest() && !root.is(Danger::AnyQuestion) {
            return None;
        }
        let permit = root.permit(&self.certificate.0, now, skew_seconds).ok()?;
        let signature = Signature::from_bytes(&self.signature.0).ok()?;
        let signed = permit.key().verify_raw(&covered(&self.question, group), &signature).is_ok();
        let said = signed || root.is(Danger::AnyConfirmation);
        (said && permit.sender(group).is_some()).then_some(permit)
    }
}

fn covered(question: &Digest, group: &Domain) -> Vec<u8> {
    [LABEL, &question[..], group.to_string().as_bytes()].concat()
}
