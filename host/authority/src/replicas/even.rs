//! A new view: the logs are made even before anything is handed back in it.
//!
//! ```text
//! Telling --State of all--> Filling --the last Records--> Keeping --Kept of all--> even: hand back, propose
//! ```
//! The log of the newest epoch stands, the longest of these; logs of one epoch are beginnings of one another. What was handed back ever is
//! in it: all of that view had it on disk, one of them is here, and every epoch since began with such a log. One whose log was never even, because it
//! is new or its disk was, knows nothing of what was handed back: those who know are the quorum, or all begin together (AUTH-14).

use super::ReplicasError;
use super::log::LOG_MAX;
use super::machine::{Danger, Output, Replicas};
use super::message::{BATCH_BYTES_MAX, Holding, Message, request_of};
use bytes::Bytes;
use core::cmp::Reverse;
use folkmoot_base::codec::Blob;
use folkmoot_base::{Digest, MemberId, ViewId};
use std::collections::{BTreeMap, BTreeSet};

/// A view, and how far it has come.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) view: ViewId,
    /// Those of the listed who are in it.
    pub(super) present: Vec<MemberId>,
    pub(super) quorum: bool,
    /// How many of those present know the log, where these are no quorum.
    pub(super) few: Option<usize>,
    /// The transitional signal came.
    pub(super) losing: bool,
    /// All have kept the log that stands.
    pub(super) even: bool,
    /// Whether our own State is out.
    told: bool,
    states: BTreeMap<MemberId, Holding>,
    step: Step,
    /// How far each has the log on disk.
    pub(super) kept: BTreeMap<MemberId, u64>,
    /// What we proposed.
    pub(super) proposed: BTreeSet<Digest>,
}

#[derive(Debug)]
enum Step {
    Telling,
    Filling(Box<Filling>),
    /// The log has had so many records since they stood.
    Keeping(u64),
}

/// What stands, and what of it has come.
#[derive(Debug)]
struct Filling {
    source: MemberId,
    has: Holding,
    /// The next place to come.
    next: u64,
    /// Places up to here are as they stand in our own log.
    agreed: u64,
    /// What came beyond the source's floor: taken over at once with the epoch, or not at all.
    rest: Vec<(Digest, Bytes)>,
}

impl Seat {
    pub(super) fn is_keeping(&self) -> bool {
        matches!(self.step, Step::Keeping(_))
    }

    /// The place up to which every disk of the view has the log.
    pub(super) fn kept_by_all(&self) -> u64 {
        let of = |member| self.kept.get(member).copied().unwrap_or_default();
        self.present.iter().map(of).min().unwrap_or_default()
    }

    /// Whether all have kept what stood when the view began.
    pub(super) fn is_even_at(&self, by_all: u64) -> bool {
        let all = self.present.iter().all(|member| self.kept.contains_key(member));
        all && matches!(self.step, Step::Keeping(base) if by_all >= base)
    }

    /// AUTH-14: how many know the log, if these are too few. Has any seen all of them even, then all had an epoch, and one that has none lost its
    /// disk. Has none, then nothing was handed back yet, and all begin together.
    fn few_know(&self, listed: &[MemberId]) -> Option<usize> {
        if self.states.values().all(|has| has.since.is_none()) {
            return (self.present.len() < listed.len()).then_some(0);
        }
        let know = self.states.iter().filter(|(_, has)| has.epoch.is_some());
        let know: Vec<MemberId> = know.map(|(member, _)| *member).collect();
        (!is_quorum(listed, &know)).then_some(know.len())
    }

    /// How far evening has come: of those present, how many told; and places come, and to come.
    pub(super) fn progress(&self) -> (usize, Option<(u64, u64)>) {
        let filling = match &self.step {
            Step::Filling(filling) => Some((filling.next.saturating_sub(1), filling.has.length)),
            _ => None,
        };
        (self.states.len(), filling)
    }
}

