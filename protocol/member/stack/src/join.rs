//! Admission at this member: on the side of an applicant, a member or the authority. The transcript
//! decides which.

use crate::api::Event;
use crate::{Ahead, Member, MemberError};
use base::{Cause, Entropy, GroupId, Head, Instant, MemberId, Says, StoreKey, UnixTime};
use bytes::Bytes;
use folkmoot_admission::{self as admission, Admission, Applicant, Authority, OFFICE_TABLE};
use folkmoot_attach::{ToNode, UpperOutput};
use folkmoot_base as base;
use folkmoot_identity::REVOKED_TABLE;
use folkmoot_transcript::{Ending, Former, Item, Standing, Taken, Transcript, shown_by_package};
use std::collections::BTreeSet;

/// How far our clock may be behind our node's, which hears it at other moments, in seconds.
const BEHIND_SECONDS: u64 = 2;

/// The side of admission on which we are.
pub(crate) enum Joining {
    /// Port 0 of this member speaks for it, and nobody else does (MEM-11).
    Elsewhere,
    /// A stranger that has not asked.
    Closed,
    /// A stranger that asks.
    Outside(Box<Applicant>),
    /// A member.
    Inside(Box<Admission>),
    /// The charter's authority speaks through us, and its office is kept here.
    Office(Box<Authority>),
}

impl Joining {
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Elsewhere | Self::Closed => None,
            Self::Outside(applicant) => applicant.poll_timeout(),
            Self::Inside(admission) => admission.poll_timeout(),
            Self::Office(authority) => authority.poll_timeout(),
        }
    }

    fn poll_output(&mut self) -> Option<admission::Output> {
        match self {
            Self::Elsewhere | Self::Closed => None,
            Self::Outside(applicant) => applicant.poll_output(),
            Self::Inside(admission) => admission.poll_output(),
            Self::Office(authority) => authority.poll_output(),
        }
    }
}

/// Whether a stored key belongs to admission.
pub(crate) fn is_ours(key: &StoreKey) -> bool {
    matches!(key.table, "vote" | "request" | "share" | OFFICE_TABLE | REVOKED_TABLE)
}

impl Member {
    /// Takes the side that the roster gives us.
    pub(crate) fn open_door(&mut self) -> Result<(), MemberError> {
        if matches!(self.joining, Joining::Elsewhere) {
            return Ok(());
        }
        let member = self.is_in();
        if matches!(self.joining, Joining::Closed) && !member && self.open_office()? {
            return Ok(());
        }
        match (&self.joining, member) {
            (Joining::Elsewhere, _)
            | (Joining::Inside(_), true)
            | (Joining::Outside(_) | Joining::Office(_), false) => {}
            (_, true) => {
                let admission =
                    Admission::load(self.rules(), &self.transcript, &self.config.identity, &self.stored)?;
                self.joining = Joining::Inside(Box::new(admission));
                self.erase(Applicant::is_own);
                self.sight.present.clear();
                self.tell_proposals();
            }
            (Joining::Closed, false) => {
                self.erase_shares();
                let applicant = Applicant::load(&self.stored)?;
                // If it had asked before it was stopped, it goes on asking.
                if applicant.has_asked() {
                    self.joining = Joining::Outside(Box::new(applicant));
                }
            }
            (Joining::Inside(_), false) => {
                self.joining = Joining::Closed;
                self.erase_shares();
            }
        }
        Ok(())
    }

    /// An expelled member has no use for its shares of the group's key, and anyone who takes its
    /// disk must not get them. A member whose certificate ran out keeps them: it may be a holder
    /// again, and many certificates may run out on one day.
    fn erase_shares(&mut self) {
        if self.config.danger.is(base::Danger::AdmissionKeepsOldShares) {
            return;
        }
        let former = self.transcript.roster().former(&self.me);
        let gone = |ending: Ending| matches!(ending, Ending::Expelled { .. } | Ending::Replaced { .. });
        if !former.is_some_and(|former| gone(former.ending)) {
            return;
        }
        self.erase(|key| key.table == "share");
    }

