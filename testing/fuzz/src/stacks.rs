//! The stacks: a node with a peer that has a real link and says anything, and both stacks together
//! as a program embeds them.

use crate::script::{Dice, number, owned, script, steps};
use crate::world::{NOW, world};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::{Embedded, Ground, GroundOutput, Input, Output, ToMember, ToNode};
use folkmoot_base::{
    ConfigurationId, Instant, Join, Locator, NodeId, Party, Said, Says, Service, StoreKey, Word, digest,
};
use folkmoot_identity::{Identity, Prover};
use folkmoot_link::{self as link, Channel, IdentityCredentials, Links};
use folkmoot_member::{Command, Config as MemberConfig, Event, Member};
use folkmoot_node::{Config as NodeConfig, Node, Sync};
use folkmoot_transcript::Have;
use std::collections::VecDeque;

/// More outputs than this at once, and a peer could flood the caller.
pub(crate) const OUTPUTS_MAX: usize = 20_000;
pub(crate) const HOME: Locator = Locator::memory(1);
pub(crate) const AWAY: Locator = Locator::memory(2);
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
    /// The number of the last word of a party.
    number: u64,
}

impl Linked {
    fn new(peer: &Identity) -> Self {
        let mut dice = Dice(43);
        let links =
            Links::new(link::Config::new(world().group()), IdentityCredentials::new(peer.clone()), &mut dice);
        let node = node_of(&world().founders[0], HOME, &[]).expect("a legal charter");
        let mut linked = Self { now: Instant(1_000_000), node, peer: links, dice, outputs: 0, number: 0 };
        let parties = PORTS.map(|port| Party::new(world().founders[0].member(), port));
        for party in parties {
            linked.node.member(
                linked.now,
                ToNode::Attach { party, charter: world().group() },
                &mut linked.dice,
            );
        }
        let dialled =
            linked.peer.handle(linked.now, link::Input::Dial { at: HOME, node: None }, &mut linked.dice);
        dialled.expect("the first dial");
        linked.carry();
        assert!(linked.node.locator(&peer.node()).is_some(), "an honest handshake ends");
        linked
    }

    /// Both parties join in this configuration.
    fn join(&mut self, configuration: ConfigurationId) {
        let host = &world().founders[0];
        let says = Says::Join(Join { group: world().group(), node: host.node(), configuration });
        for port in PORTS {
            self.number += 1;
            let party = Party::new(host.member(), port);
            let word = Word { party, number: self.number, says: says.clone() };
            let said = Said::sign(word, &Prover::new(host.key().clone()));
            self.node.member(self.now, ToNode::Word(Box::new(said)), &mut self.dice);
        }
    }

    /// Carries datagrams until there are none. The peer's machine hears, and answers nothing by
    /// itself.
    fn carry(&mut self) {
        for _ in 0..64 {
            let mut quiet = true;
            while let Some(output) = self.peer.poll_output() {
                match output {
                    link::Output::Transmit { datagram, .. } | link::Output::Probe { datagram, .. } => {
                        quiet = false;
                        self.node.datagram(self.now, AWAY, datagram.into(), &mut self.dice);
                    }
                    link::Output::Up { node, .. } => {
                        let standing = link::Input::Standing { node, member: true };
                        let _ = self.peer.handle(self.now, standing, &mut self.dice);
                    }
                    _ => {}
                }
            }
            let mut began = None;
            while let Some(output) = self.node.poll_output() {
                self.outputs += 1;
                assert!(self.outputs <= OUTPUTS_MAX, "no end of outputs");
                if let GroundOutput::Member(ToMember::Configuration { id, .. }) = &output {
                    quiet = false;
                    began = Some(*id);
                }
                if let GroundOutput::Transmit(AWAY, bytes) | GroundOutput::Probe(AWAY, bytes) = output {
                    quiet = false;
                    let _ = self.peer.handle(
                        self.now,
                        link::Input::Datagram { from: HOME, bytes: bytes.into() },
                        &mut self.dice,
                    );
                }
            }
            if let Some(configuration) = began {
                self.join(configuration);
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
                Output::Transmit(HOME | AWAY, bytes) | Output::Probe(HOME | AWAY, bytes) => {
                    self.out.push_back(bytes)
                }
                Output::Event(Event::Message { payload, .. }) => self.heard.push(payload),
                _ => {}
            }
        }
    }

    /// A datagram comes from there. Of what goes out, no more than this is kept.
    pub fn datagram(&mut self, from: Locator, bytes: Bytes) {
        self.take(Input::Datagram(from, bytes.into()));
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
    use super::{linked_after, node_seeds};
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
}
