//! Groups of which voters decide one number twice: forks, and how one line goes over to the other.

use crate::Group;
use crate::group::Drawn;
use crate::steps::charter;
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Item, Leave, Standing, Transcript};

/// The decision of this number, as far as it is kept.
fn decided(transcript: &Transcript, number: u64) -> Option<Standing> {
    transcript.line().decisions().get(&number).cloned()
}

impl Group {
    /// The voters decide one thing, and then another after the same decision. Our line keeps the
    /// second as evidence; the other line is remembered.
    pub(crate) fn part(&mut self) -> Drawn<()> {
        let before = self.transcript.clone();
        let number = before.state().head().number + 1;
        self.agree_on_a_field()?;
        self.swap(before);
        let ours = self.agree_on_a_field().map(|()| self.transcript.clone());
        let Some((_, first)) = self.other.take() else { return Ok(()) };
        self.transcript = first;
        let other = ours?;
        let (Some(ours), Some(theirs)) = (decided(&self.transcript, number), decided(&other, number)) else {
            return Ok(());
        };
        if ours.head() != theirs.head() {
            self.take(&Item::Decision(theirs));
            self.other = Some((number, other));
        }
        Ok(())
    }

    /// Goes on with this transcript; the one that was ours is remembered.
    fn swap(&mut self, other: Transcript) {
        let number = other.state().head().number;
        let ours = std::mem::replace(&mut self.transcript, other);
        self.other = Some((number, ours));
    }

    fn agree_on_a_field(&mut self) -> Drawn<()> {
        if self.dice.chance(30) {
            return self.change();
        }
        let (field, value) = self.field();
        self.agree(charter(&field, &value))
    }

    /// All voters want this, and decide.
    pub(crate) fn agree(&mut self, change: Change) -> Drawn<()> {
        let (effect, voters) = (Effect::from(change), self.voters());
        self.approve(effect.subject(), &voters, Verdict::Approve)?;
        self.take(&Item::Effect(effect));
        self.decide(&voters, 0);
        Ok(())
    }

    /// A member asks to leave for good.
    pub(crate) fn departure(&mut self, member: MemberId) -> Drawn<Change> {
        let until = UnixTime(self.until());
        let key = self.people.get(&member).ok_or("a member without a key")?.key();
        let (group, since) = (self.transcript.group(), self.transcript.state().head().number);
        Ok(Change::Leave(Leave::sign(key, group, since, until)))
    }

    /// Our voters want to go over to the other line. Perhaps that line goes on meanwhile, perhaps
    /// its voters want to come to ours, and perhaps we are shown it.
    pub(crate) fn rejoin(&mut self) -> Drawn<()> {
        let Some((number, other)) = self.other.clone() else { return self.part() };
        let (Some(ours), Some(theirs)) = (decided(&self.transcript, number), decided(&other, number)) else {
            return Ok(());
        };
        let other = self.elsewhere(other, |group| group.goes_on(&ours))?;
        self.other = Some((number, other.clone()));
        let change = Change::Rejoin { head: theirs.head() };
        if self.dice.chance(70) {
            self.agree(change)?;
        } else {
            self.want(change)?;
        }
        if self.dice.chance(60) {
            self.go_over(number, other);
        }
        Ok(())
    }

    /// What happens on another line: that line afterwards.
    fn elsewhere(
        &mut self,
        other: Transcript,
        act: impl FnOnce(&mut Self) -> Drawn<()>,
    ) -> Drawn<Transcript> {
        let ours = std::mem::replace(&mut self.transcript, other);
        let done = act(self);
        let other = std::mem::replace(&mut self.transcript, ours);
        done.map(|()| other)
    }

    fn goes_on(&mut self, theirs: &Standing) -> Drawn<()> {
        if self.dice.chance(50) {
            self.change()?;
        }
        if self.dice.chance(30) {
            self.take(&Item::Decision(theirs.clone()));
            self.agree(Change::Rejoin { head: theirs.head() })?;
        }
        Ok(())
    }

    /// Somebody shows the other line: we go over where ours has ended, or alone.
    fn go_over(&mut self, number: u64, other: Transcript) {
        let resolves = self.dice.chance(30).then(|| other.state().head());
        let Some((decisions, last)) = other.line().side_from(number) else { return };
        let ours = self.transcript.clone();
        let met = self.transcript.meet(&decisions, &last, &other.state().encode(), resolves);
        if met.is_ok_and(|taken| taken.advanced) {
            self.other = Some((number, ours));
        }
    }
}
