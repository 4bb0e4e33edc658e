//! A voter whose clock is behind does not see a request that has not begun by it. It is told why,
//! where it looks for what to vote on.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code};

const FIVE_MINUTES: &str = "300";

#[test]
fn whose_clock_is_behind_is_told_so_where_it_votes() {
    let place = Place::new("clock-behind");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    let founders = [&anna, &ben, &cleo].map(|one| one.state.as_path());
    place.found(&founders, Times::PATIENT);
    anna.start(&place, &[], &[]);
    let ahead = ["--clock-ahead", FIVE_MINUTES];
    for one in [&mut ben, &mut cleo] {
        one.start(&place, core::slice::from_ref(&anna.locator), &ahead);
    }
    anna.why("ben", "present");
    anna.why("cleo", "present");
    let mut dora = Actor::new(&place, "dora");
    dora.start(&place, core::slice::from_ref(&ben.locator), &["--apply", "--clock-ahead", FIVE_MINUTES]);
    ben.until(&["vote", "list"], |open| open.as_array().is_some_and(|open| open.len() == 1));
    anna.until(&["status"], |status| status["clocks"].as_array().is_some_and(|clocks| !clocks.is_empty()));
    let said = |output: std::process::Output| String::from_utf8(output.stderr).unwrap();
    let list = call(&anna.state, &["vote", "list"]);
    assert_eq!((code(&list), list.stdout.as_slice()), (0, &b"[]\n"[..]), "it has not begun here");
    let list = said(list);
    assert!(list.contains("this clock was 5 minutes behind that of"), "{list}");
    let vote = said(call(&anna.state, &["vote", "approve", "dora"]));
    assert!(vote.contains("no open request") && vote.contains("5 minutes behind"), "{vote}");
    let doctor = call(&anna.state, &["doctor"]);
    assert_eq!(code(&doctor), 1);
    assert!(String::from_utf8(doctor.stdout).unwrap().contains("5 minutes behind"));
    assert!(!said(call(&ben.state, &["vote", "list"])).contains("behind"), "its own is right");
}
