//! What this node has verified: the transcript, what the store has of it, and what is on its way
//! through the ring.

mod line;
mod packages;
mod provide;
mod settled;
mod stage;
mod standing;
mod store;
mod wall;

pub(crate) use packages::Answer;

use crate::credentials::own;
use crate::{Config, NodeError};
use base::{Digest, Head, MemberId, Mutant, NodeId, StoreKey};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group as group;
use folkmoot_identity::Identity;
use folkmoot_link::Credentials as _;
use folkmoot_transcript::{Kept, Transcript};
use stage::Stage;
use std::collections::BTreeSet;
use wall::Wall;

/// Head and digest of the set of a transcript.
pub(crate) type Mark = (Head, Digest);

/// The transcript, and what is about to be in it.
#[derive(Debug)]
pub(crate) struct Records {
    me: NodeId,
    danger: Mutant,
    /// Whether this is a charter that the ring carries, and not the ring's own.
    carried: bool,
    /// Members by other charters, whom a mutant takes for ours.
    strangers: BTreeSet<MemberId>,
    transcript: Transcript,
    /// The mark of a transcript that has nothing but its charter.
    founding: Mark,
    /// Which parts of it the store has.
    kept: Kept,
    /// What is verified and on its way through the ring.
    stage: Stage,
    /// The digests of what was provided to others in this configuration.
    provided: BTreeSet<Digest>,
    /// The request of the admission whose certificate the links show.
    shown: Option<Digest>,
    wall: Wall,
    /// The group layer has not been told of the last change.
    mark_due: bool,
    /// The peers have not been told of the last change.
    announce: bool,
}

impl Records {
    /// What the store has of the transcript, on top of the charter.
    ///
    /// # Errors
    /// [`NodeError`]: either is not valid.
    pub(crate) fn new(config: &Config, stored: &[(StoreKey, Bytes)]) -> Result<Self, NodeError> {
        Self::of(config, Transcript::founded(&config.charter)?, false, stored)
    }

    /// The same of a charter that the ring carries, from its own part of the store.
    ///
    /// # Errors
    /// [`NodeError`]: either is not valid.
    pub(crate) fn carried(
        config: &Config,
        charter: &Bytes,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, NodeError> {
        let founded = Transcript::founded(charter).map_err(NodeError::LocalCarried)?;
        let stored = store::of(&founded.group(), stored);
        Self::of(config, founded, true, &stored)
    }

    fn of(
        config: &Config,
        founded: Transcript,
        carried: bool,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, NodeError> {
        let founding = founded.mark();
        let mut transcript = founded.restore(stored)?;
        transcript.endanger(config.danger);
        let me = config.identity.node();
        Ok(Self {
            me,
            danger: config.danger,
            carried,
            strangers: BTreeSet::new(),
            founding,
            kept: Kept::of(stored),
            stage: Stage::default(),
            provided: BTreeSet::new(),
            shown: transcript.roster().member(&me.member()).map(|held| held.request),
            wall: Wall::new(config.identity.certificate().not_before()),
            mark_due: false,
            announce: false,
            transcript,
        })
    }

    /// The transcript as this node verified it.
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The transcript with what is on its way.
    pub(crate) fn known(&self) -> &Transcript {
        self.stage.known(&self.transcript)
    }

    /// Where the transcript stands.
    pub(crate) fn mark(&self) -> Mark {
        self.transcript.mark()
    }

    /// Whether a transcript that stands there has nothing yet.
    pub(crate) fn is_founding(&self, mark: &Mark) -> bool {
        *mark == self.founding
    }

    /// Whether the group layer has to be told where the transcript stands.
    pub(crate) fn is_mark_due(&self) -> bool {
        self.mark_due
    }

    /// What the group layer is told; `whole` with the names of the set.
    pub(crate) fn mark_for_group(&mut self, whole: bool) -> group::Mark {
        self.mark_due = false;
        let (head, set) = self.transcript.mark();
        let names = if whole { self.transcript.have() } else { Default::default() };
        group::Mark::new(head, set, names)
    }

    /// Whether the peers have to be told where the transcript stands; that is done now.
    pub(crate) fn take_announce(&mut self) -> bool {
        core::mem::take(&mut self.announce)
    }

    /// The certificate by which this node's host is a member now, if it is another than before: the
    /// links show it.
    pub(crate) fn new_certificate(&mut self, identity: &Identity) -> Option<Bytes> {
        let admission = self.transcript.roster().member(&self.me.member()).map(|held| held.request);
        (admission != self.shown).then(|| {
            self.shown = admission;
            own(identity, &self.transcript).certificate()
        })
    }
}
