//! The authority as a process over UDP: it is killed, or a voter is, at any moment of an admission.
//! Members go on; what was not signed is signed after a restart; nothing is signed twice.
//!
//! ```text
//! between votes and certificate   killed, votes, wait with its reason, talk goes on, restart, in
//! while it signs                  killed a little later each time after the last vote; as many in the end as its log and the transcript say
//! a voter mid-vote                killed right after its vote, or the contact is
//! offices                         refused combinations, hand-over, exposed files, a second office
//! alone                           policy = "authority": it votes by its folder, and nobody else has a say; below the threshold, by a program
//! ```
//! `FOLKMOOT_KILLS=20`: so many admissions, each with a kill.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good};
use folkmoot_runtime::Store;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

struct Cast {
    place: Place,
    anna: Actor,
    ben: Actor,
    authority: Actor,
}

impl Cast {
    fn new(name: &str, scheme: &str, more: &[&str]) -> Self {
        let place = Place::new(name);
        let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
        let mut authority = Actor::authority(&place, "authority", scheme);
        let state = authority.state.display().to_string();
        let rules = ["--scheme", scheme, "--mode", "centralised", "--authority", &state];
        place.found_with(&[&anna.state, &ben.state], Times::SHORT, &[&rules[..], more].concat());
        anna.start(&place, &[], &[]);
        ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
        authority.start(&place, core::slice::from_ref(&anna.locator), &[]);
        anna.why("ben", "present");
        let all = |status: &Value| status["here"] == 2;
        authority.until(&["authority", "status"], all);
        Self { place, anna, ben, authority }
    }

    fn guest(&self, name: &str) -> Actor {
        let mut guest = Actor::new(&self.place, name);
        guest.start(&self.place, &[self.anna.locator.clone(), self.ben.locator.clone()], &["--apply"]);
        guest
    }

    fn vote(&self, who: &str) {
        for voter in [&self.anna, &self.ben] {
            voter.until(&["vote", "approve", who], |told| !told.is_null());
        }
    }

    fn restart_authority(&mut self) {
        self.authority.start(&self.place, core::slice::from_ref(&self.anna.locator), &[]);
    }

    fn issued(&self) -> u64 {
        self.authority.good(&["authority", "status"])["issued"].as_u64().unwrap()
    }
}

/// What the authority has on its disk as issued: by request, the certificate.
fn log(state: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let stored = Store::open(&state.join("member.sqlite")).unwrap().load().unwrap();
    let issued = stored.into_iter().filter(|(key, _)| key.table == "office");
    issued.filter_map(|(key, value)| Some((key.key.strip_prefix(b"i")?.to_vec(), value.to_vec()))).collect()
}

/// The certificates that a member's transcript has: of all but founders.
fn certificates(place: &Place, who: &mut Actor) -> Vec<Vec<u8>> {
    who.kill();
    let folder = place.path().join("evidence");
    let _ = std::fs::remove_dir_all(&folder);
    who.good(&["export", &folder.display().to_string()]);
    let files = std::fs::read_dir(folder.join("certificates")).unwrap().map(|file| file.unwrap().path());
    let guests = files.filter(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("guest") && name.ends_with(".der")
    });
    let mut all: Vec<Vec<u8>> = guests.map(|file| std::fs::read(file).unwrap()).collect();
    all.sort();
    all
}

fn awaits(status: &Value, name: &str) -> bool {
    let people = status["people"].as_array().cloned().unwrap_or_default();
    people.iter().any(|one| one["name"] == name && one["awaits"] == "authority")
}

