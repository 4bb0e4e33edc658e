//! Host names: finds out their addresses, beside the engine.
//!
//! ```text
//!   engine --ask(name)--> Names --> a thread for each name, four at a time: getaddrinfo
//!          <--next()-----   '--- an answer for each, after five seconds at the latest
//! ```
//! The system's resolver may hang for as long as it likes. So the node's task never waits for it,
//! nobody waits for it longer than [`PATIENCE`], and it has [`THREADS_MAX`] threads at most: one
//! that hangs keeps its place until it returns. The threads are not the runtime's own: a runtime
//! that ends would wait for those.

use crate::in_words;
use core::time::Duration;
use folkmoot_attach::Resolved;
use folkmoot_base::{HostName, Locator};
use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// So long somebody waits for the addresses of a name.
const PATIENCE: Duration = Duration::from_secs(5);
/// Names that the system's resolver looks for at once.
const THREADS_MAX: usize = 4;
/// Names that are asked for at once.
const NAMES_MAX: usize = 128;
/// Addresses of one name that are looked at.
const ADDRESSES_MAX: usize = 64;

/// How addresses of a host are found.
type Lookup = fn(&HostName) -> io::Result<Vec<SocketAddr>>;

/// The names that are asked for.
#[derive(Debug)]
pub(crate) struct Names {
    lookup: Lookup,
    patience: Duration,
    threads: Arc<Semaphore>,
    asked: BTreeSet<Locator>,
    tell: mpsc::UnboundedSender<(Locator, Resolved)>,
    /// One for each that was asked.
    answers: mpsc::UnboundedReceiver<(Locator, Resolved)>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self::by(system, PATIENCE)
    }

    fn by(lookup: Lookup, patience: Duration) -> Self {
        let (tell, answers) = mpsc::unbounded_channel();
        let threads = Arc::new(Semaphore::new(THREADS_MAX));
        Self { lookup, patience, threads, asked: BTreeSet::new(), tell, answers }
    }

    /// Asks for a name, unless it is asked for already.
    pub(crate) fn ask(&mut self, at: Locator) {
        let Some(name) = HostName::of(&at) else { return };
        if self.asked.len() >= NAMES_MAX || !self.asked.insert(at.clone()) {
            return;
        }
        let (lookup, tell) = (self.lookup, self.tell.clone());
        let (patience, threads) = (self.patience, Arc::clone(&self.threads));
        tokio::spawn(async move {
            let found = timeout(patience, look(lookup, name, threads)).await;
            let found = found.unwrap_or_else(|_| Err(late(patience)));
            // Whoever asked may have stopped.
            let _ = tell.send((at, found));
        });
    }

    /// The next answer. Dropped halfway, it loses nothing.
    pub(crate) async fn next(&mut self) -> (Locator, Resolved) {
        match self.answers.recv().await {
            Some((at, found)) => {
                self.asked.remove(&at);
                (at, found)
            }
            // This holds a sender itself.
            None => core::future::pending().await,
        }
    }
}

/// Waits for a place, then for the system.
async fn look(lookup: Lookup, name: HostName, threads: Arc<Semaphore>) -> Resolved {
    let place = threads.acquire_owned().await.map_err(|error| error.to_string())?;
    let (tell, answer) = oneshot::channel();
    let thread = std::thread::Builder::new().name("host name".into()).spawn(move || {
        let found = in_plain_words(lookup(&name));
        drop(place);
        // Whoever asked may have given up.
        let _ = tell.send(found);
    });
    thread.map_err(|error| in_words(&error))?;
    let found = answer.await.map_err(|error| error.to_string())??;
    Ok(found.into_iter().map(Locator::udp).collect())
}

/// The addresses of a host, for whoever has to wait for them; not longer than a few seconds.
///
/// # Errors
/// Why there are none, in words for people.
pub fn addresses(name: &HostName) -> Result<Vec<SocketAddr>, String> {
    let (tell, answer) = std::sync::mpsc::channel();
    let asked = name.clone();
    let thread = std::thread::Builder::new().spawn(move || {
        // Whoever asked may have given up.
        let _ = tell.send(in_plain_words(system(&asked)));
    });
    thread.map_err(|error| in_words(&error))?;
    answer.recv_timeout(PATIENCE).map_err(|_| late(PATIENCE))?
}

fn system(name: &HostName) -> io::Result<Vec<SocketAddr>> {
    Ok((name.host(), name.port()).to_socket_addrs()?.take(ADDRESSES_MAX).collect())
}

