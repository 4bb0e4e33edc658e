//! The stacks: a node with a peer that has a real link and says anything, a member whose node says
//! anything, and both stacks together as a program embeds them.

use crate::script::{Dice, number, owned, script, steps};
use crate::world::{NOW, world};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::{Embedded, Ground, GroundOutput, Input, Output, ToMember, ToNode, Upper, UpperOutput};
use folkmoot_base::{
    Cause, Indication, Instant, Locator, NodeId, Party, Service, StoreKey, UnixTime, digest,
};
use folkmoot_flush::message::For;
use folkmoot_identity::Identity;
use folkmoot_link::{self as link, Channel, IdentityCredentials, Links};
use folkmoot_member::{Command, Config as MemberConfig, Event, Member};
use folkmoot_node::{Config as NodeConfig, Node, Sync};
use folkmoot_transcript::Have;
use std::collections::VecDeque;

/// More outputs than this at once, and a peer could flood the caller.
const OUTPUTS_MAX: usize = 20_000;
pub(crate) const HOME: Locator = Locator::memory(1);
const AWAY: Locator = Locator::memory(2);
/// A member's first program, and another.
pub(crate) const PORTS: [u16; 2] = [0, 7];

pub(crate) fn node_of(
    identity: &Identity,
    at: Locator,
    stored: &[(StoreKey, Bytes)],
) -> Result<Node, folkmoot_node::NodeError> {
    let config = NodeConfig::new(identity.clone(), world().charter_der(), at);
    Node::new(config, stored, Instant(1_000_000), &mut Dice(41))
}

pub(crate) fn member_of(
    identity: &Identity,
    port: u16,
    stored: &[(StoreKey, Bytes)],
) -> Result<Member, folkmoot_member::MemberError> {
    let config = MemberConfig { port, ..MemberConfig::new(identity.clone(), world().charter_der()) };
    Member::new(config, stored)
}

/// The first founder's node, and a link of somebody to it.
struct Linked {
    now: Instant,
    node: Node,
    peer: Links<IdentityCredentials>,
    dice: Dice,
    outputs: usize,
}

impl Linked {
    fn new(peer: &Identity) -> Self {
        let mut dice = Dice(43);
        let links =
            Links::new(link::Config::new(world().group()), IdentityCredentials::new(peer.clone()), &mut dice);
        let node = node_of(&world().founders[0], HOME, &[]).expect("a legal charter");
        let mut linked = Self { now: Instant(1_000_000), node, peer: links, dice, outputs: 0 };
        let parties = PORTS.map(|port| Party::new(world().founders[0].member(), port));
        for party in parties {
            linked.node.member(linked.now, ToNode::Attach { party }, &mut linked.dice);
        }
        let dialled =
            linked.peer.handle(linked.now, link::Input::Dial { at: HOME, node: None }, &mut linked.dice);
        dialled.expect("the first dial");
        linked.carry();
        assert!(linked.node.locator(&peer.node()).is_some(), "an honest handshake ends");
        for party in parties {
            let join = ToNode::Join { party, group: world().group() };
            linked.node.member(linked.now, join, &mut linked.dice);
        }
        linked
    }

    /// Carries datagrams until there are none. The peer's machine hears, and answers nothing by
    /// itself.
    fn carry(&mut self) {
        for _ in 0..64 {
            let mut quiet = true;
            while let Some(output) = self.peer.poll_output() {
                match output {
                    link::Output::Transmit { datagram, .. } => {
                        quiet = false;
                        self.node.datagram(self.now, AWAY, datagram, &mut self.dice);
                    }
                    link::Output::Up { node, .. } => {
                        let standing = link::Input::Standing { node, member: true };
                        let _ = self.peer.handle(self.now, standing, &mut self.dice);
                    }
                    _ => {}
                }
            }
            while let Some(output) = self.node.poll_output() {
                self.outputs += 1;
                assert!(self.outputs <= OUTPUTS_MAX, "no end of outputs");
                if let GroundOutput::Transmit(AWAY, bytes) = output {
                    quiet = false;
                    let _ = self.peer.handle(
                        self.now,
                        link::Input::Datagram { from: HOME, bytes },
                        &mut self.dice,
                    );
                }
            }
            if quiet {
                return;
            }
        }
    }

