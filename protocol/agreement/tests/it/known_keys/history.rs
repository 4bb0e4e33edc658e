//! The keys that can be disclosed.

use crate::common::Seeded;
use crate::world::{Record, World, ids};
use folkmoot_agreement::Plan;
use folkmoot_base::digest;
use hkdf::Hkdf;
use sha2::Sha256;

/// In which form keys of other runs are disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// As keying hands them out: by HKDF from the secret.
    Handed,
    /// The modules' secrets.
    Secrets,
}

/// How many of the runs just before, and of those just after, are disclosed: an attack tries them
/// in pairs.
const BEFORE: usize = 3;
const AFTER: usize = 1;
/// The newest of the other group.
const OTHERS: usize = 2;

/// The key that keying makes of a run's secret (docs/protocol/keying.md); the transcript stands for
/// everything that the derivation covers.
pub fn handed(record: &Record) -> Vec<u8> {
    let transcript = record.steps.iter().fold([7; 32], |said, (from, step, body)| {
        digest(&[&said, &from.to_be_bytes(), &[*step], &digest(&[body])])
    });
    let secret = record.secret.as_ref().unwrap();
    let mut key = vec![0; 32];
    Hkdf::<Sha256>::new(Some(&transcript), secret)
        .expand_multi_info(&[b"group key", &transcript], &mut key)
        .unwrap();
    key
}

/// What is disclosed to an attacker of `run` of `own`.
pub fn told(own: &World<'_>, other: &World<'_>, run: usize, known: Known) -> Vec<Vec<u8>> {
    let form = |record: &Record| match known {
        Known::Handed => handed(record),
        Known::Secrets => record.secret.clone().unwrap(),
    };
    let before = own.records[..run].iter().rev().take(BEFORE);
    let after = own.records[run + 1..].iter().take(AFTER);
    let others = other.records.iter().rev().take(OTHERS);
    before.chain(after).chain(others).map(form).collect()
}

/// Gives all members other randomness than they have in another world.
pub fn other_dice(world: &mut World<'_>) {
    (0..40).for_each(|number| world.stream(number, Seeded(u64::from(number) << 32 | 0xface)));
}

/// What everybody knew before the run began.
pub fn plan(record: &Record, me: usize) -> Plan {
    Plan::with_origins(&ids(&record.members), me, record.origins.clone()).unwrap()
}

/// Places in the run's own order.
pub fn order(record: &Record) -> Vec<usize> {
    let plan = plan(record, 0);
    plan.base().iter().copied().chain(plan.newcomers()).collect()
}
