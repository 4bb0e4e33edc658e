//! One run: a group, two sides, liars with every former key, any order of delivery.

use crate::check::{Records, Tally};
use crate::node::{Contents, Fault, Node, START};
use crate::people::{Dice, PEOPLE, People};
use crate::rules::Rules;
use crate::sides::two;
use folkmoot_base::{Digest, MemberId, Mutant, UnixTime, digest};
use folkmoot_transcript::{Admit, BallotMessage, Head};
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
    /// Who has ever approved each request.
    pub(crate) spoken: BTreeMap<Digest, BTreeSet<MemberId>>,
    /// Where each node was when somebody last looked.
    pub(crate) heads: Vec<Head>,
    /// While all meet: a head, and the highest ballot there when all knew what to decide.
    pub(crate) tried: Option<(Head, u32)>,
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
        let honest = founders - liars;
        let mut nodes: Vec<Node> = Vec::new();
        for person in 0..founders {
            let skew = i64::try_from(dice.roll(50)).unwrap_or_default() - 25;
            nodes.push(Node::new(people.keys(person), &charter, skew, danger));
        }
        // The liars are the last founders: they run a second program on the other side.
        for person in honest..founders {
            let mut clone = Node::new(people.keys(person), &charter, 0, danger);
            clone.side = 1;
            nodes.push(clone);
        }
        // And the last two of those who may come in are theirs too.
        let liars = (honest..founders).chain(PEOPLE - 2..PEOPLE);
        let stolen = liars.flat_map(|person| people.keys(person)).collect();
        let heads = nodes.iter().map(|node| node.state().head()).collect();
        let records = Records::new(&charter);
        Ok(Self {
            people,
            dice,
            nodes,
            honest,
            seconds: 0,
            contents: Contents::new(),
            records,
            stolen,
            spoken: BTreeMap::new(),
            heads,
            tried: None,
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
        self.records.tally()
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
        self.meet()
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
            80..=83 => {
                for node in 0..self.nodes.len() {
                    let side = usize::from(self.dice.chance(40));
                    if let Some(node) = self.nodes.get_mut(node) {
                        node.side = side;
                    }
                }
                Ok(())
            }
            84..=86 => {
                let node = self.dice.roll(self.nodes.len());
                if let Some(node) = self.nodes.get_mut(node) {
                    node.restart();
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
        Ok(())
    }

    fn learn(&mut self, from: usize, to: usize) -> Result<(), Fault> {
        let (seconds, contents) = (self.seconds, &self.contents);
        match two(&mut self.nodes, from, to) {
            Some((source, target)) => target.learn(source, seconds, contents),
            None => Ok(()),
        }
    }

    fn pass_time(&mut self) -> Result<(), Fault> {
        let seconds = match self.dice.roll(20) {
            0 => 700,
            1 => 2 * DAY,
            2 => 40 * DAY,
            3 => 61,
            _ => u64::try_from(1 + self.dice.roll(4)).unwrap_or(1),
        };
        self.work_all(seconds)
    }

    pub(crate) fn work_all(&mut self, seconds: u64) -> Result<(), Fault> {
        self.seconds += seconds;
        let sides = [self.present(0), self.present(1)];
        for node in &mut self.nodes {
            let Some(present) = sides.get(node.side) else { continue };
            node.expire(self.seconds);
            node.work(self.seconds, present, &self.contents)?;
        }
        Ok(())
    }

    /// Somebody asks for admission, or for a new term, at one node.
    fn request(&mut self) {
        let node = self.dice.roll(self.nodes.len());
        let Some(base) = self.nodes.get(node).map(|node| node.state().head()) else { return };
        let person = self.dice.roll(PEOPLE);
        let days = if self.dice.chance(25) { 1 } else { 300 };
        if let Some(admit) = self.admit(person, base, days)
            && let Some(node) = self.nodes.get_mut(node)
        {
            node.take_admit(&admit);
        }
    }

    pub(crate) fn admit(&mut self, person: usize, base: Head, days: u64) -> Option<Admit> {
        self.requests += 1;
        let key = self.people.key(person)?.clone();
        let begins = START + self.seconds;
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
        self.contents.insert(admit.request, admit.clone());
        Some(admit)
    }
}
