//! `folkmoot verify CHARTER TRANSCRIPT` on a line's file: what an honest file tells, and every kind
//! of tampering that docs/protocol/line.md lists, each for its own rule, in process and through the
//! program. What a tamperer could sign anew, having the key, is signed anew.

mod bounds;
mod judge;
mod keyed;
pub(crate) mod kinds;
mod parts;
mod told;
mod wide;
mod world;

use judge::{judged, refused, refused_by_program};
use kinds::{Kind, kinds};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[test]
fn every_kind_of_tampering_hits_its_rule() {
    let all = kinds();
    assert!(all.len() >= 60, "{} kinds", all.len());
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for Kind { name, rule, story, tampered } in &all {
        assert!(seen.insert(*name), "{name} is there twice");
        let honest = story.honest();
        assert_eq!(judged(&story.charter(), &honest.file, &honest.heads), Ok(()), "{name}: honest");
        let got = refused(&story.charter(), &tampered());
        if got != *rule {
            wrong.push(format!("{name}: {got}, not {rule}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_program_refuses_every_kind_by_its_rule() {
    for Kind { name, rule, story, tampered } in &kinds() {
        refused_by_program(name, &story.charter(), &tampered(), rule);
    }
}

/// The page lists every kind here and no other, each with its rule.
#[test]
fn the_page_lists_every_kind_of_tampering() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/protocol/line.md")).unwrap();
    let table = page.split("\n## Tampering\n").nth(1).expect("the section").split("\n## ").next().unwrap();
    let row = |row: &str| -> Option<(String, String)> {
        let mut cells = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let (kind, rule) = (cells.next()?, cells.next()?);
        rule.starts_with("LINE-").then(|| (kind.to_owned(), rule.to_owned()))
    };
    let listed: BTreeMap<String, String> = table.lines().filter_map(row).collect();
    let tested: BTreeMap<String, String> =
        kinds().iter().map(|kind| (kind.name.to_owned(), kind.rule.to_owned())).collect();
    let rows: Vec<String> = kinds().iter().map(|kind| format!("| {} | {} |", kind.name, kind.rule)).collect();
    assert_eq!(listed, tested, "the rows are:\n{}", rows.join("\n"));
}
