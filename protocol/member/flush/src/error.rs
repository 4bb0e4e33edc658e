//! Why a call or a frame was refused. The first word of each name says whose fault it is.

use folkmoot_base::codec::DecodeError;
use folkmoot_base::{MemberId, ViewId};

/// Why the flush layer refused something. What was refused changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlushError {
    /// A member multicast bytes that are not a flush frame.
    #[error("{peer} sent bytes that are not a flush frame")]
    PeerMalformed {
        /// Who.
        peer: MemberId,
        /// What is wrong with them.
        #[source]
        source: DecodeError,
    },
    /// A member that is not in the view, or no longer, spoke in it.
    #[error("{0} is not present in the view")]
    PeerNotPresent(MemberId),
    /// A message of another view than the installed one.
    #[error("{0} sent in another view")]
    PeerOtherView(MemberId),
    /// A message came with another service than its sender wrote.
    #[error("{0}'s message came with another service than it was sent with")]
    PeerService(MemberId),
    /// A FLUSH_OK for a view of which we know nothing, beyond what is kept.
    #[error("{0} speaks of an unknown view")]
    PeerUnknownView(MemberId),
    /// A notice that does not list us, is of another group, or is not newer than the one before.
    #[error("notice {0} does not follow")]
    LocalNotice(ViewId),
    /// No sending now: no view yet, or between our flush and the next view, or after leaving.
    #[error("sending is not allowed now")]
    LocalNotAllowed,
    /// What the layer above brings along is longer than it may be.
    #[error("{0} bytes are too many to bring along")]
    LocalTooLong(usize),
    /// Nobody asked for a flush, or it was given already.
    #[error("no flush request is open")]
    LocalNotAsked,
}
