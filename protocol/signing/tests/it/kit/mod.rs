//! Helpers for tests of sharing: whole runs in one call, shares put together directly, and messages
//! made directly from docs/protocol/signing.md.

use crate::common::{Ends, play, play_with, run_id};
use folkmoot_base::{Digest, MemberId, digest};
use folkmoot_signing::sharing::{Change, Enrol, Holding, Joint, Redistribute, Share, Sharing};
use folkmoot_signing::ts_dsa::{DsaGroup, Signed, Signing};
use folkmoot_signing::{Fault, FaultKind, Outgoing, PrimeGroup, Run};
use std::collections::BTreeMap;

pub type Hands<D> = BTreeMap<MemberId, Box<dyn Run<Done = D>>>;

pub fn joint_hands<G: PrimeGroup>(holders: &[MemberId], threshold: usize, run: u64) -> Hands<Holding<G>> {
    let hand = |me: &MemberId| -> Box<dyn Run<Done = Holding<G>>> {
        Box::new(Joint::<G>::new(run_id(run), *me, holders, threshold).unwrap())
    };
    holders.iter().map(|me| (*me, hand(me))).collect()
}

/// The result of a run, on which all must agree.
pub fn agreed<G: PrimeGroup>(ends: Ends<Holding<G>>) -> Many<G> {
    let held: BTreeMap<MemberId, Holding<G>> =
        ends.into_iter().map(|(hand, end)| (hand, end.unwrap())).collect();
    let sharing = held.values().next().expect("somebody").sharing.clone();
    for (hand, held) in &held {
        assert_eq!(held.sharing, sharing, "one sharing at all");
        if let Some(share) = &held.share {
            assert_eq!(share.holder(), *hand);
            assert_eq!(share.fits(&sharing), Ok(()));
        }
    }
    let shares = held.into_iter().filter_map(|(hand, held)| Some((hand, held.share?))).collect();
    Many { sharing, shares }
}

/// A sharing with the shares of all, or of some.
#[derive(Clone)]
pub struct Many<G: PrimeGroup> {
    pub sharing: Sharing<G>,
    pub shares: BTreeMap<MemberId, Share<G>>,
}

pub fn joint<G: PrimeGroup>(holders: &[MemberId], threshold: usize, seed: u64) -> Many<G> {
    let many = agreed(play(joint_hands(holders, threshold, seed), seed));
    assert_eq!(many.sharing.threshold(), threshold);
    assert_eq!(many.sharing.holders(), holders);
    assert_eq!(many.shares.len(), holders.len());
    many
}

impl<G: PrimeGroup> Many<G> {
    pub fn redistribute_hands(&self, change: Change<'_>, run: u64) -> Hands<Holding<G>> {
        let hands = change.dealers.iter().chain(change.holders).copied();
        let hand = |me: MemberId| -> Box<dyn Run<Done = Holding<G>>> {
            let share = self.shares.get(&me);
            Box::new(Redistribute::new(run_id(run), me, &self.sharing, share, change).unwrap())
        };
        hands.map(|me| (me, hand(me))).collect()
    }

    pub fn redistribute(
        &self,
        dealers: &[MemberId],
        holders: &[MemberId],
        threshold: usize,
        seed: u64,
    ) -> Self {
        let change = Change { dealers, holders, threshold };
        let new = agreed(play(self.redistribute_hands(change, seed), seed));
        assert_eq!(new.sharing.threshold(), threshold);
        assert_eq!(new.sharing.holders(), holders);
        assert_eq!(new.shares.len(), holders.len());
        new
    }

    pub fn enrol_hands(&self, helpers: &[MemberId], newcomer: MemberId, run: u64) -> Hands<Holding<G>> {
        let hands = self.sharing.holders().iter().copied().chain([newcomer]);
        let hand = |me: MemberId| -> Box<dyn Run<Done = Holding<G>>> {
            let share = self.shares.get(&me);
            Box::new(Enrol::new(run_id(run), me, &self.sharing, share, helpers, newcomer).unwrap())
        };
        hands.map(|me| (me, hand(me))).collect()
    }

    /// With the newcomer's share added.
    pub fn enrol(&self, helpers: &[MemberId], newcomer: MemberId, seed: u64) -> Self {
        let new = agreed(play(self.enrol_hands(helpers, newcomer, seed), seed));
        self.extended(new, newcomer)
    }

    pub fn extended(&self, new: Self, newcomer: MemberId) -> Self {
        assert!(new.sharing.holders().contains(&newcomer));
        assert_eq!(new.sharing.epoch(), self.sharing.epoch(), "the same polynomial");
        assert_eq!(new.shares.keys().collect::<Vec<_>>(), [&newcomer], "a share for the newcomer alone");
        let mut shares = self.shares.clone();
        shares.extend(new.shares);
        Self { sharing: new.sharing, shares }
    }

    pub fn value(&self, holder: &MemberId) -> G::Scalar {
        value(&self.shares[holder])
    }

    /// Whether these holders' shares, put together, are the secret.
    pub fn determine(&self, holders: &[MemberId]) -> bool {
        let values: Vec<_> = holders.iter().map(|holder| (*holder, self.value(holder))).collect();
        secret_of::<G>(&values, &self.sharing)
    }
}

impl<G: DsaGroup> Many<G> {
    pub fn sign_hands(&self, signers: &[MemberId], message: Digest, run: u64) -> Hands<Signed<G>> {
        let hand = |me: &MemberId| -> Box<dyn Run<Done = Signed<G>>> {
            let share = &self.shares[me];
            Box::new(Signing::new(run_id(run), *me, &self.sharing, share, signers, message).unwrap())
        };
        signers.iter().map(|me| (*me, hand(me))).collect()
    }

