//! Members over an ideal node: one order for each side of the network, and one table of the group's
//! members. What is ordered reaches each member when the schedule allows it, and what a member
//! sends is ordered when the schedule allows it.

pub mod people;
mod seen;

use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::{ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{
    Cause, ConfigurationId, Danger, GroupId, Indication, Instant, NodeId, Party, Says, Service, ViewId,
};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, Config, Event, Member};
use folkmoot_transcript::{Effect, Transcript};
use people::{Dice, NOW, PEOPLE, charter, decide, expulsion, gmc, id, party, rotation};
use std::collections::{BTreeSet, VecDeque};

/// What a member receives, and what it has sent.
pub struct Chair {
    pub member: Member,
    pub events: Vec<Event>,
    /// Ordered for it, not received yet.
    inbox: VecDeque<ToMember>,
    /// Sent, not ordered yet.
    outbox: VecDeque<ToNode>,
    /// The members that it knows to be off the roster, and what was sealed since, with the view in
    /// which it was sealed.
    sealed: Vec<(BTreeSet<usize>, Bytes)>,
    dice: Dice,
}

/// Members that reach one another.
#[derive(Clone)]
struct Side {
    chairs: BTreeSet<usize>,
    /// In the group, according to the table.
    circle: BTreeSet<usize>,
    noticed: BTreeSet<usize>,
    transcript: Transcript,
    /// The table is whole: each change has its notice at once. Otherwise changes wait for the
    /// merge.
    open: bool,
    /// Two sides have met, and their tables are not merged yet: nobody's messages are ordered.
    meeting: bool,
    waiting: Vec<(usize, bool)>,
    ring_seq: u64,
    order: u64,
}

pub struct Moot {
    pub chairs: Vec<Chair>,
    sides: Vec<Side>,
    pub group: GroupId,
    pub now: Instant,
    pub complaints: usize,
    /// A member that hears nothing any more, and whose node orders whatever it says.
    pub liar: Option<usize>,
    ring_seq: u64,
    admissions: u64,
}

impl Moot {
    /// `founders` of them found the group; all have a member; all founders join.
    pub fn new(seats: usize, founders: usize, minority: Minority, danger: Option<Danger>) -> Self {
        Self::with(seats, founders, minority, |config| config.danger = danger.into())
    }

    /// With other settings of every member.
    pub fn with(seats: usize, founders: usize, minority: Minority, set: impl Fn(&mut Config)) -> Self {
        let charter = charter(founders, minority);
        let transcript = Transcript::founded(&charter).unwrap();
        let group = transcript.group();
        let chair = |number: usize| {
            let mut config = Config::new(PEOPLE[number].clone(), charter.clone());
            config.danger_keeps_keys = true;
            set(&mut config);
            Chair {
                member: Member::new(config, &[]).unwrap(),
                events: Vec::new(),
                inbox: VecDeque::new(),
                outbox: VecDeque::new(),
                sealed: Vec::new(),
                dice: Dice(1 << 40 | (number as u64) << 32),
            }
        };
        let all: BTreeSet<usize> = (0..seats).collect();
        let side = Side {
            chairs: all,
            circle: BTreeSet::new(),
            noticed: BTreeSet::new(),
            transcript,
            open: true,
            meeting: false,
            waiting: Vec::new(),
            ring_seq: 1,
            order: 0,
        };
        let chairs = (0..seats).map(chair).collect();
        let mut moot = Self {
            chairs,
            sides: vec![side],
            group,
            now: Instant(1),
            complaints: 0,
            liar: None,
            ring_seq: 1,
            admissions: 0,
        };
        for number in 0..seats {
            moot.clock(number);
            let id = people::CONFIGURATION;
            moot.hear(number, ToMember::Configuration { id, nodes: Vec::new(), patience: Duration::ZERO });
            moot.command(number, Command::Join { group });
        }
        moot
    }

    fn clock(&mut self, number: usize) {
        let chair = &mut self.chairs[number];
        chair.member.clock(self.now, NOW, &mut chair.dice);
        self.drain(number);
    }

    pub fn command(&mut self, number: usize, command: Command) {
        let chair = &mut self.chairs[number];
        chair.member.command(self.now, command, &mut chair.dice).unwrap();
        self.drain(number);
    }

    pub fn send(&mut self, number: usize, text: &str) {
        let (group, payload) = (self.group, Bytes::copy_from_slice(text.as_bytes()));
        self.command(number, Command::Send { group, service: Service::Agreed, payload, signed: false });
    }