    fn erase(&mut self, which: impl Fn(&StoreKey) -> bool) {
        let keys: Vec<StoreKey> =
            self.stored.iter().map(|(key, _)| key).filter(|key| which(key)).cloned().collect();
        for key in keys {
            let erase = base::Persist { key, value: None };
            self.remember(&erase);
            self.out.push_back(UpperOutput::Persist(erase));
        }
    }

    /// Whether the charter's authority speaks through us, and its office is here.
    fn open_office(&mut self) -> Result<bool, MemberError> {
        let authority = Authority::load(self.rules(), &self.transcript, &self.config.identity, &self.stored)
            .map_err(|error| MemberError::StoreOffice(Box::new(error)))?;
        let Some(authority) = authority else { return Ok(false) };
        self.joining = Joining::Office(Box::new(authority));
        // The authority has read it, and never becomes anything else.
        self.stored.retain(|(key, _)| key.table != OFFICE_TABLE);
        Ok(true)
    }

    fn rules(&self) -> admission::Config {
        let (danger, replicated) = (self.config.danger, self.config.replicated);
        admission::Config { danger, replicated, ..admission::Config::default() }
    }

    /// Asks for admission, from now until the request is decided.
    pub(crate) fn apply(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        // Also while on the roster: our transcript may not show yet that our certificate ran out
        // while we were away.
        self.wants_in = true;
        match &self.joining {
            Joining::Closed => {}
            // After a refusal for good, it asks again.
            Joining::Outside(applicant) if applicant.is_over() => {}
            Joining::Elsewhere | Joining::Outside(_) | Joining::Inside(_) | Joining::Office(_) => return,
        }
        let applicant = Applicant::new(&self.stored);
        self.joining = Joining::Outside(Box::new(applicant));
        self.tell_links(now, entropy);
    }

    /// Tells a new side of admission the time, and what was linked and configured before it.
    fn tell_links(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.ask_door(now, admission::Input::Clock(self.sight.time().unwrap_or_default()), entropy);
        for (node, host) in self.sight.reached() {
            self.ask_door(now, admission::Input::LinkUp { node, host }, entropy);
        }
        if self.configuration.is_some() {
            self.ask_door(now, admission::Input::Regrouped, entropy);
        }
    }

    /// If it was told to ask, and learns that its certificate ran out or that its admission no
    /// longer counts, it asks again. An expelled member does not.
    fn apply_if_ended(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let former = self.transcript.roster().former(&self.me);
        let asks = |former: &Former| matches!(former.ending, Ending::Expired { .. } | Ending::Late);
        if self.wants_in && former.is_some_and(asks) && matches!(self.joining, Joining::Closed) {
            self.apply(now, entropy);
        }
    }

    /// Tells admission whose first programs are in the group's view, if that has changed: voters
    /// turn to those who can be heard, and a member is heard by port 0 alone ([`Self::not_here`]).
    /// Heartbeats to the authority contain how many there are.
    pub(crate) fn tell_present(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let installed = self.stacks.get(&self.home).and_then(|stack| stack.installed.as_ref());
        let parties = installed.into_iter().flat_map(|installed| installed.members.iter());
        let present: BTreeSet<MemberId> =
            parties.filter(|party| party.port == 0).map(|party| party.member).collect();
        if self.sight.present != present {
            self.sight.present.clone_from(&present);
            self.ask_door(now, admission::Input::Present(present), entropy);
        }
    }

    pub(crate) fn ask_door(&mut self, now: Instant, input: admission::Input, entropy: &mut dyn Entropy) {
        let (transcript, identity) = (&self.transcript, &self.config.identity);
        let done = match &mut self.joining {
            Joining::Elsewhere | Joining::Closed => Ok(()),
            Joining::Outside(applicant) => applicant.handle(now, input, transcript, identity, entropy),
            Joining::Inside(admission) => admission.handle(now, input, transcript, identity, entropy),
            Joining::Office(authority) => authority.handle(now, input, transcript, identity, entropy),
        };
        match done {
            Err(error @ admission::AdmissionError::LocalConflict) => {
                self.event(Event::LogConflict { reason: error.to_string() });
            }
            Err(error) => self.refuse("admission", &error),
            Ok(()) => {}
        }
        self.drain_door();
    }

