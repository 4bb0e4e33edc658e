//! KEY-13: a run starts from what all say that they hold, and a member that says something
//! impossible gets no key.

use crate::common::member;
use crate::common::table::{Table, step};
use bytes::Bytes;
use folkmoot_base::{Instant, Keying as Rule, ModuleName};
use folkmoot_keying::message::{CONFIRM, REFRESH};
use folkmoot_keying::{Input, Output, State, View};

/// GDH's steps.
const KEY_LIST: u8 = 4;
const NEW_MEMBER: u8 = 5;
/// Three: PARTIALs, FINAL, FACT_OUTs, KEY_LIST.
const FROM_NOTHING: [u8; 6] = [1, 1, 2, 3, 3, 4];

/// `n` members, of which the first `first` are secure in the first view and have answered its
/// flush.
fn secured(n: usize, first: usize) -> Table {
    secured_with(n, first, ModuleName::Gdh)
}

fn secured_with(n: usize, first: usize, module: ModuleName) -> Table {
    let mut table = Table::new(n, None);
    table.terms.keying = Rule::Module(module);
    let members: Vec<usize> = (0..first).collect();
    table.install(1, &members);
    table.honest();
    flush(&mut table, &members);
    table.heard.clear();
    table.errors.iter_mut().for_each(Vec::clear);
    table
}

fn flush(table: &mut Table, members: &[usize]) {
    for to in members {
        table.give(*to, Input::FlushRequest).unwrap();
        table.give(*to, Input::SecureFlushOk).unwrap();
    }
}

/// The next view of these members: its steps without the confirmations, of which there is one for
/// each member.
fn next(table: &mut Table, order: u64, members: &[usize]) -> Vec<u8> {
    let before = table.keys();
    table.install(order, members);
    let steps = agreed(table, members);
    let keys = table.keys();
    assert!(members.iter().all(|one| keys[*one] != before[*one]), "a new key");
    steps
}

/// A run to its end.
fn agreed(table: &mut Table, members: &[usize]) -> Vec<u8> {
    table.honest();
    let keys = table.keys();
    for one in members {
        assert_eq!(table.keyings[*one].state(), State::Secure, "member {one}: {:?}", table.errors[*one]);
        assert_eq!(keys[*one], keys[members[0]]);
    }
    let (confirmed, steps): (Vec<u8>, Vec<u8>) =
        table.heard.drain(..).map(|(_, bytes)| step(&bytes)).partition(|step| *step == CONFIRM);
    assert_eq!(confirmed.len(), if members.len() > 1 { members.len() } else { 0 });
    steps
}

/// The view of these members, with a change to what `liar` says that it keeps.
fn with_word(table: &Table, members: &[usize], liar: usize, change: impl FnOnce(&mut Vec<u8>)) -> View {
    let mut view = table.view_of(2, members);
    let place = members.iter().position(|one| *one == liar).unwrap();
    let mut word = view.brought[place].to_vec();
    change(&mut word);
    view.brought[place] = Bytes::from(word);
    view
}

#[test]
fn key_13_a_leave_is_one_message_a_join_two_and_a_refresh_one() {
    for gone in 0..4 {
        let stay: Vec<usize> = (0..4).filter(|one| *one != gone).collect();
        assert_eq!(next(&mut secured(4, 4), 2, &stay), [KEY_LIST], "{gone} leaves");
    }
    assert_eq!(next(&mut secured(4, 3), 2, &[0, 1, 2, 3]), [NEW_MEMBER, KEY_LIST]);
    // One member comes in the middle of the list and one goes: a merge of one, in one run.
    assert_eq!(next(&mut secured(4, 3), 2, &[0, 2, 3]), [NEW_MEMBER, KEY_LIST]);

    let mut table = secured(3, 3);
    table.install(2, &[0, 1, 2]);
    table.honest();
    table.heard.clear();
    table.give(1, Input::Refresh).unwrap();
    table.honest();
    let steps: Vec<u8> = table.heard.iter().map(|(_, bytes)| step(bytes)).collect();
    assert_eq!(steps, [REFRESH, KEY_LIST, CONFIRM, CONFIRM, CONFIRM]);
    assert!(table.errors.iter().all(Vec::is_empty));
}

/// Two sides that were apart, each with a key of its own; then they are together, then members go
/// one by one.
#[test]
fn key_13_sides_meet_and_part_from_what_they_hold() {
    let mut table = secured(6, 6);
    assert_eq!(next(&mut table, 2, &[0, 2, 4]), [KEY_LIST]);
    assert_eq!(next(&mut table, 3, &[1, 3, 5]), [KEY_LIST]);
    flush(&mut table, &[0, 1, 2, 3, 4, 5]);
    // Of equal sides the one with the lowest place is the base: PARTIAL by its newest and two of
    // three newcomers, FINAL, five FACT_OUT, KEY_LIST.
    assert_eq!(next(&mut table, 4, &[0, 1, 2, 3, 4, 5]), [1, 1, 1, 2, 3, 3, 3, 3, 3, 4]);
    for (order, size) in (5..).zip((1..6).rev()) {
        let members: Vec<usize> = (0..size).collect();
        flush(&mut table, &members);
        let expected: &[u8] = if size > 1 { &[KEY_LIST] } else { &[] };
        assert_eq!(next(&mut table, order, &members), expected);
    }
}

/// What a member says that it keeps: version, run of 32 bytes, rank of 4, the module's name.
fn claim(rank: u8) -> impl Fn(&mut Vec<u8>) + Copy {
    move |word| word[36] = rank
}

