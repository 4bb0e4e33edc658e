//! What became of a proposal and of a vote on it: counted, waiting, passed, rejected, withdrawn,
//! overtaken; at the member that voted, at the others, and after a restart.

use crate::founders::{all_in_one_view, folders, open, proposed, until};
use folkmoot::{Awaits, Closed, Counting, Folkmoot, Outcome, Stands};

fn over(told: Option<&Outcome>, why: Closed) -> bool {
    told.is_some_and(|told| told.stands == Stands::Over(why))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_says_what_became_of_a_vote_and_of_what_it_was_on() {
    let folders = folders("outcome", 3);
    let mut all = vec![open(folders[0].clone(), &[]).await];
    let seed = [all[0].locator()];
    for folder in &folders[1..] {
        all.push(open(folder.clone(), &seed).await);
    }
    let me: Vec<_> = all.iter().map(Folkmoot::me).collect();
    all_in_one_view(&mut all).await;
    assert_eq!(all[0].outcome([7; 32]).await.unwrap(), None, "nobody has heard of it");

    // Counted: 1 of 2, by whom.
    let accepted = all[0].change_charter("request_hours", "24").await.unwrap();
    let hours = proposed(&mut all, 1, "set request_hours = 24 in the charter").await;
    assert_eq!(accepted.subject, Some(hours));
    let again = all[0].change_charter("request_hours", "24").await.unwrap();
    assert_eq!(again.subject, Some(hours), "the same order is the same proposal");
    let counted = |told: Option<&Outcome>| told.is_some_and(|told| told.approved.len() == 1);
    let told = until(&mut all, 0, hours, counted).await.unwrap();
    assert_eq!((told.stands, told.need), (Stands::Open(Awaits::Votes), Some(2)));
    assert_eq!((told.vote, told.approved), (Some((true, Counting::Counted)), vec![me[0]]));
    let told = until(&mut all, 1, hours, counted).await.unwrap();
    assert_eq!((told.vote, told.rejected), (None, Vec::new()), "ben has not voted");

    // A vote that has no place in the order yet waits; then it counts, as a no.
    all[1].vote(hours, false).await.unwrap();
    let told = all[1].outcome(hours).await.unwrap().unwrap();
    assert!(matches!(told.vote, Some((false, Counting::Waiting | Counting::Counted))), "{told:?}");
    let no = |told: Option<&Outcome>| told.is_some_and(|told| told.vote == Some((false, Counting::Counted)));
    let told = until(&mut all, 1, hours, no).await.unwrap();
    assert_eq!((told.approved, told.rejected), (vec![me[0]], vec![me[1]]));

    // Rejected: two of three say no.
    all[2].vote(hours, false).await.unwrap();
    for at in 0..3 {
        until(&mut all, at, hours, |told| over(told, Closed::Rejected)).await;
    }

    // Withdrawn.
    all[0].change_charter("certificate_days", "30").await.unwrap();
    let days = proposed(&mut all, 2, "set certificate_days = 30 in the charter").await;
    all[0].withdraw(days).await.unwrap();
    for at in 0..3 {
        until(&mut all, at, days, |told| over(told, Closed::Withdrawn)).await;
    }

    // Of two about one rule, one passes and the other is overtaken.
    all[0].change_charter("request_hours", "48").await.unwrap();
    all[1].change_charter("request_hours", "96").await.unwrap();
    let first = proposed(&mut all, 2, "set request_hours = 48 in the charter").await;
    let second = proposed(&mut all, 2, "set request_hours = 96 in the charter").await;
    all[2].vote(first, true).await.unwrap();
    for at in 0..3 {
        let told = until(&mut all, at, first, |told| over(told, Closed::Granted)).await.unwrap();
        let mut yes = vec![me[0], me[2]];
        yes.sort_unstable();
        assert_eq!((told.approved, told.need), (yes, None));
        until(&mut all, at, second, |told| over(told, Closed::Overtaken)).await;
    }

    // It knows all that after a restart.
    let [hours, days, first, second] = [
        (hours, Closed::Rejected),
        (days, Closed::Withdrawn),
        (first, Closed::Granted),
        (second, Closed::Overtaken),
    ];
    all.pop().unwrap().close().await.unwrap();
    let again = open(folders[2].clone(), &seed).await;
    for (subject, why) in [hours, days, first, second] {
        let told = again.outcome(subject).await.unwrap();
        assert!(over(told.as_ref(), why), "{why:?}: {told:?}");
    }
    let told = again.outcome(first.0).await.unwrap().unwrap();
    assert_eq!(told.vote, Some((true, Counting::Counted)), "its own yes, too");
}