    pub(crate) fn drain_door(&mut self) {
        while let Some(output) = self.joining.poll_output() {
            match output {
                admission::Output::Persist(persist) => {
                    self.remember(&persist);
                    self.persist(persist);
                }
                admission::Output::Guest { to, payload } => self.tell_guest(to, payload),
                admission::Output::Multicast(bytes) => self.multicast_open(&bytes),
                admission::Output::Item(item) => self.tell_node(ToNode::Item(self.home, item)),
                admission::Output::Event(event) => self.admission_event(event),
                // Neither a member nor an applicant has a log.
                admission::Output::Log(record) => self.event(Event::Log(record)),
                admission::Output::Trace(text) => self.trace("admission", text),
            }
        }
    }

    /// Keeps in memory what the store has of votes and requests: a member that is admitted again
    /// starts from it.
    fn remember(&mut self, persist: &base::Persist) {
        self.stored.retain(|(key, _)| *key != persist.key);
        if let Some(value) = persist.value.as_ref().filter(|_| persist.key.table != OFFICE_TABLE) {
            self.stored.push((persist.key.clone(), value.clone()));
        }
    }

    /// An item has its place in the order: verify it here too, and act on what it changes. A node
    /// that hands up a Past has judged it by its clock; ours may be a little behind.
    pub(crate) fn item(&mut self, now: Instant, item: Bytes, entropy: &mut dyn Entropy) {
        let clock = self.sight.time().map(|clock| UnixTime(clock.0.saturating_add(BEHIND_SECONDS)));
        let taken = match self.transcript.take(&item, clock) {
            Ok(taken) => taken,
            Err(error) => return self.refuse("transcript", &error),
        };
        if let Ok(Item::Past { time }) = Item::decode(&item)
            && time > self.transcript.set().past()
        {
            self.early = self.early.max(time);
        }
        if taken.new || !taken.went.is_empty() {
            self.taken(now, item, taken, entropy);
        }
    }

    /// Takes what our clock had not come to: our node has it.
    pub(crate) fn take_early(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        for item in self.sight.time().map_or_else(Vec::new, |clock| self.transcript.due(clock)) {
            self.item(now, item, entropy);
        }
        let past = core::mem::take(&mut self.early);
        if past > self.transcript.set().past() && past > self.transcript.state().time() {
            self.item(now, Item::Past { time: past }.encode().into(), entropy);
        }
    }

    /// Has the clock judge again what it or the store has let in: at a start and when it goes back
    /// ([`Transcript::ask_at_start`]), and before we agree with others ([`Transcript::ask_again`]).
    pub(crate) fn judge_again(
        &mut self,
        now: Instant,
        entropy: &mut dyn Entropy,
        judge: fn(&mut Transcript, UnixTime) -> Taken,
    ) {
        let Some(clock) = self.sight.time() else { return };
        let mark = self.transcript.mark();
        let taken = judge(&mut self.transcript, clock);
        if self.transcript.mark() != mark {
            self.taken(now, Bytes::new(), taken, entropy);
        }
    }

    /// Our node went on without the decisions between, or over to another line: so do we.
    pub(crate) fn package(
        &mut self,
        now: Instant,
        package: &Bytes,
        resolves: Option<Head>,
        entropy: &mut dyn Entropy,
    ) {
        let left = self.transcript.state().head();
        let clock = self.sight.time();
        let taken = match self.transcript.take_package(package, resolves, clock) {
            Ok(taken) => taken,
            Err(error) => return self.refuse("transcript", &error),
        };
        let head = self.transcript.state().head();
        if self.transcript.state().decision_at(left.number).is_some_and(|now| now != left) {
            self.event(Event::WentOver { left, head });
        } else if self.transcript.skipped().is_some_and(|skipped| (skipped.from, skipped.to) == (left, head))
        {
            self.event(Event::Skipped { left, head });
        }
        self.taken(now, Bytes::new(), taken, entropy);
    }

