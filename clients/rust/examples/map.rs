//! A map that every member of a group holds: each change reaches all of them in one order, so all
//! have the same entries. It shows agreed messages, views, and how a newcomer is given the state.
//!
//! Three people on one machine. Each makes an identity, all sign one charter, and each folder gets
//! a copy of it. `read-only` says that the smaller side of a split may not change anything:
//!
//! ```text
//! for who in anna ben cleo; do folkmoot --state $who identity new $who --no-passphrase; done
//! folkmoot charter new "our map" --votes 2 --minority read-only --contact udp/127.0.0.1:4811 \
//!     --founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem
//! folkmoot --state anna charter sign charter.toml --yes
//! for who in ben cleo; do folkmoot --state $who charter sign charter.cms --yes; done
//! for who in anna ben cleo; do cp charter.cms $who; done
//! ```
//! Then each runs one line in a terminal of its own, and types `set KEY VALUE`, `del KEY` or
//! `show`. Cleo may come last: she is given what the others have.
//!
//! ```text
//! cargo run -p folkmoot --example map -- anna 127.0.0.1:4811
//! cargo run -p folkmoot --example map -- ben 127.0.0.1:4812
//! cargo run -p folkmoot --example map -- cleo 127.0.0.1:4813
//! ```
//! How it works: those who have come to a view together have the same entries. They are one *side*,
//! and the first of them sends its entries to all. Once every member of the view has been spoken
//! for, all take the newest entries. Changes that come before that count nowhere, and whoever sent
//! one sends it again. The map is in memory: it is gone when the last member stops.
//!
//! Limits: the entries go in one message, of 16 MiB at most. A member that is cut off in the moment
//! of a change may lose that change; where that matters, send it `Safe`, and take it as done only
//! if it comes back before `Event::Transitional`.

use folkmoot::{Error, Event, Folkmoot, Options, Party, Service, Session, ViewId};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

/// How new the entries are: the view of the last change (two numbers), and how many there were.
type Age = (u64, u64, u64);

/// One member's copy.
struct Map {
    me: Party,
    entries: BTreeMap<String, String>,
    age: Age,
    /// Who is in the view, and who of them has not been spoken for.
    here: BTreeSet<Party>,
    unheard: BTreeSet<Party>,
    /// Who has the same entries.
    side: BTreeSet<Party>,
    /// The newest entries that were told in this view.
    offer: (Age, BTreeMap<String, String>),
}

impl Map {
    fn new(me: Party) -> Self {
        let (entries, age, offer) = Default::default();
        Self { me, entries, age, here: [me].into(), unheard: [me].into(), side: [me].into(), offer }
    }

    /// All have the same entries, and changes count.
    fn is_settled(&self) -> bool {
        self.unheard.is_empty()
    }

    /// A new view. Gives what to tell all, if somebody is new and this member speaks for its side.
    fn enter(&mut self, view: ViewId, members: Vec<Party>, together: &[Party]) -> Option<String> {
        let me = self.me;
        self.side.retain(|party| *party == me || together.contains(party));
        self.here = members.into_iter().collect();
        if self.here == self.side {
            self.unheard.clear(); // Some are gone, and nobody is new.
            return None;
        }
        self.unheard.clone_from(&self.here);
        self.offer = (self.age, self.entries.clone());
        (self.side.first() == Some(&me)).then(|| self.told(view))
    }

    /// The view; how new the entries are; whom this member speaks for; the entries.
    fn told(&self, view: ViewId) -> String {
        let (ring, order, count) = self.age;
        let side: Vec<String> = self.side.iter().map(Party::hex).collect();
        let head = format!("state {view} {ring} {order} {count} {}", side.join(","));
        self.entries.iter().fold(head, |text, (key, value)| format!("{text}\n{key} {value}"))
    }

    /// A message, in the order that all have. Gives what there is to say about it.
    fn hear(&mut self, view: ViewId, text: &str) -> Option<String> {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let words: Vec<&str> = head.splitn(3, ' ').collect();
        match words[..] {
            ["state", of, about] if of == view.to_string() => self.offered(about, rest),
            ["set" | "del", ..] if !self.is_settled() => None,
            ["set", key, value] => {
                self.entries.insert(key.to_owned(), value.to_owned());
                self.changed(view, format!("{key} = {value}"))
            }
            ["del", key] => {
                self.entries.remove(key);
                self.changed(view, format!("{key} is gone"))
            }
            _ => None, // Of an earlier view, or of a newer edition of this program.
        }
    }

