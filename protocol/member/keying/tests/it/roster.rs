//! KEY-12: what happens to views and keys when the roster loses a member, wherever in the order the
//! entry comes.

use crate::common::member;
use crate::common::table::Table;
use folkmoot_base::Party;
use folkmoot_keying::{Input, KeyingError, Output, State, View};

fn answers(table: &Table, of: usize) -> usize {
    table.outputs[of].iter().filter(|output| matches!(output, Output::FlushOk { .. })).count()
}

fn secure_views(table: &Table, of: usize) -> usize {
    table.outputs[of].iter().filter(|output| matches!(output, Output::SecureView(_))).count()
}

fn transitional_set(table: &Table, of: usize) -> Vec<Party> {
    let newest = table.outputs[of].iter().rev().find_map(|output| match output {
        Output::SecureView(view) => Some(view.transitional_set.clone()),
        _ => None,
    });
    newest.unwrap()
}

fn deliver(table: &mut Table, most: usize) {
    for _ in 0..most {
        let Some((from, bytes)) = table.log.pop_front() else { return };
        for to in 0..table.keyings.len() {
            if let Err(error) = table.say(to, from, &bytes) {
                table.errors[to].push(error);
            }
        }
    }
}

/// All these members are secure in the next view, with one key that is new.
fn goes_on(table: &mut Table, order: u64, members: &[usize]) {
    let before = table.keys();
    table.log.clear();
    table.install(order, members);
    deliver(table, usize::MAX);
    let keys = table.keys();
    for one in members {
        assert_eq!(table.keyings[*one].state(), State::Secure, "member {one}");
        assert_eq!(keys[*one], keys[members[0]]);
        assert_ne!(keys[*one], before[*one], "member {one}");
    }
}

#[test]
fn key_12_a_view_of_somebody_off_the_roster_gets_no_key_and_its_flush_is_answered() {
    for gone in [vec![2], vec![0, 2], vec![1, 2, 3], vec![0, 1, 2, 3]] {
        let mut table = Table::new(4, None);
        table.off.extend(&gone);
        table.start(1);
        for to in 0..4 {
            assert_eq!(table.keyings[to].state(), State::Cascading, "also of those who are gone themselves");
            assert!(!table.outputs[to].iter().any(|output| matches!(output, Output::Send { .. })));
            assert!(table.keyings[to].poll_timeout().is_none() && table.keyings[to].awaited().is_empty());
            table.give(to, Input::TransitionalSignal).unwrap();
            table.give(to, Input::FlushRequest).unwrap();
            assert_eq!(answers(&table, to), 1);
            let twice = table.give(to, Input::FlushRequest);
            assert_eq!(twice, Err(KeyingError::LocalOutOfTurn("flush request")));
        }
        let left: Vec<usize> = (0..4).filter(|number| !gone.contains(number)).collect();
        if !left.is_empty() {
            goes_on(&mut table, 2, &left);
        }
    }
}

#[test]
fn key_12_several_keyless_views_in_a_row() {
    let mut table = Table::new(4, None);
    table.start(1);
    deliver(&mut table, usize::MAX);
    table.flush();
    for (order, gone) in [(2, 3), (3, 2), (4, 1)] {
        table.off.insert(gone);
        let members: Vec<usize> = (0..=gone).collect();
        table.install(order, &members);
        table.give(0, Input::TransitionalSignal).unwrap();
        table.give(0, Input::FlushRequest).unwrap();
        assert_eq!(table.keyings[0].state(), State::Cascading);
    }
    goes_on(&mut table, 5, &[0]);
    let signals = table.outputs[0].iter().filter(|output| matches!(output, Output::SecureTransitional));
    assert_eq!(signals.count(), 1, "one for the one secure view that ended");
    assert_eq!(transitional_set(&table, 0), [member(0)]);
}

