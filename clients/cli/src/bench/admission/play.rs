//! One run of a scheme with all its hands in this thread, one after the other, without a network.
//!
//! The thread's clock is read around each hand's turns, so that what else the machine does is not in the numbers.

use crate::bench::meter::thread_worked;
use crate::exit::Failure;
use folkmoot::MemberId;
use folkmoot_base::Entropy;
use folkmoot_signing::{Heard, Next, Run, Said};
use std::time::Duration;

/// No scheme has so many rounds.
const ROUNDS_MAX: u32 = 32;

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// What all hands worked.
    pub(crate) all: Duration,
    /// What the hand worked that worked most.
    pub(crate) busiest: Duration,
    pub(crate) rounds: u32,
    /// Words said to all, by all hands together.
    pub(crate) to_all: u64,
    /// Words said to one each.
    pub(crate) to_one: u64,
}

impl Played {
    /// With another hand's work.
    pub(crate) fn with(self, worked: Duration) -> Self {
        Self { all: self.all + worked, busiest: self.busiest.max(worked), ..self }
    }

    fn heard(&mut self, spoken: &[(MemberId, Said)]) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.rounds += 1;
        self.to_all += count(spoken.iter().filter(|(_, said)| !said.to_all.is_empty()).count());
        self.to_one += spoken.iter().map(|(_, said)| count(said.to_each.len())).sum::<u64>();
    }
}

/// A hand that sits, of whatever scheme.
pub(crate) type Hand<D> = Box<dyn Run<Done = D>>;

struct Seat<D> {
    hand: MemberId,
    run: Hand<D>,
    worked: Duration,
    said: Option<Said>,
    done: Option<D>,
}

impl<D> Seat<D> {
    fn follow(&mut self, next: Next<D>) {
        match next {
            Next::Say(said) => self.said = Some(said),
            Next::Done(done) => self.done = Some(done),
        }
    }

    fn hear(&mut self, spoken: &[(MemberId, Said)], entropy: &mut dyn Entropy) -> Result<(), Failure> {
        let awaited = self.run.awaited();
        let to_all = spoken
            .iter()
            .filter(|(speaker, _)| awaited.contains(speaker))
            .map(|(speaker, said)| (*speaker, said.to_all.clone()))
            .collect();
        let to_me = spoken
            .iter()
            .filter_map(|(speaker, said)| Some((*speaker, said.to_each.get(&self.hand)?.clone())))
            .collect();
        let before = thread_worked();
        let next = self.run.hear(Heard { to_all, to_me }, entropy).map_err(Failure::bug)?;
        self.worked += thread_worked().saturating_sub(before);
        self.follow(next);
        Ok(())
    }
}

/// Plays to the end. `sit` makes a hand's run, which counts as its work.
///
/// # Errors
/// A scheme that comes to nothing among honest hands: a bug.
pub(crate) fn play<D>(
    hands: &[MemberId],
    sit: impl Fn(&MemberId) -> Result<Hand<D>, Failure>,
    entropy: &mut dyn Entropy,
) -> Result<(Played, D), Failure> {
    let mut seats = Vec::new();
    for hand in hands {
        let before = thread_worked();
        let mut run = sit(hand)?;
        let next = run.start(entropy);
        let worked = thread_worked().saturating_sub(before);
        let mut seat = Seat { hand: *hand, run, worked, said: None, done: None };
        seat.follow(next);
        seats.push(seat);
    }
    let mut played = Played::default();
    while seats.iter().any(|seat| seat.done.is_none()) {
        let said = |seat: &mut Seat<D>| Some((seat.hand, seat.said.take()?));
        let spoken: Vec<(MemberId, Said)> = seats.iter_mut().filter_map(said).collect();
        played.heard(&spoken);
        if played.rounds > ROUNDS_MAX {
            return Err(Failure::bug("a run without an end"));
        }
        for seat in seats.iter_mut().filter(|seat| seat.done.is_none()) {
            seat.hear(&spoken, entropy)?;
        }
    }
    let played = seats.iter().fold(played, |played, seat| played.with(seat.worked));
    let done = seats.into_iter().find_map(|seat| seat.done);
    Ok((played, done.ok_or_else(|| Failure::bug("a run of nobody"))?))
}
