//! Words of a round: lists of 32 bytes, one form each, and whose they are if they are not.

use crate::base::{Digest, MemberId, digest};
use crate::run::whole_round;
use crate::{Edwards, Fault, FaultKind, Heard, PrimeGroup, RunId};
use curve25519_dalek::EdwardsPoint;
use std::collections::BTreeMap;

/// Length of every number, element, digest and id in a word, in bytes.
pub(super) const WORD: usize = 32;

/// What names a run with all that its hands must agree on before they speak: what it is for, who takes part, and on what.
pub(super) fn tag(label: &'static [u8], run: &RunId, hands: &[MemberId], on: &[&[u8]]) -> Digest {
    let ids: Vec<u8> = hands.iter().flat_map(|hand| hand.0).collect();
    let on: Vec<u8> = on.iter().flat_map(|part| digest(&[part])).collect();
    digest(&[label, &[0], &run.0, &digest(&[&ids]), &digest(&[&on])])
}

/// Each awaited hand's words, read. Of those who fail, all with the first one's kind of fault are named.
pub(super) fn judge<T>(
    heard: &Heard,
    awaited: &[MemberId],
    mut read: impl FnMut(&MemberId, &[u8]) -> Result<T, FaultKind>,
) -> Result<BTreeMap<MemberId, T>, Fault> {
    whole_round(heard, awaited)?;
    let mut good = BTreeMap::new();
    let mut bad: Option<Fault> = None;
    for (hand, words) in &heard.to_all {
        match (read(hand, words), &mut bad) {
            (Ok(value), _) => drop(good.insert(*hand, value)),
            (Err(kind), None) => bad = Some(Fault::of(kind, *hand)),
            (Err(kind), Some(fault)) if kind == fault.kind => fault.culprits.push(*hand),
            (Err(_), Some(_)) => {}
        }
    }
    bad.map_or(Ok(good), Err)
}

/// A round in which nothing is said to all.
pub(super) fn silent(heard: &Heard, awaited: &[MemberId]) -> Result<(), Fault> {
    let quiet =
        |_: &MemberId, words: &[u8]| if words.is_empty() { Ok(()) } else { Err(FaultKind::PeerMalformed) };
    judge(heard, awaited, quiet).map(drop)
}

/// Words that begin with the run's `tag` and go on with `count` elements.
pub(super) fn tagged_elements(
    words: &[u8],
    tag: &Digest,
    count: usize,
) -> Result<Vec<EdwardsPoint>, FaultKind> {
    elements(tagged(words, tag)?, count)
}

/// What follows the run's `tag`.
pub(super) fn tagged<'a>(words: &'a [u8], tag: &Digest) -> Result<&'a [u8], FaultKind> {
    let (theirs, rest) = words.split_at_checked(WORD).ok_or(FaultKind::PeerMalformed)?;
    if theirs == tag { Ok(rest) } else { Err(FaultKind::PeerCommitment) }
}

/// `count` elements.
pub(super) fn elements(words: &[u8], count: usize) -> Result<Vec<EdwardsPoint>, FaultKind> {
    let chunks = chunks(words, count)?;
    chunks.iter().map(|bytes| Edwards::decode(bytes).ok_or(FaultKind::PeerMalformed)).collect()
}

/// `count` times 32 bytes.
pub(super) fn chunks(words: &[u8], count: usize) -> Result<&[[u8; WORD]], FaultKind> {
    let (chunks, rest) = words.as_chunks::<WORD>();
    if !rest.is_empty() {
        return Err(FaultKind::PeerMalformed);
    }
    if chunks.len() == count { Ok(chunks) } else { Err(FaultKind::PeerCommitment) }
}

/// Elements, one after the other.
pub(super) fn write(elements: &[EdwardsPoint]) -> Vec<u8> {
    elements.iter().flat_map(Edwards::encode).collect()
}
