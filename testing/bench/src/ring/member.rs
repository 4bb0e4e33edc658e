//! One member: a process of its own with the real engine, which the bench tells what to do.
//!
//! ```text
//!   bench --Order--> standard input   [ engine ]   standard output --Said--> bench
//! ```
//! It ends when its standard input does, so none survives the bench, however that ends.

use super::tally::{Tally, stamped};
use super::words::{Counts, Gaps, Load, Order, Pace, Paths, Said, Start, between, now, say};
use crate::meter::process_worked;
use folkmoot::tools::MemberHandle;
use folkmoot::{Event, Faults, Folkmoot, Locator, Options, Session};
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_cli::values::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as Memory};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::Semaphore;

/// If an own message does not come back for so long, the run has failed.
const STALL: Duration = Duration::from_secs(20);
/// An own unreliable message that has not come back for so long was given up: it comes at once or
/// never.
const GIVEN_UP: Duration = Duration::from_millis(20);
/// How often a state that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What events and orders share.
#[derive(Debug, Default)]
struct Shared {
    tally: Tally,
    /// What was counted in the measured time, once that is over.
    counted: Option<Counts>,
}

/// What takes the orders.
#[derive(Clone)]
struct Hand {
    number: u32,
    handle: MemberHandle,
    session: Session,
    faults: Faults,
    paths: Paths,
    shared: Arc<Mutex<Shared>>,
    room: Arc<Semaphore>,
    /// Bits of the last `Order::Speed`.
    speed: Arc<AtomicU64>,
}

/// Runs a member until the bench closes its standard input.
pub(crate) async fn member(start: Start) -> Result<(), Failure> {
    let mut options = Options::new(start.state).listen(start.listen);
    options.multicast = start.multicast;
    for seed in &start.seeds {
        options = options.seed(locator(seed)?);
    }
    let mut moot = Folkmoot::open_with(options).await?;
    start.paths.apply(&moot.faults());
    if start.stranger {
        moot.apply().await?;
    }
    let session = moot.join().await?;
    say(&Said::Ready { member: moot.me().hex(), locator: moot.locator().to_string() })?;
    let hand = Hand {
        number: start.number,
        handle: moot.handle(),
        session,
        faults: moot.faults(),
        paths: start.paths,
        shared: Arc::default(),
        room: Arc::new(Semaphore::new(0)),
        speed: Arc::new(AtomicU64::new(1.0_f64.to_bits())),
    };
    let orders = tokio::spawn(hand.clone().orders());
    tokio::pin!(orders);
    loop {
        tokio::select! {
            event = moot.next() => match event? {
                // One vote admits: it is the first member's.
                Some(Event::Request(petition)) if start.number == 0 => {
                    moot.vote(petition.subject, true).await?;
                }
                Some(event) => hand.event(event)?,
                None => return Ok(()),
            },
            done = &mut orders => {
                done.map_err(Failure::bug)??;
                return Ok(moot.close().await?);
            }
        }
    }
}

fn locator(text: &str) -> Result<Locator, Failure> {
    text.parse().map_err(|error: folkmoot_base::LocatorError| Failure::new(Exit::Usage, error.to_string()))
}

