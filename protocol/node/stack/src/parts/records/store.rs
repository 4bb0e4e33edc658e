//! Where the store has the transcript: of the ring's own charter in a table by itself; of each
//! charter that the ring carries under its id, in another.

use super::Records;
use crate::parts::Outbox;
use base::{GroupId, Persist, StoreKey};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_transcript::TABLE;

/// Where the transcripts of carried charters are. Key: charter ‖ the key in a transcript's table.
pub(crate) const CARRIED_TABLE: &str = "carried";

/// What a store has of the transcript of this carried charter.
pub(super) fn of(charter: &GroupId, stored: &[(StoreKey, Bytes)]) -> Vec<(StoreKey, Bytes)> {
    let ours = stored.iter().filter(|(place, _)| place.table == CARRIED_TABLE);
    let own = ours.filter_map(|(place, value)| {
        let key = Bytes::copy_from_slice(place.key.strip_prefix(&charter.0)?);
        Some((StoreKey { table: TABLE, key }, value.clone()))
    });
    own.collect()
}

impl Records {
    /// Writes a part of the transcript where it belongs.
    pub(super) fn write(&self, persist: Persist, out: &mut Outbox) {
        if !self.carried {
            return out.persist(persist);
        }
        let key = [&self.transcript.group().0[..], &persist.key.key].concat().into();
        out.persist(Persist { key: StoreKey { table: CARRIED_TABLE, key }, value: persist.value });
    }
}
