//! Who shares a key, and the key: nodes of a topic find one another, agree, and agree again when
//! somebody comes, leaves or is excluded. No server, no clock, no order of messages.
//!
//! ```text
//!            JOIN           candidate that lists me        all shares          all confirms
//!   asking ────────> choosing ──────────────────> sharing ───────────> locked ────────────> in a group
//!     ^  nobody: alone │  ^ a better candidate        │  ^ another's share     │                 │
//!     │                │  └───────────────────────────┘    for a better one    │                 │
//!     └────────────────┴──────── in vain: the silent are left out <────────────┘                 │
//!                      └<─────────────── JOIN, leave, exclusion, a larger group <────────────────┘
//! ```
//! The promise: all who are connected come to share one key, and nobody else has it. Nothing that
//! was recorded starts anything. No key has another's number at one node. How to drive it:
//! [`Discovery::handle`], then [`Discovery::poll_output`] until `None`, then
//! [`Discovery::poll_timeout`]. Relies on: what is persisted is durable before later outputs. Does
//! not rely on: clocks of others, order or arrival of messages. docs/pubsub.md has the rules.

mod api;
mod attempt;
mod beacon;
mod choose;
mod derive;
mod known;
mod memory;
pub mod message;
mod pace;
mod read;
mod rounds;
mod say;
mod sets;

pub use api::{
    Danger, Epoch, Event, Exclusion, Input, Output, Papers, Renewal, Settings, Standing, Times, is_long_over,
};
pub use derive::{epoch_key, share_of};

use crate::base::{DecodeError, Digest, Entropy, Instant, Secret, UnixTime};
use attempt::Attempt;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_agreement::Kept;
use known::Known;
use memory::{Instances, Memory};
use message::Proof;
use pace::Pace;
use sets::{Candidate, Entry, Rank};
use std::collections::{BTreeSet, VecDeque};

/// Candidates that came to nothing, and are not tried again.
const FAILED_MAX: usize = 64;

/// The group that this node shares a key with.
struct Group {
    run: Digest,
    number: u64,
    order: Vec<Entry>,
    kept: Option<Kept>,
}

/// When to do what.
#[derive(Debug, Default)]
struct Timers {
    respond: Option<Instant>,
    /// Since when somebody waits for a response.
    since: Option<Instant>,
    /// A number below 2^16, drawn for the first answer.
    lot: u32,
    alone: Option<Instant>,
    again: Option<Instant>,
    claim: Option<Instant>,
    beacon: Option<Instant>,
    behind: Option<Instant>,
    tell: Option<Instant>,
    ask: Option<(Instant, u16, Digest)>,
    /// No second answer of its kind before this.
    quiet: Option<Instant>,
}

/// The machine of one node for one key.
pub struct Discovery<P> {
    papers: P,
    settings: Settings,
    tag: [u8; 16],
    instances: Instances,
    /// The highest number that this node confirmed.
    promised: u64,
    /// The highest number that another group said it has, or of what came to nothing here.
    seen: u64,
    me: Option<Entry>,
    uid: u16,
    asked: Instant,
    known: Known,
    pace: Pace,
    group: Option<Group>,
    attempt: Option<Attempt>,
    /// An agreement that others may have finished.
    doubt: Option<Attempt>,
    /// The agreement of the group, for those who missed the end.
    last: Option<Attempt>,
    /// A better candidate that came too late, for when this attempt fails.
    other: Option<(Candidate, Bytes)>,
    /// The best candidate that lacks this node.
    rival: Option<(Rank, Instant)>,
    failed: VecDeque<Digest>,
    /// An agreement failed, and nobody was silent: no base is believed.
    distrust: bool,
    /// Certificates that are out, of which others seem not to know.
    untold: BTreeSet<Digest>,
    /// Who said something old, and is told so with the next beacon.
    forgetful: Option<u16>,
    /// A candidate came with a number that this node has confirmed already.
    raise: bool,
    failures: u32,
    seed: Option<Secret<[u8; 32]>>,
    out_of_it: bool,
    /// This node leaves: what proves it, and how often that is still said.
    leaving: Option<(Proof, u8)>,
    wall: Option<UnixTime>,
    timers: Timers,
    out: VecDeque<Output>,
    refused: u64,
    accepted: u64,
}

