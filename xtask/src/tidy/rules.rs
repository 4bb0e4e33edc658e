//! Every check on peer input has a number, a line in docs/protocol/ or docs/pubsub.md, and a test
//! named after it.

use super::Source;
use std::collections::BTreeSet;

/// Lists rules without a test, and tests of rules that no page has.
pub(super) fn check(rust: &[Source], docs: &[Source]) -> Vec<String> {
    let stated: BTreeSet<String> = docs
        .iter()
        .filter(|page| page.path.starts_with("docs/protocol/") || page.path == "docs/pubsub.md")
        .flat_map(|page| page.text.lines().filter(|line| line.starts_with('|')).filter_map(stated))
        .collect();
    let tested: BTreeSet<String> =
        rust.iter().flat_map(|source| source.text.lines().filter_map(tested)).collect();
    let untested = stated.difference(&tested).map(|rule| format!("rule {rule} has no test named after it"));
    let unstated =
        tested.difference(&stated).map(|rule| format!("a test names rule {rule}, which no page states"));
    untested.chain(unstated).collect()
}

/// The rule that a table line of a page states: its first cell, `LINK-03`.
fn stated(line: &str) -> Option<String> {
    let cell = line.trim_start_matches('|').split('|').next()?.trim().trim_matches(['*', '`']);
    is_rule(cell).then(|| cell.to_owned())
}

/// The rule that a test's name starts with: `fn link_03_…`.
fn tested(line: &str) -> Option<String> {
    let name = line.trim_start().strip_prefix("fn ")?;
    let mut words = name.split('_');
    let rule = format!("{}-{}", words.next()?.to_uppercase(), words.next()?);
    is_rule(&rule).then_some(rule)
}

fn is_rule(text: &str) -> bool {
    text.split_once('-').is_some_and(|(layer, number)| {
        (2..=5).contains(&layer.len())
            && layer.chars().all(|c| c.is_ascii_uppercase())
            && number.len() == 2
            && number.chars().all(|c| c.is_ascii_digit())
    })
}
