//! What is known of the transcript of one peer.

use crate::parts::Mark;
use base::{Digest, Head, Instant};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_transcript::{Have, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// Most names of items that a peer has shown and that were not taken.
const SHOWN_MAX: usize = 2_048;
/// How long one peer is asked alone, of all that have the same, while no answer comes.
const PASS_LIFE: Duration = Duration::from_secs(1);
/// Most answers that a guest is given in a second: each may cost as much as a part of the set.
const GUEST_ANSWERS_MAX: u32 = 32;
/// Most late admissions of one guest that are kept beside the transcript.
const ASIDE_MAX: usize = 128;
/// Most bytes of them.
const ASIDE_BYTES_MAX: usize = 256 * 1024;

/// A transcript beside ours.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Where it stands, as its node last said.
    pub(super) mark: Option<Mark>,
    /// The comparison of both sets that is going on.
    pass: Option<Pass>,
    /// Our mark and its mark when a whole comparison brought nothing any more.
    tried: Option<(Mark, Mark)>,
    /// Its head and ours when it was found to be on another line.
    pub(super) other_line: Option<(Head, Head)>,
    /// Since when, and how many answers its node has been given since.
    answers: (Instant, u32),
    shown: BTreeSet<Digest>,
    aside: BTreeMap<Digest, Bytes>,
    aside_bytes: usize,
}

/// One walk through the names of the sets, part by part.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// Where the part begins that was asked for.
    from: Digest,
    /// Where it ends.
    until: Digest,
    /// Whether anything new has come.
    fruitful: bool,
    /// When it began, or the last answer came.
    at: Instant,
}

impl Pass {
    /// Whether answers come.
    fn goes_on(&self, now: Instant) -> bool {
        now.since(self.at) < PASS_LIFE
    }

    /// Goes on to the next part; `false` after the last.
    fn advance(&mut self) -> bool {
        let mut next = self.until;
        for byte in next.iter_mut().rev() {
            let (sum, carry) = byte.overflowing_add(1);
            *byte = sum;
            if !carry {
                self.from = next;
                return true;
            }
        }
        false
    }
}

impl Compared {
    /// Whether a comparison with this mark goes on here.
    pub(super) fn compares(&self, mark: &Mark, now: Instant) -> bool {
        self.mark.as_ref() == Some(mark) && self.pass.is_some_and(|pass| pass.goes_on(now))
    }

    /// Whether a comparison goes on here, though no answer may come.
    pub(super) fn is_comparing(&self) -> bool {
        self.pass.is_some()
    }

    /// Whether no comparison is to begin: one goes on, or brought nothing, or would lead to another
    /// line.
    pub(super) fn is_busy(&self, ours: Mark, theirs: Mark) -> bool {
        self.pass.is_some() || self.tried == Some((ours, theirs)) || self.other_line.is_some()
    }

    /// Whether a guest's question is answered; a member's always is.
    pub(super) fn may_ask(&mut self, now: Instant) -> bool {
        if now.since(self.answers.0) >= Duration::from_secs(1) {
            self.answers = (now, 0);
        }
        self.answers.1 = self.answers.1.saturating_add(1);
        self.answers.1 <= GUEST_ANSWERS_MAX
    }

    /// A new comparison begins: what was not taken before may be now.
    pub(super) fn begin_pass(&mut self, at: Instant) {
        self.shown.clear();
        self.pass = Some(Pass { from: [0; 32], until: [0; 32], fruitful: false, at });
    }

    /// A comparison that brought nothing may bring something now.
    pub(super) fn try_anew(&mut self) {
        self.tried = None;
    }

    /// The part that the comparison has come to, with what we have of it.
    pub(super) fn part(&mut self, known: &Transcript) -> Option<Have> {
        let pass = self.pass.as_mut()?;
        let have = known.part_besides(pass.from, &self.shown);
        pass.until = have.until;
        Some(have)
    }

    /// An answer came. Whether there is something to ask for.
    pub(super) fn go_on(&mut self, now: Instant, news: bool, ours: Mark) -> bool {
        let Some(mut pass) = self.pass.take() else { return false };
        if self.mark == Some(ours) {
            self.is_even_now();
            return false;
        }
        pass.fruitful |= news;
        pass.at = now;
        if news || pass.advance() {
            self.pass = Some(pass);
        } else if pass.fruitful {
            self.begin_pass(now);
        } else {
            self.tried = self.mark.map(|theirs| (ours, theirs));
            return false;
        }
        true
    }

    /// Both have the same.
    pub(super) fn is_even_now(&mut self) {
        self.pass = None;
        self.tried = None;
        self.shown.clear();
        self.aside.clear();
        self.aside_bytes = 0;
    }

    /// It is on another line. Whether that is new for these heads.
    pub(super) fn found_other(&mut self, theirs: Head, ours: Head) -> bool {
        self.pass = None;
        self.other_line.replace((theirs, ours)) != Some((theirs, ours))
    }

    /// Its node has shown an item of this name, and it was not taken.
    pub(super) fn show(&mut self, name: Digest) {
        if self.shown.len() < SHOWN_MAX {
            self.shown.insert(name);
        }
    }

    /// How many it has shown that were not taken.
    #[cfg(test)]
    pub(super) fn shown_count(&self) -> usize {
        self.shown.len()
    }

    /// Keeps a late admission beside the transcript, by its request, if there is room.
    pub(super) fn keep_aside(&mut self, request: Digest, item: &Bytes) {
        let bytes = self.aside_bytes.saturating_add(item.len());
        let room = self.aside.len() < ASIDE_MAX && bytes <= ASIDE_BYTES_MAX;
        if room && !self.aside.contains_key(&request) {
            self.aside_bytes = bytes;
            self.aside.insert(request, item.clone());
        }
    }

    /// The late admissions of these requests that are kept.
    pub(super) fn aside(&self, requests: &[Digest]) -> Vec<Bytes> {
        requests.iter().filter_map(|request| self.aside.get(request)).cloned().collect()
    }
}