    fn say(&mut self, channel: Channel, frame: &[u8]) {
        let to = world().founders[0].node();
        let _ = self.peer.send(self.now, to, channel, &[frame]);
        self.carry();
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
        if self.peer.poll_timeout().is_some_and(|at| at <= self.now) {
            let _ = self.peer.handle(self.now, link::Input::Timeout, &mut self.dice);
        }
        if self.node.poll_timeout().is_some_and(|at| at <= self.now) {
            self.node.timeout(self.now, &mut self.dice);
        }
        self.carry();
    }
}

/// Node: frames of a founder whose link is up (first byte even) or of a guest (odd), on each
/// channel; time.
pub fn node_peer(data: &[u8]) {
    linked_after(data);
}

fn linked_after(data: &[u8]) -> Option<Linked> {
    let (who, data) = data.split_first()?;
    let guest = who % 2 == 1;
    let peer = if guest { &world().stranger } else { &world().founders[1] };
    let mut linked = Linked::new(peer);
    for (op, body) in steps(data) {
        linked.outputs = 0;
        match op % 4 {
            0 => linked.say(Channel::Ring, body),
            1 => linked.say(Channel::Transcript, body),
            2 => linked.say(Channel::Admission, body),
            _ => linked.pass(Duration::from_millis(number(body))),
        }
    }
    let members = linked.node.ring().members;
    assert!(!guest || !members.contains(&peer.node()), "a guest on the ring");
    let items = linked.node.transcript().items().count();
    assert!(items <= 64, "{items} items, more than anybody signed here");
    Some(linked)
}

/// Seeds: each word on the transcript channel, and conversations.
pub(crate) fn node_seeds(ring: &[Vec<u8>], admission: &[Vec<u8>]) -> [Vec<Vec<u8>>; 2] {
    let (admit, (head, set)) = (world().admit(), world().transcript.mark());
    let name = digest(&[&admit]);
    let [near, far] = [&b"memory/3"[..], b"tor+tcp/abc.onion:4803"]
        .map(|at| folkmoot_node::Place { node: world().founders[2].node(), at: at.to_vec().into() });
    let of = |sync: &Sync| folkmoot_base::codec::encode(sync);
    let mark = of(&Sync::Mark { head, set });
    let other = of(&Sync::Mark { head, set: [4; 32] });
    let fetch = of(&Sync::Fetch(Have { head, from: [0; 32], until: [0xff; 32], names: vec![[5; 32]] }));
    let piece = of(&Sync::Piece { name, of: 1, index: 0, bytes: admit.clone().into() });
    let want = of(&Sync::Want { name, index: 0 });
    let admitted = of(&Sync::Items(vec![admit.into()]));
    let places = of(&Sync::Locators(vec![near, far]));
    let talk = |who: u8, steps: Vec<(u8, Vec<u8>)>| [vec![who], script(steps)].concat();
    let frames = ring.iter().take(5).map(|frame| (0, frame.clone()));
    let rings = [(1, mark.clone()), (3, vec![0, 100])].into_iter().chain(frames).chain([(3, vec![2, 0])]);
    let learns = vec![
        (1, other.clone()),
        (1, fetch.clone()),
        (1, admitted.clone()),
        (1, places.clone()),
        (3, vec![3, 0]),
    ];
    let asks = admission.iter().take(1).map(|word| (2, word.clone())).chain([(1, mark.clone())]);
    let talks = vec![talk(0, rings.collect()), talk(0, learns), talk(1, asks.collect())];
    [vec![mark, other, fetch, admitted, places, piece, want], talks]
}

/// A member whose node is the input: what it orders comes back as its own.
struct Above {
    now: Instant,
    member: Member,
    order: u64,
    dice: Dice,
    /// How many parties each secure view had.
    views: Vec<usize>,
}

impl Above {
    fn new(port: u16) -> Self {
        let member = member_of(&world().founders[0], port, &[]).expect("a legal charter");
        let mut above = Self { now: Instant(1), member, order: 0, dice: Dice(47), views: Vec::new() };
        above.member.clock(above.now, NOW, &mut above.dice);
        above.member.command(above.now, Command::Join { group: world().group() }, &mut above.dice);
        above.word(ToMember::Configuration { nodes: world().founders.iter().map(Identity::node).collect() });
        above
    }

