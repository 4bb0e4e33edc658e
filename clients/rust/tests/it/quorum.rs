//! A view says whether a quorum of those who vote is in it: at most one side of a split is whole.

use crate::founders::{folders, open};
use folkmoot::{Event, Folkmoot, Side};
use std::time::Duration;

/// The side of the next view of so many members.
async fn side(moot: &mut Folkmoot, count: usize) -> Side {
    let view = async {
        loop {
            match moot.next().await.unwrap().unwrap() {
                Event::View { members, side, .. } if members.len() == count => return side,
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), view).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_of_three_are_a_quorum_and_one_is_a_minority() {
    let folders = folders("quorum", 3);
    let mut anna = open(folders[0].clone(), &[]).await;
    let alone = Side { whole: false, may_send: true, may_admit: true, voters: 1, of_voters: 3 };
    assert_eq!(side(&mut anna, 1).await, alone);
    let mut ben = open(folders[1].clone(), &[anna.locator()]).await;
    let whole = Side { whole: true, voters: 2, ..alone };
    assert_eq!(side(&mut anna, 2).await, whole);
    assert_eq!(side(&mut ben, 2).await, whole);
    assert_eq!(anna.status().await.unwrap().groups[0].side, whole);
    ben.close().await.unwrap();
    assert_eq!(side(&mut anna, 1).await, alone);
    anna.close().await.unwrap();
}
