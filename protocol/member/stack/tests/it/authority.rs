//! The authority as one side of admission: its process runs the same stack as a member, and a
//! member reports what it waits for. Method: a member, the authority and a stranger, joined by
//! links that come up when told; the only ring is the member's own.

use crate::common::people::{Dice, NOW, PEOPLE, id};
use attach::{Absence, Presence, ToMember, ToNode, Upper, UpperOutput};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base::{
    Digest, GroupName, Indication, Instant, Locator, MemberId, NodeId, Refused, Service, StoreKey,
};
use folkmoot_identity::{Central, CharterDraft, Founder, Scheme, SignedCharter};
use folkmoot_member::{Accepted, Command, Config, DealerState, Event, Member, MemberError, Office};
use std::collections::{BTreeMap, BTreeSet};

/// A founder, whose vote admits; the party that speaks for the authority; a stranger.
const ANNA: usize = 0;
const OFFICE: usize = 5;
const DORA: usize = 6;

struct World {
    charter: Bytes,
    stored: BTreeMap<usize, BTreeMap<StoreKey, Bytes>>,
    members: BTreeMap<usize, Member>,
    links: BTreeSet<(usize, usize)>,
    events: Vec<(usize, Event)>,
    now: u64,
    dice: Dice,
}

fn who(node: &NodeId) -> usize {
    (0..PEOPLE.len()).find(|who| id(*who).node() == *node).unwrap()
}

impl World {
    fn new(set: impl Fn(&mut CharterDraft)) -> Self {
        let mut dice = Dice(77_000);
        let office = Office::draw("moot", Scheme::Plain, NOW, &mut dice).unwrap();
        let certificate = office.certificate.clone();
        let central = Central { certificate, nodes: [id(OFFICE)].into(), dealer: None };
        let founders = vec![Founder::from(PEOPLE[ANNA].certificate())];
        let draft = CharterDraft::new(GroupName::new("moot").unwrap(), 1, founders, &mut dice);
        let mut draft = CharterDraft { central: Some(central), ..draft };
        set(&mut draft);
        let signed = SignedCharter::sign(&draft.to_toml(), &[&PEOPLE[ANNA]]).unwrap();
        let kept = office.persists(&PEOPLE[OFFICE], &mut dice).into_iter();
        let kept = kept.map(|persist| (persist.key, persist.value.unwrap())).collect();
        Self {
            charter: signed.der().to_vec().into(),
            stored: [(OFFICE, kept)].into(),
            members: BTreeMap::new(),
            links: BTreeSet::new(),
            events: Vec::new(),
            now: 0,
            dice,
        }
    }

    fn start(&mut self, who: usize, replicated: bool) {
        let mut config = Config::new(PEOPLE[who].clone(), self.charter.clone());
        config.replicated = replicated;
        let stored: Vec<(StoreKey, Bytes)> =
            self.stored.entry(who).or_default().clone().into_iter().collect();
        self.members.insert(who, Member::new(config, &stored).unwrap());
        self.at(who, |member, now, dice| member.clock(now, NOW, dice));
    }

    fn stop(&mut self, who: usize) {
        for (a, b) in self.links.clone() {
            if [a, b].contains(&who) {
                self.links.remove(&(a, b));
                let down = ToMember::LinkDown { node: id(b).node() };
                self.at(a, |member, now, dice| member.node(now, down, dice));
            }
        }
        self.members.remove(&who);
    }

    fn link(&mut self, a: usize, b: usize) {
        for (here, there) in [(a, b), (b, a)] {
            self.links.insert((here, there));
            let up =
                ToMember::LinkUp { node: id(there).node(), rostered: there == ANNA, at: Locator::memory(1) };
            self.at(here, |member, now, dice| member.node(now, up, dice));
        }
    }

    fn order(&mut self, who: usize, command: Command) -> Result<Accepted, Refused> {
        let mut answer = Ok(Accepted::default());
        self.at(who, |member, now, dice| answer = member.command(now, command, dice));
        answer
    }

    fn at(&mut self, who: usize, act: impl FnOnce(&mut Member, Instant, &mut Dice)) {
        if let Some(member) = self.members.get_mut(&who) {
            act(member, Instant(self.now), &mut self.dice);
        }
        self.settle();
    }

    /// Delivers everything that is sent to its receiver.
    fn settle(&mut self) {
        while let Some((who, output)) =
            self.members.iter_mut().find_map(|(who, member)| Some((*who, member.poll_output()?)))
        {
            match output {
                UpperOutput::Persist(persist) => {
                    let disk = self.stored.entry(who).or_default();
                    match persist.value {
                        Some(value) => drop(disk.insert(persist.key, value)),
                        None => drop(disk.remove(&persist.key)),
                    }
                }
                UpperOutput::Event(event) => self.events.push((who, event)),
                UpperOutput::Node(word) => self.carry(who, word),
                UpperOutput::Trace(_) => {}
            }
        }
    }

