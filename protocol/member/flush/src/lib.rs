//! One picture for all who share a view: no message crosses a view, and who moves on together has seen the same.
//!
//! ```text
//!          notice                flush_ok             last FLUSH_OK in order         last FLUSH_RECV
//!  STEADY --------> AUTHORIZE ------------> AGREE ---------------------------> VERIFY ---------------> STEADY
//!                       ^  asks the layer     |  another notice: collapse, new     | notice
//!                       |  above, once        '--word at once, no new question      |
//!                       '-----------------------------------------------------------'
//! ```
//! One [`Flush`] for each (member, group). Everything it hears comes from one total order for each configuration, and it
//! decides by that order alone: so all who move together decide alike. Rules `FLU-NN`: docs/protocol/flush.md.
//!
//! How to drive it: call, then take [`Flush::poll_output`] until `None`, then [`Flush::poll_timeout`].

mod error;

pub use error::FlushError;

use bytes::Bytes;
use folkmoot_base::{Cause, Danger, Digest, GroupId, Instant, MemberId, Service, ViewId};
use std::collections::VecDeque;

/// Bytes in front of each message's payload.
pub const DATA_HEADER_BYTES: usize = 18;

/// What the caller decides.
#[derive(Debug, Clone)]
pub struct Config {
    /// This member.
    pub me: MemberId,
    /// This group.
    pub group: GroupId,
    /// A deliberately broken behaviour, for the checkers' sake.
    pub danger: Option<Danger>,
}

/// What goes out. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Multicast this frame to the group, after everything multicast before; it comes back through [`Flush::frame`].
    Multicast {
        /// Agreed or safe.
        service: Service,
        /// A frame of this layer.
        bytes: Bytes,
    },
    /// The view will change: send what you must, then call [`Flush::flush_ok`] once.
    FlushRequest,
    /// From here on, promises of the installed view hold only within the next transitional set. At most once in a view.
    TransitionalSignal,
    /// A message sent in the installed view.
    Deliver {
        /// The installed view.
        view: ViewId,
        /// From whom.
        sender: MemberId,
        /// Ordered how.
        service: Service,
        /// What.
        payload: Bytes,
    },
    /// A new view is installed; sending is allowed again.
    View(View),
    /// We are out of the group; nothing follows.
    Left {
        /// Why.
        cause: Cause,
    },
    /// These are silent in the pending view: order a complaint about each.
    Complain {
        /// The newest notice's id.
        view: ViewId,
        /// About whom.
        suspects: Vec<MemberId>,
    },
    /// A happening worth a line.
    Trace(String),
}

/// An installed view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its id.
    pub id: ViewId,
    /// All members, sorted.
    pub members: Vec<MemberId>,
    /// Those who came from my previous view with me, sorted; I am in it. Only I, if this is my first view.
    pub transitional_set: Vec<MemberId>,
    /// Members who did not come from my previous view with me: joined, or merged.
    pub arrived: Vec<MemberId>,
    /// Members of my previous view who did not come with me (one who left and came back is in `arrived` too).
    pub departed: Vec<MemberId>,
    /// Why; `Network` if changes of several causes were collapsed into one.
    pub cause: Cause,
    /// The digest of transcript heads that all members gave with their word.
    pub heads: Digest,
    /// My previous view.
    pub previous: Option<ViewId>,
}

/// Where a flush stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No view yet, no notice yet.
    Joining,
    /// A view is installed, and all are known to have it.
    Steady,
    /// The layer above is asked to flush.
    Authorize,
    /// Our word is given; the others' words are awaited.
    Agree,
    /// A view is installed; not all have said so.
    Verify,
    /// Out.
    Left,
}

/// The flush layer of one member in one group.
#[derive(Debug)]
pub struct Flush {
    config: Config,
    out: VecDeque<Output>,
}

impl Flush {
    /// A member that is joining. Make a new one for each join.
    pub fn new(config: Config, heads: Digest) -> Self {
        let _ = heads;
        Self { config, out: VecDeque::new() }
    }

    /// The group's notice.
    ///
    /// # Errors
    /// [`FlushError::LocalNotice`].
    pub fn notice(
        &mut self,
        now: Instant,
        view: ViewId,
        members: Vec<MemberId>,
        removed: &[MemberId],
        cause: Cause,
    ) -> Result<(), FlushError> {
        let _ = (now, members, removed, cause);
        Err(FlushError::LocalNotice(view))
    }

    /// The group's transitional signal: the nodes of `lost` did not come along.
    pub fn transitional(&mut self, lost: &[MemberId]) {
        let _ = lost;
    }

    /// A frame of this layer, delivered in order.
    ///
    /// # Errors
    /// Any `Peer…`: the frame is ignored.
    pub fn frame(
        &mut self,
        now: Instant,
        sender: MemberId,
        service: Service,
        bytes: &Bytes,
    ) -> Result<(), FlushError> {
        let _ = (now, service, bytes);
        Err(FlushError::PeerNotPresent(sender))
    }

    /// The transcript's heads have this digest now. Call whenever it changes.
    pub fn heads(&mut self, now: Instant, heads: Digest) {
        let _ = (now, heads);
    }

    /// The layer above sends no more in the installed view.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAsked`] without an open request, or a second time.
    pub fn flush_ok(&mut self, now: Instant) -> Result<(), FlushError> {
        let _ = now;
        Err(FlushError::LocalNotAsked)
    }

    /// Multicasts `payload` in the installed view. Services below agreed travel as agreed.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAllowed`].
    pub fn send(&mut self, service: Service, payload: &[u8]) -> Result<(), FlushError> {
        let _ = (service, payload);
        Err(FlushError::LocalNotAllowed)
    }

    /// The header of a message sent now, for a caller that builds the frame in place (header, then payload) and multicasts
    /// it itself, before any other call to this layer and with the service returned.
    ///
    /// # Errors
    /// [`FlushError::LocalNotAllowed`].
    pub fn data_header(&self, service: Service) -> Result<(Service, [u8; DATA_HEADER_BYTES]), FlushError> {
        let _ = service;
        Err(FlushError::LocalNotAllowed)
    }

    /// We asked to leave the group: nothing more is sent.
    pub fn leave(&mut self) {}

    /// The group removed us.
    pub fn left(&mut self, cause: Cause) {
        let _ = cause;
    }

    /// The time that [`Self::poll_timeout`] named has come.
    pub fn timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to call [`Self::timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Where it stands.
    pub fn phase(&self) -> Phase {
        Phase::Joining
    }

    /// The installed view's id.
    pub fn view(&self) -> Option<ViewId> {
        None
    }

    /// Whether [`Self::send`] is allowed now.
    pub fn may_send(&self) -> bool {
        false
    }

    /// Members of the pending view whose word is missing, sorted.
    pub fn awaited(&self) -> Vec<MemberId> {
        Vec::new()
    }
}
