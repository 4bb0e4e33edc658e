//! What happened in a run, as checkers read it: one typed entry for each event, in the one order of
//! the world.
//!
//! A [`Process`] is one life of one player: a crash ends it, a restart begins the next. Checkers
//! never see wire bytes or machine state. Whatever must be judged about those (leaks, disturbances,
//! reuse) is judged where it happens and recorded as an entry, too. So every checker is a function
//! of a [`Record`], and can be tested on a written one.

use crate::word::Word;
use folkmoot_base::{ConfigurationId, Service, ViewId};
use std::collections::BTreeSet;
use std::fmt;

/// How long a message or a configuration may be under way once nothing fails any more, in
/// microseconds.
pub const PATIENCE: u64 = 10_000_000;

/// A clock that is so far from the true time is near, as voters judge, in seconds.
pub const NEAR_SECONDS: i64 = 300;

/// A place at the table: the party with this index.
pub type Player = u8;

/// One life of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// Who.
    pub player: Player,
    /// Which life: 0 until the first crash.
    pub life: u16,
}

/// An application message: who sent it, in which life, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    /// Sender.
    pub player: Player,
    /// The sender's life.
    pub life: u16,
    /// Number in that life.
    pub number: u32,
}

impl MessageId {
    /// Who sent it.
    pub fn sender(&self) -> Process {
        Process { player: self.player, life: self.life }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "m{}.{}", self.player, self.life)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}#{}", self.sender(), self.number)
    }
}

/// A view as one member's application was told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub id: ViewId,
    /// Who is in it.
    pub members: BTreeSet<Player>,
    /// Who came along with this member.
    pub transitional: BTreeSet<Player>,
    /// A name of its key that reveals nothing of it.
    pub key: String,
}

/// What the ring told the layer above it: the trace on which EVS 1 to 7 are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingEvent {
    /// A regular configuration with these nodes.
    Regular(ConfigurationId, BTreeSet<Player>),
    /// The transitional configuration between `from` and `to`: those of `from` who go on to `to`
    /// together.
    Transitional {
        /// The regular configuration that ends.
        from: ConfigurationId,
        /// Who goes on together.
        nodes: BTreeSet<Player>,
    },
    /// A ring's keys came or went. Of how many rings the node has keys now, and whether they came:
    /// those of an attempt.
    Keys(usize, bool),
    /// A message was handed to the ring by this node, for one of its parties.
    Sent(RingMessage, u16),
    /// A message was delivered.
    Delivered {
        /// Which.
        message: RingMessage,
        /// The configuration it was numbered in.
        configuration: ConfigurationId,
        /// Its place there.
        number: u64,
        /// How ordered.
        service: Service,
    },
}

/// Names a message at the ring by its sender and a digest of its bytes. Two sends of the same bytes
/// have one name; their places in the order tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RingMessage {
    /// The sending node.
    pub sender: Player,
    /// The first half of SHA-256 of the bytes.
    pub digest: [u8; 16],
}

/// What a transcript says, where the charter's scheme is not plain. Decisions, sharings and
/// requests by short names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Minute {
    /// The voters decided.
    Decided {
        /// Its number.
        serial: u64,
        /// What.
        decision: String,
    },
    /// That decision is a sharing of the group's key.
    Shared {
        /// Its number.
        serial: u64,
        /// By which its shares lie on disks.
        name: String,
        /// Its share-epoch.
        epoch: String,
        /// How many of its shares are the key.
        threshold: usize,
        /// Of which key.
        key: String,
    },
    /// A certificate admitted somebody.
    Admitted {
        /// Whom.
        who: Player,
        /// By which request.
        request: String,
        /// The share-epoch that it names.
        names: Option<String>,
        /// The share-epoch in the past of its entry.
        past: Option<String>,
        /// Whether it verifies under the key of that.
        verifies: bool,
        /// Who made its multisignature.
        signers: BTreeSet<Player>,
    },
}

/// A decision as a transcript has it, where an attacker has every former key. Members are players;
/// `None` is a stranger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Its number.
    pub number: u64,
    /// Its name.
    pub name: String,
    /// The name of the decision before it.
    pub parent: String,
    /// Its time.
    pub time: u64,
    /// Who had a place in the electorate before it, in order.
    pub electors: Vec<Option<Player>>,
    /// Who committed to it.
    pub signers: Vec<Option<Player>>,
    /// What people approved.
    pub deeds: Vec<Deed>,
    /// What the clock of whoever has it showed when it was seen there, if it has one.
    pub clock: Option<u64>,
}

