//! Hands at a table: where several members make one share or one signature together, by the charter's scheme: with shares of one
//! key (`share.rs`), or each with its own (`multi.rs`).
//!
//! ```text
//! leader   Convene(purpose) ------------>  all, in one order
//! hands    Ready(one-time key) --------->  those who find the purpose right
//! leader   Seats(givers, takers) ------->  as many as it takes; from here on the run is fixed
//! hands    Round(to all, to each sealed)>  round after round, until the run is done
//! ```
//! Promise: a hand takes part only in what the transcript and its own desk call for; the share that a run gave it is on disk before
//! it votes for the sharing, and is put into use, the one before erased, when the transcript takes the decision; until then the one
//! before stays in use. A run that stands still for [`PATIENCE`] is dropped by everybody, and convened again by its leader without
//! those who were silent, or proven to lie.
//! Bounds: [`TABLES_MAX`] tables, [`LEADER_TABLES_MAX`] of one leader; the newest is refused.

mod convene;
mod deal;
mod multi;
mod outcome;
mod revoke;
mod run;
mod seat;
mod seats;
mod share;
mod word;

pub use word::{HAND_LABEL, HandWord, Purpose, ROUND_LABEL, Say, Whisper};

use crate::AdmissionError;
use core::time::Duration;
use folkmoot_base::sealing::{Classic, OpeningKey};
use folkmoot_base::{Digest, Instant, MemberId};
use folkmoot_identity::{Roster, Transcript};
use folkmoot_signing::shared::AnyRun;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use convene::turn;
pub(crate) use share::Shares;

/// Most tables at once.
const TABLES_MAX: usize = 64;
/// Most tables of one leader.
const LEADER_TABLES_MAX: usize = 16;
/// How long a table may stand still.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a leader waits for one more hand after the last that came, where more are wanted than it takes; [`PATIENCE`] in all. Who is left
/// out of a sharing has all of them make another.
const GATHER: Duration = Duration::from_millis(400);
/// How long a hand that is not needed at first lets the others answer a call.
const LATER: Duration = Duration::from_millis(150);
/// How long a leader lets the ones before it begin.
const TURN: Duration = Duration::from_millis(800);

/// Who sits where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seats {
    /// Those who hold shares and use them; those who found.
    pub(crate) givers: Vec<MemberId>,
    /// Those who get shares; in a founding the same, in a signature nobody.
    pub(crate) takers: Vec<MemberId>,
}

impl Seats {
    pub(crate) fn all(&self) -> BTreeSet<MemberId> {
        self.givers.iter().chain(&self.takers).copied().collect()
    }
}

/// That a hand is ready.
pub(crate) struct Ready {
    /// Its one-time key.
    pub(crate) key: Vec<u8>,
    /// What it said, as it said it.
    pub(crate) word: HandWord,
    /// Whether its signature was verified here: by the leader at once, by others when it gets a seat beside them, or a second one comes.
    pub(crate) proven: bool,
}

/// Whether as many as could sign have left with shares of the group's key, by the threshold that they were given by, as the transcript
/// counts (`TRN-53`): the charter's may have moved since.
pub(crate) fn are_stale(roster: &Roster) -> bool {
    roster.sharing().is_some_and(|now| roster.leavers_with_shares().len() >= now.facts.threshold)
}

impl Ready {
    /// `ADM-41`, once.
    pub(crate) fn prove(&mut self, transcript: &Transcript, hand: &MemberId) -> Result<(), AdmissionError> {
        if !self.proven {
            self.word.verify(transcript, hand)?;
            self.proven = true;
        }
        Ok(())
    }
}

/// What a run does next. Where that takes long it waits for a timeout that is due at once: what was said before goes out first, and the token with
/// it, so that the others do theirs meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It begins.
    Begin,
    /// It hears the words of the round, which are all there.
    Hear,
}

