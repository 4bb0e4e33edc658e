//! Evidence of forks: changed, and made of what the voters of then would have to sign.

use super::line;
use crate::Group;
use crate::mutate::Section;
use folkmoot_base::codec;
use folkmoot_transcript::Standing;

const LAST: u8 = 3;
const FORK: u8 = 7;

/// The decision on the file's line, if no other section has it, and the other of that number.
type Evidence = (Option<Standing>, Standing);

/// Changes what the file shows of a fork, or shows one more.
pub(super) fn change(group: &mut Group, sections: &mut Vec<Section>) -> String {
    let there = line::places(sections, |kind| kind == FORK);
    match group.dice.pick(&there).filter(|_| group.dice.chance(80)) {
        Some(at) => changed(group, sections, at),
        None => added(group, sections),
    }
}

fn changed(group: &mut Group, sections: &mut [Section], at: usize) -> String {
    let Some((_, bytes)) = sections.get(at) else { return "no fork".to_owned() };
    let Ok((mut ours, mut theirs)) = codec::decode::<Evidence>(bytes) else { return "no fork".to_owned() };
    let how = group.dice.roll(8);
    match how {
        0 => ours = None,
        1 => ours = Some(theirs.clone()),
        2 => ours = decided(sections, theirs.proposal.decision.number),
        3 => {
            if let Some(other) = ours.as_mut().or(decided(sections, theirs.proposal.decision.number).as_mut())
            {
                std::mem::swap(other, &mut theirs);
            }
        }
        4 => {
            if let Some(ours) = &mut ours {
                altered(group, sections, ours);
            }
        }
        _ => altered(group, sections, &mut theirs),
    }
    if let Some((_, bytes)) = sections.get_mut(at) {
        *bytes = codec::encode(&(ours, theirs));
    }
    format!("fork in section {at}, change {how}")
}

/// A fork over a decision of the file, whose voters sign both mostly.
fn added(group: &mut Group, sections: &mut Vec<Section>) -> String {
    let of_line = line::places(sections, |kind| kind == 2 || kind == LAST);
    let Some(at) = group.dice.pick(&of_line) else { return "nothing is decided".to_owned() };
    let Some(ours) = line::standing(sections, at) else { return "no decision".to_owned() };
    let mut theirs = ours.clone();
    altered(group, sections, &mut theirs);
    let ours = group.dice.chance(10).then_some(ours);
    sections.push((FORK, codec::encode(&(ours, theirs))));
    let number = |bytes: &[u8]| {
        let read: Option<Evidence> = codec::decode(bytes).ok();
        read.map(|(_, theirs)| theirs.proposal.decision.number)
    };
    sections.sort_by_cached_key(|(kind, bytes)| (*kind, if *kind == FORK { number(bytes) } else { None }));
    format!("one more fork, over section {at}")
}

fn decided(sections: &[Section], number: u64) -> Option<Standing> {
    let of_line = line::places(sections, |kind| kind == 2 || kind == LAST);
    let mut all = of_line.into_iter().filter_map(|at| line::standing(sections, at));
    all.find(|one| one.proposal.decision.number == number)
}

fn altered(group: &mut Group, sections: &[Section], standing: &mut Standing) {
    let number = standing.proposal.decision.number;
    let before =
        |at: &usize| line::standing(sections, *at).is_some_and(|one| one.proposal.decision.number >= number);
    let of_line = line::places(sections, |kind| kind == 2 || kind == LAST);
    let at = of_line.iter().copied().find(before).unwrap_or(sections.len());
    let electorate = line::electorate_before(group, sections, at);
    let was = standing.proposal.decision.digest();
    // What says something else of the same number is drawn most.
    let how = if group.dice.chance(50) { 1 + group.dice.roll(5) } else { group.dice.roll(16) };
    line::change(group, standing, how);
    line::follow(group, standing, was);
    if group.dice.chance(85) {
        line::resign(group, standing, &electorate);
    }
}
