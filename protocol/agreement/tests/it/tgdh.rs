//! TGDH: vectors, what each role pays, who can compute what, and every rule.

use crate::common::{Seeded, Toy, member, sizes};
use crate::trees::outsiders::{history, lost_sides};
use crate::trees::shapes::{above_both, depth, height, low, rightmost, sibling, told, without};
use crate::trees::{Ran, Wide, World, ids, span};
use folkmoot_agreement::tgdh::Run;
use folkmoot_agreement::{AgreementError, Kept, Module, Origin, Plan, PrimeGroup, Ristretto, Step};
use proptest::prelude::*;
use std::collections::BTreeMap;

const TREE: u8 = 1;
const KEYS: u8 = 2;

const LEAF: u8 = 0;
const PAIR: u8 = 1;
const BARE: u8 = 2;

fn make<G: PrimeGroup>(plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(Run::<G>::new(plan, kept)?))
}

/// The elements of a body.
fn elements(step: u8, body: &[u8]) -> Vec<Vec<u8>> {
    if step != TREE {
        return body.chunks(Wide::ELEMENT_BYTES).map(<[u8]>::to_vec).collect();
    }
    let (mut rest, mut found) = (body, Vec::new());
    while let Some((tag, after)) = rest.split_first() {
        let length = if *tag == BARE { 0 } else { Wide::ELEMENT_BYTES };
        found.extend((length > 0).then(|| after[..length].to_vec()));
        rest = &after[length..];
    }
    found
}

fn toy(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

fn leaf(value: u16) -> Vec<u8> {
    [vec![LEAF], toy(&[value])].concat()
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
    assert_eq!(Toy::raise(&80, &5), 681, "K<1,0>");
    assert_eq!(ran.steps[..3], [(0, TREE, leaf(5)), (1, TREE, leaf(80)), (2, TREE, leaf(100))]);
    assert_eq!(ran.steps[3..], [(0, KEYS, toy(&[775]))], "BK<1,0>");
    assert_eq!(ran.secret, toy(&[784]));
}

/// Worked out by hand from the definition of the tree: 4 joins, 2 leaves, 5 and 6 come with their
/// own tree.
#[test]
fn a_join_a_leave_and_a_merge_by_hand() {
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    world.script(3, &[13]);
    world.script(4, &[17]);
    let join = world.run(&[1, 2, 3, 4]);
    let base = [leaf(5), leaf(80), vec![PAIR], toy(&[775]), leaf(581), vec![BARE]].concat();
    assert_eq!(join.steps, [(2, TREE, base), (3, TREE, leaf(981)), (2, KEYS, toy(&[487]))]);
    assert_eq!(join.secret, toy(&[931]));
    assert_eq!(world.order(&[1, 2, 3, 4]), [1, 2, 3, 4], "3 and 4 are a pair");

    world.script(1, &[19]);
    let leave = world.run(&[1, 3, 4]);
    assert_eq!(leave.steps, [(0, KEYS, toy(&[411]))], "1 has moved up beside 3 and 4");
    assert_eq!(leave.secret, toy(&[433]));

    world.script(5, &[23]);
    world.script(6, &[29, 37]);
    assert_eq!(world.run(&[5, 6]).secret, toy(&[840]));
    world.script(4, &[31]);
    let merge = world.run(&[1, 3, 4, 5, 6]);
    let pair = |value| [vec![PAIR], toy(&[value])].concat();
    let base = [leaf(411), leaf(581), leaf(341), pair(322), pair(462)].concat();
    let other = [leaf(259), leaf(706), pair(650)].concat();
    assert_eq!(merge.steps, [(2, TREE, base), (4, TREE, other)], "hung over the root: nothing is missing");
    assert_eq!(merge.secret, toy(&[659]));
}

#[test]
fn from_nothing_costs_the_depth_and_what_is_told() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        let ran = world.run(&span(1, n));
        let (shape, told) = (low(n), told(&low(n)));
        for number in 1..=n {
            let pairs = told.get(&number).copied().unwrap_or_default();
            assert_eq!(ran.paid_by(number), depth(&shape, number) + 1 + pairs, "{number} of {n}");
        }
        assert_eq!(height(&shape), u64::from((n - 1).ilog2() + 1), "as low as can be");
        assert!(ran.rounds <= (n - 1).ilog2() as usize + 1, "rounds, n = {n}");
        assert_eq!(told.values().sum::<u64>(), u64::from(n) - 2);
        if n.is_power_of_two() {
            let h = u64::from(n.ilog2());
            assert_eq!((ran.rounds as u64, ran.steps.len()), (h, 2 * usize::from(n) - 2));
            assert_eq!(ran.paid.iter().sum::<u64>(), u64::from(n) * (h + 2) - 2);
            assert_eq!(ran.serial, 2 * h, "one share told, h keys, h − 1 of them told");
        }
    }
}

