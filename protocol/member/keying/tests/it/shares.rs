//! KEY-20 to KEY-22: how steps are sent, what distant parties agree with, and the shares that they
//! tell beforehand.

use crate::common::member;
use crate::common::table::{Table, step};
use bytes::Bytes;
use folkmoot_base::{Danger, Keying as Rule, ModuleName, Service};
use folkmoot_keying::message::CONFIRM;
use folkmoot_keying::{Input, Output, State, View};

/// TGDH's steps: a side's tree, and what a sponsor tells.
const TREE: u8 = 1;
const KEYS: u8 = 2;

fn distant(n: usize, danger: Option<Danger>) -> Table {
    let mut table = Table::new(n, danger);
    (table.terms.keying, table.terms.far) = (Rule::BySize, true);
    table
}

/// Each was alone in a view, and has answered its flush.
fn apart(n: usize, danger: Option<Danger>) -> Table {
    let mut table = distant(n, danger);
    for one in 0..n {
        table.install(1, &[one]);
        flush(&mut table, &[one]);
    }
    table
}

fn flush(table: &mut Table, members: &[usize]) {
    for to in members {
        table.give(*to, Input::FlushRequest).unwrap();
        table.give(*to, Input::SecureFlushOk).unwrap();
    }
}

/// The steps of a view of these, and who took them; all have one key then.
fn together(table: &mut Table, order: u64, members: &[usize], last: usize) -> Vec<(usize, u8)> {
    table.heard.clear();
    for to in members {
        let view = View { last: member(last), ..table.view_of(order, members) };
        table.give(*to, Input::View(view)).unwrap();
    }
    table.honest();
    let keys = table.keys();
    for one in members {
        assert_eq!(table.keyings[*one].state(), State::Secure, "{one}: {:?}", table.errors[*one]);
        assert_eq!(keys[*one], keys[members[0]]);
    }
    table
        .heard
        .iter()
        .map(|(from, bytes)| (*from, step(bytes)))
        .filter(|(_, step)| *step != CONFIRM)
        .collect()
}

fn module(table: &Table) -> ModuleName {
    let secure = table.outputs[0].iter().rev().find_map(|output| match output {
        Output::SecureView(view) => Some(view.epoch.module),
        _ => None,
    });
    secure.unwrap()
}

#[test]
fn key_20_a_modules_steps_are_agreed_and_confirmations_safe() {
    let mut table = Table::new(4, None);
    table.start(1);
    table.honest();
    for (step, service) in &table.services {
        assert_eq!(*service, if *step == CONFIRM { Service::Safe } else { Service::Agreed });
    }
}

#[test]
fn key_21_distant_parties_use_key_trees_unless_the_charter_names_a_module() {
    let mut table = distant(3, None);
    together(&mut table, 1, &[0, 1, 2], 0);
    assert_eq!(module(&table), ModuleName::Tgdh);
    table.terms.far = false;
    flush(&mut table, &[0, 1, 2]);
    together(&mut table, 2, &[0, 1, 2], 0);
    assert_eq!(module(&table), ModuleName::Gdh);
    for named in [ModuleName::Gdh, ModuleName::Bd] {
        table.terms.far = true;
        table.terms.keying = Rule::Module(named);
        flush(&mut table, &[0, 1, 2]);
        together(&mut table, 3 + named as u64, &[0, 1, 2], 0);
        assert_eq!(module(&table), named);
    }
}

#[test]
fn key_22_whoever_completes_the_view_tells_the_keys_and_nobody_tells_a_tree() {
    for n in 2..=8 {
        for last in 0..n {
            let mut table = apart(n, None);
            let steps = together(&mut table, 2, &(0..n).collect::<Vec<_>>(), last);
            assert!(steps.iter().all(|(_, step)| *step >= KEYS), "{steps:?}");
            assert_eq!(steps.contains(&(last, KEYS)), n > 2, "{steps:?}");
            assert!(n != 3 || steps == [(last, KEYS)], "{steps:?}");
        }
    }
}

#[test]
fn key_22_without_it_all_tell_their_trees_first() {
    let mut table = apart(3, Some(Danger::KeyingSharesLate));
    let steps = together(&mut table, 2, &[0, 1, 2], 2);
    assert_eq!(steps.iter().filter(|(_, step)| *step == TREE).count(), 3, "{steps:?}");
}

/// A party that comes to two that hold a key, and one that has said nothing of its share.
#[test]
fn key_22_shares_of_some_count_and_the_others_tell_trees() {
    let mut table = distant(4, None);
    together(&mut table, 1, &[0, 1], 0);
    table.install(2, &[2]);
    flush(&mut table, &[0, 1, 2]);
    let steps = together(&mut table, 3, &[0, 1, 2, 3], 2);
    let trees: Vec<usize> = steps.iter().filter(|(_, step)| *step == TREE).map(|(from, _)| *from).collect();
    assert!(trees.contains(&3) && !trees.contains(&2) && trees.len() == 2, "{steps:?}");
}

fn share(table: &Table, of: usize) -> Bytes {
    table.view_of(9, &[of]).brought[0].slice(1..33)
}

#[test]
fn key_22_no_share_is_told_for_two_views() {
    let mut table = apart(3, None);
    let all = [0, 1, 2];
    let mut told = vec![share(&table, 0)];
    for order in 2..6 {
        together(&mut table, order, &all, 1);
        flush(&mut table, &all);
        told.push(share(&table, 0));
    }
    let count = told.len();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), count);
}

/// The node of 1 puts another share into its FLUSH_OK, for one that it knows itself.
#[test]
fn key_22_a_share_that_its_party_did_not_tell_brings_nobody_a_key() {
    let mut table = apart(3, None);
    let other = apart(3, None);
    let foreign = { share(&other, 2) };
    for to in 0..3 {
        let mut view = View { last: member(0), ..table.view_of(2, &[0, 1, 2]) };
        let mut said = view.brought[1].to_vec();
        said[1..33].copy_from_slice(&foreign);
        view.brought[1] = said.into();
        let _ = table.give(to, Input::View(view));
    }
    table.honest();
    assert!(table.keyings.iter().all(|keying| keying.state() != State::Secure));
}

#[test]
fn key_22_a_share_that_is_no_element_is_complained_of() {
    let mut table = apart(3, None);
    for to in 0..3 {
        let mut view = View { last: member(0), ..table.view_of(2, &[0, 1, 2]) };
        let mut said = view.brought[1].to_vec();
        said[1..33].fill(0xff);
        view.brought[1] = said.into();
        assert!(table.give(to, Input::View(view)).is_err());
    }
    for to in [0, 2] {
        assert_eq!(table.complaints(to), [vec![member(1)]]);
        // The flush is answered.
        table.give(to, Input::FlushRequest).unwrap();
        assert!(matches!(table.outputs[to].last(), Some(Output::FlushOk { .. })));
    }
}
