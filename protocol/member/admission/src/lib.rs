//! Admission: request, votes, certificate, item. Expulsion and the other decisions of the voters
//! are here too.
//!
//! ```text
//! stranger                contact                      voters (contact among them)
//! Applicant --Request--> Admission --Open::Request--> Admission --> person: approve?
//!     |    <--Standing--     |     <---Item::Approval-    |  persisted, then ordered
//!     |    <----Votes---     | enough
//!     '--Certificate----->   '--Item::Admit----> ordered for all: the roster has the stranger
//! ```
//! Promises: nobody is admitted or expelled here, only proposed: the transcript judges. A vote is
//! persisted before it is sent, and so is what a voter promises or commits to for the next
//! decision. Whoever holds something unfinished sends it again until the matter is closed, so no
//! crash, split or change of contact strands a request. Bounds:
//! [`limits::REQUESTS_MAX`](folkmoot_base::limits::REQUESTS_MAX) open requests,
//! [`CONTACT_REQUESTS_MAX`] of them through one contact, which hosts share, one for each key;
//! besides [`VOUCHED_MAX`] that members vouch for; [`MEMBER_PROPOSALS_MAX`] proposals by one
//! member, [`PROPOSALS_MAX`] by all who have no vote; each request and proposal for the charter's
//! `request_hours`. Relies on: senders authenticated by
//! link and ring. One order of members' messages is convenient, not needed. Source: facts of
//! Saxena, Tsudik, Yi (2003), plain signatures, decentralised, fixed threshold. Departures:
//! docs/protocol/admission.md. The parts of a member's desk: docs/ARCHITECTURE.md, "Inside
//! admission".

mod applicant;
mod at_authority;
mod authority;
mod call;
mod desk;
mod error;
mod expire;
mod message;
mod pause;
mod refused;
mod requests;
mod roster;
mod signers;
mod status;
mod store;
mod voting;

pub use applicant::{Applicant, Phase};
pub use authority::{
    Authority, AuthorityMessage, AuthorityStatus, DEALT_LABEL, DealerState, Dealt, HEARTBEAT_LABEL,
    Heartbeat, ISSUED_MAX, LINKS_MAX, LOGGING_MAX, LogRecord, OFFICE_BYTES_MAX, OFFICE_TABLE, Office,
    PETITIONS_MAX, PetitionStatus, Presence, SignedReady, WireGrounds, dealt_info,
};
pub use desk::Admission;
pub use error::AdmissionError;
pub use message::{
    ADMISSION_BYTES_MAX, GuestMessage, KeyedVote, OpenMessage, Reason, SignerKey, WITHDRAWAL_LABEL,
    Withdrawal,
};
pub use requests::Counters;
pub use signers::{PrivateMessage, Purpose, ROUND_LABEL, SIGNER_LABEL, SignerBody, SignerMessage, Wording};
pub use status::{ProposalStatus, RequestStatus, ShareStatus, ShareWay, SigningStatus, Status};
pub use store::{keep_endorsement, keep_voucher};

use bytes::Bytes;
use folkmoot_base::{Digest, Host, MemberId, Mutant, NodeId, Persist, UnixTime};
use folkmoot_transcript::{Effect, Force, Taken};
use std::collections::BTreeSet;

/// Most open requests that one contact may bring.
pub const CONTACT_REQUESTS_MAX: usize = 32;
/// Most open requests that members vouch for.
pub const VOUCHED_MAX: usize = 64;
/// Most of them by vouchers of one member.
pub const MAKER_REQUESTS_MAX: usize = 16;
/// Most of them by one voucher.
pub const VOUCHER_REQUESTS_MAX: usize = 4;
/// Most open proposals of all members without a vote.
pub const PROPOSALS_MAX: usize = 32;
/// Most open proposals of one member.
pub const MEMBER_PROPOSALS_MAX: usize = 8;
/// The settings of the layer.
#[derive(Debug, Clone)]
pub struct Config {
    /// Whether an authority's records go through a log that its replicas share. Otherwise it takes
    /// its own at once.
    pub replicated: bool,
    /// By how much clocks may differ, in seconds (T7).
    pub skew_seconds: u64,
    /// What to do wrong, in tests of the tests.
    pub danger: Mutant,
}

impl Default for Config {
    fn default() -> Self {
        Self { replicated: false, skew_seconds: 60, danger: Mutant::NONE }
    }
}

/// What comes in, for [`Admission`], [`Applicant`] and [`Authority`] alike.
#[derive(Debug, Clone)]
pub enum Input {
    /// A frame over a link: from a guest, or from the contact if we are the guest.
    Guest {
        /// From whom, its key proved.
        from: NodeId,
        /// What.
        payload: Bytes,
    },
    /// An open message to the members.
    Open {
        /// By whom, as its node says.
        sender: MemberId,
        /// What.
        payload: Bytes,
    },
    /// The wall clock; zero: there is none that counts.
    Clock(UnixTime),
    /// The time that `poll_timeout` named has come.
    Timeout,
    /// A link to a guest came up; for an applicant: to a possible contact.
    LinkUp {
        /// The peer.
        node: NodeId,
        /// Where it is.
        host: Host,
    },
    /// It went down.
    LinkDown(NodeId),
    /// View, notice or configuration changed: someone may be here who missed something. What is
    /// unfinished is sent again soon.
    Regrouped,
    /// The transcript took an item; the transcript handed in holds it.
    Item {
        /// The item.
        item: Bytes,
        /// What it changed.
        taken: Taken,
    },
    /// The members in the group's view now; none outside one.
    Present(BTreeSet<MemberId>),
    /// A record, ours or another replica's, has its place in the log that an authority's replicas
    /// share. For an [`Authority`] alone.
    Logged(Bytes),
}