    fn carry(&mut self, from: usize, word: ToNode) {
        let say = |world: &mut Self, to: usize, word: ToMember| {
            if let Some(member) = world.members.get_mut(&to) {
                member.node(Instant(world.now), word, &mut world.dice);
            }
        };
        match word {
            ToNode::Guest { to, payload, .. } if self.links.contains(&(from, who(&to))) => {
                say(self, who(&to), ToMember::Guest { from: id(from).node(), payload });
            }
            ToNode::Item(_, item) => {
                for to in [ANNA, OFFICE, DORA] {
                    say(self, to, ToMember::Item(item.clone()));
                }
            }
            ToNode::Send { party, group, payload, .. } if from == ANNA => {
                let (service, payload) = (Service::Agreed, payload.into());
                say(
                    self,
                    ANNA,
                    ToMember::Group(Indication::Deliver { group, sender: party, service, payload }),
                );
            }
            _ => {}
        }
    }

    /// Runs for so many seconds; in each, everybody looks at the clock and does what is due.
    fn seconds(&mut self, count: u64) {
        for _ in 0..count * 4 {
            self.now += 250_000;
            for who in [ANNA, OFFICE, DORA] {
                let second = self.now / 1_000_000;
                self.at(who, |member, now, dice| {
                    member.clock(now, folkmoot_base::UnixTime(NOW.0 + second), dice);
                    if member.poll_timeout().is_some_and(|at| at <= now) {
                        member.timeout(now, dice);
                    }
                });
            }
        }
    }

    /// Dora asks at Anna's node, and Anna votes yes if she has a vote.
    fn ask(&mut self, vote: bool) -> Digest {
        self.link(ANNA, DORA);
        self.order(DORA, Command::Apply).unwrap();
        self.seconds(1);
        let petition = self.members[&ANNA].petitions().pop().expect("a request");
        if vote {
            self.order(ANNA, Command::Vote { subject: petition.subject, approve: true }).unwrap();
        }
        petition.subject
    }

    fn absence(&self, member: MemberId) -> Absence {
        let people = self.members[&ANNA].status(Instant(self.now)).people;
        match people.into_iter().find(|person| person.member == member).unwrap().presence {
            Presence::Absent(absence) => absence,
            other => panic!("{other:?}"),
        }
    }

    fn admitted(&self) -> bool {
        self.members[&ANNA].transcript().roster().is_member(&id(DORA))
    }

    fn logged(&self) -> Vec<Bytes> {
        let record = |(_, event): &(usize, Event)| match event {
            Event::Log(record) => Some(record.clone()),
            _ => None,
        };
        self.events.iter().filter_map(record).collect()
    }
}

fn plain() -> World {
    World::new(|_| {})
}

#[test]
fn an_admission_waits_for_the_authority_and_says_so() {
    let mut world = plain();
    world.start(ANNA, false);
    world.start(DORA, false);
    world.ask(true);
    world.seconds(3);
    assert!(!world.admitted());
    let waits = |linked| Absence::AwaitingAuthority { linked, heard: None, refuses: None };
    assert_eq!(world.absence(id(DORA)), waits(false));
    let refused = |(who, event): &(usize, Event)| match event {
        Event::Refused { reason } if *who == DORA => reason.contains("authority has not signed yet"),
        _ => false,
    };
    assert!(world.events.iter().any(refused), "the stranger is told so: {:?}", world.events);
    world.start(OFFICE, false);
    assert_eq!(world.members[&ANNA].status(Instant(world.now)).authority.unwrap().linked, []);
    world.link(ANNA, OFFICE);
    world.seconds(6);
    assert!(world.admitted());
    let reach = world.members[&ANNA].status(Instant(world.now)).authority.unwrap();
    assert_eq!(reach.linked, [id(OFFICE).node()]);
    assert!(reach.heard.is_some());
    let status = world.members[&OFFICE].authority().unwrap();
    assert_eq!((status.issued, status.members, status.dealer), (1, 2, DealerState::NoShares));
    assert_eq!(status.present.iter().map(|one| one.member).collect::<Vec<_>>(), [id(ANNA)]);
}

/// The member's node dials the authority when it reads the charter, so the link may be up before
/// the item that admits the member is there.
#[test]
fn who_becomes_a_member_knows_who_was_linked_before() {
    let mut world = plain();
    for who in [ANNA, DORA, OFFICE] {
        world.start(who, false);
    }
    world.link(ANNA, OFFICE);
    world.link(DORA, OFFICE);
    world.ask(true);
    world.seconds(2);
    assert!(world.admitted());
    let reach = world.members[&DORA].status(Instant(world.now)).authority.unwrap();
    assert_eq!(reach.linked, [id(OFFICE).node()]);
}

