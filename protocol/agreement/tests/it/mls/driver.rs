//! A whole group: every member's kept state, and runs that deliver every step to all in one order.

pub(crate) use crate::common::{Seeded, member};
use folkmoot_agreement::mls::{Run, Suite};
use folkmoot_agreement::{AgreementError, Kept, Module, Origin, Plan, Step};
use folkmoot_base::{Digest, digest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A step as it was delivered.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) from: usize,
    pub(crate) step: u8,
    pub(crate) body: Vec<u8>,
}

/// One run at all its members.
pub(crate) struct Trial {
    pub(crate) runs: Vec<Run>,
    pub(crate) draws: Vec<Seeded>,
    pub(crate) queue: VecDeque<Said>,
    pub(crate) said: Vec<Said>,
    pub(crate) secrets: Vec<Option<Vec<u8>>>,
}

impl Trial {
    pub(crate) fn act(&mut self, at: usize, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Send { step, body, decides } => {
                    assert_eq!(decides, step == 2);
                    self.queue.push_back(Said { from: at, step, body });
                }
                Step::Done(secret) => self.secrets[at] = Some(secret.expose().clone()),
            }
        }
    }

    pub(crate) fn start(&mut self) {
        for at in 0..self.runs.len() {
            let steps = self.runs[at].start(&mut self.draws[at]);
            self.act(at, steps);
        }
    }

    /// Delivers the next step to all; false if there is none.
    pub(crate) fn deliver(&mut self) -> bool {
        let Some(said) = self.queue.pop_front() else { return false };
        let awaited: BTreeSet<_> = self.runs.iter().map(Module::awaited).collect();
        assert_eq!(awaited.len(), 1, "all see the same members awaited");
        assert!(awaited.first().unwrap().contains(&said.from));
        for at in 0..self.runs.len() {
            let steps = self.receive(at, &said).unwrap_or_else(|error| panic!("{error} at {at}"));
            self.act(at, steps);
        }
        self.said.push(said);
        true
    }

    pub(crate) fn receive(&mut self, at: usize, said: &Said) -> Result<Vec<Step>, AgreementError> {
        self.runs[at].receive(said.from, said.step, &said.body, &mut self.draws[at])
    }

    pub(crate) fn finish(&mut self) -> Vec<u8> {
        while self.deliver() {}
        assert!(self.runs.iter().all(|run| run.awaited().is_empty()), "the run came to nothing");
        let first = self.secrets[0].clone().expect("a secret");
        assert!(self.secrets.iter().all(|secret| secret.as_ref() == Some(&first)), "members differ");
        first
    }
}

/// What each member kept, and of which run.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) kept: BTreeMap<u16, (Origin, Kept)>,
    pub(crate) runs: u64,
    pub(crate) suite: Suite,
    seed: u64,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        Self { kept: BTreeMap::new(), runs: 0, suite: Suite::Classical, seed }
    }

    fn name(&self) -> Digest {
        digest(&[b"run", &self.runs.to_be_bytes()])
    }

    pub(crate) fn plan(&self, members: &[u16], me: usize) -> Plan {
        let ids: Vec<_> = members.iter().copied().map(member).collect();
        let origins = members.iter().map(|number| self.kept.get(number).map(|(origin, _)| *origin)).collect();
        let context = digest(&[b"context", &self.runs.to_be_bytes()]);
        Plan::with_origins(&ids, me, origins).unwrap().with_context(context)
    }

    pub(crate) fn begin(&mut self, members: &[u16]) -> Trial {
        self.runs += 1;
        let run = |me| {
            let kept = self.kept.get(&members[me]).map(|(_, kept)| kept);
            Run::new(&self.plan(members, me), kept, self.suite).unwrap()
        };
        let size = members.len();
        let draw = |me| Seeded(self.seed ^ self.runs << 32 ^ u64::from(members[me]) << 16);
        let mut trial = Trial {
            runs: (0..size).map(run).collect(),
            draws: (0..size).map(draw).collect(),
            queue: VecDeque::new(),
            said: Vec::new(),
            secrets: vec![None; size],
        };
        trial.start();
        trial
    }

    pub(crate) fn keep(&mut self, members: &[u16], trial: &Trial) {
        for (number, run) in members.iter().zip(&trial.runs) {
            let kept = run.keep().expect("done");
            let origin = Origin { run: self.name(), rank: kept.rank() };
            self.kept.insert(*number, (origin, kept));
        }
    }

    /// A whole run; all keep what it left.
    pub(crate) fn run(&mut self, members: &[u16]) -> (Vec<u8>, Trial) {
        let mut trial = self.begin(members);
        let secret = trial.finish();
        self.keep(members, &trial);
        (secret, trial)
    }

    /// Somebody loses its state.
    pub(crate) fn forget(&mut self, numbers: &[u16]) {
        for number in numbers {
            self.kept.remove(number);
        }
    }
}
