//! What this member says as a voter: approvals and rejections, until the transcript has them.
//!
//! A word is persisted before it is sent, and sent again until the transcript has it or it can
//! count no more. Of each subject the last word is kept here.

use crate::call::{Call, Out};
use crate::{AdmissionError, store};
use folkmoot_base::UnixTime;
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Approval, Effect, Item, SignedApproval, Subject};
use std::collections::BTreeMap;

/// Own words on their way.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeMap<Subject, SignedApproval>);

impl Words {
    pub(super) fn restore(&mut self, word: SignedApproval) {
        self.0.insert(word.approval.subject, word);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, subject: &Subject) -> Option<&SignedApproval> {
        self.0.get(subject)
    }

    /// Says yes or no as a voter to a subject that last changed at the decision `stamp`. A word
    /// that says the same and still counts is not said again.
    pub(super) fn speak(
        &mut self,
        call: &Call<'_>,
        (subject, stamp): (Subject, u64),
        verdict: Verdict,
        expires: UnixTime,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let me = call.me();
        if !call.transcript.roster().may_vote(&me) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let on_its_way = self.get(&subject).is_some_and(|word| word.approval.verdict == verdict);
        if !on_its_way && !holds_word(call, (subject, stamp), verdict) {
            self.say(call, subject, verdict, expires, out);
        }
        Ok(())
    }

    /// Signs this voter's next word on a subject.
    fn say(&mut self, call: &Call<'_>, subject: Subject, verdict: Verdict, expires: UnixTime, out: &mut Out) {
        let word = call.transcript.approve(call.identity, subject, verdict, expires.min(call.longest()));
        out.persist(store::put_word(&word));
        send_word(&word, out);
        self.restore(word);
        out.soon();
    }

    /// `ADM-96`: says a yes to an admission again, until `expires` at most, if it does not end
    /// later by itself. Whether it did: the word that is on its way stands.
    pub(super) fn say_again(
        &mut self,
        call: &Call<'_>,
        own: &Approval,
        expires: UnixTime,
        out: &mut Out,
    ) -> bool {
        let later = expires.min(call.longest()) > own.expires;
        let says = later && self.get(&own.subject).is_none();
        if says {
            self.say(call, own.subject, Verdict::Approve, expires, out);
        }
        says
    }

    /// What this member says about a subject: on its way, or in the transcript.
    pub(super) fn verdict(&self, call: &Call<'_>, subject: &Subject) -> Option<Verdict> {
        let said = call.transcript.set().approval(subject, &call.me());
        let said = said.map(|said| said.approval.verdict);
        self.get(subject).map(|word| word.approval.verdict).or(said)
    }

    /// Whether this member has a yes to this effect that counts, on its way or in the transcript.
    pub(super) fn backs(&self, call: &Call<'_>, effect: &Effect) -> bool {
        let (set, state, subject) = (call.transcript.set(), call.transcript.state(), effect.subject());
        let on_its_way = self.get(&subject).map(|word| &word.approval);
        let word = on_its_way.or_else(|| set.approval(&subject, &call.me()).map(|said| &said.approval));
        let stamp = call.transcript.stamp_of(&effect.change);
        word.is_some_and(|word| word.is_yes() && state.counts(word, stamp, call.time()).is_ok())
    }

    /// Forgets the words that the transcript has, or that can count no more; `known` are the
    /// effects that words may be about.
    pub(super) fn settle<'e>(
        &mut self,
        call: &Call<'_>,
        known: impl Fn(&Subject) -> Option<&'e Effect>,
        out: &mut Out,
    ) {
        let (set, state) = (call.transcript.set(), call.transcript.state());
        let time = call.clock.unwrap_or_default();
        let done = |word: &SignedApproval| {
            let there = set.approval(&word.approval.subject, &word.approval.voter);
            let replaced = there.is_some_and(|there| there.approval.turn >= word.approval.turn);
            let effect = known(&word.approval.subject).filter(|_| word.approval.is_yes());
            let stamp = effect.map_or(0, |effect| call.transcript.stamp_of(&effect.change));
            replaced || state.counts(&word.approval, stamp, time).is_err()
        };
        let done: Vec<Subject> =
            self.0.iter().filter(|(_, word)| done(word)).map(|(subject, _)| *subject).collect();
        for subject in done {
            self.0.remove(&subject);
            out.persist(store::delete_word(&subject));
        }
    }

    pub(super) fn resend(&self, out: &mut Out) {
        self.0.values().for_each(|word| send_word(word, out));
    }
}

/// Whether the transcript has this word of ours, and it counts by itself.
fn holds_word(call: &Call<'_>, (subject, stamp): (Subject, u64), verdict: Verdict) -> bool {
    let (set, state) = (call.transcript.set(), call.transcript.state());
    let said = set.approval(&subject, &call.me());
    let time = call.time();
    said.is_some_and(|said| {
        said.approval.verdict == verdict && state.counts(&said.approval, stamp, time).is_ok()
    })
}

fn send_word(word: &SignedApproval, out: &mut Out) {
    let item = Item::Approval(word.clone()).encode();
    out.item(item);
}
