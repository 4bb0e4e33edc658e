//! Entropy that repeats or is known, where a key is made: at its founders, and at its dealer.
//! `frost/repeats.rs` has the signers.

use crate::common::{Seed, Stuck, members, run_id};
use crate::kit::{asked, joint_context, value};
use folkmoot_base::Danger;
use folkmoot_signing::sharing::{Joint, Share, deal};
use folkmoot_signing::{Incoming, Next, P256, PrimeGroup, Run, Scheme, shared};

type Scalar = <P256 as PrimeGroup>::Scalar;

/// What the first of two founders opens in a run, its entropy being the same in all: its secret
/// times the generator, and a proof that it knows it.
fn opened(run: u64, danger: Option<Danger>) -> [Vec<u8>; 3] {
    let founders = members(2);
    let joint = |place: usize| Joint::<P256>::new(run_id(run), founders[place], &founders, 2).unwrap();
    let mut first = joint(0).with_danger(danger.into());
    let begun = [first.start(&mut Seed(9 << 40)), joint(1).start(&mut Seed(run << 40))];
    let commits = founders.iter().copied().zip(begun.map(|next| match next {
        Next::Say(said) => said.to_all,
        Next::Done(_) => panic!("it opens first"),
    }));
    let heard = Incoming { to_all: commits.collect(), ..Incoming::default() };
    let Ok(Next::Say(said)) = first.hear(heard, &mut Seed(0)) else { panic!("it opens") };
    // After version, kind and nonce: two commitments, R and z.
    [34..67, 100..133, 133..165].map(|part| said.to_all[part].to_vec())
}

/// The secret that two proofs with one nonce have, and whether it is the one behind the first.
fn solved(one: [Vec<u8>; 3], other: [Vec<u8>; 3]) -> bool {
    let [one, other] = [(1, one), (2, other)].map(|(run, [public, nonce, answer])| {
        let (founders, answer) = (members(2), P256::decode_scalar(&answer).unwrap());
        let context = joint_context::<P256>(run, &founders, 2);
        (asked::<P256>(&context, &founders[0], &public, &nonce), answer, public)
    });
    let secret: Scalar = (one.1 - other.1) * P256::inverse(one.0 - other.0).unwrap();
    P256::encode(&P256::raise_generator(&secret)) == one.2
}

#[test]
fn shr_29_entropy_that_repeats_gives_no_founders_secret_away() {
    let bare = [1, 2].map(|run| opened(run, Some(Danger::SigningNonceUnhedged)));
    assert_eq!(bare[0][..2], bare[1][..2], "without the rule: one secret, one nonce, two challenges");
    let [one, other] = bare;
    assert!(solved(one, other));
    let [one, other] = [1, 2].map(|run| opened(run, None));
    assert!(one[0] != other[0] && one[1] != other[1]);
    assert!(!solved(one, other));
}

/// A holder that knows what its dealer drew takes that away from its share.
#[test]
fn deal_12_a_holder_that_knows_its_dealers_entropy_does_not_know_the_key() {
    let (holders, secret) = (members(3), shared::draw_secret(Scheme::TsDsa, &mut Seed(1)).unwrap());
    let number = P256::decode_scalar(&secret.expose()[secret.expose().len() - 32..]).unwrap();
    let left = |share: &Share<P256>| value(share) - P256::draw(&mut Stuck) * P256::place(&holders[0]);
    let (_, bare) = deal::<P256>(&number, &holders, 2, &mut Stuck).unwrap();
    assert_eq!(left(&bare[&holders[0]]), number, "without the rule");
    let deal = |threshold| shared::deal(Scheme::TsDsa, &secret, threshold, &holders, &mut Stuck).unwrap();
    let (two, three) = (deal(2), deal(3));
    let (_, share) = two.shares.iter().find(|(holder, _)| *holder == holders[0]).unwrap();
    assert_ne!(left(&Share::decode(share.expose()).unwrap()), number);
    // Version, kind, name and threshold, then the commitments.
    assert_eq!(two.public[10..43], three.public[10..43], "one key");
    assert_ne!(two.public[43..76], three.public[43..76], "another threshold has other terms");
}