/// What a person may ask, of [`Admission::order`] or [`Authority::order`]. Each has a subject,
/// whose digest everybody votes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Vote on a request or proposal, by its name in [`Status`].
    Vote {
        /// Request digest or proposal digest.
        motion: Digest,
        /// Yes or no.
        approve: bool,
    },
    /// Propose to expel a member, and approve it if this member has a vote.
    Expel(MemberId),
    /// Propose that this member itself goes for good, over its own signature, and approve it if it
    /// has a vote; with force, whatever it leaves behind.
    Leave(Force),
    /// Propose an effect, and approve it if this member has a vote.
    Propose(Effect),
    /// Ask for admission for the holder of this CSR (PKCS#10, DER or PEM), who is not here. This
    /// does not vote on it: that is another command.
    Submit(Bytes),
    /// Ask for a new certificate for this member itself, before the present one ends. This does not
    /// vote on it: that is another command.
    Renew,
    /// Propose that another key takes this member's place, and approve it if this member has a
    /// vote. This is what the new key has signed: its certificate (GMC, DER), without votes, where
    /// holders sign theirs; else its request (CMS, DER).
    Rotate(Bytes),
    /// Take back what this member proposed or asked for; as a voter, its yes with it.
    Withdraw(Digest),
    /// This member's person has seen the date that its clock shows, and says that it is right:
    /// whoever alone is a quorum decides by a clock that is far ahead only then.
    Date,
}

/// What goes out. Order counts.
#[derive(Debug, Clone)]
pub enum Output {
    /// Commit this before any later output takes effect.
    Persist(Persist),
    /// Send over the link to a guest or contact.
    Guest {
        /// To whom.
        to: NodeId,
        /// What.
        payload: Bytes,
    },
    /// Multicast to the members: open, agreed, outside views.
    Multicast(Bytes),
    /// Have this item of the transcript ordered.
    Item(Bytes),
    /// Tell the application.
    Event(Event),
    /// Have this record ordered in the log that an authority's replicas share. It comes back as
    /// [`Input::Logged`]. By an [`Authority`] alone.
    Log(Bytes),
    /// A line for the log.
    Trace(String),
}

/// Why a request or proposal is no longer open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It was granted: admitted, or carried out.
    Granted,
    /// Too many said no.
    Rejected,
    /// Time is up.
    Expired,
    /// Its sender asks for something else now, the charter changed, or another decision made it
    /// pointless.
    Overtaken,
    /// It made room for one of another host.
    Crowded,
    /// Whoever asked or proposed has taken it back.
    Withdrawn,
}

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A stranger asks for admission: vote with [`Command::Vote`].
    RequestArrived {
        /// Its name for votes.
        request: Digest,
        /// Who.
        member: MemberId,
        /// By which name.
        name: String,
    },
    /// A request is no longer open.
    RequestClosed {
        /// Which.
        request: Digest,
        /// Whose.
        member: MemberId,
        /// By which name.
        name: String,
        /// Why.
        why: Closed,
    },
    /// A member wants a decision.
    ProposalArrived {
        /// Its name for votes.
        proposal: Digest,
        /// What.
        effect: Effect,
        /// Who.
        proposer: MemberId,
    },
    /// A proposal is no longer open.
    ProposalClosed {
        /// Which.
        proposal: Digest,
        /// What.
        effect: Effect,
        /// Why.
        why: Closed,
    },
    /// A vote was counted, ours or another's.
    VoteCast {
        /// Request or proposal.
        motion: Digest,
        /// Whose.
        voter: MemberId,
        /// Yes or no.
        approve: bool,
        /// Approving votes now.
        have: usize,
        /// Approving votes needed, at the least.
        need: usize,
    },
    /// A member was proven to lie while several made one share or signature. It is not chosen
    /// again.
    SignerLied {
        /// Who.
        member: MemberId,
    },
    /// Our clock is so far behind that we cannot judge what others can: a request whose term has
    /// not begun here, a decision that was made in our future. Told once for each member.
    ClockBehind {
        /// Who brought the request; none for a decision, which a quorum made.
        than: Option<MemberId>,
        /// By how much, at the least.
        seconds: u64,
    },
    /// Applicant: not admitted, or not yet.
    Refused {
        /// Why.
        reason: Reason,
        /// Approving votes so far.
        have: usize,
        /// Votes needed.
        need: usize,
    },
    /// Applicant: the votes are here and the certificate is made.
    Certified {
        /// The certificate (GMC, DER).
        certificate: Bytes,
    },
    /// Applicant: the transcript has us.
    Admitted,
    /// Applicant: a contact knows that we ask no more.
    Withdrawn,
}
