//! Known-key resistance with signed steps, in every module. An attacker that is told the group keys
//! of other runs, controls the whole network and sends in members' names gets nothing accepted and
//! learns no key. And key confirmation in every module: a member whose key differs is found, and
//! nobody installs.
//!
//! Each check is also made where it must fail: members that believe anyone who has an old key, a
//! next key that equals the last one, members that do not confirm. For what known keys give without
//! sending anything, see `tests/it/known_keys` of `protocol/agreement`.

mod confirm;
mod rogue;

use crate::common::scene::{CHANGES, Scene, Transcript};
use crate::common::table::Table;
use crate::common::{Seeded, Stamper, id, stamped};
use bytes::Bytes;
use folkmoot_agreement::{ModuleName, PrimeGroup, Ristretto};
use folkmoot_base::{Blob, Danger, Entropy as _, GroupId, SignatureBytes, codec, digest};
use folkmoot_keying::message::{CONFIRM, Envelope, Instance};
use folkmoot_keying::{Credentials as _, KeyingError};
use hkdf::Hkdf;
use sha2::Sha256;
use std::collections::{BTreeMap, BTreeSet};

fn everywhere(mut check: impl FnMut(ModuleName, &str)) {
    for module in ModuleName::ALL {
        CHANGES.iter().for_each(|change| check(*module, change));
    }
}

type Key = [u8; 32];

/// What the attacker is told: every group key of this group before the run, and all keys of another
/// group with the same members, with the messages sent there.
struct Told {
    keys: Vec<Key>,
    heard: Vec<(usize, Bytes)>,
}

impl Told {
    fn before(scene: &Scene) -> Self {
        let mut other = Table::of_group(GroupId([8; 32]), 4, None);
        other.draw = Seeded(77);
        let mut other = Scene::on(other, scene.module, "join");
        other.table.honest();
        let last = other.table.keys().into_iter().flatten();
        let keys: BTreeSet<_> = scene.keys.iter().copied().chain(other.keys).chain(last).collect();
        let heard = scene.table.heard.iter().chain(&other.table.heard).cloned().collect();
        Self { keys: keys.into_iter().collect(), heard }
    }

    /// Everything that an attacker with these keys may take for a key.
    fn reach(&self) -> BTreeSet<Key> {
        self.keys.iter().flat_map(derived).collect()
    }
}

/// A known key, and what keying and the modules derive from one.
fn derived(key: &Key) -> Vec<Key> {
    let labels: [&[u8]; 7] = [
        b"group key",
        b"confirm",
        b"folkmoot confirm key v2",
        b"epoch name",
        b"folkmoot ckd seal v1",
        b"folkmoot ckd next v1",
        b"exported",
    ];
    let expand = |label: &&[u8]| {
        let mut out = [0; 32];
        Hkdf::<Sha256>::new(None, key).expand(label, &mut out).unwrap();
        out
    };
    [*key, digest(&[key])].into_iter().chain(labels.iter().map(expand)).collect()
}

/// Bodies to put in the place of an honest one: the honest one itself, values of the attacker's own
/// making, values that follow from known keys.
fn bodies(honest: &Envelope, told: &Told) -> Vec<Vec<u8>> {
    let body = honest.body.0.to_vec();
    let mut all = vec![body.clone()];
    for key in &told.keys {
        let mut wide = Seeded(u64::from_be_bytes(key[..8].try_into().unwrap()));
        let value = Ristretto::encode(&Ristretto::raise_generator(&Ristretto::draw(&mut wide)));
        let mut own = body.clone();
        for chunk in own.chunks_exact_mut(32) {
            if Ristretto::decode_any(chunk).is_some() {
                chunk.copy_from_slice(&value);
            }
        }
        let mut drawn = body.clone();
        wide.fill(&mut drawn);
        let wrapped = body.iter().zip(&drawn).map(|(one, two)| one ^ two).collect();
        all.extend([own, drawn, wrapped]);
    }
    all
}

/// What may be put in the place of a signature: nothing, the signature of an earlier message,
/// stamps under known keys.
fn signatures(scene: &Scene, envelope: &Envelope, from: usize, told: &Told) -> Vec<SignatureBytes> {
    let content = scene.content(envelope, from);
    let before = told.heard.iter().filter(|(other, _)| *other == from);
    let before = before.filter_map(|(_, bytes)| Some(Envelope::decode(bytes).ok()?.signature));
    let keys = told.keys.iter().flat_map(derived).map(|key| stamped(&key, &content));
    [[0; 64].into()].into_iter().chain(before.take(4)).chain(keys).collect()
}

/// What an attacker achieved.
#[derive(Default)]
struct Got {
    tried: usize,
    taken: usize,
}

/// Before each honest message: everything that the attacker can send in the name of its sender, and
/// of all others.
fn attack(scene: &mut Scene, told: &Told) -> Got {
    let mut got = Got::default();
    let mut instances = BTreeMap::new();
    let mut transcript = Transcript::default();
    while let Some((from, bytes)) = scene.table.log.pop_front() {
        let honest = Envelope::decode(&bytes).unwrap();
        instances.insert(from, honest.instance);
        let forged = match honest.step {
            CONFIRM => confirmations(scene, &honest, from, told, (&transcript, &instances)),
            _ => forgeries(scene, &honest, from, told),
        };
        for (name, message) in replays(scene, &honest, told).into_iter().chain(forged) {
            let stood = scene.stands();
            for (to, said) in scene.tell(name, &message) {
                got.tried += 1;
                match said {
                    Err(error) => assert!(is_named(&error), "{:?} to {to}: {error}", scene.module),
                    Ok(()) => got.taken += 1,
                }
            }
            if got.taken > 0 {
                return got;
            }
            assert_eq!(stood, scene.stands(), "{:?}", scene.module);
        }
        transcript.hear(scene, from, &honest);
        scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
    }
    got
}

