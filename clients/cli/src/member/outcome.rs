//! What became of a vote: whether it counts, beside whose, and what the matter waits for.
//!
//! ```text
//! order --> the member's transcript has the word --> counted: 1 of 2 votes, by whom
//!       |                                        '-> the matter is over: admitted, decided, rejected
//!       '-> not within a few seconds             --> waiting: not ordered yet
//! ```

use super::decide::Matter;
use super::process::Process;
use super::render;
use crate::exit::{Exit, Failure};
use folkmoot::{Digest, MemberId};
use folkmoot_identity::{Gmc, Verdict};
use folkmoot_transcript::{Item, Transcript, Uncounted, admission};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// So many seconds an answer waits for the vote's place in the group's order, unless told
/// otherwise, and at most.
const ORDERED: u64 = 4;
const ORDERED_MAX: u64 = 10;
/// The member is looked at so often meanwhile, if it says nothing.
const LOOK: Duration = Duration::from_millis(50);

/// A vote that was given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ballot {
    pub(super) approve: bool,
    /// The number of the last decision before it.
    pub(super) head: u64,
    /// So many seconds may pass until it is ordered.
    pub(super) wait: Option<u64>,
}

/// What the member's transcript says of a vote and of what it is on.
#[derive(Debug, Default, Clone)]
struct Known {
    /// Whether the word is in the transcript, and counts.
    ordered: bool,
    /// Why such a word is there and does not count.
    why: Option<Uncounted>,
    /// Whose yes counts, and who said no.
    yes: Vec<MemberId>,
    no: Vec<MemberId>,
    /// How many it takes; unknown once it is over.
    need: Option<u32>,
    /// The charter's rule, with how far each part is met.
    rule: Option<String>,
    /// What it waits for, if it is open and has the votes.
    waits: Option<&'static str>,
    /// How it ended, if it did.
    over: Option<&'static str>,
}

impl Process {
    /// Waits until the vote counts, or for a few seconds, and says which.
    pub(super) async fn outcome(&mut self, matter: &Matter, ballot: Ballot) -> Result<Value, Failure> {
        if self.office().await?.is_some() {
            return self.at_office(matter, ballot.approve).await;
        }
        let end = Instant::now() + Duration::from_secs(ballot.wait.unwrap_or(ORDERED).min(ORDERED_MAX));
        let mut need = 0;
        loop {
            let known = self.known(matter, ballot).await?;
            need = known.need.unwrap_or(need);
            let (settled, is_late) = (known.ordered || known.over.is_some(), Instant::now() >= end);
            if let Some(why) = known.why.as_ref().filter(|_| is_late && !settled) {
                let hint = format!("the vote is known to the group and does not count: {why}");
                return Err(Failure::new(Exit::Refused, hint));
            }
            if settled || is_late {
                return Ok(self.told(&known, need));
            }
            if let Ok(event) = tokio::time::timeout(LOOK, self.moot.next()).await
                && let Some(event) = event?
            {
                self.hear(event).await?;
            }
        }
    }

    /// The authority's own person decides alone, at once.
    async fn at_office(&self, matter: &Matter, approve: bool) -> Result<Value, Failure> {
        let open = self.moot.petitions().await?.iter().any(|one| one.subject == matter.subject);
        let over = (!open).then_some(if approve { "admitted" } else { "rejected" });
        let waits = (open && approve).then_some("admission");
        Ok(json!({
            "state": "counted", "have": u8::from(approve), "need": 1, "waits": waits, "over": over,
            "approved": [], "rejected": [],
        }))
    }

    fn told(&self, known: &Known, need: u32) -> Value {
        let (state, waits) = match (known.over, known.ordered) {
            (Some("admitted" | "overtaken" | "decided"), false) => ("overtaken", None),
            (Some(_), _) => ("counted", None),
            (None, true) => ("counted", Some(known.waits.unwrap_or("votes"))),
            (None, false) => ("waiting", Some("order")),
        };
        json!({
            "state": state, "have": known.yes.len(), "need": need, "waits": waits, "over": known.over,
            "approved": render::all(&self.names, &known.yes), "rejected": render::all(&self.names, &known.no),
            "rule": known.rule,
        })
    }

