//! Clocks that are ahead, or were once, and the times of decisions; real processes on loopback.
//!
//! ```text
//! once       a member whose clock was ahead ends somebody's term alone, and is back when it is right
//! waits      a decision three days ahead of somebody's clock is shown, applied by its person, taken back
//! skips      a member that is behind is told what others show, and skips by its person
//! alone      a single voter takes back what it decided by a wrong clock
//! behind     a voter whose clock is behind is told so where it looks for what to vote on
//! asked      a single voter is shown the date before anything is decided by a clock that is far ahead
//! ```

mod behind;

use crate::common::actor::Actor;
use crate::common::program::{code, complaint};
use crate::takeover::stage::{Cast, agree, decided, head};
use serde_json::{Value, json};

const FOUNDERS: [&str; 3] = ["anna", "ben", "cleo"];
/// Longer than a certificate lasts by the charter of these tests.
const YEARS: &str = "63072000";
const THREE_DAYS: &str = "259200";
const FORTY_FIVE_DAYS: &str = "3888000";

fn restart(cast: &mut Cast, name: &str, more: &[&str]) {
    cast.kill(name);
    cast.start(name, more);
}

/// A command that is refused without a terminal, and says what it would ask.
fn asks(who: &Actor, line: &[&str], parts: &[&str]) {
    let output = who.run(line);
    let said = complaint(&output);
    assert_eq!(code(&output), 2, "{said}");
    for part in parts.iter().chain(&["add --yes"]) {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn whose_clock_was_once_ahead_is_with_the_others_again() {
    let mut cast = Cast::founded("clock-once", &FOUNDERS, &[]);
    cast.admit("dora", &["anna", "ben"]);
    cast.who("cleo").why("dora", "present");
    restart(&mut cast, "cleo", &["--clock-ahead", YEARS]);
    cast.who("cleo").why("dora", "late");
    // Nobody else believes that.
    cast.who("anna").why("dora", "present");
    restart(&mut cast, "cleo", &[]);
    cast.who("cleo").why("dora", "present");
    for name in ["anna", "ben", "dora"] {
        cast.who(name).why("cleo", "present");
    }
    cast.who("cleo").good(&["send", "here I am", "--timeout", "30"]);
}

#[test]
fn a_decision_far_ahead_of_the_clock_waits_for_a_person_and_is_taken_back() {
    let mut cast = Cast::founded("clock-waits", &FOUNDERS, &[]);
    ["anna", "ben"].into_iter().for_each(|name| restart(&mut cast, name, &["--clock-ahead", THREE_DAYS]));
    for name in ["anna", "ben"] {
        cast.who(name).why("cleo", "present");
    }
    cast.decide(&["charter", "change", "certificate_days", "40"], &["anna", "ben"], &["anna", "ben"]);
    let cleo = cast.who("cleo");
    let waits = |status: &Value| status["waiting_decisions"].as_array().is_some_and(|all| all.len() == 1);
    let status = cleo.until(&["status"], waits);
    let one = &status["waiting_decisions"][0];
    assert_eq!((&status["decided"], &one["head"]), (&json!(0), &json!(head(cast.who("anna")))), "{status}");
    assert!(one["committed_by"].as_array().unwrap().contains(&json!("anna")), "{one}");
    let checks: Vec<Value> = serde_json::from_slice(&cleo.run(&["doctor"]).stdout).unwrap();
    let times = checks.iter().find(|one| one["check"] == "time of the decisions").unwrap();
    assert_eq!(times["ok"], false, "{times}");
    let refused = cleo.run(&["retime", "--yes"]);
    assert_eq!(code(&refused), 5, "{}", complaint(&refused));

    let named = one["head"].as_str().unwrap();
    asks(cleo, &["resolve", named], &["anna", "committed to it", "this machine's clock shows"]);
    let told = cleo.good(&["resolve", named, "--yes"]);
    assert_eq!(told["head"], one["head"], "{told}");
    let status = cleo.good(&["status"]);
    assert_eq!((&status["decided"], &status["line"]["behind_line"]), (&json!(1), &json!(true)), "{status}");

    ["anna", "ben"].into_iter().for_each(|name| restart(&mut cast, name, &[]));
    let cleo = cast.who("cleo");
    cleo.why("anna", "present");
    asks(cleo, &["retime"], &["days ahead of this machine's clock", "committed to it"]);
    cleo.good(&["retime", "--yes"]);
    let back =
        |one: &Value| one["name"].as_str().is_some_and(|name| name.contains("back to the voters' clocks"));
    agree(cast.who("anna"), back);
    for name in FOUNDERS {
        let right = |status: &Value| status["decided"] == 2 && status["line"]["behind_line"] == false;
        cast.who(name).until(&["status"], right);
    }
}

#[test]
fn a_single_voter_takes_back_what_it_decided_by_a_wrong_clock() {
    let mut cast = Cast::founded("clock-alone", &["anna"], &["--votes", "1"]);
    restart(&mut cast, "anna", &["--clock-ahead", THREE_DAYS]);
    cast.decide(&["charter", "change", "certificate_days", "40"], &["anna"], &["anna"]);
    restart(&mut cast, "anna", &[]);
    let anna = cast.who("anna");
    anna.until(&["status"], |status| status["line"]["behind_line"] == true);
    asks(anna, &["retime"], &["days ahead"]);
    anna.good(&["retime", "--yes"]);
    anna.until(&["status"], |status| status["decided"] == 2 && status["line"]["behind_line"] == false);
    let again = anna.run(&["retime", "--yes"]);
    assert_eq!(code(&again), 5, "{}", complaint(&again));
    assert!(complaint(&again).contains("not ahead of this clock"), "{}", complaint(&again));
}

fn says_date(status: &Value) -> bool {
    status["line"]["asks_date"] == true
}

/// The clock of the only voter is ahead by mistake, and is put right; and 45 days really pass.
#[test]
fn a_single_voter_is_shown_the_date_before_a_clock_far_ahead_decides() {
    let mut cast = Cast::founded("clock-asked", &["anna"], &["--votes", "1"]);
    cast.admit("dora", &["anna"]);
    cast.decide(&["charter", "change", "certificate_days", "40"], &["anna"], &["anna"]);
    restart(&mut cast, "anna", &["--clock-ahead", FORTY_FIVE_DAYS]);
    let anna = cast.who("anna");
    anna.why("dora", "present");
    let output = anna.run(&["charter", "change", "request_hours", "24"]);
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&output), 0, "{warned}");
    let named = head(anna);
    for part in ["warning: the next decision waits for you", "45 days after the last decision", &named] {
        assert!(warned.contains(part), "{part}: {warned}");
    }
    anna.until(&["status"], says_date);
    let checks: Vec<Value> = serde_json::from_slice(&anna.run(&["doctor"]).stdout).unwrap();
    let times = checks.iter().find(|one| one["check"] == "time of the decisions").unwrap();
    assert_eq!(times["ok"], false, "{times}");
    asks(anna, &["resolve", &named], &["45 days after", "alone is a quorum", "Compare the date"]);
    assert_eq!(decided(anna), 1);

    restart(&mut cast, "anna", &[]);
    let anna = cast.who("anna");
    let status = anna.until(&["status"], |status| status["decided"] == 2);
    assert_eq!(status["line"]["asks_date"], Value::Null, "{status}");
    anna.why("dora", "present");

    restart(&mut cast, "anna", &["--clock-ahead", FORTY_FIVE_DAYS]);
    let anna = cast.who("anna");
    anna.until(&["charter", "change", "request_hours", "48"], |told| !told.is_null());
    anna.until(&["status"], says_date);
    let named = head(anna);
    assert_eq!(anna.good(&["resolve", &named, "--yes"])["theirs"], named);
    anna.until(&["status"], |status| status["decided"] == 3);
}

