//! What programs say of themselves in their group, as lines of a log.

use crate::log::{read, text};
use folkmoot_base::Cause;
use folkmoot_sim::record::Player;
use folkmoot_sim::word::{Notice, Ready, Word};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One of these; ids in hexadecimal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Said {
    Joins,
    Leaves,
    Refreshes(String),
    Complains(String, String, Player),
    Ready(Readiness),
    Has(String),
    Hears(Player, Readiness),
    Noticed { view: String, cause: u8, members: BTreeSet<Player>, removed: BTreeSet<Player> },
}

/// View, number, heads.
type Readiness = (String, u32, String);

const CAUSES: [Cause; 9] = [
    Cause::Join,
    Cause::Leave,
    Cause::Detach,
    Cause::Network,
    Cause::Expelled,
    Cause::Expired,
    Cause::Complaint,
    Cause::Refresh,
    Cause::Late,
];

impl Said {
    pub(crate) fn of(word: &Word) -> Self {
        let ready = |ready: &Ready| (text(&ready.view), ready.number, folkmoot_base::hex(&ready.heads));
        match word {
            Word::Joins => Self::Joins,
            Word::Leaves => Self::Leaves,
            Word::Refreshes(view) => Self::Refreshes(text(view)),
            Word::Complains(configuration, view, of) => Self::Complains(text(configuration), text(view), *of),
            Word::Ready(said) => Self::Ready(ready(said)),
            Word::Has(view) => Self::Has(text(view)),
            Word::Hears(player, said) => Self::Hears(*player, ready(said)),
            Word::Noticed(Notice { view, cause, members, removed }) => {
                let (members, removed) = (members.clone(), removed.clone());
                Self::Noticed { view: text(view), cause: *cause as u8, members, removed }
            }
        }
    }

    /// `None` for what cannot be read.
    pub(crate) fn word(self) -> Option<Word> {
        let ready = |(view, number, heads): Readiness| {
            let heads = folkmoot_base::unhex(&heads)?.try_into().ok()?;
            Some(Ready { view: read(&view)?, number, heads })
        };
        Some(match self {
            Self::Joins => Word::Joins,
            Self::Leaves => Word::Leaves,
            Self::Refreshes(view) => Word::Refreshes(read(&view)?),
            Self::Complains(configuration, view, of) => {
                Word::Complains(read(&configuration)?, read(&view)?, of)
            }
            Self::Ready(said) => Word::Ready(ready(said)?),
            Self::Has(view) => Word::Has(read(&view)?),
            Self::Hears(player, said) => Word::Hears(player, ready(said)?),
            Self::Noticed { view, cause, members, removed } => {
                let cause = CAUSES.into_iter().find(|known| *known as u8 == cause)?;
                Word::Noticed(Notice { view: read(&view)?, cause, members, removed })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_base::{ConfigurationId, GroupId, NodeId, ViewId};

    #[test]
    fn what_was_said_is_read_back() {
        let configuration = ConfigurationId { ring_seq: 7, representative: NodeId([1; 32]), nonce: [2; 16] };
        let view = ViewId { configuration, order: 3, group: GroupId([4; 32]) };
        let ready = Ready { view, number: 2, heads: [9; 32] };
        let (members, removed) = (BTreeSet::from([0, 51]), BTreeSet::from([1]));
        let notice = |cause| Notice { view, cause, members: members.clone(), removed: removed.clone() };
        let all = [
            Word::Joins,
            Word::Leaves,
            Word::Refreshes(view),
            Word::Complains(configuration, view, 3),
            Word::Ready(ready),
            Word::Has(view),
            Word::Hears(4, ready),
        ];
        let notices = CAUSES.map(|cause| Word::Noticed(notice(cause)));
        for word in all.into_iter().chain(notices) {
            assert_eq!(Said::of(&word).word(), Some(word));
        }
    }
}
