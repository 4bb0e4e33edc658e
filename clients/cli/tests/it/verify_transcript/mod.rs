//! `folkmoot verify CHARTER TRANSCRIPT` finds every kind of tampering that
//! docs/protocol/transcript.md lists, each for its own reason, through the program itself. What a
//! tamperer could sign anew, having the key, is signed anew.

mod admissions;
mod decisions;
mod entries;
mod file;
mod judge;
mod world;

use folkmoot_base::Blob;
use folkmoot_identity::transcript::Body;
use judge::{stands, verify_by};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use world::{CHANGES, Moot, STORY, STRANGER, author, file_entries, forge_over, id, signed};

#[test]
fn an_honest_history_stands_and_is_told() {
    let file = STORY.honest_file();
    let told = stands("honest", &file, &[]);
    let roster = STORY.honest.roster();
    assert!(told["entries"].as_u64().unwrap() > CHANGES as u64);
    assert_eq!(told["entries"], STORY.honest.len());
    assert_eq!(
        (&told["splits"], &told["merges"], &told["contradictions"]),
        (&json!(1), &json!(1), &json!(0))
    );
    let sum: u64 =
        ["admissions", "expiries", "decisions"].map(|kind| told[kind].as_u64().unwrap()).iter().sum();
    assert_eq!(sum + 1, told["entries"], "every entry is one of them, or the first");
    let parts = ["removals", "charter_changes", "electorates"].map(|kind| told[kind].as_u64().unwrap());
    assert!(parts.iter().all(|part| *part > 0) && parts.iter().sum::<u64>() == told["decisions"]);
    let members: Vec<&str> =
        told["members"].as_array().unwrap().iter().map(|one| one["member"].as_str().unwrap()).collect();
    assert_eq!(members, roster.members().map(|one| one.member.hex()).collect::<Vec<_>>());
    assert!(told["former"].as_array().unwrap().iter().any(|one| one["member"] == id(world::EXPELLED).hex()));
    let heads: Vec<_> = STORY.honest.heads().iter().copied().collect();
    assert_eq!(told["heads"], json!(heads.iter().map(folkmoot_base::EntryId::hex).collect::<Vec<_>>()));
    stands("honest-again", &file, &heads);
}

/// The entry stands by its own past, as one from the other side of a split would; it admits nobody.
#[test]
fn an_expelled_member_resurrected_over_an_older_past() {
    let mut moot = Moot { t: STORY.honest.clone(), salt: 5_000_000 };
    let older = moot.t.heads().iter().copied().collect();
    moot.admit(STRANGER, [0, 1]);
    let old = moot.t.roster().member(&id(STRANGER)).unwrap().certificate.clone().unwrap();
    moot.expel(STRANGER, &[0, 1, 2]);
    let honest = stands("not-resurrected", &STORY.file(&file_entries(&moot.t)), &[]);
    let back = forge_over(&moot.t, older, Body::Admit { certificate: Blob(old) }, 3);
    moot.t.append(&back).unwrap();
    let told = stands("resurrected-over-older", &STORY.file(&file_entries(&moot.t)), &[]);
    assert_eq!(told["members"], honest["members"], "nobody is back");
    assert!(told["members"].as_array().is_some_and(|members| !members.is_empty()), "{told}");
}

#[test]
fn tampering_that_changes_nothing_passes() {
    // Every entry taken apart and signed anew by its author, who holds the key: the same bytes.
    let anew = |place: usize| match place {
        0 => STORY.entry(0).encode(),
        _ => signed(STORY.entry(place), author(&STORY.entry(place))),
    };
    let entries: Vec<_> = (0..STORY.entries.len()).map(anew).collect();
    let file = STORY.file(&entries);
    assert_eq!(file, STORY.honest_file());
    stands("nothing", &file, &[]);
    // The other member, who heard the sides in another order, exports the same file.
    let mut other = STORY.sides[1].clone();
    for entry in STORY.honest.entries() {
        other.append(entry).unwrap();
    }
    assert_eq!(other.file().flatten().collect::<Vec<u8>>(), file);
}

