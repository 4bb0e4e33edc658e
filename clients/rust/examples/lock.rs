//! A lock that at most one member of a group holds. If its holder crashes or is cut off, the next
//! one who waits has it. It shows safe messages, and what a minority may do.
//!
//! Three people on one machine. Each makes an identity, all sign one charter, and each folder gets
//! a copy of it:
//!
//! ```text
//! for who in anna ben cleo; do folkmoot --state $who identity new $who --no-passphrase; done
//! folkmoot charter new "our lock" --votes 2 --minority read-only --contact udp/127.0.0.1:4811 \
//!     --founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem
//! folkmoot --state anna charter sign charter.toml --yes
//! for who in ben cleo; do folkmoot --state $who charter sign charter.cms --yes; done
//! for who in anna ben cleo; do cp charter.cms $who; done
//! ```
//! Then each runs one line in a terminal of its own, and types `lock` or `free`. Stop whoever has
//! the lock (`kill -9`), and see who is next.
//!
//! ```text
//! cargo run -p folkmoot --example lock -- anna 127.0.0.1:4811
//! cargo run -p folkmoot --example lock -- ben 127.0.0.1:4812
//! cargo run -p folkmoot --example lock -- cleo 127.0.0.1:4813
//! ```
//! How it works: `want` and `free` are safe messages, so all apply them in one order. In each new
//! view every member says where it stands: whether it has the lock, or its place among those who
//! wait. Once all have spoken, all know the same. Whoever is gone has not spoken, and so has
//! nothing any more.
//!
//! **The fencing number** is higher for each next holder, also if everybody has been restarted
//! between: it is the view's id and a count, compared from the left. A holder that is cut off
//! learns of it some seconds later, and until then two members may believe that they have the lock.
//! So tell whatever the lock protects the number with each order; it must refuse a number that is
//! lower than one that it has seen.
//!
//! **A minority** gives the lock to nobody, and a holder in it has lost the lock. Two sides of a
//! split are never both a quorum of the voters. `read-only` in the charter says so of sending, too.

use folkmoot::{Error, Event, Folkmoot, Options, Party, Service, Session, ViewId};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

/// One member's picture of the lock.
struct Lock {
    me: Party,
    /// What the person wants.
    wanted: bool,
    /// The fencing number, if this member has the lock.
    held: Option<String>,
    holder: Option<Party>,
    queue: Vec<Party>,
    /// Who has not yet said where it stands in this view; places in the queue that others have.
    unheard: BTreeSet<Party>,
    places: Vec<(usize, Party)>,
    /// Whether this view may give the lock: all who have spoken see a quorum, and the view's
    /// promises hold.
    whole: bool,
    /// How often the lock was given in this view.
    given: u64,
}

impl Lock {
    fn new(me: Party) -> Self {
        let (queue, places) = Default::default();
        let (wanted, held, holder, whole, given) = Default::default();
        Self { me, wanted, held, holder, queue, unheard: [me].into(), places, whole, given }
    }

    /// A new view. Gives what this member says of itself: the view, whether it sees a quorum,
    /// whether it has the lock, its place in the queue (0: none).
    fn enter(&mut self, view: ViewId, members: &[Party], whole: bool) -> String {
        if !whole {
            self.lose("this side of the split is a minority");
        }
        let place = self.queue.iter().position(|party| *party == self.me && self.wanted);
        let (held, place) = (self.held.is_some(), place.map_or(0, |before| before + 1));
        (self.holder, self.given, self.whole) = (None, 0, true);
        self.places.clear();
        self.unheard = members.iter().copied().collect();
        format!("here {view} {whole} {held} {place}")
    }