#[test]
fn members_go_on_without_it_and_an_admission_waits_with_its_reason() {
    let mut cast = Cast::new("auth-wait", "plain", &[]);
    cast.authority.kill();
    let mut dora = cast.guest("guest-dora");
    cast.vote("guest-dora");
    cast.anna.until(&["status"], |status| awaits(status, "guest-dora"));
    let told = cast.anna.until(&["status"], |status| status["authority"]["reached"] == false);
    let why = cast.anna.why("guest-dora", "asking");
    assert!(
        why["why"]
            .as_str()
            .unwrap()
            .contains("granted by the members; waiting for the authority, not reachable"),
        "{why}"
    );
    assert!(
        told["authority"]["heard_seconds_ago"].is_null() || told["authority"]["heard_seconds_ago"].is_u64()
    );
    cast.anna.good(&["send", "we go on"]);
    cast.restart_authority();
    cast.anna.why("guest-dora", "present");
    dora.why("anna", "present");
    assert_eq!(cast.issued(), 1);
    cast.authority.kill();
    dora.kill();
    let issued: Vec<Vec<u8>> = log(&cast.authority.state).into_values().collect();
    assert_eq!(issued, certificates(&cast.place, &mut cast.ben), "what it signed is what the transcript has");
}

#[test]
fn killed_while_it_signs_it_signs_each_once_and_loses_nothing() {
    let mut cast = Cast::new("auth-kill", "plain", &[]);
    let kills = std::env::var("FOLKMOOT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_u64);
    let mut guests = Vec::new();
    for number in 0..kills {
        let name = format!("guest{number}");
        let guest = cast.guest(&name);
        let open = |list: &Value| list.as_array().unwrap().iter().any(|one| one["name"] == name.as_str());
        cast.ben.until(&["vote", "list"], open);
        cast.anna.good(&["vote", "approve", &name]);
        cast.ben.until(&["vote", "list"], |list: &Value| {
            list.as_array().unwrap().iter().any(|one| one["name"] == name.as_str() && one["have"] == 1)
        });
        cast.ben.good(&["vote", "approve", &name]);
        std::thread::sleep(Duration::from_millis(number * 7 % 60));
        cast.authority.kill();
        cast.restart_authority();
        cast.anna.why(&name, "present");
        guests.push(guest);
    }
    assert_eq!(cast.issued(), kills);
    cast.authority.kill();
    guests.iter_mut().for_each(Actor::kill);
    let mut issued: Vec<Vec<u8>> = log(&cast.authority.state).into_values().collect();
    issued.sort();
    assert_eq!(issued.len() as u64, kills);
    assert_eq!(issued, certificates(&cast.place, &mut cast.ben));
}

#[test]
fn a_voter_or_the_contact_is_killed_mid_vote_and_nothing_is_lost() {
    let mut cast = Cast::new("auth-voter", "plain", &[]);
    let dora = cast.guest("guest-dora");
    cast.anna.until(&["vote", "approve", "guest-dora"], |told| !told.is_null());
    cast.anna.kill();
    cast.ben.until(&["vote", "approve", "guest-dora"], |told| !told.is_null());
    let at = cast.ben.locator.clone();
    cast.anna.start(&cast.place, &[at], &[]);
    cast.anna.why("guest-dora", "present");
    dora.why("ben", "present");
    assert_eq!(cast.issued(), 1);
}

#[test]
fn where_it_decides_alone_it_votes_by_its_folder() {
    let cast = Cast::new("auth-alone", "plain", &["--policy", "authority"]);
    let dora = cast.guest("guest-dora");
    let open =
        |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|one| one["name"] == "guest-dora"));
    cast.authority.until(&["vote", "list"], open);
    let expel = cast.authority.run(&["expel", "anna"]);
    assert_eq!(code(&expel), 5, "{}", complaint(&expel));
    cast.authority.good(&["vote", "approve", "guest-dora"]);
    cast.anna.why("guest-dora", "present");
    dora.why("anna", "present");
    assert_eq!(cast.issued(), 1);
}