fn late(patience: Duration) -> String {
    format!("no name server answered within {} s", patience.as_secs())
}

/// What the system says of names, in words that a person can use.
fn in_plain_words(found: io::Result<Vec<SocketAddr>>) -> Result<Vec<SocketAddr>, String> {
    let found = found.map_err(|error| {
        let words = in_words(&error);
        match words.rsplit(": ").next().unwrap_or_default() {
            "name or service not known" | "name does not resolve" => "the name does not exist".to_owned(),
            "no address associated with hostname" => "the name has no address".to_owned(),
            "temporary failure in name resolution" | "try again" => "no name server answers".to_owned(),
            other => other.to_owned(),
        }
    })?;
    if found.is_empty() { Err("the name has no address".to_owned()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::{Locator, Lookup, NAMES_MAX, Names, addresses, in_plain_words};
    use folkmoot_base::HostName;
    use std::io;
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    const SHORT: Duration = Duration::from_millis(300);
    const LONG: Duration = Duration::from_secs(60);

    fn name(number: usize) -> Locator {
        format!("dns/host{number}.example.org:4803").parse().unwrap()
    }

    fn names(lookup: Lookup, patience: Duration) -> Names {
        Names::by(lookup, patience)
    }

    #[tokio::test]
    async fn a_name_of_this_machine_has_an_address() {
        let mut names = Names::new();
        let localhost: Locator = "dns/localhost:4811".parse().unwrap();
        names.ask(localhost.clone());
        let (asked, found) = names.next().await;
        assert_eq!(asked, localhost);
        assert!(found.unwrap().contains(&"udp/127.0.0.1:4811".parse().unwrap()));
        let direct = addresses(&HostName::read("localhost:4811").unwrap()).unwrap();
        assert!(direct.contains(&"127.0.0.1:4811".parse().unwrap()));
    }

    #[tokio::test]
    async fn whoever_asks_twice_is_answered_once_and_may_ask_again() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let lookup: Lookup = |name| {
            CALLS.fetch_add(1, Ordering::SeqCst);
            Ok(vec![SocketAddr::new([192, 0, 2, 7].into(), name.port())])
        };
        let mut names = names(lookup, LONG);
        names.ask(name(1));
        names.ask(name(1));
        names.ask("udp/192.0.2.7:1".parse().unwrap());
        assert_eq!(names.next().await, (name(1), Ok(vec!["udp/192.0.2.7:4803".parse().unwrap()])));
        assert_eq!(CALLS.load(Ordering::SeqCst), 1);
        names.ask(name(1));
        names.next().await.1.unwrap();
        assert_eq!(CALLS.load(Ordering::SeqCst), 2);
    }

    /// A resolver that never returns keeps four threads, and each name is answered all the same.
    #[tokio::test]
    async fn a_resolver_that_hangs_costs_four_threads_and_holds_up_nobody() {
        static HANG: AtomicUsize = AtomicUsize::new(0);
        let lookup: Lookup = |_| {
            HANG.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(LONG);
            Ok(Vec::new())
        };
        let mut names = names(lookup, SHORT);
        let begun = Instant::now();
        (0..NAMES_MAX + 50).for_each(|number| names.ask(name(number)));
        for _ in 0..NAMES_MAX {
            let (_, found) = names.next().await;
            assert_eq!(found.unwrap_err(), "no name server answered within 0 s");
        }
        assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
        assert_eq!(HANG.load(Ordering::SeqCst), super::THREADS_MAX);
        assert!(tokio::time::timeout(SHORT, names.next()).await.is_err(), "no more were asked for");
        names.ask(name(1));
        assert!(names.next().await.1.is_err(), "all its threads hang still, and it says so");
    }

    #[test]
    fn what_the_system_says_is_put_in_plain_words() {
        let say = |text: &str| in_plain_words(Err(io::Error::other(text.to_owned()))).unwrap_err();
        let begins = "failed to lookup address information: ";
        for (theirs, ours) in [
            ("Name or service not known", "the name does not exist"),
            ("No address associated with hostname", "the name has no address"),
            ("Temporary failure in name resolution", "no name server answers"),
            ("System error", "system error"),
        ] {
            assert_eq!(say(&format!("{begins}{theirs}")), ours);
        }
        assert_eq!(in_plain_words(Ok(Vec::new())).unwrap_err(), "the name has no address");
    }
}
