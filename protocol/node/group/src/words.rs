//! What parties and nodes say: whether it was signed by whom it speaks for, and whether it is new.
//!
//! ```text
//! party's word --> its configuration? number? node? --> signature --> turn --> host --> effect
//! ```
//! Everybody comes to the same verdict: a signature is judged without a roster, and the rest is
//! what all nodes know alike at a place of the order. The last number of each party is known from
//! the merge on; what comes before the merge is judged with it.

use crate::message::{Control, Declaration, Declared, SignedJoin, State};
use crate::ordered::{Change, What};
use crate::{Group, GroupError, MEMBERSHIPS_MAX, Phase, Roster};
use folkmoot_base::{Danger, Join, NodeId, Party, Said, Says};

/// Most parties of one member whose words are told apart in one configuration.
pub(crate) const SPEAKERS_MAX: usize = 1_024;

impl Group {
    /// Orders what a party here says. Joining twice changes nothing. One party asks for a refresh,
    /// not all of them.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalNotJoined`],
    /// [`GroupError::LocalTooMany`].
    pub fn say(&mut self, said: Said) -> Result<(), GroupError> {
        let (party, group) = (said.word.party, said.word.says.group());
        match said.word.says {
            Says::Join(_) | Says::Leave { .. } => self.check_attached(party)?,
            Says::Refresh { .. } | Says::Complain { .. } => self.check_joined(party, group)?,
        }
        let full = self.residents.get(&self.config.me).is_some_and(|count| *count >= MEMBERSHIPS_MAX);
        if full && matches!(said.word.says, Says::Join(_)) {
            return Err(GroupError::LocalTooMany);
        }
        self.audience.says(party, said.word.number);
        self.order(&Control::Party(said));
        Ok(())
    }

    /// Orders what this node says of itself.
    pub(crate) fn declare(&mut self, says: Declaration) {
        let declared = Declared::sign(says, self.config.scope(), &*self.config.signatures);
        self.order(&Control::Node(declared));
    }

    pub(crate) fn order_detach(&mut self, party: Party) {
        self.audience.detaching(party);
        let number = self.audience.highest(&party);
        self.declare(Declaration::Detach { party, number });
    }

    /// A party's word has its place.
    pub(crate) fn hear_party(
        &mut self,
        peer: NodeId,
        said: Said,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        self.check_word(peer, &said)?;
        let (party, number) = (said.word.party, said.word.number);
        let what = match said.word.says {
            Says::Join(Join { group, configuration, .. }) => {
                What::Join(group, SignedJoin { configuration, number, proof: said.proof })
            }
            Says::Leave { group } => What::Leave(group, said.proof),
            Says::Refresh { view } => What::Refresh(view),
            Says::Complain { view, suspect, .. } if matches!(self.phase, Phase::Open) => {
                self.take_turn(party, number, roster)?;
                return self.complaint(peer, party, view, suspect);
            }
            // The merge decides who goes. A party that is still silent after it gets new
            // complaints.
            Says::Complain { .. } => What::Complain,
        };
        self.change(peer, party, number, what, roster)
    }

    /// GRP-20 to GRP-22: what can be said of a word by itself, the cheap part first.
    fn check_word(&self, peer: NodeId, said: &Said) -> Result<(), GroupError> {
        let (party, says) = (said.word.party, &said.word.says);
        let current = self.configuration.as_ref().map(|configuration| &configuration.id);
        let is_of_now = says.configuration().is_none_or(|named| Some(named) == current);
        // A Leave may come again: which joins it ends, it says by its number (GRP-23).
        let is_new = matches!(says, Says::Leave { .. }) || !self.has_spoken(&party, said.word.number);
        let again = self.config.danger.is(Danger::GroupHearsAgain);
        if !(again || is_of_now && is_new) {
            return Err(GroupError::PeerStale(party));
        }
        if let Says::Join(Join { node, group, .. }) = says
            && *node != peer
        {
            return Err(GroupError::PeerSpokeForAnother { peer, party, group: *group });
        }
        let believes = self.config.danger.is(Danger::GroupBelievesAnyone);
        if !believes && !said.is_signed(&*self.config.signatures) {
            return Err(GroupError::PeerForged(peer));
        }
        Ok(())
    }

    /// Whether a word of `party` with this number or a higher one counted in this configuration.
    pub(crate) fn has_spoken(&self, party: &Party, number: u64) -> bool {
        self.spoken.get(party).is_some_and(|last| number <= *last)
    }

    /// GRP-21: a party's words count in the order of their numbers, each once in a configuration.
    pub(crate) fn take_turn(
        &mut self,
        party: Party,
        number: u64,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        if self.config.danger.is(Danger::GroupHearsAgain) {
            return Ok(());
        }
        if self.has_spoken(&party, number) {
            return Err(GroupError::PeerStale(party));
        }
        // Strangers leave nothing here, and members no more than they may.
        if !roster.holds(party.member) {
            return Ok(());
        }
        let of_member = || self.spoken.range(crate::audience::parties_of(party.member)).count();
        if !self.spoken.contains_key(&party) && of_member() >= SPEAKERS_MAX {
            return Err(GroupError::PeerTooManyParties(party));
        }
        self.spoken.insert(party, number);
        Ok(())
    }

    /// A node's word has its place.
    pub(crate) fn hear_node(
        &mut self,
        peer: NodeId,
        declared: Declared,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        let believes = self.config.danger.is(Danger::GroupBelievesAnyone);
        if !believes && !declared.is_of(&peer, self.config.scope(), &*self.config.signatures) {
            return Err(GroupError::PeerForged(peer));
        }
        match declared.says {
            Declaration::Detach { party, number } => {
                if peer == self.config.me {
                    self.audience.detached(&party);
                }
                self.change(peer, party, number, What::Detach, roster)
            }
            Declaration::State(state) => self.state(peer, state, roster),
            Declaration::Mark { configuration, number, mark } => {
                self.mark_came(peer, &configuration, (number, mark), roster)
            }
        }
    }

    /// Applied now if the tables are merged; else as part of the merge.
    fn change(
        &mut self,
        node: NodeId,
        party: Party,
        number: u64,
        what: What,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        let Some(stamp) = self.stamp() else { return Ok(()) };
        self.take_change(Change { node, stamp, party, number, what }, roster)
    }

    /// GRP-24: each party in a State joined at that node. What the tables have already was verified
    /// before.
    pub(crate) fn check_joins(&self, peer: NodeId, state: &State) -> Result<(), GroupError> {
        if self.config.danger.is(Danger::GroupBelievesAnyone) {
            return Ok(());
        }
        for group in &state.groups {
            let circle = self.circles.get(&group.group);
            for joined in &group.members {
                let resident = circle.and_then(|circle| circle.resident(&joined.party));
                let known = resident.is_some_and(|known| known.node == peer && known.join == joined.join);
                let said = || joined.join.said(joined.party, group.group, peer);
                if !known && !said().is_signed(&*self.config.signatures) {
                    return Err(GroupError::PeerForged(peer));
                }
            }
        }
        Ok(())
    }
}
