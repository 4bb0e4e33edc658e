//! CKD: the runs of the sealed form, and what is refused and by whom.

use crate::common::{Seeded, Toy, member, sizes};
use crate::world::World;
use folkmoot_agreement::ckd::{Curve, Run};
use folkmoot_agreement::{AgreementError, Module, ModuleName, Plan, begin};

const OFFER: u8 = 1;
const ANSWER: u8 = 2;
const KEYS: u8 = 3;

fn make(plan: &Plan, kept: Option<&folkmoot_agreement::Kept>) -> Result<Box<dyn Module>, AgreementError> {
    begin(ModuleName::Ckd, plan, kept)
}

fn complete(world: &mut World<'_>, members: &[u16]) {
    assert_eq!(world.complete(members, |_| true), Ok(()));
}

/// Who said what in the last run.
fn said(world: &World<'_>) -> Vec<(u16, u8)> {
    let record = world.records.last().unwrap();
    let mut said: Vec<_> =
        record.steps.iter().map(|(from, step, _)| (record.members[*from], *step)).collect();
    said.sort_unstable_by_key(|(from, step)| (*step, *from));
    said
}

fn paid(world: &World<'_>) -> Vec<(u16, u64)> {
    let size = world.records.last().unwrap().members.len();
    let last = world.live.iter().rev().take(size);
    let mut paid: Vec<_> = last.map(|(number, run)| (*number, run.count().exponentiations)).collect();
    paid.sort_unstable();
    paid
}

/// §6.4's row CKD: rounds and messages 3 and m + 2, a leave 1. Exponentiations only where pairs are
/// made.
#[test]
fn runs_of_the_sealed_form_say_and_cost_what_the_docs_say() {
    for n in sizes(2) {
        let all: Vec<_> = (10..10 + n).collect();
        let wide = u64::from(n);
        let mut world = World::new(&make, 1);
        complete(&mut world, &all);
        assert_eq!(said(&world).len(), usize::from(n) + 1, "OFFER, n − 1 ANSWERs, KEYS");
        complete(&mut world, &all);
        assert_eq!(said(&world), [(10, KEYS)], "a refresh");
        assert!(paid(&world).iter().all(|(_, paid)| *paid == 0));
        let joined = [&all[..], &[80, 81]].concat();
        complete(&mut world, &joined);
        let expected = [(10, OFFER), (80, ANSWER), (81, ANSWER), (10, KEYS)];
        assert_eq!(said(&world), expected, "two come: m + 2");
        for (number, paid) in paid(&world) {
            assert_eq!(
                paid,
                [(10, 3), (80, 2), (81, 2)].iter().find(|(who, _)| *who == number).map_or(0, |two| two.1)
            );
        }
        complete(&mut world, &[&all[..], &[81]].concat());
        assert_eq!(said(&world), [(10, KEYS)], "an ordinary leave");
        complete(&mut world, &[&all[1..], &[81]].concat());
        assert_eq!(
            said(&world).len(),
            usize::from(n) + 1,
            "the controller has left: the next oldest pairs anew"
        );
        assert_eq!(said(&world)[0], (11, OFFER));
        assert_eq!(paid(&world)[0], (11, wide), "an offer and n − 1 pairs");
        complete(&mut world, &[&[10], &all[1..], &[81]].concat());
        assert_eq!(
            said(&world),
            [(11, OFFER), (10, ANSWER), (11, KEYS)],
            "who left comes back as a newcomer"
        );
    }
}

#[test]
fn agr_20_offers_answers_and_keys_come_in_turn_and_once() {
    let plan = |me| Plan::new(&[1, 2, 3].map(member), me).unwrap();
    let mut run = Run::<Curve<Toy>>::new(&plan(2), None).unwrap();
    run.start(&mut Seeded(1));
    let mut take =
        |from, step, body: &[u8]| run.receive(from, step, body, &mut Seeded(1)).map(|_| run.awaited());
    let turn = |from, step| Err(AgreementError::PeerOutOfTurn { from, step });
    let again = |from, step| Err(AgreementError::PeerRepeated { from, step });
    assert_eq!(take(1, OFFER, &[0, 5]), turn(1, OFFER));
    assert_eq!(take(1, ANSWER, &[0, 5]), turn(1, ANSWER));
    assert_eq!(take(0, KEYS, &[0; 128]), turn(0, KEYS));
    assert_eq!(take(0, OFFER, &[0, 1]), Err(AgreementError::PeerIdentity));
    assert_eq!(take(0, OFFER, &[0, 2]), Err(AgreementError::PeerNotInGroup));
    assert_eq!(take(0, OFFER, &[0, 5]), Ok(vec![1, 2]));
    assert_eq!(take(0, OFFER, &[0, 5]), again(0, OFFER));
    assert_eq!(take(0, ANSWER, &[0, 5]), turn(0, ANSWER));
    assert_eq!(take(1, ANSWER, &[0, 1]), Err(AgreementError::PeerIdentity));
    assert_eq!(take(1, ANSWER, &[0, 80]), Ok(vec![2]));
    assert_eq!(take(1, ANSWER, &[0, 80]), again(1, ANSWER));
    assert_eq!(take(2, ANSWER, &[0, 100]), Ok(vec![0]));
    assert_eq!(take(1, KEYS, &[0; 128]), turn(1, KEYS));
    assert_eq!(take(0, 9, &[]), Err(AgreementError::PeerUnknownStep(9)));
}

