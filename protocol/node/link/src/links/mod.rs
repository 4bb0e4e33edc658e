//! The front: each input goes to one part, outputs come in the order in which the parts spoke, and
//! the timer is the earliest of theirs.

mod casting;
mod parts;

use crate::call::{Around, Own};
use crate::message::Control;
use crate::out::Out;
use crate::routes::Routes;
use crate::start::SignedStart;
use crate::{
    Channel, Config, Counters, Credentials, DownCause, Input, LinkError, Numbered, Output, Path,
    RingKeyChange,
};
use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, Locator, NodeId, Train};
use parts::Parts;

/// All links of one node.
#[derive(Debug)]
pub struct Links<C> {
    own: Own<C>,
    routes: Routes,
    out: Out,
    parts: Parts,
}

impl<C: Credentials> Links<C> {
    /// No link yet. Draws this process's own static key and cookie secret.
    pub fn new(config: Config, credentials: C, entropy: &mut dyn Entropy) -> Self {
        let own = Own::new(config, credentials, entropy);
        Self { own, routes: Routes::default(), out: Out::default(), parts: Parts::new(entropy) }
    }

    /// Takes one input. Before the next one, poll the outputs until `None`, then the timeout.
    ///
    /// # Errors
    /// [`LinkError`]; an input that is refused changes nothing except [`Counters`].
    pub fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) -> Result<(), LinkError> {
        let (parts, mut around) = self.split();
        match input {
            Input::Datagram { from, bytes } => {
                parts.peers.make_room(now, &mut around);
                let result = parts.datagram(now, &from, bytes, entropy, &mut around);
                around.out.count_datagram(&result);
                return result;
            }
            Input::ToAll { from, bytes } => {
                let result = parts.came_to_all(now, &from, bytes, entropy, &mut around);
                around.out.count_datagram(&result);
                return result;
            }
            Input::Everybody(at) => {
                parts.cast.place(now, at);
                around.out.note(now);
            }
            Input::Dial { at, node } => return parts.dial(now, at, node, entropy, &mut around),
            Input::Hangup { node } => {
                return parts.peers.hang_up(now, node, DownCause::HungUp, &mut around);
            }
            Input::Standing { node, member } => {
                parts.peers.set_standing(now, (node, member), &mut around);
            }
            Input::TooLong { to, bytes } => parts.too_long(now, &to, bytes, &mut around),
            Input::Company { nodes } => parts.keep_company(now, nodes, &mut around),
            Input::RingKey(RingKeyChange::Attempt(keys)) => parts.rings.attempt(around.own, &keys),
            Input::RingKey(RingKeyChange::Installed) => parts.rings.install(around.own),
            Input::RingKey(RingKeyChange::Failed) => parts.rings.fail(),
            Input::Certificate(certificate) => return self.recertify(now, certificate),
            Input::Timeout => {
                parts.peers.make_room(now, &mut around);
                if around.out.is_due(now) {
                    parts.timeout(now, entropy, &mut around);
                }
            }
        }
        Ok(())
    }

    /// Takes the next datagrams of a train, at least one: all packets of the ring at its front, or
    /// else one other. Call it until the train is empty, and poll the outputs in between.
    ///
    /// # Errors
    /// As [`Self::handle`].
    pub fn train(
        &mut self,
        now: Instant,
        from: &Locator,
        (train, to_all): (&mut Train, bool),
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        let (parts, mut around) = self.split();
        if parts.ring_packets(from, train, &mut around) {
            return Ok(());
        }
        let Some(bytes) = train.next_copied() else { return Ok(()) };
        let from = from.clone();
        self.handle(
            now,
            if to_all { Input::ToAll { from, bytes } } else { Input::Datagram { from, bytes } },
            entropy,
        )
    }

    /// The parts, and what they are handed in a call.
    fn split(&mut self) -> (&mut Parts, Around<'_>) {
        let Self { own, routes, out, parts } = self;
        (parts, Around { own, routes, out })
    }

    fn recertify(&mut self, now: Instant, certificate: Bytes) -> Result<(), LinkError> {
        let told = self.own.recertify(certificate)?;
        let (parts, mut around) = self.split();
        parts.peers.tell_all(now, told, &mut around);
        Ok(())
    }

    /// Sends a frame on a link that is up. The frame is made of `parts`, one after another. Small
    /// frames share a datagram, which is sealed when it is full, or when all outputs have been
    /// polled.
    ///
    /// # Errors
    /// [`LinkError::LocalNoLink`], [`LinkError::LocalToGuest`], [`LinkError::LocalTooLong`].
    pub fn send(
        &mut self,
        now: Instant,
        to: NodeId,
        channel: Channel,
        parts: &[&[u8]],
    ) -> Result<(), LinkError> {
        let (all, mut around) = self.split();
        all.peers.send(now, to, channel, parts, &mut around)
    }

    /// Sends a packet of the ring, which this node has just numbered, to all of `to`. If it may be
    /// sealed under the ring key (LINK-29), the same datagram goes to each; the number under which
    /// that was done is returned. Otherwise it goes as [`Self::send`] sends it. Whoever has no link
    /// here does not get it.
    pub fn multicast(&mut self, now: Instant, to: &[NodeId], packet: &[u8]) -> Option<Numbered> {
        let (parts, mut around) = self.split();
        parts.multicast(now, to, packet, &mut around)
    }

    /// Somebody asks the ring for packets again: perhaps it does not hear what goes to all.
    pub fn repeats(&mut self) {
        let (parts, mut around) = self.split();
        parts.doubt(&mut around);
    }

    /// Whether the packets of this node go to all by multicast; `None`: the host has no place for
    /// that.
    pub fn reaches_all(&self) -> Option<bool> {
        self.parts.cast.state()
    }

    /// Of how many rings this node has keys (LINK-30).
    pub fn rings(&self) -> usize {
        self.parts.rings.len()
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            if let Some(output) = self.out.poll() {
                return Some(output);
            }
            let (parts, mut around) = self.split();
            if !parts.peers.flush_next(&mut around) {
                return None;
            }
        }
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first. May be earlier than
    /// needed, never later.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.out.wake()
    }

    /// Where this node was last heard from, if its link is up.
    pub fn locator(&self, node: &NodeId) -> Option<Locator> {
        self.parts.peers.locator(node)
    }

    /// The path to this node, if its link is up.
    pub fn path(&self, node: &NodeId) -> Option<Path> {
        self.parts.peers.path(node)
    }

    /// Nodes whose link is up, and whether each is a member's node.
    pub fn peers(&self) -> impl Iterator<Item = (NodeId, bool)> + '_ {
        self.parts.peers.iter()
    }

    /// Counts of what was sealed, opened, copied, refused or dropped so far.
    pub fn counters(&self) -> Counters {
        self.out.counters()
    }

    /// Says whatever it likes to a peer, as a liar does.
    #[doc(hidden)]
    pub fn danger_say(&mut self, now: Instant, to: NodeId, message: &Control) {
        let (parts, mut around) = self.split();
        parts.peers.control(now, to, message, &mut around);
    }

    /// The start that a peer has proved.
    #[doc(hidden)]
    pub fn danger_start(&self, of: &NodeId) -> Option<SignedStart> {
        self.parts.peers.start(of).cloned()
    }
}
