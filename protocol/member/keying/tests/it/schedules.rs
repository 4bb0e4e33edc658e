//! Whatever changes in the middle of an agreement: a view has one key, no two views have the same,
//! members that move on together install the same, and when the changes stop every member is
//! secure. Random schedules on the model of tests/it/common; mutants must fail.

use crate::common::model::{Signal, Told, play, play_with};
use folkmoot_base::{Danger, ModuleName};

/// Schedules for each line; `FOLKMOOT_SCHEDULES=20000` for the long run.
fn schedules() -> u64 {
    std::env::var("FOLKMOOT_SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_200)
}

fn all_pass(mode: Signal) {
    let mut sum = Told::default();
    for seed in 0..schedules() {
        let told = play(seed, mode, None).unwrap_or_else(|fault| panic!("seed {seed}, {mode:?}: {fault}"));
        sum.views += told.views;
        sum.refreshed += told.refreshed;
        sum.keyless += told.keyless;
    }
    assert!(
        sum.views > 3_000 && sum.refreshed > 300 && sum.keyless > 30,
        "the schedules do something: {sum:?}"
    );
}

#[test]
fn signal_only_when_a_member_goes() {
    all_pass(Signal::OnRemoval);
}

#[test]
fn signal_at_every_change() {
    all_pass(Signal::Always);
}

/// Every module under the same changes; the number of schedules depends on what its runs cost.
#[test]
fn every_module_under_every_change() {
    for module in ModuleName::ALL {
        let mut sum = Told::default();
        for seed in 0..schedules() / 12 {
            let mode = if seed % 2 == 0 { Signal::OnRemoval } else { Signal::Always };
            let told = play_with(*module, seed, mode, None);
            let told =
                told.unwrap_or_else(|fault| panic!("{} seed {seed}, {mode:?}: {fault}", module.as_str()));
            sum.views += told.views;
            sum.refreshed += told.refreshed;
        }
        assert!(sum.views > 200 && sum.refreshed > 20, "{}: {sum:?}", module.as_str());
    }
}

/// The faults that a mutant shows over the schedules, the first of each kind that matters.
fn faults(danger: Danger, mode: Signal, kinds: &[&str]) -> Option<String> {
    (0..schedules())
        .filter_map(|seed| play(seed, mode, Some(danger)).err())
        .find(|fault| kinds.iter().any(|kind| fault.contains(kind)))
}

#[test]
fn without_rule_h_a_join_in_the_middle_deadlocks() {
    assert!(faults(Danger::KeyingNoRuleH, Signal::OnRemoval, &["deadlock"]).is_some());
}

#[test]
fn answering_the_flush_in_the_key_list_splits_those_who_move_together() {
    assert!(
        faults(Danger::KeyingFlushInKeyList, Signal::OnRemoval, &["some installed", "deadlock"]).is_some()
    );
    assert!(faults(Danger::KeyingFlushInKeyList, Signal::Always, &["some installed"]).is_some());
}

#[test]
fn an_agreed_decision_leaves_survivors_without_it() {
    let fault = faults(Danger::KeyingKeyListAgreed, Signal::OnRemoval, &["without what decided it"]);
    assert!(fault.is_some());
}

#[test]
fn without_confirmation_a_view_is_installed_before_all_have_the_key() {
    assert!(faults(Danger::KeyingNoConfirm, Signal::OnRemoval, &["had the key"]).is_some());
}

#[test]
fn a_reused_key_is_seen() {
    assert!(faults(Danger::KeyingReusesKey, Signal::OnRemoval, &["one key for two epochs"]).is_some());
}

#[test]
fn a_key_shared_with_the_expelled_is_seen() {
    assert!(faults(Danger::KeyingKeepsExpelled, Signal::OnRemoval, &["off the roster"]).is_some());
}
