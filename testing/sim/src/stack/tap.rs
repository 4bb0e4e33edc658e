//! Two taps in attach. One is a node that does what the shipped node does, and says what the ring
//! did and what went up. The other is a member ([`Desk`]) that does what the shipped member does,
//! and says what it sealed and what it knew when it did.
//!
//! What they see goes out in order among the stacks' own outputs. Each [`Seen`] is announced by a
//! trace line of the layer [`MARK`], which the actor swaps for it. Two liars need a place between
//! the stacks, and are here: a member that leaves out a step, and a node that was broken into.

use super::company::{Names, bit};
use super::forger::{Forger, Rumours};
use super::kind::{self, Kind};
use super::scribe::sharing_name;
use super::words;
use crate::machine::{Crooked, Mute, Told, is_second};
use crate::record::{Player, RingEvent, RingMessage};
use crate::rng::Rng;
use crate::word::Word;
use bytes::{Bytes, BytesMut};
use folkmoot_attach::{Ground, GroundOutput, Resolved, ToMember, ToNode, Trace, Upper, UpperOutput};
use folkmoot_base::{Digest, Entropy, Indication, Instant, Locator, NodeId, Party, Service, Train, UnixTime};
use folkmoot_identity::VoteKind;
use folkmoot_member::{Command, Event, Member};
use folkmoot_node::Node;
use folkmoot_signing::shared;
use folkmoot_transcript::{Change, Item, Subject};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The layer of the lines that stand for something seen.
pub const MARK: &str = "~";

/// What passed between the stacks.
#[derive(Debug)]
pub enum Seen {
    /// To be told; by the second program, or by the first.
    Told(bool, Told),
    /// A sealed application message of the second program, or of the first, went down.
    Sealed(bool),
}

/// What the taps saw, by the number that stands in the mark.
#[derive(Debug, Default)]
pub struct Marks {
    next: u64,
    seen: BTreeMap<u64, Seen>,
}

/// Shared by the two taps and the actor.
pub type Board = Arc<Mutex<Marks>>;

/// The step that a member leaves out, if any; of all its programs.
#[derive(Debug, Clone, Default)]
pub(super) struct Silence(Arc<Mutex<Option<Mute>>>);

impl Silence {
    pub(super) fn set(&self, step: Option<Mute>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }

    fn get(&self) -> Option<Mute> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes `seen`; the line that stands for it.
fn mark(board: &Board, seen: Seen) -> Trace {
    let mut marks = open(board);
    let number = marks.next;
    marks.next = number.saturating_add(1);
    marks.seen.insert(number, seen);
    Trace { layer: MARK, text: number.to_string() }
}

/// What the line stands for.
pub fn unmark(board: &Board, line: &Trace) -> Option<Seen> {
    open(board).seen.remove(&line.text.parse().ok()?)
}

fn open(board: &Board) -> MutexGuard<'_, Marks> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The node, observed.
pub struct Tap {
    /// The node.
    pub node: Node,
    pub(super) crooked: Option<Crooked>,
    /// What both taps of one life saw.
    pub board: Board,
    names: Arc<Names>,
    /// Where everything is noted that programs say, if there is a carrier that forges.
    pub(super) rumours: Option<Rumours>,
    /// What the node does if it is that carrier.
    pub(super) forger: Option<Forger>,
    rng: Rng,
    out: VecDeque<GroundOutput>,
}

impl Tap {
    /// A tap for this life of this player.
    pub fn new(mut node: Node, (player, life): (Player, u16), names: Arc<Names>) -> Self {
        node.observe();
        Self {
            node,
            crooked: None,
            board: Board::default(),
            names,
            rumours: None,
            forger: None,
            rng: Rng::new(u64::from(player), "crooked", u64::from(life)),
            out: VecDeque::new(),
        }
    }

    fn tell(&mut self, told: Told) {
        let line = mark(&self.board, Seen::Told(false, told));
        self.out.push_back(GroundOutput::Trace(line));
    }

