//! BD and Dutta–Barua: the published vectors, costs, and what is refused and by whom.

use crate::common::{P, Q, Script, Seeded, Toy, member, power, sizes};
use crate::world::{Make, Running, World};
use folkmoot_agreement::{
    AgreementError, Kept, Module, ModuleName, Plan, PrimeGroup, Ristretto, bd, dutta_barua,
};
use std::collections::BTreeSet;

const SHARE: u8 = 1;
const LINK: u8 = 2;
const OPEN: u8 = 3;

fn fresh<G: PrimeGroup>(plan: &Plan, _: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(bd::run::<G>(plan)?))
}

fn keeping<G: PrimeGroup>(plan: &Plan, kept: Option<&Kept>) -> Result<Box<dyn Module>, AgreementError> {
    Ok(Box::new(dutta_barua::run::<G>(plan, kept)?))
}

/// A world in which each of the members 1, 2, … draws its shares from a list.
fn scripted<'a>(make: Make<'a>, shares: &[&[u16]]) -> World<'a> {
    let mut world = World::new(make, 1);
    for (number, shares) in (1..).zip(shares) {
        world.stream(number, Script(shares.to_vec()));
    }
    world
}

fn complete(world: &mut World<'_>, members: &[u16]) {
    assert_eq!(world.complete(members, |_| true), Ok(()));
}

/// Every value of one step of the last run, by member.
fn said(world: &World<'_>, wanted: u8) -> Vec<(u16, u16)> {
    let record = world.records.last().unwrap();
    let of_step = record.steps.iter().filter(|(_, step, _)| *step == wanted);
    let mut said: Vec<_> = of_step
        .map(|(from, _, body)| {
            (record.members[*from], u16::from_be_bytes(body.as_slice().try_into().unwrap()))
        })
        .collect();
    said.sort_unstable();
    said
}

fn values(world: &World<'_>, step: u8) -> Vec<u16> {
    said(world, step).into_iter().map(|(_, value)| value).collect()
}

fn secret(world: &World<'_>) -> u16 {
    let secret = world.records.last().unwrap().secret.clone().unwrap();
    u16::from_be_bytes(secret.try_into().unwrap())
}

#[test]
fn the_published_vectors() {
    for make in [fresh::<Toy>, keeping::<Toy>] {
        let mut four = scripted(&make, &[&[5], &[7], &[11], &[13]]);
        complete(&mut four, &[1, 2, 3, 4]);
        assert_eq!(values(&four, SHARE), [5, 80, 100, 581]);
        assert_eq!(values(&four, LINK), [3, 473, 908, 610]);
        assert_eq!(secret(&four), 565);
        let mut two = scripted(&make, &[&[5], &[7]]);
        complete(&mut two, &[1, 2]);
        assert_eq!((values(&two, LINK), secret(&two)), (vec![1, 1], 116));
    }
}

