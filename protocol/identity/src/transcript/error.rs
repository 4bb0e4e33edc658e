//! Why an entry, or a whole transcript, was refused. Each reason is a rule of
//! docs/protocol/transcript.md.

use crate::{CertificateError, CharterError};
use folkmoot_base::{DecodeError, EntryId, GroupId, MemberId, UnixTime, limits};

/// Why an entry was refused. The transcript is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// `TRN-01` More bytes than any entry has.
    #[error("the entry has {0} bytes; at most {most} are allowed (TRN-01)", most = limits::ENTRY_BYTES_MAX)]
    WireTooLong(usize),
    /// `TRN-01` Not the encoding of an entry.
    #[error("it is not an entry (TRN-01)")]
    WireMalformed(#[from] DecodeError),
    /// `TRN-02` Parents not sorted, repeated, none, or too many.
    #[error("its parents are not 1 to {} different ids in order (TRN-02)", super::PARENTS_MAX)]
    WireParents,
    /// `TRN-03` Of another group's transcript.
    #[error("it is an entry of another group, {0} (TRN-03)")]
    WireOtherGroup(GroupId),
    /// `TRN-04` Not refused for good: these entries must come first.
    #[error("parents that are not here yet (TRN-04): {}", .0.len())]
    MissingParents(Vec<EntryId>),
    /// `TRN-05` A Genesis other than ours.
    #[error("it founds the group a second time (TRN-05)")]
    WireOtherGenesis,
    /// `TRN-05` The signed charter does not stand.
    #[error("the charter is refused (TRN-05)")]
    Charter(#[source] CharterError),
    /// `TRN-06` Its author was not a member.
    #[error("its author {0} was not a member (TRN-06)")]
    PeerNotMember(MemberId),
    /// `TRN-07` Its signature is not its author's. Anyone can write a name: blame nobody.
    #[error("its author's signature does not verify (TRN-07)")]
    WireSignature,
    /// `TRN-08` The transcript holds all the entries it may.
    #[error("the transcript is full ({} entries) (TRN-08)", limits::ENTRIES_MAX)]
    LocalFull,
    /// `TRN-10`, `TRN-11`, `TRN-12`, `TRN-52`, `TRN-55` The certificate does not stand: form,
    /// votes, or voters.
    #[error("the certificate is refused ({})", certificate_rule(.0))]
    PeerCertificate(#[source] CertificateError),
    /// `TRN-16` A founder's certificate, which carries no votes: founders are admitted by Genesis,
    /// and by votes after that.
    #[error("the certificate of {0} carries no votes (TRN-16)")]
    PeerNoVotes(MemberId),
    /// `TRN-13` The request has admitted its holder before; it takes new votes to come back.
    #[error("this request has admitted {0} before (TRN-13)")]
    PeerUsed(MemberId),
    /// `TRN-14` The group is full.
    #[error("the group has as many members as it may have (TRN-14)")]
    PeerGroupFull,
    /// `TRN-15` A vote in the certificate had run out before the certificate began.
    #[error("the vote of {0} had run out (TRN-15)")]
    PeerVoteEnded(MemberId),
    /// `TRN-50`, `TRN-51` A sharing of the group's key that does not fit charter, electorate or
    /// key.
    #[error("the sharing is not valid (TRN-50): {0}")]
    PeerSharing(&'static str),
    /// `TRN-52` Signed under a sharing of the group's key that is not the present one.
    #[error("the certificate of {0} belongs to another sharing of the group's key (TRN-52)")]
    PeerShareEpoch(MemberId),
    /// `TRN-54` The group's key has issued another certificate under the same serial number:
    /// revoking one would revoke both.
    #[error("the certificate of {0} has the serial number of another certificate (TRN-54)")]
    PeerSerialNumber(MemberId),
    /// `TRN-53` So many have left with shares that together they could sign. New shares must be
    /// made first.
    #[error(
        "those who left hold {leavers} of the shares, and {threshold} can sign: no certificate until the shares are renewed (TRN-53)"
    )]
    PeerSharesStale {
        /// Who left since the sharing.
        leavers: usize,
        /// How many shares sign.
        threshold: usize,
    },
    /// `TRN-17` The charter forbids a minority to admit, and the voters in the certificate are not
    /// a quorum.
    #[error(
        "too few votes to admit anybody: {got}; a minority may not admit, so it takes at least {need} (TRN-17)"
    )]
    PeerMinority {
        /// Votes that stand.
        got: usize,
        /// Least number that could admit.
        need: usize,
    },
    /// `TRN-18` A vote in the certificate outlasts the request, by the charter's `request_days`.
    #[error("the vote of {0} outlasts the request (TRN-18)")]
    PeerVoteOutlasts(MemberId),
    /// `TRN-19` Objections ended the request.
    #[error("the request of {0} was refused for good (TRN-19)")]
    PeerRefused(MemberId),
    /// `TRN-56` Objections ended every request by the CSR that this certificate was proposed for.
    #[error("the CSR of {0} was refused for good (TRN-56)")]
    PeerRefusedCsr(MemberId),
    /// `TRN-56` The request that is refused is not one by CSR.
    #[error("the refused request is not valid (TRN-56)")]
    PeerRequest(#[source] crate::RequestError),
    /// `TRN-20` A decision of another serial than the electorate's.
    #[error("it decides serial {got}, but serial {want} is next (TRN-20)")]
    PeerSerial {
        /// Its serial.
        got: u64,
        /// The serial of the electorate in its past.
        want: u64,
    },
    /// `TRN-21` Votes not sorted by voter, or a voter twice.
    #[error("its votes are not sorted by voter, or one voter has two (TRN-21)")]
    PeerVotesOrder,
    /// `TRN-22` Someone voted who was not of the electorate, or no longer a member.
    #[error("{0} had no vote (TRN-22)")]
    PeerNotVoter(MemberId),
    /// `TRN-23` A vote's signature does not verify for this decision.
    #[error("the vote of {0} does not verify (TRN-23)")]
    PeerVote(MemberId),
    /// `TRN-24` Fewer votes than threshold and quorum.
    #[error("too few votes to decide: {got}; it takes at least {need} (TRN-24)")]
    PeerTooFewVotes {
        /// Votes that stand.
        got: usize,
        /// Least number that could decide.
        need: usize,
    },
    /// `TRN-25` The admission named was not there or had ended.
    #[error("{0} has no such admission (TRN-25)")]
    PeerTarget(MemberId),
    /// `TRN-26` It would leave fewer voters than the charter's threshold: nothing could ever be
    /// decided again.
    #[error("it would leave too few voters: {voters}, where the charter asks for {threshold} (TRN-26)")]
    PeerDeadEnd {
        /// Voters left.
        voters: usize,
        /// Votes the charter would ask for.
        threshold: usize,
    },
    /// `TRN-27` The field cannot take that value.
    #[error("the change of the charter is refused (TRN-27)")]
    PeerChange(#[source] CharterError),
    /// `TRN-28` The voters listed are not 1 to `VOTERS_MAX` distinct members.
    #[error("the electorate is not 1 to {} different members (TRN-28)", super::VOTERS_MAX)]
    PeerElectorate,
    /// `TRN-26` It would leave voters who can no longer satisfy what the charter asks of admissions
    /// or removals.
    #[error("by the charter's rules, those who would stay could no longer {what} anybody (TRN-26)")]
    PeerUnreachable {
        /// Admit or remove.
        what: &'static str,
    },
    /// `TRN-29` A threshold by a group size that is not the present one, or an update that is not
    /// due.
    #[error("the threshold cannot be {next} in a group of {members} (TRN-29)")]
    PeerThreshold {
        /// The threshold that was decided.
        next: crate::Threshold,
        /// Members.
        members: usize,
    },
    /// `TRN-32` The votes do not refuse a request: the charter asks for more, or does not provide
    /// for objections.
    #[error(
        "too few objections to end the request: {got}, where the charter asks for {need} (0: it has no objections) (TRN-32)"
    )]
    PeerObjections {
        /// Votes that stand.
        got: usize,
        /// Votes that refuse; 0 if the charter does not provide for objections.
        need: usize,
    },
    /// `TRN-33` The votes do not satisfy the charter's rule on removals; with the tally of each
    /// part.
    #[error("the votes do not satisfy the rule on removals (TRN-33): {0}")]
    PeerRule(String),
    /// `TRN-31` The certificate had not run out at the time named.
    #[error("the certificate runs out at {not_after}, not at {time} (TRN-31)")]
    PeerTooEarly {
        /// The certificate's end.
        not_after: UnixTime,
        /// The time the entry names.
        time: UnixTime,
    },
}

