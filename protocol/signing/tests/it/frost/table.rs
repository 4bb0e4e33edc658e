//! Holders of a key, however their shares came to them, and the signers among them.

use crate::common::{Ends, Seed, members, play, play_with, run_id};
use folkmoot_base::{Entropy, MemberId, Secret};
use folkmoot_signing::frost::{FrostShare, FrostSharing, SIGNATURE_BYTES, Sign, deal};
use folkmoot_signing::shared::{self, Moving, Outcome};
use folkmoot_signing::{
    Edwards, Fault, FaultKind, GroupKey, Incoming, Next, Outgoing, PrimeGroup, Run, Scheme, SigningError,
    sharing,
};
use std::collections::BTreeMap;

pub type Hands<D> = BTreeMap<MemberId, Box<dyn Run<Done = D>>>;
pub type Signature = [u8; SIGNATURE_BYTES];

/// A sharing, and the shares of its holders.
#[derive(Debug, Clone)]
pub struct Holders {
    pub sharing: FrostSharing,
    pub shares: BTreeMap<MemberId, FrostShare>,
}

impl Holders {
    pub fn key(&self) -> GroupKey {
        self.sharing.key().unwrap()
    }

    /// How a run through `shared` ended for all.
    fn of(ends: Ends<Outcome>) -> Self {
        let mut sharings = Vec::new();
        let mut shares = BTreeMap::new();
        for (holder, outcome) in done(ends) {
            let Outcome::Sharing { public, share } = outcome else { panic!("no signature was asked for") };
            sharings.push(FrostSharing::decode(&public).unwrap());
            let share = share.map(|share| FrostShare::decode(share.expose()).unwrap());
            shares.extend(share.map(|share| (holder, share)));
        }
        sharings.dedup();
        let [sharing] = sharings.try_into().expect("all know the same");
        Self { sharing, shares }
    }

    /// Over edwards25519, in the form that other runs use.
    pub fn shared(&self) -> (sharing::Sharing<Edwards>, BTreeMap<MemberId, sharing::Share<Edwards>>) {
        let sharing = self.sharing.shared().clone();
        let shares = self.shares.iter().map(|(holder, share)| (*holder, share.shared(&sharing)));
        (sharing.clone(), shares.collect())
    }
}

pub fn found_hands(count: u64, threshold: usize) -> Hands<Outcome> {
    let all = members(count);
    let hand = |me: &MemberId| shared::found(Scheme::Frost, run_id(1), *me, &all, threshold).unwrap();
    all.iter().map(|me| (*me, hand(me))).collect()
}

/// Made without a dealer.
pub fn founded(count: u64, threshold: usize, seed: u64) -> Holders {
    Holders::of(play(found_hands(count, threshold), seed))
}

pub fn dealt(count: u64, threshold: usize, seed: u64) -> Holders {
    let mut entropy = Seed(seed << 40);
    let secret = Edwards::draw(&mut entropy);
    let (sharing, shares) = deal(&secret, &members(count), threshold, &mut entropy).unwrap();
    Holders { sharing, shares }
}

/// New shares for `takers`, of as many givers as the threshold: the first holders.
pub fn reshare_hands(old: &Holders, takers: &[MemberId], threshold: usize) -> Hands<Outcome> {
    let givers = &old.sharing.holders()[..old.sharing.threshold()];
    let public = old.sharing.encode();
    let hand = |me: &MemberId| {
        let share = old.shares.get(me).map(FrostShare::encode);
        let moving = Moving { givers, takers };
        shared::reshare(Scheme::Frost, run_id(3), *me, moving, threshold, (&public, share.as_ref())).unwrap()
    };
    givers.iter().chain(takers).map(|me| (*me, hand(me))).collect()
}

pub fn reshared(old: &Holders, takers: &[MemberId], threshold: usize, seed: u64) -> Holders {
    Holders::of(play(reshare_hands(old, takers, threshold), seed))
}

/// A share for `newcomer`, made by the first holders.
pub fn enrol_hands(old: &Holders, newcomer: MemberId) -> Hands<sharing::Holding<Edwards>> {
    let (sharing, shares) = old.shared();
    let helpers = &sharing.holders()[..sharing.threshold()];
    let hand = |me: &MemberId| -> Box<dyn Run<Done = sharing::Holding<Edwards>>> {
        let enrol = sharing::Enrol::new(run_id(5), *me, &sharing, shares.get(me), helpers, newcomer);
        Box::new(enrol.unwrap())
    };
    sharing.holders().iter().chain([&newcomer]).map(|me| (*me, hand(me))).collect()
}

pub fn enrolled(old: &Holders, newcomer: MemberId, seed: u64) -> Holders {
    let held = done(play(enrol_hands(old, newcomer), seed));
    let sharing = FrostSharing::from(held[&newcomer].sharing.clone());
    assert!(held.values().all(|held| FrostSharing::from(held.sharing.clone()) == sharing));
    let share = FrostShare::new(held[&newcomer].share.as_ref().unwrap(), &sharing);
    let shares = old.shares.clone().into_iter().chain([(newcomer, share)]).collect();
    Holders { sharing, shares }
}

pub fn done<D>(ends: Ends<D>) -> BTreeMap<MemberId, D> {
    ends.into_iter().map(|(hand, end)| (hand, end.unwrap())).collect()
}

