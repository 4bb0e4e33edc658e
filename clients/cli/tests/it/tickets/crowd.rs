//! Fifty strangers at one address ask one member, again and again. A newcomer from
//! elsewhere finds a place all the same, and so does one with a ticket.

use super::{cast, joins};
use crate::common::actor::Actor;
use crate::takeover::stage::Cast;
use folkmoot::{Folkmoot, Locator, Options, StateFolder};
use std::path::PathBuf;
use std::sync::mpsc;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const STRANGERS: usize = 50;
/// Places of one contact for requests that nobody vouches for (ADM-07).
const PLACES: usize = 32;

/// The strangers, in this process: each has a key, a folder and a socket. They go when it is
/// dropped.
struct Crowd(Runtime);

impl Crowd {
    /// They ask at this member. Returns once all of them do.
    fn at(cast: &Cast, contact: &str) -> Self {
        let charter = std::fs::read(cast.place.signed()).unwrap();
        let contact: Locator = contact.parse().unwrap();
        let folders =
            (0..STRANGERS).map(|number| Actor::new(&cast.place, &format!("stranger{number}")).state.clone());
        let folders: Vec<PathBuf> = folders.collect();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let (crowd, (ask, asked)) = (Self(runtime.unwrap()), mpsc::channel());
        crowd.0.spawn(async move {
            let mut all = JoinSet::new();
            for folder in folders {
                StateFolder::at(&folder).write_charter(&charter).unwrap();
                let options = Options::new(folder).listen(([127, 0, 0, 1], 0)).seed(contact.clone());
                let mut one = Folkmoot::open_with(options).await.unwrap();
                one.apply().await.unwrap();
                ask.send(()).unwrap();
                all.spawn(async move { while let Ok(Some(_)) = one.next().await {} });
            }
            while all.join_next().await.is_some() {}
        });
        assert_eq!(asked.iter().take(STRANGERS).count(), STRANGERS);
        crowd
    }
}

/// Who asks, as this member's `folkmoot vote list` shows it.
fn asking(who: &Actor, done: impl Fn(usize) -> bool) {
    who.until(&["vote", "list"], |told| done(told.as_array().map_or(0, Vec::len)));
}

#[test]
fn fifty_strangers_at_one_address_keep_no_newcomer_out() {
    let cast = cast("crowd");
    let [anna, ben] = ["anna", "ben"].map(|name| cast.who(name));
    let crowd = Crowd::at(&cast, &anna.locator);
    asking(anna, |open| open == PLACES);
    // From another address, with the charter alone.
    let mut erik = Actor::new(&cast.place, "erik");
    erik.locator = "udp/127.0.0.2:0".to_owned();
    erik.start(&cast.place, std::slice::from_ref(&anna.locator), &["--apply"]);
    // With a ticket, from where the strangers are.
    let dora = Actor::new(&cast.place, "dora");
    let ticket = anna.good(&["invite", "--at", &anna.locator]);
    let talk = joins(&dora, ticket["ticket"].as_str().unwrap());
    for (voter, newcomer) in [(anna, "erik"), (anna, "dora"), (ben, "erik"), (ben, "dora")] {
        voter.until(&["vote", "approve", newcomer], |told| !told.is_null());
    }
    for newcomer in [&erik, &dora] {
        newcomer.why("anna", "present");
    }
    drop(crowd);
    talk.kill();
}
