//! Nobody is taken for another, wherever somebody decides or reads.
//!
//! ```text
//! founders: anna, anna, аnna, annа (Cyrillic а)             an<ZWJ>na founds nothing
//! every command, in text and JSON        each name with its mark and its key's digits
//! the name alone                         decides nothing: exit code 2, with a list
//! "Anna" asks                            marked, too; admitted by digits only
//! an<ZWJ>na asks                         refused, whatever the voters would say
//! ```

mod listed;

use crate::common::actor::{Actor, Talk};
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good, program};
use folkmoot::tools::OsEntropy;
use folkmoot_identity::Identity;
use listed::{Crowd, JOINER, LAST, ROMAN, ROUND};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

/// Gives a folder's key another name, as no command does.
fn rename(state: &Path, name: &str) {
    let key = std::fs::read_to_string(state.join("identity.key")).unwrap();
    let (from, to) = (folkmoot::UnixTime(1_700_000_000), folkmoot::UnixTime(2_500_000_000));
    let renamed = Identity::import(&key, name, &mut OsEntropy::new().unwrap(), from, to).unwrap();
    std::fs::write(state.join("identity.pem"), renamed.certificate_pem()).unwrap();
}

/// A group whose founders look alike. Nobody founds it under a name that cannot be told.
fn found(place: &Place) -> Vec<Actor> {
    let folders = [("one", ROMAN), ("two", ROMAN), ("three", ROUND), ("four", LAST)];
    let actors: Vec<Actor> =
        folders.iter().map(|(folder, name)| Actor::called(place, folder, name)).collect();
    let text = place.path().join("charter.toml").display().to_string();
    let files: Vec<String> =
        actors.iter().map(|one| one.state.join("identity.pem").display().to_string()).collect();
    let mut line = vec!["charter", "new", "test", "--votes", "2", "--letters", "--out", &text];
    line.extend(files.iter().flat_map(|file| ["--founder", file.as_str()]));
    good(&actors[0].state, &line);
    let draft = std::fs::read_to_string(&text).unwrap();
    let silence = format!("\n[timeouts]\nsilence_ms = {}\n", Times::PATIENT.silence_ms);
    let hidden = draft.replace(&format!("\"{LAST}\""), &format!("\"{JOINER}\""));
    std::fs::write(&text, hidden + &silence).unwrap();
    rename(&actors[3].state, JOINER);
    for (who, args, exit) in [
        (3, &["charter", "new", "x", "--out", "x.toml", "--founder", &files[3]][..], 2),
        (0, &["charter", "sign", &text], 5),
    ] {
        let refused = call(&actors[who].state, args);
        let why = complaint(&refused);
        assert!(
            code(&refused) == exit && why.contains("U+200D") && !why.contains('\u{200d}'),
            "{args:?}: {why}"
        );
    }
    std::fs::write(&text, draft + &silence).unwrap();
    rename(&actors[3].state, LAST);
    for one in &actors {
        good(&one.state, &["charter", "sign", &text]);
    }
    actors
}

