//! A virtual network of nodes: delays, cuts of single directions, people with keys, and a charter.

mod charters;
pub mod hollow;
pub mod papers;
mod words;

use bytes::Bytes;
use charters::{ca, charter_naming};
pub use charters::{charter, charter_of, charter_under, charter_with};
use core::time::Duration;
use folkmoot_attach::credit::Grant;
use folkmoot_attach::{Ground, GroundOutput, ToMember, ToNode};
use folkmoot_base::{
    ConfigurationId, Entropy, GroupId, Head, Indication, Instant, Locator, MemberId, Mutant, NodeId, Persist,
    StoreKey, UnixTime, digest,
};
use folkmoot_identity::Identity;
use folkmoot_node::{Config, Node, Phase, Versions};
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
pub use words::stored;

pub const NOW: UnixTime = UnixTime(1_800_000_000);
const LATER: UnixTime = UnixTime(2_000_000_000);

pub struct Dice(pub u64);

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

fn people(numbers: core::ops::Range<u64>) -> Vec<Identity> {
    let person = |n: u64| Identity::new(&format!("p{n}"), &mut Dice(n * 1_000), NOW, LATER).unwrap();
    let mut people: Vec<Identity> = numbers.map(person).collect();
    people.sort_by_key(Identity::node);
    people
}

/// Sorted by node, so that the first is the first in every order of ids.
static PEOPLE: LazyLock<Vec<Identity>> = LazyLock::new(|| people(0..5));
/// More, for the tests that need them.
static CROWD: LazyLock<Vec<Identity>> = LazyLock::new(|| people(5..32));

pub fn person(who: usize) -> &'static Identity {
    PEOPLE.get(who).unwrap_or_else(|| &CROWD[who - PEOPLE.len()])
}

/// Which of the first `count` people this is.
fn place(count: usize, is: impl Fn(&Identity) -> bool) -> usize {
    (0..count).find(|who| is(person(*who))).unwrap()
}

/// A node of any kind, and the status of its ring.
pub trait Party: Ground {
    fn ring(&self) -> (Phase, Vec<NodeId>);
    fn node(&self) -> Option<&Node>;
}

impl Party for Node {
    fn ring(&self) -> (Phase, Vec<NodeId>) {
        let status = Node::ring(self);
        (status.phase, status.members)
    }

    fn node(&self) -> Option<&Node> {
        Some(self)
    }
}

pub struct Player {
    pub party: Box<dyn Party>,
    /// The members in the last notice.
    pub notice: BTreeSet<usize>,
    pub trace: Vec<String>,
    /// Configurations, by its trace.
    pub installed: usize,
    /// Everything that it had written, in order.
    pub persists: Vec<Persist>,
    /// The items that it told its member, each with the number of writes before.
    pub acknowledged: Vec<(usize, Bytes)>,
    /// The nodes on other lines that it told of, with their head and its own.
    pub other_lines: Vec<(NodeId, Head, Head)>,
    /// How often it told that somebody runs twice.
    pub twice: usize,
    /// To whom here it told that a guest spoke, and who that was.
    pub guests: Vec<(MemberId, NodeId)>,
    /// The members in the last notice to each member here.
    pub told: BTreeMap<MemberId, BTreeSet<usize>>,
    /// Its present configuration, and the members here that want to be in the group.
    configuration: Option<ConfigurationId>,
    wants: BTreeSet<(usize, GroupId)>,
}

