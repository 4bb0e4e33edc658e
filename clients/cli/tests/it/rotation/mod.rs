//! A member gets another key, as processes: what it was before knows nothing any more, whoever was
//! away learns of it, and what was proved stays proved.
//!
//! ```text
//! anna, ben, cleo, dora; cleo is away     anna rotates: anna, ben and dora approve, a quorum of four
//! old anna    a copy of her folder        links to nobody, votes on nothing, gets no key
//! cleo        comes back                  learns of it, also if old anna is the first whom it meets
//! ```
//! In groups whose key, or whose authority, signs certificates: [`signed`].

mod signed;

use crate::at_rest::{locked, phrase};
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, complaint, good};
use std::path::{Path, PathBuf};
use std::time::Duration;

const NAMES: [&str; 4] = ["anna", "ben", "cleo", "dora"];

fn copied(from: &Path, to: PathBuf) -> PathBuf {
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "lock" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    to
}

/// The state of the member with this id, as another sees it.
fn state_of(who: &Actor, id: &str) -> String {
    let status = who.good(&["status"]);
    let people = status["people"].as_array().unwrap();
    let one = people.iter().find(|one| one["member"] == id);
    one.map_or_else(|| "unknown".to_owned(), |one| one["state"].as_str().unwrap().to_owned())
}

fn until_state(who: &Actor, id: &str, wanted: &str) {
    let of = |told: &serde_json::Value| {
        let people = told["people"].as_array().cloned().unwrap_or_default();
        people.iter().any(|one| one["member"] == id && one["state"] == wanted)
    };
    who.until(&["status"], of);
}

/// `ID-89`: her name means her present key and has no mark, and both say what became of the other.
fn is_told(by: &Actor, name: &str, old: &str, new: &str) {
    let told = by.why(name, "present");
    assert_eq!((&told["member"], &told["alike"]), (&new.into(), &false.into()), "{told}");
    assert_eq!(told["former_keys"][0]["member"], old);
    assert!(told["why"].as_str().unwrap().contains(&old[..8]), "{told}");
    let former = by.why(&old[..12], "replaced");
    assert_eq!(former["by"], new);
    assert_eq!(former["name"], format!("{name}≈{} (former key)", &old[..8]));
    let roster = by.good(&["roster"]);
    assert!(roster.as_array().unwrap().iter().all(|one| one["member"] != old), "{roster}");
}

struct Cast {
    place: Place,
    all: Vec<Actor>,
    file: String,
}

impl Cast {
    /// Four founders; anna's key is under a passphrase.
    fn new(name: &str) -> Self {
        let place = Place::new(name);
        let file = phrase(&place, "correct horse");
        let mut all: Vec<Actor> = NAMES.iter().skip(1).map(|name| Actor::new(&place, name)).collect();
        let anna = locked(&place, "anna", "correct horse");
        let id = good(&anna, &["identity", "show"])["member"].as_str().unwrap().to_owned();
        all.insert(0, Actor::of(anna, &id));
        let text = place.path().join("charter.toml").display().to_string();
        // Anna last: where exactly half agree, the first one listed decides.
        let mut files: Vec<String> =
            all.iter().map(|one| one.state.join("identity.pem").display().to_string()).collect();
        files.rotate_left(1);
        let mut line = vec!["charter", "new", "test", "--votes", "2", "--out", &text];
        line.extend(files.iter().flat_map(|file| ["--founder", file.as_str()]));
        all[1].good(&line);
        let silence = Times::SHORT.silence_ms;
        let draft = std::fs::read_to_string(&text).unwrap();
        std::fs::write(&text, format!("{draft}\n[timeouts]\nsilence_ms = {silence}\n")).unwrap();
        for one in &all {
            one.good(&["charter", "sign", &text, "--passphrase-file", &file]);
        }
        let mut cast = Self { place, all, file };
        for who in 0..4 {
            cast.start(who);
        }
        for name in NAMES {
            cast.all[1].why(name, "present");
        }
        cast
    }

    fn start(&mut self, who: usize) {
        let at: Vec<String> = self.all.iter().map(|one| one.locator.clone()).collect();
        let at: Vec<String> = at.into_iter().filter(|at| !at.is_empty()).collect();
        self.all[who].start(&self.place, &at, &["--passphrase-file", &self.file]);
    }

    fn rotate(&self) -> serde_json::Value {
        self.all[0].good(&["identity", "rotate", "--passphrase-file", &self.file])
    }
}

