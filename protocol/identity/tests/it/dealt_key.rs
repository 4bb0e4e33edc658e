//! A group whose key was dealt: its certificate, a member's and its revocation list, signed by
//! holders through `shared`, for each scheme. OpenSSL reads and verifies them like any authority's.
//! Skips nothing: a machine without `openssl` fails these tests.

use crate::common::{START, Seed, World};
use folkmoot_base::{MemberId, Secret, UnixTime};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, Gmc, GmcBody, GroupKey, RevocationBody, RevocationList, Scheme,
};
use folkmoot_signing::shared::{self, AnyRun, Dealt, Outcome};
use folkmoot_signing::{Incoming, Next, Outgoing, RunId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Safe primes for tests of signing.
const PRIMES: &str = include_str!("../../../signing/tests/data/safe-primes.txt");

/// Seven holders, of whom two determine the key.
fn holders() -> Vec<MemberId> {
    (1..8).map(|number| MemberId([number; 32])).collect()
}

/// Shoup's secret is made of the stored primes for this size.
fn secret(scheme: Scheme, bits: u16) -> Secret<Vec<u8>> {
    if scheme != Scheme::Shoup {
        return shared::draw_secret(scheme, &mut Seed(1 << 40)).unwrap();
    }
    let size = format!("{bits} ");
    let words: Vec<&str> = PRIMES.lines().find(|line| line.starts_with(&size)).unwrap().split(' ').collect();
    let primes = [words[1], words[2]].map(|hex| {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(byte).collect::<Vec<u8>>()
    });
    let [p, q] = &primes;
    Secret::new([&[1], bits.to_be_bytes().as_slice(), p.max(q), p.min(q)].concat())
}

fn said(next: Next<Outcome>) -> Result<Outgoing, Vec<u8>> {
    match next {
        Next::Say(said) => Ok(said),
        Next::Done(Outcome::Signature(signature)) => Err(signature),
        Next::Done(other) => panic!("{other:?}"),
    }
}

/// What the first holders sign, all in one room.
fn sign(scheme: Scheme, dealt: &Dealt, message: &[u8]) -> Vec<u8> {
    let hands = &holders()[..scheme.signers(2)];
    let hand = |(me, share): &(MemberId, Secret<Vec<u8>>)| {
        let run = shared::sign(scheme, RunId([1; 32]), *me, hands, (&dealt.public, share), message).unwrap();
        (*me, run)
    };
    let mut runs: BTreeMap<MemberId, AnyRun> = dealt.shares[..hands.len()].iter().map(hand).collect();
    let mut spoken = BTreeMap::new();
    for (number, (me, run)) in (1_u64..).zip(&mut runs) {
        spoken.insert(*me, said(run.start(&mut Seed(number << 40))).expect("a run has rounds"));
    }
    for round in 1_u64.. {
        let now = std::mem::take(&mut spoken);
        for (number, (me, run)) in (1_u64..).zip(&mut runs) {
            let mut heard = Incoming::default();
            for hand in run.awaited() {
                heard.to_all.insert(hand, now[&hand].to_all.clone());
                heard.to_me.extend(now[&hand].to_each.get(me).map(|words| (hand, words.clone())));
            }
            match said(run.hear(heard, &mut Seed((number << 40) + (round << 20))).unwrap()) {
                Ok(words) => drop(spoken.insert(*me, words)),
                Err(signature) => return signature,
            }
        }
    }
    unreachable!("a run ends")
}

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("folkmoot-dealt-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn openssl(&self, arguments: &str) -> (bool, String) {
        let output = Command::new("openssl").args(arguments.split(' ')).current_dir(&self.0).output();
        let output = output.expect("the openssl command is needed: apt-get install openssl");
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn member(scheme: Scheme, dealt: &Dealt, key: &GroupKey, name: usize) -> Gmc {
    let world = World::new();
    let holder = &world.founders[name];
    let body = GmcBody::propose(world.charter(), holder, 3, START, &mut Seed((50 + name as u64) << 32));
    let body = body.issued_under(shared::facts(scheme, &dealt.public).unwrap().epoch);
    let gmc = Gmc::issue_by_group(&body, key, &sign(scheme, dealt, &body.issued_tbs(key).unwrap())).unwrap();
    assert_eq!(Gmc::from_der(gmc.der()).unwrap().check_issued(key), Ok(()));
    gmc
}

#[test]
fn deal_08_openssl_takes_what_holders_of_a_dealt_key_sign_before_and_after_a_redeal() {
    for (scheme, bits) in
        [(Scheme::Shoup, 2048), (Scheme::Shoup, 3072), (Scheme::TsDsa, 0), (Scheme::Frost, 0)]
    {
        let name = format!("{}-{bits}", scheme.name());
        let (secret, folder) = (secret(scheme, bits), Folder::new(&name));
        let deal = |seed: u64| shared::deal(scheme, &secret, 2, &holders(), &mut Seed(seed << 40)).unwrap();
        let (first, second) = (deal(2), deal(3));
        let key = shared::public_key(scheme, &secret).unwrap();
        let body = AuthorityBody::new("book club", key.clone(), START, &mut Seed(8 << 32));
        let authority =
            AuthorityCertificate::close(&body, &sign(scheme, &first, &body.tbs().unwrap())).unwrap();
        let (anna, ben) = (member(scheme, &first, &key, 0), member(scheme, &second, &key, 1));
        assert_ne!(anna.issued(), ben.issued(), "each under its own share-epoch");
        let revoked = [anna.body().serial].into();
        let list = RevocationBody::new(authority.clone(), UnixTime(START.0 + 9), 1, revoked).unwrap();
        let list = RevocationList::close(&list, &sign(scheme, &second, &list.tbs().unwrap())).unwrap();

        folder.put("authority.pem", &authority.to_pem());
        folder.put("anna.pem", &anna.to_pem());
        folder.put("ben.pem", &ben.to_pem());
        folder.put("revoked.pem", &list.to_pem());
        let verify = "verify -x509_strict -check_ss_sig -CAfile authority.pem";
        for name in ["authority.pem", "anna.pem", "ben.pem"] {
            let (good, said) = folder.openssl(&format!("{verify} {name}"));
            assert!(good && said.contains(&format!("{name}: OK")), "{scheme:?}: {said}");
        }
        let listed = format!("{verify} -crl_check -CRLfile revoked.pem");
        let (good, said) = folder.openssl(&format!("{listed} ben.pem"));
        assert!(good, "{scheme:?}: {said}");
        let (good, said) = folder.openssl(&format!("{listed} anna.pem"));
        assert!(!good && said.contains("error 23"), "{scheme:?}: {said}");
    }
}