    /// Hands in several at once.
    pub fn send_together(&mut self, number: usize, texts: &[impl AsRef<str>]) {
        let payloads = texts.iter().map(|text| Bytes::copy_from_slice(text.as_ref().as_bytes())).collect();
        let (group, service) = (self.group, Service::Agreed);
        self.command(number, Command::SendMany { group, service, payloads });
    }

    pub fn hear(&mut self, number: usize, word: ToMember) {
        let chair = &mut self.chairs[number];
        chair.member.node(self.now, word, &mut chair.dice);
        self.drain(number);
    }

    fn drain(&mut self, number: usize) {
        let chair = &mut self.chairs[number];
        let roster = chair.member.transcript().roster();
        let off: BTreeSet<usize> =
            (0..PEOPLE.len()).filter(|other| roster.former(&id(*other)).is_some()).collect();
        while let Some(output) = chair.member.poll_output() {
            match output {
                UpperOutput::Node(word) => {
                    if let ToNode::Send { payload, .. } = &word {
                        chair.sealed.push((off.clone(), payload.clone()));
                    }
                    chair.outbox.push_back(word);
                }
                UpperOutput::Event(event) => chair.events.push(event),
                UpperOutput::Persist(_) | UpperOutput::Trace(_) => {}
            }
        }
    }

    fn side_of(&self, number: usize) -> usize {
        self.sides.iter().position(|side| side.chairs.contains(&number)).unwrap()
    }

    /// Puts a message into the inboxes of these members.
    fn tell(&mut self, to: &BTreeSet<usize>, word: &ToMember) {
        for number in to.iter().filter(|number| self.liar != Some(**number)) {
            self.chairs[*number].inbox.push_back(word.clone());
        }
    }

    /// This member receives the oldest message ordered for it.
    pub fn listen(&mut self, number: usize) -> bool {
        let Some(word) = self.chairs[number].inbox.pop_front() else { return false };
        self.hear(number, word);
        true
    }

    /// Orders the oldest message of this member.
    pub fn speak(&mut self, number: usize) -> bool {
        let at = self.side_of(number);
        let Some(word) = self.chairs[number].outbox.front().cloned() else { return false };
        if self.sides[at].meeting && matches!(word, ToNode::Send { .. }) {
            return false;
        }
        self.chairs[number].outbox.pop_front();
        self.sides[at].order += 1;
        match word {
            ToNode::Word(said) => match said.word.says {
                Says::Join(_) => self.change(at, number, true),
                Says::Leave { .. } => self.change(at, number, false),
                Says::Complain { .. } => self.complaints += 1,
                Says::Refresh { .. } => {}
            },
            ToNode::Send { service, payload, .. } => {
                let circle = self.sides[at].circle.clone();
                if circle.contains(&number) || self.liar == Some(number) {
                    let word = ToMember::Group(Indication::Deliver {
                        group: self.group,
                        sender: party(number),
                        service,
                        payload: payload.into(),
                    });
                    self.tell(&circle, &word);
                }
            }
            ToNode::Item(_, item) => drop(self.enter(at, &item)),
            _ => {}
        }
        true
    }

    fn change(&mut self, at: usize, number: usize, joins: bool) {
        if self.sides[at].open {
            if self.apply(at, number, joins) {
                self.notice(at, if joins { Cause::Join } else { Cause::Leave });
            }
        } else {
            self.sides[at].waiting.push((number, joins));
        }
    }

    fn apply(&mut self, at: usize, number: usize, joins: bool) -> bool {
        let side = &mut self.sides[at];
        if joins {
            return side.transcript.roster().is_member(&id(number)) && side.circle.insert(number);
        }
        let was = side.circle.remove(&number);
        if was {
            let word = ToMember::Group(Indication::Removed { group: self.group, cause: Cause::Leave });
            self.tell(&BTreeSet::from([number]), &word);
        }
        was
    }

    /// Orders an item on that side. Whether it is taken, and new there.
    fn enter(&mut self, at: usize, item: &Bytes) -> bool {
        let Ok(taken) = self.sides[at].transcript.take(item, Some(NOW)) else { return false };
        if !taken.new {
            return false;
        }
        let all = self.sides[at].chairs.clone();
        self.tell(&all, &ToMember::Item(item.clone()));
        let mut told = None;
        for member in taken.went {
            let gone = (0..self.chairs.len()).find(|number| id(*number) == member).unwrap();
            let side = &mut self.sides[at];
            let cause = side.transcript.roster().former(&member).unwrap().ending.cause();
            if side.circle.remove(&gone) {
                let word = ToMember::Group(Indication::Removed { group: self.group, cause });
                self.tell(&BTreeSet::from([gone]), &word);
                told = Some(cause);
            }
        }
        if let Some(cause) = told.filter(|_| self.sides[at].open) {
            self.notice(at, cause);
        }
        true
    }

