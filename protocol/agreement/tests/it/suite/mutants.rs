//! Modules that break one promise each. The check of that promise must say so; otherwise it checks
//! nothing.

use super::checks;
use crate::common::Seeded;
use crate::world::Verdict;
use folkmoot_agreement::{AgreementError, Count, Kept, Module, ModuleName, Plan, Stage, Step, begin};
use folkmoot_base::{Digest, Entropy, Secret, digest};

#[derive(Clone, Copy, PartialEq)]
enum Breach {
    /// The same draws in every run.
    Constant,
    /// The same secret in every run.
    Same,
    /// The secret is a digest of what was sent.
    Public,
    /// The secret is a digest of the first step.
    Dictated,
    /// Member 0 has another secret.
    Split,
    /// A step that comes again is accepted.
    Tolerant,
    /// A refused step leaves something behind.
    Dirty,
    /// Member 1 awaits nobody.
    Deaf,
    /// The last step does not say that it decides.
    Undecided,
    /// Member 0 keeps nothing.
    Forgetful,
    /// Whatever the others claim.
    Credulous,
}

struct Mutant {
    inner: Box<dyn Module>,
    breach: Breach,
    me: usize,
    said: Option<Digest>,
    refused: bool,
}

impl Mutant {
    fn spoil(&self, steps: Vec<Step>) -> Vec<Step> {
        steps.into_iter().map(|step| self.spoil_one(step)).collect()
    }

    fn spoil_one(&self, step: Step) -> Step {
        match (self.breach, step) {
            (Breach::Undecided, Step::Send { step, body, .. }) => Step::Send { step, decides: false, body },
            (Breach::Same, Step::Done(_)) => Step::Done(Secret::new(vec![7; 32])),
            (Breach::Public | Breach::Dictated, Step::Done(_)) => {
                Step::Done(Secret::new(self.said.unwrap_or_default().to_vec()))
            }
            (Breach::Split, Step::Done(secret)) if self.me == 0 => {
                Step::Done(Secret::new(digest(&[secret.expose()]).to_vec()))
            }
            (Breach::Dirty, Step::Done(_)) if self.refused => {
                Step::Done(Secret::new(vec![self.me.try_into().unwrap(); 32]))
            }
            (_, step) => step,
        }
    }
}

impl Module for Mutant {
    fn name(&self) -> ModuleName {
        self.inner.name()
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        let steps = match self.breach {
            Breach::Constant => self.inner.start(&mut Seeded(1)),
            _ => self.inner.start(entropy),
        };
        self.spoil(steps)
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let said = digest(&[&self.said.unwrap_or_default(), body]);
        let answer = match self.breach {
            Breach::Constant => self.inner.receive(from, step, body, &mut Seeded(1)),
            _ => self.inner.receive(from, step, body, entropy),
        };
        match answer {
            Ok(steps) => {
                if self.said.is_none() || self.breach != Breach::Dictated {
                    self.said = Some(said);
                }
                Ok(self.spoil(steps))
            }
            Err(AgreementError::PeerRepeated { .. }) if self.breach == Breach::Tolerant => Ok(Vec::new()),
            Err(reason) => {
                self.refused = true;
                Err(reason)
            }
        }
    }

    fn awaited(&self) -> Vec<usize> {
        if self.breach == Breach::Deaf && self.me == 1 { Vec::new() } else { self.inner.awaited() }
    }

    fn stage(&self) -> Stage {
        self.inner.stage()
    }

    fn count(&self) -> Count {
        self.inner.count()
    }

    fn keep(&self) -> Option<Kept> {
        self.inner.keep().filter(|_| self.breach != Breach::Forgetful || self.me != 0)
    }
}

fn make(breach: Breach, plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    let (plan, kept) = match breach {
        Breach::Credulous => (&Plan::new(plan.members(), plan.me()).unwrap(), None),
        _ => (plan, kept),
    };
    let inner = begin(ModuleName::Gdh, plan, kept)?;
    Ok(Box::new(Mutant { inner, breach, me: plan.me(), said: None, refused: false }))
}

/// What the check says about a module with this fault.
fn judged(breach: Breach, check: impl Fn(crate::world::Make<'_>) -> Verdict) -> String {
    check(&|plan, kept| make(breach, plan, kept)).expect_err("a mutant passes")
}

fn script(make: crate::world::Make<'_>) -> Verdict {
    (0..4).try_for_each(|seed| checks::script(make, seed, 8, 8))
}

#[test]
fn every_breach_is_found_by_its_check() {
    let four = |make: crate::world::Make<'_>| checks::sizes(make, &[4]);
    assert!(judged(Breach::Constant, four).contains("does not renew"));
    assert!(judged(Breach::Same, four).contains("came twice"));
    assert!(judged(Breach::Public, script).contains("gets the secret"));
    assert!(judged(Breach::Split, script).contains("differ on the secret"));
    assert!(judged(Breach::Deaf, script).contains("differ on who is awaited"));
    assert!(judged(Breach::Undecided, script).contains("unannounced"));
    assert!(judged(Breach::Forgetful, script).contains("some keep"));
    assert!(judged(Breach::Tolerant, |make| checks::mischief(make, 1)).contains("was taken"));
    assert!(judged(Breach::Dirty, |make| checks::mischief(make, 1)).contains("differ on the secret"));
    assert!(judged(Breach::Dictated, |make| checks::contributes(make, 1)).contains("does not count"));
    assert!(judged(Breach::Credulous, |make| checks::origins(make, 1)).contains("begun without"));
}
