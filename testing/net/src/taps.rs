//! The two floors of a member as the engine drives them, with the simulator's taps between them:
//! what these see goes into the log, in order.

use crate::log::Pen;
use crate::parcel;
use folkmoot::tools::{Command, MemberStack, Node, Note, Sending, UpperStack};
use folkmoot::{Bytes, Event};
use folkmoot_attach::{Ground, GroundOutput, Resolved, ToMember, ToNode, Trace, Upper, UpperOutput};
use folkmoot_base::{Entropy, GroupId, Instant, Locator, Party, Service, Train, UnixTime};
use folkmoot_sim::machine::Told;
use folkmoot_sim::payload::shows_plaintext;
use folkmoot_sim::record::{Leak, MessageId, Player, Shown, What};
use folkmoot_sim::stack::Names;
use folkmoot_sim::stack::tap::{Board, Desk, MARK, Seen, Tap, unmark};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many bytes of what a node carries are searched for plaintext.
const BEGINNING: usize = 4_096;

/// What is known of a member's messages and view.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Handed to the member, not sealed yet.
    asked: VecDeque<(MessageId, folkmoot::Service)>,
    /// Asked to be sent, neither delivered here nor refused.
    pub(crate) pending: BTreeSet<MessageId>,
    pub(crate) view: Option<Shown>,
}

/// What the taps and the sender share.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) pen: Pen,
    pub(crate) names: Arc<Names>,
    ledger: Arc<Mutex<Ledger>>,
}

impl Watch {
    pub(crate) fn new(pen: Pen, names: Names) -> Self {
        Self { pen, names: Arc::new(names), ledger: Arc::default() }
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, what: &What) {
        self.pen.note(what, 0);
    }

    fn sealed(&self) {
        let mut ledger = self.ledger();
        if let Some((message, service)) = ledger.asked.pop_front() {
            let view = ledger.view.as_ref().map(|view| view.id);
            self.note(&What::Sent(message, service, view));
        }
    }

    fn told(&self, told: Told) {
        match told {
            Told::Ring(event) => self.note(&What::Ring(event)),
            Told::Used(kind, value) => self.note(&What::Used(kind, value)),
            Told::Confirmed(view) => self.note(&What::Confirmed(view)),
            Told::Heard(view, player) => self.note(&What::Heard(view, player)),
            Told::Word(word) => self.note(&What::Word(word)),
            // Whatever is not sealed shows at its beginning: every message begins with a marked block.
            Told::Crossing(bytes) if shows_plaintext(bytes.get(..BEGINNING).unwrap_or(&bytes)) => {
                self.note(&What::Leaked(Leak::Node));
            }
            _ => {}
        }
    }

    fn event(&self, event: &Event) {
        match event {
            Event::View { id, members, transitional, epoch, .. } => {
                let (members, transitional) = (self.names.seated(members), self.names.seated(transitional));
                let view = Shown { id: *id, members, transitional, key: epoch.clone() };
                self.ledger().view = Some(view.clone());
                self.note(&What::View(view));
            }
            Event::Message { payload: bytes, .. } => match parcel::read(bytes) {
                Some((message, service)) => {
                    self.ledger().pending.remove(&message);
                    self.pen.note(&What::Delivered(message, service), bytes.len());
                }
                None => self.note(&What::Garbled(bytes.len())),
            },
            Event::Transitional { .. } => self.note(&What::Signal),
            Event::SendFailed { .. } => drop(self.ledger().asked.pop_back()),
            Event::Removed { cause, .. } => {
                *self.ledger() = Ledger::default();
                self.note(&What::Left(format!("{cause:?}").to_lowercase()));
            }
            _ => {}
        }
    }

    /// A line of a layer's log, or one that stands for something seen.
    fn line(&self, board: &Board, line: Trace) {
        if line.layer != MARK {
            return self.note(&What::Note(line.layer, line.text));
        }
        match unmark(board, &line) {
            Some(Seen::Told(_, told)) => self.told(told),
            Some(Seen::Sealed(_)) => self.sealed(),
            None => {}
        }
    }

