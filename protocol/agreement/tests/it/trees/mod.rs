//! Test support for both tree modules: members with what they keep, runs among them, and what each
//! draws and pays.

pub mod outsiders;
pub mod shapes;
mod wide;

pub use wide::Wide;

use crate::common::{Seeded, member};
use folkmoot_agreement::{AgreementError, Kept, Module, Origin, Plan, Step};
use folkmoot_base::{Entropy, Party, digest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub type Make<'a> = &'a dyn Fn(&Plan, Option<&Kept>) -> Result<Box<dyn Module>, AgreementError>;

/// Runs by place, and what they send first.
pub type Started = (Vec<Box<dyn Module>>, Vec<(usize, Step)>);

/// A member's entropy: scripted shares first, then a stream; all that was drawn is on it.
#[derive(Default)]
pub struct Tape {
    pub script: VecDeque<u8>,
    pub seed: u64,
    pub drawn: Vec<u8>,
}

impl Entropy for Tape {
    fn fill(&mut self, out: &mut [u8]) {
        let mut stream = Seeded(self.seed ^ self.drawn.len() as u64);
        stream.fill(out);
        for byte in out.iter_mut() {
            *byte = self.script.pop_front().unwrap_or(*byte);
        }
        self.drawn.extend_from_slice(out);
    }
}

/// One run that came to its end.
#[derive(Clone)]
pub struct Ran {
    pub members: Vec<u16>,
    pub steps: Vec<(usize, u8, Vec<u8>)>,
    pub secret: Vec<u8>,
    /// Exponentiations, by place.
    pub paid: Vec<u64>,
    /// Exponentiations that must be done one after the other, whoever does them.
    pub serial: u64,
    /// How often everybody waited for what is sent.
    pub rounds: usize,
}

impl Ran {
    /// What `number` paid.
    pub fn paid_by(&self, number: u16) -> u64 {
        self.paid[self.members.iter().position(|other| *other == number).unwrap()]
    }
}

pub struct World<'a> {
    pub make: Make<'a>,
    pub held: BTreeMap<u16, (Origin, Kept)>,
    pub tapes: BTreeMap<u16, Tape>,
    pub ran: Vec<Ran>,
    /// Steps of runs that came to nothing.
    pub lost: Vec<(usize, u8, Vec<u8>)>,
}

pub fn ids(numbers: &[u16]) -> Vec<Party> {
    numbers.iter().copied().map(member).collect()
}

impl<'a> World<'a> {
    pub fn new(make: Make<'a>) -> Self {
        Self { make, held: BTreeMap::new(), tapes: BTreeMap::new(), ran: Vec::new(), lost: Vec::new() }
    }

    /// The next bytes that `number` draws.
    pub fn script(&mut self, number: u16, shares: &[u16]) {
        self.tape(number).script.extend(shares.iter().flat_map(|share| share.to_be_bytes()));
    }

    fn tape(&mut self, number: u16) -> &mut Tape {
        let seed = (u64::from(number) << 40) | 0xface;
        self.tapes.entry(number).or_insert_with(|| Tape { seed, ..Tape::default() })
    }

    pub fn plan(&self, numbers: &[u16], me: usize) -> Plan {
        let origins = numbers.iter().map(|number| self.held.get(number).map(|held| held.0)).collect();
        Plan::with_origins(&ids(numbers), me, origins).unwrap()
    }

    pub fn begin(&self, numbers: &[u16], me: usize) -> Result<Box<dyn Module>, AgreementError> {
        (self.make)(&self.plan(numbers, me), self.held.get(&numbers[me]).map(|held| &held.1))
    }

    /// Every member's run, started, and what they send first, by place.
    pub fn start(&mut self, numbers: &[u16]) -> Started {
        let mut runs: Vec<_> = (0..numbers.len()).map(|me| self.begin(numbers, me).unwrap()).collect();
        let mut said = Vec::new();
        for (me, run) in runs.iter_mut().enumerate() {
            let steps = run.start(self.tape(numbers[me]));
            said.extend(steps.into_iter().map(|step| (me, step)));
        }
        (runs, said)
    }