/// Three members; the first has said its KEYS. What each says to `altered` bytes.
fn answers(altered: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Option<AgreementError>> {
    let mut world = World::new(&make, 1);
    complete(&mut world, &[1, 2, 3]);
    let mut running = world.start(&[1, 2, 3]).unwrap();
    let (from, step, decides, body) = running.next(&mut world.dice).unwrap();
    let wrong = altered(&body);
    let take = |run: &mut Box<dyn Module>| run.receive(from, step, &wrong, &mut Seeded(1)).err();
    let answers: Vec<_> = running.runs.iter_mut().map(take).collect();
    if answers.iter().all(Option::is_some) {
        assert_eq!(world.deliver(&mut running, (from, step, body), decides), Ok(()));
        assert!(running.agreed().is_ok(), "a refused step changes nothing");
    }
    answers
}

#[test]
fn agr_21_keys_hold_one_for_each_of_the_others() {
    let list = vec![Some(AgreementError::PeerWrongList); 3];
    assert_eq!(answers(|body| body[..body.len() - 1].to_vec()), list);
    assert_eq!(answers(|body| [body, &[0]].concat()), list);
    assert_eq!(answers(|body| body[..32].to_vec()), list);
    assert_eq!(answers(|body| body[..31].to_vec()), vec![Some(AgreementError::PeerMalformed); 3]);
}

#[test]
fn agr_22_what_is_sealed_for_a_member_opens() {
    let no = Some(AgreementError::PeerNotOpening);
    let flip = |at: usize| {
        answers(move |body| {
            let mut body = body.to_vec();
            body[at] ^= 1;
            body
        })
    };
    assert_eq!(flip(32), [None, no.clone(), None], "the second's");
    assert_eq!(flip(32 + 48 + 47), [None, None, no.clone()], "the third's tag");
    assert_eq!(flip(0), [None, no.clone(), no.clone()], "the salt");
    let swapped = answers(|body| [&body[..32], &body[80..], &body[32..80]].concat());
    assert_eq!(swapped, [None, no.clone(), no], "each the other's");
}

/// What is kept after a run does not open what was sent in it; what was kept before it does.
#[test]
fn a_pair_key_that_has_sealed_steps_on() {
    let mut world = World::new(&make, 1);
    complete(&mut world, &[1, 2]);
    let before = world.holdings.clone();
    complete(&mut world, &[1, 2]);
    let (_, _, keys) = world.records[1].steps[0].clone();
    let after = std::mem::replace(&mut world.holdings, before);
    let mut opened = world.start(&[1, 2]).unwrap();
    assert!(opened.runs[1].receive(0, KEYS, &keys, &mut Seeded(1)).is_ok());
    world.holdings = after;
    let mut opened = world.start(&[1, 2]).unwrap();
    let refused = opened.runs[1].receive(0, KEYS, &keys, &mut Seeded(1)).unwrap_err();
    assert_eq!(refused, AgreementError::PeerNotOpening);
}

/// A run that comes to nothing and one begun again from the same state seal under different keys,
/// though the pair is the same.
#[test]
fn no_seal_is_used_twice() {
    let mut world = World::new(&make, 1);
    complete(&mut world, &[1, 2]);
    let bodies: Vec<_> =
        (0..8).map(|_| world.start(&[1, 2]).unwrap().next(&mut Seeded(1)).unwrap().3).collect();
    let salts: std::collections::BTreeSet<_> = bodies.iter().map(|body| body[..32].to_vec()).collect();
    assert_eq!(salts.len(), bodies.len());
}
