//! What a stranger shows beside its requests, as its store has it.

use crate::store::{ENDORSEMENT, REQUESTS, VOUCHER};
use bytes::Bytes;
use folkmoot_base::{Blob, StoreKey, codec};
use folkmoot_transcript::Voucher;

/// What a member gave it with its ticket, and by whom it is endorsed.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) voucher: Option<Voucher>,
    pub(super) endorsement: Option<Blob>,
}

impl Shown {
    pub(super) fn load(stored: &[(StoreKey, Bytes)]) -> Self {
        let kept = |name: &[u8]| {
            let found = stored.iter().find(|(key, _)| key.table == REQUESTS && key.key == name);
            found.map(|(_, value)| value)
        };
        let voucher = kept(VOUCHER).and_then(|value| codec::decode(value).ok());
        Self { voucher, endorsement: kept(ENDORSEMENT).map(|der| Blob(der.clone())) }
    }

    /// Whether one of these is kept there.
    pub(super) fn is_at(key: &StoreKey) -> bool {
        key.table == REQUESTS && (key.key == VOUCHER || key.key == ENDORSEMENT)
    }
}
