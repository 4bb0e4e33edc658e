//! The decisions of a file and the state after them, taken out to be changed, and put back signed
//! by those who vote then.

use super::line;
use super::wire::StateWire;
use crate::Group;
use crate::mutate::Section;
use folkmoot_base::{Digest, MemberId, SignatureBytes, codec, digest};
use folkmoot_transcript::{Commit, Electorate, Electors, Promise, Stage, Standing, State};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a file shows of a line.
pub(super) struct Chain {
    /// The handovers, and the last decision.
    pub(super) standings: Vec<Standing>,
    pub(super) state: StateWire,
}

impl Chain {
    /// What a file shows, if anything is decided.
    pub(super) fn of(sections: &[Section]) -> Option<Self> {
        let of_line = line::places(sections, |kind| kind == 2 || kind == line::LAST);
        let standings = of_line.into_iter().filter_map(|at| line::standing(sections, at)).collect();
        let (_, state) = sections.iter().find(|(kind, _)| *kind == line::STATE)?;
        Some(Self { standings, state: codec::decode(state).ok()? })
    }

    /// The last decision has the state's group and number, and names its electorate.
    pub(super) fn agree(&mut self, group: &Group) {
        if let Some(last) = self.standings.last_mut() {
            let decision = &mut last.proposal.decision;
            (decision.group, decision.number) = (self.state.group, self.state.number);
        }
        let founding = group.transcript.signed_charter().charter().clone();
        let Ok(state) = State::decode(&codec::encode(&self.state), Arc::new(founding), [0; 32]) else {
            return;
        };
        let before = self.standings.split_last().and_then(|(_, all)| named(all)).cloned();
        let before = before.unwrap_or_else(|| line::founders(group));
        if let Some(last) = self.standings.last_mut() {
            let now = state.electorate();
            last.proposal.decision.electorate = Some(now).filter(|now| *now != before);
        }
    }

    /// The state has the digest of all electorates that the decisions name.
    pub(super) fn run(&mut self, group: &Group) {
        let founded = run([0; 32], 0, &line::founders(group));
        let decisions = self.standings.iter().map(|one| &one.proposal.decision);
        self.state.running = decisions.fold(founded, |before, decision| {
            let named = decision.electorate.as_ref();
            named.map_or(before, |named| run(before, decision.number, named))
        });
    }

    /// Each decision is committed by all who vote then, and the last one names the state.
    pub(super) fn seal(&mut self, group: &Group) {
        let state = self.state_digest();
        if let Some(last) = self.standings.last_mut() {
            last.proposal.decision.state = state;
        }
        let mut electorate = line::founders(group);
        for standing in &mut self.standings {
            commit(group, standing, &electorate);
            electorate = standing.proposal.decision.electorate.clone().unwrap_or(electorate);
        }
    }

    fn state_digest(&self) -> Digest {
        digest(&[b"folkmoot state v1\0", &codec::encode(&self.state)])
    }

    /// Puts it in place of what the file shows.
    pub(super) fn put(&self, sections: &mut Vec<Section>) {
        let is_of_line = |kind: u8| (2..=line::STATE).contains(&kind);
        sections.retain(|(kind, _)| !is_of_line(*kind));
        let mut all: Vec<Section> = self.standings.iter().map(|one| (2, codec::encode(one))).collect();
        all.iter_mut().rev().take(1).for_each(|last| last.0 = line::LAST);
        all.push((line::STATE, codec::encode(&self.state)));
        sections.splice(1..1, all);
    }
}

/// The electorate that the last of these names that names one.
fn named(all: &[Standing]) -> Option<&Electorate> {
    all.iter().rev().find_map(|one| one.proposal.decision.electorate.as_ref())
}

fn run(before: Digest, number: u64, electorate: &Electorate) -> Digest {
    digest(&[b"folkmoot electorates v1\0", &before, &number.to_be_bytes(), &codec::encode(electorate)])
}

/// All who have a vote commit to a decision in the first ballot whose owner has one, if they do not
/// sign what they signed before.
fn commit(group: &Group, standing: &mut Standing, electorate: &Electorate) {
    let before = standing.clone();
    line::resign(group, standing, electorate);
    if *standing == before {
        return;
    }
    let signature = SignatureBytes::NONE;
    let able = electorate.places.iter().filter(|place| !place.key.0.is_empty());
    let voters: BTreeSet<MemberId> = able.map(|place| place.member).collect();
    let number = standing.proposal.parent().number;
    let ballots = 0..u32::try_from(electorate.places.len()).unwrap_or_default();
    let mut ballots = ballots.filter(|ballot| voters.contains(&electorate.owner(number, *ballot)));
    let ballot = ballots.next().unwrap_or_default();
    let promise = |voter: &MemberId| Promise { voter: *voter, report: None, signature: signature.clone() };
    let promises = if ballot == 0 { Vec::new() } else { voters.iter().map(promise).collect() };
    standing.proposal.stages = vec![Stage { ballot, promises, signature: signature.clone() }];
    standing.commits =
        voters.into_iter().map(|voter| Commit { voter, signature: signature.clone() }).collect();
    line::resign(group, standing, electorate);
}
