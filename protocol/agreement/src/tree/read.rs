//! Reading the bodies of steps.

use crate::prime::element;
use crate::{AgreementError, PrimeGroup};

/// What is left of a body.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], AgreementError> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(AgreementError::PeerMalformed)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, AgreementError> {
        self.take(1)?.first().copied().ok_or(AgreementError::PeerMalformed)
    }

    /// One element of the group, not the identity (AGR-30, AGR-40).
    pub(crate) fn element<G: PrimeGroup>(&mut self) -> Result<G::Element, AgreementError> {
        element::<G>(self.take(G::ELEMENT_BYTES)?)
    }

    /// Exactly `count` elements and nothing behind them.
    pub(crate) fn elements<G: PrimeGroup>(mut self, count: usize) -> Result<Vec<G::Element>, AgreementError> {
        if Some(self.0.len()) != count.checked_mul(G::ELEMENT_BYTES) {
            return Err(AgreementError::PeerMalformed);
        }
        (0..count).map(|_| self.element::<G>()).collect()
    }
}

/// Elements, one after the other.
pub(crate) fn write<'a, G: PrimeGroup>(elements: impl IntoIterator<Item = &'a G::Element>) -> Vec<u8> {
    elements.into_iter().flat_map(G::encode).collect()
}