#[test]
fn key_13_a_run_of_which_two_claim_one_place_is_nobodys() {
    for rank in [0, 2] {
        let mut table = secured(3, 3);
        let view = with_word(&table, &[0, 1, 2], 1, claim(rank));
        (0..3).for_each(|to| table.give(to, Input::View(view.clone())).unwrap());
        assert_eq!(agreed(&mut table, &[0, 1, 2]), FROM_NOTHING, "rank {rank}");
        assert!((0..3).all(|to| table.complaints(to).is_empty()));
    }
    // A stranger that repeats what it heard a member say.
    let mut table = secured(3, 2);
    let word = table.view_of(2, &[0]).brought[0].clone();
    let view = with_word(&table, &[0, 1, 2], 2, |said| *said = word.to_vec());
    (0..3).for_each(|to| table.give(to, Input::View(view.clone())).unwrap());
    assert_eq!(agreed(&mut table, &[0, 1, 2]), FROM_NOTHING);
}

#[test]
fn key_13_who_claims_a_place_that_nobody_had_is_complained_of_and_there_is_no_key() {
    let mut table = secured(3, 3);
    let view = with_word(&table, &[0, 1, 2], 1, claim(9));
    for to in 0..3 {
        table.give(to, Input::View(view.clone())).unwrap();
        assert_eq!(table.keyings[to].state(), State::Cascading);
        assert_eq!(table.complaints(to), [[member(1)]], "at {to}");
        table.give(to, Input::FlushRequest).unwrap();
    }
    // Without the liar's claim everything goes on.
    assert_eq!(next(&mut table, 3, &[0, 2]), [KEY_LIST]);
}

/// Members that do not know the run complain, too, if nobody can have had that place in any run.
#[test]
fn key_13_what_cannot_be_is_complained_of_by_the_other_side_too() {
    let mut table = secured_with(4, 0, ModuleName::Mls);
    assert!(next(&mut table, 1, &[0]).is_empty() && !next(&mut table, 1, &[1, 2, 3]).is_empty());
    flush(&mut table, &[0, 1, 2, 3]);
    let view = with_word(&table, &[0, 1, 2, 3], 3, |word| word[33] = 1);
    for to in 0..3 {
        // The first member does not know the run: its module refuses the plan. The others know
        // better than to try.
        let given = table.give(to, Input::View(view.clone()));
        assert_eq!(given.is_ok(), to > 0, "{given:?} at {to}");
        assert_eq!(table.complaints(to), [[member(3)]], "at {to}");
        assert_eq!(table.keyings[to].state(), State::Cascading);
        table.give(to, Input::FlushRequest).unwrap();
    }
    assert!(!next(&mut table, 4, &[0, 1, 2]).is_empty());
}

#[test]
fn key_13_a_word_that_says_nothing_is_a_newcomers() {
    let nonsense: [fn(&mut Vec<u8>); 5] = [
        Vec::clear,
        |word| word[0] = 2,
        |word| word.truncate(20),
        |word| word.push(b'x'),
        |word| word.iter_mut().for_each(|byte| *byte = 0xff),
    ];
    for (case, change) in nonsense.into_iter().enumerate() {
        let mut table = secured(3, 3);
        let view = with_word(&table, &[0, 1, 2], 1, change);
        (0..3).for_each(|to| table.give(to, Input::View(view.clone())).unwrap());
        table.honest();
        let keys = table.keys();
        assert!((0..3).all(|to| table.keyings[to].state() == State::Secure), "case {case}");
        assert!(keys.iter().all(|key| *key == keys[0]));
        let steps: Vec<u8> = table.heard.iter().map(|(_, bytes)| step(bytes)).collect();
        assert_eq!(steps, [NEW_MEMBER, KEY_LIST, CONFIRM, CONFIRM, CONFIRM], "case {case}");
    }
}

/// A member that was let down by a run which started from what it holds starts the next run from
/// nothing.
#[test]
fn key_13_after_a_complaint_the_next_run_starts_from_nothing() {
    let mut table = secured(3, 3);
    let held = table.view_of(2, &[0, 1, 2]).brought;
    assert!(held.iter().all(|word| !word.is_empty() && word.len() <= 64));
    table.install(2, &[0, 1, 2]);
    // The newest member of the run is silent: no KEY_LIST comes.
    table.log.clear();
    table.now = Instant(4_000_000);
    for to in [0, 1] {
        table.give(to, Input::Timeout).unwrap();
        assert_eq!(table.complaints(to).len(), 1);
        table.give(to, Input::TransitionalSignal).unwrap();
        table.give(to, Input::FlushRequest).unwrap();
    }
    assert!(table.view_of(3, &[0, 1]).brought.iter().all(Bytes::is_empty));
    assert_eq!(next(&mut table, 3, &[0, 1]), [1, 2, 3, 4], "from nothing");
    flush(&mut table, &[0, 1]);
    assert!(table.view_of(4, &[0, 1]).brought.iter().all(|word| !word.is_empty()), "trusted again");
}

/// If a new view overtakes a run, what was held stays as it was.
#[test]
fn key_13_a_run_that_is_overtaken_costs_nothing() {
    let mut table = secured(4, 4);
    let before = table.view_of(2, &[0, 1, 2]).brought;
    table.install(2, &[0, 1, 2, 3]);
    table.log.clear();
    for to in 0..3 {
        table.give(to, Input::TransitionalSignal).unwrap();
        table.give(to, Input::FlushRequest).unwrap();
    }
    assert_eq!(table.view_of(3, &[0, 1, 2]).brought, before);
    assert_eq!(next(&mut table, 3, &[0, 1, 2]), [KEY_LIST]);
    assert!(!table.outputs.iter().flatten().any(|output| matches!(output, Output::Complain { .. })));
}
