//! Why an admission message or command was refused. Each reason is a rule of
//! docs/protocol/admission.md.

use folkmoot_base::{DecodeError, MemberId, NodeId, limits};
use folkmoot_identity::{
    BuildError, CertificateError, CsrError, EntryError, RequestError, RevocationError, VoteError,
};

/// Why something was refused. The layer is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// `ADM-01` Too long, or not an admission message.
    #[error("ADM-01: it is not an admission message")]
    WireMalformed(#[from] DecodeError),
    /// `ADM-02` The request does not verify.
    #[error("ADM-02: the request is refused")]
    WireRequest(#[source] RequestError),
    /// `ADM-03` A guest brought another's request or certificate.
    #[error("ADM-03: guest {0} speaks for somebody else")]
    PeerNotHolder(NodeId),
    /// `ADM-04` The request is for another group, another version of the charter, or more than the
    /// charter allows.
    #[error("ADM-04: the request does not fit the charter")]
    PeerCharter(#[source] CertificateError),
    /// `ADM-05` The term asked for has not begun or is over.
    #[error("ADM-05: the term that {0} asks for has not begun or is over")]
    PeerTerm(MemberId),
    /// `ADM-06` The request has admitted its holder before.
    #[error("ADM-06: the request of {0} has been used before")]
    PeerUsed(MemberId),
    /// `ADM-07` All places for open requests are taken: in the group, or for this contact.
    #[error("ADM-07: too many requests are open (at most {all} in all, {one} from one contact)", all = limits::REQUESTS_MAX, one = crate::CONTACT_REQUESTS_MAX)]
    PeerTooManyRequests,
    /// `ADM-08` The guest speaks too often; not answered.
    #[error("ADM-08: guest {0} sends too often")]
    PeerTooOften(NodeId),
    /// `ADM-09` The sender of a message to the members is not a member.
    #[error("ADM-09: {0} is not a member")]
    PeerNotMember(MemberId),
    /// `ADM-10` The vote does not verify.
    #[error("ADM-10: the vote is refused")]
    WireVote(#[source] VoteError),
    /// `ADM-11` Its signer has no vote.
    #[error("ADM-11: {0} has no vote")]
    PeerNotVoter(MemberId),
    /// `ADM-12` A vote of another group.
    #[error("ADM-12: the vote of {0} is for another group")]
    PeerVoteGroup(MemberId),
    /// `ADM-13` A vote under another version of the charter.
    #[error("ADM-13: the vote of {0} is for another version of the charter")]
    PeerVoteCharter(MemberId),
    /// `ADM-14` A vote on a request that is not open here, or of another candidate.
    #[error("ADM-14: the vote of {0} is not on an open request")]
    PeerVoteUnknown(MemberId),
    /// `ADM-15`, `ADM-27` The vote has run out.
    #[error("ADM-15: the vote of {0} has run out")]
    PeerVoteEnded(MemberId),
    /// `ADM-27` The vote outlasts the request, by the charter's `request_days`: no certificate
    /// could carry it.
    #[error("ADM-27: the vote of {0} outlasts the request")]
    PeerVoteOutlasts(MemberId),
    /// `ADM-16` A second, different vote on one request. Only a yes can replace a no.
    #[error("ADM-16: {0} has voted already")]
    PeerVotedAlready(MemberId),
    /// `ADM-17` A newer request of the same key is open.
    #[error("ADM-17: a newer request of {0} is open")]
    PeerOlder(MemberId),
    /// `ADM-26` Another request of a key that has an open one, sooner than it may come.
    #[error("ADM-26: {0} asks again too soon")]
    PeerTooSoon(MemberId),
    /// `ADM-19` Objections ended the request.
    #[error("ADM-19: the request of {0} was refused for good")]
    PeerRefused(MemberId),
    /// `ADM-23` The charter admits by its list, and the guest is not on it.
    #[error("ADM-23: {0} is not on the charter's list")]
    PeerNotListed(MemberId),
    /// `ADM-50` A request by CSR in a group whose certificates need the holder's own signature.
    #[error("ADM-50: the CSR of {0} is refused: in this group, holders sign such certificates themselves")]
    PeerHolderSigns(MemberId),
    /// `ADM-53` A guest asks by CSR, although it has its key and signs its request itself.
    #[error("ADM-53: guest {0} asks by CSR, but a guest must sign its request itself")]
    PeerGuestCsr(NodeId),
    /// `ADM-20` The certificate does not stand, by itself or by its votes.
    #[error("ADM-20: the certificate is refused")]
    PeerCertificate(#[source] CertificateError),
    /// `ADM-22` The entry that would admit it would not stand.
    #[error("ADM-22: the admission is refused")]
    PeerEntry(#[source] BuildError),
    /// `ADM-31` The decision would not stand now: no such admission, field, value or voters.
    #[error("ADM-31: the decision is refused")]
    PeerDecision(#[source] EntryError),
    /// `ADM-32` Too many proposals are open.
    #[error("ADM-32: too many proposals are open (at most {all} in all, {one} from one member)", all = crate::PROPOSALS_MAX, one = crate::MEMBER_PROPOSALS_MAX)]
    PeerTooManyProposals,
    /// `ADM-33` The vote is not on the decision that came with it.
    #[error("ADM-33: the vote of {0} is on another decision")]
    PeerVoteDecision(MemberId),
    /// `ADM-34` Two decisions approved in one ballot, or one decision both approved and rejected:
    /// the first vote stands.
    #[error("ADM-34: {0} voted twice in one ballot")]
    PeerTwoVotes(MemberId),
    /// `ADM-35` A vote of another electorate serial, or of a ballot far ahead.
    #[error("ADM-35: the vote of {voter} is at serial {got}, ballot {ballot}, but serial {want} is next")]
    PeerSlot {
        /// Whose vote it is.
        voter: MemberId,
        /// Its serial.
        got: u64,
        /// Its ballot.
        ballot: u32,
        /// The serial expected here.
        want: u64,
    },
    /// A message that only the other side sends.
    #[error("ADM-01: {0} sent what only a contact sends")]
    PeerOutOfTurn(NodeId),
    /// An answer about a request that is not ours.
    #[error("ADM-14: {0} answered another request")]
    PeerOtherRequest(NodeId),
    /// A founder's admission has no end.
    #[error("a founder's admission does not run out, so there is nothing to renew")]
    LocalEndless,
    /// This member has no vote.
    #[error("this member has no vote")]
    LocalNotVoter,
    /// No open request or proposal has that name.
    #[error("no open request or proposal has that name")]
    LocalUnknown,
    /// This member has voted on it, and only a no on a request can be changed.
    #[error("this member has voted already; neither a yes nor a vote on a proposal can be changed")]
    LocalVotedAlready,
    /// The voters have said no to that since their last decision.
    #[error("the voters have said no to that; it can be proposed again after their next decision")]
    LocalRejected,
    /// We have not been told the time yet.
    #[error("the time is not known yet")]
    LocalNoClock,
    /// The member named is not one.
    #[error("{0} is not a member")]
    LocalNotMember(MemberId),
    /// What we proposed or asked for would not stand.
    #[error("it would be refused")]
    LocalDecision(#[source] EntryError),
    /// Our request or certificate cannot be made.
    #[error("this member's request cannot be made")]
    LocalRequest(#[source] RequestError),
    /// The bytes handed in here are no CSR, or it asks for what cannot be.
    #[error("the CSR is refused")]
    LocalCsr(#[source] CsrError),
    /// `ADM-50` The CSR handed in here cannot be granted in this group.
    #[error(
        "in this group, holders sign such certificates themselves. Import the key (folkmoot identity import) and join with it"
    )]
    LocalHolderSigns,
    /// Stored bytes are damaged.
    #[error("the stored admission state under {0} is damaged")]
    LocalCorrupt(&'static str),
    /// `ADM-41` to `ADM-46` A signer's message that it may not send, or not now.
    #[error("ADM-41: a message of {0} in a signing session is refused: {1}")]
    PeerSigner(MemberId, &'static str),
    /// `ADM-57` A certificate passed on as the authority's is of another request, or the group has
    /// no authority.
    #[error(
        "ADM-57: the certificate is not the one that was granted: it is of another request, or the group has no authority"
    )]
    PeerNotGranted,
    /// `ADM-58` Shares passed on as dealt by an authority were not dealt by it, or not in this way.
    #[error("ADM-58: the dealt shares are refused: {0}")]
    PeerDealt(&'static str),
    /// `ADM-59` A node of the authority speaks too often; not heard.
    #[error("ADM-59: the authority's node {0} sends too often")]
    PeerAuthorityTooMuch(NodeId),
    /// `ADM-60` A member handed in a request that no entry would take: nothing is told.
    #[error("ADM-60: what {0} handed in is refused")]
    PeerGrant(NodeId, #[source] EntryError),
    /// `ADM-61` A member handed in a request whose times do not fit now.
    #[error("ADM-61: what {0} handed in is refused: {1}")]
    PeerGrantTime(NodeId, &'static str),
    /// `ADM-63` No room for another request that waits for the authority's person: in all, or from
    /// this member.
    #[error("ADM-63: too many requests wait for a person (at most {all} in all, {one} from {0})", all = crate::PETITIONS_MAX, one = crate::CONTACT_REQUESTS_MAX)]
    PeerPetitions(NodeId),
    /// `ADM-64` A heartbeat that does not count.
    #[error("ADM-64: the heartbeat of {0} is refused: {1}")]
    PeerBeat(MemberId, &'static str),
    /// `ADM-65`, `ADM-66` An authority is asked for a deal that it may not make.
    #[error("ADM-65: the shares that {0} asks for are not dealt: {1}")]
    PeerDeal(MemberId, &'static str),
    /// `ADM-69` A member speaks too often to its authority; not answered.
    #[error("ADM-69: member {0} sends too often")]
    PeerTooMuch(NodeId),
    /// The office of an authority cannot be made or read, or belongs to another group.
    #[error("the authority's office cannot be used: {0}")]
    LocalOffice(&'static str),
    /// `ADM-62` A log record that cannot be read, or comes too late.
    #[error("ADM-62: a record of the authority's log is refused: {0}")]
    LocalRecord(&'static str),
    /// `ADM-80` Others speak for this authority too, and it was started without the log that they
    /// share.
    #[error(
        "ADM-80: the charter names several replicas of this authority ({0}): without a log that they share, two certificates could be issued for \
         one request. Run each with --replicas: folkmoot authority run CHARTER --replicas DIR (docs/cli.md, \"Replicas of an authority\")"
    )]
    LocalAlone(usize),
    /// `ADM-81` The log has another certificate for a request than the own disk. Nothing is issued
    /// any more.
    #[error(
        "ADM-81: the log has another certificate for a request than this authority's disk: it issued without the log once, or a disk was \
         rolled back or changed. Nothing more is issued here. Keep a copy of its folder, and set it up anew as one that was lost \
         (docs/cli.md, \"Replicas of an authority\")"
    )]
    LocalConflict,
    /// An authority has no room for more certificates.
    #[error(
        "the authority has no room: too many records are on their way through the log, or too many certificates are issued"
    )]
    LocalFull,
    /// `ADM-48` Bytes that are no revocation list, or one that the group's key has not signed.
    #[error("ADM-48: the revocation list of {0} is refused")]
    PeerRevocations(MemberId, #[source] RevocationError),
    /// `ADM-48` A revocation list that differs from what our transcript says, or that comes too
    /// early.
    #[error("ADM-48: the revocation list of {0} differs from the transcript")]
    PeerRevocationsAhead(MemberId),
}
