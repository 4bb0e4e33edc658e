//! A club whose members have proven keys, and the hashes of docs/protocol/signing.md written down a
//! second time, for cheating.

use crate::common::{Seed, members, run_id};
use folkmoot_base::{Digest, MemberId, digest};
use folkmoot_signing::asm::{
    AsmError, KeyAnnouncement, MultiSignature, ProvenKey, SecretKey, Signers, Signing,
};
use folkmoot_signing::{PrimeGroup, Ristretto, Run, RunId};
use sha2::{Digest as _, Sha512};
use std::collections::BTreeMap;

/// The group of these tests.
pub type R = Ristretto;
/// Its numbers.
pub type Scalar = <R as PrimeGroup>::Scalar;
/// Its elements.
pub type Element = <R as PrimeGroup>::Element;

pub const CONTEXT: &[u8] = b"book club";
pub const LABEL: &[u8] = b"folkmoot test v1";
pub const MESSAGE: &[u8] = b"admit dora";

/// The signers of a run.
pub type Hands = BTreeMap<MemberId, Box<dyn Run<Done = MultiSignature<R>>>>;

/// Members 1 to n with a key each.
pub struct Club {
    keys: BTreeMap<MemberId, (SecretKey<R>, ProvenKey<R>)>,
}

impl Club {
    pub fn new(count: u64) -> Self {
        let draw = |(number, member): (usize, MemberId)| {
            let mut seed = Seed((number as u64 + 1) << 48);
            let secret = SecretKey::generate(&mut seed);
            let proven = secret.announce(member, CONTEXT, &mut seed).check(member, CONTEXT).unwrap();
            (member, (secret, proven))
        };
        Self { keys: members(count).into_iter().enumerate().map(draw).collect() }
    }

    pub fn members(&self) -> Vec<MemberId> {
        self.keys.keys().copied().collect()
    }

    pub fn secret(&self, member: &MemberId) -> &SecretKey<R> {
        &self.keys[member].0
    }

    pub fn proven(&self, member: &MemberId) -> ProvenKey<R> {
        self.keys[member].1
    }

    pub fn proven_in(&self, member: &MemberId, context: &[u8]) -> ProvenKey<R> {
        self.secret(member).announce(*member, context, &mut Seed(1)).check(*member, context).unwrap()
    }

    pub fn signers(&self, members: &[MemberId]) -> Signers<R> {
        Signers::new(members.iter().map(|member| self.proven(member)).collect()).unwrap()
    }

    pub fn hands_of(&self, members: &[MemberId], run: u64, message: &[u8]) -> Hands {
        let signers = self.signers(members);
        let hand = |member: &MemberId| {
            let secret = self.secret(member);
            let hand = Signing::new(run_id(run), *member, secret, signers.clone(), LABEL, message).unwrap();
            (*member, Box::new(hand) as Box<dyn Run<Done = MultiSignature<R>>>)
        };
        members.iter().map(hand).collect()
    }

    pub fn hands(&self, run: u64, message: &[u8]) -> Hands {
        self.hands_of(&self.members(), run, message)
    }

    pub fn verify(&self, message: &[u8], signature: &MultiSignature<R>) -> Result<(), AsmError> {
        signature.verify(LABEL, message, |member| self.keys.get(member).map(|(_, proven)| *proven))
    }

    /// The public keys as anybody sees them.
    pub fn public(&self, members: &[MemberId]) -> Vec<(MemberId, Element)> {
        let element = |member: &MemberId| (*member, public(self.secret(member), *member));
        members.iter().map(element).collect()
    }
}

/// A public key, out of what is announced.
pub fn public(secret: &SecretKey<R>, member: MemberId) -> Element {
    let bytes = secret.announce(member, CONTEXT, &mut Seed(1)).encode();
    R::decode(&bytes[1..33]).unwrap()
}

/// The number inside a secret key, from its holder.
pub fn number(secret: &SecretKey<R>) -> Scalar {
    R::decode_scalar(&secret.encode().expose()[1..]).unwrap()
}

fn head(label: &[u8]) -> Vec<u8> {
    [label, &[0], R::NAME, &[0]].concat()
}

/// What is signed: group, label, signers with their keys, message.
pub fn subject(signers: &[(MemberId, Element)], message: &[u8]) -> Digest {
    let context = digest(&[&head(b"folkmoot asm context v1"), CONTEXT]);
    let mut bytes = [&head(b"folkmoot asm subject v1"), &context[..], LABEL, &[0]].concat();
    bytes.extend((signers.len() as u16).to_be_bytes());
    for (member, key) in signers {
        bytes.extend(member.0);
        bytes.extend(digest(&[&head(b"folkmoot asm key v1"), &R::encode(key)]));
    }
    bytes.extend(message);
    digest(&[&bytes])
}

/// c.
pub fn challenge(signers: &[(MemberId, Element)], message: &[u8], sum: &Element) -> Scalar {
    let parts = [head(b"folkmoot asm challenge v1"), subject(signers, message).to_vec(), R::encode(sum)];
    R::from_wide(&Sha512::digest(parts.concat()).into())
}

/// What a signer says in the first round.
pub fn commitment(
    club: &Club,
    signers: &[MemberId],
    run: RunId,
    message: &[u8],
    hand: &MemberId,
    element: &Element,
) -> Vec<u8> {
    let subject = subject(&club.public(signers), message);
    let label = head(b"folkmoot asm commitment v1");
    digest(&[&label, &run.0, &subject, &hand.0, &R::encode(element)]).to_vec()
}

/// A multisignature that anyone can put together.
pub fn put_together(sum: &Element, answer: &Scalar, signers: &[MemberId]) -> MultiSignature<R> {
    let mut bytes = vec![1];
    bytes.extend(R::encode(sum));
    bytes.extend(R::encode_scalar(answer));
    bytes.extend((signers.len() as u16).to_be_bytes());
    signers.iter().for_each(|member| bytes.extend(member.0));
    MultiSignature::decode(&bytes).unwrap()
}

/// An announcement that anyone can put together.
pub fn announcement(key: &Element, element: &Element, answer: &Scalar) -> KeyAnnouncement<R> {
    let parts = [vec![1], R::encode(key), R::encode(element), R::encode_scalar(answer)];
    KeyAnnouncement::decode(&parts.concat()).unwrap()
}
