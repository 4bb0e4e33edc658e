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
const GATHER: Duration = Duration::from_millis(400);
/// It is doubled so often at most.
const DOUBLINGS_MAX: u32 = 3;
/// How long a signer that is not needed at first waits for the others to answer a start.
pub(super) const LATER: Duration = Duration::from_millis(150);

/// Who takes part, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Participants {
    /// Those who hold shares and use them; those who found.
    pub(super) givers: Vec<MemberId>,
    /// Those who get shares; in a founding the same, in a signature nobody.
    pub(super) takers: Vec<MemberId>,
}

impl Participants {
    pub(super) fn all(&self) -> BTreeSet<MemberId> {
        self.givers.iter().chain(&self.takers).copied().collect()
    }
}

/// A signer's statement that it is ready.
pub(super) struct Ready {
    /// Its one-time key.
    pub(super) key: Vec<u8>,
    /// What it said, as it said it.
    pub(super) message: SignerMessage,
    /// Whether its signature was verified here: at once by the coordinator; by others when it takes
    /// part beside them, or when a second message comes.
    pub(super) proven: bool,
}

impl Ready {
    /// Checks `ADM-41`, once.
    pub(super) fn prove(&mut self, transcript: &Transcript, signer: &MemberId) -> Result<(), AdmissionError> {
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
pub(super) enum Step {
    /// It begins.
    Begin,
    /// It hears the messages of the round, which are all there.
    Hear,
}

/// One signing session.
pub(super) struct SigningSession {
    pub(super) coordinator: MemberId,
    pub(super) purpose: Purpose,
    pub(super) key: Option<OpeningKey<Classic>>,
    /// Who is ready.
    pub(super) ready: BTreeMap<MemberId, Ready>,
    pub(super) participants: Option<Participants>,
    /// Whether the participants, if there are any, have their place in the order: the coordinator
    /// names them before.
    pub(super) ordered: bool,
    pub(super) run: Option<AnyRun>,
    /// What the run does next, and since when, if its steps take long: [`Step`].
    pub(super) step: Option<(Step, Instant)>,
    /// Whether it has begun.
    pub(super) begun: bool,
    pub(super) round: u8,
    /// What was heard in the run before this round, from its name on. The messages of the round
    /// cover it.
    pub(super) heard: Digest,
    pub(super) said: BTreeMap<MemberId, (Vec<u8>, Option<folkmoot_base::Sealed>)>,
    /// Whether its coordinator has stopped waiting for more signers than it needs; always set at
    /// everybody else's.
    pub(super) gathered: bool,
    /// How long its coordinator waits for one more signer after another.
    pub(super) gathers: Duration,
    /// Whether its coordinator has passed on what the authority dealt to it.
    pub(super) passed_on: bool,
    /// When to say that we are ready, unless there are participants before; `None` once it is said,
    /// or if we are not.
    pub(super) answers: Option<Instant>,
    /// When this member hands in to the authority what the session is for, and its number there:
    /// [`super::again`].
    pub(super) hands_in: Option<(Instant, u32)>,
    /// When it was started, and last moved.
    pub(super) started: Instant,
    pub(super) moved: Instant,
}

/// `ADM-72`: how long a coordinator waits that has named participants too early so often, one time
/// after the other. Where messages take longer than [`GATHER`], it would otherwise miss the same
/// signer for ever.
pub(super) fn gathers(missed: u32) -> Duration {
    GATHER.saturating_mul(1 << missed.min(DOUBLINGS_MAX))
}

impl SigningSession {
    /// Whether this is our one-time key here.
    pub(super) fn has_key(&self, public: &[u8]) -> bool {
        self.key.as_ref().is_some_and(|key| key.public()[..] == *public)
    }

    /// When its coordinator stops waiting for more signers, unless one comes before.
    pub(super) fn gathers_until(&self) -> Instant {
        (self.moved + self.gathers).min(self.started + PATIENCE)
    }
}

impl core::fmt::Debug for SigningSession {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (purpose, round) = (&self.purpose, self.round);
        write!(out, "SigningSession({purpose:?}, {} ready, round {round})", self.ready.len())
    }
}
