//! Centralised key distribution as published, in exponents (ICDCS 2000). For its counts: groups run
//! [`folkmoot_agreement::ckd::Run`].
//!
//! ```text
//! 1  M_1 → M_i   g^r_1                        r_1 chosen once
//! 2  M_i → M_1   g^(r_i·K_1i)                 K_1i = g^(x_1·x_i), from long-term keys, as an exponent
//! 3  M_1 → M_i   K_s^E_i                      E_i = g^(r_1·r_i) as an exponent; M_i undoes it
//! ```

use folkmoot_agreement::{AgreementError, Count, PrimeGroup};
use folkmoot_base::{Entropy, Party, Secret};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// One member: its long-term pair, its `r` chosen once, and what it shares with controller or
/// members.
pub struct Context<G: PrimeGroup> {
    long_term: Zeroizing<G::Scalar>,
    public: G::Element,
    once: Zeroizing<G::Scalar>,
    offer: G::Element,
    pairs: BTreeMap<Party, Zeroizing<G::Scalar>>,
    key: Option<Zeroizing<G::Element>>,
    count: Count,
}

impl<G: PrimeGroup> Context<G> {
    /// A member with a fresh long-term pair and a fresh `r`. Two exponentiations, before anything
    /// happens.
    pub fn new(entropy: &mut dyn Entropy) -> Self {
        let (long_term, once) = (Zeroizing::new(G::draw(entropy)), Zeroizing::new(G::draw(entropy)));
        let public = G::raise_generator(&long_term);
        let offer = G::raise_generator(&once);
        let count = Count { exponentiations: 2, inversions: 0 };
        Self { long_term, public, once, offer, pairs: BTreeMap::new(), key: None, count }
    }

    /// The long-term public key, which the others know.
    pub fn public(&self) -> &G::Element {
        &self.public
    }

    /// Message 1, of the controller: the same as long as it is controller.
    pub fn offer(&self) -> Vec<u8> {
        G::encode(&self.offer)
    }

    /// Message 2, of a member to the controller, whose long-term key is `public`. Three
    /// exponentiations.
    ///
    /// # Errors
    /// [`AgreementError::PeerMalformed`], [`AgreementError::PeerNotInGroup`],
    /// [`AgreementError::PeerIdentity`].
    pub fn answer(
        &mut self,
        controller: Party,
        public: &G::Element,
        offer: &[u8],
    ) -> Result<Vec<u8>, AgreementError> {
        let offer = element::<G>(offer)?;
        let long = self.long_term_key(public);
        let once = self.once.clone();
        let pair = Zeroizing::new(self.raise(&offer, &once));
        self.pairs.insert(controller, Zeroizing::new(to_scalar::<G>(&pair)));
        let answer = self.raise(&G::generator(), &Zeroizing::new(G::times(*once, *long)));
        Ok(G::encode(&answer))
    }

    /// The controller on message 2. Two exponentiations.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn pair(&mut self, member: Party, public: &G::Element, answer: &[u8]) -> Result<(), AgreementError> {
        let answer = element::<G>(answer)?;
        let long = self.long_term_key(public);
        let undo = self.invert(&long);
        let without = Zeroizing::new(G::times(*self.once, *undo));
        let pair = Zeroizing::new(self.raise(&answer, &without));
        self.pairs.insert(member, Zeroizing::new(to_scalar::<G>(&pair)));
        Ok(())
    }

    /// Forgets somebody who left.
    pub fn forget(&mut self, member: &Party) {
        self.pairs.remove(member);
    }

    /// Message 3, of the controller to everybody it has paired with. One exponentiation for the key
    /// and one for each.
    pub fn distribute(&mut self, entropy: &mut dyn Entropy) -> BTreeMap<Party, Vec<u8>> {
        let secret = Zeroizing::new(G::draw(entropy));
        let key = Zeroizing::new(self.raise(&G::generator(), &secret));
        let mut sealed = BTreeMap::new();
        for (member, pair) in self.pairs.clone() {
            sealed.insert(member, G::encode(&self.raise(&key, &pair)));
        }
        self.key = Some(key);
        sealed
    }

    /// A member on message 3. One exponentiation.
    ///
    /// # Errors
    /// As [`Self::answer`]; [`AgreementError::LocalNotReady`] without a pair key.
    pub fn receive(&mut self, controller: &Party, sealed: &[u8]) -> Result<(), AgreementError> {
        let sealed = element::<G>(sealed)?;
        let pair = self.pairs.get(controller).ok_or(AgreementError::LocalNotReady)?.clone();
        let undo = self.invert(&pair);
        self.key = Some(Zeroizing::new(self.raise(&sealed, &undo)));
        Ok(())
    }

    /// The group's key, encoded.
    ///
    /// # Errors
    /// [`AgreementError::LocalNotReady`] before.
    pub fn key(&self) -> Result<Secret<Vec<u8>>, AgreementError> {
        self.key.as_ref().map(|key| Secret::new(G::encode(key))).ok_or(AgreementError::LocalNotReady)
    }

    /// What the calls so far have cost.
    pub fn count(&self) -> Count {
        self.count
    }

    /// Counts from nothing again.
    pub fn reset_count(&mut self) {
        self.count = Count::default();
    }

    fn long_term_key(&mut self, public: &G::Element) -> Zeroizing<G::Scalar> {
        let own = self.long_term.clone();
        Zeroizing::new(to_scalar::<G>(&Zeroizing::new(self.raise(public, &own))))
    }

    fn invert(&mut self, scalar: &G::Scalar) -> Zeroizing<G::Scalar> {
        self.count.inversions = self.count.inversions.saturating_add(1);
        Zeroizing::new(G::inverse(*scalar).unwrap_or_else(G::zero))
    }

    fn raise(&mut self, element: &G::Element, scalar: &G::Scalar) -> G::Element {
        self.count.exponentiations = self.count.exponentiations.saturating_add(1);
        G::raise(element, scalar)
    }
}

/// Decodes an element that is not the identity.
fn element<G: PrimeGroup>(bytes: &[u8]) -> Result<G::Element, AgreementError> {
    if bytes.len() != G::ELEMENT_BYTES {
        return Err(AgreementError::PeerMalformed);
    }
    let element = G::decode_any(bytes).ok_or(AgreementError::PeerNotInGroup)?;
    if element == G::identity() { Err(AgreementError::PeerIdentity) } else { Ok(element) }
}

/// What two share, as an exponent.
fn to_scalar<G: PrimeGroup>(element: &G::Element) -> G::Scalar {
    G::to_scalar(b"folkmoot element to exponent v1", element)
}