#[test]
fn with_replicas_nothing_is_granted_before_the_log_has_it_and_a_restart_repeats_the_same() {
    let mut world = plain();
    world.start(ANNA, false);
    world.start(DORA, false);
    world.start(OFFICE, true);
    world.link(ANNA, OFFICE);
    world.ask(true);
    world.seconds(2);
    let records = world.logged();
    assert!(!records.is_empty() && !world.admitted());
    assert!(records.iter().all(|record| *record == records[0]), "one certificate for one request");
    // It is stopped after it sent its record to the log, and before the log answers.
    world.stop(OFFICE);
    world.start(OFFICE, true);
    assert_eq!(world.members[&OFFICE].authority().unwrap().issued, 0);
    world.link(ANNA, OFFICE);
    world.seconds(60);
    assert!(world.logged().iter().all(|record| *record == records[0]), "and none other after a restart");
    world.order(OFFICE, Command::Logged(records[0].clone())).unwrap();
    world.seconds(60);
    assert!(world.admitted());
    // The record is kept: another start knows it.
    world.stop(OFFICE);
    world.start(OFFICE, true);
    assert_eq!(world.members[&OFFICE].authority().unwrap().issued, 1);
}

#[test]
fn where_it_decides_alone_its_person_votes_and_does_nothing_else() {
    let mut world = World::new(|draft| draft.policies.policy = folkmoot_identity::Policy::Authority);
    world.start(ANNA, false);
    world.start(DORA, false);
    world.start(OFFICE, false);
    world.link(ANNA, OFFICE);
    let subject = world.ask(false);
    world.seconds(2);
    let petitions = world.members[&OFFICE].petitions();
    assert_eq!(
        petitions.iter().map(|one| (one.subject, one.have, one.need)).collect::<Vec<_>>(),
        [(subject, 0, 1)]
    );
    assert!(world.events.iter().any(|(who, event)| *who == OFFICE && matches!(event, Event::Request(_))));
    world.events.clear();
    let change = Command::ChangeCharter { field: "threshold".into(), value: "2".into() };
    for wrong in [Command::Expel { member: id(ANNA) }, change] {
        assert_eq!(world.order(OFFICE, wrong).unwrap_err().by.code, "not-admitted");
    }
    let voted = world.order(OFFICE, Command::Vote { subject, approve: true }).unwrap();
    assert_eq!(voted.subject, Some(subject));
    world.seconds(2);
    assert!(world.admitted());
}

/// With any command that runs it: no one issues without the log.
#[test]
fn one_of_several_replicas_starts_with_their_log_alone() {
    let world = World::new(|draft| {
        draft.central.as_mut().unwrap().nodes.insert(id(4));
    });
    let stored: Vec<(StoreKey, Bytes)> = world.stored[&OFFICE].clone().into_iter().collect();
    let start = |replicated| {
        let mut config = Config::new(PEOPLE[OFFICE].clone(), world.charter.clone());
        config.replicated = replicated;
        Member::new(config, &stored)
    };
    let refused = start(false).err().unwrap();
    assert!(matches!(refused, MemberError::StoreOffice(_)), "{refused:?}");
    let text = refused.to_string();
    assert!(text.contains("Run each with --replicas") && !text.contains("backup"), "{text}");
    assert!(start(true).unwrap().authority().is_some());
    // A damaged office is not restored.
    let damaged = stored.iter().map(|(key, _)| (key.clone(), Bytes::from_static(b"x"))).collect::<Vec<_>>();
    let config = Config { replicated: true, ..Config::new(PEOPLE[OFFICE].clone(), world.charter.clone()) };
    let text = Member::new(config, &damaged).err().unwrap().to_string();
    assert!(text.contains("Never restore this folder from a backup"), "{text}");
}

/// The authority's key without an office, or an office under another charter, makes nobody an
/// authority.
#[test]
fn without_office_or_name_in_the_charter_it_is_a_stranger() {
    let mut world = plain();
    world.stored.clear();
    world.start(OFFICE, false);
    assert!(world.members[&OFFICE].authority().is_none());
    let kept = plain().stored[&OFFICE].clone();
    let mut world = World::new(|draft| draft.central.as_mut().unwrap().nodes = [id(4)].into());
    world.stored = [(OFFICE, kept)].into();
    world.start(OFFICE, false);
    assert!(world.members[&OFFICE].authority().is_none());
}
