//! What the rounds of all runs share: messages heard, culprits gathered, accusations, messages of
//! numbers.

use super::message::{Kind, Reader, Writer};
use crate::base::MemberId;
use crate::run::{Fault, FaultKind, Incoming, Outgoing};
use crate::{PrimeGroup, SIGNERS_MAX};
use std::collections::BTreeMap;

/// Checks each of `participants`; all who fail are named, with the kind of the first.
pub(crate) fn each<T>(
    participants: impl IntoIterator<Item = MemberId>,
    mut check: impl FnMut(&MemberId) -> Result<T, FaultKind>,
) -> Result<BTreeMap<MemberId, T>, Fault> {
    let mut good = BTreeMap::new();
    let mut bad: Vec<(MemberId, FaultKind)> = Vec::new();
    for participant in participants {
        match check(&participant) {
            Ok(value) => drop(good.insert(participant, value)),
            Err(kind) => bad.push((participant, kind)),
        }
    }
    match bad.first() {
        None => Ok(good),
        Some((_, kind)) => {
            Err(Fault { kind: *kind, culprits: bad.iter().map(|(participant, _)| *participant).collect() })
        }
    }
}

/// The accusation message.
pub(crate) fn accuse(accused: &[MemberId]) -> Vec<u8> {
    Writer::new(Kind::Accuse, accused.len().saturating_mul(32).saturating_add(2)).members(accused).end()
}

/// Reads whom `accuser` accuses: some of `may`, itself not among them.
pub(crate) fn accusations(
    message: &[u8],
    accuser: &MemberId,
    may: &[MemberId],
) -> Result<Vec<MemberId>, FaultKind> {
    let read = || {
        let mut reader = Reader::new(message, Kind::Accuse)?;
        let accused = reader.members(SIGNERS_MAX)?;
        reader.end()?;
        Some(accused)
    };
    let accused = read().ok_or(FaultKind::PeerMalformed)?;
    if accused.contains(accuser) || accused.iter().any(|member| !may.contains(member)) {
        return Err(FaultKind::PeerAccusation);
    }
    Ok(accused)
}

/// What `sender` said to all; nothing if the round has no message of it, which `whole_round` has
/// ruled out.
pub(crate) fn said<'a>(heard: &'a Incoming, sender: &MemberId) -> &'a [u8] {
    heard.to_all.get(sender).map_or(&[], Vec::as_slice)
}

/// Messages to all and to nobody alone.
pub(crate) fn to_all(message: Vec<u8>) -> Outgoing {
    Outgoing { to_all: message, to_each: BTreeMap::new() }
}

/// A message of numbers.
pub(crate) fn number<G: PrimeGroup>(kind: Kind, numbers: &[&G::Scalar]) -> Vec<u8> {
    let writer = Writer::new(kind, numbers.len().saturating_mul(G::SCALAR_BYTES));
    numbers.iter().fold(writer, |writer, number| writer.scalar::<G>(number)).end()
}

/// Reads a message of exactly `count` numbers.
pub(crate) fn numbers<G: PrimeGroup>(message: &[u8], kind: Kind, count: usize) -> Option<Vec<G::Scalar>> {
    let mut reader = Reader::new(message, kind)?;
    let numbers = (0..count).map(|_| reader.scalar::<G>()).collect::<Option<Vec<_>>>()?;
    reader.end()?;
    Some(numbers)
}
