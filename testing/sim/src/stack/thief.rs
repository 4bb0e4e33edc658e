//! The attacker that holds every former key: a node of its own for each of them.
//!
//! Its nodes speak the real link, so every guest's bound holds for them where they are guests. At a
//! member that does not know of the expulsion they have a member's standing. What they send is made
//! in [`forger`], [`friends`] and [`kept`].

mod forger;
mod friends;
mod kept;

use crate::lie::{Lie, Thief};
use crate::machine::locator;
use crate::record::Player;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_base::{Blob, Digest, Instant, Locator, NodeId, UnixTime, codec, digest};
use folkmoot_identity::Identity;
use folkmoot_link::{Channel, Config, Exchange, IdentityCredentials, Input, Links, Output};
use folkmoot_node::{ITEMS_BATCH_BYTES, PIECE_BYTES, Sync};
use folkmoot_transcript::{Transcript, is_package};
use forger::Forger;
use std::collections::{BTreeMap, VecDeque};

/// Most items that wait for one link.
const WAITING_MAX: usize = 400;

/// One of its nodes.
struct Door {
    links: Links<IdentityCredentials>,
    /// What is to be sent when a link is up there.
    waiting: BTreeMap<Locator, Vec<Bytes>>,
}

/// The attacker.
pub(super) struct Robber {
    identities: Vec<Identity>,
    forger: Forger,
    doors: BTreeMap<Player, Door>,
    /// The line that it last wrote.
    line: Option<Transcript>,
    hybrid: bool,
    rng: Rng,
    seen: Option<Digest>,
    out: VecDeque<(Player, Locator, Bytes)>,
}

impl Robber {
    pub(super) fn new(seed: u64, identities: &[Identity], hybrid: bool) -> Self {
        Self {
            identities: identities.to_vec(),
            forger: Forger::new(seed),
            doors: BTreeMap::new(),
            line: None,
            hybrid,
            rng: Rng::new(seed, "thief", 0),
            seen: None,
            out: VecDeque::new(),
        }
    }

    fn open(&mut self, key: Player) -> Option<&mut Door> {
        if !self.doors.contains_key(&key) {
            let identity = self.identities.get(usize::from(key))?.clone();
            let group = self.forger.group()?;
            let exchange = if self.hybrid { Exchange::Hybrid } else { Exchange::Classical };
            // Later than any process of those whose keys it has: it takes their links.
            let config = Config { exchange, started: u64::MAX, ..Config::new(group) };
            let links = Links::new(config, IdentityCredentials::new(identity), &mut self.rng);
            self.doors.insert(key, Door { links, waiting: BTreeMap::new() });
        }
        self.doors.get_mut(&key)
    }

    /// Takes what the links of a door have to say.
    fn drain(&mut self, now: Instant, key: Player) {
        loop {
            let Some(door) = self.doors.get_mut(&key) else { return };
            match door.links.poll_output() {
                Some(Output::Transmit { to, datagram } | Output::Probe { to, datagram }) => {
                    self.out.push_back((key, to, datagram))
                }
                Some(Output::Up { node, at, .. }) => self.up(now, key, node, at),
                Some(Output::Frame { from, channel: Channel::Transcript, frame }) => {
                    self.asked(now, key, from, &frame);
                }
                Some(_) => {}
                None => return,
            }
        }
    }

    /// A link is up: it shows where its own line stands, and sends what waits.
    fn up(&mut self, now: Instant, key: Player, node: NodeId, at: Locator) {
        let Some(door) = self.doors.get_mut(&key) else { return };
        let standing = Input::Standing { node, member: true };
        let _ = door.links.handle(now, standing, &mut self.rng);
        let items = door.waiting.remove(&at).unwrap_or_default();
        show(now, door, node, self.line.as_ref());
        tell(now, door, node, items);
    }

    /// Somebody takes it for a member, and asks what that one has.
    fn asked(&mut self, now: Instant, key: Player, node: NodeId, frame: &[u8]) {
        let Ok(Sync::Fetch(have)) = codec::decode::<Sync>(frame) else { return };
        let (Some(line), Some(door)) = (&self.line, self.doors.get_mut(&key)) else { return };
        tell(now, door, node, line.lacking_part(&have, ITEMS_BATCH_BYTES));
    }
}

