//! An order that is refused says so in the call, for its own reason, whatever else is refused
//! meanwhile; and it changes nothing.

use crate::founders::{all_in_one_view, folders, open, proposed, until};
use folkmoot::tools::Command;
use folkmoot::{Accepted, Closed, Error, Fault, Folkmoot, Refused, Stands};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Orders of the same member that are refused all the time.
struct Noise {
    on: Arc<AtomicBool>,
    refused: Arc<AtomicU64>,
}

impl Noise {
    /// Ten tasks, each with a refusal of its own.
    fn at(moot: &Folkmoot) -> Self {
        let noise = Self { on: Arc::new(AtomicBool::new(true)), refused: Arc::default() };
        for number in 0..10_u8 {
            let (on, refused, handle) = (noise.on.clone(), noise.refused.clone(), moot.handle());
            tokio::spawn(async move {
                while on.load(Ordering::Relaxed) {
                    let wrong = match number % 3 {
                        0 => Command::Vote { subject: [number; 32], approve: true },
                        1 => Command::ChangeCharter { field: format!("nothing-{number}"), value: "1".into() },
                        _ => Command::Withdraw { subject: Some([number; 32]) },
                    };
                    let answer = handle.command(wrong).await.unwrap();
                    let expected = if number % 3 == 1 { "charter-field" } else { "not-open" };
                    assert_eq!(answer.unwrap_err().by.code, expected);
                    refused.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
            });
        }
        noise
    }

    /// How many were refused.
    fn end(self) -> u64 {
        self.on.store(false, Ordering::Relaxed);
        self.refused.load(Ordering::Relaxed)
    }
}

#[track_caller]
fn why(answer: Result<Accepted, Error>) -> Refused {
    match answer {
        Err(Error::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn is(answer: Result<Accepted, Error>, fault: Fault, code: &str, rule: Option<&str>) {
    let refused = why(answer);
    assert_eq!((refused.by.fault, refused.by.code, refused.by.rule), (fault, code, rule), "{refused}");
    assert!(rule.is_none_or(|rule| refused.sentence.contains(rule)), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_refusal_is_the_answer_to_its_own_order() {
    let folders = folders("orders", 4);
    let mut all = vec![open(folders[0].clone(), &[]).await];
    let seed = [all[0].locator()];
    for folder in &folders[1..3] {
        all.push(open(folder.clone(), &seed).await);
    }
    all_in_one_view(&mut all).await;
    let (anna, ben, cleo) = (all[0].me(), all[1].me(), all[2].me());
    // From now on cleo is a member without a vote.
    let voters = all[0].electorate(vec![anna, ben]).await.unwrap().subject.unwrap();
    until(&mut all, 1, voters, |told| told.is_some()).await;
    all[1].vote(voters, true).await.unwrap();
    for at in 0..3 {
        let over = Stands::Over(Closed::Granted);
        until(&mut all, at, voters, |told| told.is_some_and(|told| told.stands == over)).await;
    }
    let hours = all[1].change_charter("request_hours", "24").await.unwrap().subject.unwrap();
    proposed(&mut all, 0, "set request_hours = 24 in the charter").await;
    proposed(&mut all, 2, "set request_hours = 24 in the charter").await;
    let dora = open(folders[3].clone(), &[]).await;
    let noise: Vec<Noise> = all[..2].iter().map(Noise::at).collect();

    let (order, member, group) = (Fault::Order, Fault::Member, Fault::Group);
    is(all[0].vote([9; 32], true).await, order, "not-open", None);
    is(all[2].vote(hours, true).await, member, "no-vote", None);
    is(dora.vote(hours, true).await, member, "not-admitted", None);

    is(all[0].expel(dora.me()).await, order, "not-a-member", None);
    is(all[0].expel(ben).await, group, "dead-end", Some("LINE-45"));
    is(dora.expel(anna).await, member, "not-admitted", None);
    assert!(why(all[0].expel(ben).await).forcible && !why(all[0].expel(dora.me()).await).forcible);

    is(all[0].change_charter("no_such", "1").await, order, "charter-field", Some("LINE-42"));
    is(all[0].change_charter("threshold", "9").await, group, "dead-end", Some("LINE-45"));
    is(dora.change_charter("request_hours", "24").await, member, "not-admitted", None);

    is(all[0].withdraw([9; 32]).await, order, "not-open", None);
    is(all[0].withdraw(hours).await, order, "not-yours", None);
    is(dora.withdraw_request().await, member, "asks-nothing", None);

    for noise in noise {
        assert!(noise.end() > 10, "the others were refused meanwhile");
    }
    // Nothing was changed by all that.
    for one in &all {
        let open = one.proposals().await.unwrap();
        assert_eq!(open.iter().map(|one| one.subject).collect::<Vec<_>>(), [hours]);
        assert_eq!(one.status().await.unwrap().people.len(), 3);
    }
    assert_eq!(
        all[2].expel(cleo).await.unwrap().stands.map(|stands| matches!(stands, Stands::Open(_))),
        Some(true)
    );
}
