//! What all states of one node share: timing, ring number, candidates, queue and outputs.

use crate::candidates::Candidates;
use crate::config::{Config, FAR, HANDLES_KEPT, RING_SEQ_STEP_MAX, Timing};
use crate::data::RingHandle;
use crate::entry::entry;
use crate::hearing::Report;
use crate::key::Contribution;
use crate::merging::Merging;
use crate::message::{CommitToken, Control, Entry, Join, Last, RingNonce};
use crate::order::Order;
use crate::output::{Cause, Change, Counters, Output, Phase};
use crate::queue::{Left, Queue};
use crate::suspects::Suspects;
use crate::times::second_longest;
use crate::{STORE_KEY_RING_SEQ, STORE_TABLE};
use bytes::Bytes;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{ConfigurationId, Danger, Entropy, Instant, NodeId, Persist, draw};
use std::collections::{BTreeSet, VecDeque};

/// Ring numbers that one write to disk reserves.
const RESERVE: u64 = 64;
/// If fewer are left, more are reserved.
const RESERVE_LOW: u64 = 8;

/// What all states share.
#[derive(Debug)]
pub(crate) struct Context {
    /// Its times are those of the present state (RING-29).
    pub(crate) config: Config,
    /// The times where a round trip takes no time.
    least: Timing,
    pub(crate) candidates: Candidates,
    pub(crate) queue: Queue,
    pub(crate) out: VecDeque<Output>,
    /// The highest ring number known. What others say counts for half of [`RING_SEQ_STEP_MAX`]
    /// more than `attempted` at most (RING-21).
    pub(crate) ring_seq: u64,
    /// The highest ring number of an attempt that this node took part in, or could have taken part
    /// in before it last started.
    pub(crate) attempted: u64,
    /// The handles of the attempts that this node took part in last.
    handles: VecDeque<RingHandle>,
    /// The number on disk: no attempt with a higher one leaves this node.
    reserved: u64,
    /// The number of the last JOIN that this node made, and what the JOIN said.
    pub(crate) join_number: u64,
    said: Option<Report>,
    /// The nodes that we heard when we last told everybody.
    pub(crate) told: Vec<NodeId>,
    /// The nodes that stopped the ring or attempt that was left last; the next gather gives them
    /// up.
    pub(crate) blamed: BTreeSet<NodeId>,
    pub(crate) merging: Merging,
    /// How far the ring or attempt that was left last came.
    pub(crate) last: Option<Last>,
    pub(crate) suspects: Suspects,
    /// For the next entries that this node makes: one for each time that its mind changes.
    stock: Vec<Contribution>,
    pub(crate) refused: u64,
    /// Of the rings and attempts that were left.
    pub(crate) counters: Counters,
}

impl Context {
    pub(crate) fn new(config: Config, ring_seq: u64) -> Self {
        Self {
            least: config.timing,
            config,
            candidates: Candidates::default(),
            queue: Queue::default(),
            out: VecDeque::new(),
            ring_seq,
            attempted: ring_seq,
            handles: VecDeque::new(),
            reserved: ring_seq,
            join_number: 0,
            said: None,
            told: Vec::new(),
            blamed: BTreeSet::new(),
            merging: Merging::default(),
            last: None,
            suspects: Suspects::default(),
            stock: Vec::new(),
            refused: 0,
            counters: Counters::default(),
        }
    }

    /// RING-29: the times of a gather: of all eligible nodes, as they were measured here, and as
    /// two of them name them.
    pub(crate) fn time_gather(&mut self) {
        let own = self.candidates.longest_trip(self.candidates.eligible());
        let trip = own.max(second_longest(&self.candidates.named_trips()));
        let nodes = self.candidates.eligible().count().saturating_add(1);
        self.config.timing = self.least.over(trip, nodes);
    }

    /// RING-29: the times of the configuration that `token` makes: those that follow from it, and
    /// longer ones if the paths from here to its members have become slower since.
    pub(crate) fn time_ring(&mut self, token: &CommitToken) {
        let trip = token.trip(self.config.danger).max(self.candidates.longest_trip(&token.members));
        self.config.timing = self.least.over(trip, token.members.len());
    }

