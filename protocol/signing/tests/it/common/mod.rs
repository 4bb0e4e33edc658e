//! Participants of a run: carries what runs say, round by round, and lets a liar change it if a
//! test wants one.

use folkmoot_base::{Entropy, MemberId, digest};
use folkmoot_signing::{Fault, Incoming, Next, Outgoing, Run, RunId};
use std::collections::BTreeMap;

/// Entropy from a seed: SHA-256 of a counter.
pub struct Seed(pub u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

/// Entropy that says the same for ever.
pub struct Stuck;

impl Entropy for Stuck {
    fn fill(&mut self, out: &mut [u8]) {
        out.fill(7);
    }
}

/// The bytes of a text in hex.
pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Member number `number`.
pub fn member(number: u64) -> MemberId {
    MemberId(digest(&[b"member", &number.to_be_bytes()]))
}

/// Members 1 to `count`, sorted by id.
pub fn members(count: u64) -> Vec<MemberId> {
    let mut all: Vec<MemberId> = (1..=count).map(member).collect();
    all.sort();
    all
}

/// A run's name.
pub fn run_id(number: u64) -> RunId {
    RunId(digest(&[b"run", &number.to_be_bytes()]))
}

/// How the run ended for each participant.
pub type Ends<D> = BTreeMap<MemberId, Result<D, Fault>>;

/// Honest participants only.
pub fn play<D>(hands: BTreeMap<MemberId, Box<dyn Run<Done = D>>>, seed: u64) -> Ends<D> {
    play_with(hands, seed, |_, _, _| {})
}

/// Plays to the end. Before anything is carried, `lie(round, speaker, said)` may change what
/// `speaker` said in that round (from 0). A participant that ends, well or not, speaks no more. One
/// that would wait for it ends too, without an entry: so compare only the entries that are there.
pub fn play_with<D>(
    mut hands: BTreeMap<MemberId, Box<dyn Run<Done = D>>>,
    seed: u64,
    mut lie: impl FnMut(usize, MemberId, &mut Outgoing),
) -> Ends<D> {
    let mut ends = Ends::new();
    let mut spoken: BTreeMap<MemberId, Outgoing> = BTreeMap::new();
    for (number, (hand, run)) in hands.iter_mut().enumerate() {
        match run.start(&mut Seed((seed << 40) + ((number as u64) << 32))) {
            Next::Say(said) => drop(spoken.insert(*hand, said)),
            Next::Done(done) => drop(ends.insert(*hand, Ok(done))),
        }
    }
    for round in 0.. {
        hands.retain(|hand, _| !ends.contains_key(hand));
        if hands.is_empty() || spoken.is_empty() {
            break;
        }
        assert!(round < 32, "a run of more than 32 rounds");
        for (speaker, said) in &mut spoken {
            lie(round, *speaker, said);
        }
        let heard_now = std::mem::take(&mut spoken);
        for (number, (hand, run)) in hands.iter_mut().enumerate() {
            let awaited = run.awaited();
            let to_all = heard_now
                .iter()
                .filter(|(speaker, _)| awaited.contains(speaker))
                .map(|(speaker, said)| (*speaker, said.to_all.clone()))
                .collect();
            let to_me = heard_now
                .iter()
                .filter_map(|(speaker, said)| Some((*speaker, said.to_each.get(hand)?.clone())))
                .collect();
            let mut entropy = Seed((seed << 40) + ((number as u64) << 32) + ((round as u64 + 1) << 16));
            match run.hear(Incoming { to_all, to_me }, &mut entropy) {
                Ok(Next::Say(said)) => drop(spoken.insert(*hand, said)),
                Ok(Next::Done(done)) => drop(ends.insert(*hand, Ok(done))),
                Err(fault) => drop(ends.insert(*hand, Err(fault))),
            }
        }
    }
    ends
}
