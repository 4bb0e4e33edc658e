//! What an application says to a member and hears from it.

use attach::Trace;
use base::{Cause, Digest, GroupId, Locator, MemberId, Mutant, NodeId, Service, UnixTime, ViewId};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_identity::Identity;
use folkmoot_letters::{LettersError, Standing};
use folkmoot_session::Origin;

/// How a member is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its identity key and certificate.
    pub identity: Identity,
    /// The node that it lives on: of its own key, unless several members share one.
    pub node: NodeId,
    /// The signed charter of its group: CMS, DER.
    pub charter: Bytes,
    /// How long it waits for another's step before it complains.
    pub step_deadline: Duration,
    /// Messages after which a key epoch ends.
    pub seals_per_epoch_max: u64,
    /// Of one who speaks for the authority: whether others do, too, with whom it shares a log
    /// ([`Event::Log`]).
    pub replicated: bool,
    /// What a mutant does wrong.
    pub danger: Mutant,
    /// Keep every epoch key for [`crate::Member::spoils`]; `false` outside tests.
    pub danger_keeps_keys: bool,
}

impl Config {
    /// The usual set-up.
    pub fn new(identity: Identity, charter: Bytes) -> Self {
        Self {
            node: identity.node(),
            identity,
            charter,
            step_deadline: base::limits::STEP_DEADLINE,
            seals_per_epoch_max: base::limits::SEALS_PER_EPOCH_MAX,
            replicated: false,
            danger: Mutant::NONE,
            danger_keeps_keys: false,
        }
    }
}

/// What an application asks.
#[derive(Debug, Clone)]
pub enum Command {
    /// Be in this group from now on; asked again until it holds, also after a restart of the ring.
    Join {
        /// Which; the charter's own, or one named under it.
        group: GroupId,
    },
    /// Leave this group.
    Leave {
        /// Which.
        group: GroupId,
    },
    /// Multicast to this group; held while there is no key.
    Send {
        /// Which.
        group: GroupId,
        /// Ordered how.
        service: Service,
        /// 0 to `MESSAGE_BYTES_MAX` bytes.
        payload: Bytes,
        /// Whether it carries this member's signature: every receiver can then prove to others who
        /// said it.
        signed: bool,
    },
    /// As a stranger: ask for admission through whichever contacts can be reached, until it is
    /// decided.
    Apply,
    /// Vote on a request or a proposal.
    Vote {
        /// The digest that `Request` or `Proposal` names.
        subject: Digest,
        /// Yes or no.
        approve: bool,
    },
    /// Ask for admission for the holder of a CSR (PKCS#10, DER or PEM), who is not here.
    SubmitCsr {
        /// At most 4 KiB.
        csr: Bytes,
    },
    /// Ask for a new certificate for this member itself, before the present one ends.
    Renew,
    /// Propose to expel a member, and vote for it.
    Expel {
        /// Whom.
        member: MemberId,
    },
    /// Propose to change one field of the charter, and vote for it.
    ChangeCharter {
        /// Which.
        field: String,
        /// To what, as the charter writes it.
        value: String,
    },
    /// Propose who votes from now on, and vote for it.
    Electorate {
        /// In order.
        voters: Vec<MemberId>,
    },
    /// `Expel`, `ChangeCharter` or `Electorate`, even if those who stay can then no longer admit,
    /// remove or decide.
    Forced(Box<Command>),
    /// Write to a group as one who is no member of it, until it is answered.
    Write {
        /// Which: the charter's own, or one named under it.
        group: GroupId,
        /// 1 to 8,192 bytes.
        text: Bytes,
    },
    /// Answer a stranger's letter, before all members.
    Answer {
        /// The digest that `Letter` names.
        letter: Digest,
        /// 1 to 8,192 bytes.
        text: Bytes,
    },
    /// A new key for the same members.
    Refresh {
        /// Of which group.
        group: GroupId,
    },
    /// Look for a peer there.
    Dial(Locator),
    /// As the authority: this record has its place in the log of all its replicas.
    Logged(Bytes),
}

/// A request for admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Petition {
    /// What a vote on it names.
    pub subject: Digest,
    /// Who asks.
    pub member: MemberId,
    /// By which name.
    pub name: String,
    /// The member who handed in its CSR, if it is by one; else it is at the door itself.
    pub sponsor: Option<MemberId>,
    /// Votes so far.
    pub have: u32,
    /// Votes needed.
    pub need: u32,
    /// Who said yes.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
    /// The charter's rule on admissions, with what each part has; `None` if there is none.
    pub rule: Option<String>,
    /// The roles that the charter gives this key.
    pub roles: Vec<String>,
    /// The term asked for, from and to.
    pub term: (UnixTime, UnixTime),
    /// The members have done their part, and the authority has yet to sign; why it does not, if it
    /// said so.
    pub waits: Option<Option<&'static str>>,
    /// The voters have granted it, and nobody can sign until they have new shares: as many as could
    /// have left with old ones.
    pub stale: bool,
}

/// A proposal that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What a vote on it names.
    pub subject: Digest,
    /// Who proposes.
    pub proposer: MemberId,
    /// What, in plain words.
    pub text: String,
    /// Votes so far.
    pub have: u32,
    /// Votes needed.
    pub need: u32,
    /// Who said yes.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
}

