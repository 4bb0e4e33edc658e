//! One run: a group, two sides, liars with every former key, any order of delivery.

use crate::check::Records;
use crate::node::{Contents, Fault, Node, START};
use crate::people::{Dice, PEOPLE, People};
use folkmoot_base::{Blob, Digest, MemberId, Mutant, UnixTime, digest};
use folkmoot_identity::{Quorum, Verdict};
use folkmoot_transcript::{Admit, BallotMessage, Change, Effect, Force, Head, Subject, admission};
use std::collections::{BTreeMap, BTreeSet};

const DAY: u64 = 86_400;

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
    requests: u64,
}

impl<'a> World<'a> {
    /// A group as this seed draws it.
    ///
    /// # Errors
    /// The charter's refusal: a fault of the model.
    pub fn new(people: &'a People, seed: u64, danger: Mutant) -> Result<Self, Fault> {
        let mut dice = Dice(seed);
        let founders = 3 + dice.roll(3);
        let threshold = u32::try_from(1 + dice.roll(3)).unwrap_or(1);
        let quorum = if dice.chance(25) { Quorum::TwoThirds } else { Quorum::Majority };
        let objections = dice.chance(30).then_some(2);
        let charter = people.charter(founders, threshold, quorum, objections)?;
        let liars = dice.roll(3).min(founders - 1);
        let honest = founders - liars;
        let mut nodes: Vec<Node> = Vec::new();
        for person in 0..founders {
            let skew = i64::try_from(dice.roll(50)).unwrap_or_default() - 25;
            nodes.push(Node::new(people.member(person), &charter, skew, danger));
        }
        // The liars are the last founders: they run a second program on the other side.
        for person in honest..founders {
            let mut clone = Node::new(people.member(person), &charter, 0, danger);
            clone.side = 1;
            nodes.push(clone);
        }
        // And the last two of those who may come in are theirs too.
        let liars = (honest..founders).chain(PEOPLE - 2..PEOPLE);
        let stolen = liars.map(|person| people.member(person)).collect();
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
            requests: 0,
        })
    }

    /// What every program has, in a few lines each.
    pub fn describe(&self) -> String {
        let lines: Vec<String> = self.nodes.iter().map(|node| node.describe(self.seconds)).collect();
        lines.join("\n")
    }

    /// Decisions, those of later ballots, and forks.
    pub fn tally(&self) -> [usize; 3] {
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
        let (low, high) = self.nodes.split_at_mut(from.max(to));
        let (source, target) =
            if from < to { (low.get(from), high.first_mut()) } else { (high.first(), low.get_mut(to)) };
        match (source, target) {
            (Some(source), Some(target)) => target.learn(source, self.seconds, &self.contents),
            _ => Ok(()),
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

    /// A person says what it thinks, of something that is there or of something new.
    fn speak(&mut self) {
        let node = self.dice.roll(self.nodes.len());
        let Some(state) = self.nodes.get(node).map(|node| node.state().clone()) else { return };
        let life = if self.dice.chance(20) { 2 } else { 30 } * DAY;
        let verdict = if self.dice.chance(85) { Verdict::Approve } else { Verdict::Reject };
        let subject = self.subject(node, &state.roster().keys().copied().collect::<Vec<_>>());
        let seconds = self.seconds;
        let Some((subject, effect)) = subject else { return };
        let Some(node) = self.nodes.get_mut(node) else { return };
        if !node.state().may_vote(&node.me) {
            return;
        }
        node.approve(subject, verdict, life, seconds);
        if let Some(effect) = effect {
            node.take_effect(&effect);
        }
    }

    /// People of one side want the same.
    fn campaign(&mut self) {
        let first = self.dice.roll(self.nodes.len());
        let Some((side, state)) = self.nodes.get(first).map(|node| (node.side, node.state().clone())) else {
            return;
        };
        let Some((subject, effect)) =
            self.subject(first, &state.roster().keys().copied().collect::<Vec<_>>())
        else {
            return;
        };
        let admit = self.contents.get(&subject.digest).cloned();
        let seconds = self.seconds;
        for node in &mut self.nodes {
            if node.side == side && node.state().may_vote(&node.me) && self.dice.chance(75) {
                node.approve(subject, Verdict::Approve, 30 * DAY, seconds);
                effect.iter().for_each(|effect| node.take_effect(effect));
                admit.iter().for_each(|admit| node.take_admit(admit));
            }
        }
    }

    fn subject(&mut self, node: usize, members: &[MemberId]) -> Option<(Subject, Option<Effect>)> {
        let set = self.nodes.get(node)?.set();
        let mut open: Vec<(Subject, Option<Effect>)> =
            set.effects().map(|effect| (effect.subject(), Some(effect.clone()))).collect();
        open.extend(
            set.approvals()
                .map(|signed| (signed.approval.subject, set.effect(&signed.approval.subject).cloned())),
        );
        open.extend(set.admits().map(|admit| (admission(admit.request), None)));
        let requests: Vec<Digest> = set.admits().map(|admit| admit.request).collect();
        if self.dice.chance(25)
            && let Some(request) = self.dice.pick(&requests)
        {
            return Some((admission(*request), None));
        }
        if self.dice.chance(70)
            && let Some(one) = self.dice.pick(&open)
        {
            return Some(one.clone());
        }
        if self.dice.chance(40) {
            let requests: Vec<Digest> = self.contents.keys().copied().collect();
            return self.dice.pick(&requests).map(|request| (admission(*request), None));
        }
        let effect = self.effect(members)?;
        Some((effect.subject(), Some(effect)))
    }

    /// Something that somebody could want.
    pub(crate) fn effect(&mut self, members: &[MemberId]) -> Option<Effect> {
        let change = match self.dice.roll(6) {
            0 | 1 => Change::Remove { member: *self.dice.pick(members)? },
            2 | 3 => {
                let mut voters: Vec<MemberId> =
                    members.iter().filter(|_| self.dice.chance(70)).copied().collect();
                if self.dice.chance(30) {
                    voters.reverse();
                }
                voters.truncate(5);
                Change::Electorate { voters }
            }
            4 => field("threshold", &(1 + self.dice.roll(3)).to_string()),
            _ => field("request_hours", if self.dice.chance(50) { "24" } else { "48" }),
        };
        let force = if self.dice.chance(10) { Force::Yes } else { Force::No };
        Some(Effect { change, force })
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
        let admit = Admit {
            request: digest(&[b"request", &self.requests.to_be_bytes(), key.spki_der()]),
            member: key.member_id(),
            name: format!("person {person}"),
            key,
            begins: UnixTime(begins),
            ends: UnixTime(begins + days * DAY),
            base,
            issued: None,
            csr: None,
            epoch: None,
        };
        self.contents.insert(admit.request, admit.clone());
        Some(admit)
    }
}

fn field(name: &str, value: &str) -> Change {
    Change::Charter {
        field: Blob::from(name.as_bytes().to_vec()),
        value: Blob::from(value.as_bytes().to_vec()),
    }
}
