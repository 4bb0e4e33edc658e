//! This voter's part in the next decision: what it proposes, promises and commits to. The rules are
//! the transcript's; here they get their messages, their disk and their clock.

use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::pause::ENTRY_PATIENCE;
use crate::{AdmissionError, store};
use core::time::Duration;
use folkmoot_base::{Danger, Head, Instant, UnixTime};
use folkmoot_transcript::{
    BallotMessage, BallotOutput, BallotRecord, BallotStatus, Ballots, FORKS_MAX, Item, Look, STATEMENT_LABEL,
    Standing, State, Statement,
};
use std::collections::BTreeMap;

/// How long each voter waits for the ones before it to hand over a decision that stands.
const TURN: Duration = Duration::from_millis(400);
/// `ADM-39`: how long a voter that has started only hears, from its node's first configuration on.
const HEARS_FIRST: Duration = Duration::from_secs(2);

/// Whether this voter has heard what it may have said before it was stopped. Its disk may be a
/// backup's.
#[derive(Debug, Default)]
enum Start {
    #[default]
    Over,
    /// Its node has no configuration yet.
    Alone,
    Hears(Instant),
}

/// Ballots on what follows the head, and a decision that stands and is to be handed over.
#[derive(Debug, Default)]
pub(crate) struct Deciding {
    ballots: Option<(Head, Ballots)>,
    /// What the disk has, by head: that of our head, and those of lines that were left, since our
    /// person may come back.
    records: BTreeMap<Head, BallotRecord>,
    carry: Option<(Standing, Instant)>,
    start: Start,
}

impl Deciding {
    pub(crate) fn due(&self) -> Option<Instant> {
        let ballots = match self.start {
            Start::Over => self.ballots.as_ref().and_then(|(_, ballots)| ballots.poll_timeout()),
            Start::Alone => None,
            Start::Hears(until) => Some(until),
        };
        [ballots, self.carry.as_ref().map(|(_, due)| *due)].into_iter().flatten().min()
    }

    /// It goes on from a disk.
    pub(crate) fn restarted(&mut self) {
        self.start = Start::Alone;
    }

    /// Its node has a configuration.
    pub(crate) fn regrouped(&mut self, now: Instant) {
        if matches!(self.start, Start::Alone) {
            self.start = Start::Hears(now + HEARS_FIRST);
        }
    }

    pub(crate) fn recall(&mut self, record: BallotRecord) {
        self.records.insert(record.parent, record);
    }

