//! GDH as runs: the published vectors, messages and exponentiations of every role, and what a
//! leaver can do with what it knows.

use crate::common::{Script, Seeded, Toy, share, sizes};
use crate::world::{Make, World};
use folkmoot_agreement::gdh::Run;
use folkmoot_agreement::{AgreementError, Kept, Module, Plan, PrimeGroup, Ristretto};

const PARTIAL: u8 = 1;
const FINAL: u8 = 2;
const FACT_OUT: u8 = 3;
const KEY_LIST: u8 = 4;
const NEW_MEMBER: u8 = 5;

fn make<G: PrimeGroup>(plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(Run::<G>::new(plan, kept)?))
}

fn merging(plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(Run::<Ristretto>::merging(plan, kept)?))
}

/// What the last run said: who, which step, which values.
fn said(world: &World<'_>) -> Vec<(u16, u8, Vec<u16>)> {
    let record = world.records.last().unwrap();
    let values =
        |body: &[u8]| body.chunks(2).map(|two| u16::from_be_bytes(two.try_into().unwrap())).collect();
    record.steps.iter().map(|(from, step, body)| (record.members[*from], *step, values(body))).collect()
}

fn secret(world: &World<'_>) -> u16 {
    let secret = world.records.last().unwrap().secret.clone().unwrap();
    u16::from_be_bytes(secret.try_into().unwrap())
}

fn complete(world: &mut World<'_>, members: &[u16]) {
    assert_eq!(world.complete(members, |_| true), Ok(()));
}

/// Shares 5, 7, 11; M4 joins with 17 (13 fresh); M2 leaves (19 fresh); M5, M6 come with 29, 31 (23
/// fresh).
#[test]
fn the_published_vectors_as_runs() {
    let mut world = World::new(&make::<Toy>, 1);
    for (number, shares) in [(1, vec![5]), (2, vec![7]), (3, vec![11, 13]), (4, vec![17, 19, 23])] {
        world.stream(number, Script(shares));
    }
    world.stream(5, share(29));
    world.stream(6, share(31));
    complete(&mut world, &[1, 2, 3]);
    assert_eq!(secret(&world), 880);
    assert_eq!(said(&world).last().unwrap(), &(3, KEY_LIST, vec![109, 702]));
    complete(&mut world, &[1, 2, 3, 4]);
    let join = [(3, NEW_MEMBER, vec![604, 227, 681, 180]), (4, KEY_LIST, vec![625, 687, 936])];
    assert_eq!(said(&world), join);
    assert_eq!(secret(&world), 718);
    complete(&mut world, &[1, 3, 4]);
    assert_eq!(said(&world), [(4, KEY_LIST, vec![598, 562])]);
    assert_eq!(secret(&world), 449);
    complete(&mut world, &[1, 3, 4, 5, 6]);
    let mut merge = said(&world);
    merge[3..7].sort_unstable();
    let chain = [(4, PARTIAL, vec![339]), (5, PARTIAL, vec![541]), (6, FINAL, vec![541])];
    let out =
        [667, 246, 82, 339].into_iter().zip([1, 3, 4, 5]).map(|(value, from)| (from, FACT_OUT, vec![value]));
    let list = (6, KEY_LIST, vec![618, 998, 99, 14]);
    assert_eq!(merge, chain.into_iter().chain(out).chain([list]).collect::<Vec<_>>());
    assert_eq!(secret(&world), 280);
}

/// The exponentiations of each member in the last run, by member number.
fn paid(world: &World<'_>) -> Vec<(u16, u64)> {
    let size = world.records.last().unwrap().members.len();
    let last = world.live.iter().rev().take(size);
    let mut paid: Vec<_> = last.map(|(number, run)| (*number, run.count().exponentiations)).collect();
    paid.sort_unstable();
    paid
}

