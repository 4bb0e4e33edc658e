//! MEM-07: whoever sends is told if nothing comes back.

use crate::common::Moot;
use crate::common::people::{self, Dice};
use core::time::Duration;
use folkmoot_attach::{Lacking, Stalled, ToMember, Upper};
use folkmoot_base::Instant;
use folkmoot_identity::Minority;
use folkmoot_member::Event;

const SEATS: usize = 3;
/// When a stall is told at the latest, after what was sent.
const TOLD: u64 = 2_000_000;

/// What a member was told of sends that do not come back: how many were out, or that one came.
fn told(moot: &Moot, number: usize) -> Vec<Option<u64>> {
    let events = moot.chairs[number].events.iter();
    events
        .filter_map(|event| match event {
            Event::Stalled { messages, .. } => Some(Some(*messages)),
            Event::Resumed { .. } => Some(None),
            _ => None,
        })
        .collect()
}

fn stalled(moot: &Moot, number: usize) -> Option<Stalled> {
    moot.chairs[number].member.status(moot.now).groups[0].stalled
}

#[test]
fn mem_07_sends_that_do_not_come_back_are_told_within_two_seconds() {
    let mut dice = Dice(9);
    let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.send(0, "one");
    moot.settle(&mut dice);
    let start = moot.now;
    // Two go nowhere for now.
    moot.send(0, "two");
    moot.send(0, "three");
    let activity = |moot: &Moot| moot.chairs[0].member.status(moot.now).activity;
    assert_eq!((told(&moot, 0), activity(&moot).as_str()), (vec![], "steady"));
    while moot.chairs[0].member.poll_timeout().is_some_and(|at| at <= Instant(start.0 + TOLD)) {
        moot.now = moot.chairs[0].member.poll_timeout().unwrap().max(moot.now);
        moot.wake(0);
    }
    assert_eq!(told(&moot, 0), [Some(2)]);
    assert_eq!(stalled(&moot, 0).map(|stalled| stalled.messages), Some(2));
    assert!(activity(&moot).starts_with("stalled: "), "{}", activity(&moot));
    assert_eq!((told(&moot, 1), stalled(&moot, 1)), (vec![], None), "who sends nothing waits for nothing");
    moot.settle(&mut dice);
    assert_eq!(told(&moot, 0), [Some(2), None]);
    assert_eq!((stalled(&moot, 0), activity(&moot).as_str()), (None, "steady"));
    assert_eq!(moot.texts(1), ["one", "two", "three"]);
}

#[test]
fn mem_10_who_lacks_what_was_sent_is_named() {
    let mut dice = Dice(10);
    let mut moot = Moot::new(SEATS, SEATS, Minority::Continue, None);
    moot.settle(&mut dice);
    moot.now = Instant(moot.now.0 + 1_000_000);
    let (now, peer) = (moot.now, moot.chairs[1].member.id().node());
    let hear = |moot: &mut Moot, message: ToMember| {
        moot.hear(0, message);
        let events = moot.chairs[0].events.drain(..);
        let told = events.filter_map(|event| match event {
            Event::Lacking { node } => Some((node, true)),
            Event::CaughtUp { node } => Some((node, false)),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let status = moot.chairs[0].member.status(now);
        (told, status.lacking.map(|lacking| lacking.node), status.activity)
    };
    let lacks = || ToMember::Lacking(Some(Lacking { node: peer, since: Instant(now.0 - 1_000_000) }));
    let (told, lacking, activity) = hear(&mut moot, lacks());
    assert_eq!((told, lacking), (vec![(peer, true)], Some(peer)));
    assert!(activity.starts_with("lacking: ") && activity.ends_with("for 1 s"), "{activity}");
    let (told, lacking, activity) = hear(&mut moot, ToMember::Lacking(None));
    assert_eq!((told, lacking, activity.as_str()), (vec![(peer, false)], None, "steady"));
    hear(&mut moot, lacks());
    let nodes = vec![moot.chairs[0].member.id().node()];
    let (told, lacking, _) = hear(
        &mut moot,
        ToMember::Configuration { id: people::CONFIGURATION, nodes, patience: Duration::ZERO },
    );
    assert_eq!((told, lacking), (vec![], None), "nobody says that it has caught up");
}