/// The circle (5, 390, 13, 17, 19): the second speaks with the hash of the old key 565, the third
/// listens.
#[test]
fn the_published_join() {
    let mut world = scripted(&keeping::<Toy>, &[&[5, 5], &[7], &[11], &[13, 13], &[17], &[19]]);
    complete(&mut world, &[1, 2, 3, 4]);
    complete(&mut world, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(said(&world, LINK), [(1, 437), (2, 908), (4, 57), (5, 279), (6, 475)]);
    assert_eq!(secret(&world), 17);
    // And from what that left: the first, second and last of six, then the joiner.
    for number in [1, 6, 7] {
        world.stream(number, Seeded(u64::from(number)));
    }
    complete(&mut world, &[1, 2, 3, 4, 5, 6, 7]);
    let speakers: Vec<_> = said(&world, LINK).into_iter().map(|(from, _)| from).collect();
    assert_eq!(speakers, [1, 2, 6, 7]);
}

/// The key as Burmester and Desmedt write it: `z_(i−1)^(n·r_i) · X_i^(n−1) · X_(i+1)^(n−2) · … ·
/// X_(i−2)`.
#[test]
fn the_key_is_the_product_that_the_paper_writes() {
    for n in 2..=12_u16 {
        let shares: Vec<_> = (0..n).map(|i| 3 + 31 * i).collect();
        let lists: Vec<_> = shares.iter().map(std::slice::from_ref).collect();
        let mut world = scripted(&fresh::<Toy>, &lists);
        let members: Vec<_> = (1..=n).collect();
        complete(&mut world, &members);
        let (z, x) = (values(&world, SHARE), values(&world, LINK));
        let size = usize::from(n);
        for i in 0..size {
            let before = u32::from(z[(i + size - 1) % size]);
            let mut key = power(before, u32::from(n) * u32::from(shares[i]) % Q, P);
            for k in 0..size - 1 {
                let small = u32::try_from(size - 1 - k).unwrap();
                key = key * power(u32::from(x[(i + k) % size]), small, P) % P;
            }
            assert_eq!(key, u32::from(secret(&world)), "member {i} of {n}");
        }
    }
}

fn paid(world: &World<'_>) -> Vec<(u16, u64)> {
    let size = world.records.last().unwrap().members.len();
    let last = world.live.iter().rev().take(size);
    let mut paid: Vec<_> = last.map(|(number, run)| (*number, run.count().exponentiations)).collect();
    paid.sort_unstable();
    paid
}

/// §6.4's row BD: 2n messages and three exponentiations, whatever event came before.
#[test]
fn a_fresh_run_costs_three_exponentiations_and_two_messages_each() {
    for make in [fresh::<Ristretto>, keeping::<Ristretto>] {
        for n in sizes(2) {
            let mut world = World::new(&make, 1);
            for members in [(1..=n).collect::<Vec<_>>(), (2..=n).collect()] {
                complete(&mut world, &members);
                let many = members.len() > 1;
                assert_eq!(world.records.last().unwrap().steps.len(), usize::from(many) * 2 * members.len());
                let each = if many { 3 } else { 1 };
                assert!(paid(&world).iter().all(|(_, paid)| *paid == each), "{n}: {:?}", paid(&world));
            }
        }
    }
}

/// The cost of a join depends on the joiners, not on the group's size: 2 (m + 3) messages. The
/// second and the joiners pay three exponentiations. The first and the last also check the second.
/// A listener checks it and computes one.
#[test]
fn a_join_costs_the_same_in_every_group() {
    for n in sizes(3).filter(|n| *n < 64) {
        for m in [1, 2, 4] {
            let mut world = World::new(&keeping::<Ristretto>, 1);
            complete(&mut world, &(1..=n).collect::<Vec<_>>());
            complete(&mut world, &(1..=n + m).collect::<Vec<_>>());
            assert_eq!(world.records.last().unwrap().steps.len(), 2 * usize::from(m + 3));
            for (number, paid) in paid(&world) {
                let cost = if number == 1 || number == n { 5 } else { 3 };
                assert_eq!(paid, cost, "{number} of {n} and {m}");
            }
        }
    }
}

/// Everything else is a KeyAgree: refresh, any leave, a leave with a join, a join to two, a lost
/// state.
#[test]
fn only_a_complete_group_of_three_takes_the_join() {
    for (before, after) in [
        (vec![1, 2, 3, 4], vec![1, 2, 3, 4]),
        (vec![1, 2, 3, 4], vec![1, 2, 3]),
        (vec![1, 2, 3, 4], vec![2, 3, 4]),
        (vec![1, 2, 3, 4], vec![1, 2, 3, 5]),
        (vec![1, 2, 3, 4], vec![1, 3, 4, 5, 6]),
        (vec![1, 2], vec![1, 2, 3]),
    ] {
        let mut world = World::new(&keeping::<Ristretto>, 1);
        complete(&mut world, &before);
        complete(&mut world, &after);
        assert_eq!(world.records.last().unwrap().steps.len(), 2 * after.len(), "{before:?} to {after:?}");
    }
    let mut world = World::new(&keeping::<Ristretto>, 1);
    complete(&mut world, &[1, 2, 3, 4]);
    world.holdings.remove(&4);
    complete(&mut world, &[1, 2, 3, 4]);
    assert_eq!(world.records.last().unwrap().steps.len(), 8, "one of four has lost its state");
}

/// What each member answered to a step: from where, which step, why refused.
type Answer = (usize, u8, Vec<Option<AgreementError>>);

/// Starts a run, and delivers what `lie` makes of every step.
fn lied(
    world: &mut World<'_>,
    members: &[u16],
    lie: impl Fn(usize, u8, &[u8]) -> Vec<u8>,
) -> (Running, Vec<Answer>) {
    let mut running = world.start(members).unwrap();
    let mut verdicts = Vec::new();
    while let Some((from, step, _, body)) = running.next(&mut world.dice) {
        let body = lie(from, step, &body);
        let mut errors = Vec::new();
        for me in 0..running.runs.len() {
            match running.runs[me].receive(from, step, &body, &mut Seeded(1)) {
                Ok(steps) => {
                    running.follow(me, steps);
                    errors.push(None);
                }
                Err(error) => errors.push(Some(error)),
            }
        }
        verdicts.push((from, step, errors));
    }
    (running, verdicts)
}

fn double(body: &[u8]) -> Vec<u8> {
    let value = Toy::decode_any(body).unwrap();
    Toy::encode(&Toy::add(&value, &Toy::generator()))
}

#[test]
fn agr_10_shares_come_before_links_and_each_once() {
    let plan = |me| Plan::new(&[1, 2, 3].map(member), me).unwrap();
    let mut run = bd::run::<Toy>(&plan(0)).unwrap();
    run.start(&mut Script(vec![5]));
    let mut take =
        |from, step, body: &[u8]| run.receive(from, step, body, &mut Seeded(1)).map(|_| run.awaited());
    let turn = |from, step| Err(AgreementError::PeerOutOfTurn { from, step });
    assert_eq!(take(1, LINK, &[0, 80]), turn(1, LINK));
    assert_eq!(take(1, OPEN, &[0, 80]), turn(1, OPEN));
    assert_eq!(take(3, SHARE, &[0, 80]), turn(3, SHARE));
    assert_eq!(take(1, 9, &[0, 80]), Err(AgreementError::PeerUnknownStep(9)));
    assert_eq!(take(1, SHARE, &[0, 80]), Ok(vec![0, 2]));
    assert_eq!(take(1, SHARE, &[0, 100]), Err(AgreementError::PeerRepeated { from: 1, step: SHARE }));
    assert_eq!(take(2, SHARE, &[0, 1]), Err(AgreementError::PeerIdentity));
    assert_eq!(take(2, SHARE, &[0, 2]), Err(AgreementError::PeerNotInGroup));
    assert_eq!(take(0, SHARE, &[0, 5]), Ok(vec![2]));
}

#[test]
fn agr_11_the_links_of_two_are_the_identity() {
    let mut world = scripted(&fresh::<Toy>, &[&[5], &[7]]);
    let lie = |from, step, body: &[u8]| if (from, step) == (1, LINK) { double(body) } else { body.to_vec() };
    let (running, verdicts) = lied(&mut world, &[1, 2], lie);
    let refused = verdicts.iter().find(|(from, step, _)| (*from, *step) == (1, LINK)).unwrap();
    assert_eq!(refused.2, vec![Some(AgreementError::PeerNotOpened); 2]);
    assert_eq!(running.awaited(), BTreeSet::from([vec![1]]));
}

/// A wrong link from one member, in all modules and at every place: no honest member accepts the
/// key, and if all open, only the liar is named.
#[test]
fn agr_12_links_that_do_not_multiply_to_one_give_no_key() {
    for make in [fresh::<Toy>, keeping::<Toy>] {
        for liar in 0..4 {
            let mut world = scripted(&make, &[&[5], &[7], &[11], &[13]]);
            let lie = |from, step, body: &[u8]| {
                if (from, step) == (liar, LINK) { double(body) } else { body.to_vec() }
            };
            let (running, verdicts) = lied(&mut world, &[1, 2, 3, 4], lie);
            assert!(running.secrets.iter().all(Option::is_none));
            assert!(running.runs.iter().all(|run| run.keep().is_none()));
            assert_eq!(running.awaited(), BTreeSet::from([vec![liar]]));
            let opened = verdicts.iter().filter(|(_, step, _)| *step == OPEN);
            for (from, _, errors) in opened {
                let expected = (*from == liar).then_some(AgreementError::PeerNotOpened);
                assert_eq!(errors, &vec![expected; 4], "{from} opens, {liar} has lied");
            }
        }
    }
}

#[test]
fn agr_13_an_opened_share_fits_what_was_sent() {
    let mut world = scripted(&fresh::<Toy>, &[&[5], &[7], &[11]]);
    let lie = |from, step, body: &[u8]| match (from, step) {
        (0, LINK) => double(body),
        (1, OPEN) => vec![0, 8],
        (2, OPEN) => vec![0, 0],
        _ => body.to_vec(),
    };
    let (running, verdicts) = lied(&mut world, &[1, 2, 3], lie);
    let error = |from| {
        let (_, _, errors) =
            verdicts.iter().find(|(place, step, _)| (*place, *step) == (from, OPEN)).unwrap();
        assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "all say the same");
        errors[0].clone()
    };
    assert_eq!(error(0), Some(AgreementError::PeerNotOpened), "what was sent does not fit the share");
    assert_eq!(error(1), Some(AgreementError::PeerNotOpened), "the share does not fit what was sent");
    assert_eq!(error(2), Some(AgreementError::PeerMalformed), "zero");
    assert_eq!(running.awaited(), BTreeSet::from([vec![0, 1, 2]]));
}

