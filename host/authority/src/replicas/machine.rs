//! The state machine of a replica: what it holds, where each input goes, and how a record gets its
//! place and comes back.

use super::ReplicasError;
use super::log::{LOG_MAX, Log};
use super::message::{Message, request_of};
use super::view::CurrentView;
use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, Mutant, Persist, StoreKey, ViewId};
use std::collections::{BTreeMap, VecDeque};

/// Most records of the own authority that wait for a place; a newer one is refused, and its
/// authority hands it in again.
pub const WANTS_MAX: usize = folkmoot_admission::LOGGING_MAX;
/// Most replicas.
pub const REPLICAS_MAX: usize = 7;
/// Most records that have a place in a view and are not known to be on every disk of it.
pub const UNDERWAY_MAX: u64 = 1_024;

// What all replicas propose at once has room: none is dropped that its proposer does not propose
// again.
const _: () = assert!((REPLICAS_MAX * WANTS_MAX) as u64 <= UNDERWAY_MAX);

/// What happens to a replica.
#[derive(Debug, Clone)]
pub enum Input {
    /// Its authority wants this record logged. May be said again, and is after a while.
    Record(Bytes),
    /// A message of the replicas' group, in the group's order.
    Message {
        /// Who sent it.
        from: MemberId,
        /// In which view it was sent and came.
        view: ViewId,
        /// What.
        payload: Bytes,
    },
    /// A secure view of the replicas' group, with us in it.
    View {
        /// Its id.
        id: ViewId,
        /// Its members.
        members: Vec<MemberId>,
    },
    /// The view is losing somebody: what comes in it from now on, others of it may not have.
    Transitional,
    /// We are out of the group.
    Out,
    /// The disk has this write, and all before it.
    Persisted(u64),
    /// The authority's own disk has the record at this place, and all before it.
    Handed(u64),
}

/// What a replica wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Write these rows in one transaction, in the order of these outputs, and say so.
    Persist {
        /// Counts up.
        ticket: u64,
        /// Rows.
        rows: Vec<Persist>,
    },
    /// Send this, safe, to the replicas' group, in the order of these outputs.
    Send(Bytes),
    /// Hand this record to the authority, in the order of these outputs, and say when its disk has
    /// it.
    HandBack {
        /// Where it stands in the log.
        place: u64,
        /// What stands there.
        record: Bytes,
    },
    /// For people.
    Trace(String),
}

/// What a mutant does wrong; for tests of the checkers alone.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    /// Gives a second record of a request a place of its own.
    KeepsTwo,
    /// Says that it has kept what is still on its way to the disk.
    SaysKeptEarly,
    /// Hands a record back when it comes, as if safe delivery were enough.
    HandsBackUnkept,
    /// Goes on without a quorum.
    MinorityToo,
    /// Takes the longest log for the one that stands, whatever its epoch.
    LongestLog,
    /// Takes proposals after the transitional signal.
    AfterSignal,
    /// Proposes a record in one view only.
    ProposesOnce,
    /// Lets its own log stand in each view.
    OwnLog,
    /// Counts those who know nothing of the log.
    NewCount,
}

/// A write under way.
#[derive(Debug)]
struct Ticket {
    number: u64,
    /// What is said once it is on disk, if the view is still the same.
    kept: Option<(ViewId, u64)>,
}

/// One replica's part in the log. Driven like a layer: [`Self::handle`], then [`Self::poll_output`]
/// until `None`. It needs no time.
#[derive(Debug)]
pub struct Replicas {
    pub(super) me: MemberId,
    /// The founders of the replicas' charter, in its order.
    pub(super) listed: Vec<MemberId>,
    pub(super) log: Log,
    pub(super) view: Option<CurrentView>,
    /// Records of the own authority that were not handed back, by request.
    pub(super) wants: BTreeMap<Digest, Bytes>,
    /// Places up to here were handed back since the start.
    offered: u64,
    tickets: VecDeque<Ticket>,
    next_ticket: u64,
    pub(super) diverged: Option<MemberId>,
    pub(super) out: VecDeque<Output>,
    pub(super) danger: Mutant<Danger>,
}