impl EntryError {
    /// The rule of docs/protocol/transcript.md that it breaks, as `TRN-07`.
    pub fn rule(&self) -> String {
        rule_of(self)
    }

    /// Whether the entry's author signed what is wrong with it. Anybody who had the entry can have
    /// caused the other errors.
    pub fn is_authors(&self) -> bool {
        !matches!(
            self,
            Self::WireTooLong(_)
                | Self::WireMalformed(_)
                | Self::WireParents
                | Self::WireOtherGroup(_)
                | Self::MissingParents(_)
                | Self::WireOtherGenesis
                | Self::Charter(_)
                | Self::PeerNotMember(_)
                | Self::WireSignature
                | Self::LocalFull
        )
    }
}

/// The rule that an error of the transcript breaks: its text has it in parentheses.
pub(super) fn rule_of(error: &dyn core::fmt::Display) -> String {
    let text = error.to_string();
    let rule = text.find("(TRN-").and_then(|at| text.get(at + 1..at + 1 + "TRN-00".len()));
    rule.unwrap_or_default().to_owned()
}

/// Which rule is broken by a certificate that does not admit.
fn certificate_rule(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::PeerTooFewVotes { .. } | CertificateError::PeerVote(_) => "TRN-11",
        CertificateError::PeerNotVoter(_) => "TRN-12",
        CertificateError::PeerRemovals(_) => "TRN-59",
        CertificateError::PeerGroupKey => "TRN-52",
        CertificateError::PeerAuthority | CertificateError::PeerMulti => "TRN-55",
        _ => "TRN-10",
    }
}

/// Why the builder made no entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Everyone would refuse the resulting entry, for this reason.
    #[error("the entry would be refused")]
    Refused(#[from] EntryError),
}

/// Why stored entries do not make a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No entry, or the first is not a Genesis.
    #[error("it does not begin with its charter")]
    LocalNoGenesis,
    /// An entry does not stand: the store is damaged.
    #[error("stored entry {number} is refused")]
    LocalCorrupt {
        /// Which, from 0.
        number: usize,
        /// Why.
        #[source]
        why: EntryError,
    },
}
