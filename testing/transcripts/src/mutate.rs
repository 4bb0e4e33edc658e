//! Changes of a file: of one byte, of its sections, and of what somebody signed.

use crate::{Drawn, Group};
use folkmoot_base::digest;
use folkmoot_transcript::FILE_LABEL;

/// One section: kind and bytes.
pub(crate) type Section = (u8, Vec<u8>);

/// A file of this group that is not the one that it wrote, and what was changed.
///
/// # Errors
/// A fault of the drawer.
pub fn mutated(group: &mut Group) -> Drawn<(Vec<u8>, String)> {
    let file = group.file();
    match group.dice.roll(20) {
        0..=6 => Ok(one_byte(group, file)),
        7..=10 => Ok(structure(group, &file)),
        _ => crate::forge::forged(group, split(&file)),
    }
}

/// The sections of a file that is in order.
pub(crate) fn split(file: &[u8]) -> Vec<Section> {
    let mut rest = file.get(FILE_LABEL.len()..).unwrap_or_default();
    let mut out = Vec::new();
    while let Some((head, more)) = rest.split_at_checked(5) {
        let length = head.get(1..).and_then(|length| length.try_into().ok()).map_or(0, u32::from_be_bytes);
        let (bytes, after) = more.split_at(usize::try_from(length).unwrap_or_default().min(more.len()));
        out.push((head.first().copied().unwrap_or_default(), bytes.to_vec()));
        rest = after;
    }
    out
}

/// The file of these sections.
pub(crate) fn joined(sections: &[Section]) -> Vec<u8> {
    let mut out = FILE_LABEL.to_vec();
    for (kind, bytes) in sections {
        out.push(*kind);
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(bytes);
    }
    out
}

/// Puts sections in the order of their kinds, and the items of the set in that of a file.
pub(crate) fn in_order(sections: &mut [Section]) {
    sections.sort_by_cached_key(|(kind, bytes)| {
        let item = (*kind == 5).then(|| (bytes.get(1).copied(), digest(&[bytes])));
        (*kind, item)
    });
}

/// A byte changed, put in, or taken out.
fn one_byte(group: &mut Group, mut file: Vec<u8>) -> (Vec<u8>, String) {
    let at = group.dice.roll(file.len());
    let bit = 1 << group.dice.roll(8);
    match group.dice.roll(10) {
        0 => drop(file.remove(at)),
        1 => file.insert(at, bit),
        2 => file.truncate(at),
        _ => file.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bit),
    }
    (file, format!("byte {at}, {bit:02x}"))
}

/// A section dropped, doubled, swapped with another, put in another's place, or of another kind.
fn structure(group: &mut Group, file: &[u8]) -> (Vec<u8>, String) {
    let mut sections = split(file);
    let (one, other) = (group.dice.roll(sections.len()), group.dice.roll(sections.len()));
    let how = group.dice.roll(6);
    match how {
        0 => drop(sections.remove(one)),
        1 => sections.extend_from_within(one..=one),
        2 => sections.swap(one, other),
        3 => {
            let copy = sections.get(one).cloned();
            sections.splice(other..other, copy);
        }
        4 => {
            let copy: Vec<Section> = sections.get(one).cloned().into_iter().collect();
            sections.splice(other..=other, copy);
        }
        _ => {
            let kind = u8::try_from(group.dice.roll(10)).unwrap_or_default();
            sections.iter_mut().skip(one).take(1).for_each(|section| section.0 = kind);
        }
    }
    if group.dice.chance(50) {
        in_order(&mut sections);
    }
    (joined(&sections), format!("structure {how} of sections {one} and {other}"))
}
