//! STR: vectors, what each role pays, who can compute what, and every rule.

use crate::common::{Seeded, Toy, sizes};
use crate::trees::outsiders::{history, lost_sides};
use crate::trees::{Ran, Wide, World, ids, span};
use folkmoot_agreement::skinny::Run;
use folkmoot_agreement::{AgreementError, Kept, Module, Plan, PrimeGroup, Step};
use proptest::prelude::*;

const TREE: u8 = 1;
const KEYS: u8 = 2;

fn make<G: PrimeGroup>(plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(Run::<G>::new(plan, kept)?))
}

/// The elements of a body.
fn elements(_step: u8, body: &[u8]) -> Vec<Vec<u8>> {
    body.chunks(Wide::ELEMENT_BYTES).map(<[u8]>::to_vec).collect()
}

fn toy(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// Shares 5, 7, 11 of members 1, 2, 3.
fn three(world: &mut World<'_>) -> Ran {
    for (number, share) in [(1, 5), (2, 7), (3, 11)] {
        world.script(number, &[share]);
    }
    world.run(&[1, 2, 3])
}

#[test]
fn the_published_vector() {
    let mut world = World::new(&make::<Toy>);
    let ran = three(&mut world);
    assert_eq!(Toy::raise(&80, &5), 681, "k2");
    let shares = [(0, TREE, toy(&[5])), (1, TREE, toy(&[80])), (2, TREE, toy(&[100]))];
    assert_eq!(ran.steps[..3], shares);
    assert_eq!(ran.steps[3..], [(0, KEYS, toy(&[775]))], "bk2");
    assert_eq!(ran.secret, toy(&[784]), "k3");
}

/// Worked out by hand from the definition: 4 joins, 2 leaves, 5 and 6 come, who had a key of their
/// own.
#[test]
fn a_join_a_leave_and_a_merge_by_hand() {
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    world.script(3, &[13]);
    world.script(4, &[17]);
    let join = world.run(&[1, 2, 3, 4]);
    assert_eq!(join.steps, [(2, TREE, toy(&[5, 80, 581, 775, 108])), (3, TREE, toy(&[981]))]);
    assert_eq!(join.secret, toy(&[286]));

    world.script(1, &[19]);
    let leave = world.run(&[1, 3, 4]);
    assert_eq!(leave.steps, [(0, KEYS, toy(&[411, 541]))], "1 is below where 2 was");
    assert_eq!(leave.secret, toy(&[462]));

    world.script(5, &[23]);
    world.script(6, &[29, 37]);
    assert_eq!(world.run(&[5, 6]).secret, toy(&[840]));
    world.script(4, &[31]);
    let merge = world.run(&[1, 3, 4, 5, 6]);
    let base = toy(&[411, 581, 341, 541, 883]);
    assert_eq!(merge.steps, [(2, TREE, base), (4, TREE, toy(&[259, 706])), (2, KEYS, toy(&[626]))]);
    assert_eq!(merge.secret, toy(&[78]));
    assert_eq!(world.order(&merge.members), merge.members);
}

#[test]
fn from_nothing_costs_the_first_most() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        let ran = world.run(&span(1, n));
        let wide = u64::from(n);
        assert_eq!(ran.paid_by(1), 2 * wide - 2, "its share, n − 1 keys, all but the last told");
        for number in 2..=n {
            assert_eq!(ran.paid_by(number), 1 + wide + 1 - u64::from(number), "{number} of {n}");
        }
        let told = usize::from(n > 2);
        assert_eq!((ran.rounds, ran.steps.len()), (1 + told, usize::from(n) + told));
        assert_eq!(ran.serial, if n == 2 { 2 } else { 3 * wide - 5 });
    }
}

#[test]
fn a_join_costs_the_same_at_every_size() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n - 1));
        let ran = world.run(&span(1, n));
        for number in 1..=n {
            let sponsor = number == n - 1 && n > 2;
            assert_eq!(ran.paid_by(number), if sponsor { 4 } else { 2 }, "{number} of {n}");
        }
        assert_eq!((ran.rounds, ran.steps.len()), (1, 2), "published: 2 and 3");
        assert_eq!(ran.serial, if n == 2 { 2 } else { 5 }, "published: a constant");
    }
}

