//! Every module under alteration. A message changed on the way is refused by name and changes
//! nothing. A false step that a member signs is found out, and nobody waits for ever. Foundings,
//! joins, leaves, merges and refreshes.

use crate::common::scene::{CHANGES, Scene};
use crate::common::{Seeded, member};
use folkmoot_agreement::{AgreementError, PrimeGroup, Ristretto};
use folkmoot_base::{Blob, Instant, ModuleName};
use folkmoot_keying::message::{CONFIRM, Envelope, REFRESH};
use folkmoot_keying::{Input, KeyingError, Output};
use std::collections::{BTreeMap, BTreeSet};

fn everywhere(mut check: impl FnMut(ModuleName, &str)) {
    for module in ModuleName::ALL {
        CHANGES.iter().for_each(|change| check(*module, change));
    }
}

#[test]
fn key_04_no_altered_byte_passes_in_any_module() {
    everywhere(|module, change| {
        let mut scene = Scene::set(module, change);
        while let Some((from, bytes)) = scene.table.log.pop_front() {
            let before = scene.stands();
            for to in scene.members().into_iter().filter(|to| *to != from) {
                for at in 0..bytes.len() {
                    let mut altered = bytes.to_vec();
                    altered[at] ^= 1 << (at % 8);
                    let refused = scene.table.say(to, from, &altered.into());
                    let Err(refused) = refused else { panic!("{module:?} {change} byte {at} passes") };
                    let named = matches!(
                        refused,
                        KeyingError::PeerMalformed { .. }
                            | KeyingError::PeerOtherGroup(_)
                            | KeyingError::WireStale
                            | KeyingError::PeerForged(_)
                            | KeyingError::WireConfirm(_)
                    );
                    assert!(named, "{module:?} {change} byte {at}: {refused}");
                }
                assert!(scene.table.complaints(to).is_empty(), "anybody may have altered it");
            }
            assert_eq!(before, scene.stands());
            scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
        }
        assert!(scene.all_are_secure(), "{module:?} {change}");
    });
}

/// A step sent by a member whose turn it is not, sent as another step, or sent twice: refused by
/// name, and nobody is blamed.
#[test]
fn key_07_steps_out_of_turn_change_nothing_in_any_module() {
    everywhere(|module, change| {
        let mut scene = Scene::set(module, change);
        let mut instances = BTreeMap::new();
        while let Some((from, bytes)) = scene.table.log.pop_front() {
            let honest = Envelope::decode(&bytes).unwrap();
            instances.insert(from, honest.instance);
            let before = scene.stands();
            if honest.step < CONFIRM {
                for other in scene.members().into_iter().filter(|other| *other != from) {
                    let to = scene.members().into_iter().find(|to| ![from, other].contains(to)).unwrap();
                    if scene.table.keyings[to].awaited().contains(&member(other)) {
                        continue;
                    }
                    let mut stolen = honest.clone();
                    stolen.instance = instances.get(&other).copied().unwrap_or(stolen.instance);
                    let stolen = scene.signed(stolen, other);
                    let refused = scene.table.say(to, other, &stolen).unwrap_err();
                    assert!(is_turn(&refused), "{module:?} {change} by {other}: {refused}");
                    assert!(scene.table.complaints(to).is_empty());
                }
                let to = scene.members().into_iter().find(|to| *to != from).unwrap();
                let unknown = scene.signed(Envelope { step: 99, ..honest.clone() }, from);
                let refused = scene.table.say(to, from, &unknown).unwrap_err();
                assert!(is_turn(&refused), "{module:?} {change} as another step: {refused}");
            }
            assert_eq!(before, scene.stands());
            scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
            if honest.step != REFRESH {
                let again = scene.tell(from, &bytes);
                assert!(again.iter().all(|(_, said)| said.is_err()), "{module:?} {change} again: {again:?}");
            }
        }
        assert!(scene.all_are_secure(), "{module:?} {change}");
    });
}

fn is_turn(refused: &KeyingError) -> bool {
    let KeyingError::PeerStep { source, .. } = refused else { return false };
    matches!(
        source,
        AgreementError::PeerOutOfTurn { .. }
            | AgreementError::PeerRepeated { .. }
            | AgreementError::PeerUnknownStep(_)
    )
}

/// The result of a lie.
#[derive(Default)]
struct Found {
    refused: usize,
    unconfirmed: usize,
    harmless: usize,
}