#[test]
fn id_86_a_rotated_key_is_refused_everywhere_and_whoever_was_away_learns_it() {
    let mut cast = Cast::new("rotated");
    // What anna has signed before stays hers.
    cast.all[0].good(&["send", "--sign", "I owe Ben ten crowns", "--timeout", "30"]);
    let proof = cast.place.path().join("message.cms").display().to_string();
    cast.all[1].until(&["proof", "--out", &proof], |told| !told.is_null());
    let stolen = copied(&cast.all[0].state, cast.place.path().join("stolen"));
    cast.all[2].kill();
    let told = cast.rotate();
    let (old, new) = (told["member"].as_str().unwrap().to_owned(), told["new"].as_str().unwrap().to_owned());
    assert_eq!(old, cast.all[0].id);
    // Said again, it is the same proposal.
    assert_eq!(cast.rotate()["new"], new.as_str());
    // Not decided, it is not taken into use.
    cast.all[0].kill();
    let early = cast.all[0].run(&["identity", "rotate"]);
    assert!(code(&early) == 1 && complaint(&early).contains("not decided"), "{}", complaint(&early));
    cast.start(0);
    // While it is open, two keys are called anna: only digits say which is meant.
    until_state(&cast.all[1], &old, "present");
    for voter in [3, 1] {
        let open = cast.all[voter].until(&["vote", "list"], |told| told[0]["subject"].is_string());
        let subject = open[0]["subject"].as_str().unwrap();
        cast.all[voter].until(&["vote", "approve", subject], |told| !told.is_null());
    }
    until_state(&cast.all[1], &old, "replaced");
    cast.all[0].kill();
    // Stopped in the middle: its certificate is the new key's already. The command goes on.
    let own = cast.all[0].state.join("identity.pem");
    std::fs::copy(cast.all[0].state.join("next/identity.pem"), own).unwrap();
    let taken = cast.all[0].good(&["identity", "rotate"]);
    assert_eq!(taken["member"], new.as_str());
    assert!(!cast.all[0].state.join("next").exists());
    let shown = cast.all[0].good(&["identity", "show"]);
    assert_eq!((&shown["member"], &shown["encrypted"]), (&new.as_str().into(), &true.into()));
    cast.start(0);
    until_state(&cast.all[1], &new, "present");
    cast.all[0].good(&["send", "it is me", "--timeout", "30"]);
    is_told(&cast.all[1], "anna", &old, &new);

    // Whoever has the old key is nobody: not to those who decided, nor to cleo, whom it meets first.
    let mut liar = Actor::of(stolen, &old);
    let at: Vec<String> = [1, 3].map(|who| cast.all[who].locator.clone()).to_vec();
    liar.start(&cast.place, &at, &["--passphrase-file", &cast.file]);
    cast.all[2].start(&cast.place, core::slice::from_ref(&liar.locator), &[]);
    until_state(&cast.all[2], &old, "replaced");
    until_state(&cast.all[2], &new, "present");
    liar.run(&["expel", "ben"]);
    liar.run(&["send", "do not believe her", "--timeout", "3"]);
    std::thread::sleep(Duration::from_secs(3));
    for who in [0, 1, 2, 3] {
        assert_eq!(state_of(&cast.all[who], &old), "replaced");
        let open = cast.all[who].good(&["vote", "list"]);
        assert!(!open.to_string().contains("expel"), "{open}");
        let members = cast.all[who].ask(&serde_json::json!({ "op": "view" }));
        let members = members["members"].as_array().unwrap().clone();
        assert!(members.len() == 4 && !members.contains(&old.as_str().into()), "{members:?}");
    }
    liar.kill();

    // The new key votes: without its yes there is no quorum.
    cast.all[3].good(&["charter", "change", "request_hours", "24"]);
    for voter in [0, 2] {
        let subject = ["vote", "approve", "set", "request_hours", "=", "24"];
        cast.all[voter].until(&subject, |told| !told.is_null());
    }
    cast.all[2].until(&["vote", "list"], |told| told.as_array().is_some_and(Vec::is_empty));

    cast.all[1].kill();
    let evidence = cast.place.path().join("evidence").display().to_string();
    cast.all[1].good(&["export", &evidence]);
    let (charter, transcript) =
        (cast.place.signed().display().to_string(), format!("{evidence}/transcript.moot"));
    let verified = cast.all[3].run(&["verify", &proof, "--charter", &charter, "--transcript", &transcript]);
    assert!(verified.status.success(), "{}", complaint(&verified));
    let told = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(told.contains("a former key of a member"), "{told}");
    let judged = cast.all[3].run(&["verify", &charter, &transcript]);
    assert!(judged.status.success(), "{}", complaint(&judged));
}
