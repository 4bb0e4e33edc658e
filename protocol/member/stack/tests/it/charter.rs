//! MEM-05: a vote for another module or cipher takes effect in the group that stands, under
//! traffic, without losing a message.

use crate::common::Moot;
use crate::common::people::{Dice, change};
use folkmoot_base::{Cipher, Instant, ModuleName};
use folkmoot_identity::Minority;
use std::collections::BTreeSet;

const SEATS: usize = 4;

/// Module, cipher and key of all members, if they agree.
fn suite(moot: &Moot, who: &[usize]) -> Option<(ModuleName, Cipher, String)> {
    let told = who.iter().map(|number| {
        let status = moot.chairs[*number].member.status(Instant(0));
        Some((status.module?, status.cipher?, status.epoch?))
    });
    let told: BTreeSet<_> = told.collect();
    if told.len() == 1 { told.into_iter().next().flatten() } else { None }
}

/// Votes for these changes one after the other, at drawn moments, while all members send.
fn talk_and_change(moot: &mut Moot, dice: &mut Dice, changes: &[(&str, &str)]) -> Vec<String> {
    let mut said = Vec::new();
    let mut talk = |moot: &mut Moot, dice: &mut Dice| {
        for _ in 0..dice.below(12) {
            let who = dice.below(SEATS);
            let before = said.len();
            said.extend((0..=dice.below(3)).map(|more| format!("{} by {who}", before + more)));
            moot.send_together(who, &said[before..]);
            for _ in 0..dice.below(30) {
                moot.step(dice);
            }
        }
    };
    for (field, value) in changes {
        talk(moot, dice);
        moot.decide(&change(field, value), &[0, 1, 2]);
    }
    talk(moot, dice);
    said
}

#[test]
fn mem_05_a_group_moves_from_gdh_to_mls_and_from_aes_to_chacha_and_loses_nothing() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
        moot.settle(&mut dice);
        let all: Vec<usize> = (0..SEATS).collect();
        let before = suite(&moot, &all).unwrap();
        assert_eq!((before.0, before.1), (ModuleName::Gdh, Cipher::Aes256Gcm));
        let changes = [("contributory", "false"), ("keying", "mls"), ("cipher", "chacha20-poly1305")];
        let said = talk_and_change(&mut moot, &mut dice, &changes);
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        let after = suite(&moot, &all).unwrap();
        assert_eq!((after.0, after.1), (ModuleName::Mls, Cipher::ChaCha20Poly1305), "seed {seed}");
        assert_ne!(after.2, before.2);
        let wanted: BTreeSet<&String> = said.iter().collect();
        for number in &all {
            let heard = moot.texts(*number);
            assert_eq!(heard, moot.texts(0), "one order, seed {seed}");
            assert_eq!(heard.len(), said.len(), "each once");
            assert_eq!(heard.iter().collect::<BTreeSet<_>>(), wanted);
            assert!(moot.failures(*number).is_empty());
        }
    }
}

/// The same in the middle of views that change: a member that goes opens nothing that comes after
/// it.
#[test]
fn mem_05_changes_of_charter_and_of_members_mix() {
    for seed in 100..160 {
        let mut dice = Dice(seed);
        let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
        moot.settle(&mut dice);
        talk_and_change(&mut moot, &mut dice, &[("keying", "tgdh"), ("cipher", "chacha20-poly1305")]);
        moot.expel(3, &[0, 1, 2]);
        for _ in 0..dice.below(60) {
            moot.step(&mut dice);
        }
        moot.decide(&change("keying", "str"), &[0, 1, 2]);
        moot.send(1, "among three");
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        let after = suite(&moot, &[0, 1, 2]).unwrap();
        assert_eq!((after.0, after.1), (ModuleName::Str, Cipher::ChaCha20Poly1305), "seed {seed}");
        moot.no_key_for_the_gone().unwrap();
    }
}
