//! Multisignatures: their stored and sent forms, and a run of three signers in which the third says
//! what the input says.

use crate::script::{Dice, script, steps};
use folkmoot_base::MemberId;
use folkmoot_signing::asm::{KeyAnnouncement, MultiSignature, ProvenKey, SecretKey, Signers, Signing};
use folkmoot_signing::{Fault, Incoming, Next, Ristretto, Run, RunId};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const CONTEXT: &[u8] = b"book club";
const LABEL: &[u8] = b"folkmoot seed v1";
const MESSAGE: &[u8] = b"admit dora";
const MEMBERS: [MemberId; 3] = [MemberId([1; 32]), MemberId([2; 32]), MemberId([3; 32])];
const LIAR: usize = 2;

type Keys = (SecretKey<Ristretto>, ProvenKey<Ristretto>);

fn held() -> &'static [Keys; 3] {
    static HELD: OnceLock<[Keys; 3]> = OnceLock::new();
    HELD.get_or_init(|| {
        MEMBERS.map(|member| {
            let mut dice = Dice(u64::from(member.0[0]) << 32);
            let secret = SecretKey::generate(&mut dice);
            let proven = secret.announce(member, CONTEXT, &mut dice).check(member, CONTEXT);
            (secret, proven.expect("one's own proof"))
        })
    })
}

fn key_of(member: &MemberId) -> Option<ProvenKey<Ristretto>> {
    held().iter().map(|(_, proven)| *proven).find(|proven| proven.member() == *member)
}

/// Secret keys, announcements and multisignatures: one form each, and nothing verifies but what was
/// made.
pub fn asm_forms(data: &[u8]) {
    if let Ok(secret) = SecretKey::<Ristretto>::decode(data) {
        assert_eq!(secret.encode().expose().as_slice(), data);
    }
    if let Ok(announced) = KeyAnnouncement::<Ristretto>::decode(data) {
        assert_eq!(announced.encode(), data);
        let proven = MEMBERS.iter().filter(|member| announced.check(**member, CONTEXT).is_ok());
        assert!(proven.count() <= 1, "one proof for two members");
    }
    if let Ok(signature) = MultiSignature::<Ristretto>::decode(data) {
        assert_eq!(signature.encode(), data);
        if signature.verify(LABEL, MESSAGE, key_of).is_ok() {
            assert_eq!(data, signed(), "a second signature");
        }
    }
}

type End = Result<MultiSignature<Ristretto>, Fault>;

/// Three signers; in each round the third says what `lie` makes of its own messages. What the first
/// two come to.
fn play(mut lie: impl FnMut(Vec<u8>) -> Vec<u8>) -> [Option<End>; 2] {
    let signers = Signers::new(held().iter().map(|(_, proven)| *proven).collect()).expect("three members");
    let run = RunId([7; 32]);
    let seat = |(secret, proven): &Keys| {
        Signing::new(run, proven.member(), secret, signers.clone(), LABEL, MESSAGE).expect("a signer")
    };
    let mut hands: Vec<Signing<Ristretto>> = held().iter().map(seat).collect();
    let start = |(number, hand): (usize, &mut Signing<Ristretto>)| hand.start(&mut Dice(number as u64 + 9));
    let mut said: Vec<Result<Next<_>, Fault>> = hands.iter_mut().enumerate().map(start).map(Ok).collect();
    let mut ends: [Option<End>; 2] = [None, None];
    for _ in 0..3 {
        let mut words = BTreeMap::new();
        for (number, said) in said.drain(..).enumerate() {
            let Ok(Next::Say(said)) = said else { return ends };
            let own = said.to_all;
            words.insert(MEMBERS[number], if number == LIAR { lie(own) } else { own });
        }
        let heard = || Incoming { to_all: words.clone(), to_me: BTreeMap::new() };
        said = hands.iter_mut().map(|hand| hand.hear(heard(), &mut Dice(1))).collect();
        for (end, said) in ends.iter_mut().zip(&said) {
            *end = match said {
                Ok(Next::Say(_)) => None,
                Ok(Next::Done(signature)) => Some(Ok(signature.clone())),
                Err(fault) => Some(Err(fault.clone())),
            };
        }
        if ends.iter().all(Option::is_some) {
            break;
        }
    }
    ends
}

/// The one signature that the three make when nobody lies.
fn signed() -> &'static [u8] {
    static SIGNED: OnceLock<Vec<u8>> = OnceLock::new();
    SIGNED.get_or_init(|| {
        let [Some(Ok(signature)), _] = play(|own| own) else { panic!("three honest hands") };
        signature.encode()
    })
}

/// A run with a liar: the honest signers come to one end, which is a good signature or the liar's
/// name.
pub fn asm_words(data: &[u8]) {
    let mut steps = steps(data);
    let ends = play(|own| match steps.next() {
        Some((0, body)) => body.to_vec(),
        Some((1, body)) => {
            own.iter().zip(body.iter().chain(std::iter::repeat(&0))).map(|(a, b)| a ^ b).collect()
        }
        _ => own,
    });
    let [Some(first), Some(second)] = ends else { panic!("a run without an end") };
    assert_eq!(first, second, "honest hands differ");
    match first {
        Ok(signature) => {
            assert_eq!(signature.verify(LABEL, MESSAGE, key_of), Ok(()));
            assert_eq!(signature.encode(), signed());
        }
        Err(fault) => assert_eq!(fault.culprits, [MEMBERS[LIAR]], "{fault}"),
    }
}

/// Seeds: a stored key, an announcement, a signature; runs with lies in each round and none.
pub(crate) fn asm_seeds() -> [Vec<Vec<u8>>; 2] {
    let secret = &held()[0].0;
    let announced = secret.announce(MEMBERS[0], CONTEXT, &mut Dice(5)).encode();
    let forms = vec![secret.encode().expose().clone(), announced, signed().to_vec()];
    let honest = (2, Vec::new());
    let lies = [(0, vec![0; 32]), (1, vec![1]), (0, vec![0xff; 31])];
    let mut words = vec![script([honest.clone()])];
    for round in 0..3 {
        for lie in &lies {
            words.push(script(std::iter::repeat_n(honest.clone(), round).chain([lie.clone()])));
        }
    }
    [forms, words]
}
