//! A folder is copied and runs twice: the process that started later goes on, the earlier one ends
//! and says why, and the others are told.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use std::path::Path;

/// All files of a folder that runs, but not its socket.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "log" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn a_copied_folder_that_runs_twice_stops_the_earlier_process_with_the_reason() {
    let place = Place::new("twice");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let known = [anna.locator.clone()];
    ben.start(&place, &known, &[]);
    cleo.start(&place, &known, &[]);
    ["anna", "ben", "cleo"].iter().for_each(|name| drop(ben.why(name, "present")));

    let elsewhere = place.path().join("copy-of-cleo");
    copy(&cleo.state, &elsewhere);
    let mut second = Actor::of(elsewhere, &cleo.id);
    second.start(&place, &[], &[]);
    assert_eq!(cleo.ends(), 3);
    for words in [
        "another process with this identity was started later (at 20",
        "so this one has stopped: an identity may run only once",
        "start it again",
    ] {
        assert!(cleo.said(words), "{words}");
    }
    for name in ["anna", "ben", "cleo"] {
        second.why(name, "present");
        anna.why(name, "present");
    }
    let named = |told: &serde_json::Value| told["why"].as_str().unwrap_or_default().contains("it runs twice");
    for one in [&anna, &ben] {
        let told = one.until(&["why", "cleo"], named);
        assert!(told["why"].as_str().unwrap().contains(&cleo.locator), "{told}");
    }
    second.good(&["send", "said by the later one"]);

    // Whoever starts the first again means it.
    cleo.kill();
    cleo.start(&place, &[], &[]);
    assert_eq!(second.ends(), 3);
    anna.why("cleo", "present");
    cleo.why("anna", "present");
}
