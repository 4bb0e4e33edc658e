//! Where a node asks its clock: as `folkmoot_transcript::Transcript` does, whose certificates are
//! left out here.

use crate::contents::Contents;
use crate::node::{Fault, Node, START};
use crate::world::DAY;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{Admit, Applied, SKEW_SECONDS, Signed, Standing};

impl Node {
    /// What its clock shows, if it has one.
    pub fn clock(&self, seconds: u64) -> Option<UnixTime> {
        self.skew.map(|skew| UnixTime((START + seconds).saturating_add_signed(skew)))
    }

    /// Whether its clock is as right as clocks ever are.
    pub(crate) fn is_right(&self) -> bool {
        self.skew.is_some_and(|skew| skew.abs() <= 150)
    }

    /// Its clock, unless that is from before its identity was made, or far behind the line.
    pub fn sound(&self, seconds: u64) -> Option<UnixTime> {
        let clock = self.clock(seconds).filter(|clock| clock.0 + DAY >= START);
        clock.filter(|clock| clock.0 + DAY >= self.state().time().0)
    }

    /// Takes an approval, whoever signed it.
    pub fn take_approval(&mut self, signed: Signed, seconds: u64) {
        let clock = self.sound(seconds);
        let (state, set) = self.line.set_mut();
        set.hear_approval(state, signed.clone(), clock);
        self.fresh.push(signed);
        self.ask(seconds);
    }

    /// Takes an admission, now or when its term has begun.
    pub fn take_admit(&mut self, admit: &Admit, seconds: u64) {
        let early = self.sound(seconds).is_some_and(|clock| !has_begun(admit, clock));
        if early && !self.is(Danger::LineBeginsLater) {
            self.waiting.insert(admit.request, admit.clone());
            return;
        }
        let (state, set) = self.line.set_mut();
        set.take_admit(state, admit.clone());
        self.ask(seconds);
    }

    /// What its clock is well past is over.
    pub fn ask(&mut self, seconds: u64) {
        let Some(clock) = self.sound(seconds) else { return };
        let (state, set) = self.line.set_mut();
        set.raise(state, clock);
    }

    /// Takes what waited for its clock, and says what is past.
    ///
    /// # Errors
    /// A fault.
    pub fn hear_clock(&mut self, seconds: u64, contents: &Contents) -> Result<(), Fault> {
        let Some(clock) = self.sound(seconds) else { return Ok(()) };
        let begun = self.waiting.extract_if(.., |_, admit| has_begun(admit, clock));
        let begun: Vec<Admit> = begun.map(|(_, admit)| admit).collect();
        begun.iter().for_each(|admit| self.take_admit(admit, seconds));
        let (state, set) = self.line.set_mut();
        let near = set.near(state, clock);
        near.into_iter().for_each(|signed| self.take_approval(signed, seconds));
        if self.ahead.last().is_some_and(|last| !is_ahead(last, clock)) {
            for standing in std::mem::take(&mut self.ahead) {
                self.apply(&standing, seconds, contents)?;
            }
        }
        self.ask(seconds);
        Ok(())
    }

    /// Asks its clock again about what that has let in.
    pub fn ask_again(&mut self, seconds: u64) {
        let clock = self.sound(seconds);
        self.asked = clock.is_some();
        let Some(clock) = clock else { return };
        let never = self.is(Danger::LineNeverAsksAgain) || self.is(Danger::LineBeginsLater);
        let (state, set) = self.line.set_mut();
        set.ask_again(state, clock);
        set.let_out(state, clock);
        let early: Vec<Admit> =
            set.admits().filter(|admit| !never && !has_begun(admit, clock)).cloned().collect();
        for admit in early {
            set.take_out(state, &admit.request);
            self.waiting.insert(admit.request, admit);
        }
    }

    /// Whether a decision waits for its clock, as one far ahead of it does, and what follows that.
    /// It does so here, if it stands.
    pub(crate) fn waits(&mut self, standing: &Standing, seconds: u64) -> bool {
        let parent = standing.proposal.parent();
        if self.ahead.first().is_some_and(|first| first.proposal.parent() != self.state().head()) {
            self.ahead.clear();
        }
        let Some(clock) = self.sound(seconds).filter(|_| !self.is(Danger::LineAheadOfClock)) else {
            return false;
        };
        if self.ahead.iter().any(|one| one.head() == standing.head()) {
            return true;
        }
        let follows = self.ahead.last().is_some_and(|last| last.head() == parent);
        if !follows && (parent != self.state().head() || !is_ahead(standing, clock)) {
            return false;
        }
        let mut line = if follows { self.ahead.clone() } else { Vec::new() };
        line.push(standing.clone());
        let mut copy = self.line.clone();
        if line.iter().any(|one| copy.apply(one.clone()) != Ok(Applied::Next)) {
            return true;
        }
        self.ahead = line;
        is_ahead(standing, clock)
    }

    /// Applies the decisions that wait for its clock: by its person's word, or because the last one
    /// takes the time back.
    ///
    /// # Errors
    /// A fault.
    pub(crate) fn take_ahead(&mut self, contents: &Contents) -> Result<(), Fault> {
        for standing in std::mem::take(&mut self.ahead) {
            self.apply_now(&standing, contents, None)?;
        }
        Ok(())
    }
}

fn has_begun(admit: &Admit, clock: UnixTime) -> bool {
    admit.begins.0 <= clock.0.saturating_add(SKEW_SECONDS)
}

pub(crate) fn is_ahead(standing: &Standing, clock: UnixTime) -> bool {
    standing.proposal.decision.time.0 > clock.0.saturating_add(DAY)
}
