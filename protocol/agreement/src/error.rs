//! Why a step, a token or a call was refused.

/// Why a step, a token or a call was refused. The first word of the name says whose fault it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// The bytes do not decode as what this step carries.
    #[error("the step's bytes are malformed")]
    PeerMalformed,
    /// A value that is no element of the group: out of range, off the curve, wrong subgroup, not
    /// the one encoding.
    #[error("a value is not an element of the group")]
    PeerNotInGroup,
    /// The identity, which would make the key known.
    #[error("a value is the group's identity element")]
    PeerIdentity,
    /// The list does not name exactly the parties it must, in their order.
    #[error("the list does not name the members in their order")]
    PeerWrongList,
    /// The sender is not the one whose turn it is.
    #[error("it is not member {from}'s turn for step {step}")]
    PeerOutOfTurn {
        /// The sender's place in the party list.
        from: usize,
        /// The step it sent.
        step: u8,
    },
    /// The sender has taken this step already.
    #[error("member {from} took step {step} before")]
    PeerRepeated {
        /// The sender's place in the party list.
        from: usize,
        /// The step it sent.
        step: u8,
    },
    /// No such step in this module.
    #[error("step {0} does not belong to this module")]
    PeerUnknownStep(u8),
    /// A token of another operation, or one that nobody waits for.
    #[error("the token does not belong to the operation under way")]
    PeerWrongToken,
    /// The final token must carry the last partial token unchanged.
    #[error("the final token is not the last partial token")]
    PeerAltered,
    /// The list leaves a partial key as it was: whoever had it would still have the key.
    #[error("the list does not renew a value")]
    PeerNotRenewed,
    /// The value is not what the old key gives at this position. Only parties that have the old key
    /// can prove it.
    #[error("the value is not the one that the old key gives")]
    PeerNotLent,
    /// What the party opened is not what it sent.
    #[error("the opened share does not fit what was sent")]
    PeerNotOpened,
    /// What was sealed for this party does not open. Only this party can tell.
    #[error("what was sealed for this member does not open")]
    PeerNotOpening,
    /// The sender of a token that only the controller may send is not the controller.
    #[error("the sender is not the controller")]
    PeerNotController,
    /// The token is of another operation or of another epoch.
    #[error("the token belongs to another epoch")]
    PeerWrongEpoch,
    /// A side's tree is not the one that its parties kept, or no tree that could have come about.
    #[error("the tree is not the one that its side kept")]
    PeerWrongTree,
    /// The party was not at that rank of that run, or not in it. Only parties that finished the
    /// run can prove it.
    #[error("member {from} claims a place in an earlier run that was not its own")]
    PeerOrigin {
        /// The party's place in the list.
        from: usize,
    },
    /// A message that its standard or this module's rules forbid.
    #[error("the message is not valid")]
    PeerInvalid,
    /// Only the controller may do this.
    #[error("this member is not the controller")]
    LocalNotController,
    /// This party is not in the list, or the list is empty or names somebody twice.
    #[error("the member list does not fit this call")]
    LocalMembers,
    /// The context has no key, list or share that this call needs.
    #[error("the context is not ready for this call")]
    LocalNotReady,
    /// The plan says that this party brings a state, and the state is not at hand or is another
    /// module's.
    #[error("the state that this member must bring is missing")]
    LocalKept,
    /// This build has no such module.
    #[error("this build does not have the module")]
    LocalNotBuilt,
}
