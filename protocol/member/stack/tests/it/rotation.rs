//! A member gets another key at any place of a change of the view. Whoever has the old key goes on
//! as if nothing had been decided: its program hears nothing, and its node lies and orders what it
//! says, flush and keying among it.
//!
//! ```text
//! 0, 1, 2 the founders     4 is admitted: a view, a key     2 gets the key of 3: 0, 1, 3 and 4 meet, and 2 is nobody
//! ```

use crate::common::Moot;
use crate::common::people::{Dice, id, party};
use folkmoot_base::{Danger, Party};
use folkmoot_identity::Minority;

/// What the old key says after the decision.
const LIE: &str = "do not believe her";

fn rotated(gathers: bool, words: usize) -> (Moot, Dice) {
    let mut dice = Dice(9);
    let mut moot = Moot::new(5, 3, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.is_well().unwrap();
    moot.admit(4, &[0]);
    for _ in 0..words {
        for number in 0..5 {
            moot.listen(number);
        }
        (0..5).any(|number| moot.speak(number));
    }
    if gathers {
        moot.gather(0);
    }
    (moot, dice)
}

fn ends_well(moot: &mut Moot, dice: &mut Dice) {
    moot.settle(dice);
    moot.is_well().unwrap();
    let mut stay: Vec<Party> = [0, 1, 3, 4].map(party).to_vec();
    stay.sort_unstable();
    for number in [0, 1, 3, 4] {
        assert_eq!(moot.view(number).unwrap().1, stay);
        let state = moot.chairs[number].member.transcript().state();
        assert_eq!(state.successor(&id(2)), Some(id(3)));
    }
    moot.send(3, "it is me");
    moot.settle(dice);
    moot.is_well().unwrap();
    for number in 0..5 {
        let heard = moot.texts(number);
        assert_eq!(heard.contains(&"it is me".to_owned()), number != 2, "{number}");
        assert!(!heard.contains(&LIE.to_owned()) || number == 2, "{number} believes the old key");
    }
}

#[test]
fn id_86_a_rotation_at_every_place_between_a_view_and_its_key() {
    for gathers in [false, true] {
        for words in 0..24 {
            let (mut moot, mut dice) = rotated(gathers, words);
            moot.rotate(2, 3, &[0, 1]);
            ends_well(&mut moot, &mut dice);
        }
    }
}

/// The others' programs refuse its words by themselves: the node is not theirs to trust.
#[test]
fn id_86_flush_and_keying_of_the_old_key_count_nothing_even_if_a_node_orders_them() {
    for gathers in [false, true] {
        for words in 0..24 {
            let (mut moot, mut dice) = rotated(gathers, words);
            // It hears what was said before, and of the decision nothing.
            moot.liar = Some(2);
            moot.rotate(2, 3, &[0, 1]);
            for number in [0, 1, 3, 4] {
                while moot.listen(number) {}
            }
            while moot.speak(2) {}
            ends_well(&mut moot, &mut dice);
            // In the view that it knows. Before the others have theirs, a node that lies about order
            // could as well have ordered it before the decision.
            moot.send(2, LIE);
            ends_well(&mut moot, &mut dice);
        }
    }
}

/// Nothing is sealed any more that the old key could open, not even before the next view.
#[test]
fn id_86_nothing_is_sealed_for_the_old_key_from_the_decision_on() {
    for (danger, is_safe) in [(None, true), (Some(Danger::SessionSealsAfterRemoval), false)] {
        let (mut moot, mut dice) = (Moot::new(4, 3, Minority::Continue, danger), Dice(9));
        moot.settle(&mut dice);
        moot.gather(0);
        moot.rotate(2, 3, &[0, 1]);
        for number in [0, 1] {
            while moot.listen(number) {}
            assert_eq!(moot.chairs[number].member.can_send(moot.group), !is_safe);
            moot.send(number, "after");
        }
        assert_eq!(moot.no_key_for_the_gone().is_ok(), is_safe);
    }
}

/// One who was away comes back to those who decided, and takes it from them.
#[test]
fn id_86_a_member_that_was_away_meets_the_new_key() {
    let (mut moot, mut dice) = rotated(false, 0);
    moot.settle(&mut dice);
    moot.split(&[4].into());
    moot.settle(&mut dice);
    moot.rotate(2, 3, &[0, 1]);
    moot.settle(&mut dice);
    assert!(moot.chairs[4].member.transcript().roster().is_member(&id(2)), "it has not heard");
    moot.heal();
    ends_well(&mut moot, &mut dice);
}
