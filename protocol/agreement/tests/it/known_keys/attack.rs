//! Everything that is tried against one run.

use super::derived::{Bytes32, derived};
use super::history::{handed, plan};
use super::{opened, raised};
use crate::world::{Record, World, ids};
use folkmoot_agreement::{ModuleName, Plan, Step};
use folkmoot_base::{Entropy, digest};
use std::collections::BTreeSet;

/// How a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It is a known key, through labels.
    Derived,
    /// By elements said and known exponents.
    Raised,
    /// Something that was sealed opens.
    Opened,
    /// The secret half of something said is known.
    Private,
    /// Somebody's part, played with known keys for its randomness.
    Replayed,
}

/// All ways in which somebody who is told these keys of other runs gets the key of run number
/// `run`.
pub fn ways(module: ModuleName, world: &World<'_>, run: usize, known: &[Vec<u8>]) -> BTreeSet<Way> {
    let record = &world.records[run];
    let derived = derived(module, record, known);
    let secret = record.secret.as_ref().unwrap();
    let is_key = |key: &Bytes32| key.as_slice() == secret || key.as_slice() == handed(record);
    let tried = [
        (Way::Derived, derived.iter().any(is_key)),
        (Way::Raised, has_elements(module) && raised::reaches(module, record, known)),
        (Way::Opened, opened::opens(module, record, &derived)),
        (Way::Private, opened::is_private(module, record, &derived)),
        (Way::Replayed, is_replayed(world, record, known)),
    ];
    tried.into_iter().filter_map(|(way, got)| got.then_some(way)).collect()
}

/// Whether the module sends elements of ristretto255.
pub fn has_elements(module: ModuleName) -> bool {
    !matches!(module, ModuleName::Mls | ModuleName::MlsHybrid | ModuleName::CkdHybrid)
}

/// Randomness made of a key.
#[derive(Clone)]
pub enum Dice {
    /// The key again and again.
    Again(Vec<u8>),
    /// A digest of the key and a number.
    Counted(Vec<u8>, u64),
}

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        match self {
            Self::Again(key) => out.iter_mut().zip(key.iter().cycle()).for_each(|(to, from)| *to = *from),
            Self::Counted(key, number) => {
                for chunk in out.chunks_mut(32) {
                    let block = digest(&[key, &number.to_be_bytes()]);
                    chunk.copy_from_slice(&block[..chunk.len()]);
                    *number += 1;
                }
            }
        }
    }
}

fn is_replayed(world: &World<'_>, record: &Record, known: &[Vec<u8>]) -> bool {
    let places = 0..record.members.len();
    let dice = known.iter().flat_map(|key| [Dice::Again(key.clone()), Dice::Counted(key.clone(), 0)]);
    let mut parts = dice.flat_map(|dice| places.clone().map(move |place| (dice.clone(), place)));
    parts.any(|(dice, place)| plays(world, record, place, dice))
}

/// Whether an attacker that draws this randomness gets the secret in the place of one member, which
/// says that it brings nothing.
fn plays(world: &World<'_>, record: &Record, place: usize, mut dice: Dice) -> bool {
    let mut origins: Vec<_> = (0..record.members.len()).map(|other| plan(record, 0).origin(other)).collect();
    origins[place] = None;
    let plan = Plan::with_origins(&ids(&record.members), place, origins).unwrap();
    let Ok(mut run) = (world.make)(&plan, None) else { return false };
    if has(&run.start(&mut dice), record) {
        return true;
    }
    record.steps.iter().any(|(from, step, body)| {
        let told = run.receive(*from, *step, body, &mut dice);
        told.is_ok_and(|steps| has(&steps, record))
    })
}

fn has(steps: &[Step], record: &Record) -> bool {
    steps.iter().any(|step| match step {
        Step::Done(secret) => Some(secret.expose()) == record.secret.as_ref(),
        Step::Send { .. } => false,
    })
}
