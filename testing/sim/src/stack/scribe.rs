//! Reads what a transcript says of decisions, sharings and admissions, if the charter's scheme is
//! not plain.

use super::company::Names;
use crate::record::{Minute, Player};
use folkmoot_base::{Digest, EntryId, digest};
use folkmoot_identity::transcript::{Body, Entry};
use folkmoot_identity::{Decision, Gmc, Scheme, Transcript};
use folkmoot_signing::shared::{self, SharingFacts};
use std::collections::{BTreeMap, BTreeSet};

/// What it has read already.
#[derive(Debug, Default)]
pub(super) struct Scribe(BTreeSet<EntryId>);

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
        if transcript.len() == self.0.len() {
            return Vec::new();
        }
        let scheme = transcript.roster().founding_charter().scheme();
        let entries: BTreeMap<EntryId, Entry> = transcript
            .entries()
            .filter_map(|bytes| Some((Entry::id_of(bytes), Entry::decode(bytes).ok()?)))
            .collect();
        let fresh: Vec<EntryId> = entries.keys().filter(|id| !self.0.contains(*id)).copied().collect();
        let mut out = Vec::new();
        for id in fresh {
            if let Some(entry) = entries.get(&id) {
                out.extend(minutes(scheme, entry, &entries, names));
            }
            self.0.insert(id);
        }
        out
    }
}

fn minutes(scheme: Scheme, entry: &Entry, entries: &BTreeMap<EntryId, Entry>, names: &Names) -> Vec<Minute> {
    match &entry.body {
        Body::Decide { decision, votes } => {
            let serial = votes.slot.serial;
            let mut out = vec![Minute::Decided { serial, decision: short(&decision.digest()) }];
            if let Some(facts) = sharing_in(scheme, decision)
                && let Decision::Sharing { public, .. } = decision
            {
                let (name, threshold) = (sharing_name(&public.0), facts.threshold);
                let key = short(&digest(&[format!("{:?}", facts.key).as_bytes()]));
                out.push(Minute::Shared { serial, name, epoch: short(&facts.epoch), threshold, key });
            }
            out
        }
        Body::Admit { certificate } => {
            admitted(scheme, &certificate.0, entry, entries, names).into_iter().collect()
        }
        Body::Genesis { .. } | Body::Expire { .. } | Body::Refuse { .. } | Body::RefuseCsr { .. } => {
            Vec::new()
        }
    }
}

fn admitted(
    scheme: Scheme,
    der: &[u8],
    entry: &Entry,
    entries: &BTreeMap<EntryId, Entry>,
    names: &Names,
) -> Option<Minute> {
    let gmc = Gmc::from_der(der).ok()?;
    let past = sharing_before(scheme, entry, entries);
    let signers: BTreeSet<Player> =
        names.players(gmc.multi().map(|multi| multi.signers()).unwrap_or_default());
    Some(Minute::Admitted {
        who: names.player(&gmc.member())?,
        request: short(&gmc.body().request_digest().ok()?),
        names: gmc.issued().map(|epoch: Digest| short(&epoch)),
        past: past.as_ref().map(|facts| short(&facts.epoch)),
        verifies: past.is_some_and(|facts| gmc.check_issued(&facts.key).is_ok()),
        signers,
    })
}

/// The sharing in use in the past of an entry: of the latest serial among its ancestors.
fn sharing_before(scheme: Scheme, entry: &Entry, entries: &BTreeMap<EntryId, Entry>) -> Option<SharingFacts> {
    let mut ahead: Vec<EntryId> = entry.parents.clone();
    let mut seen = BTreeSet::new();
    let mut latest: Option<(u64, SharingFacts)> = None;
    while let Some(id) = ahead.pop() {
        let Some(ancestor) = entries.get(&id).filter(|_| seen.insert(id)) else { continue };
        ahead.extend(&ancestor.parents);
        if let Body::Decide { decision, votes } = &ancestor.body
            && let Some(facts) = sharing_in(scheme, decision)
            && latest.as_ref().is_none_or(|(serial, _)| votes.slot.serial > *serial)
        {
            latest = Some((votes.slot.serial, facts));
        }
    }
    latest.map(|(_, facts)| facts)
}

fn sharing_in(scheme: Scheme, decision: &Decision) -> Option<SharingFacts> {
    let Decision::Sharing { public, .. } = decision else { return None };
    shared::facts(scheme, &public.0).ok()
}