/// One run from nothing of `before` members, then one with `after`, by age; what the second one
/// cost.
fn second(make: Make<'_>, before: &[u16], after: &[u16]) -> (usize, Vec<(u16, u64)>) {
    let mut world = World::new(make, 5);
    complete(&mut world, before);
    complete(&mut world, after);
    (world.records.last().unwrap().steps.len(), paid(&world))
}

fn upto(n: u16) -> Vec<u16> {
    (1..=n).collect()
}

/// §2.4's tables less the long-term rows, n with the one who comes or goes: controller and joiner
/// n, others 1; then n − 1.
#[test]
fn joins_and_leaves_cost_what_the_tables_say() {
    for n in sizes(2) {
        let wide = u64::from(n);
        let (messages, paid) = second(&make::<Ristretto>, &upto(n - 1), &upto(n));
        assert_eq!(messages, 2, "NEW_MEMBER and KEY_LIST");
        for (number, paid) in paid {
            assert_eq!(paid, if number + 1 >= n { wide } else { 1 }, "{number} of {n}");
        }
        for leaver in [1, n] {
            let remaining: Vec<_> = upto(n).into_iter().filter(|number| *number != leaver).collect();
            let (messages, paid) = second(&make::<Ristretto>, &upto(n), &remaining);
            assert_eq!(messages, usize::from(n > 2), "KEY_LIST, if there is anybody to tell");
            let controller = *remaining.last().unwrap();
            for (number, paid) in paid {
                assert_eq!(paid, if number == controller { wide - 1 } else { 1 }, "{number} of {n}");
            }
        }
        let (messages, paid) = second(&make::<Ristretto>, &upto(n), &upto(n));
        assert_eq!((messages, paid.last().unwrap().1), (1, wide), "a refresh: a leave of nobody");
    }
}

/// All three for small groups, and one of them, in turn, for the others.
fn some(n: u16, three: [u16; 3]) -> Vec<u16> {
    if n <= 9 { three.to_vec() } else { vec![three[usize::from(n % 3)]] }
}

/// §6.4's row GDH: n before, m come by the merge, p leave. Serial: what one after the other must
/// wait for.
#[test]
fn merges_and_partitions_cost_what_the_comparison_says() {
    for n in sizes(2) {
        for m in some(n, [1, 2, 5]).into_iter().filter(|_| n < 64) {
            let (messages, paid) = second(&merging, &upto(n), &upto(n + m));
            let (wide, many) = (u64::from(n), u64::from(m));
            assert_eq!(messages as u64, wide + 2 * many + 1, "{n} and {m}");
            // Old members: factor out, key. The old controller and the newcomers: also a share of
            // the chain. All but the member before the last, which remembers what its factor-out
            // is: 2. The last: n + m − 1 raised, and the key.
            let cost = |number: u16| match number {
                last if last == n + m => wide + many,
                old if old < n => 2,
                before if before + 1 == n + m => 2,
                _ => 3,
            };
            assert!(paid.iter().all(|(number, paid)| *paid == cost(*number)), "{n} and {m}: {paid:?}");
            // Serial: the chain m, a factor-out 1, then the last alone: the list n + m − 1, the key
            // 1.
            let out = u64::from(n + m > 2);
            let serial = many + out + paid.last().unwrap().1;
            assert_eq!(serial, wide + 2 * many + out, "published: n + 2m + 1");
        }
        for p in some(n, [1, n / 2, n - 1]).into_iter().filter(|p| *p > 0) {
            let remaining = upto(n).split_off(usize::from(p));
            let (messages, paid) = second(&make::<Ristretto>, &upto(n), &remaining);
            assert_eq!(messages, usize::from(n - p > 1));
            assert_eq!(paid.last().unwrap().1, u64::from(n - p), "n − p − 1 to renew and the key");
        }
    }
}