#[test]
fn a_join_costs_the_way_of_the_speaker_and_of_the_joiner() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n - 1));
        let ran = world.run(&span(1, n));
        let (before, after) = (low(n - 1), low(n));
        let speaker = rightmost(&before, &span(1, n - 1));
        let sponsor = rightmost(&after, &sibling(&after, n));
        let (h, d) = (height(&after), depth(&after, n));
        for number in 1..=n {
            let keys = above_both(&after, number, speaker).max(above_both(&after, number, n));
            let share = u64::from(number == speaker || number == n);
            let way =
                if number == speaker { depth(&after, speaker) - above_both(&after, speaker, n) } else { 0 };
            let climb = if number == sponsor { d - 1 } else { 0 };
            assert_eq!(ran.paid_by(number), keys + share + way + climb, "{number} of {n}");
        }
        if speaker == sponsor {
            assert_eq!(ran.paid_by(sponsor), 2 * depth(&after, sponsor), "as in a leave");
        }
        let told = if d == 1 { (1, 2) } else { (2, 3) };
        assert_eq!((ran.rounds, ran.steps.len()), told, "published: 2 and 3");
        assert!(ran.serial < 5 * h && (speaker != sponsor || ran.serial < 4 * h), "serial, n = {n}");
    }
}

#[test]
fn a_leave_costs_the_sponsor_twice_its_depth() {
    for n in sizes(2) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n));
        let (held, shape) = (world.held.clone(), low(n));
        let few = [1, 2, n / 2, n - 1, n];
        for leaver in (1..=n).filter(|leaver| n <= 16 || few.contains(leaver)) {
            world.held = held.clone();
            let remaining: Vec<_> = (1..=n).filter(|number| *number != leaver).collect();
            let ran = world.run(&remaining);
            let sponsor = rightmost(&shape, &sibling(&shape, leaver));
            renewed(&ran, &without(&shape, leaver), sponsor);
        }
    }
}

#[test]
fn a_refresh_costs_what_a_leave_costs() {
    for n in sizes(1) {
        let mut world = World::new(&make::<Wide>);
        world.run(&span(1, n));
        let ran = world.run(&span(1, n));
        let shape = low(n);
        let lowest = shape.values().map(Vec::len).min().unwrap();
        let nearest: Vec<_> = (1..=n).filter(|number| shape[number].len() == lowest).collect();
        renewed(&ran, &shape, rightmost(&shape, &nearest));
    }
}