    fn notice(&mut self, at: usize, cause: Cause) {
        let side = &mut self.sides[at];
        let removed: Vec<Party> =
            side.noticed.difference(&side.circle).map(|number| party(*number)).collect();
        side.noticed.clone_from(&side.circle);
        let configuration = ConfigurationId {
            ring_seq: side.ring_seq,
            representative: NodeId([at as u8; 32]),
            nonce: [7; 16],
        };
        let view = Box::new(ViewId { configuration, order: side.order, group: self.group });
        let mut members: Vec<Party> = side.circle.iter().map(|number| party(*number)).collect();
        members.sort_unstable();
        let circle = side.circle.clone();
        let left = if cause == Cause::Leave { removed.clone() } else { Vec::new() };
        let notice = Indication::Notice { group: self.group, view, members, removed, left, cause };
        self.tell(&circle, &ToMember::Group(notice));
    }

    /// Orders a decision of these on the side of the first of them.
    pub fn decide(&mut self, effect: &Effect, voters: &[usize]) {
        let at = self.side_of(voters[0]);
        let item = decide(&self.sides[at].transcript, effect, voters);
        self.sides[at].order += 1;
        assert!(self.enter(at, &item), "the decision does not stand");
    }

    /// An expulsion finds its place in the order of the voters' side.
    pub fn expel(&mut self, gone: usize, voters: &[usize]) {
        self.decide(&expulsion(gone), voters);
    }

    /// The voters give a member another key, which has a program of its own here.
    pub fn rotate(&mut self, old: usize, new: usize, voters: &[usize]) {
        let at = self.side_of(voters[0]);
        let (item, effect) = rotation(&self.sides[at].transcript, old, new);
        self.sides[at].order += 1;
        assert!(self.enter(at, &item), "the certificate is not taken");
        self.decide(&effect, voters);
    }

    pub fn admit(&mut self, who: usize, voters: &[usize]) {
        let at = self.side_of(voters[0]);
        let transcript = &self.sides[at].transcript;
        let certificate = gmc(transcript, who, voters, (self.admissions, NOW));
        let item = transcript.make_admit(certificate.der(), &[]).unwrap();
        self.admissions += 1;
        self.sides[at].order += 1;
        assert!(self.enter(at, &item), "the admission does not stand");
    }

    /// Expels, if enough voters of one electorate are together.
    pub fn try_expel(&mut self, gone: usize) {
        let can = (0..self.sides.len()).find(|at| self.voters(*at, gone).is_some());
        let Some(voters) = can.and_then(|at| self.voters(at, gone)) else { return };
        self.expel(gone, &voters);
    }

    fn voters(&self, at: usize, but: usize) -> Option<Vec<usize>> {
        let side = &self.sides[at];
        let roster = side.transcript.roster();
        let voters: Vec<usize> = side
            .chairs
            .iter()
            .copied()
            .filter(|number| *number != but && roster.may_vote(&id(*number)))
            .collect();
        let yes = voters.iter().map(|number| id(*number)).collect();
        (roster.is_member(&id(but)) && roster.carries(&expulsion(but).change, &yes)).then_some(voters)
    }

    /// Admits, if it is not in yet and that voter is; each side may do so by itself.
    pub fn try_admit(&mut self, who: usize, voter: usize) {
        let roster = self.sides[self.side_of(voter)].transcript.roster();
        if !roster.is_member(&id(who)) && roster.may_vote(&id(voter)) {
            self.admit(who, &[voter]);
        }
    }

    /// The nodes of this side form a new configuration: there are no notices until [`Self::merge`].
    pub fn gather(&mut self, of: usize) {
        let at = self.side_of(of);
        self.begin(at);
    }

    fn begin(&mut self, at: usize) {
        self.ring_seq += 1;
        let ring_seq = self.ring_seq;
        let side = &mut self.sides[at];
        (side.open, side.ring_seq, side.order) = (false, ring_seq, 0);
    }

    /// The table of this side is whole again: one notice, if anything changed.
    pub fn merge(&mut self, of: usize) {
        let at = self.side_of(of);
        self.whole(at);
    }

