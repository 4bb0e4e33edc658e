//! The drawer draws what it says: groups that decide, and changes that are refused.

use folkmoot_transcripts::{Group, drawn_heads, mutated, own, verdict};

#[test]
fn drawn_files_are_accepted_and_say_what_the_group_has() {
    let mut decided = 0;
    for seed in 1..12 {
        let mut group = Group::draw(seed).unwrap();
        let heads = drawn_heads(&mut group);
        let said = verdict(&group.file(), &heads);
        for (key, value) in own(&group).as_object().unwrap() {
            assert_eq!(said[key], *value, "seed {seed}: {key} of {said}");
        }
        decided += said["number"].as_u64().unwrap();
    }
    assert!(decided > 10, "{decided} decisions");
}

/// Voters signed together, and one of them was expelled before a decision held what they approved.
/// Nobody who comes later has that key, so whoever had verified the signature drops it.
#[test]
fn what_a_former_member_signed_with_others_is_not_kept() {
    for seed in [845, 965] {
        let mut group = Group::draw(seed).unwrap();
        let heads = drawn_heads(&mut group);
        let said = verdict(&group.file(), &heads);
        assert_eq!(said["set"], own(&group)["set"], "seed {seed}");
    }
}

/// Going over to another line, where other keys verify: what a certificate proves there is what a
/// reader makes of it.
#[test]
fn who_went_over_has_what_its_file_says() {
    for seed in [616, 831] {
        let mut group = Group::draw(seed).unwrap();
        let heads = drawn_heads(&mut group);
        let said = verdict(&group.file(), &heads);
        for key in ["accepted", "set", "roster"] {
            assert_eq!(said[key], own(&group)[key], "seed {seed}");
        }
    }
}

#[test]
fn one_seed_gives_one_file() {
    assert_eq!(Group::draw(3).unwrap().file(), Group::draw(3).unwrap().file());
}

#[test]
fn some_changes_are_refused_and_some_are_not() {
    let mut group = Group::draw(5).unwrap();
    let files: Vec<_> = (0..60).map(|_| mutated(&mut group).unwrap()).collect();
    let heads = drawn_heads(&mut group);
    let accepted = files.iter().filter(|(file, _)| verdict(file, &heads)["accepted"] == true).count();
    assert!((1..50).contains(&accepted), "{accepted} of 60 are accepted");
}
