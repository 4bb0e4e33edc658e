//! A leader that gives seats as no charter has it: nobody sits down.
//! Method: real machines on a perfect ordered bus; one of them says what its machine would not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod common;
#[path = "common/table.rs"]
mod table;

use common::{Bus, vote};
use folkmoot_admission::{AdmissionError, Command, OpenMessage, Purpose, Say};
use folkmoot_base::{Blob, Digest, MemberId, codec};
use folkmoot_identity::{Decision, Identity, Scheme};
use table::{call, say, say_as};

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];
/// Who leads wrongly.
const LEADER: usize = 1;

/// Of what is said at tables only who is ready arrives.
fn only_ready(bus: &mut Bus) {
    bus.tamper = Some(Box::new(|_, payload| match codec::decode(payload) {
        Ok(OpenMessage::Hand { word }) => matches!(word.say, Say::Ready { .. }),
        _ => true,
    }));
}

fn sorted(hands: &[MemberId]) -> Vec<MemberId> {
    let mut hands = hands.to_vec();
    hands.sort();
    hands
}

fn ids(bus: &Bus, hands: &[usize]) -> Vec<MemberId> {
    sorted(&hands.iter().map(|who| bus.seats[*who].identity.member()).collect::<Vec<_>>())
}

/// Calls to a table at which the leader's friend is ready too.
fn set(bus: &mut Bus, purpose: &Purpose, attempt: u32, friend: Option<&Identity>) -> Digest {
    let (table, convene) = call(bus, LEADER, purpose.clone(), attempt);
    let called = say(bus, LEADER, table, convene);
    bus.everyone(&called);
    bus.settle();
    if let Some(friend) = friend {
        let ready = say_as(bus, friend, table, Say::Ready { key: Blob::from(vec![9; 32]) });
        bus.everyone(&ready);
        bus.settle();
    }
    table
}

/// The leader gives these seats; what the others say to that.
fn seat(bus: &mut Bus, table: Digest, givers: &[MemberId], takers: &[MemberId]) -> Vec<Option<&'static str>> {
    let seats = Say::Seats { givers: givers.to_vec(), takers: takers.to_vec() };
    let seats = say(bus, LEADER, table, seats);
    let others: Vec<usize> =
        (0..bus.seats.len()).filter(|who| *who != LEADER && bus.seats[*who].up).collect();
    let said = others.into_iter().map(|who| match bus.input(who, seats.clone()) {
        Ok(()) => None,
        Err(AdmissionError::PeerHand(_, why)) => Some(why),
        Err(other) => panic!("{other}"),
    });
    said.collect()
}

fn sits(bus: &Bus, what: &str) -> bool {
    bus.traces.iter().any(|(who, text)| *who != LEADER && *text == format!("sits at a table: {what}"))
}

/// A founded group of five of whom two sign, and a member without a vote.
fn with_friend(scheme: Scheme) -> (Bus, Identity) {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    bus.pass(12);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    let friend = common::person("dora", 40);
    assert!(bus.seats[0].transcript.roster().is_member(&friend.member()));
    assert!(!bus.seats[0].transcript.roster().may_vote(&friend.member()));
    (bus, friend)
}

fn wanting(bus: &mut Bus, threshold: &str) {
    only_ready(bus);
    for who in 0..3 {
        bus.command(who, Command::Propose(Decision::change("threshold", threshold))).unwrap();
    }
    bus.pass(1);
    bus.traces.clear();
}

