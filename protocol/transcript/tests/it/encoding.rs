//! The one encoding of a state, and of what voters say.

use crate::group::{Group, draft, elect, field, forced, fresh, remove, signature};
use crate::voter::{judged, promise, proposal, say_commit, say_judgement, say_promise, standing};
use folkmoot_base::UnixTime;
use folkmoot_base::codec::{self, Wire};
use folkmoot_identity::{Charter, CharterDraft, Policies};
use folkmoot_transcript::{
    BallotMessage, BallotRecord, Batch, Change, Decision, Effect, Head, Leave, Standing, State, StateError,
};
use proptest::prelude::*;
use std::sync::Arc;

fn founding() -> CharterDraft {
    let list = [crate::group::member(6), crate::group::member(9)].into();
    let policies = Policies { objections: Some(1), list, ..Policies::default() };
    CharterDraft { policies, ..draft(4, 2) }
}

fn charter() -> Arc<Charter> {
    Arc::new(Charter::from_toml(&founding().to_toml()).unwrap())
}

fn read(state: &State, bytes: &[u8]) -> Result<State, StateError> {
    State::decode(bytes, charter(), state.head().digest)
}

/// One step of a drawn history; whatever may not be done is left out.
fn step(group: &mut Group, what: u8, person: usize) {
    group.now += 3600;
    let voters: Vec<usize> =
        (0..16).filter(|one| group.state().may_vote(&crate::group::member(*one))).collect();
    let effect = |change: Change| Effect::from(change);
    let decision = match what {
        0 => {
            let admit = group.ask(person);
            let issued = person.is_multiple_of(2).then_some([person as u8; 16]);
            let admit = folkmoot_transcript::Admit { issued, ..admit };
            group.welcome(&admit, &voters);
            group.decide(Batch { holds: vec![admit.request], ..group.batch() })
        }
        1 => group.decision(effect(remove(person)), &voters),
        9 => {
            let until = UnixTime(group.now + 86_400);
            let (id, since) = (group.state().group(), group.head().number);
            let leave = Leave::sign(crate::group::key(person), id, since, until);
            group.decision(effect(Change::Leave(leave)), &voters)
        }
        2 => group.decision(effect(elect(&[0, 1, person])), &voters),
        3 => group.decision(effect(field("request_hours", &(1 + person).to_string())), &voters),
        4 => {
            let request = group.ask(person).request;
            let refusals = vec![group.refused(request, &voters)];
            group.decide(Batch { refusals, ..group.batch() })
        }
        5 => {
            group.now += 40 * 86_400;
            group.decide(group.batch())
        }
        6 => {
            // Of half of those lines ours is the one that stays, and goes on.
            let head = Head { number: group.head().number, digest: [person as u8 * 18; 32] };
            group.decision(effect(Change::Rejoin { head }), &voters)
        }
        7 => group.decision(forced(field("threshold", &(1 + person % 4).to_string())), &voters),
        _ => {
            let new = group.ask(person);
            group.take_admit(&new);
            let old = crate::group::member(person / 2);
            let rotate = Change::Rotate { member: old, request: new.request, signature: signature() };
            group.decision(effect(rotate), &voters)
        }
    };
    if let Ok(decision) = decision {
        let standing = crate::group::by_all(group.state(), decision);
        drop(group.apply(standing));
    }
}

/// A state with something in each of its lists.
fn rich() -> Group {
    let mut group = Group::of(&founding());
    for (what, person) in [(0, 6), (0, 7), (3, 2), (4, 9), (1, 6), (2, 7), (8, 5), (7, 1), (6, 14)] {
        step(&mut group, what, person);
    }
    assert!(!group.state().revoked().is_empty() && group.head().number >= 7);
    assert!(group.state().is_struck(&crate::group::member(6)));
    assert!(group.state().rejoin().is_some() && group.state().may_outlast());
    assert_eq!(group.state().replaced().len(), 1);
    group
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_state_is_read_as_it_was_written(steps in prop::collection::vec((0..10_u8, 0..14_usize), 0..16)) {
        let mut group = Group::of(&founding());
        for (what, person) in steps {
            step(&mut group, what, person);
            let state = group.state();
            let again = read(state, &state.encode()).unwrap();
            prop_assert_eq!((again.digest(), again.head()), (state.digest(), state.head()));
            // It also goes on as the first one does.
            let next = group.decision(field("certificate_days", "99"), &[0, 1, 2, 3]);
            if let Ok(decision) = next {
                prop_assert!(again.after(&decision, |_| None).is_ok());
            }
        }
    }
}

