//! Runs with all rules, and with each rule left out. The table of seeds is in
//! docs/protocol/order.md.

use folkmoot_order::{Rule, Rules, World};
use std::collections::BTreeMap;

const TICKS: usize = 600;

/// Whether one of so many runs, from this seed on, shows a fault with these words in it.
#[track_caller]
fn shows(rule: Rule, words: &str, seed: u64, runs: u64) {
    let rules = Rules { without: Some(rule) };
    let found = (seed..seed + runs)
        .any(|seed| World::new(seed, rules).run(TICKS).is_err_and(|fault| fault.contains(words)));
    assert!(found, "without {}: no fault \"{words}\" in {runs} runs from {seed}", rule.name());
}

#[test]
fn all_rules_show_no_fault_and_the_hard_cases_occur() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 1..=1_500 {
        let mut world = World::new(seed, Rules::default());
        let result = world.run(TICKS);
        assert_eq!(result, Ok(()), "seed {seed}{}", world.history.describe());
        world.history.seen.iter().for_each(|(name, number)| *seen.entry(name).or_default() += number);
    }
    for (name, least) in [
        ("behind the known order", 1_000),
        ("crashes", 500),
        ("delivered past a hole", 50),
        ("failed with all ENDs", 200),
        ("holes", 100),
        ("left out past a hole", 20),
        ("partitions", 1_000),
        ("repairs", 1_000),
    ] {
        assert!(seen.get(name).is_some_and(|number| *number >= least), "{name}: {seen:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut world = World::new(seed, Rules::default());
        (world.run(TICKS), world.history.describe())
    };
    for seed in 1..20 {
        assert_eq!(run(seed), run(seed));
    }
}

#[test]
fn ord_01_a_record_names_its_holders_own_stream() {
    shows(Rule::OwnStream, "stands at", 1, 50);
    shows(Rule::OwnStream, "different orders", 7_500, 150);
}

#[test]
fn ord_02_a_record_stops_before_what_names_something_unordered() {
    shows(Rule::Names, "delivers Agreed", 1, 100);
}

#[test]
fn ord_03_safe_is_what_each_member_says_that_it_holds() {
    shows(Rule::HeldByAll, "delivers safe", 1_000, 100);
}

#[test]
fn ord_04_every_member_has_the_token_once_in_2n_passes() {
    shows(Rule::Turns, "was passed over", 1_400, 150);
}

#[test]
fn ord_05_the_token_parks_when_all_hold_all() {
    shows(Rule::Park, "never delivers", 1, 100);
    shows(Rule::Park, "never delivers Fifo", 450, 150);
}

#[test]
fn ord_06_a_parked_token_goes_round_and_who_waits_gathers() {
    shows(Rule::Rounds, "waits for a place", 1, 200);
}

#[test]
fn ord_07_what_is_weaker_than_agreed_waits_for_no_order() {
    shows(Rule::AtOnce, "keeps Fifo", 1, 10);
}

#[test]
fn ord_08_agreed_comes_after_all_that_its_source_sent_before() {
    shows(Rule::Prior, "without Fifo", 1, 200);
    shows(Rule::Prior, "delivers Agreed", 1, 200);
}

#[test]
fn ord_09_a_commit_entry_freezes_the_old_configuration() {
    shows(Rule::Freeze, "differ before the signal", 600, 100);
    shows(Rule::Freeze, "only the first delivered", 450, 100);
}

#[test]
fn ord_10_known_order_comes_first_and_a_hole_counts() {
    shows(Rule::KnownOrder, "different orders", 1, 200);
    shows(Rule::Hole, "delivers Agreed", 1, 200);
    shows(Rule::Needs, "without Causal", 5_200, 50);
}

#[test]
fn ord_11_behind_the_known_order_agreed_stands_by_sender() {
    shows(Rule::BySender, "after Behind", 200, 150);
}

#[test]
fn ord_12_an_undelivered_packet_is_a_hole_of_its_stream() {
    shows(Rule::Undelivered, "delivers Fifo", 1, 50);
}

#[test]
fn ord_13_lists_are_taken_over_with_all_ends_and_then_kept() {
    shows(Rule::AllEnds, "delivers Safe", 150, 100);
    shows(Rule::Obligations, "safe message", 1, 100);
}

#[test]
fn ord_14_places_behind_the_known_order_have_a_space_of_their_own() {
    shows(Rule::Places, "stands at", 1, 50);
}

#[test]
fn ord_15_what_one_delivered_all_deliver_who_go_on_with_it() {
    shows(Rule::Owed, "only the first delivered", 5_200, 50);
    shows(Rule::ReliablePastHole, "only the first delivered Reliable", 1, 50);
}