pub struct Net {
    /// Whether the charter asks for hybrid links, for nodes that are started from now on.
    pub hybrid_links: bool,
    /// The wire versions of nodes that are started from now on.
    pub versions: Versions,
    /// The node that speaks for the authority by that charter, if it has one.
    pub authority: Option<usize>,
    pub now: u64,
    /// How long tables may take to merge, if not the usual time, for nodes that are started from
    /// now on.
    pub settle: Option<Duration>,
    pub players: BTreeMap<usize, Player>,
    pub cut: BTreeSet<(usize, usize)>,
    /// Where those are that have moved.
    pub moved: BTreeMap<usize, Locator>,
    /// The addresses of host names, for whoever asks; and when who asked.
    pub names: BTreeMap<Locator, Vec<Locator>>,
    pub asked: Vec<(u64, usize)>,
    /// Where nodes look that are started from now on, too.
    pub seeds: Vec<Locator>,
    /// Of 256 datagrams so many are lost.
    pub loss: u8,
    /// What a round trip takes, in microseconds, if not about two milliseconds.
    pub trip: Option<u64>,
    /// Somebody who does nothing until then, as a process that is stopped.
    pub stopped: Option<(usize, u64)>,
    /// What each path carries, if not everything; longer datagrams are lost, and nobody is told.
    pub mtu: Option<fn(usize, usize) -> usize>,
    /// Whether what is sent to all comes to all; if so, to whom from whom not.
    pub multicast: Option<BTreeSet<(usize, usize)>>,
    /// What nodes do wrong that are started from now on.
    pub danger: Mutant,
    /// So many microseconds the clocks are ahead of nodes that are started from now on.
    pub ahead: u64,
    /// The charters that nodes carry beside the ring's which are started from now on.
    pub carries: Vec<Bytes>,
    contacts: Vec<usize>,
    pub group: GroupId,
    /// What went to all at once.
    pub to_all: Vec<Bytes>,
    /// Messages that came to a party, by length.
    pub delivered: Vec<usize>,
    /// What was granted at which node, for which group.
    pub granted: Vec<(usize, GroupId, Grant)>,
    /// From whom, to whom, what, and whether it went to all.
    queue: BTreeMap<(u64, u64), (usize, usize, Bytes, bool)>,
    count: u64,
    sent: BTreeMap<(usize, usize), u64>,
    dice: Dice,
}

/// Where all are reached at once.
const EVERYBODY: Locator = Locator::memory(1_000);
/// Where [`Net::sent`] counts what was sent there.
pub const EVERYWHERE: usize = 1_000;

pub fn locator(who: usize) -> Locator {
    Locator::memory(who as u32 + 1)
}

impl Net {
    /// An empty network for people under the charter of the first `founders`.
    pub fn new(founders: usize, seed: u64) -> Self {
        Self::naming(founders, &[], seed)
    }

    /// The same, in whose charter these people's nodes are the contacts.
    pub fn naming(founders: usize, contacts: &[usize], seed: u64) -> Self {
        let charter = charter_naming(founders, false, contacts);
        let group = Transcript::founded(&charter).unwrap().group();
        Self {
            carries: Vec::new(),
            contacts: contacts.to_vec(),
            danger: Mutant::NONE,
            ahead: 0,
            hybrid_links: false,
            versions: Versions::OURS,
            authority: None,
            now: 0,
            settle: None,
            players: BTreeMap::new(),
            cut: BTreeSet::new(),
            moved: BTreeMap::new(),
            names: BTreeMap::new(),
            asked: Vec::new(),
            seeds: Vec::new(),
            loss: 0,
            mtu: None,
            trip: None,
            stopped: None,
            multicast: None,
            to_all: Vec::new(),
            delivered: Vec::new(),
            granted: Vec::new(),
            group,
            queue: BTreeMap::new(),
            count: 0,
            sent: BTreeMap::new(),
            dice: Dice(seed << 32),
        }
    }

    /// The nodes of all founders, each knowing those before it.
    pub fn of(founders: usize, seed: u64) -> Self {
        let mut net = Self::new(founders, seed);
        (0..founders).for_each(|who| net.start(founders, who, &(0..who).collect::<Vec<_>>()));
        net
    }

    /// Starts the node of `who`; its clock begins now, as every clock here.
    pub fn start(&mut self, founders: usize, who: usize, contacts: &[usize]) {
        self.start_from(founders, who, contacts, &[]);
    }

