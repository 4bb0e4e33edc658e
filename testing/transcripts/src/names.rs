//! Values of the charter that name keys, and electorates: what a removal ends, and what comes back.

use crate::Group;
use crate::group::Drawn;
use crate::steps::charter;
use folkmoot_base::{MemberId, hex};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Force, Item};
use std::collections::BTreeSet;

impl Group {
    /// The charter names somebody, who is removed, and perhaps asks anew. What some voters approved
    /// before names that key, too.
    pub(crate) fn name(&mut self) -> Drawn<()> {
        let members = self.members();
        let member = self.dice.pick(&members).ok_or("nobody is there")?;
        for change in self.naming(member) {
            self.agree(change)?;
        }
        let mut voters = self.dice.some(&members, 60);
        voters.push(member);
        for change in self.naming(member).into_iter().chain([Change::Electorate { voters }]) {
            self.approve_some(change)?;
        }
        self.agree_by_force(Change::Remove { member })?;
        if self.dice.chance(70) {
            self.asks_anew(member)?;
        }
        Ok(())
    }

    /// Changes of the charter that name this key, and others.
    fn naming(&mut self, member: MemberId) -> Vec<Change> {
        let mut keys: BTreeSet<String> =
            self.dice.some(&self.members(), 40).iter().map(|one| hex(&one.0)).collect();
        keys.insert(hex(&member.0));
        let keys = keys.into_iter().collect::<Vec<_>>().join(",");
        let all = [
            ("list", keys.clone()),
            ("policy", "list".to_owned()),
            ("roles.crew", keys.clone()),
            ("roles.new", keys),
            ("admit", "1 of crew".to_owned()),
            ("remove", "1 of crew or 2 of all".to_owned()),
            ("decider", hex(&member.0)),
            ("policy", "founder".to_owned()),
        ];
        let some = self.dice.some(&all, 40);
        some.into_iter().map(|(field, value)| charter(field, &value)).collect()
    }

    /// Some voters approve a change, which nobody decides.
    pub(crate) fn approve_some(&mut self, change: Change) -> Drawn<()> {
        let (effect, voters) = (Effect::from(change), self.voters());
        let some = self.dice.some(&voters, 30);
        self.approve(effect.subject(), &some, Verdict::Approve)?;
        self.said.push(effect.clone());
        self.take(&Item::Effect(effect));
        Ok(())
    }

    fn agree_by_force(&mut self, change: Change) -> Drawn<()> {
        let (effect, voters) = (Effect { change, force: Force::Yes }, self.voters());
        self.approve(effect.subject(), &voters, Verdict::Approve)?;
        self.take(&Item::Effect(effect));
        self.decide(&voters, 0);
        Ok(())
    }

    /// Somebody who was a member asks again, and has a vote again if it is let in.
    fn asks_anew(&mut self, member: MemberId) -> Drawn<()> {
        let holder = self.people.get(&member).cloned().ok_or("a member without a key")?;
        let body = self.request(&holder);
        let voters = self.voters();
        let yes = self.dice.some(&voters, 70);
        let item = self.certified(&holder, &body, &yes)?;
        self.take(&item);
        self.decide(&voters, 0);
        let voters = voters.into_iter().chain([member]).collect();
        self.agree(Change::Electorate { voters })
    }

    /// Others vote, and then those who voted before: one electorate twice.
    pub(crate) fn there_and_back(&mut self) -> Drawn<()> {
        let voters: Vec<MemberId> =
            self.transcript.state().places().iter().map(|place| place.voter).collect();
        let mut others = self.dice.some(&self.members(), 60);
        others.reverse();
        self.agree(Change::Electorate { voters: others })?;
        if self.dice.chance(50) {
            self.change()?;
        }
        self.agree(Change::Electorate { voters })
    }
}
