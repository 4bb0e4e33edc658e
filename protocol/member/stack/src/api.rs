//! The commands that an application gives a member, and the events that it gets.

use crate::{Petition, SendError};
use attach::{Side, Trace};
use base::{
    Cause, Digest, GroupId, Head, JoinRefusal, Locator, MemberId, Mutant, NodeId, Party, Service, ViewId,
};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_admission::Closed;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_identity::Identity;
use folkmoot_letters::{LetterEvent, Standing};
use folkmoot_session::Origin;

/// The settings of a member.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its identity key and certificate.
    pub identity: Identity,
    /// Which of the member's programs this is. Port 0 takes the member's part in admission, and is
    /// the only one that does: it asks, votes, decides and holds shares (MEM-11).
    pub port: u16,
    /// The node that it lives on; it has the member's key, unless several members share the node.
    pub node: NodeId,
    /// The signed charter of its group: CMS, DER.
    pub charter: Bytes,
    /// How long it waits for another member's step before it complains.
    pub step_deadline: Duration,
    /// Number of messages after which a key epoch ends.
    pub seals_per_epoch_max: u64,
    /// For the authority's process: whether there are other replicas, which share a log with this
    /// one ([`Event::Log`]).
    pub replicated: bool,
    /// What a mutant does wrong.
    pub danger: Mutant,
    /// Keep every epoch key for [`crate::Member::spoils`]; `false` outside tests.
    pub danger_keeps_keys: bool,
}

impl Config {
    /// The usual settings.
    pub fn new(identity: Identity, charter: Bytes) -> Self {
        Self {
            node: identity.node(),
            identity,
            port: 0,
            charter,
            step_deadline: base::limits::STEP_DEADLINE,
            seals_per_epoch_max: base::limits::SEALS_PER_EPOCH_MAX,
            replicated: false,
            danger: Mutant::NONE,
            danger_keeps_keys: false,
        }
    }
}

/// A command of the application.
#[derive(Debug, Clone)]
pub enum Command {
    /// Be in this group from now on. The member asks again until it is in, also after a restart of
    /// the ring.
    Join {
        /// Which group: the charter's own, or one named under it.
        group: GroupId,
    },
    /// Leave this group.
    Leave {
        /// Which group.
        group: GroupId,
    },
    /// Multicast to this group. While there is no key, the message is held.
    Send {
        /// Which group.
        group: GroupId,
        /// The service.
        service: Service,
        /// The text: 0 to `MESSAGE_BYTES_MAX` bytes.
        payload: Bytes,
        /// Whether it carries this member's signature, by which every receiver can prove to others
        /// who sent it.
        signed: bool,
    },
    /// Send several messages to a group, in this order, not signed. Short ones are sealed together.
    SendMany {
        /// The group.
        group: GroupId,
        /// How they are ordered.
        service: Service,
        /// The messages.
        payloads: Vec<Bytes>,
    },
    /// As a stranger: ask for admission through any contacts that can be reached, until the request
    /// is decided.
    Apply,
    /// Vote on a request or a proposal.
    Vote {
        /// The digest that `Request` or `Proposal` names.
        subject: Digest,
        /// Yes or no.
        approve: bool,
    },
    /// Ask for admission for the holder of a CSR (PKCS#10, DER or PEM), who takes no part here.
    SubmitCsr {
        /// The CSR: at most 4 KiB.
        csr: Bytes,
    },
    /// Ask for a new certificate for this member itself, before the present one ends.
    Renew,
    /// Propose that another key takes this member's place, and vote for it.
    Rotate {
        /// The certificate (GMC, DER) that the new key has signed, without votes.
        certificate: Bytes,
    },
    /// Take back what this member proposed or asked for; without a subject, as a stranger, its
    /// request for admission.
    Withdraw {
        /// The digest that `Request` or `Proposal` names.
        subject: Option<Digest>,
    },
    /// Propose to expel a member, and vote for it.
    Expel {
        /// Which member.
        member: MemberId,
    },
    /// Ask to be let go for good. The voters decide it as a removal, over this member's signature:
    /// everybody can tell it from an expulsion.
    LeaveForGood,
    /// Propose to change one field of the charter, and vote for it.
    ChangeCharter {
        /// Which field.
        field: String,
        /// The new value, as the charter writes it.
        value: String,
    },
    /// Propose who votes from now on, and vote for it.
    Electorate {
        /// The voters, in order.
        voters: Vec<MemberId>,
    },
    /// Propose that everybody on this line goes over to another line of decisions, and vote for it.
    Rejoin {
        /// That line's decision at the fork.
        head: Head,
    },
    /// Propose that the line's time goes back to the voters' clocks, and vote for it.
    Retime,
    /// Go over, alone, to another line of decisions, once somebody shows it: [`Event::WentOver`].
    Resolve {
        /// A recent decision of that line; or one of ours, to apply it, or to go on from it by the
        /// clock; or that of [`Event::Offered`], to go on without the decisions between.
        head: Head,
    },
    /// `Expel`, `LeaveForGood`, `ChangeCharter` or `Electorate`, whatever it leaves behind.
    Forced(Box<Command>),
    /// Write a letter to a group that this member is not in, until it is answered.
    Write {
        /// Which group: the charter's own, or one named under it.
        group: GroupId,
        /// The text: 1 to 8,192 bytes.
        text: Bytes,
    },
    /// Answer a stranger's letter; all members see the answer.
    Answer {
        /// The letter's id, from [`LetterEvent::Came`].
        letter: Digest,
        /// The text: 1 to 8,192 bytes.
        text: Bytes,
    },
    /// A new key for the same members.
    Refresh {
        /// Of which group.
        group: GroupId,
    },
    /// Look for a peer at this locator.
    Dial(Locator),
    /// As the authority: this record has its place in the log that all its replicas share.
    Logged(Bytes),
}

