//! Which admissions of the set count: rules 4 to 7 of the line.

use super::{Kept, Set, admission};
use crate::{Admit, Approval, Refusal, State, Subject, Uncounted};
use folkmoot_base::{Danger, Digest, MemberId, UnixTime, limits};
use folkmoot_identity::{Adopt, Serial, VoteKind};
use std::collections::{BTreeMap, BTreeSet};

const DAY_SECONDS: u64 = 86_400;

impl Set {
    /// Whether an admission counts at this state by the approvals that are here: `LINE-20` to
    /// `LINE-31`.
    ///
    /// # Errors
    /// Why not: it is late.
    pub fn judge(&self, state: &State, admit: &Admit) -> Result<(), Uncounted> {
        let time = self.time(state);
        self.judge_at(state, admit, time, time)
    }

    /// The same at `time`, with approvals that had not run out at `approved`.
    pub(super) fn judge_at(
        &self,
        state: &State,
        admit: &Admit,
        time: UnixTime,
        approved: UnixTime,
    ) -> Result<(), Uncounted> {
        state.check_request(admit, time)?;
        if self.is_refused(state, admit) {
            return Err(Uncounted::Refused);
        }
        self.approved_at(state, admit, approved, self.approvals_of(admission(admit.request)))
    }

    /// The last moment at which an admission counts by the approvals that are here, whatever the
    /// time is: the end of its term, or before that the moment after which too few approvals have
    /// not run out. None if it never does.
    pub(super) fn last_of(&self, state: &State, admit: &Admit) -> Option<UnixTime> {
        self.judge_at(state, admit, UnixTime(0), UnixTime(0)).ok()?;
        let given = || self.approvals_of(admission(admit.request));
        let counts = |time: UnixTime| self.approved_at(state, admit, time, given()).is_ok();
        if counts(admit.ends) {
            return Some(admit.ends);
        }
        let ends: BTreeSet<UnixTime> = given().map(|approval| approval.expires).collect();
        ends.into_iter().rev().find(|end| counts(*end)).map(|end| end.min(admit.ends))
    }

    /// `LINE-06`: whether a decision of this time may hold this, by the approvals that are here.
    /// Neither objections nor a no that came since end it: somebody may have committed to it.
    pub(crate) fn vouches(&self, state: &State, request: &Digest, time: UnixTime) -> bool {
        let auto = state.charter().adopt() == Adopt::Auto;
        let approved = if auto { UnixTime(0) } else { time };
        self.admit(request).is_some_and(|admit| {
            let given = self.approvals_of(admission(admit.request)).chain(self.besides(request));
            state.check_request(admit, state.time()).is_ok()
                && self.approved_at(state, admit, approved, given).is_ok()
        })
    }

