//! Key confirmation: a member whose key differs is found, whatever the module.

use super::everywhere;
use crate::common::member;
use crate::common::scene::{CHANGES, Scene};
use crate::common::table::{Table, key};
use folkmoot_agreement::ModuleName;
use folkmoot_base::{Danger, Instant};
use folkmoot_keying::message::{CONFIRM, Envelope, Instance};
use folkmoot_keying::{Input, KeyingError};
use std::collections::BTreeSet;

/// The first member to take a step of the run tells one other everything under another instance. So
/// that member has another transcript, hence another key. Returns which member that is, and whose
/// confirmations did not fit somewhere.
fn split(scene: &mut Scene) -> (usize, Vec<usize>) {
    let (mut parties, mut blamed) = (None, BTreeSet::new());
    while let Some((from, bytes)) = scene.table.log.pop_front() {
        let mut envelope = Envelope::decode(&bytes).unwrap();
        if parties.is_none() && envelope.step < CONFIRM {
            parties = scene.members().into_iter().rev().find(|one| *one != from).map(|victim| (from, victim));
        }
        envelope.instance = Instance { nonce: [0xee; 16], ..envelope.instance };
        let other = scene.signed(envelope, from);
        for to in scene.members() {
            let bytes = if parties == Some((from, to)) { &other } else { &bytes };
            match scene.table.say(to, from, bytes) {
                Err(KeyingError::WireConfirm(_)) => drop(blamed.insert(from)),
                // A member that does not wait for confirmations ignores them.
                Ok(()) | Err(KeyingError::WireStale) => {}
                Err(error) => panic!("{to}: {error}"),
            }
        }
    }
    (parties.unwrap().1, blamed.into_iter().collect())
}

/// The step's time is over.
fn late(scene: &mut Scene) {
    scene.table.now = Instant(u64::from(u32::MAX) * 1_000);
    for one in scene.members() {
        scene.table.give(one, Input::Timeout).unwrap();
    }
}

#[test]
fn key_08_a_member_whose_key_differs_is_found_in_every_module() {
    everywhere(|module, change| {
        let mut scene = Scene::set(module, change);
        let (victim, blamed) = split(&mut scene);
        assert!(scene.table.keys().iter().all(Option::is_none), "{module:?} {change}: somebody installs");
        // It does not believe the others, nor do they believe it.
        assert_eq!(blamed, scene.members(), "{module:?} {change}");
        let any = |scene: &Scene| scene.members().iter().any(|one| !scene.table.complaints(*one).is_empty());
        assert!(!any(&scene), "{module:?} {change}: a MAC that does not fit is no proof against anybody");
        late(&mut scene);
        for one in scene.members() {
            let complaints = scene.table.complaints(one).concat();
            let found = if one == victim { !complaints.is_empty() } else { complaints == [member(victim)] };
            assert!(found, "{module:?} {change}: {one} complains of {complaints:?}");
        }
    });
}

#[test]
fn members_who_do_not_confirm_install_two_keys() {
    for module in ModuleName::ALL {
        for change in CHANGES.iter().filter(|change| **change != "refresh") {
            let table = Table::new(4, Some(Danger::KeyingNoConfirm));
            let mut scene = Scene::on(table, *module, change);
            split(&mut scene);
            let keys: BTreeSet<_> = scene.table.keys().into_iter().flatten().collect();
            assert_eq!(keys.len(), 2, "{module:?} {change}");
        }
    }
}

/// Confirmations that prove the module's secret alone fit at a member whose transcript, and so
/// whose key, is another.
#[test]
fn members_who_confirm_the_secret_alone_install_without_one_that_has_another_key() {
    everywhere(|module, change| {
        let table = Table::new(4, Some(Danger::KeyingConfirmsSecret));
        let mut scene = Scene::on(table, module, change);
        let (victim, _) = split(&mut scene);
        let got = |one: &usize| scene.table.outputs[*one].iter().any(|output| key(output).is_some());
        let others: Vec<_> = scene.members().into_iter().filter(|one| *one != victim).collect();
        assert!(others.iter().all(got) && !got(&victim), "{module:?} {change}");
    });
}