/// Two votes asked for, one voter left: the authority decides, by its program.
#[test]
fn below_the_threshold_its_program_decides() {
    let mut cast = Cast::new("auth-below", "plain", &["--below-threshold", "authority"]);
    let program = cast.place.path().join("hook.sh");
    std::fs::write(&program, "#!/bin/sh\ngrep -q guest-dora || exit 3\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    cast.anna.good(&["voters", "anna", "--force"]);
    let open = cast.ben.until(&["vote", "list"], |list| list[0]["kind"] == "proposal");
    cast.ben.good(&["vote", "approve", open[0]["subject"].as_str().unwrap()]);
    cast.anna.until(&["status"], |status| status["below_threshold"].is_string());
    cast.authority.kill();
    let at = cast.anna.locator.clone();
    cast.authority.start(&cast.place, &[at], &["--policy-hook", &program.display().to_string()]);
    let dora = cast.guest("guest-dora");
    cast.anna.why("guest-dora", "present");
    dora.why("anna", "present");
    let erik = cast.guest("guest-erik");
    erik.until(&["status"], |status| status["denied"].is_string() || status["refused"].is_string());
    cast.authority
        .until(&["vote", "list"], |list| list[0]["rejected"].as_array().is_some_and(|no| no.len() == 1));
    assert_eq!(cast.issued(), 1);
}

#[test]
fn offices_are_kept_handed_over_and_never_overwritten() {
    let place = Place::new("auth-office");
    let first = Actor::authority(&place, "first", "plain");
    let again = call(&first.state, &["authority", "new", "--group", "test"]);
    assert_eq!(code(&again), 3);
    assert!(complaint(&again).contains("holds the office of an authority already"), "{}", complaint(&again));
    let shown = first.good(&["authority", "show"]);
    assert_eq!((shown["group"].as_str(), shown["member"].as_str()), (Some("test"), Some(first.id.as_str())));
    let file = place.path().join("office");
    let path = file.display().to_string();
    first.good(&["authority", "hand-over", &path]);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(code(&first.run(&["authority", "hand-over", &path])), 3, "never overwritten");
    let second = Actor::new(&place, "second");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = second.run(&["authority", "take-over", &path]);
    assert!(complaint(&exposed).contains("must be 600"), "{}", complaint(&exposed));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let taken = second.good(&["authority", "take-over", &path]);
    assert_eq!(taken["certificate"], shown["certificate"]);
    assert_eq!(taken["member"].as_str(), Some(second.id.as_str()));
    std::fs::write(&file, b"nothing").unwrap();
    let third = Actor::new(&place, "third");
    assert!(
        complaint(&third.run(&["authority", "take-over", &path]))
            .contains("it is not a canonically encoded office")
    );

    let anna = Actor::new(&place, "anna");
    let founder = anna.state.join("identity.pem").display().to_string();
    let [one, two] = [&first, &second].map(|one| one.state.display().to_string());
    let out = |name: &str| place.path().join(name).display().to_string();
    let line = ["charter", "new", "test", "--votes", "1", "--founder", &founder, "--out"];
    let with =
        |name: &str, more: &[&str]| call(&anna.state, &[&line[..], &[out(name).as_str()], more].concat());
    let both = ["--mode", "centralised", "--authority", &one, "--authority", &two];
    assert_eq!(code(&with("both.toml", &both)), 0, "two replicas of one office");
    let other = Actor::authority(&place, "other", "plain").state.display().to_string();
    let wrong: [(&[&str], &str); 5] = [
        (&["--mode", "centralised"], "takes --authority"),
        (&["--authority", &one], "go with --mode centralised"),
        (&["--mode", "centralised", "--authority", &one, "--authority", &other], "different keys"),
        (&["--mode", "centralised", "--authority", &one, "--dealer", "keeps"], "no shares to deal"),
        (&["--policy", "authority"], "takes an authority"),
    ];
    for (more, why) in wrong {
        let refused = with("wrong.toml", more);
        assert_eq!(code(&refused), 2, "{more:?}");
        assert!(complaint(&refused).contains(why), "{more:?}: {}", complaint(&refused));
    }
    good(&anna.state, &["charter", "sign", &out("both.toml")]);
    let cms = out("both.cms");
    let stranger = third.run(&["authority", "run", &cms, "--listen", "127.0.0.1:0"]);
    assert_eq!(code(&stranger), 5);
    assert!(complaint(&stranger).contains("cannot be the group's authority"), "{}", complaint(&stranger));
}
