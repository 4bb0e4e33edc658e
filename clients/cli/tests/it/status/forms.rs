//! Two who run on two charters of the same people, one of them with hybrid links: each is told what
//! the other asks for.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint, good};
use serde_json::json;

#[test]
fn why_tells_who_links_by_the_other_form() {
    let (place, other) = (Place::new("forms"), Place::new("forms-other"));
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    let founders = [anna.state.clone(), ben.state.clone()];
    let founders = [founders[0].as_path(), founders[1].as_path()];
    place.found_with(&founders, Times::PATIENT, &["--hybrid-links"]);
    other.found(&founders, Times::PATIENT);
    let shown = |place: &Place| {
        let shown = good(&anna.state, &["charter", "show", place.signed().to_str().unwrap()]);
        shown["charter"].as_str().unwrap().contains("hybrid_links = true")
    };
    assert!(shown(&place) && !shown(&other));

    anna.start(&place, &[], &[]);
    ben.start(&other, &[anna.locator.clone()], &[]);
    let asks = |told: &serde_json::Value, words: &str, at: &str| {
        let why = told["why"].as_str().unwrap_or_default();
        told["state"] == "never-seen"
            && why.contains(&format!("the node at {at} says that it {words} ML-KEM-768 links"))
    };
    ben.until(&["why", "anna"], |told| asks(told, "asks for", &anna.locator));
    anna.ask(&json!({ "op": "dial", "at": ben.locator }));
    anna.until(&["why", "ben"], |told| asks(told, "lacks", &ben.locator));
    let status = anna.good(&["status"]);
    assert_eq!(status["refusals"][0]["locator"], ben.locator.as_str());

    let refused = anna.run(&["charter", "change", "hybrid_links", "false"]);
    assert_eq!(code(&refused), 5);
    assert!(complaint(&refused).contains("fixed when the group is founded"), "{}", complaint(&refused));
}
