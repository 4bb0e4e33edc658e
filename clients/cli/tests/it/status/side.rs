//! A side of a split that may not send says so: in its views, in `status`, in `doctor`, and when it
//! is asked to send. The other side says that it is whole.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::code;
use serde_json::{Value, json};

#[test]
fn a_minority_that_may_not_send_says_so_everywhere() {
    let place = Place::new("side");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    let founders = [&anna, &ben, &cleo].map(|one| one.state.as_path());
    place.found_with(&founders, Times::PATIENT, &["--minority", "read-only"]);
    anna.start(&place, &[], &[]);
    for one in [&mut ben, &mut cleo] {
        one.start(&place, core::slice::from_ref(&anna.locator), &[]);
    }
    let side = |whole, may_send, voters| json!({ "whole": whole, "may_send": may_send, "may_admit": true, "voters": voters, "of_voters": 3 });
    for one in [&anna, &ben, &cleo] {
        one.until(&["status"], |status| status["side"] == side(true, true, 3));
    }
    anna.cut(&[&ben, &cleo]);
    ben.cut(&[&anna]);
    cleo.cut(&[&anna]);
    let told = anna.until(&["status"], |status| status["side"] == side(false, false, 1));
    assert_eq!(told["groups"][0]["side"], told["side"]);
    ben.until(&["status"], |status| status["side"] == side(true, true, 2));

    let words =
        "this side is a minority, 1 of 3 voters, which are no quorum: the charter does not let it send";
    let mut plain = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    let plain = plain.arg("--state").arg(&anna.state).arg("status").env("NO_COLOR", "1").output().unwrap();
    let people = String::from_utf8(plain.stdout).unwrap();
    assert!(people.contains(words), "{people}");
    let checks = |one: &Actor| {
        let output = one.run(&["doctor"]);
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        all.as_array().unwrap().iter().find(|check| check["check"] == "quorum").unwrap().clone()
    };
    assert_eq!(checks(&anna)["ok"], false);
    assert!(checks(&anna)["detail"].as_str().unwrap().starts_with(words), "{}", checks(&anna));
    assert_eq!(checks(&ben)["ok"], true);
    let output = anna.run(&["send", "hello"]);
    let why: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(
        (code(&output), &why["code"], &why["fault"]),
        (5, &json!("minority"), &json!("group")),
        "{why}"
    );
    assert_eq!(code(&ben.run(&["send", "hello"])), 0);

    for one in [&anna, &ben, &cleo] {
        one.heal();
    }
    anna.until(&["status"], |status| status["side"] == side(true, true, 3));
    assert_eq!(code(&anna.run(&["send", "hello"])), 0);
}