/// One table.
pub(crate) struct Table {
    pub(crate) leader: MemberId,
    pub(crate) purpose: Purpose,
    pub(crate) key: Option<OpeningKey<Classic>>,
    /// Who is ready.
    pub(crate) ready: BTreeMap<MemberId, Ready>,
    pub(crate) seats: Option<Seats>,
    /// Whether the seats, if there are any, have their place in the order: its leader names them before.
    pub(crate) seated: bool,
    pub(crate) run: Option<AnyRun>,
    /// What the run does next, since when, where its steps take long: [`Step`].
    pub(crate) step: Option<(Step, Instant)>,
    /// Whether it has begun.
    pub(crate) begun: bool,
    pub(crate) round: u8,
    /// What was heard in the run before this round, from its name on: covered by the words of the round.
    pub(crate) heard: Digest,
    pub(crate) said: BTreeMap<MemberId, (Vec<u8>, Option<folkmoot_base::Sealed>)>,
    /// Whether its leader waits no longer for more hands than it takes; set at everybody else's from the start.
    pub(crate) gathered: bool,
    /// Whether its leader has passed on what the authority dealt to it.
    pub(crate) passed_on: bool,
    /// When to say that we are ready, unless there are seats before; none once it is said, or if we are not.
    pub(crate) answers: Option<Instant>,
    /// When it was convened, and last moved.
    pub(crate) convened: Instant,
    pub(crate) moved: Instant,
}

impl Table {
    /// Whether this is our one-time key here.
    pub(crate) fn has_key(&self, public: &[u8]) -> bool {
        self.key.as_ref().is_some_and(|key| key.public()[..] == *public)
    }

    /// When its leader waits for more hands no longer, unless one comes before.
    pub(crate) fn gathers_until(&self) -> Instant {
        (self.moved + GATHER).min(self.convened + PATIENCE)
    }
}

impl core::fmt::Debug for Table {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (purpose, round) = (&self.purpose, self.round);
        write!(out, "Table({purpose:?}, {} ready, round {round})", self.ready.len())
    }
}

/// All tables, and what this member knows of those who sat at them.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub(crate) tables: BTreeMap<Digest, Table>,
    pub(crate) shares: Shares,
    /// Who was silent at a table that this member led, until one comes to something.
    pub(crate) silent: BTreeSet<MemberId>,
    /// How often each sat at a table that this member led and that came to nothing, until one comes to something: those who did least often come
    /// first, for one of the others may have been refused by who knows that it lies.
    pub(crate) failures: BTreeMap<MemberId, u32>,
    /// Who lied or was silent at a table for new shares at which this member sat, until there are some, or too few come without them. Everybody
    /// who sat there knows the same.
    pub(crate) set_aside: BTreeSet<MemberId>,
    /// Who was proven to lie, and whether at a table for new shares: all who sat there know it too.
    pub(crate) liars: BTreeMap<MemberId, bool>,
    /// Requests for whose certificate this member has called a table, which and since when, until it hears that call: a call takes effect
    /// at its place in the order, and until then it is not to be made again.
    pub(crate) called: BTreeMap<Digest, (Digest, Instant)>,
    /// Our one-time keys at tables that we have called, since when, until we hear the call, for [`PATIENCE`] at most: a table of which we
    /// hear later is over before it begins.
    pub(crate) offered: BTreeMap<Digest, (OpeningKey<Classic>, Instant)>,
    /// Counts this member's calls, from a number that is drawn when it starts: no two of its tables are alike, those before a stop too. Zero: none yet.
    pub(crate) attempts: u32,
    /// Since when a sharing is wanted.
    pub(crate) wanted: Option<Instant>,
    /// The certificates of the group's key that hold no more.
    pub(crate) revoked: revoke::Revoked,
    /// Certificates that the group has signed for our guests, until they are admitted.
    pub(crate) issued: BTreeMap<Digest, bytes::Bytes>,
    /// Multisignatures that voters have made for our guests, until they are admitted.
    pub(crate) multis: BTreeMap<Digest, folkmoot_identity::Multi>,
}

impl Hands {
    /// When something here is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        let tables = self.tables.values().flat_map(|table| {
            let gathering = table.seats.is_none() && !table.gathered;
            let step = table.step.map(|(_, since)| since);
            [Some(table.moved + PATIENCE), gathering.then(|| table.gathers_until()), table.answers, step]
        });
        let called = self.called.values().map(|(_, at)| Some(*at + PATIENCE));
        tables.chain([self.wanted, self.revoked.due()]).chain(called).flatten().min()
    }
}