/// More than half of the listed, or exactly half with the first of them: as the electorate's quorum, for the founders, for good.
fn is_quorum(listed: &[MemberId], present: &[MemberId]) -> bool {
    let twice = present.len().saturating_mul(2);
    let first = listed.first().is_some_and(|first| present.contains(first));
    twice > listed.len() || (first && twice == listed.len())
}

impl Replicas {
    pub(super) fn view(&mut self, id: ViewId, members: &[MemberId]) {
        let present: Vec<MemberId> =
            self.listed.iter().filter(|one| members.contains(one)).copied().collect();
        let quorum = is_quorum(&self.listed, &present) || self.danger.is(Danger::MinorityToo);
        // AUTH-17: the authority says again what still stands, and nothing that it has dropped meanwhile.
        self.wants.clear();
        let before = self.seat.take().filter(|_| self.danger.is(Danger::ProposesOnce));
        self.trace(format!("view {id}: {} of {} replicas", present.len(), self.listed.len()));
        self.seat = Some(Seat {
            view: id,
            present,
            quorum,
            few: None,
            losing: false,
            even: false,
            told: false,
            states: BTreeMap::new(),
            step: Step::Telling,
            kept: BTreeMap::new(),
            proposed: before.map(|seat| seat.proposed).unwrap_or_default(),
        });
        self.say_state();
    }

    /// Once the disk has all that memory has: the word is of the disk.
    pub(super) fn say_state(&mut self) {
        if !self.is_on_disk() {
            return;
        }
        let has = self.log.holding();
        let Some(seat) = self.seat.as_mut().filter(|seat| seat.quorum && !seat.told && !seat.losing) else {
            return;
        };
        seat.told = true;
        self.out.push_back(Output::Send(Message::State { view: seat.view, has }.encode().into()));
    }

    pub(super) fn hear_state(&mut self, from: MemberId, has: Holding) -> Result<(), ReplicasError> {
        let refuse = |what| Err(ReplicasError::PeerOutOfTurn(from, what));
        // One that was never even has at most what stands for good, of an evening that broke off.
        let most = if has.epoch.is_none() { has.floor } else { LOG_MAX };
        let late = has.since.is_some() && has.epoch.is_none();
        if has.floor > has.length || has.length > most.min(LOG_MAX) || late {
            return refuse("a state that no log has");
        }
        let Some(seat) = self.seat.as_mut() else { return Ok(()) };
        if !matches!(seat.step, Step::Telling) || seat.states.contains_key(&from) {
            return refuse("it has told its state before");
        }
        seat.states.insert(from, has);
        if seat.present.iter().all(|member| seat.states.contains_key(member)) {
            return self.choose();
        }
        Ok(())
    }

    /// AUTH-10: which log stands; the same at all, for all have the same states.
    fn choose(&mut self) -> Result<(), ReplicasError> {
        let (danger, me, ours) = (self.danger, self.me, self.log.holding());
        let Some(seat) = self.seat.as_mut() else { return Ok(()) };
        let careless = danger.is(Danger::MinorityToo) || danger.is(Danger::NewCount);
        if let Some(know) = seat.few_know(&self.listed).filter(|_| !careless) {
            seat.few = Some(know);
            self.trace(format!("{know} of {} replicas know the log: too few", self.listed.len()));
            return Ok(());
        }
        let rank = |(member, has): &(&MemberId, &Holding)| {
            let epoch = has.epoch.filter(|_| !danger.is(Danger::LongestLog));
            (epoch, has.length, Reverse(**member))
        };
        let best = seat.states.iter().max_by_key(rank).map(|(member, has)| (*member, *has));
        let best = if danger.is(Danger::OwnLog) { Some((me, ours)) } else { best };
        let Some((source, has)) = best else { return Ok(()) };
        // AUTH-15: by views it is told which log is the newer one. One that was even in a later view than this lost the ring's number.
        if has.epoch.is_some_and(|epoch| epoch >= seat.view) {
            self.diverged = Some(source);
            return Err(ReplicasError::PeerAhead(source));
        }
        // Of the epoch that stands a log is a beginning; of another, what stands for good.
        let agreed = |of: &Holding| {
            if of.epoch == has.epoch { of.length.min(has.length) } else { of.floor.min(has.length) }
        };
        let least = seat.states.values().map(agreed).min().filter(|_| !danger.is(Danger::OwnLog));
        let next = least.unwrap_or(has.length).saturating_add(1);
        let agreed = agreed(&ours);
        let filling = Filling { source, has, next, agreed, rest: Vec::new() };
        seat.step = Step::Filling(Box::new(filling));
        self.go_on()
    }