/// Why a message was not sent. Nothing of it has left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The group was not joined.
    #[error("not in that group: join it first")]
    LocalNotJoined,
    /// The message is longer than a message may be.
    #[error("{0} bytes are more than a message may have")]
    LocalTooLong(usize),
    /// The view has no quorum of the electorate, and the charter lets such a side only read, or
    /// nothing.
    #[error("this side of the split is a minority, and the charter does not let a minority send")]
    LocalMinority,
    /// So much is held already while a key is being agreed.
    #[error("no key yet, and as much is held as may be: wait for the next view")]
    LocalHeldFull,
    /// A letter or an answer that cannot be sent.
    #[error("{0}")]
    Letter(LettersError),
    /// The member left the group, or was removed, before a key came.
    #[error("the group was left before the message could be sealed")]
    LocalLeft,
}

/// What an application hears.
#[derive(Debug, Clone)]
pub enum Event {
    /// A secure view: these members, one key. Comes before any message of it.
    View {
        /// Of which group.
        group: GroupId,
        /// Its id.
        id: ViewId,
        /// Its members, sorted.
        members: Vec<MemberId>,
        /// Those who came from my previous secure view with me.
        transitional: Vec<MemberId>,
        /// Why it changed.
        cause: Cause,
        /// A public name of the key: equal at all who hold it.
        epoch: String,
    },
    /// A message.
    Message {
        /// To which group.
        group: GroupId,
        /// From whom: by the word of its node, and by the sender's key, which all of the view can
        /// derive; see `origin`.
        sender: MemberId,
        /// In which secure view.
        view: ViewId,
        /// Ordered how.
        service: Service,
        /// What.
        payload: Bytes,
        /// Which of its sender's messages it is, and the sender's signature, verified, if it gave
        /// one.
        origin: Origin,
    },
    /// A stranger wrote to the group. All members of the view hear it, in one order with its
    /// messages.
    Letter {
        /// To which group.
        group: GroupId,
        /// What an answer names.
        letter: Digest,
        /// The identity that signed it.
        writer: MemberId,
        /// What it calls itself; nobody vouches for that.
        name: String,
        /// What it says.
        text: Bytes,
    },
    /// A member answered a letter; the answer goes to its writer.
    Answered {
        /// In which group.
        group: GroupId,
        /// Which letter.
        letter: Digest,
        /// Who.
        by: MemberId,
        /// What it says.
        text: Bytes,
    },
    /// How a letter that we wrote stands; after `Closed` and `Refused` it is given up.
    LetterStands {
        /// Which.
        letter: Digest,
        /// How; `None` when it is begun.
        standing: Option<Standing>,
    },
    /// The group answered a letter that we wrote.
    Answer {
        /// Which.
        letter: Digest,
        /// The member that signed the answer.
        by: MemberId,
        /// What it says.
        text: Bytes,
    },
    /// From here on, promises of the view hold only within the next transitional set.
    Transitional {
        /// Of which group.
        group: GroupId,
    },
    /// The view is changing: sends are held until the next one.
    KeyPending {
        /// Of which group.
        group: GroupId,
    },
    /// Somebody asks to be admitted.
    Request(Petition),
    /// Somebody proposes a decision.
    Proposal {
        /// What a vote on it names.
        subject: Digest,
        /// What is proposed, in plain words.
        text: String,
        /// Votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
    },
    /// Votes on a request or proposal changed.
    Votes {
        /// On what.
        subject: Digest,
        /// Votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
    },
    /// We hold our certificate: what we asked for is granted. The group has it a moment later, in
    /// order: [`Self::Admitted`].
    Certified {
        /// It, X.509, DER.
        certificate: Bytes,
    },
    /// Somebody is on the roster now; perhaps we.
    Admitted {
        /// Who.
        member: MemberId,
        /// By which name.
        name: String,
    },
    /// What we asked for was refused, or is not decided yet.
    Refused {
        /// Why, in plain words.
        reason: String,
    },
    /// The voters said no to our request for admission: so many that the rest are too few. Only a
    /// voter who thinks again can change that.
    Denied {
        /// Why, in plain words.
        reason: String,
    },
    /// Somebody is off the roster now, by vote or because its certificate ran out.
    Expelled {
        /// Who.
        member: MemberId,
    },
    /// We are out of a group.
    Removed {
        /// Which.
        group: GroupId,
        /// Why.
        cause: Cause,
    },
    /// The message just handed in, or one held before, was not sent.
    SendFailed {
        /// Why.
        error: SendError,
    },
    /// A peer can be reached.
    LinkUp {
        /// Who.
        node: NodeId,
        /// Where.
        at: Locator,
    },
    /// A peer can no longer be reached.
    LinkDown {
        /// Who.
        node: NodeId,
    },
    /// As the authority, with replicas: have this record ordered in the log that they share, and
    /// bring it back with [`Command::Logged`]. May be said again.
    Log(Bytes),
    /// As the authority, with replicas: the log has another certificate for a request than our disk
    /// (`ADM-81`). Nothing is issued any more; end the process.
    LogConflict {
        /// What to do, in plain words.
        reason: String,
    },
    /// The node is in a configuration with these nodes.
    Configuration {
        /// Who.
        nodes: Vec<NodeId>,
    },
}

/// Makes a [`Trace`] of a layer's line.
pub(crate) fn trace(layer: &'static str, text: String) -> Trace {
    Trace { layer, text }
}