#[test]
fn every_changed_byte_of_a_state_is_refused_or_makes_another() {
    let group = rich();
    let (state, bytes) = (group.state(), group.state().encode());
    for place in 0..bytes.len() {
        for change in [1, 0x80] {
            let mut other = bytes.clone();
            other[place] ^= change;
            if let Ok(again) = read(state, &other) {
                assert_ne!(again.digest(), state.digest(), "byte {place}");
                assert_eq!(again.encode(), other, "byte {place}");
            }
        }
    }
    // There is nothing that it could do without.
    (0..bytes.len()).for_each(|end| assert!(read(state, &bytes[..end]).is_err(), "{end}"));
    let longer = [bytes.clone(), vec![0]].concat();
    assert!(read(state, &longer).is_err());
}

/// A QUIC integer, and how long it is.
fn length(bytes: &[u8]) -> (usize, usize) {
    let size = 1 << (bytes[0] >> 6);
    let whole =
        bytes[1..size].iter().fold(usize::from(bytes[0] & 0x3f), |all, byte| all << 8 | usize::from(*byte));
    (whole, size)
}

/// Nothing is read of the members: a lying quorum could have so many that a reader has no room.
#[test]
fn a_state_has_no_more_members_than_a_group() {
    let group = rich();
    let bytes = group.state().encode();
    // Version, group, number, time; then changes, then the roster.
    let changes = 1 + 32 + 8 + 8;
    let (long, size) = length(&bytes[changes..]);
    let roster = changes + size + long;
    let (long, size) = length(&bytes[roster..]);
    let first = |count: usize| {
        // Member, request, an empty name, an empty key, an end and no serial number.
        let list = vec![0; count * (32 + 32 + 4 + 4 + 8 + 1)];
        let length = (0x8000_0000 | list.len() as u32).to_be_bytes();
        [&bytes[..roster], &length, &list, &bytes[roster + size + long..]].concat()
    };
    let refused = |count| read(group.state(), &first(count)).unwrap_err();
    assert_eq!(refused(1_000), StateError::Value("key"), "it looks at the members");
    assert_eq!(refused(1_001), StateError::Value("number of members"));
}

#[test]
fn a_state_of_another_group_is_refused() {
    let bytes = Group::new(2, 1).state().encode();
    let refused = State::decode(&bytes, charter(), [0; 32]);
    assert!(matches!(refused, Err(StateError::OtherGroup)));
}

/// Reads what it wrote; no changed byte is read as the same.
fn told<T: Wire + PartialEq + std::fmt::Debug>(value: &T) {
    let bytes = codec::encode(value);
    assert_eq!(codec::decode::<T>(&bytes).as_ref(), Ok(value));
    for place in 0..bytes.len() {
        let mut other = bytes.clone();
        other[place] ^= 1;
        assert_ne!(codec::decode::<T>(&other).as_ref(), Ok(value), "byte {place}");
        assert!(codec::decode::<T>(&bytes[..place]).is_err());
    }
}

#[test]
fn what_voters_say_is_read_as_it_was_written() {
    let mut group = rich();
    let admit = group.ask(9);
    group.welcome(&admit, &[0, 1]);
    let effects = vec![group.approved(&remove(1).into(), &[0, 1, 7, 8])];
    let batch = Batch { effects, holds: vec![admit.request], ..group.batch() };
    let voters = group.state().voters();
    let people: Vec<usize> = (0..16).filter(|one| voters.contains(&crate::group::member(*one))).collect();
    let effects = vec![group.approved(&remove(1).into(), &people)];
    let decision = group.decide(Batch { effects, ..batch }).unwrap();
    assert!(decision.electorate.is_some());
    told::<Decision>(&decision);
    let head = Head { number: group.head().number, digest: [7; 32] };
    let rejoin = group.decision(Change::Rejoin { head }, &people).unwrap();
    told::<Decision>(&rejoin);
    let first = fresh(decision.clone());
    let report = Some(first.report());
    let later = proposal(&decision, &[(0, vec![]), (1, vec![promise(0, report), promise(1, None)])]);
    told::<Standing>(&standing(later.clone(), &people));
    let judgements = judged(&group);
    told::<BallotMessage>(&BallotMessage::Proposal {
        proposal: later.clone(),
        judgements: judgements.clone(),
    });
    told::<BallotMessage>(&say_promise(&group, 0, 1, Some(&first)));
    told::<BallotMessage>(&say_commit(&group, 0, first.report()));
    told::<BallotMessage>(&say_judgement(&group, 0, first.report()));
    told::<BallotRecord>(&BallotRecord {
        parent: group.head(),
        promised: 2,
        judged: Some(first.report()),
        committed: Some(first.clone()),
        judgements,
        proposed: Some(later),
        owed: Some(first.report()),
    });
}