    /// `LINE-78`: our node has not gone on by this package, and our person may. We look ourselves
    /// whether it stands.
    pub(crate) fn offered(&mut self, package: &[u8]) {
        let shown = shown_by_package(package);
        let Some(head) = shown.last().map(Standing::head) else { return };
        if let Err(error) = self.transcript.clone().take_package(package, Some(head), None) {
            return self.refuse("transcript", &error);
        }
        self.offered = shown.iter().map(Ahead::from).collect();
        self.event(Event::Offered { head });
    }

    pub(crate) fn taken(&mut self, now: Instant, item: Bytes, taken: Taken, entropy: &mut dyn Entropy) {
        self.tell_change(&taken);
        self.follow_roster(now, &taken, entropy);
        let heads = self.transcript.digest();
        let groups: Vec<GroupId> = self.stacks.keys().copied().collect();
        for group in groups {
            if let Some(stack) = self.stacks.get_mut(&group) {
                stack.flush.heads(now, heads);
            }
            self.follow_charter(now, group, entropy);
            self.settle(now, group, entropy);
        }
        let told = taken.came.contains(&self.me);
        self.ask_door(now, admission::Input::Item { item, taken }, entropy);
        let was_inside = matches!(self.joining, Joining::Inside(_));
        if let Err(error) = self.open_door() {
            self.trace("admission", error.to_string());
        }
        if !was_inside && matches!(self.joining, Joining::Inside(_)) {
            self.tell_links(now, entropy);
            if !told {
                self.tell_admitted(self.me);
            }
        }
        self.apply_if_ended(now, entropy);
        self.ask_again(now);
    }

    /// What an item means for each group's stack, at its own place in the order. A notice comes
    /// with it, or a little later.
    fn follow_roster(&mut self, now: Instant, taken: &Taken, entropy: &mut dyn Entropy) {
        let (me, roster) = (self.me, self.transcript.roster());
        for stack in self.stacks.values_mut() {
            stack.follow(roster);
        }
        // MEM-03: removed by our own transcript, whatever our node says about it, and whenever.
        if taken.went.contains(&me) {
            let cause = roster.former(&me).map_or(Cause::Expelled, |former| former.ending.cause());
            let stacks: Vec<(GroupId, bool)> =
                self.stacks.iter().map(|(group, stack)| (*group, stack.asked && !stack.joined)).collect();
            for (group, on_its_way) in stacks {
                self.removed(now, group, cause, entropy);
                if on_its_way {
                    // If we were admitted again before the join has its place in the order, nobody
                    // would be there to answer for it.
                    self.speak(Says::Leave { group });
                }
            }
        }
        self.release_all();
    }

    fn tell_admitted(&mut self, member: MemberId) {
        let held = self.transcript.roster().member(&member);
        let name = held.map(|held| held.name.clone()).unwrap_or_default();
        self.event(Event::Admitted { member, name });
    }

    /// Whether we are a member, as far as is known: nobody can say so on a line that has not
    /// reached the head that our person named.
    pub(crate) fn is_in(&self) -> bool {
        self.transcript.awaits().is_none() && self.transcript.roster().is_member(&self.me)
    }

    fn tell_change(&mut self, taken: &Taken) {
        let replaced = self.transcript.state().replaced();
        let by: Vec<MemberId> =
            taken.went.iter().filter_map(|member| replaced.get(member)).map(|one| one.by).collect();
        let came = taken.came.iter().filter(|member| **member != self.me || self.is_in());
        // It is the same member as before.
        let came = came.filter(|member| !by.contains(member));
        came.copied().collect::<Vec<_>>().into_iter().for_each(|member| self.tell_admitted(member));
        for member in &taken.went {
            self.event(Event::Expelled { member: *member });
        }
    }
}
