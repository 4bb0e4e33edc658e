//! What the flush layer says.

use bytes::Bytes;
use folkmoot_base::{Cause, Digest, MemberId, Service, ViewId};

/// What goes out. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Multicast this frame to the group, after everything multicast before; it comes back through
    /// [`Flush::frame`].
    Multicast {
        /// Agreed or safe.
        service: Service,
        /// A frame of this layer.
        bytes: Bytes,
    },
    /// The view will change: send what you must, then call [`Flush::flush_ok`] once.
    FlushRequest,
    /// From here on, promises of the installed view hold only within the next transitional set. At
    /// most once in a view.
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
    /// What each member's layer above brought along with its last FLUSH_OK, in the order of
    /// `members`.
    pub brought: Vec<Bytes>,
    /// Those who came from my previous view with me, sorted; I am in it. Only I, if this is my
    /// first view.
    pub transitional_set: Vec<MemberId>,
    /// Members who did not come from my previous view with me: joined, or merged.
    pub arrived: Vec<MemberId>,
    /// Members of my previous view who did not come with me (one who left and came back is in
    /// `arrived` too).
    pub departed: Vec<MemberId>,
    /// Why; `Network` if changes of several causes were collapsed into one.
    pub cause: Cause,
    /// The digest of transcript heads that all members gave with their FLUSH_OK.
    pub heads: Digest,
    /// My previous view.
    pub previous: Option<ViewId>,
}
