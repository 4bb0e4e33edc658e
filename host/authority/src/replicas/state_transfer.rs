//! State transfer, at the start of each view: every replica gets the same log before anything is
//! handed back in it.
//!
//! The log of the newest epoch stands, and the longest of these; logs of one epoch are prefixes of
//! one another. Whatever was handed back is in that log: all of the view in which it was handed
//! back had it on disk, one of them is here, and every epoch since began with such a log. A replica
//! whose log was never in sync, because it or its disk is new, knows nothing of what was handed
//! back. The others know it if they are a quorum, or else all begin together (AUTH-14).

use super::ReplicasError;
use super::log::LOG_MAX;
use super::machine::{Danger, Output, Replicas};
use super::message::{BATCH_BYTES_MAX, Holding, Message, request_of};
use super::view::{CurrentView, Filling, Step, is_quorum};
use core::cmp::Reverse;
use folkmoot_base::codec::Blob;
use folkmoot_base::{Digest, MemberId, ViewId};
use std::collections::BTreeMap;

impl Replicas {
    pub(super) fn enter_view(&mut self, id: ViewId, members: &[MemberId]) {
        let present: Vec<MemberId> =
            self.listed.iter().filter(|one| members.contains(one)).copied().collect();
        let quorum = is_quorum(&self.listed, &present) || self.danger.is(Danger::MinorityToo);
        // AUTH-17: the authority says again what still stands, and nothing that it has dropped
        // meanwhile.
        self.wants.clear();
        let before = self.view.take().filter(|_| self.danger.is(Danger::ProposesOnce));
        self.trace(format!("view {id}: {} of {} replicas", present.len(), self.listed.len()));
        self.view = Some(CurrentView {
            id,
            present,
            quorum,
            few: None,
            losing: false,
            in_sync: false,
            told: false,
            states: BTreeMap::new(),
            step: Step::Telling,
            kept: BTreeMap::new(),
            proposed: before.map(|view| view.proposed).unwrap_or_default(),
        });
        self.say_state();
    }

    /// Once the disk has all that memory has: the word is of the disk.
    pub(super) fn say_state(&mut self) {
        if !self.is_on_disk() {
            return;
        }
        let has = self.log.holding();
        let Some(view) = self.view.as_mut().filter(|view| view.quorum && !view.told && !view.losing) else {
            return;
        };
        view.told = true;
        self.out.push_back(Output::Send(Message::State { view: view.id, has }.encode().into()));
    }

    pub(super) fn hear_state(&mut self, from: MemberId, has: Holding) -> Result<(), ReplicasError> {
        let refuse = |what| Err(ReplicasError::PeerOutOfTurn(from, what));
        // A log that was never in sync has at most what stands for good, from a state transfer that
        // broke off.
        let most = if has.epoch.is_none() { has.floor } else { LOG_MAX };
        let late = has.since.is_some() && has.epoch.is_none();
        if has.floor > has.length || has.length > most.min(LOG_MAX) || late {
            return refuse("it sent a state that no log can have");
        }
        let Some(view) = self.view.as_mut() else { return Ok(()) };
        if !matches!(view.step, Step::Telling) || view.states.contains_key(&from) {
            return refuse("it sent its state twice");
        }
        view.states.insert(from, has);
        if view.present.iter().all(|member| view.states.contains_key(member)) {
            return self.choose();
        }
        Ok(())
    }

    /// AUTH-10: which log stands; the same at all, for all have the same states.
    fn choose(&mut self) -> Result<(), ReplicasError> {
        let (danger, me, ours) = (self.danger, self.me, self.log.holding());
        let Some(view) = self.view.as_mut() else { return Ok(()) };
        let careless = danger.is(Danger::MinorityToo) || danger.is(Danger::NewCount);
        if let Some(know) = view.few_know(&self.listed).filter(|_| !careless) {
            view.few = Some(know);
            self.trace(format!("{know} of {} replicas know the log: too few", self.listed.len()));
            return Ok(());
        }
        let rank = |(member, has): &(&MemberId, &Holding)| {
            let epoch = has.epoch.filter(|_| !danger.is(Danger::LongestLog));
            (epoch, has.length, Reverse(**member))
        };
        let best = view.states.iter().max_by_key(rank).map(|(member, has)| (*member, *has));
        let best = if danger.is(Danger::OwnLog) { Some((me, ours)) } else { best };
        let Some((source, has)) = best else { return Ok(()) };
        // AUTH-15: by views it is told which log is the newer one. One that was in sync in a later
        // view than this lost the ring's number.
        if has.epoch.is_some_and(|epoch| epoch >= view.id) {
            self.diverged = Some(source);
            return Err(ReplicasError::PeerAhead(source));
        }
        // Of the epoch that stands a log is a beginning; of another, what stands for good.
        let agreed = |of: &Holding| {
            if of.epoch == has.epoch { of.length.min(has.length) } else { of.floor.min(has.length) }
        };
        let least = view.states.values().map(agreed).min().filter(|_| !danger.is(Danger::OwnLog));
        let next = least.unwrap_or(has.length).saturating_add(1);
        let agreed = agreed(&ours);
        let filling = Filling { source, has, next, agreed, rest: Vec::new() };
        view.step = Step::Filling(Box::new(filling));
        self.go_on()
    }

    /// The next batch, if it is ours to send; or all has come.
    fn go_on(&mut self) -> Result<(), ReplicasError> {
        let Some(CurrentView { id: view, step: Step::Filling(filling), .. }) = self.view.as_ref() else {
            return Ok(());
        };
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
        let Some(CurrentView { step: Step::Filling(filling), .. }) = self.view.as_mut() else {
            return Err(ReplicasError::PeerOutOfTurn(from, "it sent records that nobody lacks"));
        };
        let after = first.saturating_add(count);
        let last = filling.has.length;
        if from != filling.source || first != filling.next || count == 0 || after.saturating_sub(1) > last {
            return Err(ReplicasError::PeerOutOfTurn(
                from,
                "it sent records other than those that come next",
            ));
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
        let Some(view) = self.view.as_mut() else { return Ok(()) };
        let step = std::mem::replace(&mut view.step, Step::Telling);
        let Step::Filling(filling) = step else { return Ok(()) };
        let Filling { source, has, agreed, rest, .. } = *filling;
        view.step = Step::Keeping(has.length);
        let (view, mut rows) = (view.id, Vec::new());
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
