//! One run: a group, two sides, liars with every former key, any order of delivery.

use crate::check::{Records, Tally};
use crate::clocks::Clocks;
use crate::contents::Contents;
use crate::node::{Fault, Node, START};
use crate::people::{Dice, PEOPLE, People};
use crate::rules::Rules;
use crate::sides::two;
use folkmoot_base::{Digest, MemberId, Mutant, UnixTime, digest};
use folkmoot_transcript::{Admit, BallotMessage, Effect, Head, Signed, Subject};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const DAY: u64 = 86_400;

/// One run as it stands.
#[derive(Debug)]
pub struct World<'a> {
    pub(crate) people: &'a People,
    pub(crate) dice: Dice,
    /// Programs of honest people, then two of each liar, one for each side.
    pub(crate) nodes: Vec<Node>,
    pub(crate) honest: usize,
    pub(crate) seconds: u64,
    pub(crate) contents: Contents,
    pub(crate) records: Records,
    /// Keys that the liars have: their own, and those of everybody who was expelled.
    pub(crate) stolen: BTreeSet<MemberId>,
    /// Every approval of an effect that anybody has taken, with the effect: liars keep them.
    pub(crate) kept: BTreeMap<Subject, (Effect, Vec<Signed>)>,
    /// The bases of all yeses to admissions of each key, and to effects that let it in.
    pub(crate) wanted: BTreeMap<MemberId, BTreeSet<Head>>,
    /// Decisions that somebody honest has judged right.
    pub(crate) judged: BTreeSet<Digest>,
    /// Decisions of liars that nobody was shown in full.
    pub(crate) unseen: BTreeSet<Head>,
    /// How the clocks are.
    pub(crate) clocks: Clocks,
    /// Where each node was when somebody last looked.
    pub(crate) heads: Vec<Head>,
    /// While all meet: a head, and the highest ballot there when all knew what to decide.
    pub(crate) tried: Option<(Head, u32)>,
    pub(crate) danger: Mutant,
    requests: u64,
}

impl<'a> World<'a> {
    /// A group as this seed draws it.
    ///
    /// # Errors
    /// The charter's refusal: a fault of the model.
    pub fn new(people: &'a People, seed: u64, danger: Mutant) -> Result<Self, Fault> {
        let mut dice = Dice(seed);
        let rules = Rules::draw(&mut dice);
        let (founders, charter) = (rules.founders, rules.charter(people)?);
        let liars = dice.roll(3).min(founders - 1);
        let clocks = Clocks::draw(&mut dice);
        let mut nodes: Vec<Node> = Vec::new();
        // The liars are the last founders. One who is honest may come in later.
        let honest = founders - liars + 1;
        for person in (0..founders - liars).chain([founders]) {
            let skew = clocks.skew(&mut dice, person);
            nodes.push(Node::new(people.keys(person), &charter, skew, danger));
        }
        // Liars run a second program on the other side.
        for person in (founders - liars..founders).chain(founders - liars..founders) {
            let mut node = Node::new(people.keys(person), &charter, Some(0), danger);
            node.side = usize::from(nodes.len() > founders);
            nodes.push(node);
        }
        // And the last two of those who may come in are theirs too.
        let liars = (founders - liars..founders).chain(PEOPLE - 2..PEOPLE);
        let stolen = liars.flat_map(|person| people.keys(person)).collect();
        let heads = nodes.iter().map(|node| node.state().head()).collect();
        let records = Records::new(&charter);
        Ok(Self {
            people,
            dice,
            nodes,
            honest,
            seconds: 0,
            contents: Contents::default(),
            records,
            stolen,
            kept: BTreeMap::new(),
            wanted: BTreeMap::new(),
            judged: BTreeSet::new(),
            unseen: BTreeSet::new(),
            clocks,
            heads,
            tried: None,
            danger,
            requests: 0,
        })
    }

    /// What every program has, in a few lines each.
    pub fn describe(&self) -> String {
        let lines: Vec<String> = self.nodes.iter().map(|node| node.describe(self.seconds)).collect();
        lines.join("\n")
    }

    /// What was seen.
    pub fn tally(&self) -> Tally {
        let mut tally = self.records.tally();
        let refused = self.nodes.iter().take(self.honest).map(|node| node.rings.refused).sum();
        tally.insert("not led over decisions", refused);
        tally
    }

    /// Some steps, then everybody who is honest meets.
    ///
    /// # Errors
    /// The fault, if one was found.
    pub fn run(&mut self, steps: usize) -> Result<(), Fault> {
        for step in 0..steps {
            self.step()?;
            self.note()?;
            if step % 6 == 0 {
                self.check_marks()?;
            }
        }
        self.meet()?;
        self.nodes.iter().take(self.honest).try_for_each(|node| self.leave_out_handovers(node))
    }

    fn step(&mut self) -> Result<(), Fault> {
        match self.dice.roll(100) {
            0..=29 => self.deliver(),
            30..=44 => {
                self.speak();
                Ok(())
            }
            45..=54 => {
                self.campaign();
                Ok(())
            }
            55..=64 => {
                self.request();
                Ok(())
            }
            65..=79 => self.pass_time(),
            80 | 81 => {
                self.part_company();
                Ok(())
            }
            82 if self.dice.chance(30) => self.week(),
            82 => Ok(()),
            83 => {
                self.jump();
                Ok(())
            }
            84..=86 => {
                let node = self.dice.roll(self.nodes.len());
                if let Some(node) = self.nodes.get_mut(node) {
                    node.restart();
                    node.ask_again(self.seconds);
                }
                Ok(())
            }
            87 => {
                self.resolve();
                Ok(())
            }
            88 | 89 => self.heal(),
            _ => self.lie(),
        }
    }

