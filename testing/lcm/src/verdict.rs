//! What the rounds of junk say together.

use crate::Outcome;
use crate::statistics::{median, rounded};
use serde_json::json;

/// How long a newcomer may wait for its keys, and an exclusion take.
const SECONDS_MAX: f64 = 2.0;

/// One round of one kind of junk. What is lost is a share of what was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) kind: &'static str,
    pub(crate) round: usize,
    pub(crate) datagrams_a_second: f64,
    pub(crate) newcomer_seconds: f64,
    pub(crate) exclusion_seconds: f64,
    pub(crate) honest_lost: f64,
    pub(crate) liblcm_lost: f64,
}

impl Measured {
    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "junk": self.kind, "round": self.round,
            "datagrams_a_second": self.datagrams_a_second.round(),
            "newcomer_seconds": rounded(self.newcomer_seconds),
            "exclusion_seconds": rounded(self.exclusion_seconds),
            "honest_lost": rounded(self.honest_lost), "liblcm_lost": rounded(self.liblcm_lost),
        })
    }
}

/// Says what all rounds of each kind say together; fails if one of them took too long, or if by
/// the medians more is lost than of liblcm's.
pub(crate) fn judge(kinds: &[&'static str], all: &[Measured]) -> Outcome<()> {
    let mut wrong = Vec::new();
    for kind in kinds {
        let rounds: Vec<Measured> = all.iter().filter(|one| one.kind == *kind).copied().collect();
        if !rounds.is_empty() {
            wrong.extend(of_kind(kind, &rounds));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// What is wrong with one kind.
fn of_kind(kind: &str, rounds: &[Measured]) -> Vec<String> {
    let each = |of: fn(&Measured) -> f64| rounds.iter().map(of).collect::<Vec<f64>>();
    let most = |of| each(of).into_iter().fold(0.0, f64::max);
    let newcomer = most(|one| one.newcomer_seconds);
    let exclusion = most(|one| one.exclusion_seconds);
    let ours = median(&each(|one| one.honest_lost));
    let theirs = median(&each(|one| one.liblcm_lost));
    println!(
        "{}",
        json!({
            "junk": kind, "of": rounds.len(), "newcomer_seconds_most": rounded(newcomer),
            "exclusion_seconds_most": rounded(exclusion), "honest_lost_median": rounded(ours),
            "liblcm_lost_median": rounded(theirs),
        })
    );
    let late = [("a newcomer", newcomer), ("an exclusion", exclusion)];
    let late = late.into_iter().filter(|(_, took)| *took > SECONDS_MAX);
    let late = late.map(|(what, took)| format!("junk, {kind}: {what} took {took:.1} s"));
    let more = (ours > theirs).then(|| format!("junk, {kind}: {ours} is lost, of liblcm's {theirs}"));
    late.chain(more).collect()
}
