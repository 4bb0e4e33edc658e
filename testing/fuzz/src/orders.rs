//! Ring and group: frames of a peer that may say anything. They meet a node that gathers, a node
//! that is on a ring, and the ordered path.

use crate::frames::{self, AnySignature, configuration, member, node, party};
use crate::script::{Dice, number, owned, script, steps};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::limits::PARTIES_MAX;
use folkmoot_base::{
    Cause, Framed, GroupId, Head, Instant, Join, Lead, NodeId, Party, Said, Says, Service, Signatures, Word,
};
use folkmoot_group::message::{Joined, Scope, SignedJoin, Stamp, Tables, handle_of, tables_of};
use folkmoot_group::{Config as GroupConfig, Group, Mark, Output as GroupOutput, ShortName};
use folkmoot_ring::message::Frame;
use folkmoot_ring::{Config, Output, Phase, Ring};
use std::collections::VecDeque;
use std::sync::Arc;

/// More outputs than this at once, and a peer could flood the caller: a ring keeps 4,096 packets at
/// most.
const OUTPUTS_MAX: usize = 20_000;

const SERVICES: [Service; 6] =
    [Service::Agreed, Service::Safe, Service::Reliable, Service::Fifo, Service::Causal, Service::Unreliable];

/// Two nodes; what the peer says is kept.
struct Rings {
    now: Instant,
    rings: [Ring; 2],
    /// One each: what a node draws does not depend on whether the peer plays along.
    dice: [Dice; 2],
    wire: VecDeque<(usize, Bytes)>,
    said: Vec<Bytes>,
}

impl Rings {
    fn new() -> Self {
        let now = Instant(1_000_000);
        let mut rings = [1, 2].map(|number| Ring::new(Config::new(node(number)), 0, now));
        rings[0].peer(now, node(2), true);
        rings[1].peer(now, node(1), true);
        Self { now, rings, dice: [Dice(5), Dice(6)], wire: VecDeque::new(), said: Vec::new() }
    }

    /// The same, far from each other.
    fn far() -> Self {
        let mut rings = Self::new();
        for (which, peer) in [(0, 2), (1, 1)] {
            rings.rings[which].trip(node(peer), Duration::from_millis(40));
            rings.rings[which].path(rings.now, node(peer), 1_452);
        }
        rings
    }

    fn drain(&mut self, which: usize) {
        let mut count = 0;
        while let Some(output) = self.rings[which].poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            let frame = match output {
                Output::Send { frame, .. } | Output::Multicast { frame, .. } => frame,
                _ => continue,
            };
            if which == 1 {
                self.said.push(frame.clone());
            }
            self.wire.push_back((1 - which, frame));
        }
    }

    fn frame(&mut self, to: usize, from: NodeId, frame: Bytes) {
        let _ = self.rings[to].frame(self.now, from, frame, &mut self.dice[to]);
        self.drain(to);
    }

    /// Carries up to `most` frames.
    fn carry(&mut self, most: usize) {
        for _ in 0..most {
            let Some((to, frame)) = self.wire.pop_front() else { return };
            self.frame(to, node(if to == 0 { 2 } else { 1 }), frame);
        }
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
        for which in [0, 1] {
            if self.rings[which].poll_timeout().is_some_and(|at| at <= self.now) {
                self.rings[which].timeout(self.now, &mut self.dice[which]);
                self.drain(which);
            }
        }
    }

    /// Plays honestly until both are on one ring.
    fn form(&mut self) {
        for _ in 0..200 {
            self.carry(64);
            if self.rings.iter().all(|ring| ring.status().members.len() == 2) {
                return;
            }
            self.pass(Duration::from_millis(10));
        }
        panic!("two honest nodes form a ring");
    }

    fn run(&mut self, data: &[u8]) {
        for (op, body) in steps(data) {
            match op % 8 {
                0..=3 => self.frame(0, node(2), owned(body)),
                4 => self.frame(0, node(9), owned(body)),
                5 => self.pass(Duration::from_millis(number(body))),
                6 => {
                    let service = SERVICES[usize::from(op >> 3 & 7) % SERVICES.len()];
                    let _ = self.rings[usize::from(op >> 7)].submit(
                        self.now,
                        (u16::from(op & 3), u32::from(op)),
                        service,
                        (Lead::NONE, owned(body)),
                    );
                }
                _ => self.carry(usize::try_from(number(body)).unwrap().min(64)),
            }
            self.drain(0);
            self.drain(1);
            self.wire.truncate(1_024);
        }
        let status = self.rings[0].status();
        assert!(status.members.len() <= 64 && status.members.is_sorted());
        assert!(
            status.phase != Phase::Operational || status.members.contains(&node(1)),
            "a ring without itself"
        );
    }
}

