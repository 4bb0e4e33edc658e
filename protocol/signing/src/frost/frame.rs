//! What every run here goes by: it begins once, goes from stage to stage as it hears rounds, and whatever it refuses is its end.

use crate::{Fault, FaultKind, Next, Said};

/// Where a run of the stages `S` stands.
pub(super) enum Frame<S> {
    /// Not begun.
    Idle,
    /// Waiting for a round.
    At(S),
    /// Over; why, for who asks next.
    Over(Fault),
}

/// Where a round leads.
pub(super) enum Step<S, D> {
    /// To this stage, saying this.
    On(S, Said),
    /// To the end.
    Done(D),
}

impl<S> Frame<S> {
    /// Begins. A run that cannot says nothing, and why not when it hears the first round.
    pub(super) fn begin<D>(&mut self, begun: Result<(S, Said), Fault>) -> Next<D> {
        let (frame, said) = match begun {
            Ok((stage, said)) => (Self::At(stage), said),
            Err(fault) => (Self::Over(fault), Said::default()),
        };
        *self = frame;
        Next::Say(said)
    }

    /// The present stage, if there is one.
    pub(super) fn stage(&self) -> Option<&S> {
        match self {
            Self::At(stage) => Some(stage),
            Self::Idle | Self::Over(_) => None,
        }
    }

    /// Takes the present stage to hear a round with: unless [`Self::go`] follows, the run is over.
    pub(super) fn take(&mut self) -> Result<S, Fault> {
        let out_of_turn = || Fault::of_nobody(FaultKind::LocalRound);
        match core::mem::replace(self, Self::Over(out_of_turn())) {
            Self::At(stage) => Ok(stage),
            Self::Idle => Err(out_of_turn()),
            Self::Over(fault) => Err(fault),
        }
    }

    /// Goes where a round leads.
    pub(super) fn go<D>(&mut self, step: Step<S, D>) -> Next<D> {
        match step {
            Step::On(stage, said) => {
                *self = Self::At(stage);
                Next::Say(said)
            }
            Step::Done(done) => Next::Done(done),
        }
    }
}