/// Longer than decisions are kept, and less than that, in seconds.
const OVER_90_DAYS: &str = "7819200";
const UNDER_90_DAYS: &str = "7767360";

/// Cleo was away, and nobody has the decisions one by one any more: her program says so, and skips
/// them only when she says so.
#[test]
fn whoever_is_behind_skips_by_its_person_and_is_told() {
    let mut cast = Cast::founded("clock-skips", &FOUNDERS, &[]);
    cast.who("cleo").why("anna", "present");
    cast.kill("cleo");
    for days in ["40", "50"] {
        cast.decide(&["charter", "change", "certificate_days", days], &["anna", "ben"], &["anna", "ben"]);
    }
    ["anna", "ben"].into_iter().for_each(|name| restart(&mut cast, name, &["--clock-ahead", OVER_90_DAYS]));
    cast.who("anna").why("ben", "present");
    cast.decide(&["charter", "change", "certificate_days", "60"], &["anna", "ben"], &["anna", "ben"]);
    cast.start("cleo", &["--clock-ahead", UNDER_90_DAYS]);
    let (cleo, last) = (cast.who("cleo"), head(cast.who("anna")));
    let status = cleo.until(&["status"], |status| status["offered"]["head"] == json!(last));
    assert_eq!((&status["decided"], &status["skipped"]), (&json!(0), &Value::Null), "{status}");
    let why: Value = serde_json::from_slice(&cleo.run(&["why", "anna"]).stdout).unwrap();
    let command = format!("folkmoot resolve {last}");
    assert!(why["why"].as_str().unwrap().contains(&command), "{why}");
    let checks: Vec<Value> = serde_json::from_slice(&cleo.run(&["doctor"]).stdout).unwrap();
    let times = checks.iter().find(|one| one["check"] == "time of the decisions").unwrap();
    assert!(times["ok"] == false && times["detail"].as_str().unwrap().contains(&command), "{times}");

    asks(cleo, &["resolve", &last], &["committed to by", "anna", "First compare"]);
    let told = cleo.good(&["resolve", &last, "--yes"]);
    assert_eq!(told["head"], json!(last), "{told}");
    cleo.why("anna", "present");
    restart(&mut cast, "cleo", &["--clock-ahead", UNDER_90_DAYS]);
    let status = cast.who("cleo").good(&["status"]);
    let skipped = (&status["skipped"]["first"], &status["skipped"]["last"]);
    assert_eq!((skipped, &status["offered"]), ((&json!(1), &json!(3)), &Value::Null), "{status}");
    cast.who("anna").why("cleo", "present");
}