/// A member that has the old key checks the second by it; the joiner cannot. The lent share is
/// never opened.
#[test]
fn agr_14_the_second_speaks_with_what_the_old_key_gives() {
    let start = || {
        let mut world = scripted(&keeping::<Toy>, &[&[5, 5], &[7], &[11], &[13, 13], &[17]]);
        complete(&mut world, &[1, 2, 3, 4]);
        world
    };
    for wrong in [SHARE, LINK] {
        let lie =
            |from, step, body: &[u8]| if (from, step) == (1, wrong) { double(body) } else { body.to_vec() };
        let (_, verdicts) = lied(&mut start(), &[1, 2, 3, 4, 5], lie);
        let refused = verdicts.iter().find(|(from, step, _)| (*from, *step) == (1, wrong)).unwrap();
        let no = Some(AgreementError::PeerNotLent);
        assert_eq!(refused.2, [no.clone(), None, no.clone(), no, None], "1, 3 and 4 know");
    }
    let lie = |from, step, body: &[u8]| if (from, step) == (4, LINK) { double(body) } else { body.to_vec() };
    let (running, verdicts) = lied(&mut start(), &[1, 2, 3, 4, 5], lie);
    let opened: BTreeSet<_> =
        verdicts.iter().filter(|(_, step, _)| *step == OPEN).map(|(from, ..)| *from).collect();
    assert_eq!(opened, BTreeSet::from([0, 3, 4]), "neither who lends nor who listens");
    assert_eq!(running.awaited(), BTreeSet::from([vec![4]]));
    assert_eq!(ModuleName::from_name("dutta-barua"), Some(ModuleName::DuttaBarua));
}