/// Ring: a node that gathers, a peer that may take part, frames of that peer and of a stranger,
/// time.
pub fn ring_gathering(data: &[u8]) {
    gathered(data);
}

fn gathered(data: &[u8]) -> Rings {
    let mut rings = Rings::new();
    rings.run(data);
    rings
}

/// Ring: the same, at a node whose ring stands.
pub fn ring_operational(data: &[u8]) {
    let mut rings = Rings::new();
    rings.form();
    rings.run(data);
}

/// What the peer says where both are far from each other.
fn distant_frames() -> Vec<Bytes> {
    let mut rings = Rings::far();
    rings.form();
    for which in [0, 1] {
        let message = (Lead::NONE, Bytes::from_static(b"safe"));
        rings.rings[which].submit(rings.now, (0, 0), Service::Safe, message).unwrap();
    }
    for _ in 0..20 {
        rings.pass(Duration::from_millis(10));
        rings.carry(32);
    }
    rings.said
}

/// Seeds: the peer's frames, by themselves, while a ring is formed, and on a ring that stands.
pub(crate) fn ring_seeds() -> [Vec<Vec<u8>>; 3] {
    let mut rings = Rings::new();
    rings.form();
    let forming: Vec<Bytes> = std::mem::take(&mut rings.said);
    let question = (Lead::NONE, Bytes::from_static(b"one word"));
    rings.rings[0].submit(rings.now, (0, 0), Service::Causal, question).unwrap();
    // The peer's causal message names this one.
    for services in [&[][..], &SERVICES] {
        for service in services.iter().rev() {
            let message = (Lead::NONE, Bytes::from_static(b"another"));
            rings.rings[1].submit(rings.now, (0, 0), *service, message).unwrap();
        }
        for _ in 0..20 {
            rings.pass(Duration::from_millis(10));
            rings.carry(32);
        }
    }
    let standing: Vec<Bytes> = std::mem::take(&mut rings.said);
    let distant = distant_frames();
    let few = |frames: &[Bytes]| script(frames.iter().take(6).map(|frame| (0, frame)));
    let mut kinds: Vec<Vec<u8>> = Vec::new();
    for frame in forming.iter().chain(&standing).chain(&distant) {
        // The class of DATA, the kind of all others.
        let kind = |frame: &[u8]| if frame[0] == 1 { frame[1] } else { frame[0] };
        if !kinds.iter().any(|have| kind(have) == kind(frame)) {
            kinds.push(frame.to_vec());
        }
    }
    // A record behind a packet.
    let joined = |frame: &&Bytes| matches!(Frame::decode((*frame).clone()), Ok(Frame::Data(_, Some(_))));
    kinds.extend(standing.iter().find(joined).map(|one| one.to_vec()));
    // A JOIN with an entry.
    kinds.extend(
        distant
            .iter()
            .filter(|frame| frame[..2] == [1, 1])
            .max_by_key(|one| one.len())
            .map(|one| one.to_vec()),
    );
    let driven =
        script([(6, &b"mine"[..]), (7, &[0, 9]), (5, &[0, 40]), (0x86, b"its"), (7, &[0, 30]), (5, &[1, 0])]);
    [kinds, vec![few(&forming), driven.clone()], vec![few(&standing), few(&forming), driven]]
}

const GROUP: GroupId = GroupId([9; 32]);

/// Where a transcript stands that has this in its set.
fn mark(names: Vec<ShortName>) -> Mark {
    Mark { head: Head { number: 0, digest: [1; 32] }, set: [2; 32], names }
}

/// Ports of the two programs of member 1.
const PORTS: [u16; 2] = [0, 258];

/// A charter that the ring carries.
const CARRIED: GroupId = GroupId([12; 32]);

const SCOPE: Scope = Scope { ring: GROUP, tables: GROUP };

fn group_config() -> GroupConfig {
    GroupConfig::new(node(1), GROUP, Arc::new(AnySignature))
}

/// A node's group layer, and the place in the order; and the tables of a charter that it carries,
/// which have places of their own here.
struct Ordered {
    group: Group,
    carried: Group,
    places: u64,
    configuration: u64,
    order: u64,
    /// The number of the last word of a party here.
    number: u64,
    /// What node 1 ordered.
    said: Vec<Bytes>,
}

impl Ordered {
    fn new() -> Self {
        let carries = [CARRIED].into();
        let mut group = Group::new(GroupConfig { carries, ..group_config() });
        group.mark(mark(Vec::new()));
        PORTS.iter().for_each(|port| group.attach(party(1, *port)).unwrap());
        let mut carried = Group::new(GroupConfig { of: Some(CARRIED), ..group_config() });
        carried.mark(mark(Vec::new()));
        carried.attach(party(3, 0)).unwrap();
        Self { group, carried, places: 0, configuration: 0, order: 0, number: 0, said: Vec::new() }
    }

