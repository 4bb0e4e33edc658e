//! Whole groups: equal secrets, never the same twice, whatever happened before; kept state survives
//! a run that came to nothing.

use super::driver::{Seeded, World, member};
use folkmoot_agreement::mls::{Run, Suite};
use folkmoot_agreement::{AgreementError, ModuleName, Origin, Plan, begin};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn numbers(from: u16, to: u16) -> Vec<u16> {
    (from..to).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Any sequence of from nothing, join, leave, merge, leave and merge, refresh, with runs that
    /// are given up in between.
    #[test]
    fn any_sequence_of_changes_gives_equal_and_fresh_secrets(seed in any::<u64>(), changes in 2..9_usize) {
        let mut draw = Seeded(seed);
        let mut world = World::new(seed);
        let mut seen = BTreeSet::new();
        for _ in 0..changes {
            let members: BTreeSet<u16> = (0..1 + draw.below(9)).map(|_| u16::try_from(draw.below(12)).unwrap()).collect();
            let members: Vec<_> = members.into_iter().collect();
            if draw.below(3) == 0 {
                let mut abandoned = world.begin(&members);
                for _ in 0..draw.below(members.len() + 1) {
                    abandoned.deliver();
                }
            }
            if draw.below(4) == 0 {
                world.forget(&[members[draw.below(members.len())]]);
            }
            let (secret, _) = world.run(&members);
            prop_assert!(seen.insert(secret), "a secret came twice");
        }
    }
}

#[test]
fn messages_of_every_kind_of_change() {
    for size in [1, 2, 3, 5, 17] {
        let mut world = World::new(u64::from(size));
        let all = numbers(0, size);
        let (first, trial) = world.run(&all);
        assert_eq!(first.len(), 32);
        assert_eq!(
            trial.said.len(),
            if size == 1 { 0 } else { usize::from(size) },
            "n − 1 key packages, one commit"
        );
        let (refreshed, trial) = world.run(&all);
        assert_ne!(first, refreshed);
        assert_eq!(trial.said.len(), usize::from(size > 1), "one commit");
        let half = numbers(0, size.div_ceil(2));
        let (left, _) = world.run(&half);
        assert_ne!(left, refreshed);
        let (back, trial) = world.run(&all);
        let newcomers = all.len() - half.len();
        assert_eq!(trial.said.len(), if newcomers == 0 { usize::from(size > 1) } else { newcomers + 1 });
        assert_ne!(back, left);
    }
}

/// Bodies stay well within what is accepted, also where everybody's path is in the tree.
fn bounded(suite: Suite, size: u16) {
    let mut world = World::new(12);
    world.suite = suite;
    let all = numbers(0, size);
    let (package, commit) = (suite.key_package_bytes_max(), suite.commit_bytes_max(all.len()));
    let lengths = |world: &mut World, members: &[u16]| -> Vec<usize> {
        world.run(members).1.said.iter().map(|said| said.body.len()).collect()
    };
    let mut seen = lengths(&mut world, &all);
    assert!(seen.iter().rev().skip(1).all(|length| length * 10 / 9 < package));
    for _ in 0..size {
        seen.extend(lengths(&mut world, &all).last());
    }
    let half = numbers(0, size / 2);
    seen.extend(lengths(&mut world, &half).last());
    seen.extend(lengths(&mut world, &all).last());
    let longest = seen.iter().max().unwrap();
    assert!(longest * 10 / 9 < commit, "{longest} of {commit}");
}

#[test]
fn bodies_stay_within_their_bounds() {
    bounded(Suite::Classical, 16);
}

#[test]
fn hybrid_bodies_stay_within_their_bounds() {
    bounded(Suite::Hybrid, 16);
}

/// Two sides of a split meet: the larger keeps its tree, the other comes as newcomers; somebody
/// left meanwhile.
#[test]
fn sides_that_meet_and_leavers_in_one_run() {
    let mut world = World::new(3);
    world.run(&numbers(0, 9));
    world.run(&[0, 2, 4, 6, 8]);
    world.run(&[1, 3, 5, 7]);
    let (_, trial) = world.run(&[0, 1, 2, 3, 5, 6, 7, 8]);
    let spoke: Vec<_> = trial.said.iter().map(|said| said.from).collect();
    assert_eq!(spoke.len(), 5, "1, 3, 5 and 7 come new; one commit");
}

/// A run that comes to nothing, at any point, leaves the state that it began from as it was.
#[test]
fn a_run_given_up_changes_nothing() {
    let mut world = World::new(4);
    world.run(&numbers(0, 4));
    let members = numbers(1, 7);
    for steps in 0..4 {
        let mut abandoned = world.begin(&members);
        for _ in 0..steps {
            assert!(abandoned.deliver());
        }
        assert!(abandoned.runs.iter().all(|run| folkmoot_agreement::Module::keep(run).is_none()));
    }
    world.run(&members);
}

/// Runs from one kept state that go on side by side do not share what they draw.
#[test]
fn runs_side_by_side_do_not_meet() {
    let mut world = World::new(5);
    world.run(&numbers(0, 4));
    let (mut one, mut two) = (world.begin(&numbers(0, 5)), world.begin(&numbers(0, 6)));
    loop {
        let more = [one.deliver(), two.deliver()];
        if more == [false, false] {
            break;
        }
    }
    assert_ne!(one.finish(), two.finish());
}

