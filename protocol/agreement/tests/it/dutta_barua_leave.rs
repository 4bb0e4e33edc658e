//! Why there is no Leave: a leaver gets the new key of a Leave built as in the paper, and not of
//! ours.
//!
//! The attack (Zhang et al., the first): whoever took part has every `K_j` of the old circle. In a
//! Leave only the neighbours of leavers draw new shares. So a pair that keeps its shares keeps its
//! `K`, and the new links, which are public, carry it round.

use crate::common::Seeded;
use crate::world::World;
use folkmoot_agreement::{ModuleName, PrimeGroup, Ristretto, begin};

type Element = <Ristretto as PrimeGroup>::Element;
type Scalar = <Ristretto as PrimeGroup>::Scalar;

/// The circle as in the paper: all links, and the key.
fn circle(shares: &[Scalar]) -> (Vec<Element>, Element) {
    let n = shares.len();
    let value = |i: usize| Ristretto::raise_generator(&shares[i % n]);
    let right = |i: usize| Ristretto::raise(&value(i + 1), &shares[i % n]);
    let links = (0..n).map(|i| Ristretto::add(&right(i), &Ristretto::negate(&right(i + n - 1)))).collect();
    let key = (0..n).fold(Ristretto::identity(), |sum, i| Ristretto::add(&sum, &right(i)));
    (links, key)
}

/// Every `K`, from one of them and the links: what each member computes.
fn walk(from: usize, known: &Element, links: &[Element]) -> Vec<Element> {
    let n = links.len();
    let mut all = vec![*known];
    for step in 1..n {
        all.push(Ristretto::add(&links[(from + step) % n], all.last().unwrap()));
    }
    all
}

/// The attack: each old `K` in the place of each new one, carried round by the new links. All keys
/// that result.
fn attack(old: &[Element], links: &[Element]) -> Vec<Vec<u8>> {
    let places = 0..links.len();
    let tried = old.iter().flat_map(|known| places.clone().map(move |place| walk(place, known, links)));
    tried.map(|all| sum(&all)).collect()
}

fn sum(all: &[Element]) -> Vec<u8> {
    Ristretto::encode(&all.iter().fold(Ristretto::identity(), |sum, one| Ristretto::add(&sum, one)))
}

fn share(seed: u64) -> Scalar {
    Ristretto::draw(&mut Seeded(seed))
}

/// Leave as it is written: the neighbours of the leaver draw new shares, and the circle closes over
/// the gap.
fn built_leave(shares: &[Scalar], leaver: usize) -> Vec<Scalar> {
    let n = shares.len();
    let mut remaining = shares.to_vec();
    remaining[(leaver + n - 1) % n] = share(901);
    remaining[(leaver + 1) % n] = share(902);
    remaining.remove(leaver);
    remaining
}

#[test]
fn a_leaver_gets_the_new_key_of_a_leave_that_is_built_by_the_paper() {
    for n in 5..9_u64 {
        let shares: Vec<_> = (0..n).map(share).collect();
        let (links, key) = circle(&shares);
        let leaver = 2;
        let own = Ristretto::raise(&Ristretto::raise_generator(&shares[3]), &shares[leaver]);
        let known = walk(leaver, &own, &links);
        assert_eq!(sum(&known), Ristretto::encode(&key), "the leaver took part");
        let (links, key) = circle(&built_leave(&shares, leaver));
        assert!(attack(&known, &links).contains(&Ristretto::encode(&key)), "the attack fails with {n}");
    }
}

#[test]
fn a_leaver_does_not_get_the_new_key_of_ours() {
    let make = |plan: &_, kept: Option<&_>| begin(ModuleName::DuttaBarua, plan, kept);
    for n in 5..9_u16 {
        let mut world = World::new(&make, u64::from(n));
        let all: Vec<_> = (0..n).collect();
        let leaver = 2;
        world.stream(leaver, Seeded(77));
        assert_eq!(world.complete(&all, |_| true), Ok(()));
        let after = Ristretto::decode_any(&said(&world, 1)[3]).unwrap();
        let own = Ristretto::raise(&after, &share(77));
        let known = walk(2, &own, &links(&world));
        assert_eq!(Some(sum(&known)), world.records[0].secret, "the leaver took part");
        let remaining: Vec<_> = all.into_iter().filter(|number| *number != leaver).collect();
        let later = [remaining.clone(), [remaining.as_slice(), &[n, n + 1]].concat()];
        for view in later {
            assert_eq!(world.complete(&view, |_| true), Ok(()));
            let secret = world.records.last().unwrap().secret.clone().unwrap();
            let tried = attack(&known, &links(&world));
            assert!(!tried.is_empty() && !tried.contains(&secret), "the attack succeeds with {n}");
        }
    }
}

/// The bodies of one step of the last run, in the order of places, which is that of the circle.
fn said(world: &World<'_>, wanted: u8) -> Vec<Vec<u8>> {
    let record = world.records.last().unwrap();
    let mut said: Vec<_> = record
        .steps
        .iter()
        .filter(|(_, step, _)| *step == wanted)
        .map(|(from, _, body)| (*from, body))
        .collect();
    said.sort_unstable();
    said.into_iter().map(|(_, body)| body.clone()).collect()
}

fn links(world: &World<'_>) -> Vec<Element> {
    said(world, 2).iter().map(|body| Ristretto::decode_any(body).unwrap()).collect()
}
