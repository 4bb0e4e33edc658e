//! One signing session.

use super::message::{Purpose, SignerMessage};
use crate::AdmissionError;
use crate::pause::PATIENCE;
use core::time::Duration;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Digest, Instant, MemberId};
use folkmoot_signing::shared::AnyRun;
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, BTreeSet};

/// How long a coordinator waits for one more signer after the last that came, if it wants more than
/// it needs; [`PATIENCE`] in all. If anyone is left out of a sharing, all have to make another.
pub(super) const GATHER: Duration = Duration::from_millis(400);
/// How long a signer that is not needed at first waits for the others to answer a start.
pub(super) const LATER: Duration = Duration::from_millis(150);

/// Who takes part, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Participants {
    /// Those who hold shares and use them; those who found.
    pub(crate) givers: Vec<MemberId>,
    /// Those who get shares; in a founding the same, in a signature nobody.
    pub(crate) takers: Vec<MemberId>,
}

impl Participants {
    pub(crate) fn all(&self) -> BTreeSet<MemberId> {
        self.givers.iter().chain(&self.takers).copied().collect()
    }
}

/// A signer's statement that it is ready.
pub(crate) struct Ready {
    /// Its one-time key.
    pub(crate) key: Vec<u8>,
    /// What it said, as it said it.
    pub(crate) message: SignerMessage,
    /// Whether its signature was verified here: at once by the coordinator; by others when it takes
    /// part beside them, or when a second message comes.
    pub(crate) proven: bool,
}

impl Ready {
    /// Checks `ADM-41`, once.
    pub(crate) fn prove(&mut self, transcript: &Transcript, signer: &MemberId) -> Result<(), AdmissionError> {
        if !self.proven {
            self.message.verify(transcript, signer)?;
            self.proven = true;
        }
        Ok(())
    }
}

/// What a run does next. If that takes long, it waits for a timeout that is due at once. Messages
/// and the token go out first, so that the others do their part meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It begins.
    Begin,
    /// It hears the messages of the round, which are all there.
    Hear,
}

/// One signing session.
pub(crate) struct SigningSession {
    pub(crate) coordinator: MemberId,
    pub(crate) purpose: Purpose,
    pub(crate) key: Option<OpeningKey<Classic>>,
    /// Who is ready.
    pub(crate) ready: BTreeMap<MemberId, Ready>,
    pub(crate) participants: Option<Participants>,
    /// Whether the participants, if there are any, have their place in the order: the coordinator
    /// names them before.
    pub(crate) ordered: bool,
    pub(crate) run: Option<AnyRun>,
    /// What the run does next, and since when, if its steps take long: [`Step`].
    pub(crate) step: Option<(Step, Instant)>,
    /// Whether it has begun.
    pub(crate) begun: bool,
    pub(crate) round: u8,
    /// What was heard in the run before this round, from its name on. The messages of the round
    /// cover it.
    pub(crate) heard: Digest,
    pub(crate) said: BTreeMap<MemberId, (Vec<u8>, Option<folkmoot_base::Sealed>)>,
    /// Whether its coordinator has stopped waiting for more signers than it needs; always set at
    /// everybody else's.
    pub(crate) gathered: bool,
    /// Whether its coordinator has passed on what the authority dealt to it.
    pub(crate) passed_on: bool,
    /// When to say that we are ready, unless there are participants before; `None` once it is said,
    /// or if we are not.
    pub(crate) answers: Option<Instant>,
    /// When it was started, and last moved.
    pub(crate) started: Instant,
    pub(crate) moved: Instant,
}

impl SigningSession {
    /// Whether this is our one-time key here.
    pub(crate) fn has_key(&self, public: &[u8]) -> bool {
        self.key.as_ref().is_some_and(|key| key.public()[..] == *public)
    }

    /// When its coordinator stops waiting for more signers, unless one comes before.
    pub(crate) fn gathers_until(&self) -> Instant {
        (self.moved + GATHER).min(self.started + PATIENCE)
    }
}

impl core::fmt::Debug for SigningSession {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (purpose, round) = (&self.purpose, self.round);
        write!(out, "SigningSession({purpose:?}, {} ready, round {round})", self.ready.len())
    }
}