impl<P: Papers> Discovery<P> {
    /// A machine that has not begun. `stored` is what it persisted last, if it ever ran.
    ///
    /// # Errors
    /// [`DecodeError`] if `stored` is not that.
    pub fn new(papers: P, settings: Settings, stored: Option<&[u8]>) -> Result<Self, DecodeError> {
        let memory = stored.map(Memory::read).transpose()?.unwrap_or_default();
        let mut known = Known::default();
        known.renews = settings.danger.is(Danger::AnythingRenews);
        memory.peers.iter().for_each(|one| known.restore(one));
        let mut machine = Self {
            tag: message::tag(&settings.domain),
            pace: Pace::new(settings.times, settings.danger),
            papers,
            settings,
            instances: Instances::after(memory.reserved),
            promised: memory.number,
            seen: 0,
            me: None,
            uid: 0,
            asked: Instant(0),
            known,
            group: None,
            attempt: None,
            doubt: None,
            last: None,
            other: None,
            rival: None,
            failed: VecDeque::new(),
            distrust: false,
            untold: BTreeSet::new(),
            forgetful: None,
            raise: false,
            failures: 0,
            seed: None,
            out_of_it: false,
            leaving: None,
            wall: None,
            timers: Timers::default(),
            out: VecDeque::new(),
            refused: 0,
            accepted: 0,
        };
        memory.proofs.into_iter().for_each(|one| machine.known.restore_proof(one));
        Ok(machine)
    }

    /// Takes what happened.
    pub fn handle(&mut self, now: Instant, input: Input<'_>, entropy: &mut dyn Entropy) {
        if self.out_of_it {
            return;
        }
        if self.leaving.is_some() {
            return self.go_on_leaving(now);
        }
        match input {
            Input::Start => self.start(now, entropy),
            Input::Message(bytes) => self.hear(now, bytes, entropy),
            Input::Timeout => {}
            Input::Exclude(statement) => self.exclude(now, statement, entropy),
            Input::Wall(wall) => self.see_wall(now, wall, entropy),
            Input::Leave => self.leave(now),
        }
        self.poll(now, entropy);
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to hand in [`Input::Timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let timers = &self.timers;
        let attempt = self.attempt.as_ref().filter(|_| !self.out_of_it);
        let share = attempt.filter(|one| !one.is_started() && self.may_share(one)).map(|one| one.share_at);
        let due = attempt.map(|one| one.repeat_at.min(one.deadline));
        let all = [timers.respond, timers.alone, timers.again, timers.claim, timers.beacon];
        let all = all.into_iter().chain([timers.behind, timers.tell]);
        let ask = timers.ask.map(|(at, ..)| at);
        if self.out_of_it {
            return None;
        }
        all.chain([ask, share, due]).flatten().min()
    }

    /// Its papers.
    pub fn papers(&self) -> &P {
        &self.papers
    }

    /// Messages that a rule refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Messages that were new, and of somebody who may say them.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// How many ids this node remembers.
    pub fn remembered(&self) -> usize {
        self.known.len()
    }

    /// How many words against members it keeps: exclusions, ended certificates, leaves.
    pub fn words_kept(&self) -> usize {
        self.known.words()
    }

    /// Whether this certificate ([`Papers::holder`]) is out.
    pub fn excludes(&self, holder: &Digest) -> bool {
        self.known.excludes(holder)
    }

    /// Whether this certificate ([`Papers::holder`]) is out, and no agreement lists it that counts
    /// here or still may.
    pub fn is_without(&self, holder: &Digest) -> bool {
        let group = self.group.iter().flat_map(|group| &group.order);
        let attempts = [&self.attempt, &self.doubt].into_iter().flatten();
        let mut listed = group.chain(attempts.flat_map(|attempt| attempt.candidate.entries()));
        self.known.excludes(holder) && !listed.any(|entry| entry.holder == *holder)
    }

    /// The exclusions that it keeps: whom ([`Papers::holder`]), and the statement.
    pub fn exclusions(&self) -> impl Iterator<Item = (Exclusion, &Bytes)> {
        self.known.exclusions()
    }

    /// The members who share this node's key, by rank; empty if it has none.
    pub fn members(&self) -> Vec<u16> {
        self.group.iter().flat_map(|group| group.order.iter().map(|entry| entry.uid)).collect()
    }

    fn start(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.me.is_none() {
            self.join(now, entropy);
            self.timers.alone = Some(now + self.alone());
        }
    }

    fn alone(&self) -> Duration {
        let fixed = self.settings.danger.is(Danger::FixedTimes);
        if fixed { Duration::from_millis(125) } else { self.settings.times.alone }
    }

    /// Everything that is due.
    fn poll(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.me.is_none() || self.out_of_it {
            return;
        }
        let due = |timer: &mut Option<Instant>| timer.take_if(|at| *at <= now).is_some();
        if due(&mut self.timers.alone) {
            self.be_alone(now, entropy);
        }
        if due(&mut self.timers.again) {
            self.ask_again(now, entropy);
        }
        if due(&mut self.timers.behind) && self.may_leave_attempt(now) {
            self.join(now, entropy);
        }
        if due(&mut self.timers.tell) {
            self.tell();
        }
        if due(&mut self.timers.respond) {
            self.respond(now, entropy);
        }
        if due(&mut self.timers.claim) {
            self.claim(now);
        }
        if due(&mut self.timers.beacon) {
            self.beacon(now, entropy);
        }
        if let Some((_, uid, candidate)) = self.timers.ask.take_if(|(at, ..)| *at <= now) {
            self.ask(uid, candidate);
        }
        self.go_on(now, entropy);
    }
}
