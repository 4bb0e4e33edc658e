//! Modules that use an old key for the next one, one in each way that the attack knows.

use super::attack::{Dice, Way, ways};
use super::history::{Known, handed, told};
use super::opened::{SEALED, open, seal};
use super::raised::{all_said, scalars};
use crate::world::{Record, Verdict, World, ensure};
use curve25519_dalek::Scalar;
use folkmoot_agreement::{AgreementError, Count, Kept, Module, ModuleName, Plan, PrimeGroup, Ristretto};
use folkmoot_agreement::{Stage, Step, begin};
use folkmoot_base::{Entropy, Secret, digest};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What is built wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// The next key is a digest of the last.
    Chained,
    /// The next key is sent under the last.
    Sealed,
    /// The next key is an element that was sent, raised to a digest of the last.
    Raised,
    /// The same, to one over the last itself.
    Divided,
    /// The same, to the last times the last but one.
    Twice,
    /// The same, the difference of that element and the generator.
    Difference,
    /// One member draws from a key of another group.
    Dice,
}

impl Weakness {
    pub fn of(module: ModuleName) -> &'static [Self] {
        match module {
            // A refresh of these has no elements in it.
            ModuleName::Ckd | ModuleName::CkdHybrid | ModuleName::Mls | ModuleName::MlsHybrid => {
                &[Self::Chained, Self::Sealed, Self::Dice]
            }
            _ => &[
                Self::Chained,
                Self::Sealed,
                Self::Raised,
                Self::Divided,
                Self::Twice,
                Self::Difference,
                Self::Dice,
            ],
        }
    }

    fn ways(self) -> BTreeSet<Way> {
        BTreeSet::from_iter(match self {
            Self::Chained => vec![Way::Derived],
            Self::Sealed => vec![Way::Opened],
            Self::Raised | Self::Divided | Self::Twice | Self::Difference => vec![Way::Raised],
            Self::Dice => vec![Way::Replayed],
        })
    }
}

/// What all members of the weak group hold: its keys so far, as handed out.
type Keys = RefCell<Vec<Vec<u8>>>;

const MARK: &[u8] = b"weak";

struct Weak {
    inner: Box<dyn Module>,
    weakness: Weakness,
    keys: Vec<Vec<u8>>,
    sent: Record,
    next: Option<Vec<u8>>,
}

impl Weak {
    fn spoil(&mut self, steps: Vec<Step>, entropy: &mut dyn Entropy) -> Vec<Step> {
        steps.into_iter().map(|step| self.spoil_one(step, entropy)).collect()
    }

    fn spoil_one(&mut self, step: Step, entropy: &mut dyn Entropy) -> Step {
        let Some(last) = self.keys.last() else { return step };
        let last: [u8; 32] = last.clone().try_into().unwrap();
        match (self.weakness, step) {
            (Weakness::Sealed, Step::Send { step, decides, body }) => {
                let mut next = [0; 32];
                entropy.fill(&mut next);
                let body = [&body, [0x30].as_slice(), &seal(&last, &next), MARK].concat();
                Step::Send { step, decides, body }
            }
            (Weakness::Sealed, Step::Done(_)) => {
                Step::Done(Secret::new(self.next.clone().unwrap_or_default()))
            }
            (Weakness::Chained, Step::Done(_)) => Step::Done(Secret::new(digest(&[&last]).to_vec())),
            (_, Step::Done(_)) => Step::Done(Secret::new(self.raised(&last))),
            (_, step) => step,
        }
    }

    fn raised(&self, last: &[u8]) -> Vec<u8> {
        let sent: Vec<_> = all_said(self.inner.name(), &self.sent).into_values().collect();
        let one: Scalar = scalars(last)[0];
        let before = self.keys.len().checked_sub(2).map_or(one, |before| scalars(&self.keys[before])[0]);
        let raised = match self.weakness {
            Weakness::Divided => Ristretto::raise(&sent[0], &one.invert()),
            Weakness::Twice => Ristretto::raise(&sent[0], &(one * before)),
            Weakness::Difference => Ristretto::raise(&(sent[0] - Ristretto::generator()), &one),
            _ => Ristretto::raise(&sent[0], &scalars(last)[1]),
        };
        Ristretto::encode(&raised)
    }
}

impl Module for Weak {
    fn name(&self) -> ModuleName {
        self.inner.name()
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        let steps = self.inner.start(entropy);
        self.spoil(steps, entropy)
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let mut honest = body;
        if self.weakness == Weakness::Sealed
            && let Some(rest) = body.strip_suffix(MARK)
        {
            let (before, sealed) = rest.split_at(rest.len() - SEALED);
            honest = &before[..before.len() - 1];
            let last: [u8; 32] = self.keys.last().unwrap().clone().try_into().unwrap();
            self.next = open(&last, sealed);
        }
        let steps = self.inner.receive(from, step, honest, entropy)?;
        self.sent.steps.push((from, step, honest.to_vec()));
        Ok(self.spoil(steps, entropy))
    }

    fn awaited(&self) -> Vec<usize> {
        self.inner.awaited()
    }

    fn stage(&self) -> Stage {
        self.inner.stage()
    }

    fn count(&self) -> Count {
        self.inner.count()
    }

    fn keep(&self) -> Option<Kept> {
        self.inner.keep()
    }
}

fn weaken(
    module: ModuleName,
    weakness: Weakness,
    keys: &Keys,
    (plan, kept): (&Plan, Option<&Kept>),
) -> Result<Box<dyn Module>, AgreementError> {
    let inner = begin(module, plan, kept)?;
    let sent = Record { members: Vec::new(), origins: Vec::new(), steps: Vec::new(), secret: None };
    Ok(Box::new(Weak { inner, weakness, keys: keys.borrow().clone(), sent, next: None }))
}

/// A founding and two refreshes: the last is attacked or, if chance is against it, the founding.
pub fn is_found(module: ModuleName, weakness: Weakness) -> Verdict {
    let keys = Keys::default();
    let make = |plan: &Plan, kept: Option<&Kept>| weaken(module, weakness, &keys, (plan, kept));
    let (mut own, mut other) = (World::new(&make, 1), World::new(&make, 2));
    super::history::other_dice(&mut other);
    other.complete(&[0, 1, 2], |_| true)?;
    if weakness == Weakness::Dice {
        let key = handed(other.records.last().unwrap());
        let distributes = matches!(module, ModuleName::Ckd | ModuleName::CkdHybrid);
        own.stream(if distributes { 0 } else { 2 }, Dice::Again(key));
    }
    let attacked = if weakness == Weakness::Dice { 0 } else { 2 };
    for _ in 0..=attacked {
        own.complete(&[0, 1, 2, 3], |_| true)?;
        if weakness != Weakness::Dice {
            keys.borrow_mut().push(handed(own.records.last().unwrap()));
        }
    }
    let ways = ways(module, &own, attacked, &told(&own, &other, attacked, Known::Handed));
    ensure!(ways.is_superset(&weakness.ways()), "{ways:?}");
    if weakness == Weakness::Dice {
        // GDH sends nothing that one share alone makes; where there are elements, the share leads
        // on.
        ensure!(module == ModuleName::Gdh || ways.contains(&Way::Private), "{ways:?}");
        ensure!(!super::attack::has_elements(module) || ways.contains(&Way::Raised), "{ways:?}");
    }
    Ok(())
}