    fn word(&mut self, word: ToMember) {
        let mut words = VecDeque::from([word]);
        let mut count = 0;
        let me = self.member.party();
        while let Some(word) = words.pop_front() {
            self.member.node(self.now, word, &mut self.dice);
            while let Some(output) = self.member.poll_output() {
                count += 1;
                assert!(count <= OUTPUTS_MAX, "no end of outputs");
                match output {
                    UpperOutput::Node(ToNode::Send { group, service, payload, .. }) => {
                        assert!(me.port == 0 || payload[0] != OPEN, "MEM-11");
                        words.push_back(ToMember::Group(Indication::Deliver {
                            group,
                            sender: me,
                            service,
                            payload,
                        }));
                    }
                    UpperOutput::Node(ToNode::Item(item)) => {
                        assert_eq!(me.port, 0, "MEM-11");
                        words.push_back(ToMember::Item(item));
                    }
                    UpperOutput::Node(ToNode::Guest { .. }) => assert_eq!(me.port, 0, "MEM-11"),
                    UpperOutput::Event(Event::View { members, .. }) => self.views.push(members.len()),
                    _ => {}
                }
            }
        }
    }

    /// The parties that the bits of `who` name, and the others: the first three are the founders'
    /// first programs, the next three other ones. Oneself is always among the first.
    fn seats(&self, who: u8) -> [Vec<Party>; 2] {
        let of = |port: u16| world().members().into_iter().map(move |member| Party::new(member, port));
        let all = PORTS.into_iter().flat_map(of).enumerate();
        let here = |(place, party): &(usize, Party)| *party == self.member.party() || who >> place & 1 == 1;
        let (inside, outside): (Vec<_>, Vec<_>) = all.partition(here);
        [inside, outside].map(|some| some.into_iter().map(|(_, party)| party).collect())
    }

    /// A notice that follows the one before, with the parties that `who` names.
    fn notice(&mut self, who: u8) {
        self.order += 1;
        let group = world().group();
        let [mut members, removed] = self.seats(who);
        members.sort();
        let view = crate::frames::view_id(group, self.order);
        self.word(ToMember::Group(Indication::Notice {
            group,
            view,
            members,
            removed,
            cause: Cause::Network,
        }));
    }
}

/// The first byte of an admission message among members.
const OPEN: u8 = 0xB0;

/// Member: at its first program (first byte even) or at another (odd), payloads of programs of
/// another founder, of a stranger, of itself; entries, guests, notices, losses, time, own wishes.
pub fn member_words(data: &[u8]) {
    above_after(data);
}

fn above_after(data: &[u8]) -> Option<Above> {
    let (port, data) = data.split_first()?;
    let mut above = Above::new(PORTS[usize::from(port % 2)]);
    let group = world().group();
    for (op, body) in steps(data) {
        let payload = owned(body);
        let sender =
            [&world().founders[1], &world().stranger, &world().founders[0]][usize::from(op >> 4) % 3];
        let speaker = Party::new(sender.member(), PORTS[usize::from(op >> 4) / 3 % 2]);
        match op % 10 {
            0 | 1 => {
                let service = if op & 1 == 0 { Service::Agreed } else { Service::Safe };
                above.word(ToMember::Group(Indication::Deliver { group, sender: speaker, service, payload }));
            }
            2 => above.word(ToMember::Item(payload)),
            3 => above.word(ToMember::Guest { from: sender.node(), payload }),
            4 => above.notice(body.first().copied().unwrap_or(7)),
            5 => {
                let [mut lost, _] = above.seats(body.first().copied().unwrap_or(2));
                lost.retain(|party| *party != above.member.party());
                above.word(ToMember::Group(Indication::Transitional { group, lost }));
            }
            6 => {
                above.now = above.now + Duration::from_millis(number(body));
                above.member.timeout(above.now, &mut above.dice);
            }
            7 => above.member.clock(above.now, UnixTime(NOW.0 + (number(body) << 12)), &mut above.dice),
            8 => {
                let send = Command::Send { group, service: Service::Agreed, payload, signed: false };
                above.member.command(above.now, send, &mut above.dice);
            }
            _ => above.word(ToMember::LinkUp { node: sender.node(), rostered: true, at: AWAY }),
        }
    }
    above.word(ToMember::Congested(false));
    Some(above)
}

