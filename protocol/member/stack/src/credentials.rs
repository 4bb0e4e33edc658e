//! What keying asks of identities, answered from own key and the transcript.

use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::transcript::Transcript;
use folkmoot_identity::{Identity, Signature, VerifyingKey};
use folkmoot_keying::Credentials;

/// Own key, and the roster as the transcript has it.
pub(crate) struct Who<'a> {
    pub(crate) identity: &'a Identity,
    pub(crate) transcript: &'a Transcript,
}

impl Who<'_> {
    fn key(&self, member: &MemberId) -> Option<&VerifyingKey> {
        self.transcript.roster().member(member).map(|admission| &admission.key)
    }
}

impl Credentials for Who<'_> {
    fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.identity.key().sign_raw(message).to_bytes()
    }

    fn verify(&self, member: &MemberId, message: &[u8], signature: &[u8; 64]) -> bool {
        let Some(key) = self.key(member) else { return false };
        Signature::from_bytes(signature).is_ok_and(|signature| key.verify_raw(message, &signature).is_ok())
    }

    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.transcript.roster().member(member).map(|admission| admission.entry.0)
    }

    fn charter_version(&self) -> u64 {
        u64::from(self.transcript.roster().charter().version())
    }
}
