//! A proof that a participant knows what it committed to (Schnorr 1991, made non-interactive by
//! Fiat and Shamir 1986).

use super::message::{Reader, Writer};
use crate::PrimeGroup;
use crate::base::{Digest, Entropy, MemberId, Secret};
use sha2::{Digest as _, Sha512};

/// A number that follows from `parts`: SHA-512 of label, group name and parts, reduced. Callers
/// give parts whose lengths are fixed.
pub(crate) fn challenge<G: PrimeGroup>(label: &[u8], parts: &[&[u8]]) -> G::Scalar {
    let mut hash = Sha512::new();
    for part in [label, &[0], G::NAME, &[0]].iter().chain(parts) {
        hash.update(part);
    }
    G::from_wide(&hash.finalize().into())
}

/// A proof that its maker knows the number in front of the generator.
#[derive(Clone, Copy)]
pub(crate) struct Known<G: PrimeGroup> {
    nonce: G::Element,
    answer: G::Scalar,
}

impl<G: PrimeGroup> Known<G> {
    /// Proves, as `participant` in what `context` names, that it knows `secret`.
    pub(crate) fn prove(
        context: &Digest,
        participant: &MemberId,
        secret: &G::Scalar,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let drawn = Secret::new(G::draw(entropy));
        let nonce = G::raise_generator(drawn.expose());
        let asked = Self::asked(context, participant, &G::raise_generator(secret), &nonce);
        Self { nonce, answer: G::plus(*drawn.expose(), G::times(asked, *secret)) }
    }

    /// Whether `participant`, in what `context` names, knew the number in front of `public`.
    pub(crate) fn holds(&self, context: &Digest, participant: &MemberId, public: &G::Element) -> bool {
        let asked = Self::asked(context, participant, public, &self.nonce);
        let owed = G::add(&self.nonce, &G::raise(public, &asked));
        G::raise_generator(&self.answer) == owed
    }

    pub(crate) fn write(&self, writer: Writer) -> Writer {
        writer.element::<G>(&self.nonce).scalar::<G>(&self.answer)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { nonce: reader.element::<G>()?, answer: reader.scalar::<G>()? })
    }

    fn asked(context: &Digest, participant: &MemberId, public: &G::Element, nonce: &G::Element) -> G::Scalar {
        let (public, nonce) = (G::encode(public), G::encode(nonce));
        challenge::<G>(b"folkmoot sharing proof v1", &[context, &participant.0, &public, &nonce])
    }
}
