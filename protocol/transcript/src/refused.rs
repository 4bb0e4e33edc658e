//! What programs are told of a change that may not be made.

use crate::Unfit;
use folkmoot_base::{Fault, RefusedBy};

impl Unfit {
    /// The code, the rule, and with whom it lies.
    pub const fn refused_by(&self) -> RefusedBy {
        use Fault::{Group, Order};
        match self {
            Self::NotMember(_) => RefusedBy::rule(Order, "not-a-member", "LINE-41"),
            Self::NotUtf8 => RefusedBy::rule(Order, "not-utf8", "LINE-42"),
            Self::Charter(_) => RefusedBy::rule(Order, "charter-field", "LINE-42"),
            Self::Threshold { .. } => RefusedBy::rule(Order, "threshold-not-due", "LINE-43"),
            Self::Electorate => RefusedBy::rule(Order, "electorate", "LINE-44"),
            Self::Signatures { .. } => RefusedBy::rule(Group, "signatures-too-long", "LINE-89"),
            Self::DeadEnd { .. } => RefusedBy::rule(Group, "dead-end", "LINE-45"),
            Self::Unreachable { .. } => RefusedBy::rule(Group, "unreachable-rule", "LINE-46"),
            Self::Sharing(_) => RefusedBy::rule(Group, "sharing", "LINE-47"),
            Self::Certificate(_) => RefusedBy::rule(Group, "group-certificate", "LINE-47"),
            Self::NoAdmit => RefusedBy::rule(Group, "admission-unknown", "LINE-49"),
            Self::NotLate => RefusedBy::rule(Group, "admission-held", "LINE-49"),
            Self::FormerKey(_) => RefusedBy::rule(Order, "former-key", "LINE-90"),
            Self::Rotation(_) => RefusedBy::rule(Group, "no-rotation", "LINE-91"),
            Self::Unsigned => RefusedBy::rule(Group, "certificate-unsigned", "LINE-92"),
            Self::Rejoin(_) => RefusedBy::rule(Order, "no-fork", "LINE-52"),
            Self::Leave(_) => RefusedBy::rule(Order, "leave-word", "LINE-93"),
            Self::Retime => RefusedBy::rule(Order, "other-head", "LINE-94"),
            Self::Over => RefusedBy::rule(Group, "line-over", "LINE-53"),
        }
    }

    /// Whether the person who proposes it may do so all the same ([`crate::Force`]).
    pub const fn is_forcible(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::DeadEnd { voters, .. } => *voters > 0,
            _ => false,
        }
    }
}
