//! Why an entry, or a whole transcript, was refused. Each reason is a rule of
//! docs/protocol/transcript.md.

use crate::{CertificateError, CharterError};
use folkmoot_base::{DecodeError, EntryId, GroupId, MemberId, UnixTime, limits};

/// Why an entry was refused. The transcript is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// `TRN-01` More bytes than any entry has.
    #[error("TRN-01: the entry has {0} bytes; at most {most} are allowed", most = limits::ENTRY_BYTES_MAX)]
    WireTooLong(usize),
    /// `TRN-01` Not the encoding of an entry.
    #[error("TRN-01: it is not an entry")]
    WireMalformed(#[from] DecodeError),
    /// `TRN-02` Parents not sorted, repeated, none, or too many.
    #[error("TRN-02: its parents are not 1 to {} different ids in order", super::PARENTS_MAX)]
    WireParents,
    /// `TRN-03` Of another group's transcript.
    #[error("TRN-03: it is an entry of another group, {0}")]
    WireOtherGroup(GroupId),
    /// `TRN-04` Not refused for good: these entries must come first.
    #[error("TRN-04: parents that are not here yet: {}", .0.len())]
    MissingParents(Vec<EntryId>),
    /// `TRN-05` A Genesis other than ours.
    #[error("TRN-05: it founds the group a second time")]
    WireOtherGenesis,
    /// `TRN-05` The signed charter does not stand.
    #[error("TRN-05: the charter is refused")]
    Charter(#[source] CharterError),
    /// `TRN-06` Its author was not a member.
    #[error("TRN-06: its author {0} was not a member")]
    PeerNotMember(MemberId),
    /// `TRN-07` Its signature is not its author's. Anyone can write a name: blame nobody.
    #[error("TRN-07: its author's signature does not verify")]
    WireSignature,
    /// `TRN-08` The transcript holds all the entries it may.
    #[error("TRN-08: the transcript is full ({} entries)", limits::ENTRIES_MAX)]
    LocalFull,
    /// `TRN-10`, `TRN-11`, `TRN-12`, `TRN-52`, `TRN-55` The certificate does not stand: form,
    /// votes, or voters.
    #[error("{}: the certificate is refused", certificate_rule(.0))]
    PeerCertificate(#[source] CertificateError),
    /// `TRN-16` A founder's certificate, which carries no votes: founders are admitted by Genesis,
    /// and by votes after that.
    #[error("TRN-16: the certificate of {0} carries no votes")]
    PeerNoVotes(MemberId),
    /// `TRN-13` The request has admitted its holder before; it takes new votes to come back.
    #[error("TRN-13: this request has admitted {0} before")]
    PeerUsed(MemberId),
    /// `TRN-14` The group is full.
    #[error("TRN-14: the group has as many members as it may have")]
    PeerGroupFull,
    /// `TRN-15` A vote in the certificate had run out before the certificate began.
    #[error("TRN-15: the vote of {0} had run out")]
    PeerVoteEnded(MemberId),
    /// `TRN-50`, `TRN-51` A sharing of the group's key that does not fit charter, electorate or
    /// key.
    #[error("TRN-50: the sharing is not valid: {0}")]
    PeerSharing(&'static str),
    /// `TRN-52` Signed under a sharing of the group's key that is not the present one.
    #[error("TRN-52: the certificate of {0} belongs to another sharing of the group's key")]
    PeerShareEpoch(MemberId),
    /// `TRN-54` The group's key has issued another certificate under the same serial number:
    /// revoking one would revoke both.
    #[error("TRN-54: the certificate of {0} has the serial number of another certificate")]
    PeerSerialNumber(MemberId),
    /// `TRN-53` So many have left with shares that together they could sign. New shares must be
    /// made first.
    #[error(
        "TRN-53: those who left hold {leavers} of the shares, and {threshold} can sign: no certificate until the shares are renewed"
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
        "TRN-17: too few votes to admit anybody: {got}; a minority may not admit, so it takes at least {need}"
    )]
    PeerMinority {
        /// Votes that stand.
        got: usize,
        /// Least number that could admit.
        need: usize,
    },
    /// `TRN-18` A vote in the certificate outlasts the request, by the charter's `request_days`.
    #[error("TRN-18: the vote of {0} outlasts the request")]
    PeerVoteOutlasts(MemberId),
    /// `TRN-19` Objections ended the request.
    #[error("TRN-19: the request of {0} was refused for good")]
    PeerRefused(MemberId),
    /// `TRN-56` Objections ended every request by the CSR that this certificate was proposed for.
    #[error("TRN-56: the CSR of {0} was refused for good")]
    PeerRefusedCsr(MemberId),
    /// `TRN-56` The request that is refused is not one by CSR.
    #[error("TRN-56: the refused request is not valid")]
    PeerRequest(#[source] crate::RequestError),
    /// `TRN-20` A decision of another serial than the electorate's.
    #[error("TRN-20: it decides serial {got}, but serial {want} is next")]
    PeerSerial {
        /// Its serial.
        got: u64,
        /// The serial of the electorate in its past.
        want: u64,
    },
    /// `TRN-21` Votes not sorted by voter, or a voter twice.
    #[error("TRN-21: its votes are not sorted by voter, or one voter has two")]
    PeerVotesOrder,
    /// `TRN-22` Someone voted who was not of the electorate, or no longer a member.
    #[error("TRN-22: {0} had no vote")]
    PeerNotVoter(MemberId),
    /// `TRN-23` A vote's signature does not verify for this decision.
    #[error("TRN-23: the vote of {0} does not verify")]
    PeerVote(MemberId),
    /// `TRN-24` Fewer votes than threshold and quorum.
    #[error("TRN-24: too few votes to decide: {got}; it takes at least {need}")]
    PeerTooFewVotes {
        /// Votes that stand.
        got: usize,
        /// Least number that could decide.
        need: usize,
    },
    /// `TRN-25` The admission named was not there or had ended.
    #[error("TRN-25: {0} has no such admission")]
    PeerTarget(MemberId),
    /// `TRN-26` It would leave fewer voters than the charter's threshold: nothing could ever be
    /// decided again.
    #[error("TRN-26: it would leave too few voters: {voters}, where the charter asks for {threshold}")]
    PeerDeadEnd {
        /// Voters left.
        voters: usize,
        /// Votes the charter would ask for.
        threshold: usize,
    },
    /// `TRN-27` The field cannot take that value.
    #[error("TRN-27: the change of the charter is refused")]
    PeerChange(#[source] CharterError),
    /// `TRN-28` The voters listed are not 1 to `VOTERS_MAX` distinct members.
    #[error("TRN-28: the electorate is not 1 to {} different members", super::VOTERS_MAX)]
    PeerElectorate,
    /// `TRN-26` It would leave voters who can no longer satisfy what the charter asks of admissions
    /// or removals.
    #[error("TRN-26: by the charter's rules, those who would stay could no longer {what} anybody")]
    PeerUnreachable {
        /// Admit or remove.
        what: &'static str,
    },
    /// `TRN-29` A threshold by a group size that is not the present one, or an update that is not
    /// due.
    #[error("TRN-29: the threshold cannot be {next} in a group of {members}")]
    PeerThreshold {
        /// The threshold that was decided.
        next: crate::Threshold,
        /// Members.
        members: usize,
    },
    /// `TRN-32` The votes do not refuse a request: the charter asks for more, or does not provide
    /// for objections.
    #[error(
        "TRN-32: too few objections to end the request: {got}, where the charter asks for {need} (0: it has no objections)"
    )]
    PeerObjections {
        /// Votes that stand.
        got: usize,
        /// Votes that refuse; 0 if the charter does not provide for objections.
        need: usize,
    },
    /// `TRN-33` The votes do not satisfy the charter's rule on removals; with the tally of each
    /// part.
    #[error("TRN-33: the votes do not satisfy the rule on removals: {0}")]
    PeerRule(String),
    /// `TRN-31` The certificate had not run out at the time named.
    #[error("TRN-31: the certificate runs out at {not_after:?}, not at {time:?}")]
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

/// The rule that an error of the transcript breaks: its text begins with it.
pub(super) fn rule_of(error: &dyn core::fmt::Display) -> String {
    let mut text = error.to_string();
    text.truncate("TRN-00".len());
    text
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