    /// Somebody whose person knows this head.
    pub fn start_knowing(&mut self, founders: usize, who: usize, contacts: &[usize], head: Head) {
        let row = folkmoot_transcript::await_head(&head.into());
        self.start_from(founders, who, contacts, &stored(&[row]));
    }

    /// The power of `who` goes, and comes back.
    pub fn restart(&mut self, founders: usize, who: usize, contacts: &[usize]) {
        let before = self.players.remove(&who).unwrap();
        self.start_from(founders, who, contacts, &stored(&before.persists));
        let player = self.players.get_mut(&who).unwrap();
        player.persists.splice(0..0, before.persists);
        player.acknowledged.splice(0..0, before.acknowledged);
    }

    /// The node of `who` stops: as told, after taking leave, or at once.
    pub fn stop(&mut self, who: usize, leave: bool) {
        if leave {
            let now = Instant(self.now);
            self.players.get_mut(&who).unwrap().party.farewell(now, &mut self.dice);
            self.drain(who);
        }
        self.players.remove(&who);
    }

    /// A copy of what the node of `who` has on its disk, started elsewhere.
    pub fn start_copy(&mut self, founders: usize, who: usize, elsewhere: usize) {
        let copy = self.copy(who);
        self.start_on(founders, who, elsewhere, &copy);
    }

    /// What the node of `who` has on its disk now.
    pub fn copy(&self, who: usize) -> Vec<(StoreKey, Bytes)> {
        stored(&self.players[&who].persists)
    }

    /// The node of `who`, elsewhere and with this disk.
    pub fn start_on(&mut self, founders: usize, who: usize, elsewhere: usize, disk: &[(StoreKey, Bytes)]) {
        self.start_as(founders, who, elsewhere, &[], disk);
    }

    fn start_from(&mut self, founders: usize, who: usize, contacts: &[usize], stored: &[(StoreKey, Bytes)]) {
        self.start_as(founders, who, who, contacts, stored);
    }

    fn start_as(
        &mut self,
        founders: usize,
        who: usize,
        place: usize,
        contacts: &[usize],
        stored: &[(StoreKey, Bytes)],
    ) {
        let charter = match self.authority {
            Some(speaks) => charter_under(founders, speaks),
            None => charter_naming(founders, self.hybrid_links, &self.contacts),
        };
        let mut config = Config::new(person(who).clone(), charter, locator(place));
        config.versions = self.versions;
        config.danger = self.danger;
        config.started = self.now + self.ahead;
        config.settle = self.settle.unwrap_or(config.settle);
        config.seeds = contacts.iter().map(|contact| locator(*contact)).collect();
        config.seeds.extend(self.seeds.iter().cloned());
        config.carries = self.carries.clone();
        let node = Node::new(config, stored, Instant(self.now), &mut self.dice).unwrap();
        let charter = node.transcript().group();
        self.sit(place, Box::new(node));
        self.tell(place, ToNode::Attach { party: person(who).member().into(), charter });
    }

    pub fn sit(&mut self, who: usize, party: Box<dyn Party>) {
        let player = Player {
            party,
            notice: BTreeSet::new(),
            trace: Vec::new(),
            installed: 0,
            persists: Vec::new(),
            acknowledged: Vec::new(),
            other_lines: Vec::new(),
            twice: 0,
            guests: Vec::new(),
            told: BTreeMap::new(),
            configuration: None,
            wants: BTreeSet::new(),
        };
        self.players.insert(who, player);
    }

    pub fn tell(&mut self, who: usize, word: ToNode) {
        let now = Instant(self.now);
        self.players.get_mut(&who).unwrap().party.member(now, word, &mut self.dice);
        self.drain(who);
    }

    pub fn node(&self, who: usize) -> &Node {
        self.players[&who].party.node().unwrap()
    }

