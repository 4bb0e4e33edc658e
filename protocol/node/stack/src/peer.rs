//! What a node knows of a peer whose link is up.

use crate::parts::Mark;
use crate::pieces::Incoming;
use base::{Digest, Head, Instant, Locator};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base as base;
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

/// What a node knows of a peer whose link is up.
#[derive(Debug)]
pub(crate) struct PeerInfo {
    pub(crate) at: Locator,
    /// Its transcript, as it last said.
    pub(crate) mark: Option<Mark>,
    /// Reported to the ring as eligible. Stays so until the link goes down, the roster drops the
    /// peer or it shows another line, so that an item on its way does not disturb a ring that
    /// stands. The group layer's State exchange settles the differences.
    pub(crate) eligible: bool,
    /// The comparison of both sets that is going on.
    pub(crate) pass: Option<Pass>,
    /// Our mark and its mark when a whole comparison brought nothing any more.
    pub(crate) tried: Option<(Mark, Mark)>,
    /// Its head and ours when it was found to be on another line.
    pub(crate) other_line: Option<(Head, Head)>,
    /// A long item that is coming in pieces.
    pub(crate) incoming: Option<Incoming>,
    /// Since when, and how many answers it has been given since.
    answers: (Instant, u32),
    shown: BTreeSet<Digest>,
    aside: BTreeMap<Digest, Bytes>,
    aside_bytes: usize,
}

/// One walk through the names of the sets, part by part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    /// Where the part begins that was asked for.
    pub(crate) from: Digest,
    /// Where it ends.
    pub(crate) until: Digest,
    /// Whether anything new has come.
    pub(crate) fruitful: bool,
    /// When it began, or the last answer came.
    pub(crate) at: Instant,
}

impl Pass {
    /// Whether answers come.
    fn goes_on(&self, now: Instant) -> bool {
        now.since(self.at) < PASS_LIFE
    }

    /// Goes on to the next part; `false` after the last.
    pub(crate) fn advance(&mut self) -> bool {
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

impl PeerInfo {
    pub(crate) fn new(at: Locator) -> Self {
        Self {
            at,
            mark: None,
            eligible: false,
            pass: None,
            tried: None,
            other_line: None,
            incoming: None,
            answers: (Instant(0), 0),
            shown: BTreeSet::new(),
            aside: BTreeMap::new(),
            aside_bytes: 0,
        }
    }

    /// Whether a comparison with this mark goes on here.
    pub(crate) fn compares(&self, mark: &Mark, now: Instant) -> bool {
        self.mark.as_ref() == Some(mark) && self.pass.is_some_and(|pass| pass.goes_on(now))
    }

    /// Whether a guest's question is answered; a member's always is.
    pub(crate) fn may_ask(&mut self, now: Instant) -> bool {
        if now.since(self.answers.0) >= Duration::from_secs(1) {
            self.answers = (now, 0);
        }
        self.answers.1 = self.answers.1.saturating_add(1);
        self.answers.1 <= GUEST_ANSWERS_MAX
    }

    /// A new comparison begins: what was not taken before may be now.
    pub(crate) fn begin_pass(&mut self, at: Instant) {
        self.shown.clear();
        self.pass = Some(Pass { from: [0; 32], until: [0; 32], fruitful: false, at });
    }

    /// Both have the same.
    pub(crate) fn is_even_now(&mut self) {
        self.pass = None;
        self.tried = None;
        self.shown.clear();
        self.aside.clear();
        self.aside_bytes = 0;
    }

    /// The peer has shown an item of this name, and it was not taken.
    pub(crate) fn show(&mut self, name: Digest) {
        if self.shown.len() < SHOWN_MAX {
            self.shown.insert(name);
        }
    }

    /// The names of what it has shown and was not taken.
    pub(crate) fn shown(&self) -> &BTreeSet<Digest> {
        &self.shown
    }

    /// Keeps a late admission beside the transcript, by its request, if there is room.
    pub(crate) fn keep_aside(&mut self, request: Digest, item: &Bytes) {
        let bytes = self.aside_bytes.saturating_add(item.len());
        let room = self.aside.len() < ASIDE_MAX && bytes <= ASIDE_BYTES_MAX;
        if room && !self.aside.contains_key(&request) {
            self.aside_bytes = bytes;
            self.aside.insert(request, item.clone());
        }
    }

    /// The late admissions of these requests that are kept.
    pub(crate) fn aside(&self, requests: &[Digest]) -> Vec<Bytes> {
        requests.iter().filter_map(|request| self.aside.get(request)).cloned().collect()
    }
}
