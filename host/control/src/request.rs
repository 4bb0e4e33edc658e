//! What may be asked of a member.

use serde::{Deserialize, Serialize};

/// The ordering ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Ordering {
    /// As it comes, or not at all.
    Unreliable,
    /// As it comes.
    Reliable,
    /// In the order of its sender.
    Fifo,
    /// After everything its sender had heard.
    Causal,
    /// In one order for all.
    Agreed,
    /// In one order, and only when all are known to hold it.
    Safe,
}

impl From<Ordering> for folkmoot_base::Service {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::Unreliable => Self::Unreliable,
            Ordering::Reliable => Self::Reliable,
            Ordering::Fifo => Self::Fifo,
            Ordering::Causal => Self::Causal,
            Ordering::Agreed => Self::Agreed,
            Ordering::Safe => Self::Safe,
        }
    }
}

/// What a command asks. Members, requests and proposals are named as on the command line: a name,
/// or the first digits of an id. Bytes are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Who is in, who is not, why.
    Status,
    /// How the group's authority stands, if it is this process.
    Authority,
    /// Requests and proposals that are open.
    Petitions,
    /// The view that is installed, and whether its key is at work.
    View,
    /// Vote.
    Vote {
        /// On what.
        subject: String,
        /// Yes or no.
        approve: bool,
        /// So many seconds the answer may wait until the vote has its place in the order: 4 if not
        /// given, 10 at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<u64>,
    },
    /// Ask for a new certificate for the member itself.
    Renew,
    /// Propose that another key takes the member's place.
    Rotate {
        /// What the new key has signed.
        certificate: String,
    },
    /// Take back a proposal or a renewal of this member's; without a subject, as a stranger, the
    /// request for admission.
    Withdraw {
        /// Which.
        subject: Option<String>,
    },
    /// The rules in force, and which decisions made them.
    Rules,
    /// Ask for admission for the holder of a CSR.
    Csr {
        /// The CSR, PEM.
        csr: String,
    },
    /// The certificate that was granted to a member, if it was.
    Certificate {
        /// Whose: the whole id.
        member: String,
        /// Its serial number.
        serial: String,
    },
    /// Propose to expel a member.
    Expel {
        /// Whom.
        member: String,
        /// Even if some decisions are impossible then: the answer says what as `warning`. Here and
        /// below.
        #[serde(default)]
        force: bool,
    },
    /// Ask to be let go for good, over the member's own signature.
    LeaveForGood {
        /// As in `expel`.
        #[serde(default)]
        force: bool,
    },
    /// Propose who votes from now on.
    Voters {
        /// They, and nobody else.
        members: Vec<String>,
        /// As in `expel`.
        #[serde(default)]
        force: bool,
    },
    /// Propose to change a field of the charter.
    Change {
        /// Which field.
        field: String,
        /// Its new value, as the charter writes it.
        value: String,
        /// As in `expel`.
        #[serde(default)]
        force: bool,
    },
    /// Propose that the line's time goes back to the voters' clocks.
    Retime {
        /// Propose nothing, and say what that time is and who committed to it.
        #[serde(default)]
        weigh: bool,
    },
    /// Apply a decision that waits for this machine's clock; or go over to another line of
    /// decisions.
    Resolve {
        /// The decision; of another line, the one at the fork.
        head: String,
        /// Propose that everybody on the member's line goes over.
        #[serde(default)]
        everybody: bool,
        /// So many seconds the answer waits for somebody who is on the other line.
        #[serde(default)]
        wait: u64,
    },
    /// Ask for admission.
    Apply,
    /// Look for a member.
    Dial {
        /// Where.
        at: String,
    },
    /// Send one message. Waits for a key.
    Send {
        /// The message.
        payload: String,
        /// How it is ordered.
        service: Ordering,
        /// Whether the member signs it.
        #[serde(default)]
        sign: bool,
    },
    /// Send these in this order, each when there is room and a key for it. The answer says which
    /// of them were refused.
    Lines {
        /// The messages.
        lines: Vec<Line>,
        /// How they are ordered.
        service: Ordering,
    },
    /// A message that was heard, as a file that proves it.
    Proof {
        /// Its number, or the newest signed one.
        number: Option<u64>,
        /// Of one that is not signed, the bare record.
        #[serde(default)]
        unsigned: bool,
    },
    /// Strangers' letters, with their answers.
    Letters,
    /// Answer a letter.
    Answer {
        /// Its writer's name, or the first digits of its id.
        letter: String,
        /// The answer.
        text: String,
    },
    /// Sign a ticket.
    Invite {
        /// The places that it names.
        at: Vec<String>,
        /// The key that it is for; anybody if not given.
        holder: Option<String>,
        /// So many days it serves.
        days: u64,
    },
    /// Hear everything from now on.
    Subscribe,
    /// Leave the group.
    Leave,
    /// End the process.
    Stop,
    /// For measurements: begin a new delivery log.
    Mark,
    /// For measurements: the delivery log: how many, their digest; latency of those that came
    /// between two times.
    Journal {
        /// From, by the wall clock: microseconds since 1970.
        from: u64,
        /// To.
        to: u64,
    },
    /// For measurements: send many messages.
    Burst {
        /// So many; zero: as many as go in `seconds`.
        count: u64,
        /// Bytes of each.
        bytes: u32,
        /// How they are ordered.
        service: Ordering,
        /// For so long, if there is no count.
        seconds: f64,
        /// At most so many are not yet back; zero: no limit.
        window: u32,
    },
    /// For demonstrations: faults of the transport.
    Fault(Faulty),
    /// For demonstrations: keep the sealed payloads that come.
    Tap {
        /// Withhold them from the member.
        withhold: bool,
    },
    /// For demonstrations: the sealed payloads that came; the tap closes.
    Tapped,
    /// For demonstrations: be deaf to changes of members and cling to the keys (K3).
    IgnoreChanges,
    /// For demonstrations: hand the member these sealed payloads as if they had just been
    /// delivered.
    Feed {
        /// The payloads.
        payloads: Vec<Sealed>,
    },
    /// For demonstrations: try every key that the member ever held on these sealed payloads.
    Attempt {
        /// The payloads.
        payloads: Vec<Sealed>,
        /// They may have been sealed for these views.
        views: Vec<PossibleView>,
    },
}

