//! A holder that has lost its store has its share again within a minute of being linked with
//! whoever gives it: as many other holders as repair takes, or with shoup-rsa the authority's
//! dealer.
//!
//! What is measured: `share.held` in `folkmoot status`, from when the others are present there.

use super::beginning::{holds, is_the_groups, sees, status, until};
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::code;
use std::path::Path;
use std::time::{Duration, Instant};

/// The bound.
const MINUTE: Duration = Duration::from_secs(60);
/// Longest wait for anything else.
const LIMIT: Duration = Duration::from_secs(90);

/// People with shares of one key.
struct Cast {
    place: Place,
    people: Vec<Actor>,
}

impl Cast {
    fn new(place: Place, people: Vec<Actor>) -> Self {
        let mut cast = Self { place, people };
        for who in 0..cast.people.len() {
            cast.start(who);
        }
        cast
    }

    fn start(&mut self, who: usize) {
        let at: Vec<String> = self.people.iter().map(|one| one.locator.clone()).collect();
        let at: Vec<String> = at.into_iter().filter(|at| !at.is_empty()).collect();
        self.people[who].start(&self.place, &at, &[]);
    }

    fn all_hold(&self) {
        for one in &self.people {
            until(LIMIT, "each holds a share", || holds(one).then_some(())).unwrap();
        }
    }

    /// Its identity is left, and the charter.
    fn lose(&mut self, who: usize) {
        self.people[who].kill();
        for file in ["member.sqlite", "member.sqlite-wal", "member.sqlite-shm"] {
            let _ = std::fs::remove_file(self.people[who].state.join(file));
        }
        assert!(self.people[who].state.join("identity.key").exists());
        self.start(who);
    }

    /// How long after these are present there it has its share again.
    fn again(&self, who: usize, others: &[usize]) -> Duration {
        let ids: Vec<&str> = others.iter().map(|other| self.people[*other].id.as_str()).collect();
        let one = &self.people[who];
        until(LIMIT, "it is linked", || sees(one, &ids).then_some(())).unwrap();
        let begun = Instant::now();
        until(MINUTE, "it has its share again", || holds(one).then_some(()))
            .unwrap_or_else(|why| panic!("{why}: {}", status(one)["share"]));
        begun.elapsed()
    }

    /// These, and nobody else, let a guest in by the group's key.
    fn admit(&self, name: &str, voters: &[usize]) {
        let mut guest = Actor::new(&self.place, name);
        let at: Vec<String> = voters.iter().map(|who| self.people[*who].locator.clone()).collect();
        guest.start(&self.place, &at, &["--apply"]);
        for voter in voters {
            self.people[*voter].until(&["vote", "approve", name], |told| !told.is_null());
        }
        let first = &self.people[voters[0]];
        until(LIMIT, "the guest is in", || sees(&guest, &[&first.id]).then_some(())).unwrap();
        guest.kill();
    }
}

#[test]
fn a_holder_that_lost_its_store_has_its_share_within_a_minute_of_being_linked_with_enough() {
    let place = Place::new("lost");
    let people: Vec<Actor> = ["anna", "ben", "cleo", "dora"].map(|name| Actor::new(&place, name)).into();
    let folders: Vec<&Path> = people.iter().map(|one| one.state.as_path()).collect();
    place.found_with(&folders, Times::SHORT, &["--scheme", "frost"]);
    let mut cast = Cast::new(place, people);
    cast.all_hold();
    let sharing = status(&cast.people[0])["share"]["epoch"].clone();
    // Two others have theirs, and that is what repair takes.
    cast.people[3].kill();
    cast.lose(1);
    let took = cast.again(1, &[0, 2]);
    println!("frost: {took:?}");
    assert_eq!(status(&cast.people[1])["share"]["epoch"], sharing, "nothing was decided");
    // It signs with it: of those who are left it takes both.
    cast.people[2].kill();
    cast.admit("gina", &[0, 1]);
    let gina = Actor::of(cast.place.path().join("gina"), "");
    is_the_groups(&cast.place, &gina, "gina").unwrap();
    // With one other it cannot be: it says so, and what it waits for.
    cast.lose(1);
    until(LIMIT, "it is linked", || sees(&cast.people[1], &[&cast.people[0].id]).then_some(())).unwrap();
    let lost = || (status(&cast.people[1])["share"]["state"] == "asks-others").then_some(());
    until(LIMIT, "it says that its share is not here", lost).unwrap();
    let told = cast.people[1].run(&["doctor"]);
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(code(&told) == 1 && text.contains("once 2 others who have theirs are linked"), "{text}");
    let asks = || (status(&cast.people[0])["share"]["asking"] == serde_json::json!(["ben"])).then_some(());
    until(LIMIT, "the other knows who asks", asks).unwrap();
    cast.start(2);
    let took = cast.again(1, &[0, 2]);
    println!("frost, with one more: {took:?}");
}

#[test]
fn with_shoup_rsa_the_dealer_says_a_lost_share_again_or_it_is_told_that_nobody_can() {
    for dealer in ["keeps", "setup-only"] {
        let place = Place::new(&format!("lost-{dealer}"));
        let people: Vec<Actor> = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name)).into();
        let mut authority = Actor::authority(&place, "authority", "shoup-rsa");
        let state = authority.state.display().to_string();
        let folders: Vec<&Path> = people.iter().map(|one| one.state.as_path()).collect();
        let rules =
            ["--scheme", "shoup-rsa", "--mode", "centralised", "--authority", &state, "--dealer", dealer];
        place.found_with(&folders, Times::SHORT, &rules);
        let mut cast = Cast::new(place, people);
        let first = [cast.people[0].locator.clone()];
        authority.start(&cast.place, &first, &[]);
        cast.all_hold();
        let at = cast.people[0].locator.clone();
        if dealer == "setup-only" {
            cast.lose(1);
            let lost = || (status(&cast.people[1])["share"]["state"] == "lost").then_some(());
            until(LIMIT, "it says that it is lost for good", lost).unwrap();
            let told = cast.people[1].run(&["doctor"]);
            let text = String::from_utf8_lossy(&told.stdout).into_owned();
            assert!(code(&told) == 1 && text.contains("found another group before they are fewer"), "{text}");
            continue;
        }
        // The authority is away: it waits, and says for what.
        authority.kill();
        cast.lose(1);
        let lost = || (status(&cast.people[1])["share"]["state"] == "asks-authority").then_some(());
        until(LIMIT, "it says that its share is not here", lost).unwrap();
        authority.start(&cast.place, core::slice::from_ref(&at), &[]);
        let took = cast.again(1, &[0, 2]);
        println!("shoup-rsa: {took:?}");
        let said = authority.until(&["authority", "status"], |status| status["shares_said_again"] == 1);
        assert_eq!(said["dealer"], "keeps");
        // It signs with it: of those who are left it takes both.
        cast.people[2].kill();
        cast.admit("gina", &[0, 1]);
    }
}
