//! What this member says as a voter: approvals and rejections, until the transcript has them.
//!
//! A word is persisted before it is sent, and sent again until the transcript has it or it can
//! count no more. Of each subject the last word is kept here.

use crate::call::Call;
use crate::desk::Desk;
use crate::{AdmissionError, store};
use folkmoot_base::UnixTime;
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Item, LIFE_SECONDS, SignedApproval, Subject};
use std::collections::BTreeMap;

/// Own words on their way.
#[derive(Debug, Default)]
pub(crate) struct Words(BTreeMap<Subject, SignedApproval>);

impl Words {
    pub(crate) fn restore(&mut self, word: SignedApproval) {
        self.0.insert(word.approval.subject, word);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, subject: &Subject) -> Option<&SignedApproval> {
        self.0.get(subject)
    }
}

impl Desk {
    /// Says yes or no as a voter to a subject that last changed at the decision `stamp`. A word
    /// that says the same and still counts is not said again.
    pub(crate) fn speak(
        &mut self,
        call: &Call<'_>,
        (subject, stamp): (Subject, u64),
        verdict: Verdict,
        expires: UnixTime,
    ) -> Result<(), AdmissionError> {
        let me = call.me();
        if !call.transcript.roster().may_vote(&me) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let on_its_way = self.words.get(&subject).is_some_and(|word| word.approval.verdict == verdict);
        if on_its_way || self.holds_word(call, (subject, stamp), verdict) {
            return Ok(());
        }
        let latest = call.time();
        let expires = expires.min(UnixTime(latest.0.saturating_add(LIFE_SECONDS)));
        let word = call.transcript.approve(call.identity, subject, verdict, expires);
        self.out.persist(store::put_word(&word));
        self.send_word(&word);
        self.words.restore(word);
        self.out.soon();
        Ok(())
    }

    /// Whether the transcript has this word of ours, and it counts by itself.
    fn holds_word(&self, call: &Call<'_>, (subject, stamp): (Subject, u64), verdict: Verdict) -> bool {
        let (set, state) = (call.transcript.set(), call.transcript.state());
        let said = set.approval(&subject, &call.me());
        let time = call.time();
        said.is_some_and(|said| {
            said.approval.verdict == verdict && state.counts(&said.approval, stamp, time).is_ok()
        })
    }

    /// What this member says about a subject: on its way, or in the transcript.
    pub(crate) fn own_verdict(&self, call: &Call<'_>, subject: &Subject) -> Option<Verdict> {
        let said = call.transcript.set().approval(subject, &call.me());
        let said = said.map(|said| said.approval.verdict);
        self.words.get(subject).map(|word| word.approval.verdict).or(said)
    }

    fn send_word(&mut self, word: &SignedApproval) {
        let item = Item::Approval(word.clone()).encode();
        self.out.item(item);
    }

    /// Forgets the words that the transcript has, or that can count no more.
    pub(crate) fn settle_words(&mut self, call: &Call<'_>) {
        let (set, state) = (call.transcript.set(), call.transcript.state());
        let time = call.clock.unwrap_or_default();
        let done = |word: &SignedApproval| {
            let there = set.approval(&word.approval.subject, &word.approval.voter);
            let replaced = there.is_some_and(|there| there.approval.turn >= word.approval.turn);
            replaced || state.counts(&word.approval, 0, time).is_err()
        };
        let done: Vec<Subject> =
            self.words.0.iter().filter(|(_, word)| done(word)).map(|(subject, _)| *subject).collect();
        for subject in done {
            self.words.0.remove(&subject);
            self.out.persist(store::delete_word(&subject));
        }
    }

    pub(crate) fn resend_words(&mut self) {
        let words: Vec<SignedApproval> = self.words.0.values().cloned().collect();
        words.iter().for_each(|word| self.send_word(word));
    }
}