impl Request {
    /// The verbs, as `op` names them.
    pub const VERBS: &[&str] = &[
        "status",
        "authority",
        "petitions",
        "view",
        "vote",
        "renew",
        "rotate",
        "withdraw",
        "rules",
        "csr",
        "certificate",
        "expel",
        "leave-for-good",
        "voters",
        "change",
        "retime",
        "resolve",
        "apply",
        "dial",
        "send",
        "lines",
        "proof",
        "letters",
        "answer",
        "invite",
        "subscribe",
        "leave",
        "stop",
        "mark",
        "journal",
        "burst",
        "fault",
        "tap",
        "tapped",
        "ignore-changes",
        "feed",
        "attempt",
    ];
}

/// One of several messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The message.
    pub payload: String,
    /// Whether the member signs it.
    #[serde(default)]
    pub sign: bool,
}

/// Faults that are wanted from now on; with `heal`, instead of those that were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faulty {
    /// Nothing goes to these locators.
    pub cut: Vec<String>,
    /// The share of datagrams that are dropped.
    pub drop: Option<f64>,
    /// Each is delayed by so many milliseconds.
    pub delay_ms: Option<u64>,
    /// Longer ones are dropped.
    pub longest: Option<usize>,
    /// Instead of what was wanted before.
    pub heal: bool,
}

/// A view that a sealed payload may be for: a whole answer to `view` serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossibleView {
    /// As `view` answers it.
    pub id: String,
    /// Its members.
    pub members: Vec<String>,
}

/// A sealed payload on its way between processes of a demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// Who sent it, by the word of its node.
    pub sender: String,
    /// The sealed bytes.
    pub payload: String,
}
