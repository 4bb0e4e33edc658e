//! KEY-23: confirmations that their party did not make. They fit at nobody, change nothing and
//! blame nobody, in every module and change. With the rule off they count. And what somebody can do
//! who has the key.

use crate::common::scene::{CHANGES, Scene, Transcript};
use crate::common::table::{Table, key};
use crate::common::{Seeded, member};
use bytes::Bytes;
use folkmoot_base::{Blob, Danger, Entropy as _, ModuleName, codec};
use folkmoot_keying::message::{CONFIRM, Envelope, Instance};
use folkmoot_keying::{Input, KeyingError};
use std::collections::{BTreeMap, BTreeSet};

fn everywhere(danger: Option<Danger>, mut check: impl FnMut(&str, Scene)) {
    for (module, change) in ModuleName::ALL.iter().flat_map(|module| CHANGES.map(|change| (*module, change)))
    {
        check(&format!("{module:?} {change}"), Scene::on(Table::new(4, danger), module, change));
    }
}

/// What was said up to the confirmations, which nobody has heard yet.
struct Before {
    confirmations: BTreeMap<usize, Bytes>,
    transcript: Transcript,
}

/// Plays the run until all have the key.
fn agree(scene: &mut Scene) -> Before {
    let (mut confirmations, mut transcript) = (BTreeMap::new(), Transcript::default());
    while let Some((from, bytes)) = scene.table.log.pop_front() {
        let envelope = Envelope::decode(&bytes).unwrap();
        if envelope.step == CONFIRM {
            confirmations.insert(from, bytes);
            continue;
        }
        transcript.hear(scene, from, &envelope);
        scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
    }
    assert_eq!(confirmations.len(), scene.members().len());
    Before { confirmations, transcript }
}

/// How a false confirmation is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lie {
    /// It was said in another view or attempt.
    Replayed,
    /// Another party said it.
    Reflected,
    /// Under a key that the group had before.
    FormerKey,
    /// As before there were MACs: with a signature that is good.
    Signed,
    /// In another form, or none.
    Misshapen,
    /// Drawn.
    Drawn,
}

/// Everything false in the name of `of`, of which somebody without the key can think.
fn lies(scene: &Scene, before: &Before, of: usize) -> Vec<(Lie, Bytes)> {
    let honest = Envelope::decode(&before.confirmations[&of]).unwrap();
    let mut all = Vec::new();
    let in_this_run = |other: &Envelope, instance: Instance| Envelope {
        view: honest.view,
        attempt: honest.attempt,
        instance,
        ..other.clone()
    };
    for (from, bytes) in &scene.table.heard {
        let old = Envelope::decode(bytes).unwrap();
        if *from == of && old.step == CONFIRM {
            all.extend([old.instance, honest.instance].map(|one| (Lie::Replayed, in_this_run(&old, one))));
            all.push((Lie::Replayed, old));
        }
    }
    for (_, bytes) in before.confirmations.iter().filter(|(other, _)| **other != of) {
        let other = Envelope::decode(bytes).unwrap();
        all.extend([other.instance, honest.instance].map(|one| (Lie::Reflected, in_this_run(&other, one))));
    }
    for key in &scene.keys {
        let made = before.transcript.confirmations(scene, key, of, &honest);
        all.extend(made.map(|envelope| (Lie::FormerKey, envelope)));
    }
    let body = |bytes: Vec<u8>| Envelope { body: Blob::from(bytes), ..honest.clone() };
    let (whole, mut drawn) = (honest.body.0.to_vec(), vec![1; 33]);
    Seeded(of as u64).fill(&mut drawn[1..]);
    let with_form = |form: u8| body([[form].as_slice(), &whole[1..]].concat());
    all.extend([with_form(0), with_form(2), body(whole[1..].to_vec()), body(whole[..32].to_vec())].map(bad));
    all.extend([body(Vec::new()), body([whole.as_slice(), &[0]].concat())].map(bad));
    all.push((Lie::Drawn, body(drawn)));
    let mut all: Vec<_> = all.into_iter().map(|(lie, one)| (lie, codec::encode(&one).into())).collect();
    for envelope in [honest.clone(), body(whole[1..].to_vec())] {
        all.push((Lie::Signed, scene.stamped(envelope, of)));
    }
    all
}

