//! What every command prints with `--json`, word for word: one record for each in `records/`.
//!
//! Stories with real processes on loopback give each command once or more, and note its line, its
//! exit code, and what stands on its outputs. What varies from run to run is masked by what it is:
//! `<hex 64>`, `<words>`, `<date>`, `udp/<locator>`, `<number>` (`mask`). Of a program that goes on
//! the kinds of its events are noted, with their fields and types (`events`).
//!
//! ```text
//! club      a group of three      office    one with an authority and shares     clock    a wrong clock
//! replicas  an authority twice    fleet     publish and subscribe                 alone    what needs nobody
//! ```
//! If a field, a type or a word is another one, the test fails and shows the lines that differ. If
//! that was wanted, write the records anew, and read their difference as somebody whose program
//! reads these lines:
//!
//! ```text
//! FOLKMOOT_GOLDEN=write cargo test -p folkmoot-cli --test it golden::
//! ```

mod alone;
mod clock;
mod club;
mod events;
mod fleet;
mod mask;
mod office;
mod records;
mod replicas;
mod stage;

use crate::common::commands;
use crate::lcm::alone::alone;
use stage::Note;
use std::collections::BTreeSet;

/// Commands without a record, and why.
const WITHOUT: [(&str, &str); 2] = [
    ("bench", "another program answers, which these tests do not build"),
    ("completions", "prints the script of a shell, and never JSON"),
];
/// A command that no help lists.
const HIDDEN: &str = "fault";

const STORIES: [fn() -> Vec<Note>; 6] =
    [club::story, office::story, clock::story, replicas::story, fleet::story, alone::story];

#[test]
fn what_every_command_prints_for_programs_is_as_recorded() {
    alone("golden::what_every_command_prints_for_programs_is_as_recorded", || {
        let listed = std::thread::spawn(|| commands::helps().into_keys().collect::<BTreeSet<_>>());
        let told: Vec<_> = STORIES.into_iter().map(std::thread::spawn).collect();
        let mut commands = listed.join().unwrap();
        commands.insert(HIDDEN.to_owned());
        let ended: Vec<_> = told.into_iter().map(std::thread::JoinHandle::join).collect();
        let notes = ended.into_iter().flat_map(|story| story.expect("a story went wrong, as told above"));
        compare(notes.collect(), &commands);
    });
}

fn compare(notes: Vec<Note>, commands: &BTreeSet<String>) {
    let now = records::records(notes, commands);
    if std::env::var_os("FOLKMOOT_GOLDEN").is_some_and(|value| value == "write") {
        records::write(&now);
    }
    let has = |command: &String| now.contains_key(&format!("{}.json", command.replace(' ', "-")));
    let known = |command: &String| WITHOUT.iter().any(|(without, _)| without == command);
    let lacking: Vec<&String> = commands.iter().filter(|one| !has(one) && !known(one)).collect();
    let needless: Vec<&str> =
        WITHOUT.map(|(one, _)| one).into_iter().filter(|one| has(&(*one).to_owned())).collect();
    let told = records::differences(&now);
    assert!(
        told.is_empty(),
        "{told}Programs read these lines. If this change is wanted, write the records anew:\n\
         FOLKMOOT_GOLDEN=write cargo test -p folkmoot-cli --test it golden::"
    );
    assert!(
        lacking.is_empty(),
        "no story of golden/ gives these commands, nor says WITHOUT why: {lacking:?}"
    );
    assert!(needless.is_empty(), "they have records: {needless:?}");
}