    /// Both floors, observed.
    pub(crate) fn observe(&self, node: Node, host: MemberStack, life: (Player, u16)) -> (Below, Above) {
        let tap = Tap::new(node, life, Arc::clone(&self.names));
        let desk = Desk::new(host.member, false, &tap, Arc::clone(&self.names));
        let board = Arc::clone(&tap.board);
        (Below { tap, watch: self.clone() }, Above { desk, board, watch: self.clone() })
    }
}

/// The node.
pub(crate) struct Below {
    pub(crate) tap: Tap,
    watch: Watch,
}

/// The member.
pub(crate) struct Above {
    pub(crate) desk: Desk,
    board: Board,
    watch: Watch,
}

impl Ground for Below {
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        self.tap.member(now, message, entropy);
    }

    fn datagram(
        &mut self,
        now: Instant,
        from: Locator,
        datagram: bytes::BytesMut,
        entropy: &mut dyn Entropy,
    ) {
        self.tap.datagram(now, from, datagram, entropy);
    }

    fn train(&mut self, now: Instant, from: Locator, train: Train, to_all: bool, entropy: &mut dyn Entropy) {
        self.tap.train(now, from, train, to_all, entropy);
    }

    fn too_long(&mut self, now: Instant, to: Locator, bytes: usize, entropy: &mut dyn Entropy) {
        self.tap.too_long(now, to, bytes, entropy);
    }

    fn resolved(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        self.tap.resolved(now, name, found, entropy);
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.tap.clock(now, time, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.tap.timeout(now, entropy);
    }

    fn is_busy(&self) -> bool {
        self.tap.node.is_busy()
    }

    fn superseded(&self) -> Option<u64> {
        self.tap.node.superseded()
    }

    fn farewell(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.tap.node.farewell(now, entropy);
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        loop {
            match self.tap.poll_output() {
                Some(GroundOutput::Trace(line)) => self.watch.line(&self.tap.board, line),
                None => {
                    self.watch.pen.flush();
                    return None;
                }
                output => return output,
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.tap.poll_timeout()
    }
}

impl Upper for Above {
    type Command = Command;
    type Answer = <MemberStack as Upper>::Answer;
    type Event = Event;

    fn node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        self.desk.node(now, message, entropy);
    }

    fn node_to(&mut self, now: Instant, to: Party, message: ToMember, entropy: &mut dyn Entropy) {
        self.desk.node_to(now, to, message, entropy);
    }

    fn command(&mut self, now: Instant, command: Command, entropy: &mut dyn Entropy) -> Self::Answer {
        if let Command::SendMany { payloads, .. } = &command {
            let asked = payloads.iter().filter_map(|bytes| parcel::name(bytes));
            self.watch.ledger().asked.extend(asked);
        }
        self.desk.command(now, command, entropy)
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        self.desk.clock(now, time, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.desk.timeout(now, entropy);
    }

    fn poll_output(&mut self) -> Option<UpperOutput<Event>> {
        loop {
            match self.desk.poll_output() {
                Some(UpperOutput::Trace(line)) => self.watch.line(&self.board, line),
                Some(UpperOutput::Event(event)) => {
                    self.watch.event(&event);
                    return Some(UpperOutput::Event(event));
                }
                None => {
                    self.watch.pen.flush();
                    return None;
                }
                output => return output,
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.desk.poll_timeout()
    }
}

impl UpperStack for Above {
    fn can_send(&self, group: &GroupId) -> bool {
        self.desk.member.can_send(*group)
    }

    fn sending(&self, first: Sending, more: Vec<Bytes>) -> Command {
        let Sending { group, service, payload, .. } = first;
        Command::SendMany { group, service, payloads: [vec![payload], more].concat() }
    }

    fn note(&self, event: &Event) -> Note {
        match event {
            Event::Message { service: Service::Unreliable, payload, .. } => Note::Unreliable(payload.len()),
            Event::Message { payload, .. } => Note::Size(payload.len()),
            Event::View { group, .. } => Note::In(*group),
            Event::Removed { group, .. } => Note::Out(*group),
            Event::SendFailed { error } => Note::SendFailed(error.refused()),
            _ => Note::Size(0),
        }
    }
}
