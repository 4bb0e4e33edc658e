//! Members on machines of their own, with host names, whose addresses change.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{code, wait_for_ready};
use crate::common::spaces::Spaces;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["anna", "ben", "cleo"];
/// So long it is looked at that they do not find one another while the names lead nowhere.
const APART: Duration = Duration::from_secs(12);
const LIMIT: Duration = Duration::from_secs(120);

struct Member {
    actor: Actor,
    ready: Value,
    child: Child,
}

impl Drop for Member {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn on(spaces: &Spaces, who: &Actor, args: &[&str]) -> Command {
    let name = who.state.file_name().unwrap().to_str().unwrap();
    let enter = spaces.enter(name);
    let mut command = Command::new(&enter[0]);
    command
        .args(&enter[1..])
        .arg(env!("CARGO_BIN_EXE_folkmoot"))
        .arg("--json")
        .arg("--state")
        .arg(&who.state);
    command.env_remove("FOLKMOOT_STATE").args(args);
    command
}

fn ends(spaces: &Spaces, who: &Actor, args: &[&str]) -> Output {
    on(spaces, who, args).stdin(Stdio::null()).output().unwrap()
}

fn start(spaces: &Spaces, place: &Place, actor: Actor) -> Member {
    let charter = place.signed().display().to_string();
    let log = OpenOptions::new().create(true).append(true).open(actor.state.join("log")).unwrap();
    let mut command = on(spaces, &actor, &["member", "--charter", &charter, "--listen", "0.0.0.0:4811"]);
    let mut child = command
        .args(["--quiet", "--while-stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let ready = wait_for_ready(&mut child);
    Member { actor, ready, child }
}

fn present(members: &[Member]) -> Vec<usize> {
    let count = |one: &Member| {
        let status = one.actor.good(&["status"]);
        let people = status["people"].as_array().unwrap().iter();
        people.filter(|person| person["state"] == "present").count()
    };
    members.iter().map(count).collect()
}

fn until(members: &[Member], wanted: usize) -> Duration {
    let begun = Instant::now();
    loop {
        let now = present(members);
        if now.iter().all(|count| *count == wanted) {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < LIMIT, "{now:?} are present, not {wanted}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Only the name of Anna's machine is known to the others. The network is cut, and when it is back,
/// all have other addresses. As long as the name leads to the old one, nobody finds anybody: so it
/// is the name by which they meet again.
#[test]
fn a_group_finds_its_contact_again_by_name_when_all_addresses_have_changed() {
    let Some(mut spaces) = Spaces::lay(&NAMES) else { return };
    let place = Place::new("machines");
    let actors = NAMES.map(|name| Actor::new(&place, name));
    let contact = format!("udp/{}:4811", spaces.host("anna"));
    place.found_with(
        &actors.each_ref().map(|one| one.state.as_path()),
        Times::SHORT,
        &["--contact", &contact],
    );
    let members: Vec<Member> = actors.into_iter().map(|actor| start(&spaces, &place, actor)).collect();
    until(&members, 3);
    usable(&spaces, &members);
    listening(&spaces, &members[0].actor, &place);

    // Whoever moved last would hear from the others where they are.
    spaces.cut(true);
    spaces.move_all();
    until(&members, 1);
    spaces.cut(false);
    std::thread::sleep(APART);
    assert_eq!(present(&members), [1, 1, 1], "the name leads to the old address still");
    spaces.call_all();
    let took = until(&members, 3);
    println!("met again after {took:?}");
    let moved = members[1].actor.good(&["status"]);
    assert_eq!(moved["addresses"], json!([format!("udp/{}:4811", spaces.address("ben"))]), "{moved}");
}

/// Where a member says that it listens, others can reach it; a ticket has these addresses.
fn usable(spaces: &Spaces, members: &[Member]) {
    let at = |name: &str| format!("udp/{}:4811", spaces.address(name));
    for (name, member) in NAMES.iter().zip(members) {
        assert_eq!(
            (&member.ready["addresses"], &member.ready["locator"]),
            (&json!([at(name)]), &json!("udp/0.0.0.0:4811"))
        );
        let mut shown = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        let shown = shown.arg("--state").arg(&member.actor.state).arg("status").output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains(&at(name)) && !shown.contains("0.0.0.0"), "{shown}");
    }
    let ticket = members[0].actor.good(&["invite"]);
    let contacts = ticket["contacts"].as_array().unwrap();
    assert_eq!((contacts.len(), &contacts[0]), (3, &json!(at("anna"))), "whoever invites comes first");
    assert!(NAMES.iter().all(|name| contacts.contains(&json!(at(name)))), "{ticket}");
}

/// A name after `--listen` is one of this machine.
fn listening(spaces: &Spaces, anna: &Actor, place: &Place) {
    let charter = place.signed().display().to_string();
    let refused = ends(
        spaces,
        anna,
        &["member", "--charter", &charter, "--listen", &format!("{}:4812", spaces.host("ben"))],
    );
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(code(&refused), 2, "{why}");
    assert!(why.contains("ben.moot.test:4812 is at 10.89.0.2, which is not this machine"), "{why}");
    let dora = Actor::new(place, "dora");
    let listen = format!("{}:4812", spaces.host("cleo"));
    // Dora is a guest on Cleo's machine, and listens by its name.
    let mut command = on(
        spaces,
        &dora,
        &["member", "--charter", &charter, "--listen", &listen, "--quiet", "--while-stdin"],
    );
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(wait_for_ready(&mut child)["locator"], format!("udp/{}:4812", spaces.address("cleo")));
    child.kill().unwrap();
    child.wait().unwrap();
}
