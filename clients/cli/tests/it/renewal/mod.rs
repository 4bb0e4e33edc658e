//! A member that was voted in asks for a new certificate, is given one, and goes on talking all the
//! while.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use std::collections::BTreeSet;

/// The serial numbers of the certificates of this name that a member exports.
fn certificates(place: &Place, who: &Actor, name: &str) -> BTreeSet<String> {
    let folder = place.path().join("evidence");
    let _ = std::fs::remove_dir_all(&folder);
    who.good(&["export", &folder.display().to_string()]);
    let files = std::fs::read_dir(folder.join("certificates")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter(|file| file.starts_with(name) && file.ends_with(".pem")).collect()
}

fn renews(scheme: &str) {
    let place = Place::new(&format!("renewal-{scheme}"));
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    let founders = [&anna, &ben].map(|one| one.state.as_path());
    place.found_with(&founders, Times::PATIENT, &["--scheme", scheme]);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let mut dora = Actor::new(&place, "dora");
    dora.start(&place, &[anna.locator.clone(), ben.locator.clone()], &["--apply"]);
    for voter in [&anna, &ben] {
        voter.until(&["vote", "approve", "dora"], |told| !told.is_null());
    }
    dora.why("anna", "present");
    assert!(!anna.run(&["renew"]).status.success(), "a founder's admission does not run out");

    let asked = dora.good(&["renew"]);
    let request = asked["request"].as_str().unwrap();
    for voter in [&anna, &ben] {
        voter.until(&["vote", "approve", &request[..12]], |told| !told.is_null());
    }
    for one in [&anna, &ben, &dora] {
        one.until(&["vote", "list"], |told| told.as_array().is_some_and(Vec::is_empty));
    }
    // She is who she was, and is heard.
    dora.good(&["send", "with a new certificate"]);
    ben.why("dora", "present");
    dora.kill();
    assert_eq!(certificates(&place, &dora, "dora").len(), 2, "{scheme}: one by admission, one anew");
    dora.start(&place, &[anna.locator.clone()], &[]);
    dora.why("anna", "present");
    ben.why("dora", "present");
}

#[test]
fn a_member_renews_its_certificate_by_votes() {
    renews("plain");
}

#[test]
fn a_member_renews_its_certificate_by_one_signature_of_the_voters() {
    renews("asm");
}

#[test]
fn a_member_renews_its_certificate_by_the_groups_key() {
    renews("frost");
}
