//! Every epoch key that a member has ever held: a checker must know what a former member could open
//! with all its state. A member keeps them only if it is told to, in demonstrations and tests:
//! [`crate::Config::danger_keeps_keys`].

use crate::Member;
use crate::message::Payload;
use base::{Party, ViewId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_flush::message::{self as flush, For, Frame};
use folkmoot_keying::Epoch;
use folkmoot_session::{Attempt, KeptKey, danger_attempt};

/// What a thief of a member's whole past would have.
#[derive(Debug, Clone, Default)]
pub struct Spoils(Vec<KeptKey>);

impl Spoils {
    pub(crate) fn keep(&mut self, view: ViewId, members: &[Party], epoch: &Epoch) {
        let (key, cipher) = (epoch.key.clone(), epoch.cipher);
        self.0.push(KeptKey { view, members: members.to_vec(), key, cipher });
    }

    /// How many epochs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys themselves, to search for in places where they must not be.
    pub fn danger_keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.0.iter().map(|kept| kept.key.expose())
    }

    /// Tries every key on `sealed`, under its own view and every candidate view, so that only the
    /// key can be missing.
    pub fn danger_attempt(&self, sealed: &Bytes, candidates: &[(ViewId, Vec<Party>)]) -> Attempt {
        danger_attempt(&self.0, sealed, candidates)
    }
}

impl Member {
    /// Tries every key that this member has ever held on the sealed message in `payload`, a payload
    /// as nodes order them; `None` if there is no sealed message in it.
    #[doc(hidden)]
    pub fn danger_attempt(&self, payload: &Bytes, candidates: &[(ViewId, Vec<Party>)]) -> Option<Attempt> {
        let Payload::Flush(frame) = Payload::decode(payload.into()) else { return None };
        let Ok(Frame::Data { to: For::Session, payload, .. }) = flush::decode(frame) else { return None };
        Some(self.spoils.danger_attempt(&payload.freeze(), candidates))
    }
}