impl Hand {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Message { payload, .. } => {
                let sender = self.shared().tally.hear(now(), &payload);
                if sender == Some(self.number.into()) {
                    self.room.add_permits(1);
                }
                Ok(())
            }
            Event::View { members, .. } => {
                let members = members.iter().map(folkmoot::Party::hex).collect();
                say(&Said::View { at: now(), members })
            }
            Event::Configuration { nodes } => say(&Said::Ring { at: now(), nodes: nodes.len() }),
            Event::Removed { .. } => say(&Said::Out { at: now() }),
            _ => Ok(()),
        }
    }

    async fn orders(self) -> Result<(), Failure> {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Some(line) = lines.next_line().await.map_err(Failure::bug)? {
            let order: Order = serde_json::from_str(&line).map_err(Failure::bug)?;
            self.obey(order).await?;
        }
        Ok(())
    }

    async fn obey(&self, order: Order) -> Result<(), Failure> {
        match order {
            Order::Mark { from, to, service } => {
                *self.shared() = Shared { tally: Tally::new((from, to), service), counted: None };
                tokio::spawn(self.clone().measure(from, to));
            }
            Order::Load(load) => drop(tokio::spawn(self.clone().load(load))),
            Order::Speed(speed) => self.speed.store(speed.to_bits(), Memory::Relaxed),
            Order::Tally { count } => drop(tokio::spawn(self.clone().tally(count))),
            Order::Cut { from } => {
                let from = from.iter().map(|one| locator(one)).collect::<Result<Vec<_>, _>>()?;
                self.faults.cut(from);
            }
            Order::Heal => self.paths.apply(&self.faults),
            Order::Join => drop(self.handle.command(join(&self.session)).await?),
            Order::Leave => self.session.leave().await?,
            Order::Count => say(&Said::Count(self.count().await?))?,
        }
        Ok(())
    }

    /// Counts at both ends of the measured time.
    async fn measure(self, from: u64, to: u64) -> Result<(), Failure> {
        sleep_until(from).await;
        let before = self.count().await?;
        sleep_until(to).await;
        let counted = between(&before, &self.count().await?);
        self.shared().counted = Some(counted);
        Ok(())
    }

    async fn tally(self, count: u64) -> Result<(), Failure> {
        loop {
            let done = {
                let shared = self.shared();
                let enough = shared.tally.count() >= count;
                shared.counted.clone().filter(|_| enough)
            };
            if let Some(counted) = done {
                let heard = self.shared().tally.heard();
                return say(&Said::Tally(heard, counted));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn load(self, load: Load) -> Result<(), Failure> {
        self.room.forget_permits(self.room.available_permits());
        let sent = match load.pace {
            Pace::Window(window) => {
                self.by_window(&load, usize::try_from(window).unwrap_or(usize::MAX)).await
            }
            Pace::Rate(rate) => self.by_clock(&load, rate).await,
            Pace::Lone => self.alone(&load).await,
        };
        match sent {
            Ok(sent) => say(&Said::Sent(sent)),
            Err(failure) => {
                eprintln!("{failure}");
                std::process::exit(1);
            }
        }
    }

    async fn send(&self, load: &Load, number: u64, sent: u64) -> Result<(), Failure> {
        let bytes = usize::try_from(load.bytes).unwrap_or(usize::MAX);
        let message = stamped(bytes, self.number, number, sent);
        Ok(self.session.queue(load.service.into(), message).await?)
    }

    async fn by_window(&self, load: &Load, window: usize) -> Result<u64, Failure> {
        let may_be_lost = load.service == Ordering::Unreliable;
        let patience = if may_be_lost { GIVEN_UP } else { STALL };
        self.room.add_permits(window);
        let mut sent = 0;
        while now() < load.until {
            let Ok(Ok(permit)) = tokio::time::timeout(patience, self.room.acquire()).await else {
                if may_be_lost {
                    self.room.add_permits(window);
                    continue;
                }
                let text = format!("own messages did not come back after {sent}");
                return Err(Failure::new(Exit::TimedOut, text));
            };
            permit.forget();
            self.send(load, sent, now()).await?;
            sent += 1;
        }
        Ok(sent)
    }

    /// By a timetable. A message that is late because the one before it had to wait counts from
    /// when it should have gone.
    async fn by_clock(&self, load: &Load, rate: f64) -> Result<u64, Failure> {
        let (began, mut after, mut woke, mut sent) = (now(), 0.0, 0, 0);
        loop {
            let due = began.saturating_add(after as u64);
            if due >= load.until {
                return Ok(sent);
            }
            if now() < due {
                sleep_until(due).await;
                woke = now();
            }
            self.send(load, sent, due.max(woke)).await?;
            sent += 1;
            after += 1e9 / (rate * f64::from_bits(self.speed.load(Memory::Relaxed)));
        }
    }

    async fn alone(&self, load: &Load) -> Result<u64, Failure> {
        let (mut sent, mut gaps) = (0, Gaps::of(self.number.into()));
        while now() < load.until {
            tokio::time::sleep(gaps.draw()).await;
            self.send(load, sent, now()).await?;
            sent += 1;
        }
        Ok(sent)
    }

    async fn count(&self) -> Result<Counts, Failure> {
        let engine = self.handle.counters().await?;
        let look =
            self.handle.look(|machine, _, _| (machine.ground.counters(), machine.upper.member.counters()));
        let (node, session) = look.await?;
        let (wire, link, ring) = (engine.wire, node.link, node.ring);
        let copied = [wire.copied, link.copied, ring.copied, session.copied].into_iter().sum();
        let counts = [
            ("cpu_ns", u64::try_from(process_worked().as_nanos()).unwrap_or(u64::MAX)),
            ("turns", engine.turns),
            ("wakes", engine.wakes),
            ("timers", engine.timers),
            ("datagrams_sent", wire.sent),
            ("datagrams_received", wire.received),
            ("send_calls", wire.calls),
            ("receive_calls", wire.receives),
            ("socket_full", wire.full),
            ("dropped_here", wire.dropped),
            ("dropped_by_system", dropped_by_system()),
            ("link_seals", link.sealed),
            ("link_openings", link.opened),
            ("packets_by_multicast", link.to_all),
            ("session_seals", session.sealed),
            ("session_openings", session.opened),
            ("copied_bytes", copied),
            ("untold", engine.untold),
            ("token_visits", ring.visits),
            ("tokens_repeated", ring.tokens_repeated),
            ("packets_numbered", ring.numbered),
            ("packets_asked", ring.asked),
            ("packets_repaired", ring.repaired),
            ("configurations", ring.installed),
        ];
        Ok(counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect())
    }
}

fn join(session: &Session) -> folkmoot::tools::Command {
    folkmoot::tools::Command::Join { group: session.group() }
}

pub(crate) async fn sleep_until(at: u64) {
    tokio::time::sleep(Duration::from_nanos(at.saturating_sub(now()))).await;
}

/// Datagrams that the system dropped because a socket of this network namespace did not take them
/// in time.
pub(crate) fn dropped_by_system() -> u64 {
    let text = std::fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
    field(&text, "RcvbufErrors").unwrap_or(0)
}

/// A field of the UDP lines: one line names the fields, the next has them.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|one| one == name)?;
    values.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn the_systems_drops_are_read_by_name() {
        let text = "Tcp: A B\nTcp: 1 2\nUdp: InDatagrams NoPorts InErrors RcvbufErrors\nUdp: 10 2 3 44\n";
        assert_eq!(field(text, "RcvbufErrors"), Some(44));
        assert_eq!(field(text, "InDatagrams"), Some(10));
        assert_eq!(field(text, "A"), None);
        assert_eq!(field("", "RcvbufErrors"), None);
    }
}
