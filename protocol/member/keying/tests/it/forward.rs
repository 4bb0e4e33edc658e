//! Perfect forward secrecy: long-term keys that are lost later give away no key of the past, in
//! every module and change.
//!
//! ```text
//! a history ── all that each party was given, all that was said, all that was kept on disk
//!      │              afterwards, the attacker is told every identity key and every disk
//!      └─> attacker: begins each party anew, as often as it has something to draw from, and gives it
//!          everything once more; signs as anybody; believes every signature and every confirmation
//! ```
//! It gets none of the keys. If one party draws what is its own alone from its identity key, or
//! from what is on its disk, the same attacker has them all. What follows from such secrets without
//! a machine is tried in `tests/it/known_keys` of `protocol/agreement`.

use crate::common::scene::{CHANGES, Scene};
use crate::common::table::{Given, Table, key};
use crate::common::{GROUP, Over, Stamper, id, member};
use folkmoot_base::{Danger, Digest, Entropy, Keying as Rule, ModuleName, digest, hmac_sha256};
use folkmoot_base::{MemberId, SignatureBytes};
use folkmoot_keying::{Config, Credentials, Keying, Output, Terms};
use std::collections::BTreeSet;

type Key = [u8; 32];

/// Randomness that is no randomness: all of it follows from something that is kept.
#[derive(Clone)]
pub struct FromDisk {
    secret: Vec<u8>,
    count: u64,
}

impl FromDisk {
    pub fn new(secret: &[u8]) -> Self {
        Self { secret: secret.to_vec(), count: 0 }
    }
}

impl Entropy for FromDisk {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.count += 1;
            let block = hmac_sha256(&self.secret, &[b"ephemeral", &self.count.to_be_bytes()]);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

/// The key of a member that signs for it ([`Stamper`]).
fn identity_key(of: usize) -> Digest {
    digest(&[b"test key", &id(of).0])
}

/// Has the identity key of every member, and believes everything.
struct Everybody<'a>(Over<'a>);

impl Credentials for Everybody<'_> {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        self.0.sign(message)
    }
    fn verify(&self, _: &MemberId, _: &[u8], _: &SignatureBytes) -> bool {
        true
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        self.0.certificate(member)
    }
    fn terms(&self) -> Terms {
        self.0.terms()
    }
}

/// One history, and what the members have on disk after it.
struct History {
    table: Table,
    keys: BTreeSet<Key>,
    disks: Vec<Vec<u8>>,
}

impl History {
    fn play(module: ModuleName, change: &str, far: bool, weak: Option<(usize, &[u8])>) -> Self {
        let mut table = Table::new(4, None);
        table.terms.keying = Rule::Module(module);
        table.terms.far = far;
        table.own_draw.extend(weak.map(|(one, secret)| (one, FromDisk::new(secret))));
        let mut scene = Scene::on(table, module, change);
        scene.table.honest();
        assert!(scene.all_are_secure(), "{module:?} {change}");
        let last = scene.table.keys().into_iter().flatten();
        let keys = scene.keys.iter().copied().chain(last).collect();
        let disks = scene.table.disks.clone();
        Self { table: scene.table, keys, disks }
    }

    /// The identity keys and all that was ever kept.
    fn long_term(&self) -> BTreeSet<Vec<u8>> {
        let keys = (0..4).map(|of| identity_key(of).to_vec());
        let disks = self.disks.iter().cloned();
        keys.chain(disks).collect()
    }

    /// All keys that come of giving `of` everything once more, if its randomness is of `secret`.
    fn again(&self, of: usize, secret: &[u8]) -> BTreeSet<Key> {
        // It does not wait for confirmations, and shows a key as soon as it has one.
        let config = Config { danger: Some(Danger::KeyingNoConfirm).into(), ..Config::default() };
        let mut keying = Keying::new(member(of), GROUP, config, None).unwrap();
        let mut entropy = FromDisk::new(secret);
        let (off, mut got) = (BTreeSet::new(), BTreeSet::new());
        for given in self.table.given.iter().filter(|(to, _)| *to == of).map(|(_, given)| given) {
            let who = Everybody(Over(Stamper(of), &off, self.table.terms));
            // It goes on, whatever is refused.
            let _ = keying.handle(self.table.now, given.input(self.table.seat), &who, &mut entropy);
            while let Some(output) = keying.poll_output() {
                got.extend(key(&output));
            }
        }
        got
    }
}

fn everywhere(mut check: impl FnMut(&str, &dyn Fn(Option<(usize, &[u8])>) -> History)) {
    for (module, change) in ModuleName::ALL.iter().flat_map(|module| CHANGES.map(|change| (*module, change)))
    {
        check(&format!("{module:?} {change}"), &|weak| History::play(module, change, false, weak));
    }
    // KEY-22: shares that were told with FLUSH_OK.
    for change in CHANGES {
        let name = format!("Tgdh {change}, far");
        check(&name, &|weak| History::play(ModuleName::Tgdh, change, true, weak));
    }
}

#[test]
fn all_long_term_keys_and_disks_and_the_whole_wire_give_no_key_of_the_past() {
    everywhere(|name, play| {
        let history = play(None);
        let secrets = history.long_term();
        assert!(secrets.len() > 4, "{name}: {}", secrets.len());
        assert!(!history.keys.is_empty(), "{name}");
        for secret in &secrets {
            for of in 0..4 {
                let got = history.again(of, secret);
                assert!(got.is_disjoint(&history.keys), "{name}: {of} begun anew with {secret:02x?}");
            }
            assert!(history.keys.iter().all(|key| key.as_slice() != secret.as_slice()), "{name}");
        }
    });
}

/// The same, if one party draws from its identity key, or from its disk: from the first value that
/// it kept, with which it begins. The other three draw as they should.
#[test]
fn an_ephemeral_key_that_is_kept_gives_all_keys_away() {
    everywhere(|name, play| {
        let kept = play(None).disks[0].clone();
        for secret in [identity_key(0).to_vec(), kept] {
            let history = play(Some((0, &secret)));
            assert!(history.long_term().contains(&secret), "{name}");
            let got = history.again(0, &secret);
            let known = got.intersection(&history.keys).count();
            let own = history.table.outputs[0].iter().filter_map(key).count();
            assert!(known > 0 && known >= own, "{name}: {known} keys of {own}: the attack is blind");
            assert!((1..4).all(|of| history.again(of, &secret).is_disjoint(&history.keys)), "{name}");
        }
    });
}

/// All that keying keeps is a number: which instances are used up (KEY-11).
#[test]
fn keying_keeps_nothing_but_a_number() {
    everywhere(|name, play| {
        let history = play(None);
        assert!(history.disks.len() >= 4, "{name}");
        assert!(history.disks.iter().all(|value| value.len() == 16), "{name}");
    });
}

/// What was given can be given again: with the randomness that it had, a party comes to its keys.
#[test]
fn what_was_given_is_all_that_a_party_needs() {
    let history = History::play(ModuleName::Gdh, "join", false, Some((1, b"known")));
    assert!(!history.again(1, b"known").is_disjoint(&history.keys));
    assert!(matches!(history.table.given.first(), Some((_, Given::View(_)))));
    let kept = |output: &Output| matches!(output, Output::Persist(_));
    assert!(!history.table.outputs.iter().flatten().any(kept), "a record of the first view is enough");
}
