//! Keys that certify, and signers in one process.

use super::{START, Seed};
use folkmoot_base::{MemberId, Secret};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Gmc, GmcBody, Grounds, GroupKey, Identity, Multi, Scheme,
    SigningKey, VerifyingKey, VoteBody,
};
use folkmoot_signing::shared::{self, AnyRun, Dealt, Outcome};
use folkmoot_signing::{Incoming, Next, RunId};
use std::collections::BTreeMap;

/// The key that certifies for a group of this name, and its certificate.
pub(super) fn authority(name: &str, seed: u64) -> (SigningKey, AuthorityCertificate) {
    let key = SigningKey::generate(&mut Seed(seed << 32));
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new(name, public, START, &mut Seed(8 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    (key, AuthorityCertificate::close(&body, &signature).unwrap())
}

/// The certificate as an authority with this key signs it.
pub(super) fn certified(body: &GmcBody, grounds: &Grounds, key: &SigningKey) -> Gmc {
    let body = body.on_grounds(grounds);
    let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let signature = key.sign_raw(&body.issued_tbs(&public).unwrap()).to_paper();
    Gmc::issue_by_group(&body, &public, &signature).unwrap()
}

/// Shares of one key of FROST for these holders.
pub(super) fn dealt(holders: &[MemberId], threshold: usize, seed: u64) -> Dealt {
    let secret = shared::draw_secret(Scheme::Frost, &mut Seed(50 << 32)).unwrap();
    let mut holders = holders.to_vec();
    holders.sort_unstable();
    shared::deal(Scheme::Frost, &secret, threshold, &holders, &mut Seed(seed << 32)).unwrap()
}

/// What as many holders sign as suffice.
pub(super) fn sign(dealt: &Dealt, message: &[u8]) -> Vec<u8> {
    let threshold = shared::facts(Scheme::Frost, &dealt.public).unwrap().threshold;
    let shares = &dealt.shares[..Scheme::Frost.signers(threshold)];
    let signers: Vec<MemberId> = shares.iter().map(|(me, _)| *me).collect();
    let run = |(me, share): &(MemberId, Secret<Vec<u8>>)| {
        let sharing = (dealt.public.as_slice(), share);
        (*me, shared::sign(Scheme::Frost, RunId([3; 32]), *me, &signers, sharing, message).unwrap())
    };
    together_in(shares.iter().map(run).collect())
}

/// Lets all runs hear each other until they have signed.
fn together_in(mut runs: BTreeMap<MemberId, AnyRun>) -> Vec<u8> {
    let mut sent: BTreeMap<MemberId, Next<Outcome>> = BTreeMap::new();
    for (number, (me, run)) in (1_u64..).zip(&mut runs) {
        sent.insert(*me, run.start(&mut Seed(number << 40)));
    }
    loop {
        let mut said = BTreeMap::new();
        for (me, next) in sent {
            match next {
                Next::Say(message) => said.insert(me, message),
                Next::Done(Outcome::Signature(bytes)) => return bytes,
                Next::Done(other) => panic!("{other:?}"),
            };
        }
        sent = BTreeMap::new();
        for (number, (me, run)) in (1_u64..).zip(&mut runs) {
            let to_all = said.iter().map(|(from, message)| (*from, message.to_all.clone())).collect();
            let private = |(from, message): (&MemberId, &folkmoot_signing::Outgoing)| {
                message.to_each.get(me).map(|bytes| (*from, bytes.clone()))
            };
            let to_me = said.iter().filter_map(private).collect();
            sent.insert(*me, run.hear(Incoming { to_all, to_me }, &mut Seed(number << 41)).unwrap());
        }
    }
}

/// One signature of several people.
pub(super) fn together(signers: &[&Identity], said: &VoteBody) -> Multi {
    let keys: Vec<&VerifyingKey> = signers.iter().map(|one| one.key().verifying_key()).collect();
    let signer = |one: &&Identity| (one.member(), Multi::signer(RunId([1; 32]), one, &keys, said).unwrap());
    let bytes = together_in(signers.iter().map(signer).collect());
    Multi::new(said.base, said.turn, said.expires, &bytes).unwrap()
}
