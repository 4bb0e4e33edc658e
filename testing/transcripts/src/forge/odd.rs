//! Lines that a lying quorum could sign: states with fields changed, electorates that cannot be,
//! decisions left out or out of order; and what its members then have.

use super::chain::Chain;
use super::{effects, fields};
use crate::mutate::{Section, joined};
use crate::verdict::read;
use crate::{Drawn, Group};
use folkmoot_base::{Blob, MemberId, digest};
use folkmoot_transcript::{Elector, Electorate, Transcript};

/// What the set of a file can be that shows such a line.
enum Rest {
    /// As it was.
    Stays,
    /// Nothing.
    Goes,
    /// What members put there who have this state.
    New,
}

/// Changes the state, one or two fields of it; mostly the decisions before it agree.
pub(super) fn state(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let Some(mut chain) = Chain::of(sections) else { return Ok("nothing is decided".to_owned()) };
    let mut about = fields::change(group, &mut chain.state);
    if group.dice.chance(30) {
        about = format!("{about}, {}", fields::change(group, &mut chain.state));
    }
    if group.dice.chance(85) {
        chain.agree(group);
    }
    sealed(group, sections, chain, about)
}

/// Changes an electorate that a decision names, or which decisions there are.
pub(super) fn line(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let Some(mut chain) = Chain::of(sections) else { return Ok("nothing is decided".to_owned()) };
    let about = match group.dice.roll(5) {
        0 | 1 => elected(group, &mut chain),
        2 | 3 => ordered(group, &mut chain),
        _ => undecided(group, &mut chain)?,
    };
    sealed(group, sections, chain, about)
}

/// An effect more in a decision.
fn undecided(group: &mut Group, chain: &mut Chain) -> Drawn<String> {
    let approved = effects::undecided(group)?;
    let at = group.dice.roll(chain.standings.len());
    let about = format!("{:?} in decision {at}", approved.effect.subject().kind);
    if let Some(one) = chain.standings.get_mut(at) {
        one.proposal.decision.effects.push(approved);
    }
    Ok(about)
}

fn elected(group: &mut Group, chain: &mut Chain) -> String {
    let named = |chain: &Chain, at: usize| {
        chain.standings.get(at).is_some_and(|one| one.proposal.decision.electorate.is_some())
    };
    let all: Vec<usize> = (0..chain.standings.len()).filter(|at| named(chain, *at)).collect();
    let at = group.dice.pick(&all).unwrap_or_default();
    let how = group.dice.roll(9);
    let people: Vec<MemberId> = group.people.keys().copied().collect();
    let stranger = group.dice.pick(&people).unwrap_or(MemberId([0; 32]));
    let key = group.people.get(&stranger).map(|one| one.key().verifying_key().spki_der().to_vec());
    let stranger = Elector { member: stranger, key: Blob::from(key.unwrap_or_default()) };
    let decision = chain.standings.get_mut(at).map(|one| &mut one.proposal.decision);
    if let Some(now) = decision.and_then(|decision| decision.electorate.as_mut()) {
        impossible(now, how, stranger);
    }
    format!("electorate {at} of the line, change {how}")
}

/// Places twice, of nobody, of no member, none, too many; a key that is none, or another's.
fn impossible(now: &mut Electorate, how: usize, stranger: Elector) {
    match how {
        0 => now.places.extend_from_within(..now.places.len().min(1)),
        1 => now.places.extend_from_within(..),
        2 => now.places.push(stranger),
        3 => now.places.push(Elector { key: Blob::default(), ..stranger }),
        4 => now.places.clear(),
        5 => now.places = now.places.iter().cloned().cycle().take(257).collect(),
        6 => now.places.iter_mut().take(1).for_each(|one| one.key = Blob::from(vec![0x30, 0])),
        7 => now.places.iter_mut().take(1).for_each(|one| one.key = stranger.key.clone()),
        _ => now.quorum = now.quorum.wrapping_sub(1),
    }
}

fn ordered(group: &mut Group, chain: &mut Chain) -> String {
    let all = &mut chain.standings;
    let how = group.dice.roll(6);
    // The last decision is named by the state: mostly one before it is left out.
    let count = if how < 3 { all.len().saturating_sub(1) } else { all.len() };
    let (one, other) = (group.dice.roll(count), group.dice.roll(all.len()));
    match how {
        0 => drop(all.remove(one)),
        1 | 2 => drop(all.drain(one..all.len().min(one + 2))),
        3 => all.swap(one, other),
        4 => all.extend_from_within(one..=one),
        _ => {
            let number = all.get(other).map_or(0, |other| other.proposal.decision.number);
            all.iter_mut().skip(one).take(1).for_each(|one| one.proposal.decision.number = number);
        }
    }
    format!("decisions {one} and {other} of the line, change {how}")
}

/// The file of a chain that its voters have signed.
fn sealed(group: &mut Group, sections: &mut Vec<Section>, mut chain: Chain, about: String) -> Drawn<String> {
    let how = group.dice.roll(20);
    match how {
        0 => chain.state.running = digest(&[&chain.state.running]),
        1..=4 => {}
        _ => chain.run(group),
    }
    chain.seal(group);
    chain.put(sections);
    let rest = match group.dice.roll(10) {
        0 | 1 => Rest::Stays,
        2 => Rest::Goes,
        _ => Rest::New,
    };
    let said = match rest {
        Rest::Stays => "the rest stays".to_owned(),
        Rest::Goes => {
            sections.retain(|(kind, _)| !(5..8).contains(kind));
            "alone".to_owned()
        }
        Rest::New => {
            sections.retain(|(kind, _)| !(5..8).contains(kind));
            lived_on(group, sections)?
        }
    };
    Ok(format!("{about}, running {how}, {said}"))
}

/// What members have who took this for their line: the file after some steps.
fn lived_on(group: &mut Group, sections: &mut Vec<Section>) -> Drawn<String> {
    let Ok(transcript) = read(&joined(sections), &[]) else { return Ok("refused".to_owned()) };
    let (clock, asked) = (group.clock, group.asked.clone());
    let ours: Transcript = std::mem::replace(&mut group.transcript, transcript);
    let steps = group.dice.roll(8);
    let done = (0..steps).try_for_each(|_| group.step_of_set());
    let file = group.file();
    group.transcript = ours;
    (group.clock, group.asked) = (clock, asked);
    *sections = crate::mutate::split(&file);
    // Whom the state names without a key here says nothing.
    Ok(format!("{steps} steps later{}", done.err().map_or(String::new(), |why| format!(", {why}"))))
}
