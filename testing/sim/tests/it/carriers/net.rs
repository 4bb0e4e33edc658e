//! Carriers on a virtual network with one delay, and the members above them.

use super::remote::Remote;
use bytes::Bytes;
use folkmoot_attach::{Attached, Embedded, Input, Output};
use folkmoot_base::{
    ConfigurationId, Digest, GroupId, GroupName, Head, Instant, Locator, MemberId, NodeId, Party, Service,
    UnixTime,
};
use folkmoot_identity::{CharterDraft, Founder, Identity, SignedCharter};
use folkmoot_member::{Command, Config as MemberConfig, Event, Member, Proposal};
use folkmoot_node::{Config, Node};
use folkmoot_sim::rng::Rng;
use std::collections::BTreeMap;

pub(super) const CARRIERS: usize = 3;
const TERM: (UnixTime, UnixTime) = (UnixTime(1_800_000_000), UnixTime(2_000_000_000));
const NOW: UnixTime = UnixTime(1_800_001_000);
const DELAY: u64 = 400;

/// Somebody's name, and the carrier where its party is attached.
pub(super) type Seat = (&'static str, usize);

pub(super) type Stack = Embedded<Node, Attached<Member>>;

pub(super) fn identity(name: &str) -> Identity {
    Identity::new(name, &mut Rng::new(7, name, 0), TERM.0, TERM.1).unwrap()
}

pub(super) fn carrier_name(carrier: usize) -> String {
    format!("carrier{carrier}")
}

pub(super) fn locator(carrier: usize) -> Locator {
    Locator::memory(u32::try_from(carrier).unwrap() + 1)
}

/// The charter of a group whose voters are these, and all of whom decide by two votes.
fn charter(name: &str, people: &[Identity]) -> Bytes {
    let founders: Vec<&Identity> = people.iter().collect();
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let draft = CharterDraft::new(GroupName::new(name).unwrap(), 2, named, &mut Rng::new(7, name, 1));
    SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der().to_vec().into()
}

/// A carrier, and those who are attached there.
pub(super) fn stack(
    carrier: usize,
    ring: &Bytes,
    carries: &[Bytes],
    parties: &[(Identity, Bytes)],
    entropy: &mut Rng,
) -> Stack {
    let own = identity(&carrier_name(carrier));
    let mut config = Config::new(own.clone(), ring.clone(), locator(carrier));
    config.carries = carries.to_vec();
    config.seeds = (0..CARRIERS).filter(|other| *other != carrier).map(locator).collect();
    let node = Node::new(config, &[], Instant(0), entropy).unwrap();
    let member = |identity: &Identity, charter: &Bytes| {
        let mut config = MemberConfig::new(identity.clone(), charter.clone());
        config.node = node.id();
        config.danger_keeps_keys = true;
        let member = Member::new(config, &[]).unwrap();
        (member.party(), member)
    };
    let host = member(&own, ring);
    let others: Vec<(Party, Member)> =
        parties.iter().map(|(identity, charter)| member(identity, charter)).collect();
    Embedded::new(node, Attached::new(host, others))
}

/// One carrier: in this process, or in one of its own.
enum Place {
    Here(Box<Stack>),
    There(Remote),
}

/// All of it.
pub(super) struct Moot {
    now: u64,
    places: Vec<Place>,
    seats: BTreeMap<&'static str, (usize, Party, GroupId)>,
    groups: BTreeMap<&'static str, GroupId>,
    said: BTreeMap<Party, Vec<Event>>,
    queue: BTreeMap<(u64, u64), (usize, usize, Bytes)>,
    count: u64,
    clock: u64,
    rngs: Vec<Rng>,
}

impl Moot {
    /// Groups by name with their founders, and who is attached where.
    pub(super) fn new(seed: u64, groups: &[(&'static str, &[&'static str])], seats: &[Seat]) -> Self {
        Self::with(seed, groups, &[], seats, false)
    }

    /// The same with newcomers, and the groups that they ask.
    pub(super) fn with_newcomers(
        seed: u64,
        groups: &[(&'static str, &[&'static str])],
        newcomers: &[(&'static str, &'static str)],
        seats: &[Seat],
    ) -> Self {
        Self::with(seed, groups, newcomers, seats, false)
    }

    /// The same; the last carrier, where nobody is attached, is a process of its own.
    pub(super) fn with_remote(seed: u64, groups: &[(&'static str, &[&'static str])], seats: &[Seat]) -> Self {
        Self::with(seed, groups, &[], seats, true)
    }

    fn with(
        seed: u64,
        groups: &[(&'static str, &[&'static str])],
        newcomers: &[(&str, &str)],
        seats: &[Seat],
        remote: bool,
    ) -> Self {
        let ring =
            charter("ring", &(0..CARRIERS).map(|one| identity(&carrier_name(one))).collect::<Vec<_>>());
        let of = |people: &[&str]| people.iter().map(|name| identity(name)).collect::<Vec<_>>();
        let charters: Vec<Bytes> = groups.iter().map(|(name, people)| charter(name, &of(people))).collect();
        let ids =
            charters.iter().map(|charter| folkmoot_transcript::Transcript::founded(charter).unwrap().group());
        let ids: Vec<GroupId> = ids.collect();
        let asks = |who: &str| newcomers.iter().find(|(one, _)| *one == who).map(|(_, group)| *group);
        let place_of = |who: &str| {
            let is = |(name, people): &(&str, &[&str])| people.contains(&who) || asks(who) == Some(*name);
            groups.iter().position(is).unwrap()
        };
        let mut rngs: Vec<Rng> = (0..CARRIERS).map(|one| Rng::new(seed, "carrier", one as u64)).collect();
        let places = (0..CARRIERS).map(|carrier| {
            let here = seats.iter().filter(|(_, at)| *at == carrier);
            let parties: Vec<(Identity, Bytes)> =
                here.map(|(who, _)| (identity(who), charters[place_of(who)].clone())).collect();
            if remote && carrier == CARRIERS - 1 {
                assert!(parties.is_empty());
                return Place::There(Remote::start(seed, carrier, &ring, &charters));
            }
            Place::Here(Box::new(stack(carrier, &ring, &charters, &parties, &mut rngs[carrier])))
        });
        let places = places.collect();
        let seat = |(who, at): &Seat| (*who, (*at, identity(who).member().into(), ids[place_of(who)]));
        let mut moot = Self {
            now: 0,
            places,
            seats: seats.iter().map(seat).collect(),
            groups: groups.iter().map(|(name, _)| *name).zip(ids.iter().copied()).collect(),
            said: BTreeMap::new(),
            queue: BTreeMap::new(),
            count: 0,
            clock: 0,
            rngs,
        };
        moot.tick();
        moot
    }

    /// The clocks of all go on by a second.
    fn tick(&mut self) {
        let time = UnixTime(NOW.0 + self.now / 1_000_000);
        self.clock = self.now + 1_000_000;
        (0..CARRIERS).for_each(|carrier| self.hand(carrier, Input::Clock(time)));
    }

    fn hand(&mut self, carrier: usize, input: Input<(Party, Command)>) {
        let now = Instant(self.now);
        match &mut self.places[carrier] {
            Place::Here(stack) => {
                stack.handle(now, input, &mut self.rngs[carrier]);
                while let Some(output) = stack.poll_output() {
                    match output {
                        Output::Transmit(to, bytes) | Output::Probe(to, bytes) => {
                            let to = usize::try_from(to.as_memory().unwrap() - 1).unwrap();
                            self.count += 1;
                            self.queue.insert((self.now + DELAY, self.count), (carrier, to, bytes));
                        }
                        Output::Event((party, event)) => self.said.entry(party).or_default().push(event),
                        Output::Persist(_) | Output::Together(_) | Output::Resolve(_) | Output::Trace(_) => {}
                    }
                }
            }
            Place::There(remote) => {
                for (to, bytes) in remote.handle(now, input) {
                    self.count += 1;
                    self.queue.insert((self.now + DELAY, self.count), (carrier, to, bytes));
                }
            }
        }
    }

    /// Runs for so many milliseconds.
    pub(super) fn run(&mut self, ms: u64) {
        let end = self.now + ms * 1_000;
        loop {
            let timer = |place: &Place| match place {
                Place::Here(stack) => stack.poll_timeout(),
                Place::There(remote) => remote.poll_timeout(),
            };
            let timers =
                self.places.iter().enumerate().filter_map(|(one, place)| Some((timer(place)?.0, one)));
            let timer = timers.min();
            let datagram = self.queue.first_key_value().map(|((at, _), _)| *at);
            let next =
                [timer.map(|(at, _)| at), datagram, Some(self.clock)].into_iter().flatten().min().unwrap();
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if datagram == Some(next) {
                let (_, (from, to, bytes)) = self.queue.pop_first().unwrap();
                self.hand(to, Input::Datagram(locator(from), bytes.into()));
            } else if let Some((_, carrier)) = timer.filter(|(at, _)| *at == next) {
                self.hand(carrier, Input::Timeout);
            } else {
                self.tick();
            }
        }
    }

    pub(super) fn until(&mut self, seconds: u64, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..seconds * 20 {
            if holds(self) {
                return;
            }
            self.run(50);
        }
        let told: Vec<String> = self.said.iter().map(|(party, said)| format!("{party}: {said:#?}")).collect();
        panic!("{what} did not come\n{}", told.join("\n"));
    }

    pub(super) fn command(&mut self, who: &str, command: Command) {
        let (carrier, party, _) = self.seats[who];
        self.hand(carrier, Input::Command((party, command)));
    }

    pub(super) fn join_all(&mut self) {
        let seats: Vec<(&str, GroupId)> =
            self.seats.iter().map(|(who, (_, _, group))| (*who, *group)).collect();
        for (who, group) in seats {
            self.command(who, Command::Join { group });
        }
    }

    pub(super) fn send(&mut self, who: &str, service: Service, text: &str) {
        let (group, payload) = (self.seats[who].2, Bytes::copy_from_slice(text.as_bytes()));
        self.command(who, Command::Send { group, service, payload, signed: false });
    }

    /// The member of the carrier itself asks for a group that it only carries.
    pub(super) fn join_as_carrier(&mut self, carrier: usize, group: &str) {
        let (party, group) = (identity(&carrier_name(carrier)).member().into(), self.groups[group]);
        self.hand(carrier, Input::Command((party, Command::Join { group })));
    }

    pub(super) fn carrier_events(&self, carrier: usize) -> &[Event] {
        let party: Party = identity(&carrier_name(carrier)).member().into();
        self.said.get(&party).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn events(&self, who: &str) -> impl Iterator<Item = &Event> {
        self.said.get(&self.seats[who].1).into_iter().flatten()
    }

    pub(super) fn heard(&self, who: &str) -> Vec<String> {
        let text = |event: &Event| match event {
            Event::Message { payload, .. } => Some(String::from_utf8_lossy(payload).into_owned()),
            _ => None,
        };
        self.events(who).filter_map(text).collect()
    }

    fn upper(&self, who: &str) -> &Member {
        let (carrier, party, _) = self.seats[who];
        let Place::Here(stack) = &self.places[carrier] else { panic!("nobody is attached there") };
        stack.upper.member(&party).unwrap()
    }

    pub(super) fn member(&self, who: &str) -> MemberId {
        self.seats[who].1.member
    }

    pub(super) fn epoch(&self, who: &str) -> Option<String> {
        self.upper(who).epoch(self.seats[who].2).map(str::to_owned)
    }

    pub(super) fn proposals(&self, who: &str) -> Vec<Proposal> {
        self.upper(who).proposals()
    }

    /// Whether these are in one view of exactly them, with one key.
    pub(super) fn share_key(&self, people: &[&str]) -> bool {
        let mut parties: Vec<Party> = people.iter().map(|who| self.seats[who].1).collect();
        parties.sort_unstable();
        let view = |who: &&str| {
            let views = self.events(who).filter_map(|event| match event {
                Event::View { members, .. } => Some(members.clone()),
                _ => None,
            });
            views.last() == Some(parties.clone())
        };
        let epochs: Vec<Option<String>> = people.iter().map(|who| self.epoch(who)).collect();
        people.iter().all(view) && epochs.iter().all(|epoch| epoch.is_some() && *epoch == epochs[0])
    }

    /// Every key that any member has held.
    pub(super) fn keys(&self) -> Vec<[u8; 32]> {
        self.seats.keys().flat_map(|who| self.upper(who).spoils().danger_keys().copied()).collect()
    }

    pub(super) fn remote(&mut self) -> &mut Remote {
        let remote = self.places.iter_mut().find_map(|place| match place {
            Place::There(remote) => Some(remote),
            Place::Here(_) => None,
        });
        remote.unwrap()
    }

    pub(super) fn group(&self, name: &str) -> GroupId {
        self.groups[name]
    }

    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.places.iter().filter_map(|place| match place {
            Place::Here(stack) => Some(&stack.ground),
            Place::There(_) => None,
        })
    }

    /// The ring, as each node sees it.
    pub(super) fn configuration(&self) -> Vec<(Option<ConfigurationId>, Vec<NodeId>)> {
        self.nodes().map(|node| (node.ring().configuration, node.ring().members)).collect()
    }

    /// Where the ring's own transcript stands at each.
    pub(super) fn ring_marks(&self) -> Vec<(Head, Digest)> {
        self.nodes().map(|node| node.transcript().mark()).collect()
    }
}