    fn changed(&mut self, view: ViewId, what: String) -> Option<String> {
        self.age = (view.configuration.ring_seq, view.order, self.age.2 + 1);
        Some(what)
    }

    /// What the first of a side has told. Once all sides have been heard, the newest entries count.
    fn offered(&mut self, about: &str, lines: &str) -> Option<String> {
        let words: Vec<&str> = about.split(' ').collect();
        let [ring, order, count, side] = words[..] else { return None };
        let age = (ring.parse().ok()?, order.parse().ok()?, count.parse().ok()?);
        let pair = |line: &str| line.split_once(' ').map(|(key, value)| (key.to_owned(), value.to_owned()));
        if age > self.offer.0 {
            self.offer = (age, lines.lines().filter_map(pair).collect());
        }
        for party in side.split(',').filter_map(Party::from_hex) {
            self.unheard.remove(&party);
        }
        self.is_settled().then(|| {
            self.side.clone_from(&self.here);
            (self.age, self.entries) = std::mem::take(&mut self.offer);
            format!("all have the same {} entries", self.entries.len())
        })
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("map: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [state, address] = &words[..] else { return Err("usage: map STATE ADDRESS:PORT".into()) };
    let options = Options::new(state).listen(address.parse::<SocketAddr>()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    let mut map = Map::new(moot.me().into());
    let mut lines = BufReader::new(stdin()).lines();
    let mut unsaid = Vec::new();
    loop {
        tokio::select! {
            event = moot.next() => match event? {
                Some(event) => hear(&moot, &session, &mut map, &mut unsaid, event).await?,
                None => return Ok(()),
            },
            line = lines.next_line() => match line?.as_deref().map(str::trim) {
                Some("show") => map.entries.iter().for_each(|(key, value)| println!("{key} = {value}")),
                Some(line) if line.starts_with("set ") || line.starts_with("del ") => {
                    say(&session, line).await?;
                }
                Some(_) => println!("type set KEY VALUE, del KEY or show"),
                None => return Ok(leave(moot, &session).await?),
            },
        }
    }
}

/// Says something to all. A side of a split that may not is told so, and goes on reading.
async fn say(session: &Session, line: &str) -> Result<(), Error> {
    match session.send(Service::Agreed, line.to_owned()).await {
        Err(Error::SendRefused(why)) => {
            println!("not sent: {why}");
            Ok(())
        }
        sent => sent,
    }
}

/// Leaves, so that the others need not miss this member, and waits up to 4 s until they know.
async fn leave(mut moot: Folkmoot, session: &Session) -> Result<(), Error> {
    session.leave().await?;
    let gone = async {
        while !matches!(moot.next().await?, None | Some(Event::Removed { .. })) {}
        Ok::<(), Error>(())
    };
    if let Ok(gone) = tokio::time::timeout(Duration::from_secs(4), gone).await {
        gone?;
    }
    moot.close().await
}

/// Takes an event. Own changes that came before all had the same entries are sent again.
async fn hear(
    moot: &Folkmoot,
    session: &Session,
    map: &mut Map,
    unsaid: &mut Vec<String>,
    event: Event,
) -> Result<(), Error> {
    match event {
        Event::View { id, members, transitional, .. } => {
            let names = moot.names().await?;
            let who: Vec<_> = members.iter().map(|one| one.of(&names.name(&one.member))).collect();
            println!("here: {}", who.join(", "));
            if let Some(told) = map.enter(id, members, &transitional) {
                say(session, &told).await?;
            }
        }
        Event::Message { sender, view, payload, .. } => {
            let text = String::from_utf8_lossy(&payload);
            if sender == map.me && !map.is_settled() && !text.starts_with("state ") {
                unsaid.push(text.into_owned());
            } else if let Some(news) = map.hear(view, &text) {
                println!("{news}");
            }
        }
        Event::Removed { .. } => println!("this member is in the group no more"),
        _ => {}
    }
    if map.is_settled() {
        for line in unsaid.drain(..) {
            say(session, &line).await?;
        }
    }
    Ok(())
}