/// The entry comes after k messages of the run: the view is never installed, whether or not its run
/// can end.
#[test]
fn key_12_an_entry_between_view_and_key_keeps_the_view_from_being_secure() {
    for gone in 0..3 {
        for asked_first in [false, true] {
            for k in 0..9 {
                let mut table = Table::new(3, None);
                table.start(1);
                let stay: Vec<usize> = (0..3).filter(|number| *number != gone).collect();
                if asked_first {
                    stay.iter().for_each(|to| table.give(*to, Input::FlushRequest).unwrap());
                }
                deliver(&mut table, k);
                table.off.insert(gone);
                deliver(&mut table, usize::MAX);
                for to in &stay {
                    assert_eq!(secure_views(&table, *to), 0, "{gone} gone after {k} messages");
                    table.give(*to, Input::TransitionalSignal).unwrap();
                    if !asked_first {
                        table.give(*to, Input::FlushRequest).unwrap();
                    }
                    assert_eq!(answers(&table, *to), 1, "{gone} gone after {k} messages, {asked_first}");
                    assert_eq!(table.keyings[*to].state(), State::Cascading);
                }
                goes_on(&mut table, 2, &stay);
            }
        }
    }
}

/// Clocks differ: after k messages of the run the term of one is over here, and not elsewhere. The
/// run ends alike for all; the next view begins none here.
#[test]
fn key_12_a_term_that_is_over_here_ends_no_run_that_has_begun() {
    for (k, gone) in (0..9).flat_map(|k| [(k, 1), (k, 2)]) {
        let mut table = Table::new(3, None);
        table.start(1);
        deliver(&mut table, k);
        table.ended.insert((0, gone));
        deliver(&mut table, usize::MAX);
        let secure: Vec<usize> = (0..3).map(|to| secure_views(&table, to)).collect();
        assert_eq!(secure, [1; 3], "{gone} after {k} messages");
        table.flush();
        table.install(2, &[0, 1, 2]);
        assert_eq!(table.keyings[0].state(), State::Cascading);
    }
}

#[test]
fn key_12_no_new_key_in_a_view_that_has_lost_somebody() {
    // REFRESH, the module's one step, three confirmations.
    for k in 0..5 {
        let mut table = Table::new(3, None);
        table.start(1);
        deliver(&mut table, usize::MAX);
        let keys = table.keys();
        table.give(0, Input::Refresh).unwrap();
        deliver(&mut table, k);
        table.off.insert(2);
        deliver(&mut table, usize::MAX);
        for to in [0, 1] {
            assert_eq!(table.keys()[to], keys[to], "the entry came after {k} messages");
            assert!(k > 0 || table.keyings[to].poll_timeout().is_none(), "not even begun");
            table.give(to, Input::TransitionalSignal).unwrap();
            table.give(to, Input::FlushRequest).unwrap();
            table.give(to, Input::SecureFlushOk).unwrap();
            assert_eq!(answers(&table, to), 1);
        }
        goes_on(&mut table, 2, &[0, 1]);
    }
}

/// A member that was not with us in the keyless view did not come along, although it is with us
/// again in the next view.
#[test]
fn key_12_a_keyless_view_counts_for_the_transitional_set() {
    let mut table = Table::new(3, None);
    table.start(1);
    deliver(&mut table, usize::MAX);
    table.flush();
    table.off.insert(2);
    let alone = View { transitional_set: vec![member(0)], ..table.view_of(2, &[0, 1, 2]) };
    table.give(0, Input::View(alone)).unwrap();
    table.give(0, Input::FlushRequest).unwrap();
    let both = table.view_of(2, &[0, 1, 2]);
    table.give(1, Input::View(both)).unwrap();
    table.give(1, Input::FlushRequest).unwrap();
    goes_on(&mut table, 3, &[0, 1]);
    assert_eq!(transitional_set(&table, 0), [member(0)]);
    assert_eq!(transitional_set(&table, 1), [member(0), member(1)]);
}