    pub fn sign(&self, signers: &[MemberId], message: Digest, seed: u64) -> Signed<G> {
        let ends = play(self.sign_hands(signers, message, seed), seed);
        assert_eq!(ends.len(), signers.len());
        let all: Vec<Signed<G>> = ends.into_values().map(|end| end.unwrap()).collect();
        assert!(all.iter().all(|signed| *signed == all[0]), "one signature at all");
        assert!(all[0].verifies(&self.sharing.public(), &message));
        all[0]
    }
}

/// The number in a share.
pub fn value<G: PrimeGroup>(share: &Share<G>) -> G::Scalar {
    let bytes = share.encode();
    G::decode_scalar(&bytes.expose()[bytes.expose().len() - G::SCALAR_BYTES..]).unwrap()
}

pub fn lambda<G: PrimeGroup>(hand: &MemberId, hands: &[MemberId], place: G::Scalar) -> G::Scalar {
    let others = hands.iter().filter(|other| *other != hand);
    others.fold(G::one(), |product, other| {
        let below = G::plus(G::place(hand), G::minus(G::place(other)));
        let above = G::plus(place, G::minus(G::place(other)));
        G::times(product, G::times(above, G::inverse(below).unwrap()))
    })
}

pub fn interpolate<G: PrimeGroup>(values: &[(MemberId, G::Scalar)], place: G::Scalar) -> G::Scalar {
    let hands: Vec<MemberId> = values.iter().map(|(hand, _)| *hand).collect();
    let terms = values.iter().map(|(hand, value)| G::times(*value, lambda::<G>(hand, &hands, place)));
    terms.fold(G::zero(), G::plus)
}

/// Whether these values at their holders' places give the secret of `sharing`.
pub fn secret_of<G: PrimeGroup>(values: &[(MemberId, G::Scalar)], sharing: &Sharing<G>) -> bool {
    G::raise_generator(&interpolate::<G>(values, G::zero())) == sharing.public()
}

/// All honest participants ended, and named exactly `culprits`.
pub fn named<D: std::fmt::Debug>(ends: &Ends<D>, liar: MemberId, hands: usize, kind: FaultKind) {
    let honest: Vec<_> = ends.iter().filter(|(hand, _)| **hand != liar).collect();
    assert_eq!(honest.len(), hands - 1, "every honest hand ended: {ends:?}");
    for (hand, end) in honest {
        let fault = end.as_ref().expect_err("a lie is found");
        assert_eq!(*fault, Fault { kind, culprits: vec![liar] }, "at {hand}");
    }
}

pub fn tell<D>(hands: Hands<D>, seed: u64, mut lie: impl FnMut(usize, MemberId, &mut Outgoing)) -> Ends<D> {
    play_with(hands, seed, |round, speaker, said| lie(round, speaker, said))
}

pub fn listed(hands: &[MemberId]) -> Vec<u8> {
    let mut out = (hands.len() as u64).to_be_bytes().to_vec();
    hands.iter().for_each(|hand| out.extend(hand.0));
    out
}

/// A run's context, as the page has it.
pub fn context<G: PrimeGroup>(label: &str, parts: &[&[u8]]) -> Digest {
    let mut all = vec![label.as_bytes(), &[0], G::NAME, &[0]];
    all.extend(parts);
    digest(&all)
}

pub fn joint_context<G: PrimeGroup>(run: u64, holders: &[MemberId], threshold: usize) -> Digest {
    let threshold = (threshold as u64).to_be_bytes();
    context::<G>("folkmoot joint sharing v1", &[&run_id(run).0, &threshold, &listed(holders)])
}

/// The commit message for an opening.
pub fn commit_to(context: &Digest, dealer: &MemberId, opening: &[u8]) -> Vec<u8> {
    let commit = digest(&[b"folkmoot dealing v1", &[0], context, &dealer.0, opening]);
    [&[1, 1][..], &commit].concat()
}

/// The challenge of a proof that the number in front of `public` is known.
pub fn asked<G: PrimeGroup>(context: &Digest, hand: &MemberId, public: &[u8], nonce: &[u8]) -> G::Scalar {
    use p256::ecdsa::signature::digest::Digest as _;
    let mut hash = sha2::Sha512::new();
    let head: [&[u8]; 4] = [b"folkmoot sharing proof v1", &[0], G::NAME, &[0]];
    for part in head.iter().chain(&[&context[..], &hand.0, public, nonce]) {
        hash.update(part);
    }
    G::from_wide(&hash.finalize().into())
}

/// The proof that `secret` is known.
pub fn prove<G: PrimeGroup>(context: &Digest, hand: &MemberId, secret: &G::Scalar) -> Vec<u8> {
    let drawn = G::from_wide(&[7; 64]);
    let nonce = G::encode(&G::raise_generator(&drawn));
    let asked = asked::<G>(context, hand, &G::encode(&G::raise_generator(secret)), &nonce);
    [nonce, G::encode_scalar(&G::plus(drawn, G::times(asked, *secret)))].concat()
}

/// An opening of one open polynomial with these coefficients.
pub fn opening<G: PrimeGroup>(context: &Digest, dealer: &MemberId, polynomial: &[G::Scalar]) -> Vec<u8> {
    let commitments = polynomial.iter().flat_map(|term| G::encode(&G::raise_generator(term)));
    let mut word = [&[1, 2][..], &[9; 32]].concat();
    word.extend(commitments);
    word.extend(prove::<G>(context, dealer, &polynomial[0]));
    word
}
