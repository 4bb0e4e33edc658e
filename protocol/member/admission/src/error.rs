//! Why an admission message or command was refused. Each reason is a rule of
//! docs/protocol/admission.md.

use folkmoot_base::{DecodeError, MemberId, NodeId, limits};
use folkmoot_identity::names::NameError;
use folkmoot_identity::{CertificateError, CsrError, NotNamed, RequestError, RevocationError};
use folkmoot_transcript::{ItemError, Unfit};

/// Why something was refused. The layer is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// `ADM-01` Too long, or not an admission message.
    #[error("it is not an admission message (ADM-01)")]
    WireMalformed(#[from] DecodeError),
    /// `ADM-02` The request does not verify.
    #[error("the request is refused (ADM-02)")]
    WireRequest(#[source] RequestError),
    /// `ADM-03` A guest brought another's request or certificate.
    #[error("guest {0} speaks for somebody else (ADM-03)")]
    PeerNotHolder(NodeId),
    /// `ADM-04` The request is for another group, scheme or mode, for more than the charter allows,
    /// or over a decision that is not on our line.
    #[error("the request does not fit the charter (ADM-04)")]
    PeerCharter(#[source] CertificateError),
    /// `ADM-05` The term asked for has not begun or is over.
    #[error("the term that {0} asks for has not begun or is over (ADM-05)")]
    PeerTerm(MemberId),
    /// `ADM-06` The request has admitted its holder before.
    #[error("the request of {0} has been used before (ADM-06)")]
    PeerUsed(MemberId),
    /// `ADM-54` The guest is a member by an earlier request, or since a vote holds it.
    #[error("{0} is a member already (ADM-54)")]
    PeerIn(MemberId),
    /// `ADM-07` All places for open requests are taken: in the group, or for this contact.
    #[error("too many requests are open (at most {all} in all, {one} from one contact) (ADM-07)", all = limits::REQUESTS_MAX, one = crate::CONTACT_REQUESTS_MAX)]
    PeerTooManyRequests,
    /// `ADM-08` The guest speaks too often; not answered.
    #[error("guest {0} sends too often (ADM-08)")]
    PeerTooOften(NodeId),
    /// `ADM-09` The sender of a message to the members is not a member.
    #[error("{0} is not a member (ADM-09)")]
    PeerNotMember(MemberId),
    /// `ADM-11` Its signer has no vote, or its key is not one.
    #[error("{0} has no vote (ADM-11)")]
    PeerNotVoter(MemberId),
    /// `ADM-15` The vote has run out.
    #[error("the vote of {0} has run out (ADM-15)")]
    PeerVoteEnded(MemberId),
    /// `ADM-17` A newer request of the same key is open.
    #[error("a newer request of {0} is open (ADM-17)")]
    PeerOlder(MemberId),
    /// `ADM-26` Another request of a key that has an open one, sooner than it may come.
    #[error("{0} asks again too soon (ADM-26)")]
    PeerTooSoon(MemberId),
    /// `ADM-19` Objections ended the request.
    #[error("the request of {0} was refused for good (ADM-19)")]
    PeerRefused(MemberId),
    /// `ADM-23` The charter admits by its list, and the guest is not on it.
    #[error("{0} is not on the charter's list (ADM-23)")]
    PeerNotListed(MemberId),
    /// `ADM-50` A request by CSR in a group whose certificates need the holder's own signature.
    #[error("the CSR of {0} is refused: in this group, holders sign such certificates themselves (ADM-50)")]
    PeerHolderSigns(MemberId),
    /// `ADM-53` A guest asks by CSR, although it has its key and signs its request itself.
    #[error("guest {0} asks by CSR, but a guest must sign its request itself (ADM-53)")]
    PeerGuestCsr(NodeId),
    /// `ADM-20` The certificate does not stand, by itself or by its votes.
    #[error("the certificate is refused (ADM-20)")]
    PeerCertificate(#[source] CertificateError),
    /// `ADM-22` The item that would admit it would not be taken, or not count.
    #[error("the admission is refused (ADM-22)")]
    PeerItem(#[source] ItemError),
    /// `ADM-31` The effect could not be carried out now: no such member, field, value or voters.
    #[error("the proposal is refused (ADM-31)")]
    PeerDecision(#[source] Unfit),
    /// `ADM-32` Too many proposals are open.
    #[error("too many proposals are open (at most {one} from one member, {all} from all without a vote) (ADM-32)", all = crate::PROPOSALS_MAX, one = crate::MEMBER_PROPOSALS_MAX)]
    PeerTooManyProposals,
    /// `ADM-35` What a voter says about the next decision does not stand.
    #[error("a ballot is refused (ADM-35)")]
    PeerBallot(#[source] ItemError),
    /// `ADM-90` Somebody asks for a name that nobody may be given.
    #[error("the name that {0} asks for is refused (ADM-90)")]
    PeerName(MemberId, #[source] NameError),
    /// `ADM-91` A withdrawal that the key which asked has not signed.
    #[error("a withdrawal is not signed by whoever asked (ADM-91)")]
    PeerWithdrawal,
    /// `ADM-92` A member takes back what another one proposed.
    #[error("{0} takes back what it has not proposed (ADM-92)")]
    PeerNotProposer(MemberId),
    /// A message that only the other side sends.
    #[error("{0} sent what only a contact sends (ADM-01)")]
    PeerOutOfTurn(NodeId),
    /// `ADM-28` An answer about a request that is not ours.
    #[error("{0} answered another request (ADM-28)")]
    PeerOtherRequest(NodeId),
    /// A founder's admission has no end.
    #[error("a founder's admission does not run out, so there is nothing to renew")]
    LocalEndless,
    /// `ID-86` The member cannot have another key in this way.
    #[error(
        "a member gets another key {0}. Else make a new identity, have it admitted, and have the old one expelled"
    )]
    LocalRotation(&'static str),
    /// `ID-86` No member can have another key here, or not this one.
    #[error(
        "the key cannot be replaced here. Instead make a new identity, have it admitted, and have the old one expelled \
         (docs/cli.md, \"Another key\")"
    )]
    LocalNoRotation(#[source] Unfit),
    /// `ID-73` The new key is of an algorithm that the charter does not name.
    #[error(transparent)]
    LocalAlgorithm(NotNamed),
    /// `ADM-94` It is the request of another key for a member, and people vote on that.
    #[error(
        "it is the request of another key for a member: vote on the proposal to give it that key (ADM-94)"
    )]
    LocalRotates,
    /// This member has no vote.
    #[error("this member has no vote")]
    LocalNotVoter,
    /// No open request or proposal has that name.
    #[error("no open request or proposal has that name")]
    LocalUnknown,
    /// It is another's, and only whoever asked or proposed can take it back.
    #[error("only whoever asked or proposed can take it back")]
    LocalNotOurs,
    /// A CSR's holder is not here to take its request back.
    #[error("a request by CSR cannot be taken back; the voters may reject it")]
    LocalCsrStays,
    /// The authority's person has said yes to it: the certificate is issued.
    #[error("a yes has been said to it already, and cannot be taken back")]
    LocalVotedAlready,
    /// So many voters say no that the others are too few.
    #[error("so many voters say no to it that the others are too few")]
    LocalRejected,
    /// `ADM-74` A yes to a sharing says that its share is on this member's disk.
    #[error("this member has no share of that sharing, so it cannot say yes to it (ADM-74)")]
    LocalNoShare,
    /// We have not been told the time yet.
    #[error("the time is not known yet")]
    LocalNoClock,
    /// The member named is not one.
    #[error("{0} is not a member")]
    LocalNotMember(MemberId),
    /// What we proposed or asked for would not stand.
    #[error(transparent)]
    LocalDecision(Unfit),
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
    #[error("a message of {0} in a signing session is refused (ADM-41): {1}")]
    PeerSigner(MemberId, &'static str),
    /// `ADM-57` A certificate passed on as the authority's is of another request, or the group has
    /// no authority.
    #[error(
        "the certificate is not the one that was granted: it is of another request, or the group has no authority (ADM-57)"
    )]
    PeerNotGranted,
    /// `ADM-58`, `ADM-88` Shares passed on as dealt by an authority were not dealt by it, or not in
    /// this way.
    #[error("the dealt shares are refused (ADM-58, ADM-88): {0}")]
    PeerDealt(&'static str),
    /// `ADM-59` A node of the authority speaks too often; not heard.
    #[error("the authority's node {0} sends too often (ADM-59)")]
    PeerAuthorityTooMuch(NodeId),
    /// `ADM-60` A member handed in a request that the transcript would not take: nothing is told.
    #[error("what {0} handed in is refused (ADM-60)")]
    PeerGrant(NodeId, #[source] ItemError),
    /// `ADM-61` A member handed in a request whose times do not fit now.
    #[error("what {0} handed in is refused (ADM-61): {1}")]
    PeerGrantTime(NodeId, &'static str),
    /// `ADM-63` No room for another request that waits for the authority's person: in all, or from
    /// this member.
    #[error("too many requests wait for a person (at most {all} in all, {one} from {0}) (ADM-63)", all = crate::PETITIONS_MAX, one = crate::CONTACT_REQUESTS_MAX)]
    PeerPetitions(NodeId),
    /// `ADM-64` A heartbeat that does not count.
    #[error("the heartbeat of {0} is refused (ADM-64): {1}")]
    PeerBeat(MemberId, &'static str),
    /// `ADM-65`, `ADM-66`, `ADM-87` An authority is asked for a deal that it may not make.
    #[error("the shares that {0} asks for are not dealt (ADM-65, ADM-87): {1}")]
    PeerDeal(MemberId, &'static str),
    /// `ADM-69` A member speaks too often to its authority; not answered.
    #[error("member {0} sends too often (ADM-69)")]
    PeerTooMuch(NodeId),
    /// The office of an authority cannot be made or read, or belongs to another group.
    #[error("the authority's office cannot be used: {0}")]
    LocalOffice(&'static str),
    /// `ADM-62` A log record that cannot be read, or comes too late.
    #[error("a record of the authority's log is refused (ADM-62): {0}")]
    LocalRecord(&'static str),
    /// `ADM-80` Others speak for this authority too, and it was started without the log that they
    /// share.
    #[error(
        "the charter names several replicas of this authority ({0}): without a log that they share, two certificates could be issued for \
         one request. Run each with --replicas: folkmoot authority run CHARTER --replicas DIR (docs/cli.md, \"Replicas of an authority\") (ADM-80)"
    )]
    LocalAlone(usize),
    /// `ADM-81` The log has another certificate for a request than the own disk. Nothing is issued
    /// any more.
    #[error(
        "the log has another certificate for a request than this authority's disk: it issued without the log once, or a disk was \
         rolled back or changed. Nothing more is issued here. Keep a copy of its folder, and set it up anew as one that was lost \
         (docs/cli.md, \"Replicas of an authority\") (ADM-81)"
    )]
    LocalConflict,
    /// An authority has no room for more certificates.
    #[error(
        "the authority has no room: too many records are on their way through the log, or too many certificates are issued"
    )]
    LocalFull,
    /// `ADM-48` Bytes that are no revocation list, or one that the group's key has not signed.
    #[error("the revocation list of {0} is refused (ADM-48)")]
    PeerRevocations(MemberId, #[source] RevocationError),
    /// `ADM-48` A revocation list that differs from what our transcript says, or that comes too
    /// early.
    #[error("the revocation list of {0} differs from the transcript (ADM-48)")]
    PeerRevocationsAhead(MemberId),
}
