//! A message of a group that its sender signed, and the file that proves it to a third party.
//! Receiver → anyone.
//!
//! ```text
//! content = "folkmoot message v1" ‖ 00 ‖ version byte ‖ Stamp (view, epoch, sender, number, service) ‖ the text, to the end
//! CMS     = SignedData(content attached, sender's certificate: founder's identity or GMC, one SignerInfo)
//! in the group: the signature alone travels, sealed with the text; the rest follows from where and how it came
//! ```
//! The sender in the stamp is a party: a member and the port of its program. Each party of a member
//! counts its own messages from zero, all under the member's one key; without the port, a signature
//! of one would fit the other's message with the same number. The stamp tells this message from
//! every other of the member, so a signature fits one message of one party in one view of one
//! group.

use crate::gmc::GMC_BYTES_MAX;
use crate::{CertificateError, Charter, CmsError, Gmc, IdentityCertificate, cms};
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
use folkmoot_base::{DecodeError, GroupId, GroupName, MemberId, Party, Service, ViewId};
use folkmoot_signing::{Signature, SigningKey, VerifyingKey};

/// First bytes of every signed message's content.
const DOMAIN: &[u8] = b"folkmoot message v1\0";
/// Version, view, epoch, sender, number, service: one length.
const STAMP_BYTES: usize = 1 + 96 + 8 + Party::BYTES + 8 + 1;
/// Longest signed message, in bytes of DER: the longest text, the longest certificate, and what
/// holds them together.
pub const SIGNED_MESSAGE_BYTES_MAX: usize = MESSAGE_BYTES_MAX + GMC_BYTES_MAX + 4 * 1024;

/// Why a signed message was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The envelope was refused.
    #[error(transparent)]
    Cms(#[from] CmsError),
    /// The signed content is not a message (another label: a vote, a charter), or it is cut short.
    #[error("the signed content is not a group's message")]
    WireDomain,
    /// The stamp does not decode.
    #[error("the message's stamp is malformed")]
    WireStamp(#[from] DecodeError),
    /// The text is longer than any message's.
    #[error("the text has {0} bytes, more than a message may have")]
    WireTooLong(usize),
    /// The signer's certificate was refused, or does not stand under the charter.
    #[error("the signer's certificate is refused")]
    Certificate(#[from] CertificateError),
    /// The signature is not the sender's over this message.
    #[error("the signature of {0} does not verify")]
    PeerSignature(Party),
    /// Another key signed than that of the sender named in the message.
    #[error("the message names {0} as its sender, who did not sign it")]
    PeerNotSender(Party),
    /// The message was sent in another group than the one it is shown under.
    #[error("the message was sent in another group")]
    PeerOtherGroup,
    /// The charter, or the transcript, does not know the sender as a member.
    #[error("{0} was never a member of the group, as far as is known here")]
    PeerNotMember(MemberId),
}

/// What distinguishes one message from every other: where it was sent, by whom, as which of its
/// messages, and how it was ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Stamp {
    /// The view in which it was sent, and so the group.
    pub view: ViewId,
    /// The key of that view: the session's public tag of it.
    pub epoch: [u8; 8],
    /// The sender: a member, and which of the member's programs.
    pub sender: Party,
    /// Its number among this party's messages under that key, from zero.
    pub number: u64,
    /// How it was ordered.
    pub service: Service,
}

impl Stamp {
    /// Signs `text` (0 to 16 MiB) under this stamp. The caller's key is that of the sender's
    /// member. Deterministic.
    pub fn sign(&self, key: &SigningKey, text: &[u8]) -> Signature {
        cms::sign_parts(key, &[&self.head(), text])
    }

    /// Whether `key` is that of the sender's member, and signed `text` under this stamp.
    ///
    /// # Errors
    /// [`MessageError::PeerNotSender`], [`MessageError::PeerSignature`].
    pub fn verify(&self, key: &VerifyingKey, text: &[u8], signature: &Signature) -> Result<(), MessageError> {
        if key.member_id() != self.sender.member {
            return Err(MessageError::PeerNotSender(self.sender));
        }
        cms::verify_parts(key, &[&self.head(), text], signature)
            .map_err(|_| MessageError::PeerSignature(self.sender))
    }

    /// The bytes that a signature covers: label, stamp, text. Without a signature they are a record
    /// that proves nothing.
    pub fn record(&self, text: &[u8]) -> Vec<u8> {
        let mut out = self.head();
        out.extend_from_slice(text);
        out
    }

    /// Reads what [`Self::record`] writes.
    ///
    /// # Errors
    /// [`MessageError::WireDomain`], [`MessageError::WireStamp`], [`MessageError::WireTooLong`].
    pub fn from_record(record: &[u8]) -> Result<(Self, &[u8]), MessageError> {
        let body = record.strip_prefix(DOMAIN).ok_or(MessageError::WireDomain)?;
        let (stamp, text) = body.split_at_checked(STAMP_BYTES).ok_or(MessageError::WireDomain)?;
        if text.len() > MESSAGE_BYTES_MAX {
            return Err(MessageError::WireTooLong(text.len()));
        }
        Ok((codec::decode(stamp)?, text))
    }

    fn head(&self) -> Vec<u8> {
        let mut out = DOMAIN.to_vec();
        out.extend(codec::encode(self));
        out
    }
}

/// The certificate that a signer shows: every member has one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignerCertificate {
    /// A founder's identity certificate, as it stands in the signed charter.
    Founder(Box<IdentityCertificate>),
    /// The certificate of a member that was voted in: its votes are inside.
    Admitted(Box<Gmc>),
}

