//! KEY-22: among distant members, each party tells the share for the next run with its FLUSH_OK.
//!
//! ```text
//!  2 | TREE's blinded share 32 | what last_run.rs says       goes with FLUSH_OK
//! ```
//! So the first step of the run is over when the view comes: the party that completed the view
//! tells the keys at once. Nobody signs this share by itself. The binding covers what all brought,
//! and everything that is signed covers the binding. So whoever alters a share stops that view, and
//! has no key that anybody confirms.

use crate::agreement::{ModuleName, Plan, Ristretto, tgdh};
use crate::api::Terms;
use crate::base::{Danger, Entropy, Mutant, Party, Secret, draw, hmac_sha256};
use bytes::Bytes;
use std::collections::BTreeMap;

const VERSION: u8 = 2;
const LABEL: &[u8] = b"folkmoot keying v1 early share";
const SHARE_BYTES: usize = 32;

/// The step that a share told early stands for.
pub(crate) const STEP: u8 = tgdh::TREE;

/// A share for the next run, and what is told of it.
pub(crate) struct Share {
    seed: Secret<[u8; 32]>,
    told: Vec<u8>,
}

/// The randomness of the run in which the share is used.
pub(crate) struct Seeded<'a> {
    seed: &'a Secret<[u8; 32]>,
    count: u64,
}

impl Entropy for Seeded<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.count = self.count.saturating_add(1);
            let block = hmac_sha256(self.seed.expose(), &[LABEL, &self.count.to_be_bytes()]);
            chunk.iter_mut().zip(block).for_each(|(to, from)| *to = from);
        }
    }
}

impl Share {
    pub(crate) fn draw(me: Party, entropy: &mut dyn Entropy) -> Self {
        let seed = Secret::new(draw(entropy));
        let told = tgdh::early::<Ristretto>(me, &mut Seeded { seed: &seed, count: 0 });
        Self { seed, told }
    }

    pub(crate) fn entropy(&self) -> Seeded<'_> {
        Seeded { seed: &self.seed, count: 0 }
    }

    /// What goes with FLUSH_OK: the share, and then `run`.
    pub(crate) fn before(&self, run: &Bytes) -> Bytes {
        let share = self.told.iter().rev().take(SHARE_BYTES).rev().copied();
        [VERSION].into_iter().chain(share).chain(run.iter().copied()).collect()
    }
}

/// Whether parties tell their shares early by these terms.
pub(crate) fn are_told(terms: &Terms, members: usize, danger: Mutant) -> bool {
    !danger.is(Danger::KeyingSharesLate)
        && terms.far
        && terms.keying.module(members, true) == ModuleName::Tgdh
}

/// The share that somebody brings, and what is behind it.
pub(crate) fn split(brought: &[u8]) -> (Option<[u8; SHARE_BYTES]>, &[u8]) {
    let after = brought.split_first().filter(|(version, _)| **version == VERSION);
    match after.and_then(|(_, rest)| rest.split_first_chunk::<SHARE_BYTES>()) {
        Some((share, rest)) => (Some(*share), rest),
        None => (None, brought),
    }
}

/// The steps of those who are a side of their own, as their shares say them, by place.
pub(crate) fn told(plan: &Plan, brought: &[Bytes]) -> BTreeMap<usize, Vec<u8>> {
    let alone = plan.sides().iter().filter_map(|side| match side.as_slice() {
        [place] if plan.sides().len() > 1 => Some(*place),
        _ => None,
    });
    let step = |place: usize| Some((place, tgdh::leaf(&split(brought.get(place)?).0?)));
    alone.filter_map(step).collect()
}