#[test]
fn adm_71_new_shares_are_for_voters_and_for_a_quorum_of_them() {
    for scheme in SCHEMES {
        let (mut bus, friend) = with_friend(scheme);
        let before = bus.seats[0].transcript.roster().sharing().cloned();
        wanting(&mut bus, "3");
        let purpose = Purpose::Reshare { threshold: 3 };
        let all = ids(&bus, &[0, 1, 2, 3, 4]);
        let (two, three) = (ids(&bus, &[0, LEADER]), ids(&bus, &[0, LEADER, 2]));
        let own = bus.seats[LEADER].identity.member();
        let with_friend = |hands: &[MemberId]| sorted(&[hands, &[friend.member()]].concat());
        let no_vote = "a share for one who has no vote";
        let few = "shares for fewer than sign, or for no quorum";
        let holders = "more or fewer than it takes, or hands without a share";
        let tries = [
            (two.clone(), with_friend(&[own]), no_vote),
            (two.clone(), with_friend(&all), no_vote),
            (two.clone(), vec![own], few),
            (two.clone(), two.clone(), few),
            (vec![own], all.clone(), holders),
            (three, all.clone(), holders),
            (with_friend(&[own]), all.clone(), holders),
        ];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let table = set(&mut bus, &purpose, attempt as u32 + 1, Some(&friend));
            assert_eq!(seat(&mut bus, table, &givers, &takers), [Some(why); 4], "{scheme:?}");
            assert!(!sits(&bus, "reshare"), "{scheme:?}");
            assert_eq!(seat(&mut bus, table, &two, &all), [None; 4], "{scheme:?}: that table is over");
            assert!(!sits(&bus, "reshare"), "{scheme:?}");
        }
        let table = set(&mut bus, &purpose, 99, Some(&friend));
        assert_eq!(seat(&mut bus, table, &two, &all), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "reshare"), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(bus.seats[0].transcript.roster().sharing().cloned(), before);
    }
}

#[test]
fn adm_71_founders_are_the_voters_who_get_shares() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 5, 2);
        only_ready(&mut bus);
        bus.pass(0);
        let purpose = Purpose::Found { threshold: 2 };
        let all = ids(&bus, &[0, 1, 2, 3, 4]);
        let four = ids(&bus, &[0, 1, 2, 3]);
        let two = ids(&bus, &[0, 1]);
        let other = "founders who are not those that get shares";
        let few = "shares for fewer than sign, or for no quorum";
        let tries = [(four, all.clone(), other), (all.clone(), Vec::new(), other), (two.clone(), two, few)];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let table = set(&mut bus, &purpose, attempt as u32 + 1, None);
            assert_eq!(seat(&mut bus, table, &givers, &takers), [Some(why); 4], "{scheme:?}");
        }
        let table = set(&mut bus, &purpose, 99, None);
        assert_eq!(seat(&mut bus, table, &all, &all), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "found"), "{scheme:?}: {:#?}", bus.traces);
    }
}

#[test]
fn adm_71_where_a_signature_is_made_nobody_gets_a_share() {
    for scheme in SCHEMES {
        let (mut bus, friend) = with_friend(scheme);
        let emil = bus.stranger("emil", 41, 0);
        only_ready(&mut bus);
        vote(&mut bus, 1, emil, true);
        vote(&mut bus, 2, emil, true);
        let request = bus.request_of(0, emil).unwrap();
        bus.traces.clear();
        let purpose = Purpose::Certify { request };
        let signers = scheme.signers(2);
        let right = ids(&bus, &[0, 1, 2][..signers]);
        let more = ids(&bus, &[0, 1, 2, 3][..signers + 1]);
        let with_friend = sorted(&[&right[1..], &[friend.member()]].concat());
        let holders = "more or fewer than it takes, or hands without a share";
        let shares = "shares where only a signature is made";
        let tries = [
            (right.clone(), right.clone(), shares),
            (more, Vec::new(), holders),
            (with_friend, Vec::new(), holders),
        ];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let table = set(&mut bus, &purpose, attempt as u32 + 1, Some(&friend));
            bus.pass(1);
            assert_eq!(seat(&mut bus, table, &givers, &takers), [Some(why); 4], "{scheme:?}");
            assert!(!sits(&bus, "certify"), "{scheme:?}");
        }
        let table = set(&mut bus, &purpose, 99, None);
        bus.pass(1);
        assert_eq!(seat(&mut bus, table, &right, &[]), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "certify"), "{scheme:?}: {:#?}", bus.traces);
    }
}
