//! The members: a process each, on loopback or in a network namespace of its own.

use super::words::{Counts, Heard, Order, Paths, Said, Start, line, now};
use crate::namespaces::Network;
use crate::people::{People, Rules};
use folkmoot::StateFolder;
use folkmoot_cli::children::Workshop;
use folkmoot_cli::exit::{Exit, Failure};
use folkmoot_identity::{Identity, Timeouts};
use folkmoot_signing::Scheme;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The first word of the command line of a process that is a member.
pub(crate) const AS_MEMBER: &str = "--as-member";
/// The port of members that have an address of their own.
const PORT: u16 = 4_803;
/// If nobody says anything for so long, a look is taken at whether all still run.
const LOOK: Duration = Duration::from_secs(1);
/// What members may say before it is read.
const SAID_MAX: usize = 4_096;

/// A member's process, and what it said of its view last.
#[derive(Debug)]
struct Place {
    process: Option<(Child, ChildStdin)>,
    state: PathBuf,
    id: String,
    /// It is not on the roster before it is admitted.
    stranger: bool,
    at: String,
    view: (u64, BTreeSet<String>),
    /// When its last configuration began, and of how many nodes that is.
    ring: (u64, usize),
}

impl Place {
    fn new(state: PathBuf, one: &Identity, stranger: bool) -> Self {
        let (at, view, ring) = (String::new(), Default::default(), (0, 0));
        Self { process: None, state, id: one.member().hex(), stranger, at, view, ring }
    }
}

/// All members.
pub(crate) struct Herd {
    places: Vec<Place>,
    said: mpsc::Receiver<(usize, Said)>,
    tell: mpsc::Sender<(usize, Said)>,
    limit: Duration,
    threads: usize,
    paths: Paths,
    multicast: bool,
    people: People,
    /// From the start of the first process until all were in one ring, and until all had one view.
    pub(crate) formed: (Duration, Duration),
    // Removed in this order: the processes are gone by then.
    network: Option<Network>,
    workshop: Workshop,
}

impl Herd {
    /// So many members of a new group, all in one view with a key. Each has so many threads, and
    /// may use multicast. `limit`: the longest wait for whatever is waited for.
    pub(crate) async fn found(
        size: usize,
        (threads, multicast, paths): (usize, bool, Paths),
        network: Option<Network>,
        limit: Duration,
    ) -> Result<Self, Failure> {
        let workshop = Workshop::open("bench", false)?;
        let rules = Rules {
            module: None,
            scheme: Scheme::Plain,
            votes: 1,
            central: None,
            keys: folkmoot_identity::KeyAlgorithm::P256,
        };
        let people = People::with(&rules, size, Timeouts::default())?;
        let mut places = Vec::new();
        for (number, one) in people.identities.iter().enumerate() {
            let state = workshop.path().join(format!("n{}", number + 1));
            people.furnish(&StateFolder::open(&state)?, one)?;
            places.push(Place::new(state, one, false));
        }
        let (tell, said) = mpsc::channel(SAID_MAX);
        let (formed, began) = ((Duration::ZERO, Duration::ZERO), now());
        let mut herd =
            Self { places, said, tell, limit, threads, paths, multicast, people, formed, network, workshop };
        for number in 0..size {
            herd.start(number).await?;
        }
        let last = herd.view(&herd.all(), &herd.all(), 0).await?;
        let since = |end: u64| Duration::from_nanos(end.saturating_sub(began));
        herd.formed = (since(herd.ring(&herd.all())), since(last));
        Ok(herd)
    }