    fn ring_events(&mut self, events: Vec<folkmoot_node::RingEvent>) {
        for event in events {
            if let folkmoot_node::RingEvent::Sealed { key, nonce } = &event {
                self.tell(Told::Used("nonce of a ring key", [&key[..], nonce].concat()));
            }
            if let folkmoot_node::RingEvent::Unreliable { digest } = &event {
                self.tell(Told::Used("unreliable packet", digest.to_vec()));
            }
            if let folkmoot_node::RingEvent::Keys { contributed: Some(name), .. } = &event {
                self.tell(Told::Used("contribution to a ring key", name.to_vec()));
            }
            if let Some(event) = self.ring_event(event) {
                self.tell(Told::Ring(event));
            }
        }
    }

    fn ring_event(&self, event: folkmoot_node::RingEvent) -> Option<RingEvent> {
        let me = || self.names.at_node(&self.node.id());
        Some(match event {
            folkmoot_node::RingEvent::Sealed { .. } | folkmoot_node::RingEvent::Unreliable { .. } => {
                return None;
            }
            // What has no place is not looked at here: the ring's own harness does that.
            folkmoot_node::RingEvent::Submitted { service, .. } if service < Service::Agreed => return None,
            folkmoot_node::RingEvent::Keys { attempt, kept, .. } => RingEvent::Keys(kept, attempt),
            folkmoot_node::RingEvent::Submitted { digest, party, .. } => {
                RingEvent::Sent(named(me()?, digest), party)
            }
            folkmoot_node::RingEvent::Delivered { configuration, order, sender, service, digest, .. } => {
                let sender = self.names.at_node(&sender)?;
                let number = order?;
                RingEvent::Delivered { message: named(sender, digest), configuration, number, service }
            }
            folkmoot_node::RingEvent::Transitional { from, survivors } => {
                RingEvent::Transitional { from, nodes: self.players(&survivors) }
            }
            folkmoot_node::RingEvent::Regular { id, members } => {
                RingEvent::Regular(id, self.players(&members))
            }
        })
    }

    fn players(&self, nodes: &[NodeId]) -> std::collections::BTreeSet<Player> {
        nodes.iter().filter_map(|node| self.names.at_node(node)).collect()
    }

    /// Looks at what the node hands up; a crooked node changes it.
    fn look_up(&mut self, to: Option<Party>, word: ToMember) {
        match word {
            ToMember::Group(Indication::Deliver { group, sender, service, payload })
                if self.crooked.is_some() =>
            {
                for payload in self.bend(payload.freeze()) {
                    let payload = payload.into();
                    let word = ToMember::Group(Indication::Deliver { group, sender, service, payload });
                    self.out.push_back(match to {
                        Some(party) => GroundOutput::To(party, word),
                        None => GroundOutput::Member(word),
                    });
                }
            }
            word => self.out.push_back(match to {
                Some(party) => GroundOutput::To(party, word),
                None => GroundOutput::Member(word),
            }),
        }
    }

    /// What a crooked node makes of a sealed message; other payloads it leaves alone.
    fn bend(&mut self, payload: Bytes) -> Vec<Bytes> {
        if !matches!(kind::of(&payload), Kind::Sealed(..)) || !self.rng.chance(300_000) {
            return vec![payload];
        }
        match self.crooked {
            Some(Crooked::Repeats) => vec![payload.clone(), payload],
            Some(Crooked::Alters) => {
                let mut bytes = payload.to_vec();
                if let Some(last) = bytes.iter_mut().rev().nth(20) {
                    *last ^= 1;
                }
                vec![bytes.into()]
            }
            None => vec![payload],
        }
    }
}

/// The member, observed.
pub struct Desk {
    /// The member.
    pub member: Member,
    /// Shared with the actor.
    pub(super) mute: Silence,
    second: bool,
    /// Whether it is of a group that is only there: nothing of it is told.
    quiet: bool,
    board: Board,
    names: Arc<Names>,
    out: VecDeque<UpperOutput<Event>>,
    gone: u8,
    instance: Vec<u8>,
    /// Sharings that it has approved and not yet shown.
    approved: BTreeSet<Subject>,
}

impl Desk {
    /// A tap on the member above that node: the second program there, or the first.
    pub fn new(member: Member, second: bool, below: &Tap, names: Arc<Names>) -> Self {
        Self {
            member,
            mute: Silence::default(),
            second,
            quiet: false,
            board: Arc::clone(&below.board),
            names,
            out: VecDeque::new(),
            gone: 0,
            instance: Vec::new(),
            approved: BTreeSet::new(),
        }
    }

