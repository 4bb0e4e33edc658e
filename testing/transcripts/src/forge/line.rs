//! Decisions and states, changed and signed by the voters that they name.

use super::scratch;
use crate::Group;
use crate::mutate::Section;
use folkmoot_base::{MemberId, SignatureBytes, UnixTime, codec, digest};
use folkmoot_transcript::{Elector, Electorate, Electors, Report, Standing};

pub(crate) const LAST: u8 = 3;
pub(super) const STATE: u8 = 4;

/// Changes a standing decision; mostly its voters sign that.
pub(super) fn decision(group: &mut Group, sections: &mut [Section]) -> String {
    let of_line: Vec<usize> = places(sections, |kind| kind == 2 || kind == LAST);
    let Some(at) = group.dice.pick(&of_line) else { return "nothing is decided".to_owned() };
    let electorate = electorate_before(group, sections, at);
    let Some(mut standing) = standing(sections, at) else { return "no decision".to_owned() };
    let before = standing.proposal.decision.digest();
    let how = group.dice.roll(16);
    change(group, &mut standing, how);
    follow(group, &mut standing, before);
    let sign = group.dice.chance(75);
    if sign {
        resign(group, &mut standing, &electorate);
    }
    put(sections, at, &standing);
    format!("decision in section {at}, change {how}, signed {sign}")
}

/// Changes a byte of the state, which the voters of the last decision sign.
pub(super) fn state(group: &mut Group, sections: &mut [Section]) -> String {
    let (last, state) = (places(sections, |kind| kind == LAST), places(sections, |kind| kind == STATE));
    let (Some(last), Some(state)) = (last.first(), state.first()) else { return "no state".to_owned() };
    let electorate = electorate_before(group, sections, *last);
    let Some(mut standing) = standing(sections, *last) else { return "no decision".to_owned() };
    let Some((_, bytes)) = sections.get_mut(*state) else { return "no state".to_owned() };
    // Names and keys fill most of a state: what stands behind them is changed as often.
    let from = if group.dice.chance(50) { bytes.len().saturating_sub(400) } else { 0 };
    let at = scratch(group, bytes.get_mut(from..).unwrap_or_default());
    let before = standing.proposal.decision.digest();
    standing.proposal.decision.state = digest(&[b"folkmoot state v1\0", bytes]);
    follow(group, &mut standing, before);
    resign(group, &mut standing, &electorate);
    put(sections, *last, &standing);
    format!("byte {at} of the state from {from} on, signed")
}

pub(crate) fn places(sections: &[Section], wanted: impl Fn(u8) -> bool) -> Vec<usize> {
    (0..sections.len()).filter(|at| sections.get(*at).is_some_and(|(kind, _)| wanted(*kind))).collect()
}

pub(crate) fn standing(sections: &[Section], at: usize) -> Option<Standing> {
    sections.get(at).and_then(|(_, bytes)| codec::decode(bytes).ok())
}

fn put(sections: &mut [Section], at: usize, standing: &Standing) {
    if let Some((_, bytes)) = sections.get_mut(at) {
        *bytes = codec::encode(standing);
    }
}

/// Those who decide what stands in this section.
pub(super) fn electorate_before(group: &Group, sections: &[Section], at: usize) -> Electorate {
    let earlier = (0..at).rev().filter_map(|at| standing(sections, at)?.proposal.decision.electorate);
    earlier.into_iter().next().unwrap_or_else(|| founders(group))
}

/// The electorate of the founding.
pub(super) fn founders(group: &Group) -> Electorate {
    let founders = group.transcript.signed_charter().charter();
    let place = |founder: &folkmoot_identity::Founder| Elector {
        member: founder.key.member_id(),
        key: founder.key.spki_der().to_vec().into(),
    };
    let quorum = if founders.quorum() == folkmoot_identity::Quorum::TwoThirds { 2 } else { 1 };
    Electorate { quorum, places: founders.founders().iter().map(place).collect() }
}

pub(super) fn change(group: &mut Group, standing: &mut Standing, how: usize) {
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    let somebody = group.dice.pick(&people).unwrap_or(MemberId([0; 32]));
    let roll = group.dice.long(4);
    let Standing { proposal, commits } = standing;
    let (decision, stages) = (&mut proposal.decision, &mut proposal.stages);
    match how {
        0 => decision.number += roll,
        1 => decision.time = UnixTime(decision.time.0 + roll),
        2 => drop(decision.holds.pop()),
        3 => decision.holds.push(somebody.0),
        4 => drop(decision.effects.pop()),
        5 => decision.electorate = None,
        6 => decision.electorate.iter_mut().for_each(|now| now.quorum = now.quorum.wrapping_add(1)),
        7 => decision.electorate.iter_mut().for_each(|now| drop(now.places.pop())),
        8 => decision.electorate.iter_mut().for_each(|now| now.places.reverse()),
        9 => drop(commits.pop()),
        10 => commits.extend_from_within(..commits.len().min(1)),
        11 => commits.reverse(),
        12 => commits.iter_mut().take(1).for_each(|commit| commit.voter = somebody),
        13 => stages.iter_mut().for_each(|stage| stage.ballot += u32::try_from(roll).unwrap_or_default()),
        14 => stages.iter_mut().for_each(|stage| drop(stage.promises.pop())),
        _ => {
            let other = stages.last().cloned();
            stages.extend(other);
        }
    }
}

/// Reports of the decision as it was become reports of what it is now, mostly.
pub(super) fn follow(group: &mut Group, standing: &mut Standing, before: [u8; 32]) {
    let now = standing.proposal.decision.digest();
    if group.dice.chance(15) {
        return;
    }
    let promises = standing.proposal.stages.iter_mut().flat_map(|stage| &mut stage.promises);
    for report in promises.filter_map(|promise| promise.report.as_mut()) {
        if report.decision == before {
            *report = Report { ballot: report.ballot, decision: now };
        }
    }
}

/// Everybody signs what it is said to have signed. Twice: an owner signs the promises too.
pub(crate) fn resign(group: &Group, standing: &mut Standing, electorate: &Electorate) {
    for _ in 0..2 {
        let claims = standing.claims(electorate as &dyn Electors);
        let mut signatures = claims.iter().map(|claim| group.sign(&claim.voter, &claim.statement));
        let mut next = || signatures.next().unwrap_or(SignatureBytes::NONE);
        for stage in &mut standing.proposal.stages {
            stage.signature = next();
            stage.promises.iter_mut().for_each(|promise| promise.signature = next());
        }
        standing.commits.iter_mut().for_each(|commit| commit.signature = next());
    }
}
