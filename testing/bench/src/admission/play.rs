//! One run of a scheme with all its signers in this thread, one after the other, without a network.
//!
//! The thread's clock is read around each signer's turns, so that other work of the machine is not
//! in the numbers.

use crate::meter::thread_worked;
use folkmoot::MemberId;
use folkmoot_base::{Entropy, digest, draw};
use folkmoot_cli::exit::Failure;
use folkmoot_signing::{Incoming, Next, Outgoing, Run};
use std::time::{Duration, Instant};

/// No scheme has so many rounds.
const ROUNDS_MAX: u32 = 32;

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// What all signers worked.
    pub(crate) all: Duration,
    /// What the signer worked that worked most.
    pub(crate) busiest: Duration,
    pub(crate) rounds: u32,
    /// Messages to all, of all signers together.
    pub(crate) to_all: u64,
    /// Words said to one each.
    pub(crate) to_one: u64,
}

impl Played {
    /// With another signer's work.
    pub(crate) fn with(self, worked: Duration) -> Self {
        Self { all: self.all + worked, busiest: self.busiest.max(worked), ..self }
    }

    fn heard(&mut self, spoken: &[(MemberId, Outgoing)]) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.rounds += 1;
        self.to_all += count(spoken.iter().filter(|(_, said)| !said.to_all.is_empty()).count());
        self.to_one += spoken.iter().map(|(_, said)| count(said.to_each.len())).sum::<u64>();
    }
}

/// A signer that sits, of whatever scheme.
pub(crate) type Signer<D> = Box<dyn Run<Done = D> + Send>;

struct Player<D> {
    signer: MemberId,
    run: Signer<D>,
    worked: Duration,
    said: Option<Outgoing>,
    done: Option<D>,
}

impl<D> Player<D> {
    fn follow(&mut self, next: Next<D>) {
        match next {
            Next::Say(said) => self.said = Some(said),
            Next::Done(done) => self.done = Some(done),
        }
    }

    fn hear(&mut self, spoken: &[(MemberId, Outgoing)], entropy: &mut dyn Entropy) -> Result<(), Failure> {
        let awaited = self.run.awaited();
        let to_all = spoken
            .iter()
            .filter(|(speaker, _)| awaited.contains(speaker))
            .map(|(speaker, said)| (*speaker, said.to_all.clone()))
            .collect();
        let to_me = spoken
            .iter()
            .filter_map(|(speaker, said)| Some((*speaker, said.to_each.get(&self.signer)?.clone())))
            .collect();
        let before = thread_worked();
        let next = self.run.hear(Incoming { to_all, to_me }, entropy).map_err(Failure::bug)?;
        self.worked += thread_worked().saturating_sub(before);
        self.follow(next);
        Ok(())
    }
}

/// Plays to the end with each signer's part of a round on a thread of its own, as signers on
/// machines of their own work, on the processors that there are here and now: wall time.
///
/// # Errors
/// As [`play`].
pub(crate) fn play_together<D: Send>(
    signers: &[MemberId],
    sit: impl Fn(&MemberId) -> Result<Signer<D>, Failure> + Sync,
    entropy: &mut dyn Entropy,
) -> Result<Duration, Failure> {
    let seeds: Vec<[u8; 32]> = signers.iter().map(|_| draw(entropy)).collect();
    let mut entropies: Vec<Stream> = seeds.into_iter().map(|seed| Stream(seed, 0)).collect();
    let began = Instant::now();
    let mut players = begin_at_once(signers, &sit, &mut entropies)?;
    for _ in 0..ROUNDS_MAX {
        if players.iter().all(|player| player.done.is_some()) {
            return Ok(began.elapsed());
        }
        let said = |player: &mut Player<D>| Some((player.signer, player.said.take()?));
        let spoken: Vec<(MemberId, Outgoing)> = players.iter_mut().filter_map(said).collect();
        at_once(&mut players, &mut entropies, |player, entropy| {
            if player.done.is_some() { Ok(()) } else { player.hear(&spoken, entropy) }
        })?;
    }
    Err(Failure::bug("a run does not end"))
}

/// Each sits down and speaks for the first time.
fn begin_at_once<D: Send>(
    signers: &[MemberId],
    sit: &(impl Fn(&MemberId) -> Result<Signer<D>, Failure> + Sync),
    entropies: &mut [Stream],
) -> Result<Vec<Player<D>>, Failure> {
    let begin = |signer: &MemberId, entropy: &mut Stream| {
        let mut player =
            Player { signer: *signer, run: sit(signer)?, worked: Duration::ZERO, said: None, done: None };
        let next = player.run.start(entropy);
        player.follow(next);
        Ok(player)
    };
    std::thread::scope(|scope| {
        let begin = &begin;
        let each = signers.iter().zip(entropies);
        let all: Vec<_> = each.map(|(signer, entropy)| scope.spawn(move || begin(signer, entropy))).collect();
        all.into_iter()
            .map(|one| one.join().map_err(|_| Failure::bug("the thread of a signer has panicked"))?)
            .collect()
    })
}

fn at_once<D: Send>(
    players: &mut [Player<D>],
    entropies: &mut [Stream],
    act: impl Fn(&mut Player<D>, &mut Stream) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let act = &act;
        let each = players.iter_mut().zip(entropies);
        let all: Vec<_> = each.map(|(player, entropy)| scope.spawn(move || act(player, entropy))).collect();
        all.into_iter().try_for_each(|one| {
            one.join().map_err(|_| Failure::bug("the thread of a signer has panicked"))?
        })
    })
}

/// Randomness of one signer's thread, from a seed of the system's.
struct Stream([u8; 32], u64);

impl Entropy for Stream {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.1 = self.1.wrapping_add(1);
            let block = digest(&[&self.0, &self.1.to_be_bytes()]);
            chunk.iter_mut().zip(block).for_each(|(byte, drawn)| *byte = drawn);
        }
    }
}

/// Plays to the end. `sit` makes a signer's run, which counts as its work.
///
/// # Errors
/// A scheme that comes to nothing among honest signers: a bug.
pub(crate) fn play<D>(
    signers: &[MemberId],
    sit: impl Fn(&MemberId) -> Result<Signer<D>, Failure>,
    entropy: &mut dyn Entropy,
) -> Result<(Played, D), Failure> {
    let mut players = Vec::new();
    for signer in signers {
        let before = thread_worked();
        let mut run = sit(signer)?;
        let next = run.start(entropy);
        let worked = thread_worked().saturating_sub(before);
        let mut player = Player { signer: *signer, run, worked, said: None, done: None };
        player.follow(next);
        players.push(player);
    }
    let mut played = Played::default();
    while players.iter().any(|player| player.done.is_none()) {
        let said = |player: &mut Player<D>| Some((player.signer, player.said.take()?));
        let spoken: Vec<(MemberId, Outgoing)> = players.iter_mut().filter_map(said).collect();
        played.heard(&spoken);
        if played.rounds > ROUNDS_MAX {
            return Err(Failure::bug("a run does not end"));
        }
        for player in players.iter_mut().filter(|player| player.done.is_none()) {
            player.hear(&spoken, entropy)?;
        }
    }
    let played = players.iter().fold(played, |played, player| played.with(player.worked));
    let done = players.into_iter().find_map(|player| player.done);
    Ok((played, done.ok_or_else(|| Failure::bug("a run has no participants"))?))
}