    /// The same for a member of a group that is only there.
    pub(super) fn quiet(member: Member, below: &Tap, names: Arc<Names>) -> Self {
        Self { quiet: true, ..Self::new(member, true, below, names) }
    }

    fn mark(&mut self, seen: Seen) {
        if self.quiet {
            return;
        }
        let line = mark(&self.board, seen);
        self.out.push_back(UpperOutput::Trace(line));
    }

    fn tell(&mut self, told: Told) {
        self.mark(Seen::Told(self.second, told));
    }

    fn note(&mut self, word: Option<Word>) {
        word.map(Told::Word).into_iter().for_each(|told| self.tell(told));
    }

    /// Takes over what the member has to say, so that marks made from now on come after it.
    fn drain(&mut self) {
        while let Some(output) = self.member.poll_output() {
            let goes_on = match &output {
                UpperOutput::Node(ToNode::Send { payload, .. }) => {
                    let goes_on = self.look_down(payload);
                    if let Some(decision) = kind::judged(payload).filter(|_| goes_on) {
                        self.tell(Told::Judged(super::scribe::short(&decision)));
                    }
                    goes_on
                }
                UpperOutput::Node(ToNode::Item(_, item)) => self.look_at_item(item),
                UpperOutput::Node(ToNode::Word(said)) => {
                    self.note(words::said(said, &self.names));
                    true
                }
                _ => true,
            };
            if goes_on {
                self.out.push_back(output);
            }
        }
    }

    /// Looks at what the member sends; whether it goes on.
    fn look_down(&mut self, payload: &Bytes) -> bool {
        match kind::of(payload) {
            Kind::Sealed(header, sealed) => {
                self.mark(Seen::Sealed(self.second));
                let program = [u8::from(self.second)];
                self.tell(Told::Used("nonce", [&self.member.id().0, &program[..], header].concat()));
                self.tell(Told::Crossing(payload.slice_ref(sealed)));
                true
            }
            Kind::Step(step, run) => {
                if let Some(run) = run.filter(|run| run.instance != self.instance) {
                    self.instance = run.instance.to_vec();
                    self.tell(Told::Used("instance id", run.instance.to_vec()));
                }
                let muted = self.mute.get() == Some(step);
                if let Some(view) = kind::confirmed(step, run).filter(|_| !muted) {
                    self.tell(Told::Confirmed(view));
                }
                // It has its view whether it says so or not.
                if step == Mute::FlushReceived || step == Mute::FlushOk && !muted {
                    self.note(words::flushed(payload));
                }
                !muted
            }
            Kind::Other => true,
        }
    }

    /// Looks at an item that the member hands to its node; whether it goes on. A member that leaves
    /// out what admission says leaves out its items, too.
    fn look_at_item(&mut self, item: &Bytes) -> bool {
        let muted = self.mute.get() == Some(Mute::Admission);
        if let Some((sharing, whole)) = self.backed(item).filter(|_| !muted) {
            self.tell(Told::Backed(sharing, whole));
        }
        !muted
    }

    /// The sharing that this item approves, once it is known which that is, and whether one share
    /// of it is the key.
    fn backed(&mut self, item: &Bytes) -> Option<(String, bool)> {
        let effect = match Item::decode(item).ok()? {
            Item::Approval(word) if word.approval.subject.kind == VoteKind::Sharing => {
                let (approval, set) = (word.approval, self.member.transcript().set());
                let known = set.effect(&approval.subject).cloned().filter(|_| approval.is_yes());
                if known.is_none() && approval.is_yes() {
                    self.approved.insert(approval.subject);
                }
                known?
            }
            Item::Effect(effect) => Some(effect).filter(|effect| self.approved.remove(&effect.subject()))?,
            _ => return None,
        };
        let Change::Sharing { public, .. } = &effect.change else { return None };
        let scheme = self.member.transcript().roster().founding_charter().scheme();
        let threshold = shared::facts(scheme, &public.0).ok()?.threshold;
        Some((sharing_name(&public.0), threshold == 1))
    }

    /// Who has the key of which view, by what the member is about to hear.
    fn look_up(&mut self, sender: &Party, payload: &[u8]) {
        if let Kind::Step(step, run) = kind::of(payload)
            && let (Some(view), Some(player)) = (kind::confirmed(step, run), self.names.seat(sender))
        {
            self.tell(Told::Heard(view, player));
        }
        if let (Kind::Step(Mute::FlushOk, _), Some(player)) = (kind::of(payload), self.names.seat(sender)) {
            self.note(words::heard(player, payload));
        }
    }

