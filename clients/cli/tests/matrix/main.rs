//! Every scheme, with an authority and without, by a fixed number of votes and by one that follows the size, in real processes over UDP:
//!
//! ```text
//! found   anna, ben, cleo            admit    dora, two votes       refuse   erik, the voters say no
//! expel   dora, by decision          renew    dora's term ends; she asks anew and is voted in
//! ```
//! In the usual run one cell of each scheme; `FOLKMOOT_MATRIX=all`: all of them (`cargo xtask release --issue 4`). Combinations that there
//! are not, are refused by `charter new` with the reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

use common::actor::Actor;
use common::place::{Place, Times};
use common::program::{call, code, complaint};
use serde_json::Value;
use std::time::Instant;

/// A day and an hour later, certificates of one day have run out.
const DAY: &str = "90000";
const FIXED: &[&str] = &[];
/// Two of three, and of four.
const RATIO: &[&str] = &["--ratio", "50%", "--window", "5"];

struct Cell {
    place: Place,
    founders: Vec<Actor>,
    authority: Option<Actor>,
    scheme: String,
    dealer: Option<&'static str>,
}

impl Cell {
    fn found(name: &str, scheme: &str, dealer: Option<&'static str>, threshold: &[&str]) -> Self {
        let centralised = dealer.is_some();
        let place = Place::new(name);
        let founders: Vec<Actor> = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name)).into();
        let authority = centralised.then(|| Actor::authority(&place, "authority", scheme));
        let mut rules = vec!["--scheme".to_owned(), scheme.to_owned()];
        if let Some(authority) = &authority {
            let state = authority.state.display().to_string();
            rules.extend(["--mode".into(), "centralised".into(), "--authority".into(), state]);
            if ["ts-dsa", "frost"].contains(&scheme) {
                rules.extend(["--dealer".to_owned(), dealer.unwrap_or_default().to_owned()]);
            }
        }
        rules.extend(threshold.iter().map(|word| (*word).to_owned()));
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let folders: Vec<_> = founders.iter().map(|one| one.state.as_path()).collect();
        place.found_with(&folders, Times { silence_ms: 5_000, days: 1 }, &rules);
        let mut cell = Self { place, founders, authority, scheme: scheme.to_owned(), dealer };
        cell.start(&[]);
        cell
    }

    fn start(&mut self, more: &[&str]) {
        let mut at: Vec<String> = Vec::new();
        for one in self.founders.iter_mut().chain(&mut self.authority) {
            one.start(&self.place, &at, more);
            at = vec![at.first().unwrap_or(&one.locator).clone()];
        }
        for one in ["ben", "cleo"] {
            self.founders[0].why(one, "present");
        }
    }

    fn stop(&mut self) {
        self.founders.iter_mut().chain(&mut self.authority).for_each(Actor::kill);
    }

    fn doors(&self) -> Vec<String> {
        self.founders.iter().take(2).map(|one| one.locator.clone()).collect()
    }

    fn vote(&self, how: &str, subject: &[&str], voters: &[usize]) {
        for voter in voters {
            let line = [&["vote", how][..], subject].concat();
            self.founders[*voter].until(&line, |told| !told.is_null());
        }
    }

    fn play(mut self) {
        let mut dora = Actor::new(&self.place, "dora");
        dora.start(&self.place, &self.doors(), &["--apply"]);
        self.vote("approve", &["dora"], &[0, 1]);
        self.founders[2].why("dora", "present");
        let mut erik = Actor::new(&self.place, "erik");
        erik.start(&self.place, &self.doors(), &["--apply"]);
        self.vote("reject", &["erik"], &[0, 1]);
        erik.until(&["status"], |status: &Value| status["denied"].is_string());
        erik.kill();
        // A day later her term is over, and she asks anew.
        self.stop();
        dora.kill();
        self.start(&["--clock-ahead", DAY]);
        self.founders[1].why("dora", "expired");
        dora.start(&self.place, &self.doors(), &["--apply", "--clock-ahead", DAY]);
        self.vote("approve", &["dora"], &[0, 1]);
        self.founders[2].why("dora", "present");
        self.founders[0].good(&["expel", "dora"]);
        self.vote("approve", &["expel", "dora"], &[1]);
        self.founders[2].why("dora", "expelled");
        if let Some(authority) = &self.authority {
            let status = authority.good(&["authority", "status"]);
            assert_eq!(status["issued"], 2);
            let held = match (self.scheme.as_str(), self.dealer) {
                ("plain" | "asm", _) => "no-shares",
                (_, Some("keeps")) => "keeps",
                _ => "erased",
            };
            assert_eq!(status["dealer"], held);
        }
    }
}

/// One cell of the scheme, or all that there are: without an authority, and with one by what its dealer does.
fn run(scheme: &str, usual: (Option<&str>, &[&str])) {
    let shared = ["ts-dsa", "frost"].contains(&scheme);
    let dealers = [None, Some("keeps"), Some("setup-only")]
        .into_iter()
        .filter(|one| shared || *one != Some("setup-only"));
    let all = dealers.flat_map(|dealer| [(dealer, FIXED), (dealer, RATIO)]);
    let whole = std::env::var("FOLKMOOT_MATRIX").is_ok_and(|text| text == "all");
    for (dealer, threshold) in all.filter(|cell| whole || *cell == usual) {
        let begun = Instant::now();
        let mode = match dealer {
            None => "decentralised".to_owned(),
            Some(dealer) if shared => format!("centralised ({dealer})"),
            Some(_) => "centralised".to_owned(),
        };
        let votes = if threshold.is_empty() { "fixed" } else { "ratio" };
        let name = format!("mx-{scheme}-{}-{votes}", dealer.map_or(0, str::len));
        Cell::found(&name, scheme, dealer, threshold).play();
        println!("{scheme} {mode} {votes}: admit, refuse, renew, expel, {:?}", begun.elapsed());
    }
}

#[test]
fn plain() {
    run("plain", (Some("keeps"), RATIO));
}

#[test]
fn asm() {
    run("asm", (Some("keeps"), FIXED));
}

#[test]
fn ts_dsa() {
    run("ts-dsa", (Some("setup-only"), RATIO));
}

#[test]
fn frost() {
    run("frost", (Some("keeps"), FIXED));
}

#[test]
fn what_there_is_not_is_refused_with_the_reason() {
    let place = Place::new("mx-refused");
    let anna = Actor::new(&place, "anna");
    let authority = Actor::authority(&place, "authority", "plain").state.display().to_string();
    let founder = anna.state.join("identity.pem").display().to_string();
    let out = place.path().join("charter.toml").display().to_string();
    let central = ["--mode", "centralised", "--authority", &authority];
    let line = ["charter", "new", "test", "--votes", "1", "--founder", &founder, "--out", &out];
    let wrong: [(&[&str], &[&str], &str); 5] = [
        (&["--scheme", "ts-rsa"], &[], "for study only"),
        (&["--scheme", "ts-rsa"], &central, "for study only"),
        (&["--scheme", "shoup-rsa"], &[], "nobody but a dealer"),
        (&["--scheme", "frost"], &central, "dealer"),
        (&["--scheme", "asm", "--policy", "list", "--list", &founder], &central, "somebody has to sign"),
    ];
    for (scheme, mode, why) in wrong {
        let refused = call(&anna.state, &[&line[..], scheme, mode].concat());
        assert_eq!(code(&refused), 2, "{scheme:?} {mode:?}");
        assert!(complaint(&refused).contains(why), "{scheme:?} {mode:?}: {}", complaint(&refused));
    }
}