/// The stack's way: one comes by JOIN, several by MERGE, and whoever leaves at the same time costs
/// nothing more.
#[test]
fn a_change_of_both_kinds_is_one_run() {
    let steps = |before: &[u16], after: &[u16]| second(&make::<Ristretto>, before, after).0;
    assert_eq!(steps(&upto(8), &[1, 3, 5, 6, 9]), 2, "three leave, one joins");
    assert_eq!(steps(&upto(8), &[1, 3, 5, 6, 9, 10]), 4 + 2 * 2 + 1, "four leave, two come");
    assert_eq!(steps(&upto(8), &[1, 3]), 1);
}

/// The newest is the controller, whatever the places are; after it has left, the newest of the
/// others.
#[test]
fn the_controller_is_the_newest_that_is_left() {
    let mut world = World::new(&make::<Ristretto>, 1);
    for (members, controller) in [
        (vec![5, 6, 7], 7),
        (vec![3, 5, 6, 7], 3),
        (vec![1, 3, 5, 6, 7], 1),
        (vec![3, 5, 6, 7], 3),
        (vec![5, 6, 7], 7),
        (vec![5, 6], 6),
    ] {
        complete(&mut world, &members);
        let record = world.records.last().unwrap();
        let (from, step, _) = record.steps.last().unwrap();
        assert_eq!((record.members[*from], *step), (controller, KEY_LIST));
    }
}

/// Toy group: a leaver raises everything that was ever sent to its share, to the powers that undo
/// and redo it, and to whatever it can make of two shares if two leave together. None of the
/// results is the new key.
#[test]
fn leavers_cannot_compute_the_new_key_from_all_that_was_sent() {
    let mut world = World::new(&make::<Toy>, 3);
    for (number, shares) in [(1, vec![5]), (2, vec![7]), (3, vec![11]), (4, vec![13, 19, 57]), (5, vec![17])]
    {
        world.stream(number, Script(shares));
    }
    complete(&mut world, &[1, 2, 3, 4]);
    complete(&mut world, &[1, 2, 3, 4, 5]);
    complete(&mut world, &[1, 3, 4]);
    let new = u32::from(secret(&world));
    let (two, five) = (7, 17);
    let [two_out, five_out] = [two, five].map(|share| Toy::inverse(share).unwrap());
    let all: Vec<_> = world.records.iter().flat_map(|record| &record.steps).collect();
    for (_, _, body) in all {
        for value in body.chunks(2) {
            let value = Toy::decode_any(value).unwrap();
            for left in [1, two, two_out] {
                for right in [1, five, five_out] {
                    assert_ne!(Toy::raise(&Toy::raise(&value, &left), &right), new);
                }
            }
        }
    }
}

#[test]
fn agr_61_a_list_renews_every_value() {
    let mut world = World::new(&make::<Toy>, 1);
    for (number, shares) in [(1, vec![5]), (2, vec![7]), (3, vec![11, 13]), (4, vec![17])] {
        world.stream(number, Script(shares));
    }
    complete(&mut world, &[1, 2, 3]);
    let list = world.records[0].steps.last().unwrap().2.clone();
    let mut leave = world.start(&[1, 2, 3]).unwrap();
    let fresh = leave.next(&mut Seeded(1)).unwrap().3;
    let half = [&list[..2], &fresh[2..]].concat();
    for (me, run) in leave.runs.iter_mut().enumerate() {
        for old in [&list, &half] {
            let refused = run.receive(2, KEY_LIST, old, &mut Seeded(1)).unwrap_err();
            assert_eq!(refused, AgreementError::PeerNotRenewed, "the list before, at {me}");
        }
        run.receive(2, KEY_LIST, &fresh, &mut Seeded(1)).unwrap();
    }
    world.stream(3, share(19));
    let mut join = world.start(&[1, 2, 3, 4]).unwrap();
    let (from, step, decides, body) = join.next(&mut Seeded(1)).unwrap();
    assert_eq!(world.deliver(&mut join, (from, step, body.clone()), decides), Ok(()));
    let refused = join.runs[0].receive(3, KEY_LIST, &body[..6], &mut Seeded(1)).unwrap_err();
    assert_eq!(refused, AgreementError::PeerNotRenewed, "the joiner passes on what it got");
}