    /// Starts one more process, which is not a member and asks for admission. Its number.
    pub(crate) async fn stranger(&mut self) -> Result<usize, Failure> {
        let number = self.places.len();
        let one = self.people.stranger(number)?;
        let state = self.workshop.path().join(format!("n{}", number + 1));
        self.people.introduce(&StateFolder::open(&state)?, &one)?;
        self.places.push(Place::new(state, &one, true));
        self.start(number).await?;
        Ok(number)
    }

    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.places.len()).collect()
    }

    pub(crate) fn places(&self, numbers: &[usize]) -> Vec<String> {
        numbers.iter().filter_map(|number| self.places.get(*number)).map(|place| place.at.clone()).collect()
    }

    /// Starts a member's process, which knows where those that run are, and joins.
    pub(crate) async fn start(&mut self, number: usize) -> Result<(), Failure> {
        let running = self.places.iter().filter(|place| place.process.is_some());
        let seeds = running.map(|place| place.at.clone()).collect();
        let own = self.network.as_ref().and_then(|network| network.address(number));
        let listen = own.map_or((IpAddr::V4(Ipv4Addr::LOCALHOST), 0), |address| (address, PORT));
        let place = self.places.get_mut(number).ok_or_else(|| Failure::bug("no such member"))?;
        let start = Start {
            number: u32::try_from(number).map_err(Failure::bug)?,
            state: place.state.clone(),
            listen: SocketAddr::from(listen),
            seeds,
            stranger: place.stranger,
            threads: self.threads,
            paths: self.paths,
            multicast: self.multicast,
        };
        let enter = self.network.as_ref().map(|network| network.enter(number)).unwrap_or_default();
        let (child, stdin, stdout) = spawn(&enter, AS_MEMBER, line(&start)?.trim())?;
        place.process = Some((child, stdin));
        tokio::spawn(read(number, stdout, self.tell.clone()));
        let ready = |said: Said| if let Said::Ready { locator, .. } = said { Some(locator) } else { None };
        let at = self.expect(&[number], "a member's start", ready).await?.pop().unwrap_or_default();
        self.places.iter_mut().skip(number).take(1).for_each(|place| place.at.clone_from(&at));
        Ok(())
    }

    pub(crate) async fn order(&mut self, numbers: &[usize], order: &Order) -> Result<(), Failure> {
        let text = line(order)?;
        for number in numbers {
            let process = self.places.get_mut(*number).and_then(|place| place.process.as_mut());
            let (_, stdin) = process.ok_or_else(|| Failure::bug("a member does not run"))?;
            let gone = |_| Failure::new(Exit::No, format!("member {} is gone", number + 1));
            stdin.write_all(text.as_bytes()).await.map_err(gone)?;
        }
        Ok(())
    }

    /// SIGKILL, as a power cut would be.
    pub(crate) async fn kill(&mut self, number: usize) -> Result<(), Failure> {
        if let Some((mut child, _stdin)) = self.places.get_mut(number).and_then(|place| place.process.take())
        {
            child.kill().await.map_err(Failure::bug)?;
        }
        Ok(())
    }

    /// Ends a member's process in good order.
    pub(crate) async fn stop(&mut self, number: usize) -> Result<(), Failure> {
        if let Some((mut child, stdin)) = self.places.get_mut(number).and_then(|place| place.process.take()) {
            drop(stdin);
            if tokio::time::timeout(self.limit, child.wait()).await.is_err() {
                child.kill().await.map_err(Failure::bug)?;
            }
        }
        Ok(())
    }

    /// Ends all.
    pub(crate) async fn end(&mut self) {
        for place in &mut self.places {
            if let Some((mut child, _stdin)) = place.process.take() {
                let _ = child.kill().await;
            }
        }
    }

    /// Waits until each of these has a view of exactly those, and said so no earlier than `since`.
    /// When the last of them had it.
    pub(crate) async fn view(
        &mut self,
        who: &[usize],
        members: &[usize],
        since: u64,
    ) -> Result<u64, Failure> {
        let wanted: BTreeSet<String> =
            members.iter().filter_map(|number| self.places.get(*number)).map(|one| one.id.clone()).collect();
        let end = Instant::now() + self.limit;
        loop {
            let mut last = Some(0);
            for place in who.iter().filter_map(|number| self.places.get(*number)) {
                let has = place.view.0 >= since && place.view.1 == wanted;
                last = last.filter(|_| has).map(|last| last.max(place.view.0));
            }
            if let Some(last) = last {
                return Ok(last);
            }
            self.next(end, "a common view").await?;
        }
    }

    /// When the last of these came into its present configuration.
    pub(crate) fn ring(&self, who: &[usize]) -> u64 {
        let rings = who.iter().filter_map(|number| self.places.get(*number)).map(|place| place.ring.0);
        rings.max().unwrap_or(0)
    }

    /// SIGSTOP, and SIGCONT after `pause`.
    pub(crate) async fn pause(&mut self, number: usize, pause: Duration) -> Result<(), Failure> {
        let place = self.places.get(number).and_then(|place| place.process.as_ref());
        let id = place.and_then(|(child, _)| child.id()).and_then(|id| Pid::from_raw(id.cast_signed()));
        let id = id.ok_or_else(|| Failure::bug("a member does not run"))?;
        kill_process(id, Signal::STOP).map_err(Failure::bug)?;
        tokio::time::sleep(pause).await;
        kill_process(id, Signal::CONT).map_err(Failure::bug)
    }

    /// Waits until each of these has said what `pick` picks; in their order.
    pub(crate) async fn expect<T>(
        &mut self,
        who: &[usize],
        what: &str,
        pick: impl Fn(Said) -> Option<T>,
    ) -> Result<Vec<T>, Failure> {
        let end = Instant::now() + self.limit;
        let mut told: Vec<Option<T>> = who.iter().map(|_| None).collect();
        while told.iter().any(Option::is_none) {
            let (from, said) = self.next(end, what).await?;
            let slot = who.iter().position(|number| *number == from).and_then(|place| told.get_mut(place));
            if let (Some(slot), Some(picked)) = (slot, pick(said)) {
                *slot = Some(picked);
            }
        }
        Ok(told.into_iter().flatten().collect())
    }

    /// What each delivered and counted, once that is so many messages; or what it is by the end of
    /// the limit.
    pub(crate) async fn tally(&mut self, count: u64) -> Result<Vec<(Heard, Counts)>, Failure> {
        let all = self.all();
        let tally =
            |said: Said| if let Said::Tally(heard, counts) = said { Some((heard, counts)) } else { None };
        self.order(&all, &Order::Tally { count }).await?;
        match self.expect(&all, "the delivery of all messages", tally).await {
            Err(failure) if failure.exit == Exit::TimedOut => {
                self.order(&all, &Order::Tally { count: 0 }).await?;
                self.expect(&all, "a tally", tally).await
            }
            told => told,
        }
    }

    /// What each of these counted since its start.
    pub(crate) async fn counts(&mut self, who: &[usize]) -> Result<Vec<Counts>, Failure> {
        self.order(who, &Order::Count).await?;
        let counts = |said: Said| if let Said::Count(counts) = said { Some(counts) } else { None };
        self.expect(who, "a count", counts).await
    }

    async fn next(&mut self, end: Instant, what: &str) -> Result<(usize, Said), Failure> {
        let next = loop {
            let until = end.min(Instant::now() + LOOK);
            match tokio::time::timeout_at(until, self.said.recv()).await {
                Ok(next) => break next,
                Err(_) if until < end => self.all_run()?,
                Err(_) => {
                    let text = format!("{what} did not come within {} s", self.limit.as_secs());
                    return Err(Failure::new(Exit::TimedOut, text));
                }
            }
        };
        let (from, said) = next.ok_or_else(|| Failure::bug("nobody speaks"))?;
        if let (Some(place), Said::View { at, members }) = (self.places.get_mut(from), &said) {
            place.view = (*at, members.iter().cloned().collect());
        }
        if let (Some(place), Said::Ring { at, nodes }) = (self.places.get_mut(from), &said) {
            place.ring = (*at, *nodes);
        }
        Ok((from, said))
    }

    /// Whether a member's process has ended by itself. Then nothing of it is worth waiting for.
    fn all_run(&mut self) -> Result<(), Failure> {
        for (number, place) in (1..).zip(&mut self.places) {
            let ended = place.process.as_mut().and_then(|(child, _)| child.try_wait().ok().flatten());
            if let Some(status) = ended {
                return Err(Failure::new(
                    Exit::No,
                    format!("member n{number} has ended by itself: {status}"),
                ));
            }
        }
        Ok(())
    }
}

/// Starts this program again, as `role` says, with pipes.
pub(crate) fn spawn(
    enter: &[String],
    role: &str,
    start: &str,
) -> Result<(Child, ChildStdin, ChildStdout), Failure> {
    let cannot =
        |error: std::io::Error| Failure::new(Exit::Configuration, format!("cannot start a process: {error}"));
    let own = std::env::current_exe().map_err(cannot)?.display().to_string();
    let words: Vec<&str> = enter.iter().map(String::as_str).chain([own.as_str(), role, start]).collect();
    let (first, rest) = words.split_first().ok_or_else(|| Failure::bug("no words"))?;
    let mut command = Command::new(first);
    command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(cannot)?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (stdin, stdout) = pipes.ok_or_else(|| Failure::bug("the child process has no pipes"))?;
    Ok((child, stdin, stdout))
}

/// Hands on what a process says, until it ends.
pub(crate) async fn read<T: serde::de::DeserializeOwned>(
    number: usize,
    stdout: ChildStdout,
    tell: mpsc::Sender<(usize, T)>,
) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(text)) = lines.next_line().await {
        let Ok(said) = serde_json::from_str(&text) else { return };
        if tell.send((number, said)).await.is_err() {
            return;
        }
    }
}
