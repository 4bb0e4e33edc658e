//! Why an input was refused.

use crate::agreement::AgreementError;
use crate::base::{DecodeError, Party};

/// Why an input was refused. The first word of each name says whose fault it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyingError {
    /// The bytes are not a keying message.
    #[error("{peer} sent bytes that are not a keying message")]
    PeerMalformed {
        /// The party that sent them.
        peer: Party,
        /// The reason.
        #[source]
        source: DecodeError,
    },
    /// The message is of another group.
    #[error("{0} sent a message of another group")]
    PeerOtherGroup(Party),
    /// The signature is not the sender's over this message in this run.
    #[error("{0} sent a message whose signature does not verify")]
    PeerForged(Party),
    /// The sender is not in the view.
    #[error("{0} is not in the view")]
    PeerNotInView(Party),
    /// The sender uses an instance number that it used in another run, or uses two in one run.
    #[error("{0} used an instance number twice")]
    PeerInstance(Party),
    /// The module refused the step.
    #[error("{peer} took a step that is not valid")]
    PeerStep {
        /// The party that sent it.
        peer: Party,
        /// The reason.
        #[source]
        source: AgreementError,
    },
    /// A confirmation that does not match this party's key and transcript. It may be the party's
    /// own, or anybody's in its name: blame nobody.
    #[error("a confirmation in the name of {0} does not fit this key")]
    WireConfirm(Party),
    /// A second confirmation, or one before the key.
    #[error("{0} confirmed out of turn")]
    PeerOutOfTurn(Party),
    /// A message of another view or attempt: of a run that has ended, or replayed. Blame nobody.
    #[error("the message belongs to another view or attempt")]
    WireStale,
    /// A message under this party's name that this party did not send.
    #[error("somebody sent in this member's name")]
    WireImpostor,
    /// The view does not contain this party, has doubles, is not sorted, or has parties whose
    /// members are unknown to the roster.
    #[error("the view does not fit this member and its roster")]
    LocalView,
    /// What the parties of this view bring does not allow a run.
    #[error("no run can be made for the view: {0}")]
    LocalPlan(AgreementError),
    /// The input does not fit the state.
    #[error("{0} does not fit the state")]
    LocalOutOfTurn(&'static str),
    /// The store's record of this group's instance counter is damaged.
    #[error("the stored instance counter is damaged")]
    LocalStore,
}
