//! The interface between the caller, who carries messages, and every scheme with several
//! participants.
//!
//! A run goes in rounds. In each round every participant says something to all (in one order, the
//! same bytes to everybody) and may say something to single participants, privately. A participant
//! that has heard the whole round goes on to the next. A run knows no network, no time and no
//! signature of a sender. Its caller authenticates and orders what is said to all, seals what is
//! said to one, and gives a run up if a participant stays silent. Whatever `hear` refuses ends the
//! run; the caller may begin another without the culprits.

use crate::base::{Digest, Entropy, MemberId, Secret};
use std::collections::BTreeMap;

/// Most members in one run, signers and holders alike.
pub const SIGNERS_MAX: usize = 256;

/// What a participant says in one round.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// To all, itself included; empty if a round asks nothing of this participant.
    pub to_all: Vec<u8>,
    /// To one each, sealed by the caller.
    pub to_each: BTreeMap<MemberId, Secret<Vec<u8>>>,
}

/// What a participant heard in one round: one entry of each participant that had to speak, its own
/// messages to all included.
#[derive(Debug, Default)]
pub struct Incoming {
    /// Said to all.
    pub to_all: BTreeMap<MemberId, Vec<u8>>,
    /// Said to this participant alone.
    pub to_me: BTreeMap<MemberId, Secret<Vec<u8>>>,
}

/// Where a run goes next.
#[derive(Debug)]
pub enum Next<D> {
    /// Say this; a round follows.
    Say(Outgoing),
    /// The run is over, with this result.
    Done(D),
}

/// One participant in one run of one scheme.
pub trait Run: Send {
    /// The result of the run.
    type Done;

    /// Begins. Call once, first.
    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done>;

    /// The participants whose messages the present round takes, in order. Equal at all
    /// participants.
    fn awaited(&self) -> Vec<MemberId>;

    /// Takes a whole round: messages to all of exactly the awaited participants, and what they said
    /// to this one.
    ///
    /// # Errors
    /// [`Fault`]: the run is over. If the scheme can tell, it names the culprits, the same ones at
    /// every honest participant unless the kind says otherwise.
    fn hear(&mut self, heard: Incoming, entropy: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault>;
}

/// The name of one run. Every proof and challenge of the run covers it, so that nothing said in one
/// run counts in another. The caller makes it of the group, the key epoch or share-epoch, and what
/// the run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(pub Digest);

/// Why a run came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}", named(culprits))]
pub struct Fault {
    /// What was wrong.
    pub kind: FaultKind,
    /// Who is proven to have done it, sorted; empty if nobody can tell.
    pub culprits: Vec<MemberId>,
}

impl Fault {
    /// One culprit.
    pub(crate) fn of(kind: FaultKind, culprit: MemberId) -> Self {
        Self { kind, culprits: vec![culprit] }
    }

    /// A fault of which nobody can say who caused it.
    pub(crate) fn of_nobody(kind: FaultKind) -> Self {
        Self { kind, culprits: Vec::new() }
    }
}

fn named(culprits: &[MemberId]) -> String {
    let names: Vec<String> = culprits.iter().map(MemberId::short).collect();
    if names.is_empty() { String::new() } else { format!(" (by {})", names.join(", ")) }
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// Messages that do not have the one form that the round takes.
    #[error("messages are malformed")]
    PeerMalformed,
    /// Messages to all of a participant that was not awaited, or none of one that was: the caller's
    /// mistake, no participant's.
    #[error("the round has too few or too many messages")]
    LocalRound,
    /// A sharing whose private messages do not fit its commitments.
    #[error("a share does not fit its commitments")]
    PeerShare,
    /// An accusation that is wrong on its face: of oneself, or of one that had nothing to give.
    #[error("an accusation has no grounds")]
    PeerAccusation,
    /// Commitments that say another secret, or another number of shares, than the run is for.
    #[error("the commitments are to something else")]
    PeerCommitment,
    /// A part of a signature that its maker's public share refutes.
    #[error("a part of the signature does not verify")]
    PeerPart,
    /// Messages that are not those committed to in an earlier round.
    #[error("the messages are not those committed to")]
    PeerReveal,
    /// A proof that does not verify.
    #[error("a proof does not verify")]
    PeerProof,
    /// The result does not verify and the scheme cannot say whose part was wrong.
    #[error("the result does not verify; nobody can know whose fault it is")]
    Unattributable,
    /// The share is not this participant's in the sharing of the run: another epoch, or damaged.
    #[error("the share belongs to another sharing")]
    LocalShare,
    /// The participants are too few, too many, or not holders.
    #[error("these signers cannot make this run")]
    LocalSigners,
    /// Members alone cannot do it: whoever made this scheme's key must make its shares.
    #[error("only a dealer can make shares of this scheme")]
    LocalDealer,
    /// The scheme has no such run, and nothing to deal.
    #[error("the scheme has no such run")]
    LocalScheme,
    /// The bytes are not the secret that a dealer of this scheme keeps, in its one form.
    #[error("it is not the secret of a dealer of this scheme")]
    LocalSecret,
    /// The chance of one in 2^250 that a number is zero: begin again.
    #[error("a number came out zero; begin again")]
    Again,
}

/// Checks that a round has messages of exactly those awaited, each in its limits, and private
/// messages of nobody else (SCH-01).
pub(crate) fn whole_round(heard: &Incoming, awaited: &[MemberId]) -> Result<(), Fault> {
    let whole = heard.to_all.len() == awaited.len()
        && awaited.iter().all(|participant| heard.to_all.contains_key(participant))
        && heard.to_me.keys().all(|participant| awaited.contains(participant));
    if whole { Ok(()) } else { Err(Fault::of_nobody(FaultKind::LocalRound)) }
}