/// One member signs one altered body. No member is secure with another key than the others. A
/// member that refuses the step complains of the liar at once, and of nobody else. A member that is
/// not secure in the end has complained of somebody.
fn lie(
    module: ModuleName,
    change: &str,
    which: usize,
    alter: impl Fn(&mut Vec<u8>),
    found: &mut Found,
) -> bool {
    let mut scene = Scene::set(module, change);
    let (mut steps, mut liar) = (0, None);
    while let Some((from, bytes)) = scene.table.log.pop_front() {
        let mut said = bytes.clone();
        let mut envelope = Envelope::decode(&bytes).unwrap();
        if envelope.step < CONFIRM {
            if steps == which {
                let mut body = envelope.body.0.to_vec();
                alter(&mut body);
                envelope.body = Blob::from(body);
                said = scene.signed(envelope, from);
                if said != bytes {
                    liar = Some(from);
                }
            }
            steps += 1;
        }
        for (to, answer) in scene.tell(from, &said) {
            judge(&scene, (to, from, liar), answer.err(), found);
        }
    }
    let Some(liar) = liar else { return false };
    settle(&mut scene, liar, found);
    true
}

fn judge(
    scene: &Scene,
    (to, from, liar): (usize, usize, Option<usize>),
    error: Option<KeyingError>,
    found: &mut Found,
) {
    let Some(error) = error else { return };
    let Some(liar) = liar else { panic!("{to} refuses {from} before any lie: {error}") };
    match error {
        _ if to == liar => {}
        KeyingError::PeerStep { .. } if is_turn(&error) => {}
        KeyingError::PeerStep { peer, .. } => {
            assert_eq!(peer, member(liar), "{:?}: {to} blames another: {error}", scene.module);
            assert!(scene.table.complaints(to).concat().contains(&peer));
            found.refused += 1;
        }
        KeyingError::WireConfirm(_) | KeyingError::PeerOutOfTurn(_) => found.unconfirmed += 1,
        other => panic!("{:?}: {to} says to {from}: {other}", scene.module),
    }
}

fn settle(scene: &mut Scene, liar: usize, found: &mut Found) {
    let honest: Vec<usize> = scene.members().into_iter().filter(|one| *one != liar).collect();
    let got = |output: &Output| matches!(output, Output::SecureView(_) | Output::Refreshed { .. });
    let keyed: Vec<bool> = honest.iter().map(|one| scene.table.outputs[*one].iter().any(got)).collect();
    let keys: BTreeSet<_> = honest.iter().map(|one| scene.table.keys()[*one]).collect();
    assert!(!keyed.contains(&true) || keys.len() == 1, "{:?}: some have another key", scene.module);
    scene.table.now = Instant(u64::from(u32::MAX) * 1_000);
    for one in &honest {
        if scene.table.keyings[*one].poll_timeout().is_some() {
            scene.table.give(*one, Input::Timeout).unwrap();
        }
    }
    for (one, keyed) in honest.iter().zip(&keyed) {
        let complained = !scene.table.complaints(*one).is_empty();
        assert!(*keyed || complained, "{:?}: {one} waits for ever", scene.module);
    }
    found.harmless += usize::from(keyed.iter().all(|keyed| *keyed));
}

#[test]
fn key_07_signed_lies_are_found_out_in_every_module() {
    everywhere(|module, change| {
        let (mut found, mut dice, mut lies) = (Found::default(), Seeded(11), 0);
        for _ in 0..24 {
            let (which, at, bit) = (dice.below(6), dice.next(), dice.below(8));
            lies += usize::from(lie(
                module,
                change,
                which,
                |body| {
                    let wide = body.len().max(1) as u64;
                    if let Some(byte) = body.get_mut(usize::try_from(at % wide).unwrap()) {
                        *byte ^= 1 << bit;
                    }
                },
                &mut found,
            ));
        }
        assert!(lies > 3, "{module:?} {change}: {lies} lies");
        assert!(found.refused + found.unconfirmed > 0, "{module:?} {change}: nothing was found out");
        assert_eq!(found.harmless, 0, "{module:?} {change}: a lie went through");
    });
}

/// The identity and bytes that are not a point, in the place of every element that a step carries.
#[test]
fn key_07_values_outside_the_group_are_blamed_on_their_sender() {
    for module in ModuleName::ALL.iter().filter(|module| **module != ModuleName::Mls) {
        for change in CHANGES {
            let mut found = Found::default();
            for (which, no_element) in (0..3).flat_map(|which| [(which, [0; 32]), (which, [0xff; 32])]) {
                lie(*module, change, which, |body| replace(body, &no_element), &mut found);
            }
            assert!(found.refused > 0, "{module:?} {change}");
            assert_eq!(found.harmless, 0, "{module:?} {change}");
        }
    }
}

/// The first window that is an element. (Some windows are elements by chance; what is put there is
/// a lie all the same.)
fn replace(body: &mut [u8], no_element: &[u8; 32]) {
    let is_element = |window: &[u8]| Ristretto::decode_any(window).is_some();
    let at = (0..body.len().saturating_sub(31)).find(|at| is_element(&body[*at..at + 32]));
    if let Some(at) = at {
        body[at..at + 32].copy_from_slice(no_element);
    }
}