fn bad(envelope: Envelope) -> (Lie, Envelope) {
    (Lie::Misshapen, envelope)
}

#[test]
fn key_23_false_confirmations_change_nothing_and_blame_nobody() {
    let mut kinds = BTreeMap::new();
    everywhere(None, |name, mut scene| {
        let before = agree(&mut scene);
        let stood = (scene.stands(), waits(&scene));
        for of in scene.members() {
            for (lie, bytes) in lies(&scene, &before, of) {
                for (to, said) in scene.tell(of, &bytes) {
                    let refused = said.unwrap_err();
                    let fits = match refused {
                        KeyingError::WireImpostor => to == of,
                        KeyingError::WireConfirm(party) => party == member(of),
                        KeyingError::WireStale => lie == Lie::Replayed,
                        _ => false,
                    };
                    assert!(fits, "{name}: {to} on {lie:?} of {of}: {refused}");
                }
                *kinds.entry(lie).or_insert(0) += 1;
            }
        }
        assert_eq!(stood, (scene.stands(), waits(&scene)), "{name}: not even the deadline moves");
        let blames = |one: &usize| !scene.table.complaints(*one).is_empty();
        assert!(!scene.members().iter().any(blames), "{name}");
        for (from, bytes) in &before.confirmations {
            scene.tell(*from, bytes).into_iter().for_each(|(_, said)| said.unwrap());
        }
        assert!(scene.all_are_secure(), "{name}");
    });
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    assert!(kinds.values().all(|tried| *tried > 100), "{kinds:?}");
}

fn waits(scene: &Scene) -> Vec<Option<folkmoot_base::Instant>> {
    scene.members().iter().map(|one| scene.table.keyings[*one].poll_timeout()).collect()
}

/// Everybody confirms but one, in whose name all lies are told: those by which the others install.
fn believed(danger: Danger, mut each: impl FnMut(&str, usize, &BTreeSet<Lie>)) {
    for (module, change) in ModuleName::ALL.iter().flat_map(|module| CHANGES.map(|change| (*module, change)))
    {
        let set = || Scene::on(Table::new(4, Some(danger)), module, change);
        for silent in set().members() {
            let mut scene = set();
            let before = agree(&mut scene);
            let count = lies(&scene, &before, silent).len();
            let mut taken = BTreeSet::new();
            for which in 0..count {
                let mut scene = set();
                let before = agree(&mut scene);
                let (lie, bytes) = lies(&scene, &before, silent).swap_remove(which);
                for (from, honest) in before.confirmations.iter().filter(|(from, _)| **from != silent) {
                    scene.tell(*from, honest).into_iter().for_each(|(_, said)| drop(said));
                }
                scene.tell(silent, &bytes);
                let has = |one: usize| scene.table.outputs[one].iter().any(|output| key(output).is_some());
                if scene.members().into_iter().filter(|one| *one != silent).all(has) {
                    taken.insert(lie);
                }
            }
            each(&format!("{module:?} {change}"), silent, &taken);
        }
    }
}

#[test]
fn parties_that_do_not_look_at_the_mac_install_without_the_silent() {
    believed(Danger::KeyingAnyConfirm, |name, silent, taken| {
        let mut all = BTreeSet::from([Lie::Reflected, Lie::Signed, Lie::Misshapen, Lie::Drawn]);
        if name.ends_with("refresh") {
            all.insert(Lie::FormerKey);
        }
        assert!(taken.is_superset(&all), "{name}, {silent} silent: {taken:?}");
    });
}

