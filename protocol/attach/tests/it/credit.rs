//! Credit: bounded whatever the other side does, nothing counted twice, and nobody stands still.

use folkmoot_attach::credit::{CreditError, Grant, Ledger, MESSAGE_COST, OPEN_MAX, Purse, RESERVE, START};
use proptest::prelude::*;
use std::collections::VecDeque;

/// What one message of so many bytes costs.
fn cost(bytes: usize) -> u64 {
    MESSAGE_COST + u64::try_from(bytes).expect("small")
}

/// Spends until no text may go.
fn spend_all(purse: &mut Purse, bytes: usize) -> u64 {
    let mut spent = 0;
    while purse.may_send() {
        purse.spend(bytes).expect("there is credit");
        spent += cost(bytes);
    }
    spent
}

#[test]
fn att_10_without_credit_no_text_goes_and_a_liars_message_is_not_counted() {
    let (mut purse, mut ledger) = (Purse::default(), Ledger::default());
    let spent = spend_all(&mut purse, 1_000);
    assert!((START..START + cost(1_000)).contains(&spent));
    assert!(purse.may_go_on(), "of texts that are sent together some more may go");
    // What is no text may use the reserve, and no more.
    let mut reserve = 0;
    while purse.spend(1_000).is_ok() {
        reserve += cost(1_000);
    }
    assert!((RESERVE - cost(1_000)..=RESERVE + cost(1_000)).contains(&reserve));
    assert_eq!(purse.spend(0), Err(CreditError::LocalSpent));
    assert!(!purse.may_go_on());
    // A liar goes on.
    let mut came = 0;
    let refused = loop {
        match ledger.receive(1_000) {
            Ok(()) => came += cost(1_000),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, CreditError::PeerOverdrawn { granted: START, spent: came });
    assert!(ledger.receive(0).is_err());
    assert_eq!(ledger.waiting(), came);
    assert!(came <= START + RESERVE + cost(1_000), "no more is ever kept");
    assert!(refused.to_string().starts_with("the other side sent"), "it says whose fault it is");
}

#[test]
fn att_10_the_longest_message_needs_no_more_credit_than_a_short_one() {
    let (mut purse, mut ledger) = (Purse::default(), Ledger::default());
    let long = 16 * 1024 * 1024;
    assert!(purse.may_send());
    purse.spend(long).expect("credit");
    ledger.receive(long).expect("within credit");
    assert!(!purse.may_send(), "then all wait");
    assert_eq!(ledger.grant(START), None, "nothing was taken");
    ledger.take(1, long as u64);
    purse.add(ledger.grant(START).expect("all was taken")).expect("honest");
    assert!(purse.may_send());
}

#[test]
fn att_11_a_grant_adds_something_and_leaves_no_more_open_than_may_be() {
    let mut purse = Purse::default();
    for got in [0, 1, START] {
        assert_eq!(purse.add(Grant(got)), Err(CreditError::PeerReplayed { got, had: START }));
    }
    for got in [OPEN_MAX + 1, u64::MAX] {
        assert_eq!(purse.add(Grant(got)), Err(CreditError::PeerTooLarge { open: got }));
    }
    assert_eq!(purse, Purse::default(), "nothing has changed");
    assert_eq!(purse.add(Grant(OPEN_MAX)), Ok(()));
    let again = CreditError::PeerReplayed { got: OPEN_MAX, had: OPEN_MAX };
    assert_eq!(purse.add(Grant(OPEN_MAX)), Err(again));
    assert!(again.to_string().starts_with("the other side granted"), "it says whose fault it is");
}

#[test]
fn att_11_more_is_never_taken_than_came() {
    let mut ledger = Ledger::default();
    ledger.receive(10).expect("credit");
    ledger.take(1_000, 1 << 40);
    assert_eq!(ledger.waiting(), 0);
    let grant = ledger.grant(OPEN_MAX).expect("a larger window");
    assert_eq!(grant, Grant(cost(10) + OPEN_MAX));
}

#[test]
fn grants_come_in_batches() {
    let (mut purse, mut ledger) = (Purse::default(), Ledger::default());
    let (mut grants, window) = (0, 2 * 1024 * 1024);
    for _ in 0..100_000 {
        assert!(purse.may_send());
        purse.spend(1_350).expect("credit");
        ledger.receive(1_350).expect("credit");
        ledger.take(1, 1_350);
        if let Some(grant) = ledger.grant(window) {
            purse.add(grant).expect("honest");
            grants += 1;
        }
    }
    assert!(grants < 150, "{grants} grants for 100,000 messages");
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Send(usize),
    Arrive,
    Take,
    Grant(u64),
    Hear,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..200_000_usize).prop_map(Step::Send),
        3 => Just(Step::Arrive),
        3 => Just(Step::Take),
        2 => (0..3 * START).prop_map(Step::Grant),
        2 => Just(Step::Hear),
    ]
}

proptest! {
    /// Messages and grants are under way for as long as it likes, in their order.
    #[test]
    fn honest_sides_agree_and_what_waits_is_bounded(steps in proptest::collection::vec(steps(), 1..400)) {
        let (mut purse, mut ledger) = (Purse::default(), Ledger::default());
        let (mut up, mut down) = (VecDeque::new(), VecDeque::new());
        let mut queue = VecDeque::new();
        for step in steps {
            match step {
                Step::Send(bytes) if purse.may_send() => {
                    purse.spend(bytes).expect("there is credit");
                    up.push_back(bytes);
                }
                Step::Send(_) => {}
                Step::Arrive => if let Some(bytes) = up.pop_front() {
                    prop_assert_eq!(ledger.receive(bytes), Ok(()));
                    queue.push_back(bytes);
                },
                Step::Take => if let Some(bytes) = queue.pop_front() {
                    ledger.take(1, bytes as u64);
                },
                Step::Grant(window) => down.extend(ledger.grant(window)),
                Step::Hear => if let Some(grant) = down.pop_front() {
                    prop_assert_eq!(purse.add(grant), Ok(()));
                },
            }
            let waiting: u64 = queue.iter().map(|bytes| cost(*bytes)).sum();
            prop_assert_eq!(ledger.waiting(), waiting, "each message counts once");
            prop_assert!(waiting <= 3 * START + cost(200_000), "bounded by the widest window");
        }
        // Nobody stands still: once all is taken and heard, texts go again.
        for bytes in up {
            ledger.receive(bytes).expect("honest");
            queue.push_back(bytes);
        }
        queue.iter().for_each(|bytes| ledger.take(1, *bytes as u64));
        down.extend(ledger.grant(START));
        for grant in down {
            prop_assert_eq!(purse.add(grant), Ok(()));
        }
        prop_assert!(purse.may_send());
    }
}
