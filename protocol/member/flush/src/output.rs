//! The outputs of the flush layer.

use crate::message::For;
use bytes::Bytes;
use folkmoot_base::{Buffer, Cause, Digest, Party, Service, ViewId};

/// An output of the flush layer. Order counts.
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
    /// The view will change: send what must still be sent, then call [`Flush::flush_ok`] once.
    FlushRequest,
    /// From here on, promises of the installed view hold only within the next transitional set. At
    /// most once in a view.
    TransitionalSignal,
    /// A message sent in the installed view: the one of the last [`Self::View`].
    Deliver {
        /// The sender.
        sender: Party,
        /// The service.
        service: Service,
        /// The layer above that it is for.
        to: For,
        /// The payload.
        payload: Buffer,
    },
    /// A new view is installed; sending is allowed again.
    View(Box<View>),
    /// These are silent in the pending view: order a complaint about each.
    Complain {
        /// The newest notice's id.
        view: ViewId,
        /// The silent parties.
        suspects: Vec<Party>,
    },
    /// An event for the log.
    Trace(String),
}

/// An installed view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its id.
    pub id: ViewId,
    /// All parties, sorted.
    pub members: Vec<Party>,
    /// What each party's layer above brought along with its last FLUSH_OK, in the order of
    /// `members`.
    pub brought: Vec<Bytes>,
    /// Those who came from this party's previous view together with it, sorted, this party among
    /// them. Only this party, if this is its first view.
    pub transitional_set: Vec<Party>,
    /// Parties that did not come from this party's previous view together with it: joined, or
    /// merged.
    pub arrived: Vec<Party>,
    /// Parties of this party's previous view that did not come along (one that left and came back
    /// is in `arrived` too).
    pub departed: Vec<Party>,
    /// Why; `Network` if changes of several causes were collapsed into one.
    pub cause: Cause,
    /// The digest of transcript heads that all parties gave with their FLUSH_OK.
    pub heads: Digest,
    /// Whose FLUSH_OK completed it: the same at all who install it.
    pub last: Party,
    /// This party's previous view.
    pub previous: Option<ViewId>,
}