    fn begin(&mut self) {
        self.configuration += 1;
        self.order = 0;
        self.places = 0;
        self.group.regular(configuration(self.configuration), &[node(1), node(2)], &holds);
        self.carried.regular(configuration(self.configuration), &[node(1), node(2)], &holds);
        self.settle();
    }

    /// Hands a message to the tables that it is for, as a node does.
    fn hand(&mut self, from: NodeId, payload: Bytes) {
        let id = configuration(self.configuration);
        let mut message = Framed::from(payload);
        let tables = tables_of(&mut message);
        let (own, charter) = (handle_of(&CARRIED.0), matches!(tables, Tables::Charter(_)));
        match tables {
            Tables::Charter(handle) | Tables::Group(handle) if handle == own => {
                self.places += 1;
                let place = Some(self.places);
                let _ = self.carried.deliver(id, place, from, Service::Agreed, message, &holds);
            }
            _ if charter => {}
            _ => {
                self.order += 1;
                let _ = self.group.deliver(id, Some(self.order), from, Service::Agreed, message, &holds);
            }
        }
    }

    fn deliver(&mut self, from: NodeId, payload: Bytes) {
        self.hand(from, payload);
        self.settle();
    }

    /// Own words come back in order; not for ever.
    fn settle(&mut self) {
        let mut count = 0;
        while let Some(output) = self.group.poll_output().or_else(|| self.carried.poll_output()) {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                GroupOutput::Submit { lead, payload, .. } => {
                    let bytes = Bytes::from([lead.as_slice(), &payload].concat());
                    self.said.push(bytes.clone());
                    self.hand(node(1), bytes);
                }
                GroupOutput::Carries { node, charters, .. } if !charters.contains(&CARRIED) => {
                    self.places += 1;
                    self.carried.without(node, self.places, &holds);
                }
                _ => {}
            }
        }
    }
}

fn join(group: GroupId, node: NodeId, configuration: u64) -> Says {
    Says::Join(Join { group, node, configuration: frames::configuration(configuration) })
}

fn said(party: Party, number: u64, says: Says) -> Said {
    Said::sign(Word { party, number, says }, &AnySignature)
}

fn holds(member: folkmoot_base::MemberId) -> bool {
    [1, 2, 3].iter().any(|number| self::member(*number) == member)
}

/// Group: messages of a node in the configuration, of the node itself, of one outside; joins and
/// messages of two programs of one member; new configurations between.
pub fn group_ordered(data: &[u8]) {
    ordered_after(data);
}

fn ordered_after(data: &[u8]) -> Ordered {
    let mut ordered = Ordered::new();
    ordered.begin();
    for (op, body) in steps(data) {
        match op % 8 {
            0..=2 => ordered.deliver(node(2), owned(body)),
            3 => ordered.deliver(node(1), owned(body)),
            4 => ordered.deliver(node(9), owned(body)),
            5 => ordered.begin(),
            6 => {
                ordered.group.transitional(&[node(1)]);
                ordered.carried.transitional(&[node(1)]);
                ordered.settle();
            }
            _ => {
                let me = party(1, PORTS[usize::from(op >> 4) % PORTS.len()]);
                ordered.number += 1;
                let says = join(GROUP, node(1), ordered.configuration);
                let _ = ordered.group.say(said(me, ordered.number, says));
                let group = if op & 16 == 0 { CARRIED } else { GROUP };
                let says = join(group, node(1), ordered.configuration);
                let _ = ordered.carried.say(said(party(3, 0), ordered.number, says));
                let _ = ordered.group.send(me, GROUP, Service::Agreed, owned(body), 0);
                if op & 8 != 0 {
                    ordered.group.roster_changed(&[(member(2), Cause::Expelled)]);
                }
                ordered.settle();
            }
        }
        assert!(ordered.carried.members(GROUP).is_empty(), "a group of another charter");
        let members = ordered.group.members(GROUP);
        assert!(members.is_sorted() && members.iter().all(|party| holds(party.member)), "{members:?}");
        let of = |member| members.iter().filter(|party| party.member == member).count();
        assert!(members.iter().all(|party| of(party.member) <= PARTIES_MAX), "{members:?}");
    }
    ordered
}

/// The party in a State, by its join in the first configuration.
fn joined(party: Party, number: u64) -> Joined {
    let proof = AnySignature.sign(b"folkmoot fuzz", &[]);
    let join = SignedJoin { configuration: configuration(1), number, proof };
    Joined { party, stamp: Stamp { ring_seq: 1, order: number }, join }
}

