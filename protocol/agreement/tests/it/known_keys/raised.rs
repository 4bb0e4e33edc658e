//! Elements that were sent, raised to exponents that are known, and what follows from that.

use super::derived::{Bytes32, by_ckd};
use super::history::plan;
use super::opened::{SEALED, open};
use crate::world::Record;
use curve25519_dalek::Scalar as Dalek;
use folkmoot_agreement::{ModuleName, PrimeGroup, Ristretto};
use folkmoot_base::digest;
use sha2::{Digest as _, Sha512};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Element = <Ristretto as PrimeGroup>::Element;
type Scalar = <Ristretto as PrimeGroup>::Scalar;
type Points = BTreeMap<Vec<u8>, Element>;

/// A known key as exponents: as it is, its digest, as the modules draw from bytes, and by each of
/// the fixed maps. Pairs are made of the first [`PAIRED`].
pub fn scalars(key: &[u8]) -> Vec<Scalar> {
    let Ok(bytes) = Bytes32::try_from(key) else { return Vec::new() };
    let mut wide = [0; 64];
    wide[..32].copy_from_slice(&bytes);
    wide[32..].copy_from_slice(&bytes);
    let mapped = |label: &str| {
        let hash = Sha512::new().chain_update(label).chain_update(bytes).finalize();
        Dalek::from_bytes_mod_order_wide(&hash.into())
    };
    vec![
        Dalek::from_bytes_mod_order(bytes),
        Dalek::from_bytes_mod_order(digest(&[&bytes])),
        Dalek::from_bytes_mod_order_wide(&wide),
        mapped("folkmoot element to exponent v1"),
        mapped("folkmoot dutta-barua lent share v1"),
    ]
}

const PAIRED: usize = 2;

/// Every element in these bytes.
fn points(bytes: &[u8]) -> impl Iterator<Item = (Vec<u8>, Element)> + '_ {
    bytes.windows(Ristretto::ELEMENT_BYTES).filter_map(|window| {
        let element = Ristretto::decode(window)?;
        Some((window.to_vec(), element))
    })
}

/// Those that `bytes` holds by the module's own layout: many a window is an element by chance.
fn said(module: ModuleName, step: u8, body: &[u8]) -> Points {
    let tree = matches!(module, ModuleName::Tgdh | ModuleName::Str) && step == 1;
    let sealed = module == ModuleName::Ckd && step == 3;
    match () {
        () if sealed => Points::new(),
        () if tree => points(body).collect(),
        () => body.chunks(Ristretto::ELEMENT_BYTES).flat_map(points).collect(),
    }
}

pub fn all_said(module: ModuleName, record: &Record) -> Points {
    record.steps.iter().flat_map(|(_, step, body)| said(module, *step, body)).collect()
}

/// Whether the secret comes out.
pub fn reaches(module: ModuleName, record: &Record, known: &[Vec<u8>]) -> bool {
    let sent = all_said(module, record);
    let first: Vec<Scalar> = known.iter().flat_map(|key| scalars(key)).collect();
    let goals = goals(module, record);
    let follow = Follow { module, record, sent: &sent, goals: &goals };
    let paired: Vec<Scalar> = known.iter().flat_map(|key| scalars(key).into_iter().take(PAIRED)).collect();
    follow.one_by_one(&first, &bases(&sent, known)) || follow.in_pairs(&paired)
}

/// What was said and the generator, the differences of those, and what is known.
fn bases(sent: &Points, known: &[Vec<u8>]) -> Vec<Element> {
    let mut bases: Vec<_> = sent.values().copied().chain([Ristretto::generator()]).collect();
    let said = bases.clone();
    for (at, one) in said.iter().enumerate() {
        bases.extend(said[..at].iter().map(|two| Ristretto::add(one, &Ristretto::negate(two))));
    }
    bases.extend(known.iter().filter_map(|key| Ristretto::decode_any(key)));
    bases
}

/// What the module makes of an element that it uses as an exponent.
fn exponents(module: ModuleName, element: &Element) -> Vec<Scalar> {
    match module {
        ModuleName::Tgdh | ModuleName::Str => {
            vec![Ristretto::to_scalar(b"folkmoot element to exponent v1", element)]
        }
        ModuleName::DuttaBarua => vec![Ristretto::to_scalar(b"folkmoot dutta-barua lent share v1", element)],
        _ => Vec::new(),
    }
}

