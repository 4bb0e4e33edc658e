//! The other side of a split that some datagrams still cross: links stay up, and no ring holds
//! across it.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use serde_json::Value;

/// A ping of a link fits, nothing of the ring does.
const LONGEST: &str = "64";

/// Three founders who share a view.
fn three(place: &Place, times: Times) -> [Actor; 3] {
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), times);
    anna.start(place, &[], &[]);
    let known = [anna.locator.clone()];
    ben.start(place, &known, &[]);
    cleo.start(place, &known, &[]);
    anna.why("cleo", "present");
    cleo.why("ben", "present");
    [anna, ben, cleo]
}

#[test]
fn who_answers_from_another_ring_is_on_the_other_side() {
    let place = Place::new("split");
    let [anna, ben, cleo] = three(&place, Times::PATIENT);
    cleo.good(&["fault", "--longest", LONGEST]);
    for one in [&anna, &ben] {
        let told = one.why("cleo", "other-side");
        assert!(told["why"].as_str().unwrap().contains("another ring"), "{told}");
        assert_eq!(told["locator"], cleo.locator.as_str(), "it answers there");
    }
    cleo.why("anna", "other-side");
    cleo.why("ben", "other-side");
    anna.why("ben", "present");
    let alone = |told: &Value| told["activity"] == "steady" && told["view"].is_string();
    cleo.until(&["status"], alone);

    cleo.heal();
    anna.why("cleo", "present");
    cleo.why("ben", "present");
}

/// The cable between Anna and Cleo is cut, and Ben hears both: he is on a ring with one of them.
#[test]
fn who_hears_both_sides_sees_one_of_them_as_the_other() {
    let place = Place::new("between");
    // Longer than a busy machine makes anybody silent: who was left out stays the same one.
    let [anna, ben, cleo] = three(&place, Times { silence_ms: 3_000, ..Times::SHORT });
    anna.cut(&[&cleo]);
    cleo.cut(&[&anna]);
    let state = |people: &Value, name: &str| -> String {
        let one = people["people"].as_array().unwrap().iter().find(|one| one["name"] == name).cloned();
        one.unwrap()["state"].as_str().unwrap().to_owned()
    };
    let seen = ben.until(&["status"], |status| {
        let mut both = [state(status, "anna"), state(status, "cleo")];
        both.sort();
        both == ["other-side", "present"]
    });
    let (with, without) = if state(&seen, "anna") == "present" { (&anna, &cleo) } else { (&cleo, &anna) };
    without.why("ben", "other-side");
    with.why("ben", "present");
    anna.why("cleo", "silent");
    cleo.why("anna", "silent");
    anna.heal();
    cleo.heal();
    anna.why("cleo", "present");
    cleo.why("ben", "present");
}
