//! What people are told of the ring.

use crate::output::{Counters, Phase, Status};
use crate::{Ring, State};

impl Ring {
    /// The status of the ring.
    pub fn status(&self) -> Status {
        let installed = self.state.as_ref().and_then(State::installed);
        Status {
            phase: self.state.as_ref().map_or(Phase::Gather, State::phase),
            configuration: installed.map(|order| order.id),
            members: installed.map(|order| order.members.to_vec()).unwrap_or_default(),
            mtu: self.mtu(),
            queued_bytes: self.ctx.queue.bytes(),
            set_aside: self.ctx.candidates.set_aside(),
            refused_frames: self.ctx.refused,
            retransmitted_packets: self.counters().repaired,
        }
    }

    /// What it did since the start.
    pub fn counters(&self) -> Counters {
        let running = self.state.as_ref().map(State::counters).unwrap_or_default();
        self.ctx.counters.plus(running).plus(self.ctx.queue.counters())
    }

    /// The longest datagram that the packets of the configuration make, if one stands.
    fn mtu(&self) -> Option<u16> {
        match self.state.as_ref()? {
            State::Operational(state) => Some(state.formed_by.mtu()),
            State::Gather(_) | State::Commit(_) | State::Recover(_) => None,
        }
    }
}