/// A change that people approved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deed {
    /// What it is about: what was approved before that changed last does not count.
    pub about: String,
    /// Whom it expels.
    pub removes: Option<Player>,
    /// Whom it gives votes.
    pub voters: Vec<Option<Player>>,
    /// Whose keys it names.
    pub names: BTreeSet<Player>,
    /// The number of the decision that each voter knew, and when its approval ends.
    pub approvals: Vec<(Option<Player>, u64, u64)>,
}

/// Which disk a life began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disk {
    /// Nothing on it.
    Fresh,
    /// Everything that was committed.
    Synced,
    /// What was committed some time ago.
    Old,
    /// A copy of the player's folder, and everything that was committed there since.
    Copied,
}

/// Why a message of the application was not sent.
pub type Reason = String;

/// Something that must never be seen where it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leak {
    /// Plaintext in a datagram.
    Wire,
    /// Plaintext in what a node gets to carry.
    Node,
    /// Plaintext, key or secret bytes in a trace line of this layer.
    Trace(&'static str),
    /// This player, out of the group, opened something sealed after it was out.
    Outsider(Player),
}

/// One thing that happened to one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The life began.
    Boot(Disk),
    /// The life ended: this many outputs of its last batch took no effect.
    Crash(u32),
    /// The application asked to send.
    Asked(MessageId, Service),
    /// The application was told that a message will not be sent, or is lost.
    Refused(MessageId, Reason),
    /// A message was sealed: from here on it is sent, in this view.
    Sent(MessageId, Service, Option<ViewId>),
    /// A message was handed to the application.
    Delivered(MessageId, Service),
    /// Bytes were handed to the application that nobody sent.
    Garbled(usize),
    /// A view was installed.
    View(Shown),
    /// A new key for the view that is installed.
    Rekeyed(ViewId, String),
    /// The transitional signal.
    Signal,
    /// The member left the group or was removed from it.
    Left(Reason),
    /// What its ring did.
    Ring(RingEvent),
    /// A control step that the process acknowledged (and so must survive), by name.
    Acknowledged(String),
    /// A control step that the process was found without, though it acknowledged it in an earlier
    /// life on this disk.
    Forgot(String),
    /// A number that must be used once: kind, and value.
    Used(&'static str, Vec<u8>),
    /// The member said that it has the key of this view.
    Confirmed(ViewId),
    /// It heard that this player has the key of this view.
    Heard(ViewId, Player),
    /// What its program says of itself in its group, or hears of another.
    Word(Word),
    /// A frame that was forged, or replayed after it had been taken, had an effect: which.
    Disturbed(String),
    /// A leak.
    Leaked(Leak),
    /// What its transcript has new.
    Minute(Minute),
    /// The attacker has this player's key from now on, and its machine is gone.
    Stolen,
    /// Its transcript has this decision.
    Ruled(Ruling),
    /// It has said that this decision is right, and its wall clock showed this.
    Judged(String, u64),
    /// Its program lies about decisions from now on.
    Liar,
    /// Its wall clock is so many seconds ahead from now on; `None`: it has none.
    Clock(Option<i64>),
    /// Whom decisions expel that wait for its clock: they are out meanwhile.
    Hidden(BTreeSet<Player>),
    /// Its roster has so many whom nobody here knows.
    Strangers(usize),
    /// Its transcript has another decision for this number, and names those who signed both.
    Fork(u64, Vec<Option<Player>>),
    /// It tells its person that this player is on another line.
    OtherLine(Player),
    /// The sharing in use and the shares on its disk, when either changed, after all writes of a
    /// batch took effect.
    Shares {
        /// By its transcript.
        in_use: Option<String>,
        /// Of which sharings.
        on_disk: BTreeSet<String>,
    },
    /// It voted for a sharing.
    Backed {
        /// Which.
        sharing: String,
        /// Whether its share of that was on disk then.
        on_disk: bool,
        /// Whether one share of it is the key.
        whole: bool,
    },
    /// Its person said yes to this request.
    Approved(String),
    /// The admission roster as this process knows it, when it changed.
    Roster(BTreeSet<Player>),
    /// A trace line, kept only for transcripts.
    Note(&'static str, String),
    /// The machine handed out more at one moment of the clock than is sane.
    Spinning,
    /// The number of this process: of two processes with one identity the higher one goes on.
    Started(u64),
    /// It stopped, since it was shown that the process with this number started later.
    Superseded(u64),
    /// From now on it can hear two processes of this player, and each of them can hear it.
    Meets(Player),
    /// It can no longer, or one of the two is gone.
    Parts(Player),
    /// Its application takes no events from now on; so many may wait.
    Deaf(usize),
    /// Its application takes events again.
    Reads,
    /// More events waited for the application than may: the process ends.
    SlowReader(usize),
}

/// One line of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Microseconds of the world.
    pub at: u64,
    /// Whose.
    pub process: Process,
    /// What.
    pub what: What,
}

