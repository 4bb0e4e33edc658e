//! One person under many names (Douceur, IPTPS 2002). If members choose their ids, one key holder
//! is counted as often as it likes, and takes the shares of others, or the secret itself. If an id
//! is the digest of a key that a certificate vouches for, it cannot. The weak builds are here
//! alone.

use crate::common::{END, START, Seed, World, person};
use folkmoot_base::{MemberId, digest};
use folkmoot_identity::{CertificateError, Gmc, Identity, VerifyingKey, Vote, VoteProof};
use folkmoot_signing::{PrimeGroup, Ristretto as R, Signature, SigningKey};
use std::collections::{BTreeMap, BTreeSet};

const LABEL: &[u8] = b"folkmoot weak vote v1";

/// The weak roster: anyone who comes says its name and shows a key; votes are counted by name.
#[derive(Default)]
struct ChosenNames(BTreeMap<String, VerifyingKey>);

impl ChosenNames {
    fn register(&mut self, name: &str, key: &SigningKey) {
        self.0.insert(name.to_owned(), key.verifying_key().clone());
    }

    fn count(&self, question: &[u8], votes: &BTreeMap<String, Signature>) -> usize {
        let good = |(name, vote): &(&String, &Signature)| {
            self.0.get(*name).is_some_and(|key| key.verify(LABEL, question, vote).is_ok())
        };
        votes.iter().filter(good).count()
    }
}

#[test]
fn one_holder_votes_t_times_where_names_are_chosen() {
    let (mut roster, key, threshold) = (ChosenNames::default(), SigningKey::generate(&mut Seed(1)), 5);
    let names: Vec<String> = (0..threshold).map(|number| format!("member {number}")).collect();
    names.iter().for_each(|name| roster.register(name, &key));
    let vote = key.sign(LABEL, b"admit my friend");
    let votes = names.into_iter().map(|name| (name, vote.clone())).collect();
    assert_eq!(roster.count(b"admit my friend", &votes), threshold, "one key, t votes");
}

/// A vote for the world's stranger under whatever name and key.
fn vote_of(world: &World, voter: &Identity) -> VoteProof {
    Vote::sign(voter, world.yes()).unwrap().proof()
}

#[test]
fn one_holder_votes_once_where_ids_are_digests_of_keys() {
    let world = World::new();
    // Alice under another name is Alice: the key is the same, and the id is of the key alone.
    let [alice, malice] = ["alice", "malice"].map(|name| person(name, 1));
    assert_eq!(alice.key().verifying_key(), malice.key().verifying_key());
    assert_ne!(alice.certificate().der(), malice.certificate().der());
    assert_eq!(alice.member(), malice.member());
    assert_eq!(malice.member(), MemberId(digest(&[malice.key().verifying_key().spki_der()])));
    let (first, again) = (vote_of(&world, &alice), vote_of(&world, &malice));
    assert!(
        Gmc::compose(world.request().body(), &[first.clone(), again.clone()], &world.stranger).is_err(),
        "one voter twice"
    );
    // The same vote under a chosen id is no vote of that id.
    let bob = world.founders[1].member();
    let renamed = VoteProof { voter: bob, ..again.clone() };
    let refused = world.check(&world.gmc_with(&[first.clone(), renamed]));
    assert_eq!(refused, Err(CertificateError::PeerVote(bob)));
    for chosen in [MemberId([0; 32]), MemberId([7; 32])] {
        let refused =
            world.check(&world.gmc_with(&[first.clone(), VoteProof { voter: chosen, ..again.clone() }]));
        assert_eq!(refused, Err(CertificateError::PeerNotVoter(chosen)));
    }
    // New keys are new ids, and without a certificate from the members no voters, however many.
    let more: Vec<Identity> =
        (50..58).map(|seed| Identity::new("alice", &mut Seed(seed << 32), START, END).unwrap()).collect();
    let mut votes: Vec<VoteProof> = more.iter().map(|new| vote_of(&world, new)).collect();
    votes.push(first);
    let refused = world.check(&world.gmc_with(&votes));
    assert!(matches!(refused, Err(CertificateError::PeerNotVoter(_))), "{refused:?}");
}

/// A dealer's polynomial: any three values determine it.
struct Dealer([<R as PrimeGroup>::Scalar; 3]);

impl Dealer {
    fn new() -> Self {
        let mut seed = Seed(9);
        Self([R::draw(&mut seed), R::draw(&mut seed), R::draw(&mut seed)])
    }

    /// The share of whoever stands at `place`.
    fn share(&self, place: <R as PrimeGroup>::Scalar) -> <R as PrimeGroup>::Scalar {
        self.0.iter().rev().fold(R::zero(), |sum, term| R::plus(R::times(sum, place), *term))
    }
}

/// The value at zero of the polynomial through three points.
fn at_zero(points: [(<R as PrimeGroup>::Scalar, <R as PrimeGroup>::Scalar); 3]) -> <R as PrimeGroup>::Scalar {
    points.iter().fold(R::zero(), |sum, (place, share)| {
        let others = points.iter().filter(|(other, _)| other != place);
        let weight = others.fold(R::one(), |product, (other, _)| {
            let apart = R::plus(*other, R::minus(*place));
            R::times(product, R::times(*other, R::inverse(apart).unwrap()))
        });
        R::plus(sum, R::times(*share, weight))
    })
}

#[test]
fn one_holder_has_the_secret_where_places_are_chosen() {
    let dealer = Dealer::new();
    let victim = R::place(&person("bob", 2).member());
    assert!(dealer.share(R::zero()) == dealer.0[0], "who says its id is 0 is dealt the secret");
    let stolen = dealer.share(R::decode_scalar(&R::encode_scalar(&victim)).unwrap());
    assert!(
        stolen == dealer.share(victim),
        "who says it stands where another does is dealt the other's share"
    );
    let two = R::plus(R::one(), R::one());
    let chosen = [R::one(), two, R::plus(two, R::one())].map(|place| (place, dealer.share(place)));
    assert!(at_zero(chosen) == dealer.0[0], "one person under t ids has t shares");
}

#[test]
fn nobody_chooses_its_place_where_ids_are_digests_of_keys() {
    let dealer = Dealer::new();
    let keys: Vec<SigningKey> = (0..200).map(|seed| SigningKey::generate(&mut Seed(seed << 32))).collect();
    // The dealer computes the place from the key in a certificate; it relies on nobody's statement.
    let place = |key: &SigningKey| R::place(&key.verifying_key().member_id());
    let places: BTreeSet<Vec<u8>> = keys.iter().map(|key| R::encode_scalar(&place(key))).collect();
    assert_eq!(places.len(), keys.len(), "no two keys stand in one place");
    assert!(keys.iter().all(|key| place(key) != R::zero() && dealer.share(place(key)) != dealer.0[0]));
    // One holder under several names has one place, hence one share of the three.
    let [alice, malice, chalice] = ["alice", "malice", "chalice"].map(|name| person(name, 1));
    let dealt = [&alice, &malice, &chalice].map(|persona| R::place(&persona.member()));
    assert!(dealt.iter().all(|place| *place == dealt[0]));
    // Ids that differ in one bit, or that are all zeros, still stand apart and not at zero.
    let (near, zeros) = (MemberId([1; 32]), MemberId([0; 32]));
    let mut nearer = near;
    nearer.0[31] ^= 1;
    assert!(R::place(&near) != R::place(&nearer) && R::place(&zeros) != R::zero());
}