/// One message: the sponsor's new share, h keys, h − 1 of them told; the others, the keys that are
/// above both.
fn renewed(ran: &Ran, shape: &BTreeMap<u16, Vec<bool>>, sponsor: u16) {
    let h = depth(shape, sponsor);
    assert_eq!(ran.paid_by(sponsor), (2 * h).max(1), "the sponsor");
    for other in ran.members.iter().copied().filter(|other| *other != sponsor) {
        assert_eq!(ran.paid_by(other), above_both(shape, other, sponsor), "{other}");
    }
    assert_eq!(ran.steps.len(), usize::from(h > 0));
    assert_eq!(ran.serial, if h == 0 { 1 } else { 3 * h - 1 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// p leave n: at most ⌊log2 p⌋ + 1 rounds and h of them, 2h messages, 2h exponentiations each.
    #[test]
    fn a_partition_stays_within_what_is_published(seed in any::<u64>(), n in 2..=40_u16) {
        let mut world = World::new(&make::<Wide>);
        let mut dice = Seeded(seed);
        world.run(&span(1, n));
        let height = height(&low(n));
        let gone = 1 + dice.below(usize::from(n) - 1);
        let mut remaining = span(1, n);
        for _ in 0..gone {
            remaining.remove(dice.below(remaining.len()));
        }
        let ran = world.run(&remaining);
        prop_assert!(ran.rounds <= gone.ilog2() as usize + 1 && ran.rounds as u64 <= height);
        prop_assert!(ran.steps.len() as u64 <= 2 * height.max(gone as u64));
        prop_assert!(ran.paid.iter().all(|paid| *paid <= (2 * height).max(1)));
    }

    /// k trees come together, some of which lost members: at most ⌈log2 k⌉ + 1 rounds if none did,
    /// and 2k messages.
    #[test]
    fn a_merge_stays_within_what_is_published(seed in any::<u64>(), sides in 2..=5_u16) {
        let mut world = World::new(&make::<Wide>);
        let mut dice = Seeded(seed);
        let mut all = Vec::new();
        for side in 0..sides {
            let size = 1 + u16::try_from(dice.below(8)).unwrap();
            let members = span(10 * side, 10 * side + size - 1);
            world.run(&members);
            all.extend(members);
        }
        let ran = world.run(&all);
        let most = (sides - 1).ilog2() as usize + 2;
        prop_assert!(ran.rounds <= most, "{} rounds", ran.rounds);
        prop_assert!(ran.steps.len() <= 2 * usize::from(sides));
        // A speaker: its side's way up, told; then again what is above where the trees meet.
        prop_assert!(ran.paid.iter().all(|paid| *paid <= 1 + 2 * 3 + 2 * 6));
    }
}

/// Two trees of eight come together: only the speakers compute more than the keys above both.
#[test]
fn sides_bring_their_trees() {
    let mut world = World::new(&make::<Wide>);
    world.run(&span(1, 8));
    world.run(&span(11, 18));
    let ran = world.run(&[span(1, 8), span(11, 18)].concat());
    let shape = low(8);
    for number in 1..=8 {
        let way = if number == 8 { 1 + 2 * 3 } else { above_both(&shape, number, 8) };
        assert_eq!(ran.paid_by(number), way + 1, "{number}: its tree's way, and the root");
        assert_eq!(ran.paid_by(number + 10), way + 1, "{number} of the other side");
    }
    assert_eq!((ran.rounds, ran.steps.len()), (1, 2));
    assert_eq!(world.order(&ran.members), ran.members, "the second tree is on the right");
}

#[test]
fn a_low_tree_goes_where_the_high_one_has_room() {
    let mut world = World::new(&make::<Wide>);
    world.run(&span(1, 5));
    world.run(&[20, 21]);
    world.run(&[1, 2, 3, 4, 5, 20, 21]);
    // (((1 2)(3 4)) 5): the pair fits beside 5.
    let ran = world.run(&[1, 2, 3, 4, 5, 20]);
    assert_eq!(ran.steps.len(), 1);
    assert_eq!(ran.steps[0].0, 5, "20 has moved up where 21 left");
    assert_eq!(ran.paid_by(20), 2 * 2, "it is two below the root: beside 5, not beside the root");
    assert_eq!(ran.paid_by(5), 2);
    assert_eq!(ran.paid_by(1), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

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
    let first = run.start(&mut Seeded(1));
    assert_eq!(first.len(), 1);
    let mut last = Vec::new();
    for place in 0..1000 {
        last = run.receive(place, TREE, &leaf(80), &mut Seeded(1)).unwrap();
    }
    assert!(matches!(&last[..], [Step::Send { step: KEYS, body, .. }] if body.len() == 2));
    assert!(run.awaited().contains(&0) && run.awaited().len() > 450, "nearly every pair's left");
}

/// 1, 2, 3 hold a tree, 4 comes: the runs of 1 (of the tree) and of 4 (not), and what 3 says of the
/// tree.
fn joining() -> (Box<dyn Module>, Box<dyn Module>, Vec<u8>) {
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    world.script(3, &[13]);
    world.script(4, &[17]);
    let (mut runs, said) = world.start(&[1, 2, 3, 4]);
    let Some((2, Step::Send { step: TREE, body, decides: true })) = said.into_iter().next() else {
        panic!("3 tells")
    };
    (runs.remove(0), runs.remove(2), body)
}

fn refused(run: &mut dyn Module, from: usize, step: u8, body: &[u8]) -> AgreementError {
    let before = run.awaited();
    let error = run.receive(from, step, body, &mut Seeded(1)).unwrap_err();
    assert_eq!(run.awaited(), before, "a refused step changed who is awaited");
    error
}

#[test]
fn agr_30_every_value_is_an_element_and_not_the_identity() {
    let (mut one, mut four, body) = joining();
    for (value, error) in [
        (0, AgreementError::PeerNotInGroup),
        (2, AgreementError::PeerNotInGroup),
        (1018, AgreementError::PeerNotInGroup),
        (1019, AgreementError::PeerNotInGroup),
        (1, AgreementError::PeerIdentity),
    ] {
        let wrong = [toy(&[value])[..].to_vec(), body[3..].to_vec()].concat();
        let wrong = [&[LEAF], wrong.as_slice()].concat();
        assert_eq!(refused(one.as_mut(), 2, TREE, &wrong), error, "{value}");
        assert_eq!(refused(four.as_mut(), 2, TREE, &wrong), error, "{value}");
        assert_eq!(refused(four.as_mut(), 3, TREE, &leaf(value)), error, "{value}");
    }
    one.receive(2, TREE, &body, &mut Seeded(1)).unwrap();
    one.receive(3, TREE, &leaf(981), &mut Seeded(1)).unwrap();
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[1])), AgreementError::PeerIdentity);
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[2])), AgreementError::PeerNotInGroup);
}