    /// Sets the wall clock of `who`.
    pub fn clock(&mut self, who: usize, time: UnixTime) {
        let now = Instant(self.now);
        self.players.get_mut(&who).unwrap().party.clock(now, time, &mut self.dice);
        self.drain(who);
    }

    /// How many datagrams one node has sent to another.
    pub fn sent(&self, from: usize, to: usize) -> u64 {
        self.sent.get(&(from, to)).copied().unwrap_or_default()
    }

    /// Where somebody is.
    fn at(&self, who: usize) -> Locator {
        self.moved.get(&who).cloned().unwrap_or_else(|| locator(who))
    }

    pub fn is_member(&self, at: usize, who: usize) -> bool {
        self.node(at).transcript().roster().is_member(&person(who).member())
    }

    /// Cuts both ways between two.
    pub fn part(&mut self, a: usize, b: usize) {
        self.cut.extend([(a, b), (b, a)]);
    }

    fn drain(&mut self, who: usize) {
        while let Some(output) = self.players.get_mut(&who).unwrap().party.poll_output() {
            let player = self.players.get_mut(&who).unwrap();
            match output {
                GroundOutput::Transmit(at, bytes) | GroundOutput::Probe(at, bytes) if at == EVERYBODY => {
                    *self.sent.entry((who, EVERYWHERE)).or_default() += 1;
                    self.to_all.push(bytes.clone());
                    let deaf = self.multicast.clone().unwrap_or_default();
                    let others: Vec<usize> = self.players.keys().copied().collect();
                    for to in others.into_iter().filter(|to| *to != who && !deaf.contains(&(who, *to))) {
                        self.post(who, to, bytes.clone(), true);
                    }
                }
                GroundOutput::Transmit(at, bytes) | GroundOutput::Probe(at, bytes) => {
                    let Some(to) = (0..32).find(|to| self.at(*to) == at) else { continue };
                    *self.sent.entry((who, to)).or_default() += 1;
                    self.post(who, to, bytes, false);
                }
                GroundOutput::Together(places) if self.multicast.is_some() => {
                    let at = (!places.is_empty()).then_some(EVERYBODY);
                    player.party.everybody(Instant(self.now), at, &mut self.dice);
                }
                GroundOutput::Resolve(name) => {
                    self.asked.push((self.now, who));
                    let found = self.names.get(&name).cloned().ok_or_else(|| "no such name".to_owned());
                    player.party.resolved(Instant(self.now), &name, found, &mut self.dice);
                }
                GroundOutput::To(to, ToMember::Group(Indication::Notice { members, .. })) => {
                    player.notice = members.iter().map(|party| person_of(&party.member)).collect();
                    player.told.insert(to.member, player.notice.clone());
                }
                GroundOutput::To(to, ToMember::Guest { from, .. }) => player.guests.push((to.member, from)),
                GroundOutput::To(_, ToMember::Group(Indication::Deliver { payload, .. })) => {
                    self.delivered.push(payload.len());
                }
                GroundOutput::To(_, ToMember::Credit { group, grant }) => {
                    self.granted.push((who, group, grant));
                }
                GroundOutput::Persist(persist) => player.persists.push(persist),
                GroundOutput::Member(ToMember::Item(item)) => {
                    player.acknowledged.push((player.persists.len(), item));
                }
                GroundOutput::Member(ToMember::OtherLine { node, theirs, ours }) => {
                    player.other_lines.push((node, theirs, ours));
                }
                GroundOutput::Member(ToMember::RunsTwice { .. }) => player.twice += 1,
                GroundOutput::Member(ToMember::Configuration { id, .. }) => {
                    player.configuration = Some(id);
                    for member in player.wants.clone() {
                        self.say_join(who, member, id);
                    }
                }
                GroundOutput::Trace(trace) => {
                    player.installed +=
                        usize::from(trace.layer == "ring" && trace.text.starts_with("operational"));
                    player.trace.push(format!("{:>9} {} {}", self.now / 1_000, trace.layer, trace.text));
                }
                _ => {}
            }
        }
    }

