//! The chapters of docs/cli.md, docs/pubsub.md and README.md, each played by a test of its own, and
//! a count of the blocks: each is played, or the page says why no test runs it.

use super::blocks::{Block, blocks, read};
use super::script::{names, script};
use super::stage::Stage;
use super::wording::{is_text, texts};

const CLI: &str = "docs/cli.md";
const PUBSUB: &str = "docs/pubsub.md";
const CONTROL: &str = "docs/control.md";
const README: &str = "README.md";
/// Chapters that have a test elsewhere in this folder.
const ELSEWHERE: [(&str, &str); 1] = [(README, "Five minutes")];

fn scripts(page: &str) -> String {
    let file = |name: &str| read(&format!("clients/cli/tests/it/readme/plays/{name}.txt"));
    match page {
        CLI => file("cli"),
        // Its group is the same.
        CONTROL => file("control") + &file("cli"),
        _ => file("pubsub"),
    }
}

/// Plays the blocks of a chapter that are to be run.
fn play(name: &str, page: &str, chapter: &str) {
    play_changed(name, page, chapter, str::to_owned);
}

/// The same with a change of the page.
fn play_changed(name: &str, page: &str, chapter: &str, change: impl FnOnce(&str) -> String) {
    let is = |block: &Block| block.chapter == chapter && block.excuse.is_none();
    let blocks: Vec<Block> = blocks(&change(&read(page))).into_iter().filter(is).collect();
    assert!(!blocks.is_empty(), "{page} has no chapter {chapter:?} with blocks that are run");
    Stage::new(name, scripts(page)).plays(chapter, &blocks);
}

macro_rules! chapters {
    ($($test:ident: $page:ident $chapter:literal,)*) => {
        const PLAYED: &[(&str, &str)] = &[$(($page, $chapter)),*];
        $(#[test]
        fn $test() {
            play(stringify!($test), $page, $chapter);
        })*
    };
}

chapters! {
    names_that_look_alike: CLI "Names that look alike",
    identity_and_charter: CLI "Identity and charter",
    passphrases: CLI "Passphrases",
    another_key: CLI "Another key",
    chat_join_member: CLI "Chat, join, member",
    host_names: CLI "Host names",
    leave: CLI "Leave",
    tickets: CLI "Tickets",
    endorsements: CLI "Endorsements",
    send_and_receive: CLI "Send and receive",
    votes: CLI "Votes",
    taking_back: CLI "Taking back",
    rules: CLI "Rules",
    who_comes_in_who_goes: CLI "Who comes in, who goes",
    a_program_that_votes: CLI "A program that votes",
    requests_by_csr: CLI "Requests by CSR",
    signed_messages: CLI "Signed messages",
    letters: CLI "Letters",
    status_roster_why: CLI "Status, roster, why",
    two_lines: CLI "Two lines",
    shares: CLI "Shares of the group's key",
    export: CLI "Export",
    verify_a_transcript: CLI "Verify a transcript",
    an_authority: CLI "An authority",
    replicas: CLI "Replicas of an authority",
    when_a_machine_is_lost: CLI "When a machine is lost",
    demo: CLI "Demo",
    doctor: CLI "Doctor",
    completions_and_manual_pages: CLI "Completions and manual pages",
    lcm: CLI "lcm",
    several_files: CLI "Several files",
    playing_a_log: CLI "Playing a log",
    fields: CLI "Fields",
    secured: CLI "Secured",
    papers: CLI "Papers",
    the_bridge: CLI "The bridge",
    five_minutes_of_publish_and_subscribe: PUBSUB "An LCM user's five minutes",
    permissions: PUBSUB "Permissions",
    control_lines: CONTROL "Lines",
}

/// What is said of "Verify a transcript" when its page is changed so.
fn changed(name: &str, from: &str, to: &str) -> String {
    let play = || {
        play_changed(name, CLI, "Verify a transcript", |page| {
            assert!(page.contains(from), "{from}");
            page.replace(from, to)
        });
    };
    let why = std::panic::catch_unwind(std::panic::AssertUnwindSafe(play)).expect_err("a change is noticed");
    why.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// A word that the program does not say, a line that it does not show, one that it does show and
/// the page does not, a command that it does not know, and one that ends otherwise.
#[test]
fn a_page_that_says_otherwise_is_noticed() {
    for (number, (from, to, why)) in [
        ("valid: every handover", "valid: each handover", "valid: each handover"),
        ("    charter now: quorum", "    more\n    charter now: quorum", "part at Err(\"more"),
        ("    charter now: quorum = two-thirds\n", "", "part at Err(\"charter now: request"),
        (
            "moot verify charter.cms transcript",
            "moot prove charter.cms transcript",
            "unrecognized subcommand",
        ),
        (
            "    $ folkmoot verify charter.cms f",
            "    $ folkmoot verify x\n    $ folkmoot verify charter.cms f",
            "exit code 3",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let said = changed(&format!("changed-{number}"), from, to);
        assert!(said.contains(why), "{from}: {said}");
    }
}

#[test]
fn each_block_is_run_or_says_why_not() {
    let mut missing = Vec::new();
    for page in [CLI, CONTROL, PUBSUB, README] {
        for block in blocks(&read(page)) {
            let chapter = (page, block.chapter.as_str());
            let is_run = PLAYED.contains(&chapter) || ELSEWHERE.contains(&chapter);
            if block.excuse.is_none() && !block.is_said() && !is_run {
                missing.push(format!("{page}:{} {}: {}", block.at, block.chapter, block.lines[0]));
            }
        }
    }
    assert!(missing.is_empty(), "blocks that no test runs, without a word on why:\n{}", missing.join("\n"));
}

/// What a page shows without a command is what some program says, or a script has the command.
#[test]
fn each_line_without_a_command_is_a_text() {
    let texts = texts(&read("clients/cli/tests/it/texts/texts.txt"));
    let mut missing = Vec::new();
    for page in [CLI, CONTROL, PUBSUB, README] {
        for block in blocks(&read(page)).iter().filter(|block| block.is_said() && block.excuse.is_none()) {
            let cues = script(&scripts(page), &block.chapter).cues;
            let is_run = cues.iter().any(|cue| cue.says.is_some() && block.lines[0].contains(&cue.at));
            let wrong = block.lines.iter().filter(|line| !is_run && !is_text(line, &texts));
            missing.extend(wrong.map(|line| format!("{page}:{} {line}", block.at)));
        }
    }
    assert!(missing.is_empty(), "no program says so:\n{}", missing.join("\n"));
}

/// No script waits for a chapter that is not there.
#[test]
fn each_script_is_of_a_chapter_or_is_used() {
    for page in [CLI, PUBSUB] {
        let file = scripts(page);
        for name in names(&file) {
            let is_used = file.lines().any(|line| line.trim() == format!("use {name}"));
            assert!(is_used || PLAYED.contains(&(page, name)), "{page}: {name}");
        }
    }
}