    fn whole(&mut self, at: usize) {
        let side = &mut self.sides[at];
        if side.open {
            return;
        }
        (side.open, side.order) = (true, side.order + 1);
        let met = std::mem::take(&mut side.meeting);
        let mut changed = met || side.circle != side.noticed;
        for (number, joins) in std::mem::take(&mut side.waiting) {
            changed |= self.apply(at, number, joins);
        }
        let side = &mut self.sides[at];
        let Side { circle, transcript, .. } = side;
        circle.retain(|number| transcript.roster().is_member(&id(*number)));
        if changed {
            self.notice(at, Cause::Network);
        }
    }

    /// These members lose the others, and the others lose them. Each part gathers.
    pub fn split(&mut self, part: &BTreeSet<usize>) {
        let mut after = Vec::new();
        for side in std::mem::take(&mut self.sides) {
            let (inside, outside): (BTreeSet<usize>, BTreeSet<usize>) =
                side.chairs.iter().copied().partition(|number| part.contains(number));
            for piece in [&inside, &outside].into_iter().filter(|piece| !piece.is_empty()) {
                after.push(self.piece(&side, piece));
            }
        }
        self.sides = after;
        for at in 0..self.sides.len() {
            self.begin(at);
        }
    }

    fn piece(&mut self, side: &Side, chairs: &BTreeSet<usize>) -> Side {
        let circle: BTreeSet<usize> = side.circle.intersection(chairs).copied().collect();
        let lost: Vec<Party> = side.circle.difference(chairs).map(|number| party(*number)).collect();
        if !lost.is_empty() {
            self.tell(&circle, &ToMember::Group(Indication::Transitional { group: self.group, lost }));
        }
        let waiting = side.waiting.iter().copied().filter(|(number, _)| chairs.contains(number)).collect();
        Side { chairs: chairs.clone(), circle, waiting, open: false, ..side.clone() }
    }

    /// All sides meet: their transcripts are made equal, then their tables.
    pub fn heal(&mut self) {
        if self.sides.len() == 1 {
            return;
        }
        (0..self.sides.len()).for_each(|at| self.begin(at));
        while self.exchange() {}
        let mut whole = self.sides[0].clone();
        whole.meeting = true;
        for side in &self.sides[1..] {
            whole.chairs.extend(&side.chairs);
            whole.circle.extend(&side.circle);
            whole.noticed.extend(&side.noticed);
            whole.waiting.extend(&side.waiting);
        }
        self.sides = vec![whole];
        self.begin(0);
    }

    /// Each side takes what it lacks of the others. What counts no more is passed over. Whether
    /// anything was new.
    fn exchange(&mut self) -> bool {
        let mut any = false;
        let pairs = (0..self.sides.len()).flat_map(|a| (0..self.sides.len()).map(move |b| (a, b)));
        for (from, to) in pairs.collect::<Vec<_>>() {
            let (theirs, ours) = (&self.sides[from].transcript, &self.sides[to].transcript);
            for item in theirs.lacking(ours.state().head(), &ours.have(), usize::MAX) {
                any |= self.enter(to, &item);
            }
        }
        any
    }

    /// One drawn step: a member receives a message, or one of its messages is ordered. `false` if
    /// nothing can happen.
    pub fn step(&mut self, dice: &mut Dice) -> bool {
        let count = self.chairs.len();
        let first = dice.below(count * 2);
        (0..count * 2).any(|offset| {
            let number = (first + offset) % (count * 2);
            if number < count { self.listen(number) } else { self.speak(number - count) }
        })
    }

    /// All tables are whole, and everything is sent and received.
    pub fn settle(&mut self, dice: &mut Dice) {
        for at in 0..self.sides.len() {
            self.whole(at);
        }
        for _ in 0..100_000 {
            if !self.step(dice) {
                return;
            }
        }
        panic!("no end");
    }

    /// When a member next has something to do by itself.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.chairs.iter().filter_map(|chair| chair.member.poll_timeout()).min()
    }

    pub fn wake(&mut self, number: usize) {
        let chair = &mut self.chairs[number];
        chair.member.timeout(self.now, &mut chair.dice);
        self.drain(number);
    }

    /// Wakes all members whose time has come, and returns them.
    pub fn wake_due(&mut self) -> Vec<usize> {
        let due = |chair: &Chair| chair.member.poll_timeout().is_some_and(|at| at <= self.now);
        let due: Vec<usize> = (0..self.chairs.len()).filter(|number| due(&self.chairs[*number])).collect();
        due.iter().for_each(|number| self.wake(*number));
        due
    }
}