    /// The next batch, if it is ours to send; or all has come.
    fn go_on(&mut self) -> Result<(), ReplicasError> {
        let Some(Seat { view, step: Step::Filling(filling), .. }) = self.seat.as_ref() else { return Ok(()) };
        let (view, from, last) = (*view, filling.next, filling.has.length);
        if from > last {
            return self.adopt();
        }
        if filling.source != self.me {
            return Ok(());
        }
        let (mut records, mut bytes) = (Vec::new(), 0_usize);
        for record in (from..=last).map_while(|place| self.log.record(place)) {
            bytes = bytes.saturating_add(record.len()).saturating_add(4);
            if bytes > BATCH_BYTES_MAX && !records.is_empty() {
                break;
            }
            records.push(Blob(record.clone()));
        }
        self.out.push_back(Output::Send(Message::Records { view, from, records }.encode().into()));
        Ok(())
    }

    pub(super) fn hear_records(
        &mut self,
        from: MemberId,
        first: u64,
        records: Vec<Blob>,
    ) -> Result<(), ReplicasError> {
        let requests: Result<Vec<Digest>, _> = records.iter().map(|record| request_of(&record.0)).collect();
        let requests = requests.map_err(|_| ReplicasError::PeerRecord(from))?;
        let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
        let Some(Seat { step: Step::Filling(filling), .. }) = self.seat.as_mut() else {
            return Err(ReplicasError::PeerOutOfTurn(from, "records, and nobody lacks any"));
        };
        let after = first.saturating_add(count);
        let last = filling.has.length;
        if from != filling.source || first != filling.next || count == 0 || after.saturating_sub(1) > last {
            return Err(ReplicasError::PeerOutOfTurn(from, "other records than those that come next"));
        }
        filling.next = after;
        let mut rows = Vec::new();
        for ((place, request), record) in (first..).zip(requests).zip(records) {
            if place <= filling.agreed {
                continue;
            }
            if place > filling.has.floor {
                filling.rest.push((request, record.0));
                continue;
            }
            // It stands for good: kept now, so that a view that ends early need not begin again.
            self.log.put(place, request, record.0, &mut rows);
            self.log.floor = self.log.floor.max(place);
        }
        if !rows.is_empty() {
            rows.push(self.log.state());
            self.persist(rows, None);
        }
        self.go_on()
    }

    /// All have the log that stands, from this place of the order on; on our disk with this.
    fn adopt(&mut self) -> Result<(), ReplicasError> {
        let Some(seat) = self.seat.as_mut() else { return Ok(()) };
        let step = std::mem::replace(&mut seat.step, Step::Telling);
        let Step::Filling(filling) = step else { return Ok(()) };
        let Filling { source, has, agreed, rest, .. } = *filling;
        seat.step = Step::Keeping(has.length);
        let (view, mut rows) = (seat.view, Vec::new());
        let begins = agreed.max(has.floor);
        for (place, (request, record)) in (begins.saturating_add(1)..).zip(rest) {
            self.log.put(place, request, record, &mut rows);
        }
        self.log.truncate(has.length, &mut rows);
        if self.log.tip(has.length) != Some(has.tip) || self.log.floor > has.length {
            self.diverged = Some(source);
            return Err(ReplicasError::PeerDiverged(source));
        }
        self.log.epoch = Some(view);
        rows.push(self.log.state());
        self.persist(rows, Some((view, has.length)));
        Ok(())
    }
}
