//! Hands of each run, sat down at the table.

use crate::common::{Ends, Seed, members, play, play_with, run_id};
use folkmoot_base::{Entropy, MemberId};
use folkmoot_signing::frost::{
    Dkg, FrostShare, FrostSharing, Held, Refresh, Repair, SIGNATURE_BYTES, Sign, deal,
};
use folkmoot_signing::{Fault, FaultKind, Heard, Next, Run, Said};
use std::collections::BTreeMap;

pub type Holders = BTreeMap<MemberId, Held>;
pub type Hands<D> = BTreeMap<MemberId, Box<dyn Run<Done = D>>>;
pub type Signature = [u8; SIGNATURE_BYTES];

pub fn boxed<D, R: Run<Done = D> + 'static>(run: Result<R, Fault>) -> Box<dyn Run<Done = D>> {
    Box::new(run.unwrap())
}

pub fn dkg_hands(count: u64, threshold: usize) -> Hands<Held> {
    let all = members(count);
    all.iter().map(|me| (*me, boxed(Dkg::new(*me, run_id(1), &all, threshold)))).collect()
}

pub fn dkg(count: u64, threshold: usize, seed: u64) -> Holders {
    done(play(dkg_hands(count, threshold), seed))
}

pub fn dealt(count: u64, threshold: usize, seed: u64) -> Holders {
    deal(threshold, &members(count), &mut Seed(seed << 40)).unwrap()
}

pub fn sharing(holders: &Holders) -> FrostSharing {
    let sharing = holders.values().next().unwrap().sharing.clone();
    assert!(holders.values().all(|held| held.sharing == sharing), "all know the same");
    sharing
}

pub fn done<D>(ends: Ends<D>) -> BTreeMap<MemberId, D> {
    ends.into_iter().map(|(hand, end)| (hand, end.unwrap())).collect()
}

/// The holders at these places of the sorted list.
pub fn pick(holders: &Holders, places: &[usize]) -> Vec<MemberId> {
    let all: Vec<MemberId> = holders.keys().copied().collect();
    places.iter().map(|place| all[*place]).collect()
}

pub fn sign_hands(holders: &Holders, signers: &[MemberId], message: &[u8]) -> Hands<Signature> {
    let hand = |signer: &MemberId| {
        let held = &holders[signer];
        boxed(Sign::new(run_id(7), &held.sharing, &held.share, signers, message))
    };
    signers.iter().map(|signer| (*signer, hand(signer))).collect()
}

pub fn sign(holders: &Holders, signers: &[MemberId], message: &[u8], seed: u64) -> Signature {
    let signatures = done(play(sign_hands(holders, signers, message), seed));
    let signature = *signatures.values().next().unwrap();
    assert!(signatures.values().all(|other| *other == signature), "all end with the same signature");
    signature
}

/// Every choice of the threshold's number of holders signs, and the key takes it.
pub fn every_choice_signs(holders: &Holders) {
    let sharing = sharing(holders);
    let all: Vec<MemberId> = holders.keys().copied().collect();
    for choice in 0_u32..1 << all.len() {
        if choice.count_ones() as usize != sharing.threshold() {
            continue;
        }
        let chosen = all.iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0);
        let signers: Vec<MemberId> = chosen.map(|(_, signer)| *signer).collect();
        let signature = sign(holders, &signers, b"a certificate", u64::from(choice));
        assert_eq!(sharing.key().verify(b"a certificate", &signature), Ok(()));
    }
}

pub fn refresh_hands(holders: &Holders, stayers: &[MemberId]) -> Hands<Held> {
    let hand = |me: &MemberId| {
        let held = &holders[me];
        boxed(Refresh::new(run_id(3), &held.sharing, &held.share, stayers))
    };
    stayers.iter().map(|me| (*me, hand(me))).collect()
}

pub fn refresh(holders: &Holders, stayers: &[MemberId], seed: u64) -> Holders {
    done(play(refresh_hands(holders, stayers), seed))
}

pub fn repair_hands(holders: &Holders, helpers: &[MemberId], helped: MemberId) -> Hands<Held> {
    let sharing = sharing(holders);
    let help = |me: &MemberId| boxed(Repair::help(run_id(5), &sharing, &holders[me].share, helpers, helped));
    let mut hands: Hands<Held> = helpers.iter().map(|me| (*me, help(me))).collect();
    hands.insert(helped, boxed(Repair::receive(run_id(5), &sharing, helpers, helped)));
    hands
}

