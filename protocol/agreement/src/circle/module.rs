//! The run as a module.

use super::{LENT, LINK, OPEN, Phase, Run, SHARE};
use crate::base::{Entropy, Secret};
use crate::dutta_barua::State;
use crate::{AgreementError, Count, Kept, Module, ModuleName, PrimeGroup, Stage, Step};
use zeroize::Zeroizing;

impl<G: PrimeGroup> Module for Run<G> {
    fn name(&self) -> ModuleName {
        self.name
    }

    fn start(&mut self, entropy: &mut dyn Entropy) -> Vec<Step> {
        let lent = self.seating.lent.clone().filter(|_| self.at == LENT);
        let share = lent.unwrap_or_else(|| Zeroizing::new(G::draw(entropy)));
        self.share = Some(share.clone());
        if !self.speaks() {
            return Vec::new();
        }
        let value = self.raise(&G::generator(), &share);
        if self.size() > 1 {
            return vec![send(SHARE, G::encode(&value))];
        }
        let secret = Secret::new(G::encode(&value));
        self.key = Some(Zeroizing::new(value));
        vec![Step::Done(secret)]
    }

    fn receive(
        &mut self,
        from: usize,
        step: u8,
        body: &[u8],
        _: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        let at = self.turn(from, step)?;
        match step {
            SHARE => self.take_share(at, body),
            LINK => self.take_link(at, body),
            _ => self.take_opening(at, body),
        }
    }

    fn awaited(&self) -> Vec<usize> {
        let speakers = &self.seating.speakers;
        let mut places: Vec<_> =
            self.missing().into_iter().filter_map(|at| speakers.get(at).copied()).collect();
        places.sort_unstable();
        places
    }

    fn stage(&self) -> Stage {
        match self.phase() {
            Phase::Shares => Stage { name: "shares", deciding: false },
            Phase::Links => Stage { name: "links", deciding: true },
            Phase::Opening => Stage { name: "openings", deciding: false },
            Phase::Done => Stage { name: "done", deciding: true },
        }
    }

    fn count(&self) -> Count {
        self.count
    }

    fn keep(&self) -> Option<Kept> {
        let (key, (order, me)) = (self.key.clone()?, self.seating.order.clone()?);
        State::<G> { order, key }.kept(me)
    }
}

/// A step; a link decides.
pub(super) fn send(step: u8, body: Vec<u8>) -> Step {
    Step::Send { step, decides: step == LINK, body }
}

impl<G: PrimeGroup> Run<G> {
    /// The position that `from` speaks for, if this step is awaited from there.
    fn turn(&self, from: usize, step: u8) -> Result<usize, AgreementError> {
        let out_of_turn = AgreementError::PeerOutOfTurn { from, step };
        let due = match step {
            SHARE => Phase::Shares,
            LINK => Phase::Links,
            OPEN => Phase::Opening,
            other => return Err(AgreementError::PeerUnknownStep(other)),
        };
        let at = self.seating.speakers.iter().position(|place| *place == from).ok_or(out_of_turn.clone())?;
        let taken = match step {
            SHARE => self.share_at(at).is_some(),
            LINK => self.link_at(at).is_some(),
            _ => self.opened.contains(&at),
        };
        match () {
            () if taken => Err(AgreementError::PeerRepeated { from, step }),
            () if self.phase() != due || (step == OPEN && self.is_lent(at)) => Err(out_of_turn),
            () => Ok(at),
        }
    }
}
