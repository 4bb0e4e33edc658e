//! Tickets in real processes: `folkmoot invite` and `folkmoot join`.

mod crowd;

use crate::common::actor::{Actor, Talk};
use crate::common::program::{call, code, complaint, program};
use crate::takeover::resolve::two_lines;
use crate::takeover::stage::{Cast, dial, head, in_words};
use folkmoot_base::{Head, UnixTime};
use folkmoot_identity::{Identity, SignedCharter};
use folkmoot_transcript::{Invitation, TICKET_PREFIX, Ticket};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

fn cast(name: &str) -> Cast {
    Cast::founded(name, &["anna", "ben"], &[])
}

/// `folkmoot join`, which somebody watches.
fn joins(who: &Actor, by: &str) -> Talk {
    let mut command = program(&who.state);
    command.args(["join", by, "--listen", "127.0.0.1:0"]).stdin(Stdio::piped());
    Talk::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// What a ticket of hers leads to, before anything is sent: nobody can listen at that address.
fn reads(who: &Actor, by: &str) -> Output {
    call(&who.state, &["join", by, "--listen", "192.0.2.1:9"])
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn identity(state: &Path) -> Identity {
    let [key, own] = ["identity.key", "identity.pem"].map(|file| std::fs::read_to_string(state.join(file)));
    Identity::from_pem(&key.unwrap(), &own.unwrap()).unwrap()
}

/// One that Anna made so many seconds ago.
fn made_ago(cast: &Cast, seconds: u64, life: u64) -> String {
    made_at(cast, now() - seconds, life)
}

fn made_at(cast: &Cast, made: u64, life: u64) -> String {
    let anna = cast.who("anna");
    let charter = SignedCharter::from_der(&std::fs::read(cast.place.signed()).unwrap()).unwrap();
    let contacts = vec![anna.locator.parse().unwrap()];
    let (made, ends, head) = (UnixTime(made), UnixTime(made + life), Head::from_whole(&head(anna)).unwrap());
    let says = Invitation { charter, head, made, ends, contacts, holder: None, serial: [7; 16] };
    Ticket::sign(says, &identity(&anna.state)).unwrap().text()
}

fn charter_of(who: &Actor) -> PathBuf {
    who.state.join("charter.cms")
}

#[test]
fn a_newcomer_with_a_ticket_joins() {
    let cast = cast("ticket");
    cast.decide(&["charter", "change", "certificate_days", "40"], &["anna", "ben"], &["anna"]);
    let [anna, ben] = ["anna", "ben"].map(|name| cast.who(name));
    let dora = Actor::new(&cast.place, "dora");
    let file = cast.place.path().join("dora.ticket").display().to_string();
    let own = dora.state.join("identity.pem").display().to_string();
    let made = anna.good(&["invite", "--for", &own, "--days", "3", "--out", &file]);
    assert_eq!(
        (&made["head"], &made["for"], &made["out"]),
        (&json!(head(anna)), &json!(dora.id), &json!(file))
    );
    assert_eq!(made["head_words"], in_words(anna));
    assert_eq!(made["ends"].as_u64().unwrap() - made["made"].as_u64().unwrap(), 3 * DAY);
    assert_eq!(made["contacts"], json!([anna.locator, ben.locator]), "whoever is present, Anna first");
    let text = made["ticket"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{text}\n"));
    let mut talk = joins(&dora, text);
    for voter in [anna, ben] {
        voter.until(&["vote", "approve", "dora"], |told| !told.is_null());
    }
    dora.why("anna", "present");
    let status = dora.good(&["status"]);
    assert_eq!((&status["head"], &status["decided"]), (&json!(head(anna)), &json!(1)));
    talk.types("/quit");
    let output = talk.end();
    assert_eq!(code(&output), 0, "{}", said(&output));
    let told = said(&output);
    assert!(told.contains("ticket for test (") && told.contains("signed by anna ("), "{told}");
    let key = anna.good(&["identity", "show"])["words"].as_str().unwrap().to_owned();
    assert!(told.contains(&format!("its maker's key in words: {key}")), "{told}");
    assert!(told.contains(&in_words(anna)) && !told.contains("believes its first contact"), "{told}");
    // A member needs no vote to come back, and gives the same ticket as a file or through a pipe.
    for by in [file.as_str(), "-"] {
        let mut talk = joins(&dora, by);
        if by == "-" {
            talk.types(text);
            talk.closes();
        } else {
            dora.why("anna", "present");
            talk.types("/quit");
        }
        let output = talk.end();
        assert_eq!(code(&output), 0, "{by}: {}", said(&output));
    }
}

/// Anna made the ticket, and its contact is on another line than she.
#[test]
fn a_contact_on_another_line_than_the_ticket_leads_nobody() {
    let (cast, _older) = two_lines("ticket-line");
    let (anna, cleo) = (cast.who("anna"), cast.who("cleo"));
    let [dora, mut erik] = ["dora", "erik"].map(|name| Actor::new(&cast.place, name));
    let made = anna.good(&["invite", "--at", &cleo.locator]);
    assert_eq!(made["contacts"], json!([cleo.locator]));
    let talk = joins(&dora, made["ticket"].as_str().unwrap());
    // Erik has no ticket, and believes Cleo.
    erik.start(&cast.place, core::slice::from_ref(&cleo.locator), &["--apply"]);
    erik.until(&["status"], |status| status["head"] == head(cleo));
    dora.until(&["status"], |status| status["people"].to_string().contains("\"answers\""));
    let status = dora.good(&["status"]);
    assert_eq!(status["decided"], 0, "{status}");
    dial(&dora, anna);
    dora.until(&["status"], |status| status["head"] == head(anna));
    talk.kill();
}

#[test]
fn a_ticket_that_does_not_serve_is_refused() {
    let cast = cast("ticket-refused");
    let [dora, erik] = ["dora", "erik"].map(|name| Actor::new(&cast.place, name));
    let eriks = cast.who("anna").good(&["invite", "--for", &erik.id])["ticket"].as_str().unwrap().to_owned();
    let good = made_ago(&cast, 60, DAY);
    let changed = |place: usize| {
        let mut bytes = good.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    let file = cast.place.path().join("cut.ticket");
    std::fs::write(&file, &good[..good.len() - 40]).unwrap();
    for (by, exit, why) in [
        (made_ago(&cast, 2 * DAY, DAY), 5, "(TKT-06). Ask for a new one"),
        (made_ago(&cast, 2 * DAY, 2 * DAY), 5, "the ticket ended at 20"),
        (made_at(&cast, now() + 7_200, DAY), 3, "has not come yet by the clock of this machine"),
        (eriks, 5, "for another key"),
        (changed(good.len() / 2), 5, "(TKT-02)"),
        (changed(TICKET_PREFIX.len()), 5, "(TKT-01)"),
        (file.display().to_string(), 5, "(TKT-01)"),
        (format!("{TICKET_PREFIX}zoo"), 5, "(TKT-01)"),
        (cast.place.signed().display().to_string(), 2, "names no contact"),
        ("nothing.here".to_owned(), 3, "no such file"),
    ] {
        let output = reads(&dora, &by);
        assert_eq!((code(&output), output.stdout.len()), (exit, 0), "{}", said(&output));
        assert!(complaint(&output).contains(why), "{why}: {}", said(&output));
        assert!(!charter_of(&dora).exists(), "nothing is kept of it");
    }
    let output = call(&dora.state, &["join", "-"]);
    assert_eq!(code(&output), 5, "no text on the standard input: {}", said(&output));
    assert!(said(&output).contains("a ticket begins with folkmoot-ticket:"));
}

#[test]
fn an_old_ticket_is_shown_with_its_age() {
    let cast = cast("ticket-old");
    for (days, warned) in [(6, false), (7, true)] {
        let name = format!("dora-{days}");
        let dora = Actor::new(&cast.place, &name);
        let mut talk = joins(&dora, &made_ago(&cast, days * DAY, 60 * DAY));
        talk.closes();
        for voter in ["anna", "ben"] {
            cast.who(voter).until(&["vote", "approve", &name], |told| !told.is_null());
        }
        let output = talk.end();
        let told = said(&output);
        assert_eq!(code(&output), 0, "{told}");
        assert_eq!(told.contains(&format!("the ticket is {days} days old")), warned, "{told}");
        assert_eq!(std::fs::read(charter_of(&dora)).unwrap(), std::fs::read(cast.place.signed()).unwrap());
    }
    // A folder keeps one charter: a ticket of another group changes nothing.
    let (dora, other) = (Actor::new(&cast.place, "both"), self::cast("ticket-other"));
    let output = reads(&dora, &made_ago(&cast, 8 * DAY, 9 * DAY));
    assert_eq!(code(&output), 75);
    assert!(complaint(&output).contains("cannot listen at 192.0.2.1"), "one JSON value: {}", said(&output));
    let kept = std::fs::read(charter_of(&dora)).unwrap();
    let output = reads(&dora, &made_ago(&other, 1, DAY));
    assert!(code(&output) == 3 && said(&output).contains("another group's charter"), "{}", said(&output));
    assert_eq!(std::fs::read(charter_of(&dora)).unwrap(), kept);
}

/// Two people called Dora ask. What each reads out of her folder, a voter sees with her request.
#[test]
fn people_are_told_apart_by_the_words_of_their_keys() {
    let mut cast = cast("fingerprints");
    let mut other = Actor::called(&cast.place, "other", "dora");
    let words = |who: &Actor| who.good(&["identity", "show"])["words"].as_str().unwrap().to_owned();
    other.start(&cast.place, core::slice::from_ref(&cast.who("anna").locator), &["--apply"]);
    cast.people.push(Actor::new(&cast.place, "dora"));
    cast.start("dora", &["--apply"]);
    let (anna, dora) = (cast.who("anna"), cast.who("dora"));
    // A name is marked when the second who has it is known, too.
    let marked = |one: &Value| one["concerns"][0]["label"].as_str().is_some_and(|label| label.contains('≈'));
    let two = |list: &[Value]| list.len() == 2 && list.iter().all(marked);
    let list = anna.until(&["vote", "list"], |list| list.as_array().is_some_and(|list| two(list)));
    assert_ne!(words(dora), words(&other));
    for who in [dora, &other] {
        let asks = list.as_array().unwrap().iter().find(|one| one["member"] == who.id.as_str()).unwrap();
        let label = format!("dora≈{}", &who.id[..8]);
        let told = json!([{ "member": who.id, "label": label, "words": words(who) }]);
        assert_eq!(asks["concerns"], told);
    }
    let subject = |who: &Actor| {
        let asks = list.as_array().unwrap().iter().find(|one| one["member"] == who.id.as_str()).unwrap();
        asks["subject"].as_str().unwrap().to_owned()
    };
    for voter in ["anna", "ben"] {
        cast.who(voter).until(&["vote", "approve", &subject(dora)], |told| !told.is_null());
    }
    dora.why("anna", "present");
    anna.until(&["expel", &dora.id], |told| !told.is_null());
    let open = |one: &Value| one["kind"] == "proposal";
    let list = cast
        .who("ben")
        .until(&["vote", "list"], |list| list.as_array().is_some_and(|all| all.iter().any(open)));
    let proposal = list.as_array().unwrap().iter().find(|one| open(one)).unwrap();
    assert_eq!(
        (&proposal["concerns"][0]["member"], &proposal["concerns"][0]["words"]),
        (&json!(dora.id), &json!(words(dora)))
    );
    let text = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"))
        .args(["vote", "list", "--state"])
        .arg(&cast.who("ben").state)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for who in [dora, &other] {
        assert!(text.contains(&format!("dora≈{} in words: {}", &who.id[..8], words(who))), "{text}");
    }
}

#[test]
fn only_a_member_invites_and_to_a_place_that_can_be_found() {
    let cast = cast("ticket-invite");
    let anna = cast.who("anna");
    let mut dora = Actor::new(&cast.place, "dora");
    let line = |who: &Actor, args: &[&str]| {
        let output = who.run(&[&["invite"], args].concat());
        assert!(output.stdout.is_empty(), "{args:?}");
        (code(&output), complaint(&output))
    };
    assert_eq!(line(&dora, &[]).0, 4, "no member runs there");
    dora.start(&cast.place, core::slice::from_ref(&anna.locator), &[]);
    assert_eq!(
        line(&dora, &[]),
        (7, "only a member can invite, and this one is not in the group".to_owned())
    );
    let many: Vec<String> =
        (1..=9).flat_map(|port| ["--at".into(), format!("udp/192.0.2.1:{port}")]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for args in [
        &["--at", "udp/0.0.0.0:4803"],
        &["--at", "udp/[::]:1"],
        &["--at", "udp/192.0.2.1:0"],
        many.as_slice(),
    ] {
        assert_eq!(line(anna, args).0, 2, "{args:?}");
    }
    assert_eq!(line(anna, &["--for", "nobody.pem"]).0, 3);
    let twice = anna.good(&["invite", "--at", "udp/192.0.2.1:9", "--at", "udp/192.0.2.1:9"]);
    assert_eq!(twice["contacts"], json!(["udp/192.0.2.1:9"]));
    assert_eq!((&twice["for"], &twice["out"]), (&Value::Null, &Value::Null));
}
