//! The rules in force, and which decisions made them.

use super::names::{Names, name};
use super::process::Process;
use super::render;
use crate::exit::Failure;
use crate::rules_shown;
use folkmoot::MemberId;
use folkmoot_base::{Blob, UnixTime};
use folkmoot_transcript::{Change, Transcript};
use serde_json::{Value, json};

/// A rule that no vote changes has no decision.
const FIXED: [&str; 6] = ["scheme", "mode", "hybrid_links", "authority", "authority.key", "authority.nodes"];

impl Process {
    pub(super) async fn rules_now(&mut self) -> Result<Value, Failure> {
        self.learn_names().await?;
        let names = self.names.clone();
        self.with_transcript(move |transcript| rules(transcript, &names)).await
    }
}

fn rules(transcript: &Transcript, names: &Names) -> Value {
    let (state, charter) = (transcript.state(), transcript.roster().charter());
    let who = |member: &MemberId| format!("{} ({})", name(names, member), member.short());
    let voters: Vec<String> = state.places().iter().map(|place| who(&place.voter)).collect();
    let mut rules = vec![rule(transcript, names, ("voters", &voters.join(", ")), state.electorate_stamp())];
    for (field, value) in rules_shown::all(charter, &who) {
        let change =
            Change::Charter { field: Blob::from(field.clone().into_bytes()), value: Blob::default() };
        let since = if FIXED.contains(&field.as_str()) { 0 } else { state.stamp(&change) };
        rules.push(rule(transcript, names, (&field, &value), since));
    }
    json!({ "head": state.head().whole(), "rules": rules })
}

/// One rule; `since` is the number of the decision that made it what it is, 0 for the founding.
fn rule(transcript: &Transcript, names: &Names, (field, value): (&str, &str), since: u64) -> Value {
    let decision = transcript.line().decisions().get(&since).map(|standing| &standing.proposal.decision);
    let made_by = decision.and_then(|decision| {
        decision.effects.iter().find(|approved| match &approved.effect.change {
            Change::Charter { field: of, .. } => of.0.as_ref() == field.as_bytes(),
            Change::Electorate { .. } => field == "voters",
            _ => false,
        })
    });
    let yes: Option<Vec<MemberId>> =
        made_by.map(|approved| approved.proofs.iter().map(|proof| proof.voter).collect());
    json!({
        "rule": field, "value": value, "since": since,
        "at": decision.map(|decision| UnixTime(decision.time.0).to_string()),
        "approved": yes.map(|yes| render::all(names, &yes)),
    })
}
