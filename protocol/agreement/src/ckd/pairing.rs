//! How the controller and one other party agree on a secret of their own: one offer to all, one
//! answer from each.
//!
//! ```text
//!            controller                     other
//!  Curve     g^r            ── OFFER ──>
//!                           <── ANSWER ──   g^r_i          both: g^(r·r_i)
//!  XWing     public key     ── OFFER ──>
//!                           <── ANSWER ──   ciphertext     both: what is encapsulated
//! ```

use crate::base::{Entropy, draw};
use crate::prime::element;
use crate::{AgreementError, Count, ModuleName, PrimeGroup};
use core::marker::PhantomData;
use x_wing::{
    CIPHERTEXT_SIZE, Ciphertext, DECAPSULATION_KEY_SIZE, Decapsulate as _, DecapsulationKey,
    Decapsulator as _, ENCAPSULATION_KEY_SIZE, ENCAPSULATION_RANDOMNESS_SIZE, EncapsulationKey,
    KeyExport as _,
};
use zeroize::Zeroizing;

/// The secret of two parties before it goes through HKDF.
pub(super) type Shared = Zeroizing<Vec<u8>>;

/// A way to such a secret. All parties read values alike before anything is done with them.
pub trait Pairing: Send + 'static {
    /// The module that uses it.
    const MODULE: ModuleName;
    /// The salt of its pair keys.
    const LABEL: &'static [u8];
    /// What the controller keeps until all have answered. Erases itself.
    type Own: Send;
    /// A value of OFFER.
    type Offer;
    /// A value of ANSWER.
    type Answer;

    /// The controller's part: what it keeps, and OFFER.
    fn offer(entropy: &mut dyn Entropy, count: &mut Count) -> (Self::Own, Vec<u8>);

    /// Reads OFFER.
    ///
    /// # Errors
    /// `Peer…`: it is no such value.
    fn read_offer(body: &[u8]) -> Result<Self::Offer, AgreementError>;

    /// A party's part: the secret, and ANSWER.
    fn answer(offer: &Self::Offer, entropy: &mut dyn Entropy, count: &mut Count) -> (Shared, Vec<u8>);

    /// Reads ANSWER.
    ///
    /// # Errors
    /// `Peer…`: it is no such value.
    fn read_answer(body: &[u8]) -> Result<Self::Answer, AgreementError>;

    /// The secret, at the controller.
    fn take(own: &Self::Own, answer: &Self::Answer, count: &mut Count) -> Shared;
}

fn spend(count: &mut Count, exponentiations: u64) {
    count.exponentiations = count.exponentiations.saturating_add(exponentiations);
}

/// Diffie–Hellman in a group of prime order.
#[derive(Debug, Clone, Copy)]
pub struct Curve<G>(PhantomData<G>);

impl<G: PrimeGroup> Curve<G> {
    fn draw(entropy: &mut dyn Entropy, count: &mut Count) -> (Zeroizing<G::Scalar>, Vec<u8>) {
        let exponent = Zeroizing::new(G::draw(entropy));
        spend(count, 1);
        let value = G::encode(&G::raise_generator(&exponent));
        (exponent, value)
    }
}

impl<G: PrimeGroup> Pairing for Curve<G> {
    const MODULE: ModuleName = ModuleName::Ckd;
    const LABEL: &'static [u8] = b"folkmoot ckd pair v1";
    type Own = Zeroizing<G::Scalar>;
    type Offer = G::Element;
    type Answer = G::Element;

    fn offer(entropy: &mut dyn Entropy, count: &mut Count) -> (Self::Own, Vec<u8>) {
        Self::draw(entropy, count)
    }

    fn read_offer(body: &[u8]) -> Result<G::Element, AgreementError> {
        element::<G>(body)
    }

    fn answer(offer: &G::Element, entropy: &mut dyn Entropy, count: &mut Count) -> (Shared, Vec<u8>) {
        let (exponent, value) = Self::draw(entropy, count);
        (Self::take(&exponent, offer, count), value)
    }

    fn read_answer(body: &[u8]) -> Result<G::Element, AgreementError> {
        element::<G>(body)
    }

    fn take(own: &Self::Own, answer: &G::Element, count: &mut Count) -> Shared {
        spend(count, 1);
        Zeroizing::new(G::encode(&Zeroizing::new(G::raise(answer, own))))
    }
}

/// X-Wing: ML-KEM-768 and X25519, combined so that the secret holds while either does. Randomness
/// is given, so that a run is a seed (P1): 32 bytes for a key pair, 64 for a ciphertext.
/// Exponentiations are counted of X25519 alone.
///
/// Source: Connolly, Schwabe, Westerbaan, draft-connolly-cfrg-xwing-kem, by the crate x-wing. A
/// value of small order in the X25519 half is accepted, as there: whoever sends one is the other
/// half of the pair, and knows the secret anyway.
#[derive(Debug, Clone, Copy)]
pub struct XWing;

impl Pairing for XWing {
    const MODULE: ModuleName = ModuleName::CkdHybrid;
    const LABEL: &'static [u8] = b"folkmoot ckd+ml-kem-768 pair v1";
    type Own = DecapsulationKey;
    type Offer = EncapsulationKey;
    type Answer = Ciphertext;

    fn offer(entropy: &mut dyn Entropy, count: &mut Count) -> (Self::Own, Vec<u8>) {
        let seed = Zeroizing::new(draw::<DECAPSULATION_KEY_SIZE>(entropy));
        spend(count, 1);
        let own = DecapsulationKey::from(*seed);
        let value = own.encapsulation_key().to_bytes().to_vec();
        (own, value)
    }

    /// AGR-23: the right length, every coefficient in its one encoding (FIPS 203, 7.2).
    fn read_offer(body: &[u8]) -> Result<EncapsulationKey, AgreementError> {
        if body.len() != ENCAPSULATION_KEY_SIZE {
            return Err(AgreementError::PeerMalformed);
        }
        EncapsulationKey::try_from(body).map_err(|_| AgreementError::PeerNotInGroup)
    }

    fn answer(offer: &EncapsulationKey, entropy: &mut dyn Entropy, count: &mut Count) -> (Shared, Vec<u8>) {
        let dice = Zeroizing::new(draw::<ENCAPSULATION_RANDOMNESS_SIZE>(entropy));
        spend(count, 2);
        let (sealed, shared) = offer.encapsulate_deterministic(&(*dice).into());
        let shared = Zeroizing::new(shared);
        (Zeroizing::new(shared.to_vec()), sealed.to_vec())
    }

    /// AGR-23: every byte string of the right length is a ciphertext; an altered one gives another
    /// secret (FIPS 203, 6.3).
    fn read_answer(body: &[u8]) -> Result<Ciphertext, AgreementError> {
        let bytes: [u8; CIPHERTEXT_SIZE] = body.try_into().map_err(|_| AgreementError::PeerMalformed)?;
        Ok(Ciphertext::from(bytes))
    }

    fn take(own: &DecapsulationKey, answer: &Ciphertext, count: &mut Count) -> Shared {
        spend(count, 1);
        let shared = Zeroizing::new(own.decapsulate(answer));
        Zeroizing::new(shared.to_vec())
    }
}