pub fn boxed<D, R: Run<Done = D> + 'static>(run: Result<R, Fault>) -> Box<dyn Run<Done = D>> {
    Box::new(run.unwrap())
}

pub fn sign_hands(holders: &Holders, signers: &[MemberId], message: &[u8]) -> Hands<Signature> {
    let hand = |signer: &MemberId| {
        boxed(Sign::new(run_id(7), &holders.sharing, &holders.shares[signer], signers, message))
    };
    signers.iter().map(|signer| (*signer, hand(signer))).collect()
}

pub fn sign(holders: &Holders, signers: &[MemberId], message: &[u8], seed: u64) -> Signature {
    let signatures = done(play(sign_hands(holders, signers, message), seed));
    let signature = *signatures.values().next().unwrap();
    assert!(signatures.values().all(|other| *other == signature), "all end with the same signature");
    signature
}

pub fn verify(holders: &Holders, message: &[u8], signature: &[u8]) -> Result<(), SigningError> {
    holders.key().verify_raw(message, signature)
}

/// Every choice of as many holders as the threshold signs, and the key accepts it.
pub fn every_choice_signs(holders: &Holders) {
    let all = holders.sharing.holders();
    for choice in 0_u32..1 << all.len() {
        if choice.count_ones() as usize != holders.sharing.threshold() {
            continue;
        }
        let chosen = all.iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0);
        let signers: Vec<MemberId> = chosen.map(|(_, signer)| *signer).collect();
        let signature = sign(holders, &signers, b"a certificate", u64::from(choice));
        assert_eq!(verify(holders, b"a certificate", &signature), Ok(()));
    }
}

/// One liar in one round. Every honest signer must end with this kind and this culprit, and no
/// honest signer may be left without an end.
pub fn named<D: core::fmt::Debug>(
    hands: Hands<D>,
    liar: MemberId,
    kind: FaultKind,
    lie: impl FnMut(usize, MemberId, &mut Outgoing),
) {
    let honest: Vec<MemberId> = hands.keys().copied().filter(|hand| *hand != liar).collect();
    let ends = play_with(hands, 9, lie);
    for hand in honest {
        let end = ends.get(&hand).unwrap_or_else(|| panic!("{hand} came to no end"));
        let fault = end.as_ref().expect_err("the lie was taken");
        assert_eq!((fault.kind, &fault.culprits), (kind, &vec![liar]), "at {hand}");
    }
}

/// A run in which lies change no end: every signer still finishes its own run.
pub fn unharmed<D>(
    hands: Hands<D>,
    lie: impl FnMut(usize, MemberId, &mut Outgoing),
) -> BTreeMap<MemberId, D> {
    let count = hands.len();
    let ends = done(play_with(hands, 9, lie));
    assert_eq!(ends.len(), count);
    ends
}

/// Entropy that is given out once, in order.
pub struct Given(pub Vec<u8>);

impl Entropy for Given {
    fn fill(&mut self, out: &mut [u8]) {
        let rest = self.0.split_off(out.len());
        out.copy_from_slice(&self.0);
        self.0 = rest;
    }
}

/// The number in a share, by its bytes.
pub fn number(share: &FrostShare) -> Secret<Vec<u8>> {
    Secret::new(share.encode().expose()[65..].to_vec())
}

/// A signer that takes others' messages for its own run's, by their tags, and passes its own off
/// for theirs: one with an old share, for example.
pub struct Disguised<R> {
    pub run: R,
    pub tag: Vec<u8>,
    pub own: Vec<u8>,
}

impl<R: Run> Run for Disguised<R> {
    type Done = R::Done;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<R::Done> {
        let Next::Say(mut said) = self.run.start(entropy) else { panic!("nobody is done at once") };
        self.own = said.to_all.splice(..32, self.tag.clone()).collect();
        Next::Say(said)
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.run.awaited()
    }

    fn hear(&mut self, mut heard: Incoming, entropy: &mut dyn Entropy) -> Result<Next<R::Done>, Fault> {
        for words in heard.to_all.values_mut().filter(|words| words.starts_with(&self.tag)) {
            words.splice(..32, self.own.clone());
        }
        self.run.hear(heard, entropy)
    }
}

/// What this signer says to all in an honest run, round by round.
pub fn said_by<D>(hands: Hands<D>, hand: MemberId) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    play_with(hands, 9, |_, who, said| {
        if who == hand {
            words.push(said.to_all.clone());
        }
    });
    words
}

/// A signer that says what it was told to say, whatever it hears.
pub struct Scripted {
    pub words: Vec<Vec<u8>>,
    pub awaited: Vec<MemberId>,
}

impl Run for Scripted {
    type Done = Signature;

    fn start(&mut self, _: &mut dyn Entropy) -> Next<Signature> {
        Next::Say(Outgoing { to_all: self.words.remove(0), ..Outgoing::default() })
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.awaited.clone()
    }

    fn hear(&mut self, _: Incoming, entropy: &mut dyn Entropy) -> Result<Next<Signature>, Fault> {
        if self.words.is_empty() { Ok(Next::Done([0; 64])) } else { Ok(self.start(entropy)) }
    }
}