    /// A message, in the order that all have.
    fn hear(&mut self, view: ViewId, sender: Party, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            ["here", of, whole, held, place] if of == view.to_string() => {
                self.whole &= whole == "true";
                self.stands(sender, held == "true", place.parse().unwrap_or(0));
            }
            // Whoever sent these before all had spoken sends them again.
            ["want" | "free"] if !self.unheard.is_empty() => {}
            ["want"] if self.holder != Some(sender) && !self.queue.contains(&sender) => {
                self.queue.push(sender);
            }
            ["free"] if self.holder == Some(sender) => self.holder = None,
            _ => {} // Of an earlier view, or nothing new.
        }
        self.give(view);
    }

    /// A member has said where it stands. Once all have, their places are the queue.
    fn stands(&mut self, party: Party, held: bool, place: usize) {
        self.unheard.remove(&party);
        if held {
            self.holder = Some(party);
        } else if place > 0 {
            self.places.push((place, party));
        }
        if self.unheard.is_empty() {
            self.places.sort_unstable();
            self.queue = self.places.drain(..).map(|(_, party)| party).collect();
        }
    }

    /// Gives the lock to the next one, if it is free and all of a quorum know that.
    fn give(&mut self, view: ViewId) {
        if !self.unheard.is_empty() || !self.whole || self.holder.is_some() || self.queue.is_empty() {
            return;
        }
        let next = self.queue.remove(0);
        self.holder = Some(next);
        self.given += 1;
        if next == self.me && self.wanted {
            let number = format!("{view}.{}", self.given);
            println!("you have the lock, number {number}");
            self.held = Some(number);
        }
    }

    fn lose(&mut self, why: &str) {
        if let Some(number) = self.held.take() {
            self.wanted = false;
            println!("you have lost the lock {number}: {why}");
        }
    }

    /// What the person wants and the others have not heard, as far as is known here.
    fn unsaid(&self) -> Option<&'static str> {
        let has = self.holder == Some(self.me);
        match self.wanted {
            _ if !self.unheard.is_empty() => None,
            true if !has && !self.queue.contains(&self.me) => Some("want"),
            false if has => Some("free"),
            _ => None,
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lock: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [state, address] = &words[..] else { return Err("usage: lock STATE ADDRESS:PORT".into()) };
    let options = Options::new(state).listen(address.parse::<SocketAddr>()?);
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    let mut lock = Lock::new(moot.me().into());
    let mut lines = BufReader::new(stdin()).lines();
    loop {
        tokio::select! {
            event = moot.next() => match event? {
                Some(event) => hear(&moot, &session, &mut lock, event).await?,
                None => return Ok(()),
            },
            line = lines.next_line() => match line?.as_deref().map(str::trim) {
                Some("lock") => {
                    lock.wanted = true;
                    say(&session, lock.unsaid()).await?;
                }
                Some("free") => {
                    (lock.wanted, lock.held) = (false, None);
                    say(&session, lock.unsaid()).await?;
                }
                Some(_) => println!("type lock or free"),
                None => return Ok(leave(moot, &session).await?),
            },
        }
    }
}

/// Says something to all, if there is anything. A side of a split that may not is told so.
async fn say(session: &Session, text: Option<&str>) -> Result<(), Error> {
    let Some(text) = text else { return Ok(()) };
    match session.send(Service::Safe, text.to_owned()).await {
        Err(Error::SendRefused(why)) => {
            println!("not sent: {why}");
            Ok(())
        }
        sent => sent,
    }
}

/// Takes an event.
async fn hear(moot: &Folkmoot, session: &Session, lock: &mut Lock, event: Event) -> Result<(), Error> {
    match event {
        Event::View { id, members, side, .. } => {
            let names = moot.names().await?;
            let who: Vec<_> = members.iter().map(|one| one.of(&names.name(&one.member))).collect();
            println!("here: {}", who.join(", "));
            let text = lock.enter(id, &members, side.whole);
            say(session, Some(&text)).await?;
        }
        Event::Message { sender, view, payload, .. } => {
            let before = (lock.holder, lock.unheard.is_empty());
            lock.hear(view, sender, &String::from_utf8_lossy(&payload));
            let news = before != (lock.holder, lock.unheard.is_empty());
            if let Some(holder) = lock.holder.filter(|holder| news && *holder != lock.me) {
                println!("{} has the lock", holder.of(&moot.names().await?.name(&holder.member)));
            }
            if news || sender == lock.me {
                say(session, lock.unsaid()).await?;
            }
        }
        // What comes now is known to those alone who go on together: the next view decides.
        Event::Transitional { .. } => lock.whole = false,
        Event::Removed { .. } => lock.lose("this member is in the group no more"),
        _ => {}
    }
    Ok(())
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