#[test]
fn agr_31_a_tree_is_one_of_its_sides_members_and_could_have_come_about() {
    let pair = [vec![PAIR], toy(&[775])].concat();
    let bare = vec![BARE];
    let (a, b, c) = (leaf(5), leaf(80), leaf(581));
    for (body, error) in [
        (vec![&a, &b, &pair], AgreementError::PeerWrongList),
        (vec![&a, &b, &pair, &c, &bare, &c, &bare], AgreementError::PeerWrongList),
        (vec![&a, &b, &pair, &c], AgreementError::PeerMalformed),
        (vec![&a, &b, &pair, &bare], AgreementError::PeerMalformed),
        (vec![&pair, &a, &b, &c], AgreementError::PeerMalformed),
        (vec![&a, &b, &bare, &c, &pair], AgreementError::PeerWrongTree),
        (vec![&a, &b, &pair, &c, &vec![3]], AgreementError::PeerMalformed),
        (vec![], AgreementError::PeerMalformed),
    ] {
        let body = body.into_iter().flatten().copied().collect::<Vec<_>>();
        let (mut one, mut four, honest) = joining();
        for run in [&mut one, &mut four] {
            assert_eq!(refused(run.as_mut(), 2, TREE, &body), error, "{body:?}");
            for cut in 0..honest.len() {
                refused(run.as_mut(), 2, TREE, &honest[..cut]);
            }
            refused(run.as_mut(), 2, TREE, &[honest.as_slice(), &[LEAF]].concat());
            run.receive(2, TREE, &honest, &mut Seeded(1)).unwrap();
        }
    }
}

