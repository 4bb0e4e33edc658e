//! RING-26, RING-27: how long the packets of a configuration are. RING-29: how long its paths take.
//!
//! Each member says in COMMIT what all its paths to the others carry. The packets of the
//! configuration fit the smallest of these, as long as it stands. If a path carries less later on,
//! the links cut what is too long, and another configuration is made. If it carries more, the next
//! configuration will use that.

use crate::config::FAR;
use crate::times::patience;
use crate::{Ring, State};
use core::time::Duration;
use folkmoot_base::{Danger, Instant, NodeId};

impl Ring {
    /// The path to `node`, which is eligible, carries datagrams of so many bytes. The next
    /// configuration has packets that fit. If the path carries less than those of this one, that
    /// configuration comes soon.
    pub fn path(&mut self, now: Instant, node: NodeId, mtu: u16) {
        self.ctx.candidates.set_path(&node, mtu);
        if let Some(State::Gather(state)) = self.state.as_mut()
            && self.ctx.config.timing.trip >= FAR
        {
            state.tried(now);
        }
        if let Some(State::Operational(state)) = self.state.as_mut()
            && state.too_narrow(&self.ctx).is_some()
        {
            state.look_soon(now, &self.ctx);
        }
    }

    /// RING-33: how long the layers above wait for one another in the configuration that stands. It
    /// follows from the round trips that COMMIT names, so it is the same at all members.
    pub fn patience(&self) -> Duration {
        let danger = self.ctx.config.danger;
        match self.state.as_ref() {
            Some(State::Operational(state)) if !danger.is(Danger::RingNearPatience) => {
                let formed_by = &state.formed_by;
                patience(formed_by.trip(danger), formed_by.members.len())
            }
            _ => Duration::ZERO,
        }
    }

    /// A round trip to `node`, which is eligible, takes so long. A gather, and a ring that stands,
    /// wait longer from now on if that is long; only the next configuration waits shorter.
    pub fn trip(&mut self, node: NodeId, trip: Duration) {
        self.ctx.candidates.set_trip(&node, trip);
        match self.state.as_mut() {
            Some(State::Operational(state)) => self.ctx.time_ring(&state.formed_by),
            Some(State::Gather(state)) => {
                self.ctx.time_gather();
                state.wait(&self.ctx);
            }
            Some(State::Commit(_) | State::Recover(_)) | None => {}
        }
    }
}