/// Confirmations in the name of whoever is about to confirm, and of one other: bodies of the
/// attacker's own, one's MAC as the other's, MACs under known keys, and all these with a signature.
fn confirmations(
    scene: &Scene,
    honest: &Envelope,
    from: usize,
    told: &Told,
    (transcript, instances): (&Transcript, &BTreeMap<usize, Instance>),
) -> Vec<(usize, Bytes)> {
    let other = scene.members().into_iter().find(|other| *other != from).unwrap();
    let mut all = Vec::new();
    for name in [from, other] {
        let instance = instances.get(&name).copied().unwrap_or(honest.instance);
        let like = Envelope { instance, ..honest.clone() };
        let own = bodies(honest, told).into_iter().map(|body| Envelope { body: body.into(), ..like.clone() });
        let known = told.reach();
        let made = known.iter().flat_map(|key| transcript.confirmations(scene, key, name, &like));
        for envelope in own.chain(made) {
            let signature = stamped(&told.keys[0], &scene.content(&envelope, name));
            all.push((name, codec::encode(&Envelope { signature, ..envelope.clone() }).into()));
            if name != from || envelope != *honest {
                all.push((name, codec::encode(&envelope).into()));
            }
        }
    }
    all
}

/// Old messages, in the name of their senders: as they were, and moved into this run.
fn replays(scene: &Scene, honest: &Envelope, told: &Told) -> Vec<(usize, Bytes)> {
    let members = scene.members();
    let old = told.heard.iter().filter(|(from, bytes)| {
        members.contains(from) && Envelope::decode(bytes).is_ok_and(|old| old.step == honest.step)
    });
    let both = old.flat_map(|(from, bytes)| {
        let old = Envelope::decode(bytes).unwrap();
        let moved = Envelope { view: honest.view, attempt: honest.attempt, ..old };
        [(*from, bytes.clone()), (*from, codec::encode(&moved).into())]
    });
    both.collect()
}

/// New messages in the name of the member whose turn it is, and of one other.
fn forgeries(scene: &Scene, honest: &Envelope, from: usize, told: &Told) -> Vec<(usize, Bytes)> {
    let other = scene.members().into_iter().find(|other| *other != from).unwrap();
    let mut all = Vec::new();
    for (name, body) in
        [from, other].into_iter().flat_map(|name| bodies(honest, told).into_iter().map(move |b| (name, b)))
    {
        let mut envelope = Envelope { body: Blob::from(body), ..honest.clone() };
        for signature in signatures(scene, &envelope, name, told) {
            envelope.signature = signature;
            all.push((name, codec::encode(&envelope).into()));
        }
    }
    all
}

fn is_named(error: &KeyingError) -> bool {
    matches!(
        error,
        KeyingError::PeerForged(_)
            | KeyingError::WireConfirm(_)
            | KeyingError::PeerOutOfTurn(_)
            | KeyingError::WireImpostor
            | KeyingError::WireStale
            | KeyingError::PeerOtherGroup(_)
    )
}

/// Whether no member ends with a key that the attacker has.
fn no_key_is_known(scene: &Scene, told: &Told) -> bool {
    let reach = told.reach();
    scene.table.keys().into_iter().flatten().all(|key| !reach.contains(&key))
}

#[test]
fn who_is_told_old_group_keys_gets_nothing_taken_and_no_key() {
    everywhere(|module, change| {
        let mut scene = Scene::set(module, change);
        let told = Told::before(&scene);
        assert!(told.keys.len() > 1 + usize::from(change != "founding"), "{}", told.keys.len());
        let got = attack(&mut scene, &told);
        assert_eq!(got.taken, 0, "{module:?} {change}");
        assert!(got.tried > 300, "{module:?} {change}: only {} tried", got.tried);
        assert!(scene.all_are_secure(), "{module:?} {change}");
        assert!(no_key_is_known(&scene, &told), "{module:?} {change}");
        assert!(
            scene.members().iter().all(|one| scene.table.complaints(*one).is_empty()),
            "nobody is blamed"
        );
    });
}

#[test]
fn members_who_believe_an_old_group_key_are_taken_in() {
    everywhere(|module, change| {
        let mut scene = Scene::set(module, change);
        let told = Told::before(&scene);
        scene.table.believed.clone_from(&told.keys);
        assert!(attack(&mut scene, &told).taken > 0, "{module:?} {change}: the attack is blind");
    });
}

/// Confirmations under the key before are made by whoever has that key. So the attack on MACs sees
/// what it looks for.
#[test]
fn a_group_that_confirms_by_its_last_key_is_confirmed_for() {
    for module in ModuleName::ALL {
        for change in CHANGES.iter().filter(|change| **change != "founding") {
            let table = Table::new(4, Some(Danger::KeyingConfirmsLastKey));
            let mut scene = Scene::on(table, *module, change);
            let told = Told::before(&scene);
            assert!(attack(&mut scene, &told).taken > 0, "{module:?} {change}: the attack is blind");
        }
    }
}

#[test]
fn a_group_that_keeps_its_last_key_gives_it_away() {
    for module in ModuleName::ALL {
        let table = Table::new(4, Some(Danger::KeyingReusesKey));
        let mut scene = Scene::on(table, *module, "leave");
        let told = Told::before(&scene);
        scene.table.honest();
        assert!(!no_key_is_known(&scene, &told), "{module:?}: the check is blind");
    }
}

/// A stamp is not a valid signature of any member.
#[test]
fn a_stamp_is_nobodys_signature() {
    let stamp = stamped(&[1; 32], b"content");
    assert!((0..4).all(|one| !Stamper(one).verify(&id(one), b"content", &stamp)));
}
