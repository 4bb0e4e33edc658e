//! The task that drives the machines of all domains of one program.

use super::seat::Seat;
use super::state::State;
use super::{EXCLUSION_CHANNEL, Keyed, MembershipError};
use crate::queue::Queue;
use crate::{Bus, Heard};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::UnixTime;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::discovery::{Input, Output};
use folkmoot_pubsub::secured::{Cause, Credentials};
use folkmoot_system::OsEntropy;
use std::sync::Arc;
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
/// The parts of one core that a flood of refused messages costs: one of so many (PUB-64).
const PARTS: u32 = 4;

/// What the program asks.
#[derive(Debug)]
pub(super) enum Ask {
    Exclude(Bytes),
    LookAgain,
    Leave(oneshot::Sender<()>),
}

pub(super) struct Driver<C> {
    bus: Arc<Bus>,
    management: Arc<Queue>,
    seats: Vec<Seat<C>>,
    state: State,
    tell: watch::Sender<Vec<Keyed>>,
    entropy: OsEntropy,
    /// Nothing more is read before this.
    resume: Instant,
}

impl<C: Credentials + Clone> Driver<C> {
    pub(super) fn new(
        bus: Arc<Bus>,
        management: Arc<Queue>,
        seats: Vec<Seat<C>>,
        state: State,
        tell: watch::Sender<Vec<Keyed>>,
    ) -> Result<Self, MembershipError> {
        let entropy = OsEntropy::new().map_err(MembershipError::LocalRandomness)?;
        Ok(Self { bus, management, seats, state, tell, entropy, resume: Instant::now() })
    }

    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let mut wall = tokio::time::interval(WALL);
        wall.set_missed_tick_behavior(MissedTickBehavior::Delay);
        wall.tick().await;
        let (now, time) = (self.bus.now(), wall_clock());
        for seat in &mut self.seats {
            seat.begin(now, time, &mut self.entropy);
        }
        self.drain().await;
        loop {
            let reads = self.resume <= Instant::now();
            let wakes = self.wakes(reads);
            let management = Arc::clone(&self.management);
            tokio::select! {
                heard = next(&management), if reads => self.hear(&heard),
                ask = asks.recv() => match ask {
                    Some(Ask::Exclude(statement)) => self.exclude(&statement).await,
                    Some(Ask::LookAgain) => self.look_again(),
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
            tokio::time::sleep_until(self.wakes(true)).await;
            self.wake().await;
            self.drain().await;
        }
        for place in 0..self.seats.len() {
            self.write(place).await;
        }
    }

    /// When something is due; in an hour if nothing is.
    fn wakes(&self, reads: bool) -> Instant {
        let due = self.seats.iter().filter_map(Seat::due).min().map(|at| self.bus.at(at));
        let writes =
            self.seats.iter().filter_map(|seat| seat.unwritten.as_ref()).map(|(since, _)| *since + WRITE);
        let resume = (!reads).then_some(self.resume);
        due.into_iter()
            .chain(writes)
            .chain(resume)
            .min()
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(3_600))
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

    fn hear(&mut self, heard: &Heard) {
        let begun = worked();
        let refused = if heard.channel.as_bytes() == EXCLUSION_CHANNEL.as_bytes() {
            self.take_exclusion(&heard.payload);
            // One that was heard before is as dear as a forged one, and says nothing.
            true
        } else {
            let (now, entropy) = (self.bus.now(), &mut self.entropy);
            let seat = self.seats.iter_mut().find(|seat| seat.channel == Some(heard.channel));
            seat.is_none_or(|seat| seat.handle(now, Input::Message(&heard.payload), entropy))
        };
        if refused {
            self.resume = Instant::now() + pause(worked().saturating_sub(begun));
        }
    }

    /// Whether the root made this statement.
    fn take_exclusion(&mut self, statement: &[u8]) -> bool {
        let now = self.bus.now();
        let Self { seats, entropy, .. } = self;
        let by_root = |seat: &mut Seat<C>| seat.machine().papers().judge_exclusion(&[], statement).is_some();
        if !seats.first_mut().is_some_and(by_root) {
            return false;
        }
        for seat in seats.iter_mut() {
            seat.handle(now, Input::Exclude(statement), entropy);
        }
        true
    }

    async fn exclude(&mut self, statement: &[u8]) {
        if self.take_exclusion(statement)
            && let Ok(channel) = Channel::new(EXCLUSION_CHANNEL)
        {
            self.say(channel, statement).await;
        }
    }

    async fn say(&mut self, channel: Channel, said: &[u8]) {
        if let Err(error) = self.bus.say_plainly(channel, said).await {
            tracing::warn!(%error, "not said");
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
        self.tell.send_if_modified(|told| core::mem::replace(told, keyed.clone()) != keyed);
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
                if let Err(error) = self.bus.install(key, Cause::Joined).await {
                    tracing::error!(%domain, %error, "the key that was agreed upon is not taken");
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
        while let Err(error) = self.state.write(&seat.domain, bytes.to_vec()).await {
            tracing::error!(%error, path = %self.state.path(&seat.domain).display(), "not written; trying again");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(WALL);
        }
        seat.stored = Some(bytes.to_vec());
    }
}

/// The next message about keys. Safe to cancel.
async fn next(management: &Queue) -> Heard {
    loop {
        if let Ok(heard) = management.take() {
            return heard;
        }
        management.changed().await;
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

/// How long nothing more is read after a refused message that took so long (PUB-64).
fn pause(took: Duration) -> Duration {
    took * (PARTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pub_64_a_flood_of_refused_messages_costs_a_quarter_of_a_core() {
        // One every 200 us, each of which takes as long: what is read in a second?
        let (each, second) = (Duration::from_micros(200), Duration::from_secs(1));
        let (mut now, mut spent) = (Duration::ZERO, Duration::ZERO);
        while now < second {
            now += each + pause(each);
            spent += each;
        }
        assert!(spent <= second / PARTS + each, "{spent:?}");
    }
}
