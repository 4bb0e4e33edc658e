//! The join between the two stacks: what a member and its node say to each other, and the queue
//! that carries it when both live in one process.
//!
//! ```text
//!        application
//!   Command |   ^ Event
//!        [ Upper ]    member stack: flush, keying, session, admission
//!    ToNode |   ^ ToMember
//!        [ Ground ]   node stack: link, ring, group
//!  datagram |   ^ datagram
//!        transport
//! ```
//! [`Embedded`] joins one of each. The runtime and the simulator both drive it, so they run the
//! same wiring. [`Attached`] makes several upper stacks look like one: several parties on one node.

mod attached;
pub mod credit;
mod embedded;
mod message;
mod status;
pub mod wire;

pub use attached::{Attached, TABLE, stored_for};
pub use embedded::{Embedded, Input, Output};
pub use message::{ToMember, ToNode};
pub use status::{
    Absence, AuthorityReach, GroupStatus, Lacking, MemberStatus, Person, Presence, Side, Stalled, Trace,
};

use base::{Entropy, Instant, Locator, Party, Persist, Train, UnixTime};
use bytes::{Bytes, BytesMut};
use folkmoot_base as base;

/// The addresses of a host name, or why there are none, in words for people.
pub type Resolved = Result<Vec<Locator>, String>;

/// What the lower stack puts out. Order counts: a `Persist` comes before whatever relies on it.
#[derive(Debug)]
pub enum GroundOutput {
    /// Send this datagram.
    Transmit(Locator, Bytes),
    /// Send this datagram by itself, not in a train: it asks what the way to there carries.
    Probe(Locator, Bytes),
    /// The nodes at these places are one configuration with us now: whoever can reach all at once
    /// says so by [`Ground::everybody`].
    Together(Vec<Locator>),
    /// Somebody is looked for at this host name: the host finds out its addresses, and hands them
    /// in by [`Ground::resolved`].
    Resolve(Locator),
    /// Commit this before any later output takes effect.
    Persist(Persist),
    /// For the party above; for all parties, if there are several.
    Member(ToMember),
    /// For one of the parties above.
    To(Party, ToMember),
    /// An event for the log.
    Trace(Trace),
}

/// What the upper stack puts out. Order counts, as in [`GroundOutput`].
#[derive(Debug)]
pub enum UpperOutput<E> {
    /// Commit this before any later output takes effect.
    Persist(Persist),
    /// For the node below.
    Node(ToNode),
    /// For the application.
    Event(E),
    /// An event for the log.
    Trace(Trace),
}

/// A node stack: link, ring and group behind one interface. After each call, poll the outputs until
/// `None`, then the timeout.
pub trait Ground {
    /// A member sends a message.
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy);
    /// A datagram came.
    fn datagram(&mut self, now: Instant, from: Locator, datagram: BytesMut, entropy: &mut dyn Entropy);
    /// A datagram came that went to all by multicast.
    fn datagram_to_all(
        &mut self,
        now: Instant,
        from: Locator,
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
    ) {
        let _ = (now, from, datagram, entropy);
    }
    /// Datagrams came together, to this node alone or to all.
    fn train(
        &mut self,
        now: Instant,
        from: Locator,
        mut train: Train,
        to_all: bool,
        entropy: &mut dyn Entropy,
    ) {
        while let Some(datagram) = train.next_copied() {
            if to_all {
                self.datagram_to_all(now, from.clone(), datagram, entropy);
            } else {
                self.datagram(now, from.clone(), datagram, entropy);
            }
        }
    }
    /// What is sent to this locator goes to all of [`GroundOutput::Together`], as far as is known;
    /// `None`: there is no such locator.
    fn everybody(&mut self, now: Instant, at: Option<Locator>, entropy: &mut dyn Entropy) {
        let _ = (now, at, entropy);
    }
    /// The system does not send datagrams of so many bytes to this locator.
    fn too_long(&mut self, now: Instant, to: Locator, bytes: usize, entropy: &mut dyn Entropy) {
        let _ = (now, to, bytes, entropy);
    }
    /// The addresses of a host name that [`GroundOutput::Resolve`] asked for, or why there are
    /// none.
    fn resolved(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        let _ = (now, name, found, entropy);
    }
    /// The wall clock reads `time`; given at the start and about once a second.
    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy);
    /// The time that [`Self::poll_timeout`] named has come.
    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy);
    /// Whether something that members here sent waits to leave this node.
    fn is_busy(&self) -> bool {
        false
    }
    /// Another process with this node's identity started later, at this time (microseconds since
    /// 1970, by its clock). This one has taken leave, and does nothing more.
    fn superseded(&self) -> Option<u64> {
        None
    }
    /// This node stops: it tells its peers, so that they need not find out. Poll the outputs once
    /// more, and use it no further.
    fn farewell(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let _ = (now, entropy);
    }
    /// Next output, until `None`.
    fn poll_output(&mut self) -> Option<GroundOutput>;
    /// When to call [`Self::timeout`], if nothing else happens first.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// A member stack: flush, keying, session and admission behind one interface.
pub trait Upper {
    /// The commands of the application.
    type Command;
    /// What is answered to a command at once.
    type Answer;
    /// The events for the application.
    type Event;
    /// The node sends a message to all parties here.
    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy);
    /// The node sends a message to one of the parties here. If there is only one, it is that one.
    fn node_to(&mut self, now: Instant, to: Party, message: ToMember, entropy: &mut dyn Entropy) {
        let _ = to;
        self.node(now, message, entropy);
    }
    /// The application gives a command. What the answer relies on is among the outputs.
    fn command(&mut self, now: Instant, command: Self::Command, entropy: &mut dyn Entropy) -> Self::Answer;
    /// The wall clock reads `time`.
    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy);
    /// The time that [`Self::poll_timeout`] named has come.
    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy);
    /// Next output, until `None`.
    fn poll_output(&mut self) -> Option<UpperOutput<Self::Event>>;
    /// When to call [`Self::timeout`], if nothing else happens first.
    fn poll_timeout(&self) -> Option<Instant>;
}