#[test]
fn agr_32_a_sides_members_hold_its_speaker_to_what_they_kept() {
    let pair = |value: u16| [vec![PAIR], toy(&[value])].concat();
    let (a, b, c) = (leaf(5), leaf(80), leaf(581));
    for (body, error) in [
        ([&a[..], &b, &pair(775), &leaf(100), &[BARE]].concat(), AgreementError::PeerNotRenewed),
        ([&a[..], &b, &pair(5), &c, &[BARE]].concat(), AgreementError::PeerWrongTree),
        ([&b[..], &a, &pair(775), &c, &[BARE]].concat(), AgreementError::PeerWrongTree),
        ([&a[..], &b, &c, &[BARE], &[BARE]].concat(), AgreementError::PeerWrongTree),
        ([&a[..], &b, &[BARE], &c, &[BARE]].concat(), AgreementError::PeerWrongTree),
        ([&a[..], &b, &pair(775), &c, &pair(5)].concat(), AgreementError::PeerWrongTree),
    ] {
        let (mut one, mut four, _) = joining();
        assert_eq!(refused(one.as_mut(), 2, TREE, &body), error);
        four.receive(2, TREE, &body, &mut Seeded(1)).unwrap();
    }
    // All know the tree, so all see that the share is the old one.
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
fn agr_33_a_sponsor_tells_what_its_turn_has() {
    let (mut one, mut four, body) = joining();
    for run in [&mut one, &mut four] {
        run.receive(2, TREE, &body, &mut Seeded(1)).unwrap();
        run.receive(3, TREE, &leaf(981), &mut Seeded(1)).unwrap();
        for wrong in [&[][..], &[5], &[5, 5], &[487, 5]] {
            let wrong = if wrong == [5] { vec![5] } else { toy(wrong) };
            assert_eq!(refused(run.as_mut(), 2, KEYS, &wrong), AgreementError::PeerMalformed);
        }
        let steps = run.receive(2, KEYS, &toy(&[487]), &mut Seeded(1)).unwrap();
        assert!(matches!(&steps[..], [Step::Done(_)]));
    }
}

#[test]
fn agr_34_steps_come_from_whose_turn_it_is_and_once() {
    let (mut one, _, body) = joining();
    let turn = |from, step| AgreementError::PeerOutOfTurn { from, step };
    assert_eq!(one.awaited(), [2, 3]);
    assert_eq!(refused(one.as_mut(), 0, TREE, &body), turn(0, TREE));
    assert_eq!(refused(one.as_mut(), 9, TREE, &body), turn(9, TREE));
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[487])), turn(2, KEYS));
    assert_eq!(refused(one.as_mut(), 2, 0, &body), AgreementError::PeerUnknownStep(0));
    assert_eq!(refused(one.as_mut(), 2, 4, &body), AgreementError::PeerUnknownStep(4));
    one.receive(2, TREE, &body, &mut Seeded(1)).unwrap();
    let again = AgreementError::PeerRepeated { from: 2, step: TREE };
    assert_eq!(refused(one.as_mut(), 2, TREE, &body), again);
    one.receive(3, TREE, &leaf(981), &mut Seeded(1)).unwrap();
    assert_eq!(one.awaited(), [2]);
    assert_eq!(refused(one.as_mut(), 2, TREE, &body), again);
    assert_eq!(refused(one.as_mut(), 3, KEYS, &toy(&[487])), turn(3, KEYS));
    one.receive(2, KEYS, &toy(&[487]), &mut Seeded(1)).unwrap();
    let again = AgreementError::PeerRepeated { from: 2, step: KEYS };
    assert_eq!(refused(one.as_mut(), 2, KEYS, &toy(&[487])), again);
}

/// A state of another module or of another group is none.
#[test]
fn only_its_own_state_is_taken() {
    let mut world = World::new(&make::<Toy>);
    three(&mut world);
    let (origin, kept) = world.held[&1].clone();
    let plan = Plan::with_origins(&[member(1)], 0, vec![Some(origin)]).unwrap();
    assert_eq!(Run::<Ristretto>::new(&plan, Some(&kept)).err(), Some(AgreementError::LocalKept));
    assert_eq!(Run::<Toy>::new(&plan, None).err(), Some(AgreementError::LocalKept));
    let list = folkmoot_agreement::skinny::Run::<Toy>::new(&plan, Some(&kept)).err();
    assert_eq!(list, Some(AgreementError::LocalKept));
    let other = Origin { rank: 1, ..origin };
    let plan = Plan::with_origins(&[member(1)], 0, vec![Some(other)]).unwrap();
    assert_eq!(Run::<Toy>::new(&plan, Some(&kept)).err(), Some(AgreementError::LocalKept));
}