/// Seeds: admission, flush and keying words wrapped as the member wraps them.
pub(crate) fn member_seeds(admission: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let open = script(admission.iter().rev().take(2).map(|word| (0, [&[OPEN], &word[..]].concat())));
    let admit = world().admit();
    let view = crate::frames::view_id(world().group(), 1);
    let heads = world().transcript.digest();
    let ok = |view| folkmoot_flush::message::Control::FlushOk { view, heads, brings: Vec::new().into() };
    let received = |view| folkmoot_flush::message::Control::FlushReceived { view };
    let flush = |control| folkmoot_flush::message::encode(&control).to_vec();
    let tag = folkmoot_flush::message::ViewTag::of(&view);
    let head = |to| folkmoot_flush::message::data_header(&tag, Service::Agreed, to);
    let keying = [&head(For::Keying)[..], &[1]].concat();
    let sealed = [&head(For::Session)[..], &[0; 40]].concat();
    let two = vec![
        (4, vec![2]),
        (0, flush(ok(view))),
        (0, flush(received(view))),
        (0, keying),
        (0, sealed),
        (8, b"hi".to_vec()),
    ];
    let asked = admission.iter().take(1).map(|word| (0x13, word.clone())).chain([(6, vec![40, 0])]);
    // Alone, and then together with the member's other program.
    let next = crate::frames::view_id(world().group(), 2);
    let both = vec![
        (4, vec![0]),
        (8, b"alone".to_vec()),
        (4, vec![0b00_1001]),
        (0x50, flush(ok(next))),
        (0x50, flush(received(next))),
        (5, vec![0b00_1001]),
        (6, vec![2, 0]),
    ];
    let at = |port: u8, steps: Vec<u8>| [vec![port], steps].concat();
    vec![
        at(0, open.clone()),
        at(0, script([(2, admit.clone())])),
        at(0, script(two.clone())),
        at(0, script(asked)),
        at(0, script([(4, vec![0]), (8, b"alone".to_vec()), (6, vec![2, 0])])),
        at(0, script(both)),
        at(1, open),
        at(1, script([(2, admit)])),
        at(1, script(two)),
    ]
}

/// Both stacks of a founder.
pub struct Player {
    now: Instant,
    player: Embedded<Node, Member>,
    dice: Dice,
    /// Datagrams to the other place.
    pub(crate) out: VecDeque<Bytes>,
    heard: Vec<Bytes>,
}

impl Player {
    /// The founder in place `who` of the charter, at its locator; wants to be in the group.
    pub fn new(who: usize) -> Self {
        let at = [HOME, AWAY][who].clone();
        let node = node_of(&world().founders[who], at, &[]).expect("a legal charter");
        let member = member_of(&world().founders[who], 0, &[]).expect("a legal charter");
        let now = Instant(1_000_000);
        let dice = Dice((51 + who as u64) << 20);
        let mut player =
            Self { now, player: Embedded::new(node, member), dice, out: VecDeque::new(), heard: Vec::new() };
        player.take(Input::Clock(NOW));
        player.take(Input::Command(Command::Join { group: world().group() }));
        player
    }

    fn take(&mut self, input: Input<Command>) {
        self.player.handle(self.now, input, &mut self.dice);
        let mut count = 0;
        while let Some(output) = self.player.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                Output::Transmit(HOME | AWAY, bytes) => self.out.push_back(bytes),
                Output::Event(Event::Message { payload, .. }) => self.heard.push(payload),
                _ => {}
            }
        }
    }

    /// A datagram comes from there. Of what goes out, no more than this is kept.
    pub fn datagram(&mut self, from: Locator, bytes: Bytes) {
        self.take(Input::Datagram(from, bytes));
        self.out.truncate(4_096);
    }

    /// Time passes.
    pub fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
        if self.player.poll_timeout().is_some_and(|at| at <= self.now) {
            self.take(Input::Timeout);
        }
    }
}

/// Both stacks: datagrams from anywhere, time, own messages. Nobody has a key here, so nothing is
/// heard but oneself.
pub fn embedded_stranger(data: &[u8]) {
    let mut player = Player::new(0);
    for (op, body) in steps(data) {
        match op % 8 {
            6 => {
                let group = world().group();
                player.take(Input::Command(Command::Send {
                    group,
                    service: Service::Agreed,
                    payload: owned(body),
                    signed: false,
                }));
            }
            7 => player.pass(Duration::from_millis(number(body))),
            place => player.datagram(Locator::memory(u32::from(place) + 2), owned(body)),
        }
        player.out.truncate(64);
    }
    let nobody: Option<NodeId> = world()
        .founders
        .iter()
        .skip(1)
        .map(Identity::node)
        .find(|node| player.player.ground.locator(node).is_some());
    assert_eq!(nobody, None, "a link without a key");
}

