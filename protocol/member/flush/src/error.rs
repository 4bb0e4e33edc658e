//! Why a call or a frame was refused. The first word of each name says whose fault it is.

use folkmoot_base::codec::DecodeError;
use folkmoot_base::{Party, ViewId};

/// Why the flush layer refused something. What was refused changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlushError {
    /// A party multicast bytes that are not a flush frame.
    #[error("{peer} sent bytes that are not a flush frame")]
    PeerMalformed {
        /// The party that did.
        peer: Party,
        /// What is wrong with them.
        #[source]
        source: DecodeError,
    },
    /// A word in the name of a party that its member did not sign.
    #[error("a word in the name of {0} is not signed by its member")]
    PeerForged(Party),
    /// A FLUSH_RECV in the name of a party that does not show what the party committed to.
    #[error("a receipt in the name of {0} is not the one that it committed to")]
    PeerReceipt(Party),
    /// A FLUSH_OK that is older than one that came before it.
    #[error("an older word of {0} comes again")]
    PeerStale(Party),
    /// A party sent a message in a view that it is not in, or no longer in.
    #[error("{0} is not present in the view")]
    PeerNotPresent(Party),
    /// A message of another view than the installed one.
    #[error("{0} sent it in another view")]
    PeerOtherView(Party),
    /// A message came with another service than its sender named.
    #[error("{0}'s message came with another service than it was sent with")]
    PeerService(Party),
    /// A FLUSH_OK for a view that we do not know, and there is no room to keep it.
    #[error("{0} names an unknown view")]
    PeerUnknownView(Party),
    /// A notice that does not list us, is of another group, or is not newer than the one before.
    #[error("notice {0} does not follow the one before")]
    LocalNotice(ViewId),
    /// Nothing may be sent now: there is no view yet, or we have answered the flush and the next
    /// view is not there, or we have left.
    #[error("sending is not allowed now")]
    LocalNotAllowed,
    /// What the layer above brings along is longer than allowed.
    #[error("{0} bytes are too many for a party to bring along")]
    LocalTooLong(usize),
    /// Nobody asked for a flush, or the flush was answered already.
    #[error("no flush request is open")]
    LocalNotAsked,
}
