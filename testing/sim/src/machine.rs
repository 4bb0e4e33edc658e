//! The seam between the world and what is played in it: one machine for each life of a player, and
//! the cast that makes them.
//!
//! The shipped stacks sit behind this in `stack`. Unit tests of the world put small toys there.

use crate::lie::Thief;
use crate::record::{Minute, Player, RingEvent, Shown, What};
use crate::word::Word;
use bytes::Bytes;
use folkmoot_attach::Trace;
use folkmoot_base::{Danger, Entropy, Instant, Locator, Persist, Service, UnixTime, ViewId};
use folkmoot_transcript::Transcript;
use std::collections::{BTreeMap, BTreeSet};

use crate::disk::Contents;
use crate::record::MessageId;

/// A protocol step that a member can be made to leave out: its messages of this kind go nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mute {
    /// FLUSH_OK.
    FlushOk,
    /// FLUSH_RECV.
    FlushReceived,
    /// The agreement's upflow.
    PartialToken,
    /// The agreement's broadcast of the collected value.
    FinalToken,
    /// The agreement's factored-out values.
    FactOut,
    /// The agreement's key list.
    KeyList,
    /// Key confirmation.
    Confirm,
    /// Votes and other open messages.
    Admission,
}

/// All of them, for drawing.
pub const MUTES: [Mute; 8] = [
    Mute::FlushOk,
    Mute::FlushReceived,
    Mute::PartialToken,
    Mute::FinalToken,
    Mute::FactOut,
    Mute::KeyList,
    Mute::Confirm,
    Mute::Admission,
];

/// What a node that was broken into does to the sealed payloads it carries up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crooked {
    /// Flips a bit in some.
    Alters,
    /// Hands some up twice.
    Repeats,
}

/// What the application and the person in a player ask.
#[derive(Debug, Clone)]
pub enum Command {
    /// Send this.
    Send(MessageId, Service, Bytes),
    /// Leave the group.
    Leave,
    /// Join it again.
    Join,
    /// Say yes to the request of this player.
    Approve(Player),
    /// Propose to expel this player.
    Expel(Player),
    /// Propose this change of the charter ([`crate::schedule::CHANGES`]).
    Change(u8),
    /// Propose that these players vote from now on.
    Electorate(Vec<Player>),
    /// Ask to be admitted.
    Apply,
    /// Say yes to the proposal to expel this player, or to make the change that [`motion`] names.
    Agree(Player),
    /// Say no to the request of this player, or to the proposal that names it.
    Reject(Player),
    /// The date that the clock shows is right, if that is asked for.
    Date,
    /// Look for this player's node where it is: somebody told the person.
    Dial(Player),
    /// From now on leave out this step, or none.
    Mute(Option<Mute>),
    /// From now on the node is crooked, or honest again.
    Crooked(Option<Crooked>),
    /// From now on lie about decisions, together with the programs of these.
    Lie(BTreeSet<Player>),
    /// The application in the player's second program asks this.
    Second(Box<Command>),
    /// Show every peer a start of another process of that peer's ([`crate::schedule::Slander`]).
    Slander(crate::schedule::Slander),
}

/// Stands for the proposal to make a change of the charter, where others are named by the player to
/// be expelled.
pub fn motion(change: u8) -> Player {
    change.saturating_add(MOTIONS)
}

/// Stands for the proposal of an electorate, whichever.
pub fn electorate() -> Player {
    ELECTORATE
}

/// The name in records of a player's second program: another party of the same member.
pub fn second_of(player: Player) -> Player {
    player.saturating_add(SECONDS)
}

/// Whether a name in a record is that of a second program.
pub fn is_second(player: Player) -> bool {
    (SECONDS..MOTIONS).contains(&player)
}

/// Whose program it is.
pub fn owner(player: Player) -> Player {
    if is_second(player) { player.saturating_sub(SECONDS) } else { player }
}

/// No table has so many players.
const SECONDS: Player = 80;
const ELECTORATE: Player = 240;
/// No table has so many players.
const MOTIONS: Player = 160;

