//! MEM-03 and what it rests on: the roster loses members at any place in the order, one or several
//! at once, while others leave and join. The members that stay meet in a view of exactly them,
//! under a key that nobody else has.

use crate::common::Moot;
use crate::common::people::{Dice, id, party};
use folkmoot_base::{Cause, Danger, Party};
use folkmoot_identity::Minority;
use folkmoot_member::{Command, SendError};
use std::collections::BTreeSet;

fn moot(seats: usize, founders: usize) -> (Moot, Dice) {
    let mut dice = Dice(9);
    let mut moot = Moot::new(seats, founders, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.is_well().unwrap();
    (moot, dice)
}

fn members(of: &[usize]) -> Vec<Party> {
    let mut members: Vec<Party> = of.iter().map(|number| party(*number)).collect();
    members.sort_unstable();
    members
}

/// Sends everything that this member has to send, if its messages may be ordered.
fn speak(moot: &mut Moot, number: usize) {
    while moot.speak(number) {}
}

fn listen(moot: &mut Moot, number: usize) {
    while moot.listen(number) {}
}

/// Settles. All of `stay` are in one view, all of `gone` were told once, and what one member sends
/// all receive.
fn ends_well(moot: &mut Moot, dice: &mut Dice, stay: &[usize], gone: &[usize]) {
    moot.settle(dice);
    moot.is_well().unwrap();
    for number in stay {
        assert_eq!(moot.view(*number).unwrap().1, members(stay), "{number}");
    }
    for number in gone {
        assert_eq!(moot.removals(*number), [Cause::Expelled], "{number}");
    }
    moot.send(stay[0], "to those who stay");
    moot.settle(dice);
    moot.is_well().unwrap();
    for number in 0..moot.chairs.len() {
        let heard = moot.texts(number).contains(&"to those who stay".to_owned());
        assert_eq!(heard, stay.contains(&number), "{number}");
    }
}

/// A message for the next view is on its way when an item removes a member of that view from the
/// roster, and no notice says so yet: the view comes without a key, and goes.
#[test]
fn two_expulsions_land_together_while_a_word_is_on_its_way() {
    let (mut moot, mut dice) = moot(4, 4);
    moot.gather(0);
    moot.expel(3, &[0, 1, 2]);
    moot.merge(0);
    for number in 0..4 {
        listen(&mut moot, number);
    }
    speak(&mut moot, 1);
    speak(&mut moot, 2);
    moot.gather(0);
    moot.expel(2, &[0, 1]);
    speak(&mut moot, 0);
    for number in 0..4 {
        listen(&mut moot, number);
    }
    for number in [0, 1] {
        assert_eq!(moot.activity(number), "waiting for the view without p".to_owned() + &name(&moot, 2));
        moot.send(number, "held");
    }
    ends_well(&mut moot, &mut dice, &[0, 1], &[2, 3]);
    for number in [0, 1] {
        assert_eq!(
            moot.texts(number).iter().filter(|text| *text == "held").count(),
            2,
            "sent when it could be"
        );
    }
}

fn name(moot: &Moot, who: usize) -> String {
    let formers = moot.chairs[0].member.transcript().roster().former(&id(who)).unwrap().held.name.clone();
    formers.strip_prefix('p').unwrap().to_owned()
}

#[test]
fn all_but_one_are_expelled_at_once() {
    for gathers in [false, true] {
        let (mut moot, mut dice) = moot(4, 4);
        if gathers {
            moot.gather(0);
        }
        moot.expel(1, &[0, 2, 3]);
        moot.expel(2, &[0, 3]);
        moot.expel(3, &[0]);
        ends_well(&mut moot, &mut dice, &[0], &[1, 2, 3]);
    }
}

#[test]
fn one_is_expelled_one_leaves_one_joins_at_once() {
    for gathers in [false, true] {
        for order in 0..6 {
            let (mut moot, mut dice) = moot(5, 4);
            let group = moot.group;
            if gathers {
                moot.gather(0);
            }
            let mut steps = [0, 1, 2];
            steps.rotate_left(order % 3);
            if order > 2 {
                steps.swap(1, 2);
            }
            for step in steps {
                match step {
                    0 => moot.expel(1, &[0, 2, 3]),
                    1 => {
                        moot.command(2, Command::Leave { group });
                        speak(&mut moot, 2);
                    }
                    _ => {
                        moot.admit(4, &[0]);
                        listen(&mut moot, 4);
                        speak(&mut moot, 4);
                    }
                }
            }
            ends_well(&mut moot, &mut dice, &[0, 3, 4], &[1]);
            assert_eq!(moot.removals(2), [Cause::Leave]);
        }
    }
}

/// The item comes after k messages of the new view were ordered: among its flush, its agreement
/// and its confirmations.
#[test]
fn an_expulsion_at_every_place_between_a_view_and_its_key() {
    for gathers in [false, true] {
        for words in 0..24 {
            let (mut moot, mut dice) = moot(4, 3);
            moot.admit(3, &[0]);
            for _ in 0..words {
                for number in 0..4 {
                    listen(&mut moot, number);
                }
                (0..4).any(|number| moot.speak(number));
            }
            if gathers {
                moot.gather(0);
            }
            moot.expel(1, &[0, 2]);
            ends_well(&mut moot, &mut dice, &[0, 2, 3], &[1]);
        }
    }
}

/// An item without its notice: nothing is sealed any more that the expelled member could open; it
/// is sent under the next key.
#[test]
fn mem_03_nothing_is_sealed_for_the_expelled_from_the_item_on() {
    let (mut moot, mut dice) = moot(3, 3);
    moot.gather(0);
    moot.expel(2, &[0, 1]);
    for number in [0, 1] {
        listen(&mut moot, number);
        assert!(!moot.chairs[number].member.can_send(moot.group));
        moot.send(number, "after");
    }
    moot.settle(&mut dice);
    moot.is_well().unwrap();
    assert!(moot.texts(0).len() == 2 && moot.texts(1).len() == 2 && moot.texts(2).is_empty());
    let mut careless = Moot::new(3, 3, Minority::Continue, Some(Danger::SessionSealsAfterRemoval));
    careless.settle(&mut dice);
    careless.gather(0);
    careless.expel(2, &[0, 1]);
    listen(&mut careless, 0);
    careless.send(0, "after");
    assert!(careless.no_key_for_the_gone().is_err(), "the judge sees it");
}

/// Its own transcript puts a member out, whether or not its node says so. The messages that it held
/// are reported. When the node reports the removal, that is no second removal.
#[test]
fn mem_03_the_expelled_is_out_by_its_own_transcript() {
    let (mut moot, mut dice) = moot(3, 3);
    let group = moot.group;
    moot.gather(0);
    moot.expel(0, &[1, 2]);
    moot.send(0, "before it hears");
    assert!(moot.listen(0), "the item, and not the node's word");
    assert_eq!(moot.removals(0), [Cause::Expelled]);
    assert!(!moot.chairs[0].member.can_send(group));
    moot.send(0, "after");
    assert_eq!(moot.failures(0), [SendError::LocalNotJoined]);
    ends_well(&mut moot, &mut dice, &[1, 2], &[0]);
    moot.command(0, Command::Join { group });
    moot.settle(&mut dice);
    moot.is_well().unwrap();
    assert_eq!(moot.view(1).unwrap().1, members(&[1, 2]), "no way back but through admission");
}

/// Random schedules: expulsions, admissions, leaves, joins, sends, splits and meetings, received
/// and sent in any order.
#[test]
fn whatever_happens_all_who_stay_meet() {
    let many = std::env::var("FOLKMOOT_SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    for seed in 0..many {
        play(seed).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
    }
}

fn play(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed << 24);
    let seats = 3 + dice.below(4);
    let mut moot = Moot::new(seats, 3, Minority::Continue, None);
    let mut away = BTreeSet::new();
    if dice.below(2) == 0 {
        moot.settle(&mut dice);
    }
    for _ in 0..4 + dice.below(12) {
        change(&mut moot, &mut away, seats, &mut dice);
        for _ in 0..dice.below(30) {
            moot.step(&mut dice);
        }
    }
    moot.heal();
    moot.settle(&mut dice);
    moot.is_well()?;
    let circle = moot.circle(0);
    let Some(first) = circle.first().copied() else { return Ok(()) };
    moot.send(first, "last");
    moot.settle(&mut dice);
    moot.is_well()?;
    let heard = |number: &usize| moot.texts(*number).contains(&"last".to_owned());
    if circle.iter().all(heard) { Ok(()) } else { Err("what was sent last did not come".into()) }
}

fn change(moot: &mut Moot, away: &mut BTreeSet<usize>, seats: usize, dice: &mut Dice) {
    let (who, group) = (dice.below(seats), moot.group);
    let rostered =
        |moot: &Moot, who: usize, by: usize| moot.chairs[by].member.transcript().roster().is_member(&id(who));
    match dice.below(12) {
        0..=2 if who > 0 => moot.try_expel(who),
        3 | 4 if who >= 3 => moot.try_admit(who, dice.below(3)),
        5 => {
            away.insert(who);
            moot.command(who, Command::Leave { group });
        }
        6 if rostered(moot, who, who) => {
            away.remove(&who);
            moot.command(who, Command::Join { group });
        }
        7 => moot.gather(who),
        8 => moot.merge(who),
        9 => moot.split(&(0..seats).filter(|_| dice.below(2) == 0).collect()),
        10 => moot.heal(),
        _ => moot.send(who, "a word"),
    }
}
