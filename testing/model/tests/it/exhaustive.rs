//! Every state of three members under changes at every point. The machine as built breaks no
//! promise and always ends with everybody secure. With a rule off, the search finds what that rule
//! is for, by the shortest way. `cargo xtask verify` runs the program for three changes of every
//! kind, as built, without rule H and without K1.

use folkmoot_model::{
    Fault, NAMES, Orders, Report, Rules, Scope, World, beginnings, explore, seek, survey, words,
};

/// Takes three changes: one joins alone, the next in its run, somebody leaves.
const LATE: &str = "signal while NM holds";

fn ordered(changes: u8) -> Scope {
    Scope { crashes: false, cuts: false, ..Scope::all(changes) }
}

fn sound(name: &str, scope: &Scope, rules: &Rules, least: usize) -> Report {
    let report = explore(&beginnings(scope), rules, scope);
    if let Some(found) = &report.found {
        panic!("{name}:\n{}", words::lines(found, rules).join("\n"));
    }
    let Report { states, steps, depth, ends, .. } = &report;
    println!("{name}: {states} states, {steps} steps, {ends} ends, depth {depth}");
    assert!(*states > least, "{name}: {states} states; did the model shrink?");
    report
}

#[test]
fn two_changes_of_every_kind_break_nothing() {
    let report = sound("two changes of every kind", &Scope::all(2), &Rules::default(), 800_000);
    let unseen =
        |name: &&&str| !report.marks.contains(**name) && **name != LATE && !name.starts_with("early");
    let unseen: Vec<_> = NAMES.iter().filter(unseen).collect();
    assert!(unseen.is_empty(), "never seen: {unseen:?}");
    let walked =
        |orders| survey(&beginnings(&Scope::all(2)), (&Rules::default(), &Scope::all(2)), orders, |_| {});
    let seen = |report: &Report| (report.states, report.steps, report.ends, report.marks.clone());
    assert_eq!(seen(&walked(Orders::All)), seen(&report), "depth first sees what breadth first sees");
    let enough = walked(Orders::Enough);
    println!("enough orders of them: {} states, {} steps, {} ends", enough.states, enough.steps, enough.ends);
    assert!(enough.found.is_none() && enough.states < report.states * 2 / 3);
    assert_eq!((enough.ends, enough.marks), (report.ends, report.marks), "and comes to the same ends");
}

/// With any rule off, at every size: the walk finds a fault in enough orders if there is one in
/// any, and a way that leads there.
#[test]
fn enough_orders_have_every_fault_that_all_have() {
    let whole = Rules::default();
    let off = [
        whole,
        Rules { rule_h: false, ..whole },
        Rules { k1: false, ..whole },
        Rules { key_list_holds: false, ..whole },
        Rules { confirmation: false, ..whole },
        Rules { safe_list: false, ..whole },
        Rules { rule_h: false, k1: false, ..whole },
        Rules { safe_list: false, confirmation: false, ..whole },
    ];
    let early = [
        whole,
        Rules { prior: false, ..whole },
        Rules { early_held: false, ..whole },
        Rules { removed_named: false, ..whole },
        Rules { named_awaited: false, ..whole },
        Rules { freeze: false, ..whole },
        Rules { k1: false, freeze: false, ..whole },
    ];
    let scopes = [Scope::all(0), Scope::joins(1), Scope::all(1), Scope::joins(2), ordered(2), Scope::all(2)];
    let with_one = [Scope::all(0), Scope::joins(1), Scope::all(1)].map(|scope| scope.with_messages(1));
    let mut faults = 0;
    let all = off.iter().flat_map(|rules| scopes.iter().map(move |scope| (rules, scope)));
    let early = early.iter().flat_map(|rules| with_one.iter().map(move |scope| (rules, scope)));
    for (rules, scope) in all.chain(early) {
        for root in beginnings(scope) {
            let found = |orders| walked(&root, rules, scope, orders);
            let all = found(Orders::All);
            assert_eq!(found(Orders::Enough), all, "{rules:?} {scope:?}");
            faults += usize::from(all);
        }
    }
    println!("a fault from {faults} beginnings");
    assert!(faults > 80);
}

/// Whether there is a fault. If so, the way that is told leads there.
fn walked(root: &World, rules: &Rules, scope: &Scope, orders: Orders) -> bool {
    let mut told = 0;
    let report = survey(std::slice::from_ref(root), (rules, scope), orders, |states| told = states);
    assert_eq!(told, report.states);
    let Some(found) = report.found else { return false };
    let (mut world, mut fault) = (found.root.clone(), None);
    for action in &found.actions {
        assert!(fault.is_none() && world.actions(rules, scope).contains(action), "{action:?}");
        let next = world.act(*action, rules);
        (world, fault) = (next.world, next.fault);
    }
    assert_eq!(fault.or(world.judge_rest(rules)), Some(found.fault), "{rules:?}");
    true
}

#[test]
fn flushes_that_are_asked_early_break_nothing() {
    sound("three joins, flush asked early", &Scope::joins(3), &Rules::early(), 10_000);
    sound("two ordered changes, flush asked early", &ordered(2), &Rules::early(), 200_000);
}

