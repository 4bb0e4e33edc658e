//! What the representative makes when all agree: a COMMIT that goes round and collects what members
//! add, or one that is whole, if they have said that already (RING-42).

use crate::config::FAR;
use crate::message::CommitToken;
use crate::state::State;
use crate::{Ring, entry, gather};
use folkmoot_base::{ConfigurationId, Entropy, Instant, NodeId};

impl Ring {
    /// Makes the commit token of a new attempt.
    pub(crate) fn propose(&mut self, now: Instant, members: Vec<NodeId>, entropy: &mut dyn Entropy) {
        let ring_seq = self.ctx.ring_seq.saturating_add(1);
        let nonce = self.ctx.draw_nonce(entropy);
        let id = ConfigurationId { ring_seq, representative: self.ctx.config.me, nonce };
        let alone = members.len() <= 1;
        let (contributions, mtus) = (Vec::new(), Vec::new());
        let (old_rings, trips) = (Vec::new(), Vec::new());
        let token = CommitToken { id, members, old_rings, contributions, mtus, trips, rotation: 1 };
        if !alone {
            match self.whole(&token, entropy) {
                Some(whole) => self.recover(now, whole, entropy),
                None => self.commit(now, token, entropy),
            }
            return;
        }
        let old_ring = entry::old_ring(self.state.as_ref().and_then(State::installed));
        let (old_rings, mtus, trips) = (vec![old_ring], vec![u16::MAX], vec![0]);
        self.recover(now, CommitToken { old_rings, mtus, trips, ..token }, entropy);
    }

    /// RING-42: this COMMIT with what all add, if the members are far and have said that.
    fn whole(&mut self, token: &CommitToken, entropy: &mut dyn Entropy) -> Option<CommitToken> {
        if self.ctx.config.timing.trip < FAR || !gather::has_entries(&token.members, &self.ctx) {
            return None;
        }
        let me = self.ctx.config.me;
        let old = self.state.as_ref().and_then(State::installed);
        let mine =
            entry::entry(old, self.ctx.contribution(entropy), &token.members, (&me, &self.ctx.candidates));
        let mut whole = token.clone();
        for node in token.order() {
            whole.add(if node == me { mine.clone() } else { self.ctx.candidates.entry(&node)?.clone() });
        }
        whole.rotation = 2;
        Some(whole)
    }
}
