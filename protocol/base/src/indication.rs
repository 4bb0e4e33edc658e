//! What the group layer of a node tells a member; attach carries it from one to the other.

use crate::codec::codec_enum;
use crate::{Buffer, Cause, GroupId, Party, Service, ViewId};

/// What a party hears of one of its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indication {
    /// The parties of the group are changing. One for each change, in ring order.
    Notice {
        /// Which group.
        group: GroupId,
        /// The id that the view will have.
        view: Box<ViewId>,
        /// All parties once it is installed, sorted: in the same order everywhere.
        members: Vec<Party>,
        /// Parties of the previous notice that did not stay all the time since. Some are gone;
        /// others have left and come back, and then they are in `members` too.
        removed: Vec<Party>,
        /// Those of `removed` that left by their own word, whatever else the notice has.
        left: Vec<Party>,
        /// The cause; [`Cause::Network`] if the notice comes from a merge of tables.
        cause: Cause,
    },
    /// From here on, promises of the old configuration hold only among those who are not lost. A
    /// notice follows in the next configuration.
    Transitional {
        /// Which group.
        group: GroupId,
        /// Parties whose nodes did not come along.
        lost: Vec<Party>,
    },
    /// An ordered message to the group.
    Deliver {
        /// Which group.
        group: GroupId,
        /// Who sent it, according to the sender's node.
        sender: Party,
        /// The service.
        service: Service,
        /// The content.
        payload: Buffer,
    },
    /// This party is no longer in the group: it left, or was removed. It gets no further notices.
    Removed {
        /// Which group.
        group: GroupId,
        /// The cause.
        cause: Cause,
    },
    /// This party's join was refused, by every node alike.
    Refused {
        /// Which group.
        group: GroupId,
        /// The reason.
        refusal: JoinRefusal,
    },
}

codec_enum! {
    /// Why a join was refused.
    #[derive(thiserror::Error)]
    pub enum JoinRefusal {
        /// The roster does not have the member.
        #[error("the roster does not have this member: ask for admission first")]
        NotRostered = 1,
        /// The group has as many members as a group may have.
        #[error("the group has as many members as a group may have")]
        GroupFull = 2,
        /// The member has as many parties in the group as it may have.
        #[error("this member has as many programs in the group as a member may have: end one first")]
        TooManyParties = 3,
        /// The ring has as many groups as a ring may have.
        #[error("the ring carries as many groups as it may")]
        TooManyGroups = 4,
        /// Complaints set the member aside; it may come back a little later.
        #[error("the others complained of silence: the member may come back a little later")]
        SetAside = 5,
        /// The group has a charter of its own, and these tables are of another.
        #[error("the group has a charter of its own, by which this node does not judge the join")]
        OtherCharter = 6,
        /// Too many changes at once; try again.
        #[error("too many changes at once: try again")]
        Busy = 7,
    }
}
