//! A week in which nothing is decided: votes would run out, and programs say again what their
//! people have not taken back.

use crate::node::{Fault, Node, START};
use crate::world::{DAY, World};
use folkmoot_base::{Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Admit, Head, admission};
use std::collections::BTreeSet;

/// Half a day at a time: a yes is said again when less than a day of it is left.
const STEPS: u64 = 16;

impl Node {
    /// Says again each yes of its own to an admission that counts, a day before it ends.
    fn say_again(&mut self, seconds: u64) {
        let Some(clock) = self.sound(seconds).filter(|_| !self.is(Danger::AdmissionSaysOnce)) else { return };
        let due = self.set().counted().filter_map(|admit| {
            let own = self.set().approval(&admission(admit.request), &self.me)?.approval;
            let soon = own.is_yes() && own.expires.0 <= clock.0 + DAY;
            let counts = self.state().counts(&own, self.state().removed_at(&admit.member), clock).is_ok();
            (soon && counts).then_some((own, admit.ends))
        });
        let due: Vec<_> = due.collect();
        for (own, ends) in due {
            let life = (3 * DAY).min(ends.0.saturating_sub(clock.0));
            if clock.0 + life > own.expires.0 {
                self.say(own.subject, Verdict::Approve, life, seconds);
            }
        }
    }
}

impl World<'_> {
    /// The group is in two halves, no ballot comes through, and people say nothing. Whoever was let
    /// in by honest people who hear each other stays in.
    pub(crate) fn week(&mut self) -> Result<(), Fault> {
        let halves = self.halves();
        let before: Vec<(Head, BTreeSet<Digest>)> =
            (0..self.honest).map(|place| self.stays(place, &halves)).collect();
        for _ in 0..STEPS {
            for side in &halves {
                self.half_a_day(side)?;
            }
            self.note()?;
            self.seconds += DAY / 2;
        }
        // The last half day is over for them, too.
        for node in self.nodes.iter_mut().take(self.honest) {
            node.hear_clock(self.seconds, &self.contents)?;
        }
        for (node, (head, stay)) in self.nodes.iter().zip(before) {
            let (state, set) = (node.state(), node.set());
            let counted: BTreeSet<MemberId> = set.counted().map(|admit| admit.member).collect();
            let refused = |admit: &Admit| set.is_refused(state, admit);
            let out = stay.iter().filter(|request| !set.admit(request).is_some_and(refused));
            let mut out = out.filter_map(|request| self.contents.get(request));
            if let Some(out) = out.find(|admit| state.head() == head && !counted.contains(&admit.member)) {
                return Err(format!("{} let in {out:?}, who fell out in a week", node.me));
            }
        }
        Ok(())
    }

    /// Two halves of the honest.
    fn halves(&mut self) -> [Vec<usize>; 2] {
        let mut halves = [Vec::new(), Vec::new()];
        for place in 0..self.honest {
            let half = halves.get_mut(self.dice.roll(2));
            half.into_iter().for_each(|half| half.push(place));
        }
        halves
    }

    fn half_a_day(&mut self, side: &[usize]) -> Result<(), Fault> {
        let seconds = self.seconds;
        for place in side {
            if let Some(node) = self.nodes.get_mut(*place) {
                node.hear_clock(seconds, &self.contents)?;
                node.say_again(seconds);
            }
        }
        for from in side {
            for to in side.iter().filter(|to| *to != from) {
                self.learn(*from, *to)?;
            }
        }
        Ok(())
    }

    /// Whom this node lets in, by people of its half whose clocks go and who stand by it.
    fn stays(&self, place: usize, halves: &[Vec<usize>; 2]) -> (Head, BTreeSet<Digest>) {
        let none = Head { number: 0, digest: [0; 32] };
        let Some(node) = self.nodes.get(place) else { return (none, BTreeSet::new()) };
        let (state, now) = (node.state(), START + self.seconds);
        let half = halves.iter().find(|half| half.contains(&place));
        let there = half.into_iter().flatten().filter_map(|place| self.nodes.get(*place));
        let right = |node: &&Node| node.skew.is_some_and(|skew| skew.unsigned_abs() <= 150) && node.asked;
        let same = |other: &&Node| other.state().head() == state.head() && !self.stolen.contains(&other.me);
        let there: Vec<&Node> = there.filter(right).filter(same).collect();
        let stays = node.set().counted().filter(|admit| {
            let stands = |other: &&&Node| {
                let own = other.set().approval(&admission(admit.request), &other.me);
                let long = |until: UnixTime| until.0 > now + DAY / 2;
                own.is_some_and(|own| own.approval.is_yes() && long(own.approval.expires))
            };
            let yes = there.iter().filter(|other| state.may_vote(&other.me)).filter(stands).count();
            let long = admit.ends.0 > now + 30 * DAY;
            long && there.iter().any(|other| other.me == node.me) && yes >= state.threshold()
        });
        (state.head(), stays.map(|admit| admit.request).collect())
    }
}