    /// Hears of a ring number. Reserves on disk what the next attempt may need while the others do
    /// the same: a commit token that waited for the disk of each node in turn would come too late.
    pub(crate) fn learn(&mut self, ring_seq: u64) {
        let most = self.attempted.saturating_add(RING_SEQ_STEP_MAX / 2);
        self.ring_seq = self.ring_seq.max(ring_seq.min(most));
        if self.ring_seq.saturating_add(RESERVE_LOW) > self.reserved {
            self.reserve(self.ring_seq);
        }
    }

    /// Takes part in this attempt.
    pub(crate) fn attempt(&mut self, id: &ConfigurationId) {
        let ring_seq = id.ring_seq;
        if self.handles.len() >= HANDLES_KEPT {
            self.handles.pop_front();
        }
        self.handles.push_back(RingHandle::of(&id.nonce));
        self.ring_seq = self.ring_seq.max(ring_seq);
        self.attempted = self.attempted.max(ring_seq);
        if ring_seq > self.reserved {
            self.reserve(ring_seq);
        }
    }

    /// Whether this attempt may be taken part in (RING-09, RING-21, RING-22).
    pub(crate) fn may_attempt(&self, id: &ConfigurationId) -> bool {
        let most = self.attempted.saturating_add(RING_SEQ_STEP_MAX);
        id.ring_seq > self.attempted && id.ring_seq <= most && self.is_new(&id.nonce)
    }

    /// RING-22: whether no attempt of late had the handle of this nonce.
    pub(crate) fn is_new(&self, ring: &RingNonce) -> bool {
        !self.handles.contains(&RingHandle::of(ring)) || self.config.danger.is(Danger::RingAnyHandle)
    }

    /// A nonce with a handle that is not of late.
    pub(crate) fn draw_nonce(&self, entropy: &mut dyn Entropy) -> RingNonce {
        let new = (0..NONCE_DRAWS).map(|_| draw(entropy)).find(|nonce| self.is_new(nonce));
        new.unwrap_or_else(|| draw(entropy))
    }

    /// What this node adds to the secret of an attempt: new for each.
    pub(crate) fn contribution(&self, entropy: &mut dyn Entropy) -> Contribution {
        if self.config.danger.is(Danger::RingSameContribution) {
            return Contribution::new(self.config.me.0);
        }
        Contribution::draw(entropy)
    }

    /// Draws what the next entry needs, while there is randomness.
    pub(crate) fn stock(&mut self, entropy: &mut dyn Entropy) {
        while self.stock.len() < STOCK {
            let contribution = self.contribution(entropy);
            self.stock.push(contribution);
        }
    }

    /// RING-42: what this node adds to COMMIT for these members, if they are far, and the paths to
    /// them were tried.
    pub(crate) fn entry(&mut self, old: Option<&Order>, members: &[NodeId]) -> Option<Entry> {
        let tried = self.candidates.are_tried(&self.config.me, members);
        let late = self.config.danger.is(Danger::RingEntriesLate);
        if !tried || late || self.config.timing.trip < FAR {
            return None;
        }
        let contribution = self.stock.pop()?;
        Some(entry(old, contribution, members, (&self.config.me, &self.candidates)))
    }

    fn reserve(&mut self, ring_seq: u64) {
        self.reserved = ring_seq.saturating_add(RESERVE);
        if self.config.danger.is(Danger::RingForgetsNumber) {
            return;
        }
        let value = Bytes::copy_from_slice(&self.reserved.to_be_bytes());
        self.out.push_back(Output::Persist(Persist::put(STORE_TABLE, STORE_KEY_RING_SEQ, value)));
    }

    /// The next JOIN gets a higher number, whatever it says: it begins a gather.
    pub(crate) fn begin_gather(&mut self) {
        self.said = None;
    }