/// One message by who is at place p of the m that remain; what is above it is new. `from` is the
/// lowest pair that changed.
fn renewed(ran: &Ran, m: u64, p: u64) {
    let from = p.max(1);
    if m == 1 {
        assert_eq!((ran.steps.len(), &ran.paid[..]), (0, &[1][..]));
        return;
    }
    for (q, paid) in (0..m).zip(&ran.paid) {
        let expected = if q == p { 2 * (m - from) } else { m - from.max(q) };
        assert_eq!(*paid, expected, "place {q} of {m}, {p} renews");
    }
    assert_eq!((ran.rounds, ran.steps.len()), (1, 1));
    assert_eq!(ran.steps[0].2.len() as u64, 8 * (m - from), "its share, and the keys above but the last");
    assert_eq!(ran.serial, 3 * (m - from) - 1);
}

#[test]
fn a_leave_costs_what_is_above_the_leaver() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n));
        let held = world.held.clone();
        let few = [1, 2, n / 2, n - 1, n];
        let mut serial = 0;
        for leaver in (1..=n).filter(|leaver| n <= 12 || few.contains(leaver)) {
            world.held = held.clone();
            let remaining: Vec<_> = (1..=n).filter(|number| *number != leaver).collect();
            let ran = world.run(&remaining);
            renewed(&ran, u64::from(n) - 1, u64::from(leaver).saturating_sub(2));
            serial += ran.serial;
        }
        let wide = u64::from(n);
        assert!(n > 12 || serial <= wide * (3 * wide / 2 + 2), "3n/2 on average");
    }
}

#[test]
fn a_partition_costs_what_is_above_the_lowest_leaver() {
    let mut world = World::new(&make::<Wide>);
    world.run(&span(1, 12));
    let held = world.held.clone();
    for (remaining, renewer) in [
        (vec![1, 2, 4, 7, 8, 12], 1),
        (vec![3, 5, 6, 12], 0),
        (vec![1, 2, 3, 4, 5], 4),
        (vec![1, 12], 0),
        (span(1, 10), 9),
    ] {
        world.held = held.clone();
        let ran = world.run(&remaining);
        renewed(&ran, remaining.len() as u64, renewer);
    }
}

#[test]
fn a_refresh_costs_two() {
    for n in sizes(1) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n));
        let ran = world.run(&span(1, n));
        renewed(&ran, u64::from(n), u64::from(n) - 1);
    }
}

#[test]
fn a_merge_costs_three_for_each_who_comes() {
    for (base, sides) in [(1, vec![1, 1]), (4, vec![3]), (6, vec![5, 4, 1]), (20, vec![12]), (2, vec![2, 2])]
    {
        let mut world = World::new(&make::<Wide>);
        let mut all = span(1, base);
        world.run(&all);
        let mut speakers = vec![base];
        for (at, size) in sides.iter().enumerate() {
            let first = 100 * (u16::try_from(at).unwrap() + 1);
            let members = span(first, first + size - 1);
            world.run(&members);
            all.extend(&members);
            speakers.extend(members.last());
        }
        let ran = world.run(&all);
        let (wide, k) = (u64::from(base), all.len() as u64 - u64::from(base));
        let below = 2 * u64::from(wide > 1);
        assert_eq!(ran.paid_by(base), 1 + below + 2 * (k - 1) + 1, "the base's topmost");
        for number in 1..base {
            assert_eq!(ran.paid_by(number), below / 2 + k);
        }
        for (number, above) in all[usize::from(base)..].iter().zip((1..=k).rev()) {
            assert_eq!(ran.paid_by(*number), above + u64::from(speakers.contains(number)), "{number}");
        }
        assert_eq!((ran.rounds, ran.steps.len()), (2, speakers.len() + 1), "published: 2 and k + 1");
        assert!(ran.serial <= 3 * k.max(3), "published: 3m");
    }
}

