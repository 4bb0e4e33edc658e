//! Host names in place of addresses: in charters, in tickets, after `--at` and `--listen`.

mod machines;

use crate::common::actor::{Actor, Talk};
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, free_address, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A newcomer is told within three seconds who answers; so much more is for a busy machine.
const TOLD: Duration = Duration::from_secs(6);

fn names(status: &Value) -> Vec<(&str, usize)> {
    let names = status["names"].as_array().unwrap().iter();
    names.map(|one| (one["name"].as_str().unwrap(), one["addresses"].as_array().unwrap().len())).collect()
}

/// Anna, where the name in the charter leads.
fn founded(name: &str) -> (Place, Actor, String) {
    let place = Place::new(name);
    let mut anna = Actor::new(&place, "anna");
    anna.locator = format!("udp/{}", free_address());
    let by_name = anna.locator.replace("127.0.0.1", "LocalHost");
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1", "--contact", &by_name]);
    anna.start(&place, &[], &[]);
    let kept = by_name.replace("udp/LocalHost", "dns/localhost");
    (place, anna, kept)
}

#[test]
fn a_newcomer_finds_the_group_by_the_host_name_in_its_charter() {
    let (place, anna, kept) = founded("names");
    let charter = place.signed().display().to_string();
    assert_eq!(anna.good(&["charter", "verify", &charter])["contacts"], json!([kept]));
    let dora = Actor::new(&place, "dora");
    let mut talk = dora.talk(&place, "join", "");
    anna.until(&["vote", "list"], |list| list[0]["name"] == "dora");
    let status = dora.good(&["status"]);
    assert_eq!(names(&status), [(kept.as_str(), 1)], "one address of the family that it has: {status}");
    assert_eq!(status["names"][0]["addresses"], json!([anna.locator]));
    anna.good(&["vote", "approve", "dora"]);
    anna.why("dora", "present");
    talk.types("/quit");
    assert_eq!(code(&talk.end()), 0);
    // A vote on contacts takes what people write, and keeps what charters have.
    let other = "udp/Anna.Example.org:4803,udp/192.0.2.7:4803";
    let told = anna.good(&["charter", "change", "contacts", other]);
    assert_eq!(told["value"], "dns/anna.example.org:4803,udp/192.0.2.7:4803");
    let refused = anna.run(&["charter", "change", "contacts", "udp/anna.example.org"]);
    assert!(
        code(&refused) == 2 && complaint(&refused).contains("is not a host name"),
        "{}",
        complaint(&refused)
    );
}

#[test]
fn a_newcomer_is_told_which_name_has_no_address() {
    let (place, anna, _) = founded("names-none");
    // Where the charter's contact is, nobody may be heard either.
    anna.good(&["fault", "--drop", "1"]);
    let dora = Actor::new(&place, "dora");
    let mut command = program(&dora.state);
    command.arg("join").arg(place.signed()).args([
        "--at",
        "udp/nowhere.invalid:4803",
        "--listen",
        "127.0.0.1:0",
    ]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("asked for admission")));
    let asked = Instant::now();
    let told = lines.find(|line| line.contains("answered yet")).unwrap();
    assert!(asked.elapsed() < TOLD, "{told}");
    assert!(told.contains("nobody has answered yet (no ") && told.contains("nowhere.invalid"), "{told}");
    dora.until(&["status"], |status| status["names"].as_array().is_some_and(|names| !names.is_empty()));
    child.kill().unwrap();
    child.wait().unwrap();
    let letter = call(
        &dora.state,
        &[
            "write",
            &place.signed().display().to_string(),
            "hello",
            "--at",
            "udp/nowhere.invalid:4803",
            "--timeout",
            "2",
        ],
    );
    assert_eq!(code(&letter), 4);
    assert!(complaint(&letter).contains("nowhere.invalid"), "{}", complaint(&letter));
}

#[test]
fn a_ticket_with_eight_names_leads_to_the_one_that_somebody_answers_at() {
    let (place, anna, kept) = founded("names-ticket");
    let mut line = vec!["invite".to_owned()];
    for number in 1..8 {
        line.extend(["--at".into(), format!("udp/host{number}.invalid:4803")]);
    }
    line.extend(["--at".into(), kept.clone()]);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let made = anna.good(&line);
    let contacts = made["contacts"].as_array().unwrap();
    assert_eq!(
        (contacts.len(), &contacts[0], &contacts[7]),
        (8, &json!("dns/host1.invalid:4803"), &json!(kept))
    );
    let dora = Actor::new(&place, "dora");
    let mut command = program(&dora.state);
    command.args(["join", made["ticket"].as_str().unwrap(), "--listen", "127.0.0.1:0"]).stdin(Stdio::piped());
    let talk = Talk::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    anna.until(&["vote", "list"], |list| list[0]["name"] == "dora");
    let status = dora.good(&["status"]);
    assert_eq!(names(&status).len(), 8, "{status}");
    talk.kill();
}

/// What nobody could ask a name server for, or would be taken for an address.
#[test]
fn what_is_no_name_is_refused_with_the_reason() {
    let (place, _anna, _) = founded("names-refused");
    let dora = Actor::new(&place, "dora");
    let charter = place.signed().display().to_string();
    for (at, why) in [
        ("udp/b\u{fc}cher.example:4803", "xn--"),
        ("udp/192.0.2.300:4803", "its last part is a number"),
        ("udp/0x7f000001:4803", "its last part is a number"),
        ("udp/127.1:4803", "its last part is a number"),
        ("udp/anna.example.org", "a name, a colon and a port"),
        ("udp/anna.example.org:0", "the port"),
        ("udp/anna_b.example.org:4803", "between two dots"),
        ("dns/anna..org:4803", "between two dots"),
        ("udp/224.0.0.1:4803", "many"),
    ] {
        let refused = call(&dora.state, &["join", &charter, "--at", at]);
        assert!(code(&refused) == 2 && complaint(&refused).contains(why), "{at}: {}", complaint(&refused));
    }
    for (listen, why) in [
        ("nowhere.invalid:4803", "no address is known for nowhere.invalid:4803"),
        ("4803", "it must be an address and a port"),
        ("127.1:4803", "it must be an address and a port"),
    ] {
        let refused = call(&dora.state, &["join", &charter, "--listen", listen]);
        assert!(
            code(&refused) == 2 && complaint(&refused).contains(why),
            "{listen}: {}",
            complaint(&refused)
        );
    }
}

/// A ticket that leads to this machine alone says so, and one that leads elsewhere does not.
#[test]
fn whoever_invites_from_a_machine_without_an_address_is_warned() {
    let (_place, anna, _) = founded("names-warned");
    let warns = |args: &[&str]| {
        let output = anna.run(&[&["invite"], args].concat());
        assert_eq!(code(&output), 0);
        String::from_utf8_lossy(&output.stderr).contains("to nobody from elsewhere")
    };
    assert!(warns(&[]), "Anna listens at the loopback address");
    assert!(!warns(&["--at", "udp/192.0.2.7:4803"]) && !warns(&["--at", "udp/anna.example.org:4803"]));
}
