//! A message with a signature is proven to somebody who holds nothing but the charter; one without
//! cannot be.
//!
//! ```text
//! anna signs      ben saves the proof      a third party verifies it: yes; with any byte changed: no
//! anna does not   ben can save a record    which verifies as nothing
//! dora, voted in, signs, and is expelled   by the charter alone: admitted; by the transcript: expelled since
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// Somebody outside, with a copy of the charter and of a file.
struct Judge<'a>(&'a Place);

impl Judge<'_> {
    fn verify(&self, file: &Path, more: &[&str]) -> Output {
        let (file, charter) = (file.display().to_string(), self.0.signed().display().to_string());
        let line: Vec<&str> = ["verify", &file, "--charter", &charter].iter().chain(more).copied().collect();
        call(&self.0.path().join("nobody"), &line)
    }

    fn yes(&self, file: &Path, more: &[&str]) -> Value {
        let output = self.verify(file, more);
        assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The whole transcript, with a head that another member tells: who was expelled is no member by
    /// it.
    fn history(&self, file: &Path, exported: &Value, known: &str, expelled: &str) {
        let (file, charter) = (file.display().to_string(), self.0.signed().display().to_string());
        let output = call(&self.0.path().join("nobody"), &["verify", &charter, &file, "--head", known]);
        assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&found["stands"], &found["head"]), (&json!(true), exported));
        assert!(found["number"].as_u64().unwrap() > 0, "{found}");
        let members = found["members"].as_array().unwrap();
        assert!(members.len() == 2 && members.iter().all(|one| one["member"] != expelled), "{found}");
        assert_eq!((&found["not_held"], &found["forks"]), (&json!([]), &json!([])), "{found}");
    }

    /// Refused with exit code 1; the reason.
    fn no(&self, file: &Path) -> String {
        let output = self.verify(file, &[]);
        assert_eq!(code(&output), 1, "{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.stdout.is_empty());
        complaint(&output)
    }
}

/// Sends through one, and saves at the other what it kept of it.
pub(crate) fn passed_on(
    place: &Place,
    from: &Actor,
    to: &Actor,
    text: &str,
    more: &[&str],
) -> (PathBuf, Value) {
    let line: Vec<&str> = ["send", text].iter().chain(more).copied().collect();
    from.good(&line);
    let signed = !more.is_empty();
    let out = place.path().join(format!("{}.cms", text.replace(' ', "-")));
    let path = out.display().to_string();
    let begun = Instant::now();
    for number in (1..=9_u32).cycle() {
        let number = number.to_string();
        let line = ["proof", &number, "--out", &path, "--unsigned"];
        let output = to.run(&line);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let bytes = std::fs::read(&out).unwrap_or_default();
        let found = bytes.windows(text.len()).any(|part| part == text.as_bytes());
        if code(&output) == 0 && found {
            assert_eq!(told["signed"], signed, "{told}");
            return (out, told);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", String::from_utf8_lossy(&output.stderr));
        std::thread::sleep(Duration::from_millis(20));
    }
    unreachable!()
}

#[test]
fn a_signed_message_is_proven_to_a_third_party_and_one_without_is_not() {
    let place = Place::new("proof");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let judge = Judge(&place);

    let (file, _) = passed_on(&place, &anna, &ben, "I owe Ben ten crowns", &["--sign"]);
    let told = judge.yes(&file, &[]);
    assert_eq!(
        (&told["text"], &told["signed_by"], &told["standing"]),
        (&json!("I owe Ben ten crowns"), &json!("anna"), &json!("a founder"))
    );
    assert_eq!(told["member"], anna.id.as_str());
    every_changed_byte_is_refused(&place, &judge, &file);

    let (record, _) = passed_on(&place, &anna, &ben, "not in writing", &[]);
    let reason = judge.no(&record);
    assert!(reason.contains("not signed") && reason.contains("every member of its view"), "{reason}");
    let elsewhere = place.path().join("tried.cms").display().to_string();
    let prove = |number: &&str| ben.run(&["proof", number, "--out", &elsewhere]);
    let refused = ["1", "2", "3"].iter().map(prove).find(|output| code(output) == 1).unwrap();
    assert!(complaint(&refused).contains("not signed"), "{}", complaint(&refused));

    let mut dora = Actor::new(&place, "dora");
    dora.start(&place, &[anna.locator.clone(), ben.locator.clone()], &["--apply"]);
    for voter in [&anna, &ben] {
        voter.until(&["vote", "approve", "dora"], |told| !told.is_null());
    }
    dora.why("anna", "present");
    let (file, _) = passed_on(&place, &dora, &ben, "I was here", &["--sign"]);
    assert_eq!(judge.yes(&file, &[])["standing"], "admitted by 2 of the founders");
    anna.good(&["expel", "dora"]);
    ben.until(&["vote", "approve", "expel", "dora"], |told| !told.is_null());
    ben.why("dora", "expelled");
    anna.why("dora", "expelled");
    let known = anna.good(&["status"])["head"].as_str().unwrap().to_owned();
    ben.until(&["status"], |told| told["head"] == known.as_str());
    ben.kill();
    let export = place.path().join("evidence");
    let exported = ben.good(&["export", &export.display().to_string()]);
    judge.history(&export.join("transcript.moot"), &exported["head"], &known, &dora.id);
    let transcript = export.join("transcript.moot").display().to_string();
    let told = judge.yes(&file, &["--transcript", &transcript]);
    assert_eq!(
        (&told["signed_by"], &told["standing"]),
        (&json!("dora"), &json!("a former member, expelled since"))
    );
}

/// Every byte in the decoder's own tests; here each seventh, and the end, through the program.
fn every_changed_byte_is_refused(place: &Place, judge: &Judge<'_>, file: &Path) {
    let good = std::fs::read(file).unwrap();
    let bad = place.path().join("bad.cms");
    for at in (0..good.len()).step_by(7) {
        let mut changed = good.clone();
        changed[at] ^= 0x20;
        std::fs::write(&bad, changed).unwrap();
        assert!(judge.no(&bad).contains("is not valid"), "byte {at}");
    }
    std::fs::write(&bad, &good[..good.len() - 1]).unwrap();
    judge.no(&bad);
    std::fs::write(&bad, [&good[..], &[0]].concat()).unwrap();
    judge.no(&bad);
}
