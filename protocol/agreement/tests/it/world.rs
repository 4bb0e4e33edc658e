//! Members, what each holds, and runs among them. Every step is recorded, and every state is kept
//! for those who will misuse it.

use crate::common::{Seeded, member};
use folkmoot_agreement::{AgreementError, Kept, Module, Origin, Plan, Step};
use folkmoot_base::{Entropy, Party, digest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Makes one run: a module's `begin`, or a mutant's.
pub type Make<'a> = &'a dyn Fn(&Plan, Option<&Kept>) -> Result<Box<dyn Module>, AgreementError>;

/// What a check found: nothing, or what is wrong.
pub type Verdict<T = ()> = Result<T, String>;

/// A step as all see it.
pub type Said = (usize, u8, Vec<u8>);

macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}
#[allow(unused_imports, reason = "some tests use the world and none of its verdicts")]
pub(crate) use ensure;

/// What a member brings.
#[derive(Clone)]
pub struct Holding {
    pub origin: Origin,
    pub kept: Kept,
}

/// One run as it was on the wire.
pub struct Record {
    pub members: Vec<u16>,
    pub origins: Vec<Option<Origin>>,
    pub steps: Vec<Said>,
    /// `None`: it came to nothing.
    pub secret: Option<Vec<u8>>,
}

/// All members of a test.
pub struct World<'a> {
    pub make: Make<'a>,
    /// Chooses what happens. The members' own entropy is separate, so that one can be changed
    /// alone.
    pub dice: Seeded,
    streams: BTreeMap<u16, Box<dyn Entropy>>,
    pub holdings: BTreeMap<u16, Holding>,
    /// Every state that anybody ever held, and every run that anybody was in.
    pub captured: Vec<(u16, Holding)>,
    pub live: Vec<(u16, Box<dyn Module>)>,
    pub records: Vec<Record>,
    secrets: BTreeSet<Vec<u8>>,
}

/// Runs under way, one for each member, and what they have said.
pub struct Running {
    pub runs: Vec<Box<dyn Module>>,
    pub record: Record,
    pub secrets: Vec<Option<Vec<u8>>>,
    waiting: Vec<VecDeque<(u8, bool, Vec<u8>)>>,
}

impl<'a> World<'a> {
    pub fn new(make: Make<'a>, seed: u64) -> Self {
        Self {
            make,
            dice: Seeded(seed),
            streams: BTreeMap::new(),
            holdings: BTreeMap::new(),
            captured: Vec::new(),
            live: Vec::new(),
            records: Vec::new(),
            secrets: BTreeSet::new(),
        }
    }

    /// Gives one member entropy of its own choosing.
    pub fn stream(&mut self, number: u16, entropy: impl Entropy + 'static) {
        self.streams.insert(number, Box::new(entropy));
    }

    pub fn entropy(&mut self, number: u16) -> &mut dyn Entropy {
        let seeded = || Box::new(Seeded(u64::from(number) << 32 | 0x5eed));
        self.streams.entry(number).or_insert_with(|| seeded() as Box<dyn Entropy>).as_mut()
    }

    /// Begins and starts a run at each of `members`.
    pub fn start(&mut self, members: &[u16]) -> Verdict<Running> {
        let origins: Vec<_> =
            members.iter().map(|number| self.holdings.get(number).map(|held| held.origin)).collect();
        let mut running = Running {
            runs: Vec::new(),
            record: Record {
                members: members.to_vec(),
                origins: origins.clone(),
                steps: vec![],
                secret: None,
            },
            secrets: vec![None; members.len()],
            waiting: vec![VecDeque::new(); members.len()],
        };
        for (me, number) in members.iter().enumerate() {
            let plan = Plan::with_origins(&ids(members), me, origins.clone()).unwrap();
            let kept = self.holdings.get(number).map(|held| held.kept.clone());
            let run =
                (self.make)(&plan, kept.as_ref()).map_err(|error| format!("{me} cannot begin: {error}"))?;
            running.runs.push(run);
        }
        for (me, number) in members.iter().enumerate() {
            let steps = running.runs[me].start(self.entropy(*number));
            running.act(me, steps)?;
        }
        running.all_await_the_same()?;
        Ok(running)
    }

    /// Delivers the next step of a member that has one to send; chance chooses which. `None` if
    /// nobody has one.
    pub fn advance(&mut self, running: &mut Running) -> Verdict<Option<Said>> {
        let Some((from, step, decides, body)) = running.next(&mut self.dice) else { return Ok(None) };
        self.deliver(running, (from, step, body.clone()), decides)?;
        Ok(Some((from, step, body)))
    }