/// A leaver gets nothing later from its whole state; a newcomer gets nothing earlier.
#[test]
fn leavers_and_joiners_are_shut_out() {
    let mut world = World::new(6);
    world.run(&numbers(0, 5));
    let before = world.clone();
    let (later, trial) = world.run(&[0, 1, 2, 4, 5]);
    // The leaver, 3, takes any possible part in the run, with its state and with none.
    for (me, number) in [0, 1, 2, 4, 5].into_iter().enumerate() {
        let ids: Vec<_> = [0, 1, 2, 4, 5].map(member).to_vec();
        let mut origins: Vec<_> =
            [0, 1, 2, 4, 5].iter().map(|number| before.kept.get(number).map(|kept| kept.0)).collect();
        let kept = &before.kept[&3];
        let honest = Plan::with_origins(&ids, me, origins.clone()).unwrap();
        if before.kept.contains_key(&number) {
            assert_eq!(
                Run::new(&honest, Some(&kept.1), Suite::Classical).err(),
                Some(AgreementError::LocalKept)
            );
        }
        origins[me] = Some(kept.0);
        let lying = Plan::with_origins(&ids, me, origins).unwrap();
        assert_eq!(Run::new(&lying, Some(&kept.1), Suite::Classical).err(), Some(AgreementError::LocalKept));
    }
    // Nor does the newcomer, 5, follow what was said before it came.
    let plan = Plan::new(&numbers(0, 5).into_iter().map(member).collect::<Vec<_>>(), 4).unwrap();
    let mut late = begin(ModuleName::Mls, &plan, None).unwrap();
    late.start(&mut Seeded(1));
    for said in &trial.said {
        assert!(late.receive(said.from, said.step, &said.body, &mut Seeded(1)).is_err());
    }
    assert_ne!(later, world.run(&[0, 1, 2, 4, 5]).0);
}

/// Not contributory (K6): in a refresh nobody draws but the committer, and the secret follows from
/// what it drew.
#[test]
fn the_committer_alone_makes_the_secret() {
    let mut world = World::new(11);
    world.run(&numbers(0, 4));
    let mut first = world.begin(&numbers(0, 4));
    let secret = first.finish();
    world.runs -= 1;
    let mut second = world.begin(&numbers(0, 4));
    for (me, draw) in second.draws.iter_mut().enumerate() {
        *draw = Seeded(me as u64);
    }
    assert_eq!(second.finish(), secret);
}

/// The member whose turn it is changes from run to run, so that everybody's keys are renewed.
#[test]
fn turns_go_round() {
    let mut world = World::new(7);
    world.run(&numbers(0, 4));
    let committers: BTreeSet<_> = (0..24).map(|_| world.run(&numbers(0, 4)).1.said[0].from).collect();
    assert_eq!(committers, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn what_is_kept_must_be_what_the_plan_says() {
    let mut world = World::new(8);
    world.run(&numbers(0, 3));
    let ids: Vec<_> = numbers(0, 3).into_iter().map(member).collect();
    let origins: Vec<_> = (0..3).map(|number| Some(world.kept[&number].0)).collect();
    let of = |me: usize, origins: &[Option<Origin>]| {
        let plan = Plan::with_origins(&ids, me, origins.to_vec()).unwrap();
        let number = u16::try_from(me).unwrap();
        begin(ModuleName::Mls, &plan, Some(&world.kept[&number].1)).err()
    };
    assert_eq!(of(0, &origins), None);
    let mut swapped = origins.clone();
    swapped.swap(1, 2);
    assert_eq!(
        of(0, &swapped),
        Some(AgreementError::PeerOrigin { from: 1 }),
        "places 1 and 2 have each other's leaf"
    );
    assert_eq!(of(1, &swapped), Some(AgreementError::LocalKept));
    let mut doubled = origins.clone();
    doubled[2] = doubled[1];
    assert!(matches!(of(0, &doubled), Some(AgreementError::PeerOrigin { .. })));
    let mut beyond = origins.clone();
    beyond[2] = Some(Origin { rank: u32::MAX, ..beyond[2].unwrap() });
    assert_eq!(of(0, &beyond), Some(AgreementError::PeerOrigin { from: 2 }));
    let mut empty = origins;
    empty[2] = Some(Origin { rank: 3, ..empty[2].unwrap() });
    assert_eq!(of(0, &empty), Some(AgreementError::PeerOrigin { from: 2 }));
    let plan =
        Plan::with_origins(&ids, 0, (0..3).map(|number| Some(world.kept[&number].0)).collect()).unwrap();
    let mut gdh = begin(ModuleName::Gdh, &Plan::new(&ids[..1], 0).unwrap(), None).unwrap();
    gdh.start(&mut Seeded(1));
    assert_eq!(begin(ModuleName::Mls, &plan, gdh.keep().as_ref()).err(), Some(AgreementError::LocalKept));
    assert_eq!(begin(ModuleName::Mls, &plan, None).err(), Some(AgreementError::LocalKept));
}