/// Some leave the base in the middle, some leave a side, all in one run with a merge.
#[test]
fn a_leave_and_a_merge_are_one_run() {
    let mut world = World::new(&make::<Wide>);
    world.run(&span(1, 8));
    world.run(&span(11, 15));
    let members = [1, 2, 4, 5, 7, 11, 13, 20];
    let ran = world.run(&members);
    let said: Vec<_> =
        ran.steps.iter().map(|(from, step, body)| (members[*from], *step, body.len() / 8)).collect();
    let mut trees = said[..3].to_vec();
    trees.sort_unstable();
    assert_eq!(trees, [(2, TREE, 9), (13, TREE, 2), (20, TREE, 1)], "2 is below the lowest who left");
    assert_eq!(said[3..], [(7, KEYS, 2)], "the base's topmost");
    assert_eq!(ran.paid_by(2), 1 + 2 * 4 + 3, "its share, all pairs of the base above it, three more");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// All who were not in a run, with all they drew before and after, every other secret and all
    /// that was sent.
    #[test]
    fn who_was_not_in_a_run_cannot_compute_its_secret(seed in any::<u64>()) {
        prop_assert_eq!(history(&make::<Wide>, elements, seed, 12), Ok(()));
    }
}

#[test]
fn a_merge_of_sides_that_lost_members_leaves_the_lost_out() {
    lost_sides(&make::<Wide>, elements);
}

/// A thousand is the most that a group has.
#[test]
fn a_thousand_leaves_fit() {
    let all = span(0, 999);
    let mut run = Run::<Toy>::new(&Plan::new(&ids(&all), 0).unwrap(), None).unwrap();
    assert_eq!(run.start(&mut Seeded(1)).len(), 1);
    let mut last = Vec::new();
    for place in 0..1000 {
        last = run.receive(place, TREE, &toy(&[80]), &mut Seeded(1)).unwrap();
    }
    let [Step::Send { step: KEYS, body, decides: true }] = &last[..] else {
        panic!("all but the root's key")
    };
    assert_eq!(body.len(), 2 * 998);
    let done = run.receive(0, KEYS, body, &mut Seeded(1)).unwrap();
    assert!(matches!(&done[..], [Step::Done(_)]));
    assert_eq!(run.keep().unwrap().rank(), 0);
}

/// 1, 2, 3 hold a list; 4 and 5 come: the runs of 1 and of 4, and what 3 says of the list.
fn joining() -> (Box<dyn Module>, Box<dyn Module>, Vec<u8>) {
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    world.script(3, &[13]);
    world.script(4, &[17]);
    let (mut runs, said) = world.start(&[1, 2, 3, 4, 5]);
    let Some((2, Step::Send { step: TREE, body, decides: false })) = said.into_iter().next() else {
        panic!("3 tells")
    };
    assert_eq!(body, toy(&[5, 80, 581, 775, 108]));
    (runs.remove(0), runs.remove(2), body)
}

fn refused(run: &mut dyn Module, from: usize, step: u8, body: &[u8]) -> AgreementError {
    let before = run.awaited();
    let error = run.receive(from, step, body, &mut Seeded(1)).unwrap_err();
    assert_eq!(run.awaited(), before, "a refused step changed who is awaited");
    error
}

/// All have told: the sponsor is next.
fn told(run: &mut dyn Module, body: &[u8]) {
    run.receive(2, TREE, body, &mut Seeded(1)).unwrap();
    for (from, share) in [(3, 981), (4, 411)] {
        run.receive(from, TREE, &toy(&[share]), &mut Seeded(1)).unwrap();
    }
}

#[test]
fn agr_40_every_value_is_an_element_and_not_the_identity() {
    let (mut one, mut four, body) = joining();
    for run in [&mut one, &mut four] {
        for at in 0..5 {
            let mut wrong = body.clone();
            for (value, error) in [
                (0, AgreementError::PeerNotInGroup),
                (2, AgreementError::PeerNotInGroup),
                (1018, AgreementError::PeerNotInGroup),
                (1019, AgreementError::PeerNotInGroup),
                (1, AgreementError::PeerIdentity),
            ] {
                wrong[2 * at..2 * at + 2].copy_from_slice(&toy(&[value]));
                assert_eq!(refused(run.as_mut(), 2, TREE, &wrong), error, "{value} at {at}");
                assert_eq!(refused(run.as_mut(), 3, TREE, &toy(&[value])), error, "{value}");
            }
        }
        told(run.as_mut(), &body);
        assert_eq!(refused(run.as_mut(), 2, KEYS, &toy(&[1])), AgreementError::PeerIdentity);
        assert_eq!(refused(run.as_mut(), 2, KEYS, &toy(&[2])), AgreementError::PeerNotInGroup);
    }
}

