//! What programs say of themselves in their group, and what they hear of one another: joins,
//! leaves, complaints, and that they are ready for a view. A carrier can have any of it said again,
//! or in other words. What comes of it must come of what was said (`check/own_words.rs`).

use crate::record::Player;
use folkmoot_base::{Cause, ConfigurationId, Digest, ViewId};
use std::collections::BTreeSet;

/// One of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// It joins the group, or asks again.
    Joins,
    /// It leaves.
    Leaves,
    /// It wants this view anew.
    Refreshes(ViewId),
    /// It complains, in this configuration, of a party that is silent in this view.
    Complains(ConfigurationId, ViewId, Player),
    /// It is ready for a view (FLUSH_OK).
    Ready(Ready),
    /// It has this view (FLUSH_RECV).
    Has(ViewId),
    /// It hears that this player is ready for a view.
    Hears(Player, Ready),
    /// It hears who will be in the next view, and why.
    Noticed(Notice),
}

/// That somebody is ready for a view: the last of these counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready {
    /// Which.
    pub view: ViewId,
    /// Grows with each that a program says.
    pub number: u32,
    /// What its transcript was then.
    pub heads: Digest,
}

/// Who will be in the next view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The view.
    pub view: ViewId,
    /// Why it changes.
    pub cause: Cause,
    /// All of it.
    pub members: BTreeSet<Player>,
    /// Those of the one before who did not stay all the time.
    pub removed: BTreeSet<Player>,
}
