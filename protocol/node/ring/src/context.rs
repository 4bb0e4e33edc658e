//! What all states of one node share.

use crate::config::Config;
use crate::message::{CommitToken, Last};
use crate::output::{Cause, Change, Output, Phase};
use crate::peers::Peers;
use crate::queue::{CONGESTED_BYTES, Queue, RELAXED_BYTES};
use crate::suspects::Suspects;
use crate::{STORE_KEY_RING_SEQ, STORE_TABLE};
use bytes::Bytes;
use folkmoot_base::{Danger, NodeId, Persist};
use std::collections::VecDeque;

/// What all states share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) peers: Peers,
    pub(crate) queue: Queue,
    pub(crate) out: VecDeque<Output>,
    /// The highest ring number known; on disk before anything shows it.
    pub(crate) ring_seq: u64,
    /// The highest ring number of an attempt that this node took part in.
    pub(crate) attempted: u64,
    /// Of the last JOIN made.
    pub(crate) join_number: u64,
    /// How far the ring or attempt came that was left last.
    pub(crate) last: Option<Last>,
    pub(crate) suspects: Suspects,
    pub(crate) refused: u64,
    pub(crate) retransmitted: u64,
    congested: bool,
}

impl Context {
    pub(crate) fn new(config: Config, ring_seq: u64) -> Self {
        Self {
            config,
            peers: Peers::default(),
            queue: Queue::default(),
            out: VecDeque::new(),
            ring_seq,
            attempted: ring_seq,
            join_number: 0,
            last: None,
            suspects: Suspects::default(),
            refused: 0,
            retransmitted: 0,
            congested: false,
        }
    }

    /// Keeps a higher ring number, on disk first.
    pub(crate) fn learn(&mut self, ring_seq: u64) {
        if ring_seq > self.ring_seq {
            self.ring_seq = ring_seq;
            if self.config.danger == Some(Danger::RingForgetsNumber) {
                return;
            }
            let value = Bytes::copy_from_slice(&ring_seq.to_be_bytes());
            self.out.push_back(Output::Persist(Persist::put(STORE_TABLE, STORE_KEY_RING_SEQ, value)));
        }
    }

    /// Takes part in the attempt with this ring number.
    pub(crate) fn attempt(&mut self, ring_seq: u64) {
        self.learn(ring_seq);
        self.attempted = self.attempted.max(ring_seq);
    }

    pub(crate) fn trace(&mut self, phase: Phase, cause: Cause) {
        self.out.push_back(Output::Trace(Change { phase, cause }));
    }

    /// Tells the caller when the queue crosses its marks.
    pub(crate) fn watch_queue(&mut self) {
        let bytes = self.queue.bytes();
        let congested = if self.congested { bytes > RELAXED_BYTES } else { bytes > CONGESTED_BYTES };
        if congested != self.congested {
            self.congested = congested;
            self.out.push_back(Output::Congested(congested));
        }
    }
}

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
    /// All entries are known.
    Recover(Box<CommitToken>),
    /// Everything is recovered.
    Install,
}