#[test]
fn agr_41_a_list_has_one_value_for_each_share_and_each_key() {
    let (mut one, mut four, body) = joining();
    for run in [&mut one, &mut four] {
        for cut in 0..body.len() {
            assert_eq!(refused(run.as_mut(), 2, TREE, &body[..cut]), AgreementError::PeerMalformed);
        }
        let longer = [body.as_slice(), &toy(&[5])].concat();
        assert_eq!(refused(run.as_mut(), 2, TREE, &longer), AgreementError::PeerMalformed);
        assert_eq!(refused(run.as_mut(), 3, TREE, &toy(&[981, 5])), AgreementError::PeerMalformed);
        assert_eq!(refused(run.as_mut(), 3, TREE, &[]), AgreementError::PeerMalformed);
        told(run.as_mut(), &body);
    }
}

#[test]
fn agr_42_a_sides_members_hold_its_speaker_to_what_they_kept() {
    for (body, error) in [
        ([5, 80, 100, 775, 108], AgreementError::PeerNotRenewed),
        ([80, 5, 581, 775, 108], AgreementError::PeerWrongTree),
        ([5, 80, 581, 5, 108], AgreementError::PeerWrongTree),
    ] {
        let (mut one, mut four, _) = joining();
        assert_eq!(refused(one.as_mut(), 2, TREE, &toy(&body)), error);
        four.receive(2, TREE, &toy(&body), &mut Seeded(1)).unwrap();
    }
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    world.script(3, &[13]);
    let (mut runs, _) = world.start(&[1, 2, 3]);
    for run in &mut runs {
        assert_eq!(refused(run.as_mut(), 2, KEYS, &toy(&[100])), AgreementError::PeerNotRenewed);
        run.receive(2, KEYS, &toy(&[581]), &mut Seeded(1)).unwrap();
    }
}

#[test]
fn agr_43_a_sponsor_tells_what_its_turn_has() {
    let (mut one, mut four, body) = joining();
    for run in [&mut one, &mut four] {
        told(run.as_mut(), &body);
        for wrong in [vec![], vec![5], toy(&[5, 5])] {
            assert_eq!(refused(run.as_mut(), 2, KEYS, &wrong), AgreementError::PeerMalformed);
        }
        let steps = run.receive(2, KEYS, &toy(&[5]), &mut Seeded(1)).unwrap();
        assert!(matches!(&steps[..], [Step::Done(_)]));
    }
}

#[test]
fn agr_44_steps_come_from_whose_turn_it_is_and_once() {
    let (mut one, _, body) = joining();
    let turn = |from, step| AgreementError::PeerOutOfTurn { from, step };
    assert_eq!(one.awaited(), [2, 3, 4]);
    assert_eq!(refused(one.as_mut(), 0, TREE, &body), turn(0, TREE));
    assert_eq!(refused(one.as_mut(), 9, TREE, &body), turn(9, TREE));
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[5])), turn(2, KEYS));
    assert_eq!(refused(one.as_mut(), 2, 0, &body), AgreementError::PeerUnknownStep(0));
    assert_eq!(refused(one.as_mut(), 2, 4, &body), AgreementError::PeerUnknownStep(4));
    told(one.as_mut(), &body);
    let again = |step| AgreementError::PeerRepeated { from: 2, step };
    assert_eq!(refused(one.as_mut(), 2, TREE, &body), again(TREE));
    assert_eq!(one.awaited(), [2]);
    assert_eq!(refused(one.as_mut(), 3, KEYS, &toy(&[5])), turn(3, KEYS));
    one.receive(2, KEYS, &toy(&[5]), &mut Seeded(1)).unwrap();
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[5])), again(KEYS));
}