/// With one key for all, what one party said confirms for another that has said nothing in the run.
#[test]
fn parties_that_confirm_under_one_key_are_confirmed_for_by_reflection() {
    let mut reflected = 0;
    believed(Danger::KeyingOneConfirmKey, |name, silent, taken| {
        assert!(taken.is_empty() || *taken == BTreeSet::from([Lie::Reflected]), "{name}: {taken:?}");
        reflected += usize::from(!taken.is_empty());
        assert!(name != "Gdh leave" || silent == 3 || !taken.is_empty(), "{name}, {silent} silent");
    });
    assert!(reflected > 20, "{reflected}");
}

/// A carrier has no key, and says something in a party's name. It is the carrier's doing that the
/// innocent is complained of by all.
#[test]
fn parties_that_blame_for_a_mac_blame_the_innocent() {
    everywhere(Some(Danger::KeyingBlamesConfirm), |name, mut scene| {
        let before = agree(&mut scene);
        let innocent = scene.members()[0];
        let lie = lies(&scene, &before, innocent).into_iter().find(|(lie, _)| *lie == Lie::Drawn).unwrap().1;
        scene.tell(innocent, &lie);
        for to in scene.members().into_iter().filter(|to| *to != innocent) {
            assert_eq!(scene.table.complaints(to), [[member(innocent)]], "{name}");
        }
    });
}

/// Not promised: whoever is in the view can make everybody's confirmation. An insider that has led
/// one party to another key, and whose node lies too, confirms for that party. The others install,
/// and the deceived party does not. It reads nothing, sees that somebody spoke in its name, and
/// says so when its time is over.
#[test]
fn an_insider_can_confirm_for_a_party_that_it_deceived_and_only_that_one_lacks_the_key() {
    everywhere(None, |name, mut scene| {
        if name.ends_with("refresh") {
            return;
        }
        // What the insider computes is what the party would have said, had nobody deceived it.
        let module = scene.module;
        let change = name.rsplit(' ').next().unwrap();
        let mut honest = Scene::set(module, change);
        let would = agree(&mut honest).confirmations;
        let liar = scene.table.log[0].0;
        let victim = scene.members().into_iter().rev().find(|one| *one != liar).unwrap();
        let mut said = BTreeMap::new();
        while let Some((from, bytes)) = scene.table.log.pop_front() {
            let mut envelope = Envelope::decode(&bytes).unwrap();
            if envelope.step == CONFIRM {
                said.insert(from, bytes);
                continue;
            }
            envelope.instance = Instance { nonce: [0xee; 16], ..envelope.instance };
            let other = scene.signed(envelope, from);
            for to in scene.members() {
                let bytes = if (from, to) == (liar, victim) { &other } else { &bytes };
                scene.table.say(to, from, bytes).unwrap();
            }
        }
        assert!(said[&victim] != would[&victim] && said[&liar] == would[&liar], "{name}");
        said.insert(victim, would[&victim].clone());
        for (from, bytes) in &said {
            for (to, answer) in scene.tell(*from, bytes) {
                let expected = match (to == victim, *from == victim) {
                    (true, true) => Err(KeyingError::WireImpostor),
                    (true, false) => Err(KeyingError::WireConfirm(member(*from))),
                    (false, _) => Ok(()),
                };
                assert_eq!(answer, expected, "{name}: {to} on {from}");
            }
        }
        let keys: BTreeMap<_, _> =
            scene.members().into_iter().map(|one| (one, scene.table.keys()[one])).collect();
        let got = |one: &usize| scene.table.outputs[*one].iter().any(|output| key(output).is_some());
        let others: Vec<_> = scene.members().into_iter().filter(|one| *one != victim).collect();
        assert!(others.iter().all(got) && !got(&victim), "{name}: {keys:?}");
        scene.table.now = scene.table.keyings[victim].poll_timeout().unwrap();
        scene.table.give(victim, Input::Timeout).unwrap();
        let blamed: Vec<_> = others.iter().map(|one| member(*one)).collect();
        assert_eq!(scene.table.complaints(victim), [blamed], "{name}: it cannot know who it was");
        assert!(others.iter().all(|one| scene.table.complaints(*one).is_empty()), "{name}");
    });
}