    /// Who is in the group, and who no more, by the notice that the member is about to hear.
    fn look_at_notice(&mut self, members: &[Party], removed: &[Party]) {
        // Keys are a program's own: who is gone without its second program is gone.
        let removed: Vec<Player> = self.names.seated(removed);
        for player in removed.into_iter().filter(|player| !is_second(*player)) {
            self.gone |= bit(player);
            self.tell(Told::Gone(player));
        }
        let members: Vec<Player> = self.names.seated(members);
        for player in members.into_iter().filter(|player| self.gone & bit(*player) != 0).collect::<Vec<_>>() {
            self.gone &= !bit(player);
            self.tell(Told::Back(player));
        }
    }

    /// Whom the item that the member has just heard took off the roster: gone from its place on,
    /// whenever the notice comes.
    fn look_at_roster(&mut self) {
        let formers = self.member.transcript().roster().formers();
        let gone: Vec<Player> = self.names.players(formers.keys());
        for player in gone.into_iter().filter(|player| self.gone & bit(*player) == 0).collect::<Vec<_>>() {
            self.gone |= bit(player);
            self.tell(Told::Gone(player));
        }
    }
}

impl Upper for Desk {
    type Command = Command;
    type Answer = <Member as Upper>::Answer;
    type Event = Event;

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        if let ToMember::Group(indication @ Indication::Notice { members, removed, .. }) = &message {
            self.look_at_notice(members, removed);
            self.note(words::noticed(indication, &self.names));
        }
        if let ToMember::Group(Indication::Deliver { sender, payload, .. }) = &message {
            self.look_up(sender, payload);
        }
        let item = matches!(message, ToMember::Item(_));
        self.member.node(now, message, entropy);
        if item {
            self.look_at_roster();
        }
        self.drain();
    }

    fn command(&mut self, now: Instant, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        let answer = self.member.command(now, command, entropy);
        self.drain();
        answer
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.member.clock(now, time, entropy);
        self.drain();
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.member.timeout(now, entropy);
        self.drain();
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        self.drain();
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.member.poll_timeout()
    }
}

fn named(sender: Player, digest: Digest) -> RingMessage {
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(digest) {
        *to = from;
    }
    RingMessage { sender, digest: half }
}

impl Ground for Tap {
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        let word = self.rumours.as_ref().is_some_and(|rumours| rumours.note(&message));
        self.node.member(now, message, entropy);
        if let Some(forger) = self.forger.as_mut().filter(|_| word) {
            forger.hear(&mut self.node, now, entropy);
        }
    }

    fn datagram(&mut self, now: Instant, from: Locator, datagram: BytesMut, entropy: &mut dyn Entropy) {
        self.node.datagram(now, from, datagram, entropy);
    }

    fn train(&mut self, now: Instant, from: Locator, train: Train, to_all: bool, entropy: &mut dyn Entropy) {
        self.node.train(now, from, train, to_all, entropy);
    }

    fn too_long(&mut self, now: Instant, to: Locator, bytes: usize, entropy: &mut dyn Entropy) {
        self.node.too_long(now, to, bytes, entropy);
    }

    fn resolved(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        self.node.resolved(now, name, found, entropy);
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.node.clock(now, time, entropy);
        if let Some(forger) = &mut self.forger {
            forger.tick(&mut self.node, now, entropy);
        }
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.node.timeout(now, entropy);
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        // What was handed in comes before the outputs of this turn, what the ring did comes after
        // them: a crash among the outputs then leaves no effect without its cause, and no number in
        // use that is not on disk.
        let submitted =
            |event: &folkmoot_node::RingEvent| matches!(event, folkmoot_node::RingEvent::Submitted { .. });
        let (before, after) = self.node.take_events().into_iter().partition(submitted);
        self.ring_events(before);
        while let Some(output) = self.node.poll_output() {
            match output {
                GroundOutput::Member(word) => self.look_up(None, word),
                GroundOutput::To(party, word) => self.look_up(Some(party), word),
                other => self.out.push_back(other),
            }
        }
        self.ring_events(after);
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.node.poll_timeout()
    }
}