/// Shows where its own line stands.
fn show(now: Instant, door: &mut Door, to: NodeId, line: Option<&Transcript>) {
    if let Some((head, set)) = line.map(Transcript::mark) {
        say(now, door, to, &Sync::Mark { head, set });
    }
}

fn say(now: Instant, door: &mut Door, to: NodeId, message: &Sync) {
    // What is lost is lost: it lies again.
    let _ = door.links.send(now, to, Channel::Transcript, &[&codec::encode(message)]);
}

/// Sends items in as many frames as it takes, a package in pieces.
fn tell(now: Instant, door: &mut Door, to: NodeId, items: Vec<Bytes>) {
    let (packages, items): (Vec<Bytes>, Vec<Bytes>) = items.into_iter().partition(|item| is_package(item));
    for package in packages.iter().filter(|package| package.len() <= PIECE_BYTES) {
        let (name, bytes) = (digest(&[package]), Blob(package.clone()));
        say(now, door, to, &Sync::Piece { name, of: 1, index: 0, bytes });
    }
    let mut batch: Vec<Blob> = Vec::new();
    let mut room = ITEMS_BATCH_BYTES;
    for item in items {
        if item.len() > room {
            say(now, door, to, &Sync::Items(std::mem::take(&mut batch)));
            room = ITEMS_BATCH_BYTES;
        }
        room = room.saturating_sub(item.len());
        batch.push(Blob(item));
    }
    if !batch.is_empty() {
        say(now, door, to, &Sync::Items(batch));
    }
}

impl Thief for Robber {
    fn see(&mut self, transcript: &Transcript) {
        let mark = transcript.digest();
        if self.seen.replace(mark) != Some(mark) {
            self.forger.see(transcript);
        }
    }

    fn steal(&mut self, player: Player) {
        if let Some(identity) = self.identities.get(usize::from(player)) {
            self.forger.steal(identity.clone());
            self.open(player);
        }
    }

    fn lie(&mut self, now: Instant, clock: UnixTime, how: Lie, to: Player) -> u64 {
        let keys: Vec<Player> = self.doors.keys().copied().collect();
        let Some(key) = self.rng.pick(&keys).copied() else { return 0 };
        let items = self.forger.make(clock, how, &self.identities, &mut self.line);
        let (count, at) = (items.len(), locator(to));
        let Some(door) = self.doors.get_mut(&key).filter(|_| count > 0) else { return 0 };
        let linked = door.links.peers().find(|(node, _)| door.links.locator(node) == Some(at.clone()));
        if let Some((node, _)) = linked {
            tell(now, door, node, items);
            show(now, door, node, self.line.as_ref());
        } else {
            let waiting = door.waiting.entry(at.clone()).or_default();
            waiting.extend(items);
            waiting.truncate(WAITING_MAX);
            let _ = door.links.handle(now, Input::Dial { at, node: None }, &mut self.rng);
        }
        self.drain(now, key);
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    fn datagram(&mut self, now: Instant, key: Player, from: Locator, bytes: Bytes) {
        let Some(door) = self.doors.get_mut(&key) else { return };
        let _ = door.links.handle(now, Input::Datagram { from, bytes: bytes.into() }, &mut self.rng);
        self.drain(now, key);
    }

    fn timeout(&mut self, now: Instant) {
        let keys: Vec<Player> = self.doors.keys().copied().collect();
        for key in keys {
            if let Some(door) = self.doors.get_mut(&key)
                && door.links.poll_timeout().is_some_and(|at| at <= now)
            {
                let _ = door.links.handle(now, Input::Timeout, &mut self.rng);
            }
            self.drain(now, key);
        }
    }

    fn poll_output(&mut self) -> Option<(Player, Locator, Bytes)> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.doors.values().filter_map(|door| door.links.poll_timeout()).min()
    }
}