/// How a member stood when the world stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Whose.
    pub process: Process,
    /// Whether it should be in the one view: alive, admitted, not expelled, not left of its own
    /// will.
    pub expected: bool,
    /// Its view and the name of its key.
    pub view: Option<Shown>,
    /// Its roster.
    pub roster: BTreeSet<Player>,
    /// Players whom its last decision has as members, whose terms last, and who are not on its
    /// roster.
    pub cut_off: BTreeSet<Player>,
    /// Players whose nodes are on its node's ring; more than the view's members where somebody has
    /// not joined.
    pub ring: BTreeSet<Player>,
    /// Whether that ring does not stand now.
    pub gathers: bool,
    /// What it waits for, in plain words.
    pub activity: String,
    /// Messages that it asked to send and that are neither delivered to itself nor refused.
    pub unacknowledged: Vec<MessageId>,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps of the schedule that were played.
    pub steps: u64,
    /// Messages handed to applications.
    pub deliveries: u64,
    /// Views handed to applications.
    pub views: u64,
    /// Datagrams carried.
    pub datagrams: u64,
    /// Inputs handled.
    pub inputs: u64,
    /// Virtual microseconds.
    pub micros: u64,
    /// What the attacker with former keys sent: items.
    pub lies: u64,
    /// Members that were away during an expulsion and followed those who were expelled: not
    /// protected.
    pub misled: u64,
    /// Of these, those whom somebody else has shown to its person as being on another line.
    pub shown: u64,
    /// Processes that stopped since another one of their identity started later.
    pub superseded: u64,
    /// Processes that ended since their applications took no events.
    pub slow_readers: u64,
    /// Forks that members saw.
    pub forks: u64,
}

/// A whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// Everything, in order.
    pub entries: Vec<Entry>,
    /// Whether nothing was broken by the schedule.
    pub calm: bool,
    /// Whether an attacker has former keys: then decisions are recorded.
    pub robbed: bool,
    /// How many signed the charter: players from 0.
    pub founders: Player,
    /// How many approvals admit at the least, whatever the charter becomes.
    pub votes: u8,
    /// Whether the faults had stopped and the world had come to rest when it ended.
    pub settled: bool,
    /// When the faults stopped, in microseconds.
    pub healed: u64,
    /// What was missing for peace, the first time that it did not come while cuts lasted.
    pub unrest: Option<String>,
    /// What the machines alone had to do at the end, and did not (signing sessions).
    pub undone: Option<String>,
    /// How each living member stood at the end.
    pub standings: Vec<Standing>,
    /// Counters.
    pub counts: Counts,
    /// Running digest of everything that was carried and recorded (kept when asked for).
    pub digest: [u8; 32],
}

impl Record {
    /// Whether what began at `entry` has had its time at `player` when the world ended:
    /// [`PATIENCE`]. Who was not expected to come to rest had no peace before the faults stopped:
    /// somebody who was expelled, and does not know, tries with one after the other of those who do
    /// not know either.
    pub fn is_old(&self, player: Player, entry: usize) -> bool {
        let at = self.entries.get(entry).map_or(0, |entry| entry.at);
        let since = if self.rests(player) { at } else { at.max(self.healed) };
        since.saturating_add(PATIENCE) < self.counts.micros
    }

    /// Whether the world came to rest with this player in it: what it waits for now will not come
    /// any more.
    pub fn rests(&self, player: Player) -> bool {
        // Who is not expected in the one view may still be busy: nobody waited for it.
        let expected = |one: &Standing| one.expected || one.process.player != player;
        self.settled && self.standings.iter().all(expected)
    }

    /// Players whose clocks have been further from the true time than voters allow.
    pub fn erring(&self) -> BTreeSet<Player> {
        let wrong = |what: &What| matches!(what, What::Clock(ahead) if ahead.is_none_or(|ahead| ahead.abs() > NEAR_SECONDS));
        let wrong = self.entries.iter().filter(|entry| wrong(&entry.what));
        wrong.map(|entry| entry.process.player).collect()
    }

    /// Adds an entry.
    pub fn push(&mut self, at: u64, process: Process, what: What) {
        match &what {
            What::Delivered(..) => self.counts.deliveries = self.counts.deliveries.saturating_add(1),
            What::View(_) => self.counts.views = self.counts.views.saturating_add(1),
            What::Superseded(_) => self.counts.superseded = self.counts.superseded.saturating_add(1),
            What::Fork(..) => self.counts.forks = self.counts.forks.saturating_add(1),
            What::SlowReader(_) => self.counts.slow_readers = self.counts.slow_readers.saturating_add(1),
            _ => {}
        }
        self.entries.push(Entry { at, process, what });
    }
}
