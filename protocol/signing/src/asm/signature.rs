//! The result of a run, and what anybody with the proven keys can check.

use super::schnorr::{challenge, fits};
use super::{AsmError, ProvenKey, Signers, VERSION, take};
use crate::base::MemberId;
use crate::{PrimeGroup, SIGNERS_MAX};

pub(super) const SIGNATURE_LABEL: &[u8] = b"folkmoot asm challenge v1";
const ID_BYTES: usize = 32;

/// A signature of several members: an element and a number, whoever signed, and their names,
/// sorted.
#[derive(Clone)]
pub struct MultiSignature<G: PrimeGroup> {
    element: G::Element,
    answer: G::Scalar,
    signers: Vec<MemberId>,
}

impl<G: PrimeGroup> MultiSignature<G> {
    pub(super) fn new(element: G::Element, answer: G::Scalar, signers: Vec<MemberId>) -> Self {
        Self { element, answer, signers }
    }

    /// Who signed.
    pub fn signers(&self) -> &[MemberId] {
        &self.signers
    }

    /// Version 1 ‖ R ‖ s ‖ number of signers (u16) ‖ their ids, ascending. For ristretto255 67 + 32
    /// n bytes, for P-256 one more.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend(G::encode(&self.element));
        out.extend(G::encode_scalar(&self.answer));
        out.extend(u16::try_from(self.signers.len()).unwrap_or(u16::MAX).to_be_bytes());
        for signer in &self.signers {
            out.extend_from_slice(&signer.0);
        }
        out
    }

    /// Reads what [`Self::encode`] writes: 1 to [`SIGNERS_MAX`] signers.
    ///
    /// # Errors
    /// [`AsmError::WireSignature`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, AsmError> {
        Self::read(bytes).ok_or(AsmError::WireSignature)
    }

    /// Checks that all the signers signed `message` under `label`: n additions and two
    /// exponentiations. `key_of` knows the proven keys of the members whose signatures count. The
    /// caller decides how many had to sign.
    ///
    /// # Errors
    /// [`AsmError::PeerSigners`], [`AsmError::PeerSignature`].
    pub fn verify(
        &self,
        label: &'static [u8],
        message: &[u8],
        key_of: impl Fn(&MemberId) -> Option<ProvenKey<G>>,
    ) -> Result<(), AsmError> {
        let of = |member| key_of(member).filter(|key| key.member == *member);
        let keys: Option<Vec<ProvenKey<G>>> = self.signers.iter().map(of).collect();
        let signers = Signers::new(keys.ok_or(AsmError::PeerSigners)?)?;
        let challenge = challenge::<G>(SIGNATURE_LABEL, &signers.subject(label, message), &self.element);
        if fits::<G>(&self.element, signers.sum(), challenge, self.answer) {
            Ok(())
        } else {
            Err(AsmError::PeerSignature)
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&[VERSION])?;
        let element = G::decode(take(&mut rest, G::ELEMENT_BYTES)?)?;
        let answer = G::decode_scalar(take(&mut rest, G::SCALAR_BYTES)?)?;
        let count = usize::from(u16::from_be_bytes(take(&mut rest, 2)?.try_into().ok()?));
        if !(1..=SIGNERS_MAX).contains(&count) || rest.len() != count.checked_mul(ID_BYTES)? {
            return None;
        }
        let ids = rest.chunks_exact(ID_BYTES).map(|id| id.try_into().ok().map(MemberId));
        let signers: Vec<MemberId> = ids.collect::<Option<_>>()?;
        let ascending = signers.iter().zip(signers.iter().skip(1)).all(|(a, b)| a < b);
        ascending.then_some(Self { element, answer, signers })
    }
}

impl<G: PrimeGroup> PartialEq for MultiSignature<G> {
    fn eq(&self, other: &Self) -> bool {
        self.element == other.element && self.answer == other.answer && self.signers == other.signers
    }
}

impl<G: PrimeGroup> Eq for MultiSignature<G> {}

impl<G: PrimeGroup> core::fmt::Debug for MultiSignature<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_tuple("MultiSignature").field(&self.signers).finish()
    }
}
