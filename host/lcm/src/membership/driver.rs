//! The task that drives the machines of all domains of one program.

use super::backlog::{Backlog, Verdict};
use super::excluded::Excluded;
use super::seat::Seat;
use super::state::State;
use super::{CONFIRMATION_CHANNEL, EXCLUSION_CHANNEL, Keyed, LastHeard, MembershipError, Options};
use crate::{Bus, Heard};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Digest, UnixTime};
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::discovery::{Input, Output};
use folkmoot_pubsub::secured::{Cause, Confirming, Credentials, Domain, Question, Right};
use folkmoot_system::OsEntropy;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior};

/// What programs ask for waits here.
pub(super) const ASKS_MAX: usize = 16;
/// How often the machines hear the time of day, and how often numbers are looked at.
const WALL: Duration = Duration::from_secs(5);
/// What is to be written waits so long at most, if nothing relies on it: of what comes in a burst
/// the last is written.
const WRITE: Duration = Duration::from_millis(50);
/// A member confirms exclusions this often at most.
const ANSWERS: Duration = Duration::from_millis(50);

/// What the program asks.
#[derive(Debug)]
pub(super) enum Ask {
    Exclude(Bytes),
    LookAgain,
    /// A certificate in place of the own one; whether it is.
    Renew(Bytes, oneshot::Sender<Option<Vec<Domain>>>),
    Leave(oneshot::Sender<()>),
}

/// What the program sees of it.
pub(super) struct Told {
    pub(super) keyed: watch::Sender<Vec<Keyed>>,
    pub(super) heard: LastHeard,
}

/// What outlives the process.
pub(super) struct Disk {
    pub(super) state: State,
    pub(super) excluded: Option<Excluded>,
}

pub(super) struct Driver<C> {
    bus: Arc<Bus>,
    backlog: Arc<Backlog>,
    seats: Vec<Seat<C>>,
    options: Options,
    disk: Disk,
    told: Told,
    entropy: OsEntropy,
    /// When it last confirmed an exclusion.
    answered: Instant,
}

