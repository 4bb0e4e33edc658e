//! Time that passes: groups at rest, voters whose terms end, a line whose time is ahead.

use crate::Group;
use crate::group::{DAY, Drawn};
use crate::steps::charter;
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_transcript::{Approval, Change, Item, SignedApproval, admission};

impl Group {
    /// At last nothing is decided any more: some are admitted or renewed while ends of terms and
    /// approvals pass.
    pub(crate) fn at_rest(&mut self) -> Drawn<()> {
        if self.dice.chance(60) {
            self.vote_for_a_while()?;
        }
        for _ in 0..self.dice.roll(9) {
            if self.dice.chance(40) {
                self.admit()?;
            } else {
                self.say_again()?;
            }
            self.clock += self.dice.long(6) * DAY;
            self.transcript.hear_clock(UnixTime(self.clock));
        }
        Ok(())
    }

    /// Voters say their yeses to an admission again, in the next turn and with another end.
    pub(crate) fn say_again(&mut self) -> Drawn<()> {
        let admits: Vec<_> = self.transcript.set().admits().map(|admit| admit.request).collect();
        let Some(request) = self.dice.pick(&admits) else { return Ok(()) };
        let said: Vec<Approval> = self.transcript.set().approvals_of(admission(request)).copied().collect();
        for mut approval in self.dice.some(&said, 70) {
            approval.turn += 1;
            approval.expires = UnixTime(self.until());
            let person = self.people.get(&approval.voter).ok_or("a voter without a key")?;
            let signed = SignedApproval::sign(person.key(), self.transcript.group(), approval);
            self.take(&Item::Approval(signed));
        }
        Ok(())
    }

    /// Somebody whose term is over, or will be, is let in again.
    fn renew(&mut self, members: &[MemberId]) -> Drawn<()> {
        let some = self.dice.pick(members).and_then(|member| self.people.get(&member).cloned());
        let Some(holder) = some else { return Ok(()) };
        let body = self.request(&holder);
        let voters = self.voters();
        let yes = self.dice.some(&voters, 90);
        let item = self.certified(&holder, &body, &yes)?;
        self.take(&item);
        Ok(())
    }

    /// The group rests, until terms and approvals have run out.
    pub(crate) fn rest(&mut self) -> Drawn<()> {
        self.clock += self.dice.long(3) * 40 * DAY + self.dice.long(5) * DAY;
        self.transcript.hear_clock(UnixTime(self.clock));
        Ok(())
    }

    /// Newcomers with short terms are voters, perhaps the only ones: their terms end while the
    /// group rests, and too few would be left.
    pub(crate) fn vote_for_a_while(&mut self) -> Drawn<()> {
        let mut voters = self.dice.some(&self.voters(), 30);
        for _ in 0..1 + self.dice.roll(4) {
            voters.push(self.newcomer()?);
        }
        self.decide(&self.voters(), 0);
        let members = self.members();
        voters.retain(|voter| members.contains(voter));
        voters.sort_by_key(|_| self.dice.roll(1_000));
        self.agree(Change::Electorate { voters: voters.clone() })?;
        if self.dice.chance(30) {
            self.newcomer()?;
        }
        if self.dice.chance(30) {
            self.renew(&voters)?;
        }
        self.rest()
    }

    /// Somebody whom all voters let in for some days.
    fn newcomer(&mut self) -> Drawn<MemberId> {
        let holder = self.person()?;
        let mut body = self.request(&holder);
        body.not_after = UnixTime(body.not_before.0 + self.dice.long(6) * DAY + 60);
        let item = self.certified(&holder, &body, &self.voters())?;
        self.take(&item);
        Ok(holder.member())
    }

    /// The voters' clocks were ahead when they decided. Mostly they take the time back.
    pub(crate) fn ahead(&mut self) -> Drawn<()> {
        let by = self.dice.long(400) * DAY;
        self.clock += by;
        let (field, value) = self.field();
        self.decide_by_hand(vec![charter(&field, &value)], self.clock)?;
        self.clock -= by;
        if self.dice.chance(90) {
            let head = self.transcript.state().head();
            self.decide_by_hand(vec![Change::Retime { head }], self.clock)?;
        }
        Ok(())
    }
}
