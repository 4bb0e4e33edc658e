//! RING-26, RING-27: how long the packets of a configuration are.
//!
//! Each member says in COMMIT what all its paths to the others carry. The packets of the
//! configuration fit the smallest of these, as long as it stands. If a path carries less later on,
//! the links cut what is too long, and another configuration is made. If it carries more, the next
//! configuration will use that.

use crate::{Ring, State};
use folkmoot_base::{Instant, NodeId};

impl Ring {
    /// The path to `node`, which is eligible, carries datagrams of so many bytes. The next
    /// configuration has packets that fit. If the path carries less than those of this one, that
    /// configuration comes soon.
    pub fn path(&mut self, now: Instant, node: NodeId, mtu: u16) {
        self.ctx.candidates.set_path(&node, mtu);
        if let Some(State::Operational(state)) = self.state.as_mut()
            && state.too_narrow(&self.ctx).is_some()
        {
            state.look_soon(now, &self.ctx);
        }
    }
}