    /// Forgets what follows another head of our line than the last, and of other lines all but the
    /// latest.
    fn forget(&mut self, state: &State) -> Vec<Head> {
        let ours = |head: &Head| *head != state.head() && state.has_on_line(head);
        let mut gone: Vec<Head> = self.records.keys().filter(|head| ours(head)).copied().collect();
        let spare = self.records.len().saturating_sub(gone.len()).saturating_sub(FORKS_MAX);
        gone.extend(self.records.keys().filter(|head| !ours(head)).take(spare).copied().collect::<Vec<_>>());
        self.records.retain(|head, _| !gone.contains(head));
        gone
    }

    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self) -> bool {
        self.status().is_some_and(|status| !status.proposed.is_empty())
    }

    /// The ballot in which this voter is.
    pub(crate) fn ballot(&self) -> u32 {
        self.status().map_or(0, |status| status.promised)
    }

    fn status(&self) -> Option<BallotStatus> {
        self.ballots.as_ref().map(|(_, ballots)| ballots.status())
    }

    /// Does what is due for the next decision. A member without a vote only listens.
    pub(crate) fn work(&mut self, call: &Call<'_>, out: &mut Out) {
        if matches!(self.start, Start::Hears(until) if until <= call.now) {
            self.start = Start::Over;
        }
        if matches!(self.start, Start::Over) || call.config.danger.is(Danger::AdmissionDecidesFirst) {
            self.with(call, out, |ballots, look| ballots.work(look));
        }
        self.hand_over(call, out);
    }

    /// `ADM-35`: hears a voter's message about the next decision.
    pub(crate) fn hear(
        &mut self,
        call: &Call<'_>,
        message: BallotMessage,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let head = call.transcript.state().head();
        if self.ballots.as_ref().is_some_and(|(of, ballots)| *of == head && ballots.knows(&message)) {
            return Ok(());
        }
        call.transcript.check_message(&message).map_err(AdmissionError::PeerBallot)?;
        let heard = self.with(call, out, |ballots, look| ballots.hear(look, message));
        heard.unwrap_or(Ok(())).map_err(|why| AdmissionError::PeerBallot(why.into()))
    }

    /// Somebody may be here who has missed what was said.
    pub(crate) fn resend(&mut self, call: &Call<'_>, out: &mut Out) {
        let me = call.me();
        if call.transcript.roster().may_vote(&me) {
            self.with(call, out, |ballots, look| ballots.resend(look));
        }
    }

    /// Our person has seen the date that our clock shows.
    pub(crate) fn know_date(&mut self, call: &Call<'_>, out: &mut Out) {
        self.with(call, out, |ballots, look| ballots.know_date(look.clock));
    }

    /// Whether our person is asked for the date before the next decision, and whether something
    /// waits for that.
    pub(crate) fn asks_date(&self, state: &State, clock: UnixTime) -> Option<bool> {
        let (_, ballots) = self.ballots.as_ref().filter(|(of, _)| *of == state.head())?;
        ballots.asks_date(state, clock)
    }

    /// Calls the ballots on what follows the head, and does what they ask for. Nothing happens
    /// before the time is known, nor once our clock counts no more: then nothing is due either
    /// (`ADM-55`).
    fn with<T>(
        &mut self,
        call: &Call<'_>,
        out: &mut Out,
        act: impl FnOnce(&mut Ballots, &Look<'_>) -> T,
    ) -> Option<T> {
        let Some(clock) = call.clock else {
            if !call.config.danger.is(Danger::AdmissionDueWithoutClock) {
                self.ballots = None;
            }
            return None;
        };
        let (me, state, set) = (call.me(), call.transcript.state(), call.transcript.set());
        let head = state.head();
        let group = call.transcript.group();
        let sign =
            |statement: &Statement| call.identity.key().sign_wire(STATEMENT_LABEL, &statement.bytes(&group));
        let look = Look { state, set, now: call.now, clock, present: call.present, sign: &sign };
        if self.ballots.as_ref().is_none_or(|(of, _)| *of != head) {
            for gone in self.forget(state) {
                out.persist(store::delete_ballots(&gone));
            }
            let record = self.records.get(&head).cloned();
            self.ballots = Some((head, Ballots::new(me, state, record, call.config.danger)));
            self.carry = self.carry.take().filter(|(standing, _)| standing.proposal.parent() == head);
        }
        let (_, ballots) = self.ballots.as_mut()?;
        let done = act(ballots, &look);
        let mut said = Vec::new();
        while let Some(output) = ballots.poll_output() {
            said.push(output);
        }
        for output in said {
            self.take_ballot(call, output, out);
        }
        Some(done)
    }

    fn take_ballot(&mut self, call: &Call<'_>, output: BallotOutput, out: &mut Out) {
        match output {
            BallotOutput::Persist(record) => {
                out.persist(store::put_ballots(&record));
                self.recall(record);
            }
            BallotOutput::Send(message) => out.multicast(&OpenMessage::Ballot { message }),
            BallotOutput::Stands(standing) => {
                let due = call.now + turn(call);
                self.carry = Some((standing, due));
            }
            BallotOutput::Missing(request) => {
                out.trace(format!("an admission is to be held that is not here: {request:02x?}"));
            }
        }
    }

    /// Has a decision that stands ordered: the first voter at once, the others in turn if it does
    /// not come.
    fn hand_over(&mut self, call: &Call<'_>, out: &mut Out) {
        let Some((standing, due)) = &mut self.carry else { return };
        if *due > call.now {
            return;
        }
        *due = call.now + ENTRY_PATIENCE;
        let item = Item::Decision(standing.clone()).encode();
        out.item(item);
        out.trace("a decision stands and is handed over");
    }
}

/// How long this voter waits for those before it that are here.
fn turn(call: &Call<'_>) -> Duration {
    let (me, roster) = (call.me(), call.transcript.roster());
    let here =
        roster.electorate().iter().filter(|voter| call.present.is_empty() || call.present.contains(voter));
    let before = here.take_while(|voter| **voter != me).count();
    TURN.saturating_mul(u32::try_from(before).unwrap_or(u32::MAX))
}
