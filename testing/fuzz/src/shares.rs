//! Threshold RSA: stored forms, and what participants say to one another in runs.

use crate::script::{Dice, script, steps};
use crate::world::world;
use folkmoot_base::{MemberId, Secret};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::rsa::{ModulusSize, RsaPublicKey};
use folkmoot_signing::shoup::{Dealer, DealerTerm, Dealt, ShoupShare, ShoupSharing, ShoupSign};
use folkmoot_signing::{Fault, Incoming, Next, Run, RunId};
use folkmoot_study::ts_rsa::{
    Subject, TsRsaDealer, TsRsaEnrol, TsRsaReshare, TsRsaShare, TsRsaSharing, TsRsaSign,
};
use std::sync::OnceLock;

/// Two safe primes of 512 bits, the first of protocol/signing/tests/data.
const PRIMES: &str = include_str!("../../../protocol/signing/tests/data/safe-primes.txt");
const MESSAGE: &[u8] = b"let her in";
const RUN: RunId = RunId([7; 32]);

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
}

fn dealer() -> Dealer {
    let line = PRIMES.lines().find(|line| line.starts_with("1024 ")).expect("a stored key");
    let words: Vec<&str> = line.split(' ').collect();
    let size = ModulusSize::Bits1024(ForStudy);
    Dealer::from_primes(size, DealerTerm::Standing, &unhex(words[1]), &unhex(words[2])).expect("safe primes")
}

/// 2 of 3 founders, and a spare seat.
fn dealt() -> &'static Dealt {
    static DEALT: OnceLock<Dealt> = OnceLock::new();
    DEALT.get_or_init(|| dealer().deal(2, 4, &world().members(), &mut Dice(5)).expect("a deal"))
}

/// Signing: RSA keys, sharings, shares and dealers as they are stored and sent.
pub fn shoup_forms(data: &[u8]) {
    if let Ok(key) = RsaPublicKey::from_spki_der(data) {
        assert_eq!(key.spki_der(), data);
    }
    if let Ok(sharing) = ShoupSharing::decode_for_study(data, ForStudy) {
        assert_eq!(sharing.encode(), data);
        assert!(sharing.threshold() >= 1 && usize::from(sharing.threshold()) <= sharing.seats().len());
    }
    if let Ok(share) = ShoupShare::decode(data, &dealt().sharing) {
        assert_eq!(share.encode(&dealt().sharing).expose(), data);
    }
    if let Ok(dealer) = Dealer::decode(data, Some(ForStudy)) {
        assert_eq!(dealer.encode().expect("a standing dealer").expose(), data);
    }
}

fn shoup_hand(place: usize) -> ShoupSign {
    let (members, dealt) = (world().members(), dealt());
    let seat = dealt.sharing.seat_of(&members[place]).expect("a holder");
    let share = &dealt.shares[usize::from(seat) - 1];
    ShoupSign::new(&dealt.sharing, share, &members[..2], RUN, MESSAGE).expect("two holders")
}

fn shoup_words(place: usize) -> Vec<u8> {
    match shoup_hand(place).start(&mut Dice(11)) {
        Next::Say(said) => said.to_all,
        Next::Done(_) => Vec::new(),
    }
}

/// Shoup's run: the bytes are what the other of two signers says. The result verifies, or the other
/// alone is named.
pub fn shoup_run(data: &[u8]) {
    static OWN: OnceLock<Vec<u8>> = OnceLock::new();
    let members = world().members();
    let own = OWN.get_or_init(|| shoup_words(0)).clone();
    let mut heard = Incoming::default();
    heard.to_all.insert(members[0], own);
    heard.to_all.insert(members[1], data.to_vec());
    match shoup_hand(0).hear(heard, &mut Dice(1)) {
        Ok(Next::Done(signature)) => {
            assert_eq!(dealt().sharing.key().verify(MESSAGE, &signature), Ok(()), "a result that is none");
        }
        Ok(Next::Say(_)) => panic!("one round"),
        Err(fault) => assert_eq!(fault.culprits, [members[1]], "the liar and nobody else"),
    }
}

