//! What an honest file tells: as data, and in words.

use super::judge::{judged, verify};
use super::kinds::Whose;
use super::parts::{Case, HELD, Parts};
use super::world::{ANNA, BEN, CORA, DAN, DAY, EVA, FINN, FORKED, GUS, IDA, JO, Moot, STORY, change, id};
use crate::common::place::Place;
use crate::common::program::{code, complaint};
use folkmoot::tools::wall_clock;
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Force, Item};
use serde_json::{Value, json};
use std::process::Command;

fn told(name: &str, whose: Whose, case: &Case) -> Value {
    let output = verify(name, &whose.charter(), case);
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The program on plain text: exit code, standard output, standard error.
fn said(place: &Place, line: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.current_dir(place.path()).env("FOLKMOOT_STATE", place.path().join("nobody")).args(line);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (code(&output), text(&output.stdout), text(&output.stderr))
}

fn files(place: &Place, whose: Whose, file: &[u8]) -> [String; 2] {
    [("charter.cms", whose.charter()), ("line.moot", file.to_vec())].map(|(name, bytes)| {
        std::fs::write(place.path().join(name), bytes).unwrap();
        name.to_owned()
    })
}

#[test]
fn an_honest_file_is_told_as_data() {
    let told = told("honest", Whose::Story, &Whose::Story.honest());
    let moot = &STORY.moot;
    let head = moot.head();
    assert_eq!((&told["stands"], &told["head"]), (&json!(true), &json!(head.whole())));
    assert_eq!(told["head_words"].as_str().unwrap().split(' ').count(), 9);
    assert_eq!((&told["number"], &told["decided"]), (&json!(6), &json!(moot.t.state().time().0)));
    let handovers = moot.t.line().handovers_since(0).unwrap().0;
    assert_eq!((&told["verified"], handovers.len()), (&json!(handovers.len() + 1), 3), "and the last");
    let names = |list: &str| {
        let all = told[list].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut members = names("members");
    members.sort_unstable();
    assert_eq!(members, ["Anna", "Ben", "Cora", "Eva", "Finn", "Ida"]);
    assert_eq!((names("not_held"), names("late")), (vec!["Ida".to_owned()], vec!["Jo".to_owned()]));
    assert_eq!(told["late"][0]["rule"], "LINE-24");
    let member = |who: usize| {
        let mut all = told["members"].as_array().unwrap().iter();
        all.find(|one| one["member"] == id(who).hex()).unwrap()
    };
    assert_eq!((&member(ANNA)["until"], &member(ANNA)["votes"]), (&json!(null), &json!(true)));
    assert_eq!((&member(FINN)["held"], &member(FINN)["votes"]), (&json!(true), &json!(false)));
    assert_eq!(member(IDA)["held"], json!(false));
    assert!([DAN, GUS, JO].iter().all(|who| !told["members"].to_string().contains(&id(*who).hex())));
    let voters: Vec<&str> =
        told["voters"].as_array().unwrap().iter().map(|one| one["member"].as_str().unwrap()).collect();
    let places: Vec<String> = moot.t.state().places().iter().map(|place| place.voter.hex()).collect();
    assert_eq!(voters, places);
    assert_eq!(told["changes"]["request_hours"], "48");
    let proposal = &told["proposals"][0];
    assert_eq!(proposal["what"], format!("expel Finn ({})", id(FINN).short()));
    assert_eq!(proposal["approve"], json!([id(ANNA).hex()]));
    assert_eq!((&proposal["reject"], &proposal["rejected"]), (&json!([id(CORA).hex()]), &json!(false)));
    assert_eq!((&told["forks"], &told["compared"]), (&json!([]), &json!(true)));
}

#[test]
fn a_fork_is_told_with_the_names_of_those_who_signed_both() {
    let told = told("forks", Whose::Forked, &Whose::Forked.honest());
    let forks = told["forks"].as_array().unwrap();
    assert_eq!(forks.iter().map(|fork| fork["number"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 3]);
    for fork in forks {
        let liars = fork["signed_both"].as_array().unwrap();
        assert!(liars.contains(&json!(id(CORA).hex())) && !liars.contains(&json!(id(DAN).hex())), "{fork}");
        assert_eq!(fork["former"], json!(false));
    }
    let alone = verify("forks-alone", &Whose::Forked.charter(), &FORKED.file().into());
    let refused: Value = serde_json::from_slice(&alone.stdout).unwrap();
    assert_eq!((&refused["blame"], &refused["rule"]), (&json!("members"), &json!("LINE-86")));
    assert!(complaint(&alone).contains(&format!("Cora ({})", id(CORA).short())), "{}", complaint(&alone));
}

/// Ben, Cora and Dan vote no more, and show that they once decided otherwise.
#[test]
fn a_fork_by_former_voters_is_told_and_the_file_stands() {
    let mut moot = Moot::new(12);
    let theirs = moot.clone().pass(change("request_hours", "99"), &[BEN, CORA, DAN]);
    moot.pass(change("request_hours", "10"), &[ANNA, BEN, CORA]);
    let alone = Effect { change: Change::Electorate { voters: vec![id(ANNA)] }, force: Force::Yes };
    moot.propose(&alone, &[ANNA, BEN, CORA]);
    moot.decide(&[alone], &[ANNA, BEN, CORA]);
    moot.t.take(&Item::Decision(theirs).encode(), None).unwrap();
    let place = Place::new("line-former");
    std::fs::write(place.path().join("charter.cms"), moot.t.signed_charter().der()).unwrap();
    std::fs::write(place.path().join("line.moot"), moot.t.file()).unwrap();
    let (code, text, _) = said(&place, &["verify", "charter.cms", "line.moot"]);
    assert!(code == 0 && text.contains("signed both; only former voters committed to it"), "{text}");
    let (code, text, _) = said(&place, &["verify", "charter.cms", "line.moot", "--json"]);
    let told: Value = serde_json::from_str(&text).unwrap();
    let fork = &told["forks"][0];
    assert_eq!((code, &fork["number"], &fork["former"]), (0, &json!(1), &json!(true)), "{told}");
    assert!(fork["signed_both"].to_string().contains(&id(CORA).hex()), "{told}");
}

/// Anna alone wants to expel Finn; everybody else has said no.
#[test]
fn what_was_rejected_is_not_called_open() {
    for (no, word, rejected) in [(&[CORA][..], "open", false), (&[BEN, CORA, DAN], "rejected", true)] {
        let mut moot = Moot::new(13);
        let effect = Effect::from(change("request_hours", "48"));
        moot.propose(&effect, &[ANNA]);
        for who in no {
            let no = moot.sign(*who, moot.approval(*who, effect.subject(), Verdict::Reject));
            moot.take(&Item::Approval(no));
        }
        let place = Place::new("line-rejected");
        std::fs::write(place.path().join("charter.cms"), moot.t.signed_charter().der()).unwrap();
        std::fs::write(place.path().join("line.moot"), moot.t.file()).unwrap();
        let (_, text, _) = said(&place, &["verify", "charter.cms", "line.moot"]);
        let said_so = format!("\n{word}: change the charter: request_hours = 48; approved by Anna");
        assert!(text.contains(&said_so) && text.contains("valid: nothing is decided"), "{text}");
        let (_, text, _) = said(&place, &["verify", "charter.cms", "line.moot", "--json"]);
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(told["proposals"][0]["rejected"], json!(rejected), "{told}");
    }
}

/// Nobody has said that Gus is out: whoever reads the file knows by its own clock that his term is
/// over, and is told no more than that.
#[test]
fn a_member_whose_term_is_over_today_is_marked() {
    let mut moot = Moot::new(14);
    moot.now = wall_clock().0 - 10 * DAY;
    moot.admit(GUS, 2, &[ANNA, BEN]);
    moot.admit(FINN, 20, &[ANNA, BEN]);
    let place = Place::new("line-over");
    std::fs::write(place.path().join("charter.cms"), moot.t.signed_charter().der()).unwrap();
    std::fs::write(place.path().join("line.moot"), moot.t.file()).unwrap();
    let (code, text, _) = said(&place, &["verify", "charter.cms", "line.moot"]);
    let row = |name: &str| text.lines().find(|row| row.starts_with(name)).unwrap().to_owned();
    assert!(code == 0 && row("Gus").ends_with(", over today"), "{text}");
    assert!(["Finn", "Anna"].iter().all(|name| !row(name).contains("over")), "{text}");
    let (_, text, _) = said(&place, &["verify", "charter.cms", "line.moot", "--json"]);
    let told: Value = serde_json::from_str(&text).unwrap();
    let over = |who: usize| {
        let mut all = told["members"].as_array().unwrap().iter();
        all.find(|one| one["member"] == id(who).hex()).unwrap()["over"].clone()
    };
    assert_eq!([GUS, FINN, ANNA].map(over), [json!(true), json!(false), json!(false)]);
}

#[test]
fn codes_and_words_are_as_published() {
    let place = Place::new("line-words");
    let [charter, file] = files(&place, Whose::Story, &STORY.file());
    let head = STORY.moot.head();
    let (code, text, _) = said(&place, &["verify", &charter, &file]);
    assert_eq!(code, 0, "{text}");
    for words in [
        "founded by Anna, Ben, Cora, Dan; 2 votes of 4 admit",
        &format!("head {head}: 6 decisions made, the last at 2026-"),
        &format!("voters: Anna ({}), Ben", id(ANNA).short()),
        "charter now: request_hours = 48",
        "decisions hold 5 members; 1 admission counts and is not held yet",
        &format!("late, so not a member by this: Jo ({}): the charter's policy", id(JO).short()),
        &format!("open: expel Finn ({0}); approved by Anna ({1})", id(FINN).short(), id(ANNA).short()),
        "valid: every handover and the last decision were committed by those who could",
        "The file shows 4 of 6 decisions.",
        "A file proves its own line only",
        &format!("Compare the head {head} with somebody inside"),
        &format!("folkmoot verify charter.cms line.moot --head {}", head.whole()),
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let whole = head.whole();
    let short = whole[..whole.len() - 48].to_ascii_uppercase();
    let spoken = text.lines().find_map(|line| line.strip_prefix("head in words: ")).unwrap().to_owned();
    for known in [&whole, &short, &spoken, &spoken.replace(' ', "-")] {
        let (code, text, _) = said(&place, &["verify", &charter, &file, "--head", known]);
        assert!(code == 0 && text.contains("Keep the head for the next time"), "{text}");
    }
    let older = format!("{}.{}", head.number, "ab".repeat(32));
    let later = format!("77.{}", "ab".repeat(32));
    let misheard = format!("{} zoo", spoken.rsplit_once(' ').unwrap().0);
    for (known, words) in [
        (older, "is of another line"),
        (misheard, "is of another line"),
        (later, "before the head 77.abababab that you know"),
    ] {
        let (code, text, complaint) = said(&place, &["verify", &charter, &file, "--head", &known]);
        assert_eq!((code, text.as_str()), (1, ""));
        assert!(complaint.contains("is not valid (LINE-84)") && complaint.contains(words), "{complaint}");
    }
    for (line, want) in [
        (vec!["verify", &charter, &file, "--head", "abcd"], 2),
        (vec!["verify", &charter, &file, "--head", "6.abcdefabcdefabc"], 2),
        (vec!["verify", &charter, &file, "--head", &whole[2..]], 2),
        (vec!["verify", &charter, &file, "--head", &spoken[2..]], 2),
        (vec!["verify", &charter, &file, "--head", "6 zoo zone"], 2),
        (vec!["verify", &charter, "missing.moot"], 3),
        (vec!["verify", &charter, "."], 3),
        (vec!["verify", &file, &charter], 5),
        (vec!["verify", &charter, "/dev/zero"], 1),
        (vec!["verify", &charter, "/dev/null"], 1),
    ] {
        assert_eq!(said(&place, &line).0, want, "{line:?}");
    }
}

/// The file may come from somebody who wants to be taken for another.
#[test]
fn what_cannot_be_seen_is_not_printed() {
    let mut moot = Moot::new(11);
    let value = "48\u{202e}\u{200b}\u{1b}[2J";
    let effect = Effect::from(Change::Charter {
        field: b"request_\0hours".to_vec().into(),
        value: value.as_bytes().to_vec().into(),
    });
    moot.propose(&effect, &[ANNA]);
    let place = Place::new("line-hidden");
    std::fs::write(place.path().join("charter.cms"), moot.t.signed_charter().der()).unwrap();
    std::fs::write(place.path().join("line.moot"), moot.t.file()).unwrap();
    let (code, text, _) = said(&place, &["verify", "charter.cms", "line.moot"]);
    assert_eq!(code, 0);
    assert!(text.contains("open: change the charter: request_\u{fffd}hours = 48"), "{text}");
    let hidden = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    assert!(!text.contains(hidden), "{text:?}");
}

/// Nothing in a file proves that it has all: what is left out is missed by nobody outside.
#[test]
fn what_is_left_out_of_the_set_is_not_missed() {
    let charter = Whose::Story.charter();
    let certificates = Parts::story().without(HELD);
    assert_eq!(judged(&charter, &certificates.file(), &[STORY.moot.head()]), Ok(()));
    let mut parts = Parts::story();
    parts.0.retain(|(kind, bytes)| *kind != 5 || matches!(Item::decode(bytes), Ok(Item::Admit { .. })));
    let told = told("left-out", Whose::Story, &parts.into());
    assert_eq!(told["proposals"], json!([]));
    assert!(told["members"].to_string().contains(&id(EVA).hex()), "{told}");
}