/// What comes in.
#[derive(Debug, Clone)]
pub enum Input {
    /// A datagram, or several that came together: all of one length but for the last, which may be
    /// shorter.
    Datagrams(Locator, Vec<Bytes>),
    /// The application or the person speaks.
    Command(Command),
    /// The wall clock reads.
    Clock(UnixTime),
    /// The time named by `poll_timeout` has come.
    Timeout,
}

/// What the machine tells: the application's events, and what the observer sees in attach and at
/// the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// An application message.
    Message(Bytes),
    /// The message was sealed in the view that is installed.
    Sent(MessageId),
    /// The message will not be sent, or is lost.
    Refused(MessageId, String),
    /// A view.
    View(Shown),
    /// A new key for the view that is installed: its name.
    Rekeyed(ViewId, String),
    /// The transitional signal.
    Signal,
    /// Out of the group.
    Left(String),
    /// The request of this player is shown to the person.
    Asked(Player),
    /// A proposal to expel this player is shown to the person.
    Proposed(Player),
    /// Something happened at the ring.
    Ring(RingEvent),
    /// A sealed application message went down to the node, as the node sees it.
    Crossing(Bytes),
    /// The member knows that this player is no longer in the group.
    Gone(Player),
    /// The member knows that this player is in the group (again).
    Back(Player),
    /// A control step was acknowledged: its name.
    Acknowledged(String),
    /// A value that may be used once was used.
    Used(&'static str, Vec<u8>),
    /// The member says that it has the key of this view.
    Confirmed(ViewId),
    /// The member hears that this player has the key of this view.
    Heard(ViewId, Player),
    /// What the program says of itself in its group, or hears of another.
    Word(Word),
    /// This player's node shows another line of decisions.
    OtherLine(Player),
    /// The person says yes to the request with this name.
    Approved(String),
    /// The member says that this decision is right now.
    Judged(String),
    /// The member votes for the sharing with this name; whether one share of it is the key.
    Backed(String, bool),
    /// It stops: the process with this number started later.
    Superseded(u64),
}

/// What goes out.
#[derive(Debug, Clone)]
pub enum Output {
    /// Send this datagram.
    Transmit(Locator, Bytes),
    /// Commit this first.
    Persist(Persist),
    /// Tell.
    Told(Told),
    /// The player's second program tells.
    Second(Told),
    /// A happening worth a line.
    Trace(Trace),
}

/// How a machine stands, for the judges of roster and liveness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Players on its roster.
    pub roster: BTreeSet<Player>,
    /// Players whom its last decision has as members, and when their terms end.
    pub held: BTreeMap<Player, UnixTime>,
    /// Players that it knows to be removed.
    pub removed: BTreeSet<Player>,
    /// Control steps that it holds, by name: what it acknowledged must be among them after a
    /// restart.
    pub holds: BTreeSet<String>,
    /// Votes that it could give, but has not given as far as it knows, and ends of the admissions
    /// by which its members are in, by name: none that it acknowledged may be among them.
    pub lacks: BTreeSet<String>,
    /// Players whose nodes are on its node's ring.
    pub ring: BTreeSet<Player>,
    /// Whether that ring does not stand now.
    pub gathers: bool,
    /// What it waits for, in plain words.
    pub activity: String,
}

/// What a machine's transcript has new, where the charter's scheme is not plain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Minutes {
    /// New since the last call.
    pub minutes: Vec<Minute>,
    /// The sharing in use, by the name under which its shares lie on disks.
    pub in_use: Option<String>,
}

/// How a machine's signing sessions stand, where the charter's scheme is not plain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signing {
    /// Whether the voters hold shares of one key.
    pub shared: bool,
    /// Microseconds for which one of them has stood still.
    pub still: u64,
    /// Whether other shares must be made, by threshold or leavers; who votes and has none wants
    /// them besides.
    pub wants: bool,
    /// Those who decide, in order.
    pub electorate: Vec<Player>,
    /// Of these, those who are members.
    pub voters: BTreeSet<Player>,
    /// Who approves each decision in the ballot that is voted in now, closed ones, too, as far as
    /// this machine knows.
    pub approvals: Vec<BTreeSet<Player>>,
    /// How many votes it takes.
    pub threshold: usize,
    /// How many shares sign: by the next sharing where one is wanted, else by the present one.
    pub signers: usize,
    /// Whom the present sharing gave shares.
    pub holders: BTreeSet<Player>,
    /// How many of them make another sharing; 0: there is none.
    pub givers: usize,
    /// Whether this machine has its share.
    pub holds: bool,
    /// Players whose requests have enough votes, and who said yes.
    pub ripe: BTreeMap<Player, BTreeSet<Player>>,
    /// Players with open requests that are linked with this machine.
    pub guests: BTreeSet<Player>,
}

