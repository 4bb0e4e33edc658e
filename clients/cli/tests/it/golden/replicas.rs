//! An authority of two processes, which share a log.

use super::stage::{Note, Running, Stage};
use serde_json::Value;

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("replicas");
    stage.good("office-a", "authority new --group club --no-passphrase");
    stage.good("office-a", "authority hand-over secret.office");
    for name in ["office-b", "replica-a", "replica-b", "ida"] {
        stage.good(name, &format!("identity new {name} --no-passphrase"));
    }
    stage.good("office-b", "authority take-over secret.office");
    let founders = "--founder replica-a/identity.pem --founder replica-b/identity.pem";
    stage.good(
        "replica-a",
        &format!("charter new replicas --votes 1 --minority read-only {founders} --out own.toml"),
    );
    stage.good("replica-a", "charter sign own.toml");
    stage.good("replica-b", "charter sign own.cms");
    let rules = "--mode centralised --authority office-a --authority office-b --votes 1";
    stage.note("ida", "with two replicas", &format!("charter new club {rules} --founder ida/identity.pem"));
    stage.good("ida", "charter sign charter.toml");
    let (_ida, at) = stage.member("ida", "member --charter charter.cms");
    let run = |name: &str, more: &str| {
        format!(
            "authority run charter.cms --at {at} --replicas replica-{name} --replicas-charter own.cms \
             --replicas-listen 127.0.0.1:0{more}"
        )
    };
    let (first, _) = stage.member("office-a", &run("a", ""));
    let alone = |told: &Value| told["people"][0]["sees"] == 1 && told["replicas"]["state"] == "few-know";
    stage.note_when("office-a", "the other replica is not there", "authority status", alone);
    let ready = first.says(|event| event["event"] == "ready");
    let more = format!(" --replicas-at {}", ready["replicas"].as_str().unwrap());
    let (second, _) = stage.member("office-b", &run("b", &more));
    let ready = |told: &Value| told["replicas"]["state"] == "ready" && told["people"][0]["sees"] == 1;
    stage.until("office-b", "authority status", ready);
    stage.note_when("office-a", "two replicas", "authority status", ready);
    let mut both = [first, second];
    both.iter_mut().for_each(Running::stops);
    stage.note("replica-a", "a replica's", "authority log");
    // Of the lost machine, this much was in a safe.
    std::fs::create_dir(stage.file("again")).unwrap();
    for file in ["identity.key", "identity.pem", "charter.cms"] {
        std::fs::copy(stage.file("replica-a").join(file), stage.file("again").join(file)).unwrap();
    }
    stage.note("again", "that is set up anew", "authority take-log replica-b");
    stage.note("replica-a", "that has it", "authority take-log replica-b");
    stage.note_events("authority run", &both.each_ref().map(|one| ("with a replica", one)), &[]);
    stage.notes()
}