    fn post(&mut self, from: usize, to: usize, bytes: Bytes, all: bool) {
        let lost = self.loss > 0 && folkmoot_base::draw::<1>(&mut self.dice)[0] < self.loss;
        let long = self.mtu.is_some_and(|mtu| bytes.len() > mtu(from, to));
        if !lost && !long && !self.cut.contains(&(from, to)) {
            let [roll] = folkmoot_base::draw::<1>(&mut self.dice);
            self.count += 1;
            let usual = 300 + u64::from(roll) * 4;
            let at = self.now + self.trip.map_or(usual, |trip| trip / 2 + u64::from(roll % 8));
            self.queue.insert((at, self.count), (from, to, bytes, all));
        }
    }

    pub fn ms(&mut self, ms: u64) {
        let end = self.now + ms * 1_000;
        loop {
            let until =
                |who| self.stopped.filter(|(stopped, _)| *stopped == who).map_or(0, |(_, until)| until);
            let timers = self
                .players
                .iter()
                .filter_map(|(who, player)| Some((player.party.poll_timeout()?.0.max(until(*who)), *who)));
            let timer = timers.min();
            let datagram = self.queue.first_key_value().map(|((at, _), _)| *at);
            let next = timer.map(|(at, _)| at).into_iter().chain(datagram).min().unwrap_or(u64::MAX);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next.max(self.now);
            let now = Instant(self.now);
            if datagram == Some(next) {
                let ((_, number), (from, to, bytes, all)) = self.queue.pop_first().unwrap();
                if let Some((_, until)) = self.stopped.filter(|(who, until)| *who == to && *until > self.now)
                {
                    self.queue.insert((until, number), (from, to, bytes, all));
                    continue;
                }
                let at = self.at(from);
                if let Some(player) = self.players.get_mut(&to) {
                    let (party, dice) = (&mut player.party, &mut self.dice);
                    if all {
                        party.datagram_to_all(now, at, bytes.into(), dice);
                    } else {
                        party.datagram(now, at, bytes.into(), dice);
                    }
                    self.drain(to);
                }
            } else if let Some((_, who)) = timer {
                self.players.get_mut(&who).unwrap().party.timeout(now, &mut self.dice);
                self.drain(who);
            }
        }
    }

    /// Runs until `holds`, for so many milliseconds at most. Returns how long it took.
    pub fn until(&mut self, limit: u64, holds: impl Fn(&Self) -> bool) -> Option<u64> {
        for passed in (0..limit).step_by(20) {
            if holds(self) {
                return Some(passed);
            }
            self.ms(20);
        }
        None
    }

    /// The members of the ring that `who` is in, if it stands.
    pub fn ring(&self, who: usize) -> Option<Vec<usize>> {
        let (phase, members) = self.players[&who].party.ring();
        let place = |node: &NodeId| place(32, |person| person.node() == *node);
        let places: BTreeSet<usize> = members.iter().map(place).collect();
        (phase == Phase::Operational).then(|| places.into_iter().collect())
    }

    /// Whether these are all in one ring of exactly them.
    pub fn together(&self, ring: &[usize]) -> bool {
        ring.iter().all(|who| self.ring(*who).as_deref() == Some(ring))
    }

    pub fn installed(&self) -> usize {
        self.players.values().map(|player| player.installed).sum()
    }

    pub fn told(&self) -> String {
        let lines = |(who, player): (&usize, &Player)| format!("{who}:\n{}\n", player.trace.join("\n"));
        self.players.iter().map(lines).collect()
    }
}

fn person_of(member: &MemberId) -> usize {
    place(32, |person| person.member() == *member)
}

pub fn seconds(count: u64) -> u64 {
    Duration::from_secs(count).as_millis() as u64
}
