//! Several parties of one member in one view: one identity key signs for all of them, and each is a
//! participant of its own. In these tables 0, 1 and 2 are parties of one member, and 3 is the only
//! party of another.

use crate::common::scene::{CHANGES, Scene};
use crate::common::table::{Table, key};
use crate::common::{GROUP, id, member, of_one};
use bytes::Bytes;
use folkmoot_base::{ModuleName, Party};
use folkmoot_keying::message::{CONFIRM, Envelope, REFRESH, binding};
use folkmoot_keying::{Input, KeyingError, State};
use std::collections::{BTreeMap, BTreeSet};

fn everywhere(mut check: impl FnMut(ModuleName, &str, Scene)) {
    for module in ModuleName::ALL {
        for change in CHANGES {
            check(*module, change, Scene::on(Table::seated(GROUP, 4, None, of_one), *module, change));
        }
    }
}

#[test]
fn parties_of_one_member_and_another_member_agree_on_one_key_in_every_module() {
    everywhere(|module, change, mut scene| {
        scene.table.honest();
        assert!(scene.all_are_secure(), "{module:?} {change}");
        let refused = scene.members().iter().map(|one| scene.table.errors[*one].len()).sum::<usize>();
        assert_eq!(refused, 0, "{module:?} {change}");
        let of_zero = |party: &&Party| party.member == id(0);
        assert!(scene.view.members.iter().filter(of_zero).count() > 1, "{module:?} {change}");
        let keys: BTreeSet<_> = scene.table.outputs.iter().flatten().filter_map(key).collect();
        assert!(keys.is_disjoint(&scene.keys), "{module:?} {change}: an old key");
    });
}

/// A carrier presents every message of one party as another party's of the same member: bytes and
/// signature are as the member's key made them, and only the port says whose they are. All refuse
/// them by name, and nothing changes. The last messages of every run are confirmations.
#[test]
fn key_04_nothing_that_one_party_signed_passes_as_another_of_the_same_member() {
    everywhere(|module, change, mut scene| {
        let (mut steps, mut confirmations) = (0, 0);
        while let Some((from, bytes)) = scene.table.log.pop_front() {
            let before = scene.stands();
            let step = Envelope::decode(&bytes).unwrap().step;
            for liar in siblings(&scene, from) {
                for to in scene.members() {
                    let refused = scene.table.say(to, liar, &bytes);
                    let name = format!("{module:?} {change}: {to} on {from} as {liar}: {refused:?}");
                    let party = of_one(liar);
                    let has_confirmed = !scene.table.keyings[to].awaited().contains(&party);
                    let expected = match step {
                        // A refresh has not begun yet at the party in whose name it is asked for.
                        _ if to == liar && step != REFRESH => KeyingError::WireImpostor,
                        CONFIRM if has_confirmed => KeyingError::PeerOutOfTurn(party),
                        CONFIRM => KeyingError::WireConfirm(party),
                        _ => KeyingError::PeerForged(party),
                    };
                    assert_eq!(refused, Err(expected), "{name}");
                    assert!(scene.table.complaints(to).is_empty(), "{name}");
                }
                *(if step == CONFIRM { &mut confirmations } else { &mut steps }) += 1;
            }
            assert_eq!(before, scene.stands(), "{module:?} {change}");
            scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
        }
        assert!(scene.all_are_secure(), "{module:?} {change}");
        assert!(confirmations > 1, "{module:?} {change}: {confirmations} confirmations");
        assert!(steps > 0 || change != "founding", "{module:?}: no step of the member's parties");
    });
}

/// One party's MAC in the name of another of the same member, in that one's own instance: it fits
/// the key of the party that made it and no other.
#[test]
fn key_08_a_confirmation_counts_for_one_party_of_a_member_only() {
    everywhere(|module, change, mut scene| {
        let mut instances = BTreeMap::new();
        let mut tried = 0;
        while let Some((from, bytes)) = scene.table.log.pop_front() {
            let honest = Envelope::decode(&bytes).unwrap();
            instances.insert(from, honest.instance);
            for liar in siblings(&scene, from).filter(|_| honest.step == CONFIRM) {
                let to = scene.members().into_iter().find(|to| ![from, liar].contains(to)).unwrap();
                if !scene.table.keyings[to].awaited().contains(&of_one(liar)) {
                    continue;
                }
                let mut stolen = honest.clone();
                stolen.instance = instances.get(&liar).copied().unwrap_or(stolen.instance);
                let stolen = scene.signed(stolen, liar);
                let refused = scene.table.say(to, liar, &stolen).unwrap_err();
                assert_eq!(refused, KeyingError::WireConfirm(of_one(liar)), "{module:?} {change}");
                assert!(scene.table.keyings[to].awaited().contains(&of_one(liar)));
                assert!(scene.table.complaints(to).is_empty(), "anybody may have made it");
                tried += 1;
            }
            scene.tell(from, &bytes).into_iter().for_each(|(_, said)| said.unwrap());
        }
        assert!(tried > 0, "{module:?} {change}: nothing was tried");
    });
}

fn siblings(scene: &Scene, from: usize) -> impl Iterator<Item = usize> + use<> {
    let of = of_one(from).member;
    scene.members().into_iter().filter(move |other| *other != from && of_one(*other).member == of)
}

/// What a member signs for one set of ports is not what it signs for another.
#[test]
fn a_binding_names_every_party_with_its_port() {
    let bound = |parties: &[Party]| {
        let parties: Vec<_> = parties.iter().map(|party| (*party, [7; 32])).collect();
        let brought = vec![Bytes::new(); parties.len()];
        binding(&crate::common::view_id(1), 0, &parties, &brought, 1, ["gdh", "aes-256-gcm"])
    };
    let of = |port| Party::new(id(0), port);
    let all = [
        bound(&[of(0), member(3)]),
        bound(&[of(1), member(3)]),
        bound(&[of(256), member(3)]),
        bound(&[of(0), of(1)]),
        bound(&[of(0), of(2)]),
    ];
    assert_eq!(BTreeSet::from(all).len(), all.len());
}

/// KEY-01: a view may list a member twice, but no party.
#[test]
fn key_01_views_list_no_party_twice() {
    let mut table = Table::seated(GROUP, 2, None, of_one);
    let view = table.view_of(1, &[0, 0]);
    assert_eq!(table.give(0, Input::View(view)), Err(KeyingError::LocalView));
    table.install(2, &[0, 1]);
    table.honest();
    assert_eq!(table.keyings[0].state(), State::Secure);
}

/// KEY-12: the roster loses a member, and with it all the member's parties.
#[test]
fn key_12_a_member_off_the_roster_takes_all_its_parties_out() {
    let mut table = Table::seated(GROUP, 4, None, of_one);
    table.off.insert(0);
    table.install(1, &[0, 1, 3]);
    table.honest();
    assert!(table.keys().iter().all(Option::is_none));
    let told = |output: &folkmoot_keying::Output| format!("{output:?}").contains("00000000, 00000000:1");
    assert!(table.outputs[3].iter().any(told), "both are named: {:?}", table.outputs[3]);
}
