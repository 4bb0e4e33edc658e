//! Who may be led over decisions without seeing them, and who tries to lead: `LINE-78`.

use crate::clock::is_ahead;
use crate::liar::committed;
use crate::node::{Fault, Node, Step};
use crate::world::World;
use folkmoot_base::{Danger, MemberId, UnixTime};
use folkmoot_transcript::{Batch, LIFE_SECONDS, Standing, State, Way};
use std::collections::BTreeSet;

/// A note of a ring is renewed once an hour, and clocks are a few minutes apart.
const SLACK_SECONDS: u64 = 4_500;

/// What a node knows of its way along the line, and what is true.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    way: Way,
    /// When it last shared a ring in true time, and the number of its head then.
    shared: Option<(u64, u64)>,
    /// Whether its clock was ever wrong when it shared a ring, or not there.
    misled: bool,
    /// Its person lets it be led.
    pub(crate) told: bool,
    /// How often it was not led.
    pub(crate) refused: usize,
}

impl Node {
    fn share_ring(&mut self, seconds: u64) {
        let (number, time) = (self.state().head().number, self.set().time(self.state()));
        let last = || time.max(self.rings.way.last_shared().unwrap_or_default());
        let now = self.sound(seconds).unwrap_or_else(last);
        self.rings.way.note(now, number);
        self.rings.misled |= !self.is_right();
        // Two who were away together know no more for having met.
        let away = |(at, then): (u64, u64)| seconds > at + LIFE_SECONDS && then == number;
        if !self.rings.shared.is_some_and(away) {
            self.rings.shared = Some((seconds, number));
        }
    }

    /// Follows a line of which the decisions since its own head are gone, if it may.
    ///
    /// # Errors
    /// A fault: it could have seen them.
    pub(crate) fn follow(
        &mut self,
        (handovers, last): (&[Standing], &Standing),
        state: State,
        seconds: u64,
    ) -> Result<bool, Fault> {
        let (clock, time) = (self.sound(seconds), last.proposal.decision.time);
        if clock.is_some_and(|clock| is_ahead(last, clock)) {
            return Ok(true);
        }
        let may = self.rings.told || self.rings.way.may_skip(time, clock);
        if !may && !self.is(Danger::LineSkipsAnyway) {
            self.rings.refused += 1;
            return Ok(true);
        }
        if self.line.skip(handovers, last, state).is_err() {
            return Ok(false);
        }
        let long_ago = |at: u64| seconds + SLACK_SECONDS > at + LIFE_SECONDS;
        let may = self.rings.told || self.rings.misled || !self.is_right();
        if !may && self.rings.shared.is_some_and(|(at, _)| !long_ago(at)) {
            return Err(format!("{} shared a ring not long ago and was led over decisions", self.me));
        }
        self.start_anew(Step::Skipped(self.state().head()));
        Ok(true)
    }
}

impl World<'_> {
    /// Two that are at the same head, and members there, share a ring.
    pub(crate) fn share_ring(&mut self, one: usize, other: usize) {
        let [Some(first), Some(second)] = [one, other].map(|place| self.nodes.get(place)) else { return };
        let roster = first.state().roster();
        let members = roster.contains_key(&first.me) && roster.contains_key(&second.me);
        if !members || first.state().head() != second.state().head() {
            return;
        }
        for place in [one, other] {
            let seconds = self.seconds;
            self.nodes.get_mut(place).into_iter().for_each(|node| node.share_ring(seconds));
        }
    }

    /// Whose person sees that it is behind and cannot go on, is let on.
    pub(crate) fn let_on(&mut self) {
        self.nodes.iter_mut().take(self.honest).for_each(|node| node.rings.told = true);
    }

    /// Whoever is a quorum of the state that somebody is at makes two decisions that nobody
    /// approved, and shows what becomes of them, and not the first.
    pub(crate) fn lead(&mut self, keys: &[MemberId], target: usize) -> Result<(), Fault> {
        let Some(state) = self.nodes.get(target).map(|node| node.state().clone()) else { return Ok(()) };
        let keys: BTreeSet<MemberId> = keys.iter().copied().filter(|key| state.may_vote(key)).collect();
        if !state.is_quorum(&keys) {
            return Ok(());
        }
        let Some(first) = self.some_decision(&state, &keys) else { return Ok(()) };
        let contents = &self.contents;
        let Ok(between) = state.after(&first, |request| contents.get(request)) else { return Ok(()) };
        let batch = Batch { time: UnixTime(first.time.0 + 1), ..Batch::default() };
        let Ok((second, after)) = between.decide(batch, |_| None) else { return Ok(()) };
        let (Some(first), Some(last)) = (committed(first, &state, &keys), committed(second, &between, &keys))
        else {
            return Ok(());
        };
        if !between.is_quorum(&keys) {
            return Ok(());
        }
        self.unseen.extend([first.head(), last.head()]);
        self.note_decision(false, first.clone())?;
        self.note_decision(false, last.clone())?;
        let handovers: Vec<Standing> =
            [first].into_iter().filter(|one| one.proposal.decision.electorate.is_some()).collect();
        let Some(node) = self.nodes.get_mut(target) else { return Ok(()) };
        node.follow((&handovers, &last), after, self.seconds).map(drop)
    }
}
