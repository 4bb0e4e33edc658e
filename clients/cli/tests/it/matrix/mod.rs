//! Every scheme, with an authority and without, by a fixed number of votes and by one that follows
//! the size, in real processes over UDP:
//!
//! ```text
//! found   anna, ben, cleo            admit    dora, two votes       refuse   erik, the voters say no
//! expel   dora, by decision          renew    dora asks for a new certificate; her term ends, she asks anew and is voted in
//! ```
//! In the usual run one cell of each scheme; `FOLKMOOT_MATRIX=all`: all of them (`cargo xtask
//! release --issue 4`). Combinations that there are not, are refused by `charter new` with the
//! reason.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint};
use serde_json::Value;
use std::time::Instant;

/// A day and an hour later, certificates of one day have run out.
const DAY: &str = "90000";
const FIXED: &[&str] = &[];
/// Two of three, and of four.
const RATIO: &[&str] = &["--ratio", "50%", "--window", "5"];

/// Whether an authority signs, and what it does as the dealer of a key.
type Mode = (bool, &'static str);
const ALONE: Mode = (false, "");
const SIGNS: Mode = (true, "");
const KEEPS: Mode = (true, "keeps");
const ONCE: Mode = (true, "setup-only");

struct Cell {
    place: Place,
    founders: Vec<Actor>,
    authority: Option<Actor>,
    dealer: &'static str,
}

impl Cell {
    fn found(name: &str, scheme: &str, (centralised, dealer): Mode, threshold: &[&str]) -> Self {
        let place = Place::new(name);
        let founders: Vec<Actor> = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name)).into();
        let authority = centralised.then(|| Actor::authority(&place, "authority", scheme));
        let mut rules = vec!["--scheme".to_owned(), scheme.to_owned()];
        if let Some(authority) = &authority {
            let state = authority.state.display().to_string();
            rules.extend(["--mode".into(), "centralised".into(), "--authority".into(), state]);
            if !dealer.is_empty() {
                rules.extend(["--dealer".into(), dealer.into()]);
            }
        }
        rules.extend(threshold.iter().map(|word| (*word).to_owned()));
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let folders: Vec<_> = founders.iter().map(|one| one.state.as_path()).collect();
        place.found_with(&folders, Times { silence_ms: 5_000, days: 1 }, &rules);
        let mut cell = Self { place, founders, authority, dealer };
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

    fn contacts(&self) -> Vec<String> {
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
        dora.start(&self.place, &self.contacts(), &["--apply"]);
        self.vote("approve", &["dora"], &[0, 1]);
        self.founders[2].why("dora", "present");
        // A new certificate before the old one ends, and another when it has ended.
        dora.good(&["renew"]);
        self.vote("approve", &["dora"], &[0, 1]);
        dora.until(&["vote", "list"], |told| told.as_array().is_some_and(Vec::is_empty));
        let mut erik = Actor::new(&self.place, "erik");
        erik.start(&self.place, &self.contacts(), &["--apply"]);
        self.vote("reject", &["erik"], &[0, 1]);
        erik.until(&["status"], |status: &Value| status["denied"].is_string());
        erik.kill();
        // A day later her term is over, and she asks anew.
        self.stop();
        dora.kill();
        self.start(&["--clock-ahead", DAY]);
        self.founders[1].why("dora", "expired");
        dora.start(&self.place, &self.contacts(), &["--apply", "--clock-ahead", DAY]);
        self.vote("approve", &["dora"], &[0, 1]);
        self.founders[2].why("dora", "present");
        self.founders[0].good(&["expel", "dora"]);
        self.vote("approve", &["expel", "dora"], &[1]);
        self.founders[2].why("dora", "expelled");
        if let Some(authority) = &self.authority {
            let status = authority.good(&["authority", "status"]);
            assert_eq!(status["issued"], 3);
            let held = match self.dealer {
                "" => "no-shares",
                "keeps" => "keeps",
                _ => "erased",
            };
            assert_eq!(status["dealer"], held);
        }
    }
}

/// One cell of the scheme, or all that there are.
fn run(scheme: &str, usual: (Mode, &'static [&'static str])) {
    let shared = !["plain", "asm"].contains(&scheme);
    let modes: &[Mode] = match scheme {
        "shoup-rsa" => &[KEEPS, ONCE],
        _ if shared => &[ALONE, KEEPS, ONCE],
        _ => &[ALONE, SIGNS],
    };
    let all = modes.iter().flat_map(|mode| [(*mode, FIXED), (*mode, RATIO)]);
    // Shares that are dealt once keep their threshold.
    let all = all.filter(|(mode, votes)| scheme != "shoup-rsa" || *mode == KEEPS || votes.is_empty());
    let whole = std::env::var("FOLKMOOT_MATRIX").is_ok_and(|text| text == "all");
    for (mode, threshold) in all.filter(|cell| whole || *cell == usual) {
        let begun = Instant::now();
        let name = format!("mx-{scheme}-{}{}", mode.1, threshold.len());
        Cell::found(&name, scheme, mode, threshold).play();
        let votes = if threshold.is_empty() { "fixed" } else { "ratio" };
        let (mode, dealer) = (if mode.0 { "centralised" } else { "decentralised" }, mode.1);
        println!("{scheme} {mode} {dealer} {votes}: admit, refuse, renew, expel, {:?}", begun.elapsed());
    }
}

#[test]
fn plain() {
    run("plain", (SIGNS, RATIO));
}

#[test]
fn asm() {
    run("asm", (SIGNS, FIXED));
}

#[test]
fn ts_dsa() {
    run("ts-dsa", (KEEPS, RATIO));
}

#[test]
fn frost() {
    run("frost", (ONCE, FIXED));
}

#[test]
fn shoup_rsa() {
    run("shoup-rsa", (KEEPS, FIXED));
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
    let wrong: [(&[&str], &[&str], &str); 6] = [
        (&["--scheme", "ts-rsa"], &[], "for study only"),
        (&["--scheme", "ts-rsa"], &central, "for study only"),
        (&["--scheme", "shoup-rsa"], &[], "only a dealer"),
        (&["--scheme", "frost"], &central, "dealer"),
        (&["--scheme", "asm", "--policy", "list", "--list", &founder], &central, "somebody has to sign"),
        (&["--scheme", "asm", "--below-threshold", "authority"], &central, "must have seen the request"),
    ];
    for (scheme, mode, why) in wrong {
        let refused = call(&anna.state, &[&line[..], scheme, mode].concat());
        assert_eq!(code(&refused), 2, "{scheme:?} {mode:?}");
        assert!(complaint(&refused).contains(why), "{scheme:?} {mode:?}: {}", complaint(&refused));
    }
}