const PLACES: [u8; 4] = [1, 2, 3, 4];

fn toy_member(id: u8) -> MemberId {
    let mut bytes = [0; 32];
    bytes[31] = id;
    MemberId(bytes)
}

fn toy() -> (TsRsaSharing, Vec<TsRsaShare>) {
    let place = |member: &MemberId| u64::from(member.0[31]);
    let dealer = TsRsaDealer::new(&[3, 251], &[4, 163], 17, place, ForStudy).expect("the toy key");
    dealer.deal_by(&[123_456], &PLACES.map(toy_member)).expect("a deal")
}

/// Plays one participant; in each round the awaited ones say, to all and to it, what the steps hold
/// next.
fn listen<D>(run: &mut dyn Run<Done = D>, data: &[u8]) -> Option<Result<D, Fault>> {
    let mut words = steps(data);
    if let Next::Done(done) = run.start(&mut Dice(3)) {
        return Some(Ok(done));
    }
    for _ in 0..4 {
        let mut heard = Incoming::default();
        for hand in run.awaited() {
            let Some((op, body)) = words.next() else { break };
            heard.to_all.insert(hand, if op & 1 == 0 { body.to_vec() } else { Vec::new() });
            if op & 1 == 1 {
                heard.to_me.insert(hand, Secret::new(body.to_vec()));
            }
        }
        match run.hear(heard, &mut Dice(4)) {
            Ok(Next::Say(_)) => {}
            Ok(Next::Done(done)) => return Some(Ok(done)),
            Err(fault) => return Some(Err(fault)),
        }
    }
    None
}

/// TS-RSA: the words of others to a signer, to a newcomer, to a holder in a resharing. No panic,
/// and no end without one.
pub fn ts_rsa_run(data: &[u8]) {
    let (sharing, shares) = toy();
    let all = PLACES.map(toy_member);
    let mut sign = TsRsaSign::new(
        &sharing,
        &shares[0],
        all[0],
        &all[..3],
        true,
        Subject::Number(&[6, 121, 50]),
        ForStudy,
    )
    .expect("three hands");
    if let Some(Ok(done)) = listen(&mut sign, data) {
        assert_eq!(done.signature, [7, 228, 187], "m^d is 517307 whatever was said");
    }
    let mut enrol = TsRsaEnrol::new(&sharing, None, toy_member(9), toy_member(9), &all[..2], ForStudy)
        .expect("two helpers");
    listen(&mut enrol, data);
    let mut reshare = TsRsaReshare::new(&sharing, Some(&shares[0]), all[0], &all[..2], &all, 3, ForStudy)
        .expect("two old hands");
    listen(&mut reshare, data);
}

/// Seeds: each stored form; the honest words and a false one; each run of the toy key.
pub(crate) fn share_seeds() -> [Vec<Vec<u8>>; 3] {
    let dealt = dealt();
    let forms = vec![
        dealt.sharing.encode(),
        dealt.shares[1].encode(&dealt.sharing).expose().clone(),
        dealer().encode().expect("a standing dealer").expose().clone(),
    ];
    let mut bent = shoup_words(1);
    bent[60] ^= 1;
    let number = |value: u32| [&[1], &value.to_be_bytes()[1..]].concat();
    let willing = vec![1, 1];
    let said = vec![(0, willing.clone()), (0, willing), (0, vec![1, 0])];
    let signed = [said, vec![(0, number(5)), (0, number(7))]].concat();
    let told = vec![(1, vec![]), (1, vec![]), (1, number(1_000)), (1, number(2_000))];
    let reshared = vec![(1, number(11)), (1, number(22))];
    [forms, vec![shoup_words(1), bent], vec![script(signed), script(told), script(reshared)]]
}