/// As a person sees it.
fn text(state: &Path, args: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_remove("FOLKMOOT_STATE").arg("--state").arg(state).args(args).stdin(Stdio::null());
    let output = command.output().unwrap();
    [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat()
}

struct Cast {
    place: Place,
    crowd: Crowd,
    actors: Vec<Actor>,
}

#[test]
fn id_91_nobody_is_taken_for_another() {
    let place = Place::new("people");
    let mut actors = found(&place);
    let crowd = Crowd::new(&actors);
    crowd.reads("charter verify", &text(&actors[0].state, &["charter", "verify", &signed(&place)]));
    crowd.reads("verify", &good(&actors[0].state, &["verify", &signed(&place)]).to_string());
    actors[0].start(&place, &[], &[]);
    let at = [actors[0].locator.clone()];
    actors.iter_mut().skip(1).for_each(|one| one.start(&place, &at, &[]));
    for member in 1..4 {
        actors[0].why(&actors[member].id.clone(), "present");
    }
    let cast = Cast { place, crowd, actors };
    cast.each_command_tells_them_apart();
    cast.what_is_said_has_its_speaker();
    cast.a_name_alone_decides_nothing();
    cast.a_proposal_names_its_member();
    cast.what_else_is_proposed_names_its_members();
    cast.a_chat_and_a_newcomer_are_told_of_them();
    cast.a_letter_has_its_writer();
    cast.who_asks_under_such_a_name_is_marked_or_refused();
    cast.offline();
}

fn signed(place: &Place) -> String {
    place.signed().display().to_string()
}

impl Cast {
    fn each_command_tells_them_apart(&self) {
        let first = &self.actors[0];
        for args in [&["roster"][..], &["status"], &["rules"], &["why", &self.actors[1].id], &["doctor"]] {
            let json = String::from_utf8(first.run(args).stdout).unwrap();
            self.crowd.reads(&format!("{args:?} --json"), &json);
            self.crowd.reads(&format!("{args:?}"), &text(&first.state, args));
        }
        let people = first.good(&["status"]);
        let people = people["people"].as_array().unwrap().clone();
        assert!(people.iter().all(|one| one["alike"] == true), "{people:?}");
        let ticket = text(&first.state, &["invite"]);
        self.crowd.reads("invite", &ticket);
    }

    fn what_is_said_has_its_speaker(&self) {
        let listens = |json: bool| {
            let mut command = match json {
                true => program(&self.actors[0].state),
                false => {
                    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"));
                    command.env_remove("FOLKMOOT_STATE").arg("--state").arg(&self.actors[0].state);
                    command
                }
            };
            command.args(["receive", "--count", "4", "--timeout", "60"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
        };
        let (json, plain) = (listens(true), listens(false));
        // They listen once they are connected; a word that came before would be missed.
        std::thread::sleep(std::time::Duration::from_secs(1));
        for one in &self.actors {
            one.good(&["send", "--sign", "hello"]);
        }
        for heard in [json, plain] {
            let heard = heard.wait_with_output().unwrap();
            assert!(heard.status.success());
            let heard = String::from_utf8(heard.stdout).unwrap();
            self.crowd.reads("receive", &heard);
            let told = self.actors.iter().map(|one| self.crowd.told(&one.id));
            assert!(told.into_iter().all(|name| heard.contains(name)), "{heard}");
        }
        let proof = self.place.path().join("proof.cms").display().to_string();
        self.crowd.reads("proof", &text(&self.actors[0].state, &["proof", "--out", &proof]));
        let charter = signed(&self.place);
        let args = ["verify", &proof, "--charter", &charter];
        self.crowd.reads("verify of a proof", &text(&self.actors[0].state, &args));
        self.crowd.reads("verify of a proof", &good(&self.actors[0].state, &args).to_string());
    }

    fn a_name_alone_decides_nothing(&self) {
        let first = &self.actors[0];
        for name in [ROMAN, ROUND, LAST, JOINER, "Anna"] {
            for args in [
                &["expel", name][..],
                &["why", name],
                &["voters", name],
                &["charter", "change", "roles.friends", name],
            ] {
                let refused = first.run(args);
                assert_eq!(code(&refused), 2, "{args:?}: {}", complaint(&refused));
                let why = complaint(&refused);
                let typed = format!("{name:?}");
                self.crowd.reads(&format!("{args:?}"), &why.replacen(&typed, "", 1));
                let all = self.actors.iter().map(|one| self.crowd.told(&one.id));
                assert!(all.into_iter().all(|told| why.contains(told)), "{args:?}: {why}");
            }
        }
        let nothing = first.good(&["vote", "list"]);
        assert_eq!(nothing, json!([]), "nothing was proposed");
    }

    fn a_proposal_names_its_member(&self) {
        let (first, round) = (&self.actors[0], &self.actors[2]);
        let proposed = first.good(&["expel", &round.id[..8]]);
        self.crowd.reads("expel", &proposed.to_string());
        let told = format!("expel {}", self.crowd.told(&round.id));
        let second = &self.actors[1];
        let list = second.until(&["vote", "list"], |list| list[0]["name"] == told.as_str());
        assert_eq!(list[0]["concerns"][0]["member"], round.id.as_str());
        self.crowd.reads("vote list --json", &list.to_string());
        self.crowd.reads("vote list", &text(&second.state, &["vote", "list"]));
        let refused = second.run(&["vote", "approve", "expel", ROMAN]);
        assert_eq!(code(&refused), 2, "{}", complaint(&refused));
        let voted = second.run(&["vote", "reject", &told]);
        self.crowd.reads("vote reject", &String::from_utf8(voted.stdout).unwrap());
        let taken = first.run(&["withdraw", &told]);
        assert_eq!(code(&taken), 0);
        self.crowd.reads("withdraw", &String::from_utf8(taken.stdout).unwrap());
        first.until(&["vote", "list"], |list| list.as_array().is_some_and(Vec::is_empty));
    }

    fn what_else_is_proposed_names_its_members(&self) {
        let [first, second, round] = [&self.actors[0], &self.actors[1], &self.actors[2]];
        let begin = [&first.id, &round.id, &second.id].map(|id| id[..8].to_owned());
        let digits: Vec<&str> = begin.iter().map(String::as_str).collect();
        for (who, args) in [
            (second, &["leave", "--for-good"][..]),
            (first, &[&["voters"], &digits[..]].concat()),
            (first, &["charter", "change", "roles.friends", digits[1]]),
        ] {
            let proposed = who.run(args);
            assert_eq!(code(&proposed), 0, "{args:?}: {}", String::from_utf8_lossy(&proposed.stderr));
            self.crowd.reads(&format!("{args:?} --json"), &String::from_utf8(proposed.stdout).unwrap());
            // Proposed once more it is the same; to be read by people.
            self.crowd.reads(&format!("{args:?}"), &text(&who.state, args));
            let list =
                round.until(&["vote", "list"], |list| list.as_array().is_some_and(|all| all.len() == 1));
            self.crowd.reads(&format!("vote list of {args:?}"), &list.to_string());
            self.crowd.reads(&format!("vote list of {args:?}"), &text(&round.state, &["vote", "list"]));
            let subject = list[0]["subject"].as_str().unwrap();
            who.good(&["withdraw", &subject[..8]]);
            for one in &self.actors {
                one.until(&["vote", "list"], |list| list.as_array().is_some_and(Vec::is_empty));
            }
        }
    }

    /// What is typed into a chat is answered as the commands are; and whoever wants to join is told
    /// who answers.
    fn a_chat_and_a_newcomer_are_told_of_them(&self) {
        let (first, round) = (&self.actors[0], &self.actors[2]);
        first.good(&["expel", &round.id[..8]]);
        first.until(&["vote", "list"], |list| !list[0].is_null());
        let chat = |state: &Path, args: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"));
            command.env_remove("FOLKMOOT_STATE").arg("--state").arg(state).args(args);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut talk = Talk::of(chat(&first.state, &["chat"]));
        let told = format!("/no expel {}", self.crowd.told(&round.id));
        for line in ["/who", "/votes", "/yes anna", "/expel anna", "/rules", &told, "hello"] {
            talk.types(line);
        }
        talk.closes();
        let said = talk.end();
        let said = [said.stdout, said.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        let said = said.replace("called \"anna\"", "").replace("\"anna\" ", "");
        self.crowd.reads("chat", &said);
        let told = self.actors.iter().map(|one| self.crowd.told(&one.id));
        assert!(told.into_iter().all(|name| said.contains(name)), "{said}");
        first.until(&["vote", "list"], |list| list.as_array().is_some_and(Vec::is_empty));

        let bob = Actor::called(&self.place, "eight", "bob");
        let charter = signed(&self.place);
        let join = chat(&bob.state, &["join", &charter, "--at", &first.locator, "--listen", "127.0.0.1:0"]);
        let join = Talk::of(join);
        std::thread::sleep(std::time::Duration::from_secs(5));
        join.interrupt();
        let said = join.end();
        let said = [said.stdout, said.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        assert!(said.contains("these answer: ") && said.contains(&first.locator), "{said}");
        self.crowd.reads("join", &said);
        first.until(&["vote", "list"], |list| list.as_array().is_some_and(Vec::is_empty));
    }

    /// A stranger of the same name writes, and is answered by one of them.
    fn a_letter_has_its_writer(&self) {
        let (first, charter) = (&self.actors[0], signed(&self.place));
        let seventh = Actor::called(&self.place, "seven", ROMAN);
        let mut command = program(&seventh.state);
        command.args(["write", &charter, "hello", "--timeout", "60", "--listen", "127.0.0.1:0"]);
        command.args(["--at", &first.locator]).stdin(Stdio::null()).stdout(Stdio::piped());
        let writing = command.stderr(Stdio::piped()).spawn().unwrap();
        let letters = first.until(&["letters"], |letters| !letters[0].is_null());
        let writer = format!("{ROMAN}≈{}", &seventh.id[..8]);
        assert!(letters.to_string().contains(&writer), "{letters}");
        let known = self.crowd.and(&seventh);
        known.reads("letters --json", &letters.to_string());
        known.reads("letters", &text(&first.state, &["letters"]));
        let refused = first.run(&["answer", ROMAN, "welcome"]);
        assert_eq!(code(&refused), 2, "a marked name alone answers nobody: {}", complaint(&refused));
        let answered = first.good(&["answer", &writer, "welcome"]);
        known.reads("answer", &answered.to_string());
        let heard = writing.wait_with_output().unwrap();
        let heard = [heard.stdout, heard.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
        assert!(heard.contains("welcome"), "{heard}");
        known.reads("write", &heard);
        known.reads("letters", &text(&first.state, &["letters"]));
    }

    fn who_asks_under_such_a_name_is_marked_or_refused(&self) {
        let at = [self.actors[0].locator.clone()];
        let mut fifth = Actor::called(&self.place, "five", "Anna");
        fifth.start(&self.place, &at, &["--apply"]);
        let first = &self.actors[0];
        let asks = |list: &Value| list[0]["member"] == fifth.id.as_str();
        let list = first.until(&["vote", "list"], asks);
        let name = list[0]["name"].as_str().unwrap();
        assert_eq!((name, &list[0]["alike"]), (format!("Anna≈{}", &fifth.id[..8]).as_str(), &json!(true)));
        let refused = first.run(&["vote", "approve", "Anna"]);
        assert_eq!(code(&refused), 2, "{}", complaint(&refused));
        for voter in &self.actors[..2] {
            voter.until(&["vote", "list"], asks);
            let voted = voter.good(&["vote", "approve", name]);
            self.crowd.reads("vote approve", &voted.to_string());
        }
        first.why(&fifth.id, "present");

        let sixth = Actor::called(&self.place, "six", "zoe");
        rename(&sixth.state, JOINER);
        let charter = signed(&self.place);
        let line = ["join", &charter, "--at", &at[0], "--listen", "127.0.0.1:0"];
        let refused = sixth.run(&line);
        assert_eq!(code(&refused), 5, "{}", String::from_utf8_lossy(&refused.stderr));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("nobody is admitted under this name"));
        assert_eq!(first.good(&["vote", "list"]), json!([]), "nobody was asked");
    }

    fn offline(mut self) {
        self.actors[0].kill();
        let folder = self.place.path().join("export").display().to_string();
        let first = &self.actors[0];
        self.crowd.reads("export", &text(&first.state, &["export", &folder]));
        let transcript = format!("{folder}/transcript.moot");
        let args = ["verify", &signed(&self.place), &transcript];
        self.crowd.reads("verify of a transcript", &text(&first.state, &args));
        self.crowd.reads("verify of a transcript", &good(&first.state, &args).to_string());
    }
}

#[test]
fn id_90_no_identity_is_made_under_a_name_that_cannot_be_told() {
    let place = Place::new("names");
    let names = [
        "an\u{200d}na",
        "anna\u{202e}",
        "   ",
        "\u{a0}",
        "anna, ben",
        "anna:2",
        "anna≈00000000",
        "👋",
        "\u{301}anna",
    ];
    for (at, name) in names.iter().enumerate() {
        let state = place.path().join(at.to_string());
        let refused = call(&state, &["identity", "new", name, "--no-passphrase"]);
        assert_eq!(code(&refused), 2, "{name:?}");
        assert!(complaint(&refused).contains("cannot be a name"), "{}", complaint(&refused));
        assert!(!state.join("identity.key").exists());
    }
    let made = good(&place.path().join("made"), &["identity", "new", "gru\u{308}n", "--no-passphrase"]);
    assert_eq!(made["name"], "grün");
    assert_eq!(made["words"].as_str().unwrap().split(' ').count(), 8);
    assert_eq!(made["qr"].as_str().unwrap().lines().count(), 19);
    let shown = text(&place.path().join("made"), &["identity", "show", "--qr"]);
    assert!(shown.contains(made["qr"].as_str().unwrap()), "{shown}");
}
