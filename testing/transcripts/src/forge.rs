//! Changes that somebody signed: whoever may, a stranger, or a former member.

mod chain;
mod charter;
mod effects;
mod fields;
mod fork;
mod items;
pub(crate) mod line;
mod odd;
mod wire;

use crate::mutate::{Section, joined};
use crate::{Drawn, Group};

/// A file with something changed and signed anew, and what.
pub(crate) fn forged(group: &mut Group, mut sections: Vec<Section>) -> Drawn<(Vec<u8>, String)> {
    let about = match group.dice.roll(22) {
        0..=2 => line::decision(group, &mut sections),
        3 | 4 => line::state(group, &mut sections),
        5 => charter::change(group, &mut sections)?,
        6 | 7 => fork::change(group, &mut sections),
        8..=11 => odd::state(group, &mut sections)?,
        12 | 13 => odd::line(group, &mut sections)?,
        14 | 15 => effects::change(group, &mut sections)?,
        16 => items::past(group, &mut sections),
        _ => items::change(group, &mut sections)?,
    };
    Ok((joined(&sections), about))
}

/// A byte of these changed.
fn scratch(group: &mut Group, bytes: &mut [u8]) -> usize {
    let at = group.dice.roll(bytes.len());
    let bit = 1 << group.dice.roll(8);
    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit);
    at
}