    /// Everybody is on one of two sides from now on, and asks its clock again before it gathers.
    fn part_company(&mut self) {
        for node in &mut self.nodes {
            node.side = usize::from(self.dice.chance(40));
            node.ask_again(self.seconds);
        }
    }

    /// Who can be heard on a side.
    pub(crate) fn present(&self, side: usize) -> BTreeSet<MemberId> {
        self.nodes.iter().filter(|node| node.side == side).map(|node| node.me).collect()
    }

    fn deliver(&mut self) -> Result<(), Fault> {
        let (from, to) = (self.dice.roll(self.nodes.len()), self.dice.roll(self.nodes.len()));
        let same = |from: &Node, to: &Node| from.side == to.side;
        let apart = match (self.nodes.get(from), self.nodes.get(to)) {
            (Some(a), Some(b)) => from == to || !same(a, b),
            _ => true,
        };
        if apart { Ok(()) } else { self.carry(from, to, 60) }
    }

    /// Everything that `from` has, to `to`; of what was said about ballots so many in a hundred.
    pub(crate) fn carry(&mut self, from: usize, to: usize, percent: usize) -> Result<(), Fault> {
        let said: Vec<BallotMessage> = self.nodes.get(from).map(|node| node.said.clone()).unwrap_or_default();
        let present = self.nodes.get(to).map(|node| self.present(node.side)).unwrap_or_default();
        // Sometimes what was said comes before what became of it.
        if self.dice.chance(percent) {
            self.learn(from, to)?;
        }
        let (seconds, contents) = (self.seconds, &self.contents);
        let Some(target) = self.nodes.get_mut(to) else { return Ok(()) };
        for message in said {
            if self.dice.chance(percent) {
                target.hear(message, seconds, &present, contents)?;
            }
        }
        self.share_ring(from, to);
        Ok(())
    }

    pub(crate) fn learn(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let (seconds, contents) = (self.seconds, &self.contents);
        match two(&mut self.nodes, from, to) {
            Some((source, target)) => target.learn(source, seconds, contents),
            None => Ok(()),
        }
    }

    fn pass_time(&mut self) -> Result<(), Fault> {
        let seconds = match self.dice.roll(20) {
            0..=3 if self.term() > 0 => self.term() + 400,
            0 => 700,
            1 => 2 * DAY,
            2 => 40 * DAY,
            3 | 4 => 61,
            5 => 400,
            _ => u64::try_from(1 + self.dice.roll(4)).unwrap_or(1),
        };
        self.work_all(seconds)
    }

    /// How long until the terms of all voters are over; zero if some voter has none.
    fn term(&self) -> u64 {
        let Some(state) = self.nodes.first().map(Node::state) else { return 0 };
        let ends = state.voters().into_iter().filter_map(|voter| state.roster().get(&voter));
        let last = ends.map(|held| held.ends.0).max().unwrap_or_default();
        last.checked_sub(START + self.seconds).filter(|left| *left <= 400 * DAY).unwrap_or_default()
    }

    pub(crate) fn work_all(&mut self, seconds: u64) -> Result<(), Fault> {
        self.seconds += seconds;
        let sides = [self.present(0), self.present(1)];
        for node in &mut self.nodes {
            let Some(present) = sides.get(node.side) else { continue };
            node.work(self.seconds, present, &self.contents)?;
        }
        Ok(())
    }

    /// Somebody asks for admission, or for a new term, at one node.
    fn request(&mut self) {
        let node = self.dice.roll(self.nodes.len());
        let Some(base) = self.nodes.get(node).map(|node| node.state().head()) else { return };
        let person = self.dice.roll(PEOPLE);
        let days = if self.dice.chance(40) { 1 } else { 300 };
        if let Some(admit) = self.admit(person, base, days)
            && let Some(node) = self.nodes.get_mut(node)
        {
            node.take_admit(&admit, self.seconds);
        }
    }

    pub(crate) fn admit(&mut self, person: usize, base: Head, days: u64) -> Option<Admit> {
        self.requests += 1;
        let key = self.people.key(person)?.clone();
        // Who wants to be in for long says that its term begins late.
        let begins = START + self.seconds + if self.dice.chance(5) { 18_000 * DAY } else { 0 };
        let csr = self.dice.chance(40).then(|| [u8::try_from(self.dice.roll(4)).unwrap_or_default(); 16]);
        let sharing = self.records.state(&base).and_then(|state| state.sharing().cloned());
        let epoch = sharing.map(|sharing| sharing.facts.epoch);
        let admit = Admit {
            request: digest(&[b"request", &self.requests.to_be_bytes(), key.spki_der()]),
            member: key.member_id(),
            name: format!("person {person}"),
            key,
            begins: UnixTime(begins),
            ends: UnixTime(begins + days * DAY),
            base,
            issued: None,
            csr,
            epochs: epoch.into_iter().collect(),
        };
        self.contents.add(&admit);
        Some(admit)
    }
}
