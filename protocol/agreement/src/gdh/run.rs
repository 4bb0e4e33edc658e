//! One robust run (IKA.2 pattern).
use crate::base::{Entropy, MemberId};
use crate::{AgreementError, Module, ModuleName, PrimeGroup, Stage, Step};
use core::marker::PhantomData;

/// One run.
pub struct Run<G: PrimeGroup> {
    group: PhantomData<G>,
}

impl<G: PrimeGroup> Run<G> {
    /// A run.
    ///
    /// # Errors
    /// `LocalMembers`.
    pub fn new(_members: &[MemberId], _me: usize) -> Result<Self, AgreementError> {
        Ok(Self { group: PhantomData })
    }
}

impl<G: PrimeGroup> Module for Run<G> {
    fn name(&self) -> ModuleName {
        ModuleName::Gdh
    }
    fn start(&mut self, _entropy: &mut dyn Entropy) -> Vec<Step> {
        Vec::new()
    }
    fn receive(
        &mut self,
        _from: usize,
        step: u8,
        _body: &[u8],
        _entropy: &mut dyn Entropy,
    ) -> Result<Vec<Step>, AgreementError> {
        Err(AgreementError::PeerUnknownStep(step))
    }
    fn awaited(&self) -> Vec<usize> {
        Vec::new()
    }
    fn stage(&self) -> Stage {
        Stage { name: "partial token", deciding: false }
    }
}