#[test]
fn a_charter_that_does_not_stand_judges_nothing() {
    let mut broken = STORY.charter.clone();
    let last = broken.len() - 3;
    broken[last] ^= 1;
    let output = verify_by("broken-charter", &broken, &STORY.honest_file(), &[]);
    assert_eq!(output.status.code(), Some(5));
    assert!(output.stdout.is_empty());
}

#[test]
fn codes_and_words_are_as_published() {
    let place = judge::Desk::new("words");
    let [charter, file] = [("charter.cms", STORY.charter.clone()), ("all.moot", STORY.honest_file())]
        .map(|(name, bytes)| place.write(name, &bytes));
    let short = place.write("short.moot", &STORY.file(&STORY.entries[..190]));
    let head = STORY.honest.heads().first().unwrap().hex();
    let (code, said, _) = place.run(&["verify", &charter, &file, "--head", &head.to_ascii_uppercase()]);
    assert_eq!(code, 0);
    for words in [
        "moot (",
        "founded by p0, p1, p2, p3; 2 votes of 4 admit",
        "1 split, 1 merge",
        "valid:",
        &format!("--head {head}"),
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let (code, said, complaint) = place.run(&["verify", &charter, &short, "--head", &head]);
    assert_eq!((code, said.as_str()), (1, ""), "a list of members that is out of date is not shown");
    assert!(complaint.contains("is not valid (TRN-44): the file is older than what you know"), "{complaint}");
    let forged = place
        .write("forged.moot", &STORY.and(world::admit_body(&world::gmc(&STORY.honest, 16, &[0, 5], 1)), 3));
    let (_, _, complaint) = place.run(&["verify", &charter, &forged]);
    let (voter, author) = (id(5).short(), id(3).short());
    assert!(
        complaint.contains(&format!("p5 ({voter}) had no vote. p3 ({author}) signed this entry")),
        "{complaint}"
    );
    for (line, want) in [
        (vec!["verify", &charter, &file, "--head", "abcd"], 2),
        (vec!["verify", &charter, "--head", &head], 2),
        (vec!["verify", &charter, &file, "--charter", &charter], 2),
        (vec!["verify", &charter, "missing.moot"], 3),
        (vec!["verify", "missing.cms", &file], 3),
        (vec!["verify", &charter, "."], 3),
        (vec!["verify", &file, &charter], 5),
    ] {
        assert_eq!(place.run(&line).0, want, "{line:?}");
    }
}

/// Rules that a text names.
fn rules(text: &str) -> BTreeSet<&str> {
    text.match_indices("TRN-").filter_map(|(at, _)| text.get(at..at + 6)).collect()
}

/// The table of what verify finds has every test here and no other, each with the rules that the
/// test asserts.
#[test]
fn the_table_of_what_verify_finds_is_of_these_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/protocol/transcript.md")).unwrap();
    let table = page.split("## What verify finds").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains("TRN-"));
    let listed: BTreeMap<String, BTreeSet<&str>> =
        rows.map(|row| (row.rsplit('`').nth(1).unwrap().to_owned(), rules(row))).collect();
    assert!(listed.len() >= 24, "{} rows", listed.len());
    let sources = ["file.rs", "entries.rs", "admissions.rs", "decisions.rs"]
        .map(|name| std::fs::read_to_string(root.join("tests/it/verify_transcript").join(name)).unwrap());
    let tests = sources.iter().flat_map(|text| text.split("#[test]\nfn ").skip(1));
    let tests: BTreeMap<String, BTreeSet<&str>> = tests
        .map(|test| (test.split('(').next().unwrap().to_owned(), rules(test.split("\n}\n").next().unwrap())))
        .collect();
    assert_eq!(listed, tests);
}
