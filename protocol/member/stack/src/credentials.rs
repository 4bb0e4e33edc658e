//! The answers to keying's and session's questions about identities, from our own key and the
//! transcript.

use folkmoot_base::{Digest, GroupId, MemberId, SignatureBytes};
use folkmoot_identity::{Identity, Signature, Stamp, VerifyingKey};
use folkmoot_keying::{Credentials, Terms};
use folkmoot_transcript::Transcript;

/// The domain label of every keying message (DECISIONS N4).
const LABEL: &[u8] = b"folkmoot keying v1";

/// Our own key, and the roster as the transcript has it.
pub(crate) struct Who<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) transcript: &'a Transcript,
    /// The group that the answers are for.
    pub(crate) group: GroupId,
    /// Whether the nodes of the configuration are far from each other (KEY-21).
    pub(crate) far: bool,
}

impl Who<'_> {
    fn key(&self, member: &MemberId) -> Option<&VerifyingKey> {
        self.transcript.roster().key_of(member).filter(|_| !self.is_out(member))
    }

    /// Whether the stamp's sender signed this. If the sender has left the roster since, it signed
    /// all the same; flush and session judge whether the message was sent in time.
    pub(crate) fn signed(&self, stamp: &Stamp, text: &[u8], signature: &Signature) -> bool {
        let key = self.transcript.roster().key_of(&stamp.sender.member);
        key.is_some_and(|key| stamp.verify(key, text, signature).is_ok())
    }
}

impl Credentials for Who<'_> {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        self.identity.key().sign_wire(LABEL, message)
    }

    fn verify(&self, member: &MemberId, message: &[u8], signature: &SignatureBytes) -> bool {
        self.key(member).is_some_and(|key| key.verify_wire(LABEL, message, signature).is_ok())
    }

    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.transcript.roster().member(member).map(|held| held.request)
    }

    fn is_out(&self, member: &MemberId) -> bool {
        self.transcript.roster().member(member).is_none() && !self.transcript.is_over(member)
    }

    fn terms(&self) -> Terms {
        let charter = self.transcript.roster().charter();
        let (keying, cipher) = charter.suite(&self.group);
        Terms { charter_version: u64::from(charter.version()), keying, far: self.far, cipher }
    }
}
