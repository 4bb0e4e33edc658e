//! Commands that need nobody else: the demo, and the manual pages.

use super::stage::{Note, Running, Stage};
use serde_json::Value;

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("alone");
    stage.note("anna", "the pages of all commands", "man --out pages");
    stage.note("anna", "no identity", "doctor");
    stage.note("anna", "no identity", "identity show");
    let demo = demo(&stage);
    stage.note_events("demo", &[("20 messages each", &demo)], &[]);
    let checks = demo.said().into_iter().filter(|event| event["event"] == "check");
    let checks = checks.map(|event| event["check"].as_str().unwrap().to_owned()).collect();
    stage.note_list("demo", "what is checked", checks);
    stage.notes()
}

/// The whole demo. It cuts and crashes, and waits for that by the clock: where the machine was too
/// busy for it, it is given once more. Whether it holds is for other tests.
fn demo(stage: &Stage) -> Running {
    let mut demo = stage.start("anna", "demo --messages 20");
    demo.ends();
    let failed: Vec<Value> = demo.said().into_iter().filter(|event| event["ok"] == false).collect();
    if !failed.is_empty() {
        eprintln!("the demo is given once more: {failed:#?}");
        demo = stage.start("anna", "demo --messages 20");
        demo.ends();
    }
    demo
}
