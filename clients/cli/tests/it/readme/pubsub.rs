//! The five minutes in docs/pubsub.md, word for word, by somebody at a terminal. A block that no
//! test can run has a comment before it that says why.

use crate::common::place::Place;
use crate::lcm::passphrases::typed_at;
use std::path::Path;
use std::process::Command;

const CHAPTER: &str = "## An LCM user's five minutes";
const NOT_RUN: &str = "<!-- no test runs this:";
const WORD: &str = "correct horse battery staple";

/// The blocks of commands that are to be run.
fn blocks(page: &str) -> Vec<Vec<&str>> {
    let chapter = page.split(CHAPTER).nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let parts: Vec<&str> = chapter.split("\n\n").collect();
    let is_run = |pair: &&[&str]| pair[1].starts_with("    ") && !pair[0].starts_with(NOT_RUN);
    parts.windows(2).filter(is_run).map(|pair| pair[1].lines().map(str::trim).collect()).collect()
}

/// What a command asks, and what is typed.
fn answers(line: &str) -> &'static [(&'static str, &'static str)] {
    match line {
        _ if line.contains("lcm root new") => {
            &[("New passphrase:", WORD), ("The same passphrase again:", WORD)]
        }
        _ if line.contains("lcm certify") => &[("Passphrase of root/root.key:", WORD)],
        _ => &[],
    }
}

#[test]
fn five_minutes_of_publish_and_subscribe() {
    let page = include_str!("../../../../../docs/pubsub.md");
    let (place, blocks) = (Place::new("pubsub"), blocks(page));
    assert!(!blocks.is_empty(), "docs/pubsub.md has commands that are run");
    let own = Path::new(env!("CARGO_BIN_EXE_folkmoot")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    for line in blocks.concat() {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(place.path()).env("HOME", place.path()).env("PATH", &path);
        let (code, shown) = typed_at(shell, answers(line));
        assert_eq!(code, 0, "{line}: {shown}");
    }
    for folder in ["rover", "arm"] {
        assert!(place.path().join(folder).join("member.crt").exists(), "{folder} is there to be copied");
    }
}

#[test]
fn a_block_is_run_unless_the_page_says_why_not() {
    let page = format!(
        "{CHAPTER}\n\nTalk:\n\n    a\n    b\n\n{NOT_RUN} two hosts -->\n\n    c\n\n## More\n\n    d\n"
    );
    assert_eq!(blocks(&page), [vec!["a", "b"]]);
}