/// What is done at once changes nothing that can be reached in the end.
#[test]
fn every_read_a_step_of_its_own_ends_alike() {
    let every = Rules { every_read: true, ..Rules::default() };
    for scope in [Scope::joins(1), Scope { joins: false, ..ordered(1) }, Scope::joins(0)] {
        let slow = sound("every read a step", &scope, &every, 1_900);
        let quick = explore(&beginnings(&scope), &Rules::default(), &scope);
        assert_eq!(slow.ends, quick.ends, "{scope:?}");
    }
}

fn finds(rules: &Rules, scope: &Scope, fault: Fault) {
    let report = seek(&beginnings(scope), rules, scope, fault);
    let found = report.found.unwrap_or_else(|| panic!("{fault:?} is not found"));
    assert_eq!(found.fault, fault);
    println!("{}\n", words::lines(&found, rules).join("\n"));
}

/// One message on its way, FIFO or reliable, from whoever is secure: it arrives at every moment
/// that the ring allows, and all who move on together have delivered it in its view.
#[test]
fn early_messages_break_nothing() {
    let scope = Scope::all(1).with_messages(1);
    let report = sound("one change of every kind, one early message", &scope, &Rules::default(), 50_000);
    let unseen: Vec<_> =
        NAMES.iter().filter(|name| name.starts_with("early") && !report.marks.contains(**name)).collect();
    assert_eq!(unseen, vec![&"early named and not to be had"], "that takes an expulsion and a cut");
    let scope = Scope { joins: false, leaves: false, crashes: false, ..Scope::all(2) }.with_messages(1);
    let report = sound("an expulsion and a cut, one early message", &scope, &Rules::default(), 50_000);
    assert!(report.marks.contains("early named and not to be had"));
}

#[test]
fn without_rule_5_a_flush_ok_overtakes_a_reliable_message() {
    let rules = Rules { prior: false, ..Rules::default() };
    finds(&rules, &Scope::joins(1).with_messages(1), Fault::Differ);
}

#[test]
fn without_rule_7_a_message_that_comes_before_its_key_is_dropped() {
    let rules = Rules { early_held: false, ..Rules::default() };
    finds(&rules, &Scope::joins(0).with_messages(1), Fault::Undelivered);
}

#[test]
fn without_rule_7_a_message_of_the_expelled_is_delivered_by_some() {
    let expulsions = Scope { joins: false, leaves: false, crashes: false, cuts: false, ..Scope::all(1) };
    let rules = Rules { removed_named: false, ..Rules::default() };
    finds(&rules, &expulsions.with_messages(1), Fault::Differ);
}

#[test]
fn without_rule_7_who_lacks_what_is_named_installs_without_it() {
    let scope = Scope { joins: false, leaves: false, crashes: false, cuts: false, ..Scope::all(1) };
    let rules = Rules { named_awaited: false, ..Rules::default() };
    finds(&rules, &scope.with_messages(1), Fault::Differ);
}

/// Whoever has it names it, and the other waits for it in vain. If nobody named anything, one of
/// the two would deliver it.
#[test]
fn without_rule_8_a_message_comes_after_the_commit_entry() {
    let crashes = Scope { joins: false, leaves: false, expulsions: false, cuts: false, ..Scope::all(1) };
    let scope = crashes.with_messages(1);
    let off = |freeze, removed_named| Rules { freeze, removed_named, ..Rules::default() };
    finds(&off(false, true), &scope, Fault::Deadlock);
    finds(&off(false, false), &scope, Fault::Differ);
    sound("crashes, and nobody names anything", &scope, &off(true, false), 5_000);
}

#[test]
fn without_rule_h_joins_alone_deadlock() {
    finds(&Rules { rule_h: false, ..Rules::default() }, &Scope::joins(3), Fault::Deadlock);
}

#[test]
fn without_k1_a_leave_in_a_run_deadlocks() {
    let scope = Scope { joins: false, ..ordered(3) };
    finds(&Rules { k1: false, ..Rules::default() }, &scope, Fault::Deadlock);
}

#[test]
fn a_key_list_that_does_not_hold_deadlocks_and_splits() {
    finds(&Rules { key_list_holds: false, ..Rules::default() }, &Scope::joins(1), Fault::Deadlock);
    finds(&Rules { key_list_holds: false, ..Rules::early() }, &Scope::joins(1), Fault::SomeInstalled);
}

#[test]
fn without_confirmation_a_view_is_installed_too_early() {
    finds(&Rules { confirmation: false, ..Rules::default() }, &Scope::joins(0), Fault::BeforeAllHadTheKey);
}

/// KEY-23: a carrier says one member's confirmation in another's name, at any moment.
#[test]
fn reflected_confirmations_break_nothing() {
    let scope = Scope::all(1).with_reflections(1);
    sound("one change of every kind, one reflection", &scope, &Rules::default(), 50_000);
    sound("no change, two reflections", &Scope::all(0).with_reflections(2), &Rules::default(), 500);
}

#[test]
fn where_a_confirmation_counts_in_any_name_a_view_is_installed_too_early() {
    let rules = Rules { own_confirmation: false, ..Rules::default() };
    finds(&rules, &Scope::all(0).with_reflections(1), Fault::BeforeAllHadTheKey);
}

#[test]
fn decisions_that_are_only_agreed_do_not_reach_survivors() {
    let scope = Scope { joins: false, leaves: false, expulsions: false, ..Scope::all(1) };
    finds(&Rules { safe_list: false, ..Rules::default() }, &scope, Fault::WithoutDecision);
}
