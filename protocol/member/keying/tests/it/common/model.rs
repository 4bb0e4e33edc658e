//! The model: there is one ordered log for each view; members that move on together read all of it;
//! flush requests come at any time.

use super::{GROUP, Over, Seeded, Stamper, member, number, view_id};
use bytes::Bytes;
use folkmoot_base::{Cause, Danger, Instant, Keying as KeyingRule, ModuleName, Party, Service, ViewId};
use folkmoot_keying::{Config, Input, Keying, Output, SecureView, State, Terms, View};
use std::collections::{BTreeMap, BTreeSet};

/// When the transitional signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Only when a member goes.
    OnRemoval,
    /// At every change.
    Always,
}

#[derive(Clone)]
struct Item {
    id: u64,
    sender: Party,
    service: Service,
    bytes: Bytes,
    /// An entry of the transcript, not a message: it removes this member from the roster.
    expels: Option<usize>,
}

/// Members that were in one view together and still are.
struct Room {
    view: Option<ViewId>,
    members: BTreeSet<usize>,
    log: Vec<Item>,
    /// Entries before this one are held by all members of the view: SAFE ones may be delivered.
    stable: usize,
    signal: Option<usize>,
    changing: bool,
    /// A member is off the roster, and the notice that says so is still to come.
    owed: bool,
}

struct Node {
    alive: bool,
    keying: Keying,
    stored: Option<Vec<u8>>,
    read: usize,
    signalled: bool,
    requested: bool,
    answered: bool,
    /// What it said that it keeps when it last answered a flush.
    brings: Bytes,
    asked: bool,
    delivered: BTreeSet<u64>,
    signals: u32,
    installed: BTreeMap<ViewId, SecureView>,
    refreshed: BTreeMap<ViewId, Vec<[u8; 32]>>,
    /// The members that its roster has lost.
    off: BTreeSet<usize>,
}

#[derive(Clone, Copy)]
enum Action {
    Read(usize),
    Request(usize),
    Answer(usize),
    Stabilise(usize),
    Form(usize),
    Refresh(usize),
    Notice(usize),
    Change,
}

pub struct World {
    draw: Seeded,
    danger: Option<Danger>,
    mode: Signal,
    terms: Terms,
    nodes: Vec<Node>,
    rooms: Vec<Room>,
    target: Vec<BTreeSet<usize>>,
    /// Expelled after the answers for the next view were given, together with another member that
    /// had answered: the view lists them all the same.
    ghosts: Vec<(usize, usize)>,
    expelled: BTreeSet<usize>,
    next_view: u64,
    next_entry: u64,
    changes: usize,
    refreshes: usize,
    now: Instant,
    /// The key of each installed view, and the entries that decided it.
    keys: BTreeMap<ViewId, [u8; 32]>,
    deciding: BTreeMap<ViewId, BTreeSet<u64>>,
    used: BTreeMap<[u8; 32], (ViewId, usize)>,
    instances: BTreeSet<(Party, Vec<u8>)>,
    left: Vec<(usize, ViewId)>,
    /// Which members had the key of which view, including dead members.
    keyed: BTreeSet<(usize, ViewId)>,
    pub secure_views: usize,
    pub refreshed: usize,
    pub keyless: usize,
}

mod change;
mod oracles;

type Checked = Result<(), String>;

fn fresh(number: usize, stored: Option<Vec<u8>>, danger: Option<Danger>) -> Node {
    let config = Config { danger: danger.into(), ..Config::default() };
    let keying = Keying::new(member(number), GROUP, config, stored.as_deref()).unwrap();
    Node {
        alive: true,
        keying,
        stored,
        read: 0,
        signalled: false,
        requested: true,
        answered: true,
        brings: Bytes::new(),
        asked: false,
        delivered: BTreeSet::new(),
        signals: 0,
        installed: BTreeMap::new(),
        refreshed: BTreeMap::new(),
        off: BTreeSet::new(),
    }
}

/// The result of a schedule.
#[derive(Debug, Default)]
pub struct Told {
    pub views: usize,
    pub refreshed: usize,
    /// Views that got no key.
    pub keyless: usize,
}

/// Plays one schedule: the changes stop in the end, and then every member must be secure.
pub fn play(seed: u64, mode: Signal, danger: Option<Danger>) -> Result<Told, String> {
    play_with(ModuleName::Gdh, seed, mode, danger)
}

