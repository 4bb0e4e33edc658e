//! An attacker that has old group keys plays a member from the beginning of a run to its end.

use super::{Key, Told};
use crate::common::scene::Scene;
use crate::common::table::key;
use crate::common::{GROUP, Seeded, Stamper, member, stamped};
use bytes::Bytes;
use folkmoot_agreement::ModuleName;
use folkmoot_base::{Digest, Instant, MemberId, SignatureBytes};
use folkmoot_keying::{Config, Credentials, Input, Keying, KeyingError, Output, Terms};
use std::collections::BTreeSet;

/// The attacker's machine in the place of a member. All that this member sends is lost, and the
/// others receive this machine's messages, which are stamped with a known key.
struct Rogue {
    keying: Keying,
    of: usize,
    key: Key,
    draw: Seeded,
    got: Option<Key>,
}

impl Rogue {
    fn new(of: usize, key: Key) -> Self {
        Self { keying: keying(of), of, key, draw: Seeded(99), got: None }
    }

    /// Its output for an input.
    fn hear(&mut self, input: Input, terms: Terms) -> Vec<(usize, Bytes)> {
        // It believes whatever it is told.
        let _ = self.keying.handle(Instant(0), input, &Stamps(self.of, self.key, terms), &mut self.draw);
        let mut said = Vec::new();
        while let Some(output) = self.keying.poll_output() {
            self.got = key(&output).or(self.got);
            if let Output::Send { bytes, .. } = output {
                said.push((self.of, bytes));
            }
        }
        said
    }
}

fn keying(of: usize) -> Keying {
    Keying::new(member(of), GROUP, Config::default(), None).unwrap()
}

/// Stamps in a member's name, under the charter that all have.
struct Stamps(usize, Key, Terms);

impl Credentials for Stamps {
    fn sign(&self, message: &[u8]) -> SignatureBytes {
        stamped(&self.1, message)
    }
    fn verify(&self, _: &MemberId, _: &[u8], _: &SignatureBytes) -> bool {
        true
    }
    fn certificate(&self, member: &MemberId) -> Option<Digest> {
        Stamper(self.0).certificate(member)
    }
    fn terms(&self) -> Terms {
        self.2
    }
}

/// In a change with a member that brings nothing, the attacker plays that member. Returns the keys
/// of the others, and the attacker's.
fn impersonate(scene: &mut Scene, key: Key) -> (BTreeSet<Option<Key>>, Option<Key>) {
    let mut rogue = Rogue::new(3, key);
    let terms = scene.table.terms;
    let said = rogue.hear(Input::View(scene.view.clone()), terms);
    scene.table.log.retain(|(from, _)| *from != rogue.of);
    scene.table.log.extend(said);
    while let Some((from, bytes)) = scene.table.log.pop_front() {
        for to in scene.members().into_iter().filter(|to| *to != rogue.of) {
            if let Err(error) = scene.table.say(to, from, &bytes) {
                let party = member(rogue.of);
                // It may come to a key of its own, and confirms that to those who have none.
                let named = [KeyingError::PeerForged(party), KeyingError::PeerOutOfTurn(party)];
                assert!(from == rogue.of && named.contains(&error), "{from}: {error}");
            }
        }
        let said = rogue.hear(Input::Message { sender: member(from), bytes }, terms);
        scene.table.log.extend(said);
    }
    (scene.table.keys()[..rogue.of].iter().copied().collect(), rogue.got)
}

#[test]
fn nobody_is_played_by_whoever_has_old_group_keys() {
    for (module, change) in
        ModuleName::ALL.iter().flat_map(|module| ["founding", "join"].map(|change| (*module, change)))
    {
        let told = Told::before(&Scene::set(module, change));
        for key in &told.keys {
            let mut scene = Scene::set(module, change);
            let (keys, got) = impersonate(&mut scene, *key);
            assert_eq!((keys, got), (BTreeSet::from([None]), None), "{module:?} {change}");
            // Members that believe the key go on with the attacker, which has their keys.
            let mut weak = Scene::set(module, change);
            weak.table.believed.push(*key);
            let (keys, got) = impersonate(&mut weak, *key);
            assert!(
                got.is_some() && keys == BTreeSet::from([got]),
                "{module:?} {change}: the rogue is no member"
            );
        }
    }
}
