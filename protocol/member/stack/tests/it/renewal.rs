//! MEM-06: keys are renewed by use, by age and on demand, under traffic. Nothing is lost, and
//! nothing is sealed beyond a key's limit.

use crate::common::Moot;
use crate::common::people::Dice;
use folkmoot_base::Instant;
use folkmoot_base::limits::{EPOCH_AGE, STEP_DEADLINE};
use folkmoot_identity::Minority;
use folkmoot_member::Command;
use std::collections::BTreeMap;

const SEATS: usize = 3;

fn epoch(moot: &Moot, who: usize) -> String {
    moot.chairs[who].member.status(Instant(0)).epoch.unwrap()
}

/// Every member received everything that was sent, once, in one order.
fn nothing_is_lost(moot: &Moot, said: usize) {
    moot.is_well().unwrap();
    for who in 0..SEATS {
        assert_eq!(moot.texts(who).len(), said, "member {who} waits for: {}", moot.activity(who));
        assert_eq!(moot.texts(who), moot.texts(0));
        assert!(moot.failures(who).is_empty());
    }
}

/// How much one member sealed: in each epoch at most the limit.
fn sealed_within(moot: &Moot, who: usize, most: u64) -> usize {
    let counts: BTreeMap<_, u64> = moot.sealed_by_epoch(who);
    assert!(counts.values().all(|count| *count <= most), "{counts:?}");
    counts.len()
}

#[test]
fn mem_06_an_epoch_ends_before_its_limit_and_no_message_is_lost() {
    const MOST: u64 = 8;
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut moot =
            Moot::with(SEATS, SEATS, Minority::Continue, |config| config.seals_per_epoch_max = MOST);
        moot.settle(&mut dice);
        let mut said = 0;
        for _ in 0..6 {
            // More at once than an epoch allows: the rest waits for the next key, which is asked
            // for automatically.
            for _ in 0..dice.below(30) {
                let texts = vec!["a word"; 1 + dice.below(4)];
                moot.send_together(dice.below(SEATS), &texts);
                said += texts.len();
            }
            for _ in 0..dice.below(60) {
                moot.step(&mut dice);
            }
        }
        moot.settle(&mut dice);
        nothing_is_lost(&moot, said);
        let epochs: usize = (0..SEATS).map(|who| sealed_within(&moot, who, MOST)).sum();
        assert!(epochs * usize::try_from(MOST).unwrap() >= said, "seed {seed}");
    }
}

#[test]
fn mem_06_an_old_key_is_renewed_by_one_and_by_the_next_if_that_one_does_not() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
        moot.settle(&mut dice);
        let first = epoch(&moot, 0);
        // A member that has started hears for a while, and then decides what there is: nothing.
        moot.now = Instant(3_000_000);
        moot.wake_due();
        moot.settle(&mut dice);
        let due = moot.next_timeout().unwrap();
        assert!(due >= Instant(1) + EPOCH_AGE, "nothing else is due in a quiet group");
        moot.now = due;
        assert_eq!(moot.wake_due(), [0], "the first of the view asks, alone");
        let said = 1 + dice.below(9);
        for _ in 0..said {
            moot.send(dice.below(SEATS), "meanwhile");
            moot.step(&mut dice);
        }
        moot.settle(&mut dice);
        nothing_is_lost(&moot, said);
        let second = epoch(&moot, 0);
        assert!(second != first && (1..SEATS).all(|who| epoch(&moot, who) == second));

        // The first member sleeps: the second asks a step later.
        moot.now = moot.now + EPOCH_AGE + STEP_DEADLINE;
        moot.wake(1);
        moot.settle(&mut dice);
        assert_ne!(epoch(&moot, 0), second);
    }
}

#[test]
fn mem_06_a_key_is_renewed_on_demand_under_traffic() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
        moot.settle(&mut dice);
        let (mut said, mut last) = (0, epoch(&moot, 0));
        for _ in 0..5 {
            let group = moot.group;
            moot.command(dice.below(SEATS), Command::Refresh { group });
            for _ in 0..dice.below(8) {
                let texts = vec!["a word"; 1 + dice.below(4)];
                moot.send_together(dice.below(SEATS), &texts);
                said += texts.len();
                for _ in 0..dice.below(12) {
                    moot.step(&mut dice);
                }
            }
            if dice.below(3) == 0 {
                moot.settle(&mut dice);
                assert_ne!(epoch(&moot, 0), last);
                last = epoch(&moot, 0);
            }
        }
        moot.settle(&mut dice);
        nothing_is_lost(&moot, said);
    }
}