    /// Delivers an honest step at all members.
    pub fn deliver(&mut self, running: &mut Running, (from, step, body): Said, decides: bool) -> Verdict {
        let name = format!("step {step} of {from}");
        ensure!(running.runs[0].awaited().contains(&from), "{name} is not awaited");
        for me in 0..running.runs.len() {
            let deciding = running.runs[me].stage().deciding;
            let entropy = self.entropy(running.record.members[me]);
            let steps = running.runs[me].receive(from, step, &body, entropy);
            let steps = steps.map_err(|error| format!("{me} refuses {name}: {error}"))?;
            let done = steps.iter().any(|step| matches!(step, Step::Done(_)));
            ensure!(!done || (decides && deciding), "{name} ended the run unannounced");
            running.act(me, steps)?;
        }
        running.record.steps.push((from, step, body));
        running.all_await_the_same()
    }

    /// Runs to the end, or for at most `steps`.
    pub fn run(&mut self, members: &[u16], steps: usize) -> Verdict<Running> {
        let mut running = self.start(members)?;
        for _ in 0..steps {
            if self.advance(&mut running)?.is_none() {
                break;
            }
        }
        Ok(running)
    }

    /// A run that is broken off after so many steps: nobody takes anything over.
    pub fn abandon(&mut self, members: &[u16], steps: usize) -> Verdict {
        let running = self.run(members, steps)?;
        self.bury(running);
        Ok(())
    }

    /// A run to its end. Those who `adopt` take over what it leaves; a split in the last moment
    /// leaves the others behind.
    pub fn complete(&mut self, members: &[u16], adopt: impl Fn(u16) -> bool) -> Verdict {
        let mut running = self.run(members, usize::MAX)?;
        self.finish(&mut running, adopt)?;
        self.bury(running);
        Ok(())
    }

    /// Checks the end of a run, and takes over what it leaves.
    pub fn finish(&mut self, running: &mut Running, adopt: impl Fn(u16) -> bool) -> Verdict {
        let secret = running.agreed()?;
        ensure!(self.secrets.insert(secret.clone()), "a secret came twice");
        running.record.secret = Some(secret);
        let run = digest(&[b"a run", &self.records.len().to_be_bytes()]);
        let kept: Vec<_> = running.runs.iter().map(|run| run.keep()).collect();
        let keeping = kept.iter().flatten().count();
        ensure!(keeping == 0 || keeping == kept.len(), "some keep and some do not");
        let ranks: BTreeSet<_> = kept.iter().flatten().map(Kept::rank).collect();
        ensure!(ranks.len() == keeping, "two members have one rank");
        for (number, kept) in running.record.members.iter().zip(kept) {
            let holding =
                kept.map(|kept| Holding { origin: Origin { run, rank: kept.rank() }, kept: kept.clone() });
            self.captured.extend(holding.iter().map(|holding| (*number, holding.clone())));
            if adopt(*number) {
                self.holdings.remove(number);
                self.holdings.extend(holding.map(|holding| (*number, holding)));
            }
        }
        Ok(())
    }

    /// Keeps the record and the run objects for those who will misuse them.
    pub fn bury(&mut self, running: Running) {
        self.live.extend(running.record.members.iter().copied().zip(running.runs));
        self.records.push(running.record);
    }
}

impl Running {
    fn act(&mut self, me: usize, steps: Vec<Step>) -> Verdict {
        for step in steps {
            match step {
                Step::Send { step, decides, body } => self.waiting[me].push_back((step, decides, body)),
                Step::Done(secret) => {
                    ensure!(self.secrets[me].is_none(), "{me} was done twice");
                    self.secrets[me] = Some(secret.expose().clone());
                }
            }
        }
        Ok(())
    }

    /// Takes what a member answers to a step that may be a lie: no promise about it.
    pub fn follow(&mut self, me: usize, steps: Vec<Step>) {
        let _ = self.act(me, steps);
    }

    /// The next step of one of those who have something to say.
    pub fn next(&mut self, dice: &mut Seeded) -> Option<(usize, u8, bool, Vec<u8>)> {
        let ready: Vec<_> =
            (0..self.waiting.len()).filter(|place| !self.waiting[*place].is_empty()).collect();
        let from = *ready.get(dice.below(ready.len().max(1)))?;
        let (step, decides, body) = self.waiting[from].pop_front()?;
        Some((from, step, decides, body))
    }

    pub fn awaited(&self) -> BTreeSet<Vec<usize>> {
        self.runs.iter().map(|run| run.awaited()).collect()
    }

    pub fn all_await_the_same(&self) -> Verdict {
        let awaited = self.awaited();
        ensure!(awaited.len() == 1, "members differ on who is awaited: {awaited:?}");
        Ok(())
    }

    /// The one secret of a run that is at its end.
    pub fn agreed(&self) -> Verdict<Vec<u8>> {
        ensure!(self.awaited() == BTreeSet::from([vec![]]), "nobody speaks, but somebody is awaited");
        let first = self.secrets[0].clone().ok_or("nobody speaks, but no secret is there")?;
        ensure!(
            self.secrets.iter().all(|secret| secret.as_ref() == Some(&first)),
            "members differ on the secret"
        );
        Ok(first)
    }
}

pub fn ids(members: &[u16]) -> Vec<Party> {
    members.iter().copied().map(member).collect()
}