    /// Sends JOIN to every eligible node; to one of them with an entry.
    pub(crate) fn say_to_all(
        &mut self,
        now: Instant,
        report: &Report,
        current: Option<ConfigurationId>,
        entry: Option<&(NodeId, Entry)>,
    ) {
        self.told.clone_from(&report.hears);
        let frame = self.join(now, report, current, None);
        let whole = entry.map(|(to, entry)| (*to, self.join(now, report, current, Some(entry.clone()))));
        for to in self.candidates.eligible() {
            let whole = whole.as_ref().filter(|(node, _)| node == to).map(|(_, frame)| frame.clone());
            self.out.push_back(Output::Send { to: *to, frame: whole.unwrap_or_else(|| frame.clone()) });
        }
    }

    /// Sends JOIN to the eligible nodes with which this node does not want to be.
    pub(crate) fn say_to_outsiders(
        &mut self,
        now: Instant,
        report: &Report,
        current: Option<ConfigurationId>,
    ) {
        let frame = self.join(now, report, current, None);
        for to in self.candidates.eligible().filter(|to| !report.wants(to)) {
            self.out.push_back(Output::Send { to: *to, frame: frame.clone() });
        }
    }

    /// Sends JOIN to one node.
    pub(crate) fn say(
        &mut self,
        now: Instant,
        to: NodeId,
        report: &Report,
        (current, entry): (Option<ConfigurationId>, Option<Entry>),
    ) {
        let frame = self.join(now, report, current, entry);
        self.out.push_back(Output::Send { to, frame });
    }

    fn join(
        &mut self,
        now: Instant,
        report: &Report,
        current: Option<ConfigurationId>,
        entry: Option<Entry>,
    ) -> Bytes {
        let unheard = self.config.danger.is(Danger::RingFreshUnheard);
        let fresh: BTreeSet<NodeId> = report
            .hears
            .iter()
            .chain(self.candidates.fresh(now).filter(|_| !unheard))
            .take(NODES_MAX)
            .copied()
            .collect();
        let report = &Report { hears: fresh.into_iter().collect(), ..report.clone() };
        if self.said.as_ref() != Some(report) {
            self.join_number = self.join_number.saturating_add(1);
            self.said = Some(report.clone());
        }
        let join = Join {
            hears: report.hears.clone(),
            wants: report.wants.clone(),
            bound: report.bound.into(),
            number: self.join_number,
            ring_seq: self.ring_seq,
            current,
            last: self.last,
            trip: self.candidates.own_trip(),
            entry,
        };
        Control::Join(join).encode()
    }

    /// The nodes that we hear, with none given up.
    pub(crate) fn hears(&self, now: Instant) -> Vec<NodeId> {
        self.candidates.hears(now, self.config.me, &BTreeSet::new())
    }

    /// RING-18: if a node outside asks for us, or does not hear us although we hear it, it is told
    /// that we are bound to `members`.
    pub(crate) fn answer_outsider(
        &mut self,
        now: Instant,
        to: NodeId,
        join: &Join,
        members: &[NodeId],
        current: Option<ConfigurationId>,
    ) {
        let me = self.config.me;
        let hears = self.hears(now);
        let deaf = !join.hears(&me) && hears.binary_search(&to).is_ok();
        if (join.asks_for(&me) || deaf) && self.candidates.may_answer(now, &to) {
            self.say(now, to, &Report { hears, wants: members.to_vec(), bound: true }, (current, None));
        }
    }

    pub(crate) fn trace(&mut self, phase: Phase, cause: Cause) {
        self.out.push_back(Output::Trace(Change { phase, cause }));
    }

    /// Tells the caller what has left the queue.
    pub(crate) fn watch_queue(&mut self) {
        while let Some(Left { account, messages, bytes }) = self.queue.left() {
            self.out.push_back(Output::Left { account, messages, bytes });
        }
    }
}

/// So many contributions are in stock.
const STOCK: usize = 4;

/// How often a nonce is drawn until its handle is a new one (RING-22).
const NONCE_DRAWS: usize = 8;

/// What a state asks for after an input.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing changes.
    Stay,
    /// Begin a gather.
    Gather(Cause),
    /// All agree on these members, and this node represents them.
    Propose(Vec<NodeId>),
    /// Take part in this attempt.
    Commit(Box<CommitToken>),
    /// All old rings are known.
    Recover(Box<CommitToken>),
    /// Everything is recovered.
    Install,
}