/// An event for the application.
#[derive(Debug, Clone)]
pub enum Event {
    /// A secure view: these parties, one key. It comes before its messages.
    View {
        /// Of which group.
        group: GroupId,
        /// Its id.
        id: ViewId,
        /// Its parties, sorted.
        members: Vec<Party>,
        /// The parties that came from this party's previous secure view together with it.
        transitional: Vec<Party>,
        /// Why it changed; `Network` if for several reasons: the status says how each member went.
        cause: Cause,
        /// A public name of the key; equal at every member that holds it.
        epoch: String,
        /// What these parties may do together.
        side: Side,
    },
    /// A message.
    Message {
        /// To which group.
        group: GroupId,
        /// The sender: according to its node, and by the sender's key, which all members of the
        /// view can derive. See `origin`.
        sender: Party,
        /// In which secure view.
        view: ViewId,
        /// The service.
        service: Service,
        /// The text.
        payload: Bytes,
        /// The message's number among its sender's messages, and the sender's signature if it gave
        /// one. The signature has been verified.
        origin: Origin,
    },
    /// A stranger wrote to one of our groups, or a member answered such a letter.
    Letter(LetterEvent),
    /// The state of a letter that we wrote. After `Closed` and `Refused` the letter is given up.
    LetterStands {
        /// Which letter.
        letter: Digest,
        /// The state; `None` when the letter is begun.
        standing: Option<Standing>,
    },
    /// The group answered a letter that we wrote.
    Answer {
        /// Which letter.
        letter: Digest,
        /// The party that signed the answer.
        by: Party,
        /// The text.
        text: Bytes,
    },
    /// From here on, the promises of the view hold only within the next transitional set.
    Transitional {
        /// Of which group.
        group: GroupId,
    },
    /// The view is changing: sends are held until the next one.
    KeyPending {
        /// Of which group.
        group: GroupId,
    },
    /// A stranger asks to be admitted.
    Request(Petition),
    /// A member proposes a decision.
    Proposal {
        /// The digest that a vote on it names.
        subject: Digest,
        /// The proposed decision, in plain words.
        text: String,
        /// Votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
    },
    /// A request or proposal is open no more.
    Closed {
        /// The digest that a vote on it named.
        subject: Digest,
        /// Who asked, if it was a request.
        member: Option<MemberId>,
        /// The name that was asked for, or the proposed decision in plain words.
        text: String,
        /// Why.
        why: Closed,
    },
    /// A contact knows that this stranger asks no more.
    Withdrawn,
    /// Votes on a request or proposal changed.
    Votes {
        /// The request or proposal.
        subject: Digest,
        /// Votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
    },
    /// We hold our certificate: our request was granted. The group has it a moment later, in order:
    /// [`Self::Admitted`].
    Certified {
        /// The certificate, X.509, DER.
        certificate: Bytes,
    },
    /// Somebody is on the roster now; it may be this member.
    Admitted {
        /// The new member.
        member: MemberId,
        /// Its name.
        name: String,
    },
    /// The ring has not taken this member into a group. It asks again.
    JoinRefused {
        /// Which group.
        group: GroupId,
        /// Why.
        refusal: JoinRefusal,
    },
    /// A member was proven to lie in a signing session, and is not chosen again.
    SignerLied {
        /// Who.
        member: MemberId,
    },
    /// Our request for admission is not granted so far.
    Refused {
        /// Why, in plain words.
        reason: String,
    },
    /// So many voters said no to our request that the others are too few. A voter may change that.
    Denied {
        /// Why, in plain words.
        reason: String,
    },
    /// This machine's clock is behind, or another's is ahead, by more than the group bears.
    /// Requests and decisions that others see do not count here yet.
    ClockBehind {
        /// Whose clock shows so; none for the clocks of a quorum, which decided.
        than: Option<MemberId>,
        /// By how much, at the least.
        seconds: u64,
    },
    /// For 1.5 seconds nothing has come back of what this member has sent: nobody has it yet, as
    /// far as is known here. `status` says for how long.
    Stalled {
        /// In which group.
        group: GroupId,
        /// How many messages have not come back.
        messages: u64,
    },
    /// What this member sends comes back again.
    Resumed {
        /// In which group.
        group: GroupId,
    },
    /// A member's node, ours perhaps, has lacked a message for a second, and has nothing of what
    /// came after it. [`Event::CaughtUp`] follows, or a new configuration.
    Lacking {
        /// Whose node.
        node: NodeId,
    },
    /// That node lacks nothing any more.
    CaughtUp {
        /// Whose node.
        node: NodeId,
    },
    /// A member's node shows another line of decisions than ours: somebody signed both. We share no
    /// view with it. Compare heads with people you trust; `folkmoot resolve` goes over to the
    /// other.
    OtherLine {
        /// Whose node.
        node: NodeId,
        /// Its head.
        theirs: Head,
        /// Our head.
        ours: Head,
    },
    /// A member's node runs twice, as when its folder was copied. The process that started earlier
    /// was told to stop.
    RunsTwice {
        /// Whose node.
        node: NodeId,
        /// Where the earlier process is.
        at: Locator,
    },
    /// This member is on another line of decisions than before.
    WentOver {
        /// The head that it left.
        left: Head,
        /// Its head now.
        head: Head,
    },
    /// Others have gone on to this decision, and nobody has shown this member the decisions
    /// between. It does not skip them unless its person says so ([`Command::Resolve`]).
    Offered {
        /// The last decision that they show.
        head: Head,
    },
    /// This member has gone on without the decisions between. It trusts the quorums of voters that
    /// committed to them, and has not counted the approvals itself.
    Skipped {
        /// The last decision before.
        left: Head,
        /// Its head now.
        head: Head,
    },
    /// A member is off the roster now, by vote or because its certificate ran out; or another key
    /// has taken the place of this one.
    Expelled {
        /// The former member.
        member: MemberId,
    },
    /// We are out of a group.
    Removed {
        /// Which group.
        group: GroupId,
        /// The cause.
        cause: Cause,
    },
    /// The last message handed in, or one that was held before, was not sent.
    SendFailed {
        /// The reason.
        error: SendError,
    },
    /// A peer can be reached.
    LinkUp {
        /// The peer.
        node: NodeId,
        /// Its locator.
        at: Locator,
    },
    /// A peer can no longer be reached.
    LinkDown {
        /// The peer.
        node: NodeId,
    },
    /// As the authority, with replicas: have this record ordered in the log that they share, and
    /// bring it back with [`Command::Logged`]. This event may be repeated.
    Log(Bytes),
    /// As the authority, with replicas: for some request the log has another certificate than our
    /// disk (`ADM-81`). Nothing is issued any more; end the process.
    LogConflict {
        /// What to do, in plain words.
        reason: String,
    },
    /// The node is in a configuration with these nodes.
    Configuration {
        /// The nodes.
        nodes: Vec<NodeId>,
    },
}

/// Makes a [`Trace`] from a layer's line.
pub(crate) fn trace(layer: &'static str, text: String) -> Trace {
    Trace { layer, text }
}