/// The same with another module.
pub fn play_with(
    module: ModuleName,
    seed: u64,
    mode: Signal,
    danger: Option<Danger>,
) -> Result<Told, String> {
    let mut draw = Seeded(seed);
    let size = draw.between(1, 6);
    let mut world = World {
        changes: draw.between(1, 7),
        refreshes: draw.below(3),
        draw,
        danger,
        mode,
        terms: Terms { charter_version: 1, keying: KeyingRule::Module(module), ..Terms::default() },
        nodes: (0..size).map(|number| fresh(number, None, danger)).collect(),
        rooms: (0..size).map(alone).collect(),
        target: vec![(0..size).collect()],
        ghosts: Vec::new(),
        expelled: BTreeSet::new(),
        next_view: 1,
        next_entry: 0,
        now: Instant(0),
        keys: BTreeMap::new(),
        deciding: BTreeMap::new(),
        used: BTreeMap::new(),
        instances: BTreeSet::new(),
        left: Vec::new(),
        keyed: BTreeSet::new(),
        secure_views: 0,
        refreshed: 0,
        keyless: 0,
    };
    world.run()?;
    Ok(Told { views: world.secure_views, refreshed: world.refreshed, keyless: world.keyless })
}

fn alone(number: usize) -> Room {
    Room {
        view: None,
        members: BTreeSet::from([number]),
        log: Vec::new(),
        stable: 0,
        signal: None,
        changing: true,
        owed: false,
    }
}

impl World {
    fn run(&mut self) -> Checked {
        for _ in 0..100_000 {
            let actions = self.actions();
            if actions.is_empty() {
                return self.settled();
            }
            match actions[self.draw.below(actions.len())] {
                Action::Read(node) => self.read(node)?,
                Action::Request(node) => {
                    self.nodes[node].requested = true;
                    self.give(node, Input::FlushRequest, None)?;
                }
                Action::Answer(node) => {
                    self.nodes[node].asked = false;
                    self.give(node, Input::SecureFlushOk, None)?;
                }
                Action::Stabilise(room) => {
                    let room = &mut self.rooms[room];
                    room.stable = self.draw.between(room.stable + 1, room.log.len());
                }
                Action::Form(part) => self.form(part)?,
                Action::Refresh(node) => {
                    self.refreshes -= 1;
                    self.give(node, Input::Refresh, None)?;
                }
                Action::Notice(room) => self.notice(room),
                Action::Change => self.change(),
            }
        }
        Err("no end".into())
    }

    fn room_of(&self, node: usize) -> usize {
        self.rooms.iter().position(|room| room.members.contains(&node)).unwrap()
    }

    fn readable(&self, node: usize) -> bool {
        let (node_state, room) = (&self.nodes[node], &self.rooms[self.room_of(node)]);
        if room.signal == Some(node_state.read) && !node_state.signalled {
            return true;
        }
        room.log.get(node_state.read).is_some_and(|entry| {
            entry.service != Service::Safe || node_state.read < room.stable || room.signal.is_some()
        })
    }

    fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.alive) {
            let room = &self.rooms[self.room_of(number)];
            if self.readable(number) {
                actions.extend([Action::Read(number); 3]);
            }
            if room.changing && !node.requested {
                actions.push(Action::Request(number));
            }
            if node.asked {
                actions.push(Action::Answer(number));
            }
            if self.refreshes > 0 && node.keying.state() == State::Secure {
                actions.push(Action::Refresh(number));
            }
        }
        for (place, room) in self.rooms.iter().enumerate() {
            if room.signal.is_none() && room.stable < room.log.len() {
                actions.extend([Action::Stabilise(place); 2]);
            }
            if room.owed {
                actions.push(Action::Notice(place));
            }
        }
        actions.extend((0..self.target.len()).filter(|part| self.formable(*part)).map(Action::Form));
        if self.changes > 0 && (actions.is_empty() || self.next_entry.is_multiple_of(3)) {
            actions.push(Action::Change);
        }
        actions
    }

    fn formable(&self, part: usize) -> bool {
        let part = &self.target[part];
        part.iter().all(|number| {
            let (node, room) = (&self.nodes[*number], &self.rooms[self.room_of(*number)]);
            let done = node.read == room.log.len() && (room.signal.is_none() || node.signalled);
            room.changing && node.answered && done
        }) && !part.is_empty()
    }

    fn read(&mut self, number: usize) -> Checked {
        let at = self.room_of(number);
        let (node, room) = (&mut self.nodes[number], &self.rooms[at]);
        if room.signal == Some(node.read) && !node.signalled {
            node.signalled = true;
            return self.give(number, Input::TransitionalSignal, None);
        }
        let entry = room.log[node.read].clone();
        node.read += 1;
        node.delivered.insert(entry.id);
        if let Some(gone) = entry.expels {
            node.off.insert(gone);
            return Ok(());
        }
        let message = Input::Message { sender: entry.sender, bytes: entry.bytes };
        self.give(number, message, Some(entry.id))
    }

    fn give(&mut self, number: usize, input: Input, by: Option<u64>) -> Checked {
        let mut entropy = Seeded(self.draw.next());
        let node = &mut self.nodes[number];
        let result =
            node.keying.handle(self.now, input, &Over(Stamper(number), &node.off, self.terms), &mut entropy);
        match result {
            Ok(()) | Err(folkmoot_keying::KeyingError::WireStale) => {}
            Err(error) => return Err(format!("member {number} refuses: {error}")),
        }
        while let Some(output) = self.nodes[number].keying.poll_output() {
            self.output(number, output, by)?;
        }
        let at = self.room_of(number);
        if let Some(view) = self.rooms[at].view
            && matches!(self.nodes[number].keying.state(), State::Confirming | State::Secure)
        {
            self.keyed.insert((number, view));
        }
        Ok(())
    }

    fn output(&mut self, number: usize, output: Output, by: Option<u64>) -> Checked {
        match output {
            Output::Send { service, bytes } => {
                if self.nodes[number].answered {
                    return Err(format!("member {number} sends after its flush is answered"));
                }
                let at = self.room_of(number);
                let entry = self.entry(number, service, bytes, None);
                self.rooms[at].log.push(entry);
            }
            Output::FlushOk { brings } => {
                self.nodes[number].answered = true;
                self.nodes[number].brings = brings;
            }
            Output::SecureFlushRequest => self.nodes[number].asked = true,
            Output::SecureTransitional => {
                self.nodes[number].signals += 1;
                if self.nodes[number].signals > 1 {
                    return Err("two transitional signals for one secure view".into());
                }
            }
            Output::Persist(persist) => {
                let value = persist.value.unwrap().to_vec();
                if !self.instances.insert((member(number), value.clone())) {
                    return Err("an instance number came twice".into());
                }
                self.nodes[number].stored = Some(value);
            }
            Output::SecureView(view) => self.install(number, view, by)?,
            Output::Refreshed { view, epoch } => {
                let key = *epoch.key.expose();
                let list = self.nodes[number].refreshed.entry(view).or_default();
                list.push(key);
                let rank = list.len();
                self.refreshed += 1;
                self.use_key(key, (view, rank))?;
                let members = self.nodes[number].installed[&view].members.clone();
                self.rostered(number, &members)?;
            }
            Output::Complain { .. } => return Err("a complaint though nobody was silent".into()),
            Output::Trace(_) => {}
        }
        Ok(())
    }

    fn entry(&mut self, sender: usize, service: Service, bytes: Bytes, expels: Option<usize>) -> Item {
        let id = self.next_entry;
        self.next_entry += 1;
        Item { id, sender: member(sender), service, bytes, expels }
    }

    /// All members of this part have answered and read everything: the next view.
    fn form(&mut self, part: usize) -> Checked {
        let part = self.target[part].clone();
        self.moved_together(&part)?;
        let id = view_id(self.next_view);
        self.next_view += 1;
        self.meet(&part);
        let (ghosts, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.ghosts).into_iter().partition(|(_, with)| part.contains(with));
        self.ghosts = rest;
        let listed: BTreeSet<usize> =
            part.iter().copied().chain(ghosts.iter().map(|(gone, _)| *gone)).collect();
        let members: Vec<_> = listed.iter().map(|number| member(*number)).collect();
        let mut came = BTreeMap::new();
        for number in &part {
            let room = &self.rooms[self.room_of(*number)];
            let mut together = room.members.clone();
            together
                .extend(ghosts.iter().filter(|(_, with)| room.members.contains(with)).map(|(gone, _)| *gone));
            let together: Vec<_> = together.iter().map(|number| member(*number)).collect();
            came.insert(*number, together);
            if let Some(view) = room.view {
                self.left.push((*number, view));
            }
        }
        self.rooms.retain(|room| room.members.is_disjoint(&part));
        self.rooms.push(Room {
            view: Some(id),
            members: part.clone(),
            log: Vec::new(),
            stable: 0,
            signal: None,
            changing: false,
            owed: !ghosts.is_empty(),
        });
        self.keyless += usize::from(!ghosts.is_empty());
        for number in &part {
            let node = &mut self.nodes[*number];
            (node.read, node.signalled, node.requested, node.answered) = (0, false, false, false);
        }
        let brought: Vec<Bytes> = listed.iter().map(|number| self.nodes[*number].brings.clone()).collect();
        for (number, transitional_set) in came {
            let (members, brought) = (members.clone(), brought.clone());
            let last = members[0];
            let view = View { id, members, transitional_set, brought, last, cause: Cause::Network };
            self.give(number, Input::View(view), None)?;
        }
        Ok(())
    }

    /// Members that meet have made their transcripts equal before.
    fn meet(&mut self, part: &BTreeSet<usize>) {
        let off: BTreeSet<usize> = part.iter().flat_map(|number| self.nodes[*number].off.clone()).collect();
        part.iter().for_each(|number| self.nodes[*number].off.clone_from(&off));
    }
}

fn number_of(member: &Party) -> usize {
    number(member)
}
