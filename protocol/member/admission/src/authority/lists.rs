//! The newest revocation list of an authority.

use bytes::Bytes;
use folkmoot_base::StoreKey;
use folkmoot_identity::{REVOKED_TABLE, RevocationList};
use folkmoot_transcript::Transcript;

/// The newest list, and how many revocations were considered.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) newest: Option<RevocationList>,
    pub(super) tried: u64,
}

impl Lists {
    /// A stored list that the authority's key has not signed is no loss: it is made again.
    pub(super) fn load(transcript: &Transcript, stored: &[(StoreKey, Bytes)]) -> Self {
        let authority = transcript.roster().issuer().ok().flatten();
        let kept = stored.iter().find(|(at, _)| at.table == REVOKED_TABLE).map(|(_, value)| value);
        let newest = kept.zip(authority).and_then(|(der, by)| RevocationList::from_der(der, &by).ok());
        Self { newest, tried: 0 }
    }

    pub(super) fn number(&self) -> u64 {
        self.newest.as_ref().map_or(0, |list| list.body().number())
    }
}