    async fn known(&self, matter: &Matter, ballot: Ballot) -> Result<Known, Failure> {
        let Ballot { approve, head, .. } = ballot;
        let (me, subject) = (self.moot.me(), matter.subject);
        if matter.kind == "proposal" {
            let open = self.moot.proposals().await?.into_iter().find(|one| one.subject == subject);
            let Some(open) = open else {
                return self.with_transcript(move |known| decided(known, &subject, &me, head)).await;
            };
            let said = if approve { &open.approved } else { &open.rejected };
            let (ordered, waits) = (said.contains(&me), (open.have >= open.need).then_some("decision"));
            let (yes, no, need, rule) = (open.approved, open.rejected, Some(open.need), open.rule);
            return Ok(Known { ordered, yes, no, need, rule, waits, ..Known::default() });
        }
        let open = self.moot.petitions().await?.into_iter().find(|one| one.subject == subject);
        let asks = matter.asks;
        let verdict = if approve { Verdict::Approve } else { Verdict::Reject };
        let look = move |known: &Transcript| admitted(known, (&subject, asks.as_ref()), (&me, verdict));
        let mut known = self.with_transcript(look).await?;
        if let Some(open) = open {
            (known.need, known.over, known.rule) = (Some(open.need), None, open.rule.clone());
            let enough = open.have >= open.need;
            known.waits = match (open.stale, open.waits) {
                (true, _) => Some("new-shares"),
                (_, Some(_)) => Some("authority"),
                _ => enough.then_some("admission"),
            };
        } else if known.over.is_none() {
            known.over = Some(if known.ordered && !approve { "rejected" } else { "overtaken" });
        }
        Ok(known)
    }
}

/// What is known of a request: its votes, as far as no decision holds the admission, and whether it
/// has admitted whoever asks.
fn admitted(
    transcript: &Transcript,
    (request, asks): (&Digest, Option<&MemberId>),
    (me, verdict): (&MemberId, Verdict),
) -> Known {
    let (state, subject) = (transcript.state(), admission(*request));
    let stamp = asks.map_or(0, |asks| state.removed_at(asks));
    let mut known = Known::default();
    for one in transcript.set().approvals_of(subject) {
        let counts = state.counts(one, stamp, state.time());
        if one.voter == *me && one.verdict == verdict {
            (known.ordered, known.why) = (counts.is_ok(), counts.clone().err());
        }
        match (counts.is_ok(), one.is_yes()) {
            (true, true) => known.yes.push(one.voter),
            (true, false) => known.no.push(one.voter),
            _ => {}
        }
    }
    let held = asks.and_then(|asks| transcript.set().members(state).get(asks).cloned());
    known.over = held.is_some_and(|held| held.request == *request).then_some("admitted");
    known.ordered |= known.over.is_some() && verdict == Verdict::Approve && carries(transcript, request, me);
    known
}

/// Whether what admitted somebody carries this voter's vote.
fn carries(transcript: &Transcript, request: &Digest, voter: &MemberId) -> bool {
    transcript.papers(request).any(|paper| {
        let Ok(Item::Admit { certificate, approvals }) = Item::decode(paper) else { return false };
        let beside = approvals.iter().any(|signed| signed.approval.voter == *voter);
        let inside = Gmc::from_der(&certificate.0).is_ok_and(|gmc| {
            let signers = gmc.multi().is_some_and(|multi| multi.signers().contains(voter));
            signers || gmc.votes().iter().any(|vote| vote.voter == *voter)
        });
        beside || inside
    })
}

/// What became of a proposal that is open no more: a decision after `head` carried it out, with
/// these votes; so many said no that it cannot be; or something else made it pointless.
fn decided(transcript: &Transcript, subject: &Digest, me: &MemberId, head: u64) -> Known {
    let after = transcript.line().decisions().range(head.saturating_add(1)..);
    let mut effects = after.flat_map(|(_, standing)| &standing.proposal.decision.effects);
    if let Some(approved) = effects.find(|one| one.effect.subject().digest == *subject) {
        let yes: Vec<MemberId> = approved.proofs.iter().map(|proof| proof.voter).collect();
        return Known { ordered: yes.contains(me), yes, over: Some("decided"), ..Known::default() };
    }
    let effect = transcript.set().effects().find(|effect| effect.subject().digest == *subject);
    let all = effect.into_iter().flat_map(|effect| transcript.set().approvals_of(effect.subject()));
    let (yes, no): (Vec<_>, Vec<_>) = all.partition(|one| one.is_yes());
    let ids = |all: Vec<&folkmoot_transcript::Approval>| all.iter().map(|one| one.voter).collect::<Vec<_>>();
    let (yes, no) = (ids(yes), ids(no));
    let over = if no.contains(me) { "rejected" } else { "overtaken" };
    Known { ordered: no.contains(me), yes, no, over: Some(over), ..Known::default() }
}
