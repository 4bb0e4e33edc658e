//! Reads what a transcript says of decisions, sharings and admissions, if the charter's scheme is
//! not plain.

use super::company::Names;
use crate::record::{Minute, Player};
use folkmoot_base::{Digest, digest};
use folkmoot_identity::{Gmc, Scheme};
use folkmoot_signing::shared::{self, SharingFacts};
use folkmoot_transcript::{Change, Decision, Item, Standing, Transcript};
use std::collections::BTreeSet;

/// What it has read already.
#[derive(Debug, Default)]
pub(super) struct Scribe {
    mark: Option<Digest>,
    decisions: BTreeSet<u64>,
    admitted: BTreeSet<Digest>,
    /// The sharing that was in use when it last read.
    sharing: Option<SharingFacts>,
}

/// A name that reveals nothing but equality.
pub(super) fn short(digest: &[u8]) -> String {
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a sharing: of its public part, as shares lie on disk.
pub(super) fn sharing_name(public: &[u8]) -> String {
    short(&digest(&[public]))
}

impl Scribe {
    /// What is new.
    pub(super) fn read(&mut self, transcript: &Transcript, names: &Names) -> Vec<Minute> {
        let mark = transcript.digest();
        if self.mark.replace(mark) == Some(mark) {
            return Vec::new();
        }
        let scheme = transcript.roster().founding_charter().scheme();
        let mut before = self.sharing.clone();
        let mut out = Vec::new();
        let decisions: Vec<&Standing> = transcript.line().decisions().values().collect();
        for standing in decisions {
            let decision = &standing.proposal.decision;
            if !self.decisions.insert(decision.number) {
                continue;
            }
            // What it holds was judged by the state before it.
            for request in &decision.holds {
                out.extend(self.admit(transcript, request, before.as_ref(), names));
            }
            out.extend(decided(scheme, decision));
            before = sharing_in(scheme, decision).or(before);
        }
        self.sharing = transcript.roster().sharing().map(|now| now.facts.clone());
        let counted: Vec<Digest> = transcript.set().counted().map(|admit| admit.request).collect();
        for request in counted {
            let now = self.sharing.clone();
            out.extend(self.admit(transcript, &request, now.as_ref(), names));
        }
        out
    }

    /// An admission that counts or is held, once: by what certificate, where which sharing was in
    /// use.
    fn admit(
        &mut self,
        transcript: &Transcript,
        request: &Digest,
        past: Option<&SharingFacts>,
        names: &Names,
    ) -> Option<Minute> {
        if !self.admitted.insert(*request) {
            return None;
        }
        // There may be more than one, made before and after a sharing; it counts if one of them does.
        let papers = transcript.papers(request).filter_map(|paper| match Item::decode(paper) {
            Ok(Item::Admit { certificate, .. }) => Gmc::from_der(&certificate.0).ok(),
            _ => None,
        });
        let mut papers: Vec<Gmc> = papers.collect();
        let names_past = |gmc: &Gmc| gmc.issued() == past.map(|facts| facts.epoch);
        let gmc = papers.iter().position(names_past).unwrap_or_default();
        let gmc = (gmc < papers.len()).then(|| papers.swap_remove(gmc))?;
        let signers: BTreeSet<Player> =
            names.players(gmc.multi().map(|multi| multi.signers()).unwrap_or_default());
        Some(Minute::Admitted {
            who: names.player(&gmc.member())?,
            request: short(request),
            names: gmc.issued().map(|epoch: Digest| short(&epoch)),
            past: past.map(|facts| short(&facts.epoch)),
            verifies: past.is_some_and(|facts| gmc.check_issued(&facts.key).is_ok()),
            signers,
        })
    }
}

/// The sharing that a decision took into use, if it did.
fn sharing_in(scheme: Scheme, decision: &Decision) -> Option<SharingFacts> {
    let changes = decision.effects.iter().rev().map(|approved| &approved.effect.change);
    changes
        .filter_map(|change| match change {
            Change::Sharing { public, .. } => shared::facts(scheme, &public.0).ok(),
            _ => None,
        })
        .next()
}

fn decided(scheme: Scheme, decision: &Decision) -> Vec<Minute> {
    let serial = decision.number;
    let mut out = vec![Minute::Decided { serial, decision: short(&decision.digest()) }];
    for approved in &decision.effects {
        let Change::Sharing { public, .. } = &approved.effect.change else { continue };
        let Ok(facts) = shared::facts(scheme, &public.0) else { continue };
        let (name, threshold) = (sharing_name(&public.0), facts.threshold);
        let key = short(&digest(&[format!("{:?}", facts.key).as_bytes()]));
        out.push(Minute::Shared { serial, name, epoch: short(&facts.epoch), threshold, key });
    }
    out
}