/// Keys that a machine held at some moment: what a thief, an ex-member or a node would have.
#[derive(Debug, Clone, Default)]
pub struct Spoils {
    /// Raw secret bytes, for the scan of logs and wires.
    pub secrets: Vec<Vec<u8>>,
    /// Whatever [`Cast::opens`] needs to try them on a payload.
    pub kept: Option<folkmoot_member::Spoils>,
}

/// One life of one player.
pub trait Machine {
    /// Takes one input.
    fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy);
    /// Next output, until `None`.
    fn poll_output(&mut self) -> Option<Output>;
    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    fn poll_timeout(&self) -> Option<Instant>;
    /// How it stands.
    fn picture(&self) -> Picture;
    /// Its roster, if that changed since the last call.
    fn roster_if_changed(&mut self) -> Option<BTreeSet<Player>>;
    /// What it knows.
    fn spoils(&self) -> Spoils;
    /// What its transcript has new.
    fn minutes(&mut self) -> Minutes {
        Minutes::default()
    }
    /// Its transcript, for whoever steals that.
    fn transcript(&self) -> Option<&Transcript> {
        None
    }
    /// Whether these players decide, by its last decision.
    fn is_quorum(&self, _players: &BTreeSet<Player>) -> bool {
        true
    }
    /// What its line has new: decisions, forks, and how many strangers are on its roster.
    fn line(&mut self) -> Vec<What> {
        Vec::new()
    }
    /// The number that says when it started, if it has one.
    fn started(&self) -> Option<u64> {
        None
    }
    /// How its signing sessions stand; `None`: there are none.
    fn signing(&self, _now: Instant) -> Option<Signing> {
        None
    }
}

/// How a player takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Signed the charter.
    Founder,
    /// Has a ticket only, with this player as its contact.
    Stranger {
        /// Whom it asks.
        contact: Player,
    },
    /// Was told nothing: it goes by what its disk knows.
    Returner,
}

/// What a life begins with.
#[derive(Debug)]
pub struct Entrance<'a> {
    /// Who.
    pub player: Player,
    /// Where: the player's own place, or that of its copied folder.
    pub place: Player,
    /// Where to look for others, if the player's folder was copied; empty: as its role says.
    pub others: &'a [Player],
    /// Which life.
    pub life: u16,
    /// How.
    pub role: Role,
    /// The disk.
    pub disk: &'a Contents,
    /// The wall clock.
    pub clock: UnixTime,
    /// What is broken on purpose.
    pub danger: Option<Danger>,
}

/// Makes the machines of one run.
pub trait Cast {
    /// Begins a life. The machine's first outputs are polled right after.
    ///
    /// # Errors
    /// Why the disk was not readable, in words.
    fn enter(
        &mut self,
        entrance: &Entrance<'_>,
        entropy: &mut dyn Entropy,
    ) -> Result<Box<dyn Machine>, String>;

    /// The attacker that holds every former key, if this cast has keys.
    fn thief(&self, _seed: u64) -> Option<Box<dyn Thief>> {
        None
    }

    /// Whether `spoils` open `payload`, which was sealed in `view`. The view is no secret: it is
    /// told.
    fn opens(&self, spoils: &Spoils, payload: &Bytes, view: Option<&Shown>) -> bool;
}

/// The port of a place.
pub fn locator(place: Player) -> Locator {
    Locator::memory(u32::from(place).saturating_add(1))
}

/// The place at a locator.
pub fn player_at(locator: Locator) -> Option<Player> {
    Player::try_from(locator.as_memory()?.checked_sub(1)?).ok()
}
