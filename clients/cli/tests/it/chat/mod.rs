//! What is typed is sent and obeyed, and what the others do is shown meanwhile; who has nothing to
//! type is told the outcome.

mod plain;
mod sends;
mod terminal;
mod whole;

use crate::common::actor::{Actor, Talk};
use crate::common::place::{Place, Times};
use crate::common::program::{code, program};
use serde_json::Value;
use std::process::{Output, Stdio};

/// What was printed as events of this kind.
fn events(output: &Output, kind: &str) -> Vec<Value> {
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == kind).collect()
}

#[test]
fn lines_are_sent_and_orders_obeyed_while_a_stranger_without_a_keyboard_waits() {
    let place = Place::new("chat");
    let [mut anna, ben, cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let dora = Actor::new(&place, "dora");
    let mut joining = dora.talk(&place, "join", &anna.locator);
    joining.closes();
    anna.why("dora", "asking");
    anna.good(&["vote", "approve", "dora"]);

    let mut talking = ben.talk(&place, "chat", &anna.locator);
    for typed in ["good evening", "/yes", "/nonsense", "/yes nobody"] {
        talking.types(typed);
    }
    ben.until(&["vote", "list"], |list| list[0]["name"] == "dora");
    talking.types("/yes dora");
    let joined = joining.end();
    assert_eq!(code(&joined), 0, "{}", String::from_utf8_lossy(&joined.stderr));
    let last = events(&joined, "view").pop().unwrap();
    assert!(last["members"].as_array().unwrap().len() > 1, "it ends once it shares a view: {last}");
    anna.why("dora", "left");

    // It parted in good order: nobody has to miss it.
    anna.why("dora", "left");
    talking.closes();
    let talked = talking.end();
    let complaints = String::from_utf8_lossy(&talked.stderr).into_owned();
    assert_eq!(code(&talked), 1, "{complaints}");
    for complaint in [
        "Type /yes NAME",
        "/nonsense is not a command",
        "called \"nobody\"",
        "3 lines of the input not obeyed",
    ] {
        assert!(complaints.contains(complaint), "{complaint}: {complaints}");
    }
    assert!(events(&talked, "message").iter().any(|event| event["text"] == "good evening"));
}

/// What is typed proposes, takes back and votes, and says the same as the commands do.
#[test]
fn a_chat_proposes_takes_back_and_shows_the_rules() {
    let place = Place::new("chat-orders");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    ben.start(&place, &at, &[]);
    cleo.start(&place, &at, &[]);
    ben.why("cleo", "present");
    let open = |name: &str, have: u64| {
        let is = |one: &Value| one["name"] == name && one["have"] == have;
        anna.until(&["vote", "list"], |list| list.as_array().is_some_and(|all| all.iter().any(is)));
    };
    let nothing = || {
        anna.until(&["vote", "list"], |list| list == &serde_json::json!([]));
    };
    let (words, expel) = ("set request_hours = 24 in the charter", "expel cleo");
    let mut talk = program(&ben.state);
    let mut talk = Talk::of(
        talk.arg("chat").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(),
    );
    talk.types("/change request_hours 24");
    open(words, 1);
    talk.types(&format!("/withdraw {words}"));
    nothing();
    talk.types("/expel cleo");
    open(expel, 1);
    talk.types("/no expel cleo");
    talk.types("/votes");
    nothing();
    talk.types("/change request_hours 48");
    open("set request_hours = 48 in the charter", 1);
    anna.good(&["vote", "approve", "set request_hours = 48"]);
    ben.until(&["rules"], |told| told["rules"].as_array().unwrap().iter().any(|one| one["since"] == 1));
    for typed in ["/rules", "/withdraw set request_hours = 48", "/withdraw", "/change", "/expel", "/help"] {
        talk.types(typed);
    }
    talk.closes();
    let output = talk.end();
    let (said, complaints) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    for part in [
        "proposed to set request_hours = 24 in the charter, with your vote",
        "withdrawn: proposal \"set request_hours = 24 in the charter\"",
        &format!("proposed to expel cleo ({})", &cleo.id[..8]),
        "voted no: proposal \"expel cleo\"",
        "proposed to set request_hours = 48",
        "decision 1 (",
        "/withdraw WORDS",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for part in [
        "no open request or proposal is called \"set request_hours = 48\"",
        "this member is in the group and asks for nothing",
        "Type /change FIELD VALUE",
        "Type /expel NAME",
        "4 lines of the input not obeyed",
    ] {
        assert!(complaints.contains(part), "{part}: {complaints}");
    }

    // A stranger that waits takes its request back, and so ends.
    let dora = Actor::new(&place, "dora");
    let mut talk = dora.talk(&place, "join", &anna.locator);
    open("dora", 0);
    talk.types("/withdraw");
    let end = talk.end();
    let said = String::from_utf8_lossy(&end.stderr).into_owned();
    assert_eq!(code(&end), 7, "{said}");
    assert!(said.contains("the request is withdrawn"), "{said}");
    nothing();
}

#[test]
fn what_cannot_start_says_why_and_not_that_nothing_runs() {
    let place = Place::new("start");
    let anna = Actor::new(&place, "anna");
    for line in [["chat", "--listen", "127.0.0.1:0"], ["join", "missing.cms", "--at=udp/127.0.0.1:9"]] {
        let output = anna.run(&line);
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((code(&output), &error["exit"]), (3, &"configuration".into()), "{error}");
    }
}