    fn approved_at<'a>(
        &self,
        state: &State,
        admit: &Admit,
        time: UnixTime,
        given: impl Iterator<Item = &'a Approval>,
    ) -> Result<(), Uncounted> {
        let stamp = state.removed_at(&admit.member);
        let mut yes = BTreeSet::new();
        let mut first = None;
        for approval in given.filter(|approval| approval.is_yes()) {
            match approves(state, admit, stamp, approval, time) {
                Ok(()) => {
                    yes.insert(approval.voter);
                }
                Err(why) => first = first.or(Some(why)),
            }
        }
        // What one approval lacks says more than that one is missing.
        state.lets_in(&admit.member, &yes).map_err(|why| first.unwrap_or(why))
    }

    /// Whether objections end this admission: they count here, or a decision has said so.
    pub fn is_refused(&self, state: &State, admit: &Admit) -> bool {
        let named = |refusal: &&Refusal| refusal.covers(admit);
        state.is_refused(admit)
            || self.is_objected(state, &admit.request)
            || self.refusals.iter().filter(named).any(|refusal| self.is_objected(state, &refusal.request))
    }

    /// Whether as many rejections of this request count as the charter asks for.
    pub(super) fn is_objected(&self, state: &State, request: &Digest) -> bool {
        let need = usize::try_from(state.charter().policies().objections.unwrap_or_default());
        let no = self.objections(state, request).count();
        need.is_ok_and(|need| need > 0 && no >= need) && !state.is(Danger::LineNoRefusals)
    }

    pub(super) fn objections<'a>(
        &'a self,
        state: &'a State,
        request: &Digest,
    ) -> impl Iterator<Item = &'a super::Signed> {
        let no = self.signed_of(admission(*request)).filter(|signed| !signed.approval.is_yes());
        // An objection does not run out: it ends for good what it ends.
        no.filter(|signed| state.counts(&signed.approval, 0, UnixTime(0)).is_ok())
    }

    /// Judges what an approval of this subject may have changed.
    pub(super) fn judge_again(&mut self, state: &State, subject: &Subject) {
        if subject.kind != VoteKind::Admit {
            return;
        }
        let of_request = refusal(subject.digest, None)..=refusal(subject.digest, Some([0xff; 16]));
        let named: Vec<Digest> = if self.refusals.range(of_request).next().is_some() {
            let by_csr = self.admits.values().map(|kept| &kept.admit).filter(|admit| admit.csr.is_some());
            by_csr.map(|admit| admit.request).chain([subject.digest]).collect()
        } else {
            vec![subject.digest]
        };
        let mut moved = false;
        for request in named {
            let Some(kept) = self.admits.get(&request) else { continue };
            let (verdict, last) = (self.judge(state, &kept.admit), self.last_of(state, &kept.admit));
            let Some(kept) = self.admits.get_mut(&request) else { continue };
            kept.last = last;
            let had_room = kept.verdict.as_ref().err().is_none_or(is_crowded);
            if verdict.is_ok() && had_room {
                continue;
            }
            moved |= verdict.is_ok() || had_room;
            kept.verdict = verdict;
        }
        if moved {
            self.crowd(state);
        }
    }

    pub(super) fn judge_all(&mut self, state: &State) {
        self.judged = self.time(state);
        let judged = |kept: &Kept| (self.judge(state, &kept.admit), self.last_of(state, &kept.admit));
        let all: Vec<_> = self.admits.values().map(judged).collect();
        for (kept, (verdict, last)) in self.admits.values_mut().zip(all) {
            (kept.verdict, kept.last) = (verdict, last);
        }
        self.crowd(state);
    }

    /// `LINE-29`, `LINE-30`: what cannot hold beside what comes before it, by request: a serial
    /// number that another certificate has, and one member too many.
    pub(super) fn crowd(&mut self, state: &State) {
        let mut room = Room::at(state);
        for kept in self.admits.values_mut() {
            if kept.verdict.as_ref().is_err_and(|why| !is_crowded(why)) {
                continue;
            }
            kept.verdict = room.take(&kept.admit);
        }
    }
}

/// Whether it only lacks room beside what comes before it.
fn is_crowded(why: &Uncounted) -> bool {
    matches!(why, Uncounted::Full | Uncounted::SerialNumber)
}

fn refusal(request: Digest, csr: Option<Serial>) -> Refusal {
    Refusal { request, csr }
}

/// The room that a state leaves for admissions.
pub(super) struct Room<'a> {
    state: &'a State,
    /// The serial numbers of members' certificates, each with its request.
    held: BTreeMap<Serial, Digest>,
    serials: BTreeSet<Serial>,
    members: BTreeSet<MemberId>,
}

impl<'a> Room<'a> {
    pub(super) fn at(state: &'a State) -> Self {
        let members = state.roster().keys().copied().collect();
        let held = state.roster().values().filter_map(|held| Some((held.issued?, held.request))).collect();
        Self { state, held, serials: BTreeSet::new(), members }
    }

    /// Takes one more, if there is room for it.
    pub(super) fn take(&mut self, admit: &Admit) -> Result<(), Uncounted> {
        let another = |serial| {
            let of_other = self.held.get(&serial).is_some_and(|request| *request != admit.request);
            of_other || self.serials.contains(&serial) || self.state.revoked().contains_key(&serial)
        };
        if admit.issued.is_some_and(another) {
            return Err(Uncounted::SerialNumber);
        }
        if self.members.len() >= limits::MEMBERS_MAX && !self.members.contains(&admit.member) {
            return Err(Uncounted::Full);
        }
        self.serials.extend(admit.issued);
        self.members.insert(admit.member);
        Ok(())
    }
}

/// Whether an approval counts for this admission at a time: by itself, and for its term.
pub(super) fn approves(
    state: &State,
    admit: &Admit,
    stamp: u64,
    approval: &Approval,
    time: UnixTime,
) -> Result<(), Uncounted> {
    state.counts(approval, stamp, time).and_then(|()| fits(state, admit, approval))
}

/// Whether the approval's end fits the term that it approves: it had not run out before the term
/// begins, and it does not outlast what the charter allows a request.
fn fits(state: &State, admit: &Admit, approval: &Approval) -> Result<(), Uncounted> {
    let days =
        state.charter().policies().request_days.map(|days| u64::from(days).saturating_mul(DAY_SECONDS));
    let last = days.map(|seconds| admit.begins.0.saturating_add(seconds));
    if approval.expires < admit.begins || last.is_some_and(|last| approval.expires.0 > last) {
        return Err(Uncounted::Expired(approval.voter));
    }
    Ok(())
}
