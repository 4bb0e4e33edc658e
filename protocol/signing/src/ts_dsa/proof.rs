//! A proof that a masked product is the product of what its maker holds. It makes every lie about v
//! and s attributable, and tells nothing.
//!
//! A signer has numbers k, k' behind K = k·G + k'·H and b, b' behind B = b·G + b'·H, both public by
//! Pedersen's commitments. It shows v·G = k·T + b·G for a public T and the v that it sent. T is
//! a_i·G for the products of k and a, and h·G + r·x_i·G for the parts of s. This is a proof of
//! knowledge of four numbers in three linear equations (Maurer 2009; Fiat and Shamir 1986).

use crate::PrimeGroup;
use crate::base::{Digest, Entropy, MemberId};
use crate::sharing::{Kind, Piece, Reader, Writer, challenge};
use zeroize::Zeroize as _;

/// What is public of one signer's product.
#[derive(Clone, Copy)]
pub(super) struct Statement<G: PrimeGroup> {
    pub(super) factor: G::Element,
    pub(super) mask: G::Element,
    pub(super) base: G::Element,
}

/// A masked product, proven; the message of its round.
pub(super) struct Product<G: PrimeGroup> {
    pub(super) value: G::Scalar,
    asked: G::Scalar,
    answers: [G::Scalar; 4],
}

/// What a proof is for: run, second generator, signer, round.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a, G: PrimeGroup> {
    pub(super) context: &'a Digest,
    pub(super) second: &'a G::Element,
    pub(super) signer: &'a MemberId,
    pub(super) kind: Kind,
}

impl<G: PrimeGroup> Scope<'_, G> {
    /// What nonces of a proof are drawn for: all that its challenge covers but the nonces, so that
    /// one nonce never answers two challenges.
    pub(super) fn purpose(&self, statement: &Statement<G>, value: &G::Scalar) -> Vec<u8> {
        let Statement { factor, mask, base } = statement;
        let elements = [factor, mask, base].into_iter().flat_map(G::encode);
        let head = [b"folkmoot product nonces v1\0", &self.context[..], &self.signer.0, &[self.kind as u8]];
        head.concat().into_iter().chain(G::encode_scalar(value)).chain(elements).collect()
    }

    fn asked(&self, statement: &Statement<G>, value: &G::Scalar, nonces: &[G::Element; 3]) -> G::Scalar {
        let Statement { factor, mask, base } = statement;
        let elements: Vec<u8> = [factor, mask, base].into_iter().chain(nonces).flat_map(G::encode).collect();
        let value = G::encode_scalar(value);
        let parts: [&[u8]; 5] = [self.context, &self.signer.0, &[self.kind as u8], &value, &elements];
        challenge::<G>(b"folkmoot product proof v1", &parts)
    }
}

impl<G: PrimeGroup> Product<G> {
    /// `value` = `factor` · (the number of the statement's base) + `mask`.
    pub(super) fn prove(
        scope: Scope<'_, G>,
        statement: &Statement<G>,
        value: G::Scalar,
        factor: &Piece<G>,
        mask: &Piece<G>,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let mut secrets = [factor.value, factor.blind, mask.value, mask.blind];
        let mut drawn = secrets.map(|_| G::draw(entropy));
        let [k, k_blind, b, b_blind] = &drawn;
        let nonces = [
            G::add(&G::raise_generator(k), &G::raise(scope.second, k_blind)),
            G::add(&G::raise_generator(b), &G::raise(scope.second, b_blind)),
            G::add(&G::raise(&statement.base, k), &G::raise_generator(b)),
        ];
        let asked = scope.asked(statement, &value, &nonces);
        let mut answers = drawn;
        for (answer, secret) in answers.iter_mut().zip(&secrets) {
            *answer = G::plus(*answer, G::times(asked, *secret));
        }
        drawn.iter_mut().chain(&mut secrets).for_each(zeroize::Zeroize::zeroize);
        Self { value, asked, answers }
    }

    /// Whether the value is what the statement says.
    pub(super) fn holds(&self, scope: Scope<'_, G>, statement: &Statement<G>) -> bool {
        let [k, k_blind, b, b_blind] = self.answers;
        let back = G::minus(self.asked);
        let generator = G::raise_generator(&G::one());
        let claimed = G::raise_generator(&self.value);
        let nonces = [
            G::raise_many(&[(k, generator), (k_blind, *scope.second), (back, statement.factor)]),
            G::raise_many(&[(b, generator), (b_blind, *scope.second), (back, statement.mask)]),
            G::raise_many(&[(k, statement.base), (b, generator), (back, claimed)]),
        ];
        scope.asked(statement, &self.value, &nonces) == self.asked
    }

    pub(super) fn encode(&self, kind: Kind) -> Vec<u8> {
        let writer = Writer::new(kind, 0).scalar::<G>(&self.value).scalar::<G>(&self.asked);
        self.answers.iter().fold(writer, |writer, answer| writer.scalar::<G>(answer)).end()
    }

    pub(super) fn decode(message: &[u8], kind: Kind) -> Option<Self> {
        let mut reader = Reader::new(message, kind)?;
        let mut next = || reader.scalar::<G>();
        let product = Self { value: next()?, asked: next()?, answers: [next()?, next()?, next()?, next()?] };
        reader.end()?;
        Some(product)
    }
}

impl<G: PrimeGroup> Drop for Product<G> {
    fn drop(&mut self) {
        self.answers.iter_mut().for_each(|answer| answer.zeroize());
    }
}
