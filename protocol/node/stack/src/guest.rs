//! Strangers: admission frames over a guest's link, both ways. They are few and small; the link
//! makes sure of that.

use crate::Node;
use base::{Instant, NodeId};
use folkmoot_base as base;
use folkmoot_link::Channel;

impl Node {
    /// An admission frame for a guest. If we are the guest: for our contact.
    pub(crate) fn send_guest(&mut self, now: Instant, to: NodeId, payload: &[u8]) {
        if let Err(error) = self.links.send(now, to, Channel::Admission, &[payload]) {
            self.out.refuse("link", &error);
        }
    }
}
