//! What `send` sends is what was meant, byte by byte; each message has an id that is the same at
//! everybody; and whoever follows hears the next member that runs on the folder, too.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Child, Stdio};

fn hears(who: &Actor, more: &[&str]) -> Child {
    let mut command = program(&who.state);
    command.args(["receive", "--timeout", "120"]).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn messages(child: Child) -> Vec<Value> {
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let events = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["event"] == "message").collect()
}

/// What is piped in.
fn sends(who: &Actor, args: &[&str], input: &[u8]) {
    let mut child = program(&who.state).arg("send").args(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    assert!(child.wait().unwrap().success(), "{args:?}");
}

#[test]
fn what_is_sent_arrives_as_it_was_meant_with_one_id_and_a_follower_hears_on() {
    let place = Place::new("sends");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    ben.start(&place, &at, &[]);
    anna.why("ben", "present");
    ben.why("anna", "present");
    let (one, follower) = (hears(&ben, &["--count", "5"]), hears(&anna, &["--count", "6", "--follow"]));
    // They listen once they are connected.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let file = place.path().join("file");
    std::fs::write(&file, b"one\r\n\n\xff two\n").unwrap();
    anna.good(&["send", "--file", &file.display().to_string()]);
    // A person who pipes one line does not mean its end; of a file from a pipe every byte is meant.
    sends(&anna, &[], b"one line\n");
    sends(&anna, &["--file", "-"], b"one line\n");
    sends(&anna, &[], b"two\nlines\n");
    anna.good(&["send", "two\nlines, as an argument\n"]);
    let heard = messages(one);
    let bytes: Vec<&str> = heard.iter().map(|one| one["payload"].as_str().unwrap()).collect();
    let hex = |text: &[u8]| text.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let meant = [
        &b"one\r\n\n\xff two\n"[..],
        b"one line",
        b"one line\n",
        b"two\nlines",
        b"two\nlines, as an argument\n",
    ];
    assert_eq!(bytes, meant.map(hex));

    // The member is started anew, and the follower hears it.
    anna.signal("TERM");
    assert_eq!(anna.ends(), 0);
    anna.start(&place, &[ben.locator.clone()], &[]);
    anna.why("ben", "present");
    std::thread::sleep(std::time::Duration::from_secs(2));
    ben.good(&["send", "after the restart"]);
    let followed = messages(follower);
    assert_eq!(followed.last().unwrap()["text"], "after the restart");
    let ids = |all: &[Value]| -> Vec<String> {
        all.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&heard), ids(&followed)[..5], "one message has one id");
    assert_eq!(ids(&followed).iter().collect::<BTreeSet<_>>().len(), 6, "each has its own");
}