/// Seeds: each message by itself, and a life of a group.
pub(crate) fn group_seeds() -> [Vec<Vec<u8>>; 2] {
    use folkmoot_group::message::{Control, Declaration, Declared, GroupState, State, data_lead, encode};
    let other = mark(vec![[3; 16]]);
    let (first, second) = (party(2, 0), party(2, 7));
    let members = vec![joined(first, 1), joined(second, 2)];
    let groups = vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }];
    let same = mark(Vec::new());
    // The notice of the second join below.
    let view = crate::frames::view_id(GROUP, 6);
    let node_says = |says| Control::Node(Declared::sign(says, SCOPE, &AnySignature));
    let says = |party, number, says| Control::Party(said(party, number, says));
    let state = State { configuration: configuration(1), mark: same.clone(), charters: Vec::new(), groups };
    let state = node_says(Declaration::State(state));
    let complaint = Says::Complain { configuration: configuration(1), view, suspect: party(1, 0) };
    let controls = [
        says(first, 3, join(GROUP, node(2), 1)),
        says(second, 3, join(GROUP, node(2), 1)),
        says(first, 4, Says::Leave { group: GROUP }),
        node_says(Declaration::Detach { party: first, number: 4 }),
        says(second, 5, Says::Refresh { view }),
        says(second, 6, complaint),
        Control::Item { item: vec![1, 2, 3].into() },
        state.clone(),
        node_says(Declaration::Mark { configuration: configuration(1), number: 1, mark: other }),
    ];
    let mut messages: Vec<Vec<u8>> = controls.iter().map(|control| encode(control).to_vec()).collect();
    for sender in [first, second, party(3, 0)] {
        messages.push([data_lead(node(2), &GROUP, &sender).as_slice(), b"a word"].concat());
    }
    // The tables of the charter that the node carries.
    let members = vec![joined(first, 1)];
    let groups = vec![GroupState { group: CARRIED, noticed: None, stood: Vec::new(), members }];
    let charters = vec![CARRIED];
    let (of, carries) = (
        State { configuration: configuration(1), mark: same.clone(), charters: Vec::new(), groups },
        State { configuration: configuration(1), mark: same.clone(), charters, groups: Vec::new() },
    );
    let head = [&[0xC1][..], &handle_of(&CARRIED.0)].concat();
    let within = |control: &Control| [&head[..], &encode(control)].concat();
    let carried = [
        encode(&node_says(Declaration::State(carries))).to_vec(),
        within(&node_says(Declaration::State(of))),
        within(&says(second, 3, join(CARRIED, node(2), 1))),
        within(&Control::Item { item: vec![1, 2, 3].into() }),
        within(&node_says(Declaration::Detach { party: first, number: 4 })),
        [data_lead(node(2), &CARRIED, &second).as_slice(), b"a word"].concat(),
    ];
    let carried = script(carried.into_iter().map(|message| (0, message)).chain([(7, b"hello".to_vec())]));
    let idle = State { configuration: configuration(1), mark: same, charters: Vec::new(), groups: vec![] };
    let idle = encode(&node_says(Declaration::State(idle))).to_vec();
    let life = |state: Vec<u8>| {
        let steps = [(0, state), (7, b"hello".to_vec()), (0x17, b"hello".to_vec())];
        script(
            steps
                .into_iter()
                .chain(messages.iter().map(|message| (0, message.clone())))
                .chain([(6, vec![]), (5, vec![])]),
        )
    };
    let four = (0..4).map(|place| match place {
        0 | 1 => (7 | place << 4, b"hello".to_vec()),
        other => (0, messages[usize::from(other) - 2].clone()),
    });
    let joined = script([(0, idle.clone())].into_iter().chain(four).chain([(7, b"hello".to_vec())]));
    let lives = vec![life(idle), life(encode(&state).to_vec()), joined, carried];
    [messages.clone(), lives]
}

#[cfg(test)]
mod tests {
    use super::{CARRIED, GROUP, gathered, group_seeds, ordered_after, ring_seeds};
    use crate::frames::{node, party};
    use crate::script::owned;
    use folkmoot_group::message::decode;
    use folkmoot_ring::Phase;

    #[test]
    fn seeds_lead_to_a_ring_and_to_whole_tables() {
        let [_, gathering, _] = ring_seeds();
        let phases: Vec<Phase> =
            gathering.iter().map(|seed| gathered(seed).rings[0].status().phase).collect();
        assert_eq!(phases, [Phase::Recover, Phase::Operational]);
        let [messages, lives] = group_seeds();
        let read = |bytes: &Vec<u8>| decode(node(2), owned(bytes)).is_ok();
        assert!(messages.iter().all(read), "each is a message");
        let after: Vec<_> = lives.iter().map(|life| ordered_after(life)).collect();
        assert_eq!(after[3].carried.members(CARRIED), [party(2, 7), party(3, 0)]);
        let groups: Vec<_> = after.iter().map(|ordered| &ordered.group).collect();
        assert_eq!(groups.iter().map(|group| group.members(GROUP).len()).collect::<Vec<_>>(), [2, 2, 4, 1]);
    }
}
