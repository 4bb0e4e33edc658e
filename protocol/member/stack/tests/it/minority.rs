//! MEM-04: what a charter allows the smaller side of a split to do (docs/decisions/0007):
//! everything, to read, or nothing.

use crate::common::Moot;
use crate::common::people::{Dice, electorate, id};
use folkmoot_identity::Minority;
use folkmoot_member::SendError;
use std::collections::BTreeSet;

fn moot(seats: usize, minority: Minority) -> (Moot, Dice) {
    let mut dice = Dice(3);
    let mut moot = Moot::new(seats, seats, minority, None);
    moot.settle(&mut dice);
    moot.is_well().unwrap();
    (moot, dice)
}

fn split(moot: &mut Moot, dice: &mut Dice, part: &[usize]) {
    moot.split(&part.iter().copied().collect::<BTreeSet<usize>>());
    moot.settle(dice);
    moot.is_well().unwrap();
}

#[test]
fn mem_04_a_minority_does_not_send_unless_the_charter_lets_it() {
    for minority in [Minority::Continue, Minority::ReadOnly, Minority::Stop] {
        let (mut moot, mut dice) = moot(3, minority);
        split(&mut moot, &mut dice, &[2]);
        moot.send(0, "of the many");
        moot.send(2, "of the few");
        moot.settle(&mut dice);
        assert_eq!(moot.texts(0), ["of the many"]);
        assert_eq!(moot.texts(1), ["of the many"]);
        let free = minority == Minority::Continue;
        assert_eq!(moot.texts(2), if free { vec!["of the few"] } else { vec![] }, "{minority:?}");
        assert_eq!(moot.failures(2), if free { vec![] } else { vec![SendError::LocalMinority] });
        moot.heal();
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        moot.send(2, "together again");
        moot.settle(&mut dice);
        assert!((0..3).all(|number| moot.texts(number).last().unwrap() == "together again"));
    }
}

/// Of two halves, the one with the voter that is listed first is a quorum.
#[test]
fn mem_04_of_two_halves_the_one_with_the_first_voter_goes_on() {
    let (mut moot, mut dice) = moot(4, Minority::ReadOnly);
    let first = moot.chairs[0].member.transcript().roster().electorate()[0];
    let first = (0..4).find(|number| id(*number) == first).unwrap();
    let other = (first + 1) % 4;
    let (with, without): (Vec<usize>, Vec<usize>) =
        ([first, other].to_vec(), (0..4).filter(|number| ![first, other].contains(number)).collect());
    split(&mut moot, &mut dice, &with);
    for number in 0..4 {
        moot.send(number, "half");
    }
    moot.settle(&mut dice);
    assert!(with.iter().all(|number| moot.failures(*number).is_empty() && moot.texts(*number).len() == 2));
    assert!(without.iter().all(|number| moot.failures(*number) == [SendError::LocalMinority]));
    assert!(without.iter().all(|number| moot.texts(*number).is_empty()));
}

/// A message handed in while the key was pending was accepted: it is neither sent in a minority's
/// view nor dropped.
#[test]
fn mem_04_what_waits_for_a_key_waits_for_a_quorum_too() {
    for minority in [Minority::ReadOnly, Minority::Stop] {
        let (mut moot, mut dice) = moot(3, minority);
        moot.split(&BTreeSet::from([2]));
        assert!(moot.listen(2), "the signal");
        moot.merge(2);
        assert!(moot.listen(2), "the notice: no key now");
        moot.send(2, "held");
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        assert!(moot.texts(2).is_empty() && moot.failures(2).is_empty());
        moot.heal();
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        assert!((0..3).all(|number| moot.texts(number) == ["held"]), "{minority:?}");
    }
}

/// The side is judged again at every item. One message is ordered after the item that leaves this
/// view without a quorum. A minority that may read reads it, and a minority that must stop does
/// not; no member sends anything further.
#[test]
fn mem_04_a_minority_that_must_stop_reads_nothing_either() {
    for minority in [Minority::Continue, Minority::ReadOnly, Minority::Stop] {
        let (mut moot, mut dice) = moot(5, minority);
        split(&mut moot, &mut dice, &[0, 1, 2]);
        moot.send(1, "before");
        moot.settle(&mut dice);
        moot.send(0, "on its way");
        moot.decide(&electorate(&[3, 4]), &[0, 1, 2]);
        moot.settle(&mut dice);
        let read = minority != Minority::Stop;
        let expected = if read { vec!["before", "on its way"] } else { vec!["before"] };
        assert!((0..3).all(|number| moot.texts(number) == expected), "{minority:?}");
        moot.send(2, "more");
        moot.settle(&mut dice);
        let may = minority == Minority::Continue;
        assert_eq!(moot.texts(0).contains(&"more".to_owned()), may);
        assert_eq!(moot.failures(2), if may { vec![] } else { vec![SendError::LocalMinority] });
        moot.heal();
        moot.settle(&mut dice);
        moot.is_well().unwrap();
        moot.send(2, "with the voters");
        moot.settle(&mut dice);
        assert!((0..5).all(|number| moot.texts(number).last().unwrap() == "with the voters"));
    }
}

/// The other way round: a decision makes voters of the members here, and the messages that they
/// hold go out in the same view.
#[test]
fn mem_04_a_decision_can_give_a_quorum_back() {
    let (mut moot, mut dice) = moot(5, Minority::ReadOnly);
    split(&mut moot, &mut dice, &[0, 1, 2]);
    moot.decide(&electorate(&[3, 4, 1, 2]), &[0, 1, 2]);
    moot.settle(&mut dice);
    moot.send(2, "too few");
    assert_eq!(moot.failures(2), [SendError::LocalMinority], "two of four, without the first");
    assert_eq!(moot.chairs[0].member.transcript().roster().head().number, 1);
    let view = moot.view(2).unwrap();
    moot.expel(4, &[1, 2, 3]);
    moot.settle(&mut dice);
    assert_eq!(moot.view(2).unwrap(), view, "who was not here is gone from the roster: the view stays");
    moot.send(2, "two of three");
    moot.settle(&mut dice);
    assert!((0..3).all(|number| moot.texts(number) == ["two of three"]));
}