impl Replicas {
    /// The replica as its disk has it: hand in everything stored, other tables are passed over.
    /// `listed`: the founders of the replicas' charter, in its order.
    ///
    /// # Errors
    /// [`ReplicasError::LocalNotReplica`], [`ReplicasError::LocalCorrupt`].
    pub fn load(
        me: MemberId,
        listed: Vec<MemberId>,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, ReplicasError> {
        if !listed.contains(&me) {
            return Err(ReplicasError::LocalNotReplica);
        }
        let log = Log::load(stored)?;
        Ok(Self {
            me,
            listed,
            // AUTH-16: all of it again, for the authority's own disk may be another than it was.
            // What it has is nothing new to it.
            offered: 0,
            log,
            view: None,
            wants: BTreeMap::new(),
            tickets: VecDeque::new(),
            next_ticket: 0,
            diverged: None,
            out: VecDeque::new(),
            danger: Mutant::NONE,
        })
    }

    /// Makes a mutant of it.
    #[doc(hidden)]
    #[must_use]
    pub fn with_danger(self, danger: Mutant<Danger>) -> Self {
        Self { danger, ..self }
    }

    /// Takes one input.
    ///
    /// # Errors
    /// [`ReplicasError`]. After [`ReplicasError::PeerDiverged`] and [`ReplicasError::PeerAhead`]
    /// nothing is said or handed back any more.
    pub fn handle(&mut self, input: Input) -> Result<(), ReplicasError> {
        if self.diverged.is_some() {
            return Ok(());
        }
        match input {
            Input::Record(record) => return self.record(record),
            Input::Message { from, view, payload } => return self.message(from, view, &payload),
            Input::View { id, members } => self.enter_view(id, &members),
            Input::Transitional => {
                if let Some(view) = self.view.as_mut().filter(|_| !self.danger.is(Danger::AfterSignal)) {
                    view.losing = true;
                }
            }
            Input::Out => self.view = None,
            Input::Persisted(number) => return self.persisted(number),
            Input::Handed(place) => self.handed(place),
        }
        Ok(())
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Our authority wants a record logged.
    fn record(&mut self, record: Bytes) -> Result<(), ReplicasError> {
        let request = request_of(&record)?;
        if let Some(place) = self.log.place(&request) {
            // One that was handed back and is wanted again was lost on the way, or the authority's
            // disk was set back.
            if place <= self.offered && self.is_in_sync() {
                self.hand_back(place);
            }
            return Ok(());
        }
        if self.wants.len() >= WANTS_MAX && !self.wants.contains_key(&request) {
            return Err(ReplicasError::LocalFull);
        }
        self.wants.insert(request, record);
        self.propose();
        Ok(())
    }

    /// Proposes what waits, each once in a view.
    pub(super) fn propose(&mut self) {
        let Some(view) = self.view.as_mut().filter(|view| view.in_sync && !view.losing) else { return };
        for (request, record) in &self.wants {
            if self.log.place(request).is_none() && view.proposed.insert(*request) {
                let message = Message::Propose { view: view.id, record: record.clone().into() };
                self.out.push_back(Output::Send(message.encode().into()));
            }
        }
    }

    fn message(&mut self, from: MemberId, view: ViewId, payload: &[u8]) -> Result<(), ReplicasError> {
        if !self.listed.contains(&from) {
            return Err(ReplicasError::PeerNotReplica(from));
        }
        let message = Message::decode(payload).map_err(|error| ReplicasError::PeerMalformed(from, error))?;
        let here =
            |now: &&CurrentView| now.id == view && *message.view() == view && now.quorum && !now.losing;
        // AUTH-06: what was said for another view says nothing in this one, nor what others of it
        // may not have.
        let Some(now) = self.view.as_ref().filter(here) else { return Ok(()) };
        if !now.present.contains(&from) {
            return Err(ReplicasError::PeerOutOfTurn(from, "it is not in the view"));
        }
        match message {
            Message::State { has, .. } => self.hear_state(from, has),
            Message::Records { from: first, records, .. } => self.hear_records(from, first, records),
            Message::Propose { record, .. } => self.hear_propose(from, view, record.0),
            Message::Kept { place, tip, .. } => self.hear_kept(from, place, tip),
        }
    }

    /// AUTH-07: the first record of a request stands, wherever it was proposed.
    fn hear_propose(&mut self, from: MemberId, view: ViewId, record: Bytes) -> Result<(), ReplicasError> {
        let request = request_of(&record).map_err(|_| ReplicasError::PeerRecord(from))?;
        let Some(now) = self.view.as_ref().filter(|now| now.is_keeping()) else {
            return Err(ReplicasError::PeerOutOfTurn(
                from,
                "it proposed a record before the logs were in sync",
            ));
        };
        if self.log.place(&request).is_some() && !self.danger.is(Danger::KeepsTwo) {
            return Ok(());
        }
        let underway = self.log.length().saturating_sub(now.kept_by_all());
        if underway >= UNDERWAY_MAX || self.log.length() >= LOG_MAX {
            return Err(ReplicasError::PeerTooMany(from));
        }
        let row = self.log.push(request, record);
        let place = self.log.length();
        self.persist(vec![row, self.log.state()], Some((view, place)));
        if self.danger.is(Danger::HandsBackUnkept) {
            self.hand_back(place);
            self.offered = place;
        }
        Ok(())
    }

    /// A replica's disk has the log up to a place.
    fn hear_kept(&mut self, from: MemberId, place: u64, tip: Digest) -> Result<(), ReplicasError> {
        let Some(view) = self.view.as_mut().filter(|view| view.is_keeping()) else {
            return Err(ReplicasError::PeerOutOfTurn(
                from,
                "it stored a record that nobody asked it to store",
            ));
        };
        let Some(ours) = self.log.tip(place) else {
            return Err(ReplicasError::PeerOutOfTurn(from, "it stored a record that has no place yet"));
        };
        if ours != tip {
            self.diverged = Some(from);
            return Err(ReplicasError::PeerDiverged(from));
        }
        let kept = view.kept.entry(from).or_default();
        *kept = place.max(*kept);
        let by_all = view.kept_by_all();
        if !view.is_in_sync_at(by_all) {
            return Ok(());
        }
        let first = !std::mem::replace(&mut view.in_sync, true);
        let id = view.id;
        self.log.floor = self.log.floor.max(by_all);
        if self.log.since.is_none() {
            self.log.since = Some(id.configuration.ring_seq);
            self.persist(vec![self.log.state()], None);
        }
        self.hand_back_to(by_all);
        if first {
            self.propose();
        }
        Ok(())
    }

    fn hand_back_to(&mut self, place: u64) {
        while self.offered < place {
            self.offered = self.offered.saturating_add(1);
            self.hand_back(self.offered);
        }
    }

    fn hand_back(&mut self, place: u64) {
        let Some(record) = self.log.record(place).cloned() else { return };
        if let Ok(request) = request_of(&record) {
            self.wants.remove(&request);
        }
        self.out.push_back(Output::HandBack { place, record });
    }

    fn handed(&mut self, place: u64) {
        let before = self.log.handed;
        self.log.handed = before.max(place.min(self.offered));
        // Written with the next record, or now if there is none to come.
        if self.log.handed > before && self.log.handed == self.offered {
            self.persist(vec![self.log.state()], None);
        }
    }

    pub(super) fn persist(&mut self, rows: Vec<Persist>, kept: Option<(ViewId, u64)>) {
        let number = self.next_ticket;
        self.next_ticket = number.saturating_add(1);
        self.out.push_back(Output::Persist { ticket: number, rows });
        self.tickets.push_back(Ticket { number, kept });
        if self.danger.is(Danger::SaysKeptEarly) {
            self.say_kept(kept);
        }
    }

    fn persisted(&mut self, number: u64) -> Result<(), ReplicasError> {
        let ticket = self.tickets.pop_front_if(|ticket| ticket.number == number);
        let ticket = ticket.ok_or(ReplicasError::LocalTicket)?;
        if !self.danger.is(Danger::SaysKeptEarly) {
            self.say_kept(ticket.kept);
        }
        self.say_state();
        Ok(())
    }

    /// AUTH-09: only of what the disk has, and only in the view for which it was written.
    fn say_kept(&mut self, kept: Option<(ViewId, u64)>) {
        let here = |(view, _): &(ViewId, u64)| {
            self.view.as_ref().is_some_and(|now| now.id == *view && now.is_keeping() && !now.losing)
        };
        let Some((view, place)) = kept.filter(here) else { return };
        let Some(tip) = self.log.tip(place) else { return };
        self.out.push_back(Output::Send(Message::Kept { view, place, tip }.encode().into()));
    }

    /// Whether the disk has everything that memory has.
    pub(super) fn is_on_disk(&self) -> bool {
        self.tickets.is_empty()
    }

    pub(super) fn is_in_sync(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.in_sync && !view.losing)
    }

    pub(super) fn trace(&mut self, text: String) {
        self.out.push_back(Output::Trace(text));
    }
}