struct Follow<'a> {
    module: ModuleName,
    record: &'a Record,
    sent: &'a Points,
    goals: &'a BTreeSet<Vec<u8>>,
}

impl Follow<'_> {
    fn is_reached(&self, element: &Element) -> bool {
        let bytes = Ristretto::encode(element);
        self.goals.contains(&bytes) || (self.module == ModuleName::Ckd && self.opens(&bytes))
    }

    /// Known exponents and their inverses. What comes out is an exponent again if it belongs to
    /// something that was sent.
    fn one_by_one(&self, first: &[Scalar], bases: &[Element]) -> bool {
        let mut open: VecDeque<_> =
            first.iter().flat_map(|one| [*one, Ristretto::inverse(*one).unwrap()]).collect();
        let mut seen = BTreeSet::new();
        while let Some(scalar) = open.pop_front() {
            for base in bases {
                let element = Ristretto::raise(base, &scalar);
                if self.is_reached(&element) {
                    return true;
                }
                for next in exponents(self.module, &element) {
                    let public = Ristretto::encode(&Ristretto::raise_generator(&next));
                    if self.sent.contains_key(&public) && seen.insert(public) {
                        open.push_back(next);
                    }
                }
            }
        }
        false
    }

    fn in_pairs(&self, first: &[Scalar]) -> bool {
        let mut pairs = first.iter().enumerate().flat_map(|(at, one)| {
            let with = move |two: &Scalar| [one * two, one * two.invert()];
            first[..=at].iter().flat_map(with)
        });
        pairs.any(|scalar| self.sent.values().any(|base| self.is_reached(&Ristretto::raise(base, &scalar))))
    }

    /// CKD: whether it is what the controller and somebody share.
    fn opens(&self, shared: &[u8]) -> bool {
        let sealed = self.record.steps.iter().filter(|(_, step, _)| *step == 3);
        let sealed: Vec<_> = sealed.flat_map(|(_, _, body)| body[32..].chunks(SEALED)).collect();
        let keys = by_ckd(self.record, b"folkmoot ckd pair v1", shared);
        keys.iter().any(|key| sealed.iter().any(|sealed| open(key, sealed).is_some()))
    }
}

/// The secret, or its inverse; on a circle also every `K_i`, for the links, which are public, carry
/// it round.
fn goals(module: ModuleName, record: &Record) -> BTreeSet<Vec<u8>> {
    let secret = record.secret.clone().unwrap();
    let mut goals = BTreeSet::from([secret.clone()]);
    let circle = matches!(module, ModuleName::Bd | ModuleName::DuttaBarua);
    if let Some(key) = Ristretto::decode_any(&secret).filter(|_| circle) {
        let links = links(record);
        goals.extend((0..links.len()).map(|at| Ristretto::encode(&right(&links, at, &key))));
    }
    let inverse = |goal: &Vec<u8>| Some(Ristretto::encode(&Ristretto::negate(&Ristretto::decode_any(goal)?)));
    let inverses: Vec<_> = goals.iter().filter_map(inverse).collect();
    goals.extend(inverses);
    goals
}

/// The LINKs in the order of the circle: a Join goes by the run's own order, a KeyAgree by place.
fn links(record: &Record) -> Vec<Element> {
    let said: BTreeMap<_, _> =
        record.steps.iter().filter(|(_, step, _)| *step == 2).map(|(from, _, body)| (*from, body)).collect();
    let plan = plan(record, 0);
    let joins = said.len() < record.members.len() || plan.base().len() == 3 && !plan.newcomers().is_empty();
    let order = if joins { super::history::order(record) } else { (0..record.members.len()).collect() };
    order.iter().filter_map(|place| Ristretto::decode_any(said.get(place)?)).collect()
}

/// `K` of one position, from the key: the key is n·K and a sum of links.
fn right(links: &[Element], at: usize, key: &Element) -> Element {
    let n = links.len();
    let rest = (1..n).fold(Ristretto::identity(), |sum, step| {
        let times = Dalek::from(u64::try_from(n - step).unwrap());
        Ristretto::add(&sum, &(links[(at + step) % n] * times))
    });
    let own = Ristretto::add(key, &Ristretto::negate(&rest));
    own * Dalek::from(u64::try_from(n).unwrap()).invert()
}
