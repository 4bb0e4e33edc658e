//! A member's desk, made again from what its disk has (`store.rs`).

use crate::desk::{Admission, Desk};
use crate::store::{REQUESTS, SHARES, VOTES};
use crate::{AdmissionError, Config};
use bytes::Bytes;
use folkmoot_base::StoreKey;
use folkmoot_base::codec;
use folkmoot_identity::{Identity, REVOKED_TABLE};
use folkmoot_transcript::Transcript;

impl Admission {
    /// Restores a member's desk. Hand in everything stored; other tables are passed over.
    ///
    /// # Errors
    /// [`AdmissionError::LocalCorrupt`] names the damaged table.
    pub fn load(
        config: Config,
        transcript: &Transcript,
        identity: &Identity,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, AdmissionError> {
        let mut admission = Self::new(config);
        let desk = &mut admission.desk;
        for (key, value) in stored.iter().filter(|(key, _)| key.table == REQUESTS) {
            desk.load_request(identity, &key.key, value).ok_or(AdmissionError::LocalCorrupt(REQUESTS))?;
        }
        for (key, _) in stored.iter().filter(|(key, _)| key.table == REQUESTS) {
            desk.requests.load_sponsored(&key.key);
        }
        for (key, value) in stored.iter().filter(|(key, _)| key.table == VOTES) {
            desk.load_vote(identity, &key.key, value).ok_or(AdmissionError::LocalCorrupt(VOTES))?;
        }
        for (key, value) in stored.iter().filter(|(key, _)| key.table == SHARES) {
            desk.signers
                .load_share(transcript, identity, (key, value), &mut desk.out)
                .ok_or(AdmissionError::LocalCorrupt(SHARES))?;
        }
        desk.signers.loaded_shares(transcript);
        for (_, value) in stored.iter().filter(|(key, _)| key.table == REVOKED_TABLE) {
            desk.signers.load_revocations(transcript, value);
        }
        Ok(admission)
    }
}

impl Desk {
    fn load_request(&mut self, identity: &Identity, key: &[u8], value: &[u8]) -> Option<()> {
        match key.first()? {
            b'r' => self.requests.load(&identity.member(), value)?,
            b'p' => self.voting.load_proposal(value)?,
            _ => {}
        }
        Some(())
    }

    fn load_vote(&mut self, identity: &Identity, key: &[u8], value: &[u8]) -> Option<()> {
        match key.first()? {
            b'b' => self.deciding.recall(codec::decode(value).ok()?),
            b'w' => self.voting.load_word(&identity.member(), value)?,
            _ => {}
        }
        Some(())
    }
}