impl SignerCertificate {
    fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        match IdentityCertificate::from_der(der) {
            Ok(certificate) => Ok(Self::Founder(Box::new(certificate))),
            Err(CertificateError::WireProfile(_) | CertificateError::WireTooLong(_)) => {
                Gmc::from_der(der).map(|gmc| Self::Admitted(Box::new(gmc)))
            }
            Err(error) => Err(error),
        }
    }

    /// The signer's key.
    pub fn key(&self) -> &VerifyingKey {
        match self {
            Self::Founder(certificate) => certificate.key(),
            Self::Admitted(gmc) => gmc.key(),
        }
    }

    /// The signer's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Founder(certificate) => certificate.name(),
            Self::Admitted(gmc) => gmc.name(),
        }
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        match self {
            Self::Founder(certificate) => certificate.der(),
            Self::Admitted(gmc) => gmc.der(),
        }
    }

    /// The PEM form: the `-CAfile` under which OpenSSL verifies what the holder signed.
    pub fn to_pem(&self) -> String {
        match self {
            Self::Founder(certificate) => certificate.to_pem(),
            Self::Admitted(gmc) => gmc.to_pem(),
        }
    }
}

/// A message that its sender signed, as a file that stands alone: text, stamp, certificate,
/// signature, each verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedMessage {
    stamp: Stamp,
    text: Bytes,
    certificate: SignerCertificate,
    der: Vec<u8>,
}

impl SignedMessage {
    /// Puts a message together from its parts, as they were received.
    ///
    /// # Errors
    /// [`MessageError::PeerNotSender`], [`MessageError::PeerSignature`]: they do not belong
    /// together.
    pub fn assemble(
        stamp: Stamp,
        text: Bytes,
        signature: &Signature,
        certificate: SignerCertificate,
    ) -> Result<Self, MessageError> {
        stamp.verify(certificate.key(), &text, signature)?;
        let der = cms::assemble_by(&stamp.record(&text), certificate.der(), signature)?;
        Ok(Self { stamp, text, certificate, der })
    }

    /// Reads a signed message and verifies everything that needs no charter: its one form, the
    /// certificate's own signature, the signature over content and attributes that are made anew,
    /// and that the signer is the sender's member.
    ///
    /// # Errors
    /// [`MessageError`].
    pub fn from_der(der: &[u8]) -> Result<Self, MessageError> {
        let (content, certificate, signature) = cms::single(der, SIGNED_MESSAGE_BYTES_MAX)?;
        let (stamp, text) = Stamp::from_record(&content)?;
        let certificate = SignerCertificate::from_der(&certificate)?;
        stamp.verify(certificate.key(), text, &signature)?;
        let text = Bytes::copy_from_slice(text);
        Ok(Self { stamp, text, certificate, der: der.to_vec() })
    }

    /// Whether the sender's member is one by `charter` as founded and by what the file itself
    /// holds: a founder, or admitted by enough of the founders under the charter's first version.
    /// If the group has changed its charter or its voters since, the transcript is needed. `named`
    /// is the group under the charter's in which it was said; none for the charter's own. Does not
    /// judge whether the member was expelled later.
    ///
    /// # Errors
    /// [`MessageError::PeerOtherGroup`], [`MessageError::PeerNotMember`],
    /// [`MessageError::Certificate`].
    pub fn check_charter(&self, charter: &Charter, named: Option<&GroupName>) -> Result<(), MessageError> {
        self.check_group(charter.group(), named)?;
        let key = |member: &MemberId| charter.founder(member).map(|founder| &founder.key);
        match &self.certificate {
            SignerCertificate::Admitted(gmc) => Ok(gmc.check_authority(charter, key)?),
            SignerCertificate::Founder(shown) => {
                let founder = charter.founder(&shown.member());
                let named = founder.is_some_and(|founder| founder.name == shown.name());
                if named { Ok(()) } else { Err(MessageError::PeerNotMember(self.stamp.sender.member)) }
            }
        }
    }

    /// ID-62: whether it was said in the charter's own group, or in the group with this name under
    /// it.
    ///
    /// # Errors
    /// [`MessageError::PeerOtherGroup`].
    pub fn check_group(&self, home: GroupId, named: Option<&GroupName>) -> Result<(), MessageError> {
        let group = named.map_or(home, |name| GroupId::of_name(&home, name));
        if self.stamp.view.group == group { Ok(()) } else { Err(MessageError::PeerOtherGroup) }
    }

    /// Where it was said, by whom, and as which message.
    pub fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// What was said.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// Who signed it, with key and name.
    pub fn certificate(&self) -> &SignerCertificate {
        &self.certificate
    }

    /// The CMS form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}
