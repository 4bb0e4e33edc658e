//! The settings of a node.

use crate::parts::SETTLE_DEADLINE;
use crate::{Exchange, Timing, Versions};
use base::{Locator, Mutant, Signatures};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_identity::{Identity, Prover};
use folkmoot_transcript::Transcript;
use std::sync::Arc;

/// The settings of a node.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its identity key and certificate.
    pub identity: Identity,
    /// The signed charter of its ring: CMS, DER.
    pub charter: Bytes,
    /// The signed charters of groups that it carries beside its ring's own: CMS, DER; at most
    /// [`base::limits::CHARTERS_MAX`]. Whoever runs the node says which (NODE-30).
    pub carries: Vec<Bytes>,
    /// Where peers reach it.
    pub locator: Locator,
    /// Where to look for peers at the start.
    pub seeds: Vec<Locator>,
    /// The ring's timeouts.
    pub timing: Timing,
    /// How long a link may be silent.
    pub silence: Duration,
    /// How long the tables of a new configuration may take to merge; at least twice the time that
    /// members wait for a step.
    pub settle: Duration,
    /// What the wall clock reads, in microseconds since 1970: with what the store has, this says
    /// when the process started. Of two processes with one identity, the later one goes on.
    pub started: u64,
    /// How often an absent node on the roster is dialled at first; the wait doubles, up to eight
    /// times this.
    pub lookup: Duration,
    /// The wire versions that it speaks.
    pub versions: Versions,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Config {
    /// The usual settings.
    pub fn new(identity: Identity, charter: Bytes, locator: Locator) -> Self {
        Self {
            identity,
            charter,
            carries: Vec::new(),
            locator,
            seeds: Vec::new(),
            timing: Timing::default(),
            silence: Duration::from_millis(1_500),
            settle: SETTLE_DEADLINE,
            started: 0,
            lookup: Duration::from_millis(500),
            versions: Versions::OURS,
            danger: Mutant::NONE,
        }
    }

    /// Signs what this node says of itself, and judges what others say.
    pub(crate) fn signatures(&self) -> Arc<dyn Signatures> {
        Arc::new(Prover::new(self.identity.key().clone()))
    }

    /// Of the links, for a process that started then.
    pub(crate) fn link(&self, transcript: &Transcript, started: u64) -> folkmoot_link::Config {
        let hybrid = transcript.roster().charter().hybrid_links();
        folkmoot_link::Config {
            exchange: if hybrid { Exchange::Hybrid } else { Exchange::Classical },
            silence: self.silence,
            versions: self.versions,
            started,
            danger: self.danger,
            ..folkmoot_link::Config::new(transcript.group())
        }
    }
}
