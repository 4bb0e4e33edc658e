//! The other side of a split that short datagrams still cross: links stay up, and no ring holds across it.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};

/// A ping of a link fits, nothing of the ring does.
const LONGEST: &str = "64";

#[test]
fn who_answers_from_another_ring_is_on_the_other_side() {
    let place = Place::new("split");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let known = [anna.locator.clone()];
    ben.start(&place, &known, &[]);
    cleo.start(&place, &known, &[]);
    anna.why("cleo", "present");
    cleo.why("ben", "present");

    cleo.good(&["fault", "--longest", LONGEST]);
    for one in [&anna, &ben] {
        let told = one.why("cleo", "other-side");
        assert!(told["why"].as_str().unwrap().contains("another ring"), "{told}");
        assert_eq!(told["locator"], cleo.locator.as_str(), "it answers there");
    }
    cleo.why("anna", "other-side");
    cleo.why("ben", "other-side");
    anna.why("ben", "present");
    let alone = |told: &serde_json::Value| told["activity"] == "steady" && told["view"].is_string();
    cleo.until(&["status"], alone);

    cleo.heal();
    anna.why("cleo", "present");
    cleo.why("ben", "present");
}