impl<C: Credentials + Clone> Driver<C> {
    pub(super) fn new(
        bus: Arc<Bus>,
        backlog: Arc<Backlog>,
        seats: Vec<Seat<C>>,
        options: Options,
        disk: Disk,
        told: Told,
    ) -> Result<Self, MembershipError> {
        let entropy = OsEntropy::new().map_err(MembershipError::LocalRandomness)?;
        wants(&backlog, &seats);
        Ok(Self { bus, backlog, seats, options, disk, told, entropy, answered: Instant::now() })
    }

    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let mut wall = tokio::time::interval(WALL);
        wall.set_missed_tick_behavior(MissedTickBehavior::Delay);
        wall.tick().await;
        let (now, time) = (self.bus.now(), wall_clock());
        for seat in &mut self.seats {
            seat.begin(now, time, &mut self.entropy);
        }
        self.spread_exclusions();
        self.share_exclusions().await;
        self.drain().await;
        loop {
            let (wakes, backlog) = (self.wakes(), Arc::clone(&self.backlog));
            tokio::select! {
                heard = next(&backlog) => self.hear(&heard).await,
                ask = asks.recv() => match ask {
                    Some(Ask::Exclude(statement)) => self.exclude(&statement).await,
                    Some(Ask::LookAgain) => self.look_again(),
                    Some(Ask::Renew(certificate, done)) => {
                        let _ = done.send(self.renew(&certificate).await);
                    }
                    Some(Ask::Leave(done)) => {
                        self.leave().await;
                        let _ = done.send(());
                        return;
                    }
                    None => return,
                },
                () = tokio::time::sleep_until(wakes) => self.wake().await,
                _ = wall.tick() => self.look_at_the_clock().await,
            }
            self.drain().await;
        }
    }

    /// Until all machines are silent: they say several times that they leave.
    async fn leave(&mut self) {
        self.all(|| Input::Leave);
        self.drain().await;
        while self.seats.iter().any(|seat| seat.due().is_some()) {
            tokio::time::sleep_until(self.wakes()).await;
            self.wake().await;
            self.drain().await;
        }
        for place in 0..self.seats.len() {
            self.write(place).await;
        }
    }

    /// When something is due; in an hour if nothing is.
    fn wakes(&self) -> Instant {
        let due = self.seats.iter().filter_map(Seat::due).min().map(|at| self.bus.at(at));
        let writes =
            self.seats.iter().filter_map(|seat| seat.unwritten.as_ref()).map(|(since, _)| *since + WRITE);
        due.into_iter().chain(writes).min().unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600))
    }

    async fn wake(&mut self) {
        for place in 0..self.seats.len() {
            let unwritten = self.seats.get(place).and_then(|seat| seat.unwritten.as_ref());
            if unwritten.is_some_and(|(since, _)| since.elapsed() >= WRITE) {
                self.write(place).await;
            }
        }
        let now = self.bus.now();
        for seat in self.seats.iter_mut().filter(|seat| seat.due().is_some_and(|due| due <= now)) {
            seat.handle(now, Input::Timeout, &mut self.entropy);
        }
    }

    fn all(&mut self, input: impl Fn() -> Input<'static>) {
        let now = self.bus.now();
        for seat in &mut self.seats {
            seat.handle(now, input(), &mut self.entropy);
        }
    }

    async fn look_at_the_clock(&mut self) {
        let time = wall_clock();
        self.all(|| Input::Wall(time));
        self.share_exclusions().await;
        // What is to be written must not be lost where a machine begins anew.
        self.drain().await;
        let worn = self.bus.worn().await;
        for place in 0..self.seats.len() {
            let is_worn = self.seats.get(place).is_some_and(|seat| worn.contains(&seat.domain));
            if is_worn {
                // It begins anew from what the disk has.
                self.write(place).await;
                let now = self.bus.now();
                if let Some(seat) = self.seats.get_mut(place) {
                    seat.begin(now, time, &mut self.entropy);
                }
            }
        }
    }

    fn look_again(&mut self) {
        let now = self.bus.now();
        for seat in &mut self.seats {
            for statement in seat.lapsed() {
                seat.handle(now, Input::Exclude(&statement), &mut self.entropy);
            }
        }
    }

    async fn hear(&mut self, heard: &Heard) {
        // Nothing is awaited in between: another thread would have worked otherwise.
        let begun = worked();
        let is = |name: &str| heard.channel.as_bytes() == name.as_bytes();
        let mut asked = None;
        let verdict = if is(EXCLUSION_CHANNEL) {
            self.take_exclusion(&heard.payload);
            // Whoever says it need not be a member.
            Verdict::Refused
        } else if is(CONFIRMATION_CHANNEL) {
            asked = self.asked(&heard.payload);
            Verdict::Refused
        } else {
            let (now, entropy) = (self.bus.now(), &mut self.entropy);
            let seat = self.seats.iter_mut().find(|seat| seat.channel == Some(heard.channel));
            match seat.and_then(|seat| seat.hear(now, &heard.payload, entropy)) {
                Some(sender) => {
                    let mut last = self.told.heard.lock().unwrap_or_else(PoisonError::into_inner);
                    last.insert(sender, std::time::Instant::now());
                    Verdict::Accepted
                }
                None => Verdict::Refused,
            }
        };
        self.backlog.judged(Instant::now(), heard.from, verdict, worked().saturating_sub(begun));
        if let Some((question, holder)) = asked {
            self.confirm(&question, &holder).await;
        }
    }

    /// PUB-80: takes another certificate of the same key and sender, and is in its domains from now
    /// on: it joins those anew that it was in before, and leaves those that it is not for.
    /// Says which of them it has no key for, because their states cannot be used.
    async fn renew(&mut self, certificate: &[u8]) -> Option<Vec<Domain>> {
        let first = self.seats.first()?;
        let (group, sender) = (first.domain.of_group(), first.sender);
        let credentials = first.renewed(certificate)?;
        let mut rights = credentials.rights();
        rights.retain(|right| right.domain.of_group() == group);
        rights.first().filter(|right| right.sender == sender)?;
        let (now, time) = (self.bus.now(), wall_clock());
        for place in 0..self.seats.len() {
            let Some(seat) = self.seats.get_mut(place) else { break };
            if rights.iter().any(|right| right.domain == seat.domain) {
                seat.take(credentials.clone());
            } else {
                seat.handle(now, Input::Leave, &mut self.entropy);
            }
            self.write(place).await;
        }
        self.drain().await;
        let damaged = self.settle(&rights, credentials).await;
        for seat in &mut self.seats {
            seat.begin(now, time, &mut self.entropy);
        }
        self.spread_exclusions();
        Some(damaged)
    }

    async fn expect(&mut self, domain: &Domain, there: bool) {
        if let Err(error) = self.bus.expect(domain, there).await {
            tracing::error!(%domain, %error, "there is no room for its key");
        }
    }

    /// What one seat knows of exclusions, all do: also one that is new, or whose state was lost.
    fn spread_exclusions(&mut self) {
        let of = |seat: &mut Seat<C>| -> Vec<Vec<u8>> {
            seat.machine().exclusions().map(|(_, statement)| statement.to_vec()).collect()
        };
        let all: BTreeSet<Vec<u8>> = self.seats.iter_mut().flat_map(of).collect();
        for statement in all {
            self.take_exclusion(&statement);
        }
    }

    /// Has a seat for each of these rights, and no other one; but for those whose states cannot be
    /// used.
    async fn settle(&mut self, rights: &[Right], credentials: C) -> Vec<Domain> {
        let stays = |seat: &Seat<C>| rights.iter().any(|right| right.domain == seat.domain);
        let gone: Vec<Domain> =
            self.seats.iter().filter(|seat| !stays(seat)).map(|seat| seat.domain).collect();
        self.seats.retain(stays);
        // Also of those whose state cannot be used: what is said there is for nobody else.
        for right in rights {
            self.expect(&right.domain, true).await;
        }
        let there: BTreeSet<Domain> = self.seats.iter().map(|seat| seat.domain).collect();
        let mut damaged = Vec::new();
        for right in rights.iter().filter(|right| !there.contains(&right.domain)) {
            let stored = self.disk.state.read(&right.domain);
            let seat = stored.map(|stored| Seat::new(*right, credentials.clone(), &self.options, stored));
            match seat {
                Ok(Ok(seat)) => self.seats.push(seat),
                other => {
                    tracing::error!(domain = %right.domain, damaged = other.is_ok(), "its state cannot be used");
                    damaged.push(right.domain);
                }
            }
        }
        for domain in gone {
            self.expect(&domain, false).await;
        }
        wants(&self.backlog, &self.seats);
        damaged
    }

    /// Carries a statement out; whom it excludes, if the root has made it, of a certificate that
    /// anybody may still take (PUB-71).
    fn take_exclusion(&mut self, statement: &[u8]) -> Option<Digest> {
        let now = self.bus.now();
        let Self { seats, entropy, .. } = self;
        let judged = seats.first()?.papers().judge_exclusion(&[], statement)?;
        let holder = Some(judged).filter(|out| !out.is_over(wall_clock()))?.holder;
        for seat in seats.iter_mut() {
            // Each judges it anew, which many known ones would make slow at the start.
            if !seat.machine().excludes(&holder) {
                seat.handle(now, Input::Exclude(statement), entropy);
            }
        }
        Some(holder)
    }

    /// A question about an exclusion, which is carried out if it is new. No other one is answered
    /// for a while: each costs a signature.
    fn asked(&mut self, said: &[u8]) -> Option<(Question, Digest)> {
        let Ok(Confirming::Question(question)) = Confirming::read(said) else { return None };
        let holder = self.take_exclusion(&question.statement.0)?;
        (self.answered.elapsed() >= ANSWERS).then_some((question, holder))
    }

    /// PUB-75: answers when the disk has the exclusion, and no key here is shared with whoever is
    /// out. Before that it is silent: who asks asks again.
    async fn confirm(&mut self, question: &Question, holder: &Digest) {
        self.drain().await;
        if !self.seats.iter().all(|seat| seat.is_without(holder)) {
            return;
        }
        self.answered = Instant::now();
        for place in 0..self.seats.len() {
            self.write(place).await;
        }
        if !self.keep_exclusions().await {
            return;
        }
        let Some(seat) = self.seats.first_mut() else { return };
        let group = seat.domain.of_group();
        let answer = Confirming::Confirmation(question.confirm(&group, seat.machine().papers()));
        if let Ok(channel) = Channel::new(CONFIRMATION_CHANNEL) {
            self.say(channel, &answer.encode()).await;
        }
    }

    /// PUB-76: carries out what lies in the folder, and puts there what is not in it.
    async fn share_exclusions(&mut self) {
        let Some(excluded) = &mut self.disk.excluded else { return };
        let all = excluded.read().await;
        let seats = &self.seats;
        let Some(papers) = seats.first().map(Seat::papers) else { return };
        let done = |holder: &Digest| seats.iter().all(|seat| seat.excludes(holder));
        let open = excluded.open(all, wall_clock(), |said| papers.judge_exclusion(&[], said), done);
        for statement in open {
            self.take_exclusion(&statement);
        }
        self.keep_exclusions().await;
    }

    /// Whether the folder has all exclusions, if there is one.
    async fn keep_exclusions(&mut self) -> bool {
        let Some(excluded) = &mut self.disk.excluded else { return true };
        let Some(seat) = self.seats.first_mut() else { return true };
        let all = seat.machine().exclusions().map(|(out, statement)| (out, statement.to_vec()));
        excluded.keep(all.collect()).await
    }

    async fn exclude(&mut self, statement: &[u8]) {
        if self.take_exclusion(statement).is_some()
            && let Ok(channel) = Channel::new(EXCLUSION_CHANNEL)
        {
            self.say(channel, statement).await;
        }
    }

    async fn say(&mut self, channel: Channel, said: &[u8]) {
        if let Err(error) = self.bus.say_plainly(channel, said).await {
            // Whoever asks the bus hears that there is no way; the machines say it again.
            tracing::debug!(%error, "not said");
        }
    }

    /// Does what the machines want done, in their order (PUB-51).
    async fn drain(&mut self) {
        for place in 0..self.seats.len() {
            while let Some(output) = self.seats.get_mut(place).and_then(|seat| seat.machine().poll_output()) {
                self.act(place, output).await;
            }
        }
        let keyed: Vec<Keyed> = self.seats.iter().map(Seat::keyed).collect();
        self.told.keyed.send_if_modified(|told| core::mem::replace(told, keyed.clone()) != keyed);
    }

    async fn act(&mut self, place: usize, output: Output) {
        if matches!(output, Output::Send(_) | Output::Key(_)) {
            self.write(place).await;
        }
        let Some(seat) = self.seats.get_mut(place) else { return };
        let (domain, channel) = (seat.domain, seat.channel);
        match output {
            Output::Send(said) => {
                if let Some(channel) = channel {
                    self.say(channel, &said).await;
                }
            }
            Output::Persist(bytes) => {
                let since = seat.unwritten.take().map_or_else(Instant::now, |(since, _)| since);
                seat.unwritten = Some((since, bytes));
            }
            Output::Key(epoch) => {
                let Some(key) = seat.key(&epoch) else {
                    return tracing::error!(%domain, "the key that was agreed upon cannot be used");
                };
                match self.bus.install(key, Cause::Joined).await {
                    Ok(()) => seat.took(&epoch),
                    Err(error) => {
                        tracing::error!(%domain, %error, "the key that was agreed upon is not taken");
                    }
                }
            }
            Output::Event(event) => seat.note(event),
        }
    }

    /// Writes what waits for that, and tries until the disk has it: nothing that relies on it may
    /// be said before.
    async fn write(&mut self, place: usize) {
        let Some(seat) = self.seats.get_mut(place) else { return };
        let Some((_, bytes)) = seat.unwritten.take() else { return };
        let mut pause = Duration::from_millis(10);
        while let Err(error) = self.disk.state.write(&seat.domain, bytes.to_vec()).await {
            tracing::error!(%error, path = %self.disk.state.path(&seat.domain).display(), "not written; trying again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(WALL);
        }
        seat.stored = Some(bytes.to_vec());
    }
}

/// Hears what is said on the channels of these.
fn wants<C>(backlog: &Backlog, seats: &[Seat<C>]) {
    let known = [EXCLUSION_CHANNEL, CONFIRMATION_CHANNEL].into_iter().flat_map(Channel::new);
    backlog.wants(seats.iter().filter_map(|seat| seat.channel).chain(known));
}

/// The next message about keys. Safe to cancel.
async fn next(backlog: &Backlog) -> Heard {
    loop {
        match backlog.take(Instant::now()) {
            Ok(heard) => return heard,
            Err(None) => backlog.changed().await,
            Err(Some(again)) => {
                let _ = tokio::time::timeout_at(again, backlog.changed()).await;
            }
        }
    }
}

fn wall_clock() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs()))
}

/// How long this thread has had a processor. Where many share one, the time of day would count the
/// others' work, too, and honest messages would wait for that.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}