/// One liar in one round. Every honest hand must end with this kind and this culprit, and nobody honest may be left without an end.
pub fn named<D: core::fmt::Debug>(
    hands: Hands<D>,
    liar: MemberId,
    kind: FaultKind,
    lie: impl FnMut(usize, MemberId, &mut Said),
) {
    let honest: Vec<MemberId> = hands.keys().copied().filter(|hand| *hand != liar).collect();
    let ends = play_with(hands, 9, lie);
    for hand in honest {
        let end = ends.get(&hand).unwrap_or_else(|| panic!("{hand} came to no end"));
        let fault = end.as_ref().expect_err("the lie was taken");
        assert_eq!((fault.kind, &fault.culprits), (kind, &vec![liar]), "at {hand}");
    }
}

/// A run of lies that change no end: every hand still comes to its own.
pub fn unharmed<D>(hands: Hands<D>, lie: impl FnMut(usize, MemberId, &mut Said)) -> BTreeMap<MemberId, D> {
    let count = hands.len();
    let ends = done(play_with(hands, 9, lie));
    assert_eq!(ends.len(), count);
    ends
}

/// Plays `hands` and gives all that was said, in order.
pub fn transcript<D>(hands: Hands<D>, seed: u64) -> Vec<u8> {
    let mut all = Vec::new();
    let ends = play_with(hands, seed, |round, speaker, said| {
        all.push(round as u8);
        all.extend(speaker.0);
        all.extend(&said.to_all);
        all.extend(said.to_each.iter().flat_map(|(to, words)| [&to.0, words.expose().as_slice()].concat()));
    });
    assert!(ends.values().all(Result::is_ok));
    all
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

/// A run heard out of turn ends by the caller's fault, and stays ended.
pub fn refuses_rounds_out_of_turn<D: core::fmt::Debug>(mut run: Box<dyn Run<Done = D>>) {
    let local = |end: Result<Next<D>, Fault>| end.unwrap_err().kind == FaultKind::LocalRound;
    assert!(local(run.hear(Heard::default(), &mut Seed(1))), "before it began");
    let Next::Say(_) = run.start(&mut Seed(2)) else { panic!("nobody is done at once") };
    assert!(local(run.hear(Heard::default(), &mut Seed(3))), "nobody was heard");
    assert!(local(run.hear(Heard::default(), &mut Seed(4))), "over");
}

/// A copy of `share` with another number.
pub fn with_number(share: &FrostShare, number: &[u8; 32]) -> FrostShare {
    let mut bytes = share.encode().expose().clone();
    bytes[65..].copy_from_slice(number);
    FrostShare::decode(&bytes).unwrap()
}

/// A hand that takes others' words for its own run's, by their tags, and passes its own off for theirs: one with an old share, say.
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

    fn hear(&mut self, mut heard: Heard, entropy: &mut dyn Entropy) -> Result<Next<R::Done>, Fault> {
        for words in heard.to_all.values_mut().filter(|words| words.starts_with(&self.tag)) {
            words.splice(..32, self.own.clone());
        }
        self.run.hear(heard, entropy)
    }
}

/// What `hand` says to all in an honest run, round by round.
pub fn said_by<D>(hands: Hands<D>, hand: MemberId) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    play_with(hands, 9, |_, who, said| {
        if who == hand {
            words.push(said.to_all.clone());
        }
    });
    words
}

/// A hand that says what it was told to, whatever it hears.
pub struct Scripted {
    pub words: Vec<Vec<u8>>,
    pub awaited: Vec<MemberId>,
}

impl Run for Scripted {
    type Done = Signature;

    fn start(&mut self, _: &mut dyn Entropy) -> Next<Signature> {
        Next::Say(Said { to_all: self.words.remove(0), ..Said::default() })
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.awaited.clone()
    }

    fn hear(&mut self, _: Heard, entropy: &mut dyn Entropy) -> Result<Next<Signature>, Fault> {
        if self.words.is_empty() { Ok(Next::Done([0; 64])) } else { Ok(self.start(entropy)) }
    }
}
