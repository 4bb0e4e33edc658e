//! What comes again: recorded messages, and nodes with other certificates.

use super::super::papers::Toy;
use super::told::told;
use super::{NOON, What, World, wall};
use bytes::Bytes;
use folkmoot_base::{UnixTime, digest};
use folkmoot_pubsub::discovery::message::Signed;
use folkmoot_pubsub::discovery::{Discovery, Input};

impl World {
    /// Another certificate for a node that does not run, which ends after so many seconds.
    pub fn renew(&mut self, number: usize, seconds: Option<u64>) {
        let today = self.seconds();
        let Some(node) = self.nodes.get_mut(number) else { return };
        let uid = u16::try_from(number + 1).unwrap_or(u16::MAX);
        node.issue += 1;
        node.until = seconds.map(|seconds| today + seconds);
        node.papers = Toy::new(self.secret, uid, node.issue, node.until.unwrap_or(0));
        (node.excluded, node.left) = (None, false);
    }

    /// The right time of day.
    pub fn seconds(&self) -> u64 {
        u64::try_from(NOON).unwrap_or(0) + self.now / 1_000_000
    }

    /// All look at their clocks.
    pub fn tell_time(&mut self) {
        for number in 0..self.nodes.len() {
            let Some(wall) = self.nodes.get(number).map(|node| wall(node, self.now)) else { return };
            (0..self.plan.domains).for_each(|domain| self.input(number, domain, Input::Wall(UnixTime(wall))));
        }
    }

    /// The most that one machine keeps: ids, words against members, bytes on disk.
    pub fn largest(&self) -> [usize; 3] {
        let seats = || self.nodes.iter().flat_map(|node| &node.seats);
        let machines = || seats().filter_map(|seat| seat.machine.as_ref());
        let most = |sizes: &mut dyn Iterator<Item = usize>| sizes.max().unwrap_or(0);
        [
            most(&mut machines().map(Discovery::remembered)),
            most(&mut machines().map(Discovery::words_kept)),
            most(&mut seats().filter_map(|seat| seat.disk.as_ref()).map(Bytes::len)),
        ]
    }

    /// A recorded message, to one node or to all. While nothing may start, only those hear it to
    /// whom it came before: for the others it is late, not said again.
    pub fn inject(&mut self, domain: usize, bytes: &Bytes, to: Option<usize>, delay: u64) {
        let all = 0..self.nodes.len();
        let name = digest(&[bytes]);
        for to in all.filter(|number| to.is_none_or(|to| to == *number)) {
            if self.quiet.is_some() && !self.came.contains(&(to, domain, name)) {
                continue;
            }
            self.push(self.now + delay, What::ComesAgain { to, domain, bytes: bytes.clone() });
        }
    }

    /// Whether a message is refused, if somebody hears it. What is not counts as having come.
    pub(super) fn hear(&mut self, to: usize, domain: usize, bytes: &Bytes) -> Option<bool> {
        let refusals = |world: &Self| {
            let seat = world.nodes.get(to)?.seats.get(domain)?;
            seat.machine.as_ref().map(Discovery::refused)
        };
        let before = refusals(self)?;
        self.input(to, domain, Input::Message(bytes));
        let refused = refusals(self)? > before;
        if self.records && !refused {
            self.came.insert((to, domain, digest(&[bytes])));
        }
        Some(refused)
    }

    /// What came to this node before must be refused and counted, also by a process that was
    /// started since.
    pub(super) fn hear_again(&mut self, to: usize, domain: usize, bytes: &Bytes) {
        let came = self.came.contains(&(to, domain, digest(&[bytes])));
        let Some(refused) = self.hear(to, domain, bytes).filter(|_| came) else { return };
        let Ok((_, body)) = Signed::read(bytes) else { return };
        let own = usize::from(body.sender) == to + 1;
        match () {
            () if own => {}
            () if refused => self.refused_again += 1,
            () => self.taken_again = Some(format!("node {to} took again: {}", told(&body.said))),
        }
    }
}