/// Two founders with all stacks, and somebody on the wire between them: honest play, and datagrams
/// cut, changed, repeated, invented. Whatever is heard was said.
pub fn embedded_pair(data: &[u8]) {
    let mut players = [Player::new(0), Player::new(1)];
    players[0].take(Input::Command(Command::Dial(AWAY)));
    let mut last = Bytes::new();
    for (op, body) in steps(data).take(24) {
        match op % 6 {
            0 => play(&mut players, number(body).min(600)),
            1 | 2 => {
                let from = usize::from(op % 6 - 1);
                if let Some(bytes) = players[from].out.pop_front() {
                    last = bytes.clone();
                    players[1 - from].datagram([HOME, AWAY][from].clone(), changed(&bytes, body));
                }
            }
            3 => players[0].datagram(AWAY, last.clone()),
            4 => players[0].datagram(AWAY, owned(body)),
            _ => {
                let send = Command::Send {
                    group: world().group(),
                    service: Service::Safe,
                    payload: said(op),
                    signed: op % 2 == 1,
                };
                players[usize::from(op >> 7)].take(Input::Command(send));
            }
        }
    }
    for player in &players {
        assert!(
            player.heard.iter().all(|word| word.first().is_some_and(|op| *word == said(*op))),
            "never said"
        );
    }
}

/// What the applications say: a word of 40 bytes, by its first.
fn said(op: u8) -> Bytes {
    vec![op; 40].into()
}

fn changed(genuine: &Bytes, body: &[u8]) -> Bytes {
    let mut bytes = genuine.to_vec();
    let place = usize::try_from(number(body)).unwrap() % bytes.len().max(1);
    match body.get(2) {
        Some(mask) => bytes[place] ^= mask,
        None => bytes.truncate(place),
    }
    bytes.into()
}

fn play(players: &mut [Player; 2], milliseconds: u64) {
    for _ in 0..milliseconds.div_ceil(5) {
        for from in [0, 1] {
            while let Some(bytes) = players[from].out.pop_front() {
                players[1 - from].datagram([HOME, AWAY][from].clone(), bytes);
            }
        }
        players.iter_mut().for_each(|player| player.pass(Duration::from_millis(5)));
    }
}

/// Seeds: an undisturbed talk of two founders (that it is one, is checked), and a disturbed one.
pub(crate) fn pair_seeds() -> Vec<Vec<u8>> {
    let mut players = [Player::new(0), Player::new(1)];
    players[0].take(Input::Command(Command::Dial(AWAY)));
    play(&mut players, 1_500);
    let send =
        Command::Send { group: world().group(), service: Service::Safe, payload: said(5), signed: true };
    players[0].take(Input::Command(send));
    play(&mut players, 600);
    assert_eq!(players[1].heard, [said(5)], "two honest founders talk");
    let calm = script([(0, vec![2, 0]), (0, vec![2, 0]), (0, vec![2, 0]), (5, vec![]), (0, vec![1, 0])]);
    let rough = script([
        (0, vec![0, 20]),
        (1, vec![0, 30, 1]),
        (2, vec![0, 9]),
        (0, vec![1, 90]),
        (5, vec![]),
        (3, vec![]),
        (4, vec![1, 5, 0, 0, 0, 1]),
        (0, vec![2, 0]),
    ]);
    vec![calm, rough]
}

#[cfg(test)]
mod tests {
    use super::{above_after, linked_after, member_seeds, node_seeds};
    use crate::{admission, orders};

    #[test]
    fn a_seed_leads_the_node_to_learn_an_admission() {
        let [ring, ..] = orders::ring_seeds();
        let [admission, ..] = admission::admission_seeds();
        let [_, talks] = node_seeds(&ring, &admission);
        let linked: Vec<_> = talks.iter().filter_map(|talk| linked_after(talk)).collect();
        let members: Vec<usize> =
            linked.iter().map(|linked| linked.node.transcript().roster().len()).collect();
        assert_eq!(members, [3, 4, 3]);
    }

    #[test]
    fn seeds_lead_a_program_to_an_admission_and_to_views() {
        let [admission, ..] = admission::admission_seeds();
        let lives: Vec<_> = member_seeds(&admission).iter().filter_map(|seed| above_after(seed)).collect();
        let rosters: Vec<_> = lives.iter().map(|above| above.member.transcript().roster().len()).collect();
        assert_eq!(rosters, [3, 4, 3, 3, 3, 3, 3, 4, 3]);
        // Both are alone at first. The second then waits for a step of its member's other program.
        let keys = |above: &super::Above| (above.views.clone(), above.order);
        assert_eq!([4, 5].map(|life| keys(&lives[life])), [(vec![1], 1), (vec![1], 2)]);
    }
}