    /// A run that stops after `most` steps; `None` if it came to its end, with what its members may
    /// take over.
    fn drive(&mut self, numbers: &[u16], most: usize) -> Option<(Ran, Vec<Kept>)> {
        let (mut runs, said) = self.start(numbers);
        let size = numbers.len();
        let (mut clocks, mut paid) = (vec![0; size], vec![0; size]);
        let mut secrets: Vec<Option<Vec<u8>>> = vec![None; size];
        let mut queue = VecDeque::new();
        let (mut steps, mut rounds, mut waves) = (Vec::new(), 0, BTreeSet::new());
        let mut pending = said;
        loop {
            for (me, run) in runs.iter().enumerate() {
                let now = run.count().exponentiations;
                clocks[me] += now - paid[me];
                paid[me] = now;
            }
            for (me, step) in pending.drain(..) {
                match step {
                    Step::Send { step, body, .. } => queue.push_back((me, step, body, clocks[me])),
                    Step::Done(secret) => assert!(secrets[me].replace(secret.expose().clone()).is_none()),
                }
            }
            let awaited: BTreeSet<_> = runs.iter().map(|run| run.awaited()).collect();
            assert_eq!(awaited.len(), 1, "all await the same");
            let Some((from, step, body, sent)) = queue.pop_front() else { break };
            if steps.len() == most {
                self.lost.append(&mut steps);
                return None;
            }
            rounds += usize::from(waves.insert(step));
            for (me, run) in runs.iter_mut().enumerate() {
                let answer = run.receive(from, step, &body, self.tape(numbers[me])).unwrap();
                clocks[me] = clocks[me].max(sent);
                pending.extend(answer.into_iter().map(|step| (me, step)));
            }
            steps.push((from, step, body));
        }
        let secrets: BTreeSet<_> = secrets.into_iter().map(|secret| secret.expect("done")).collect();
        assert_eq!(secrets.len(), 1, "one secret");
        let kept = runs.iter().map(|run| run.keep().unwrap()).collect();
        let secret = secrets.into_iter().next().unwrap();
        let serial = clocks.into_iter().max().unwrap();
        Some((Ran { members: numbers.to_vec(), steps, secret, paid, serial, rounds }, kept))
    }

    /// A run to its end; those whom `adopts` names take over what it leaves.
    pub fn run_adopted(&mut self, numbers: &[u16], adopts: impl Fn(u16) -> bool) -> Ran {
        let (ran, kept) = self.drive(numbers, usize::MAX).unwrap();
        let run = digest(&[&self.ran.len().to_be_bytes()]);
        for (number, kept) in numbers.iter().zip(kept).filter(|(number, _)| adopts(**number)) {
            self.held.insert(*number, (Origin { run, rank: kept.rank() }, kept));
        }
        assert!(self.ran.iter().all(|before| before.secret != ran.secret), "no secret twice");
        self.ran.push(ran.clone());
        ran
    }

    pub fn run(&mut self, numbers: &[u16]) -> Ran {
        self.run_adopted(numbers, |_| true)
    }

    /// A run that comes to nothing after at most so many steps. Nobody takes anything over.
    pub fn abandon(&mut self, numbers: &[u16], most: usize) {
        let ended = self.drive(numbers, most);
        if let Some((ran, _)) = ended {
            self.lost.extend(ran.steps);
        }
    }

    /// Members from left to right, as they see it themselves.
    pub fn order(&self, numbers: &[u16]) -> Vec<u16> {
        let mut order = numbers.to_vec();
        order.sort_by_key(|number| self.held[number].0.rank);
        order
    }
}

/// `first..=last`.
pub fn span(first: u16, last: u16) -> Vec<u16> {
    (first..=last).collect()
}
