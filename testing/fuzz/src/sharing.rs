//! Signing: the stored and sent forms of a sharing, and whole runs in which one participant says
//! what the input says.
//!
//! ```text
//! input of a run = run u8 (joint, redistribute, enrol, threshold ECDSA, FROST), liar u8, then steps: round | 8 if to each alone
//! ```
//! Whatever it says, all others come to the same end. If that is a fault, the liar alone is named.

use crate::frames::member;
use crate::script::{Dice, script, steps};
use folkmoot_base::{MemberId, Secret, digest};
use folkmoot_signing::frost::{self, FrostShare, FrostSharing, Sign};
use folkmoot_signing::sharing::{Change, Enrol, Holding, Joint, Redistribute, Share, Sharing, deal};
use folkmoot_signing::ts_dsa::{Signed, Signing};
use folkmoot_signing::{Edwards, Fault, Incoming, Next, Outgoing, P256, PrimeGroup, Ristretto, Run, RunId};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Most rounds of a run.
const ROUNDS_MAX: usize = 8;
/// Set in a step that replaces what was said to each alone.
const PRIVATE: u8 = 8;
/// How many kinds of run there are.
const RUNS: u8 = 5;

type Shares = BTreeMap<MemberId, Share<P256>>;
type Hands = BTreeMap<MemberId, Box<dyn Run<Done = Vec<u8>>>>;

/// Signing: a sharing and a share, over each group.
pub fn sharing_forms(data: &[u8]) {
    forms::<P256>(data);
    forms::<Ristretto>(data);
}

fn forms<G: PrimeGroup>(data: &[u8]) {
    if let Ok(sharing) = Sharing::<G>::decode(data) {
        assert_eq!(sharing.encode(), data);
        assert!((1..=sharing.holders().len()).contains(&sharing.threshold()));
        let _ = sharing.with_holder(MemberId([7; 32])).map(|more| assert_eq!(more.epoch(), sharing.epoch()));
    }
    if let Ok(share) = Share::<G>::decode(data) {
        assert_eq!(share.encode().expose(), data);
    }
}

/// Signing: FROST's sharings and shares.
pub fn frost_forms(data: &[u8]) {
    let (own, shares) = frost_world();
    if let Ok(sharing) = FrostSharing::decode(data) {
        assert_eq!(sharing.encode(), data);
        assert!((1..=sharing.holders().len()).contains(&sharing.threshold()));
    }
    if let Ok(share) = FrostShare::decode(data) {
        assert_eq!(share.encode().expose().as_slice(), data);
        let known = shares.values().any(|other| other.encode() == share.encode());
        assert_eq!(share.check(own).is_ok(), known);
    }
}

fn three() -> Vec<MemberId> {
    let mut hands: Vec<MemberId> = (1..=3).map(member).collect();
    hands.sort();
    hands
}

fn newcomer() -> MemberId {
    member(4)
}

/// Three holders, two of whom determine the secret.
fn world() -> &'static (Sharing<P256>, Shares) {
    static WORLD: OnceLock<(Sharing<P256>, Shares)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let secret = P256::draw(&mut Dice(1));
        deal::<P256>(&secret, &three(), 2, &mut Dice(2)).expect("two of three")
    })
}

/// The same, in the forms of FROST.
fn frost_world() -> &'static (FrostSharing, BTreeMap<MemberId, FrostShare>) {
    static WORLD: OnceLock<(FrostSharing, BTreeMap<MemberId, FrostShare>)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let secret = Edwards::draw(&mut Dice(1));
        frost::deal(&secret, &three(), 2, &mut Dice(2)).expect("two of three")
    })
}

/// A run whose result is bytes.
struct Bytes<R, D>(R, fn(D) -> Vec<u8>);

impl<D, R: Run<Done = D>> Run for Bytes<R, D> {
    type Done = Vec<u8>;

    fn start(&mut self, entropy: &mut dyn folkmoot_base::Entropy) -> Next<Vec<u8>> {
        match self.0.start(entropy) {
            Next::Say(said) => Next::Say(said),
            Next::Done(done) => Next::Done(self.1(done)),
        }
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.0.awaited()
    }

    fn hear(
        &mut self,
        heard: Incoming,
        entropy: &mut dyn folkmoot_base::Entropy,
    ) -> Result<Next<Vec<u8>>, Fault> {
        Ok(match self.0.hear(heard, entropy)? {
            Next::Say(said) => Next::Say(said),
            Next::Done(done) => Next::Done(self.1(done)),
        })
    }
}

fn boxed<D: 'static>(
    run: impl Run<Done = D> + 'static,
    bytes: fn(D) -> Vec<u8>,
) -> Box<dyn Run<Done = Vec<u8>>> {
    Box::new(Bytes(run, bytes))
}

fn told(held: Holding<P256>) -> Vec<u8> {
    if let Some(share) = &held.share {
        assert_eq!(share.fits(&held.sharing), Ok(()));
    }
    held.sharing.encode()
}

fn signed(signed: Signed<P256>) -> Vec<u8> {
    signed.signature().expect("a signature in its form").to_bytes().to_vec()
}

fn hands(run: u8) -> Hands {
    let (id, three) = (RunId([run; 32]), three());
    let (sharing, shares) = world();
    let all = three.iter().copied().chain((run % RUNS == 2).then(newcomer));
    let change = Change { dealers: &three[..2], holders: &three[1..], threshold: 2 };
    let hand = |me: MemberId| match run % RUNS {
        0 => boxed(Joint::<P256>::new(id, me, &three, 2).expect("three"), told),
        1 => boxed(Redistribute::new(id, me, sharing, shares.get(&me), change).expect("two"), told),
        2 => boxed(Enrol::new(id, me, sharing, shares.get(&me), &three[..2], newcomer()).expect("two"), told),
        3 => boxed(
            Signing::new(id, me, sharing, &shares[&me], &three, digest(&[b"m"])).expect("three"),
            signed,
        ),
        _ => {
            let (sharing, shares) = frost_world();
            boxed(Sign::new(id, sharing, &shares[&me], &three[..2], b"m").expect("two"), |done| done.to_vec())
        }
    };
    let all = all.filter(|me| run % RUNS != 4 || three[..2].contains(me));
    all.map(|me| (me, hand(me))).collect()
}

/// Plays a run; `lie` sees and changes what each says in each round. What becomes of each.
fn play(
    mut hands: Hands,
    mut lie: impl FnMut(usize, MemberId, &mut Outgoing),
) -> BTreeMap<MemberId, Result<Vec<u8>, Fault>> {
    let mut ends = BTreeMap::new();
    let mut spoken = BTreeMap::new();
    for (number, (hand, run)) in (0..).zip(&mut hands) {
        match run.start(&mut Dice(number)) {
            Next::Say(said) => drop(spoken.insert(*hand, said)),
            Next::Done(done) => drop(ends.insert(*hand, Ok(done))),
        }
    }
    for round in 0..ROUNDS_MAX {
        hands.retain(|hand, _| !ends.contains_key(hand));
        spoken.iter_mut().for_each(|(hand, said)| lie(round, *hand, said));
        let heard_now = std::mem::take(&mut spoken);
        for (number, (hand, run)) in (0..).zip(&mut hands) {
            let awaited = run.awaited();
            let said = || heard_now.iter().filter(|(from, _)| awaited.contains(from));
            let to_all = said().map(|(from, said)| (*from, said.to_all.clone())).collect();
            let to_me =
                said().filter_map(|(from, said)| Some((*from, said.to_each.get(hand)?.clone()))).collect();
            match run.hear(Incoming { to_all, to_me }, &mut Dice(number + 100 * round as u64)) {
                Ok(Next::Say(said)) => drop(spoken.insert(*hand, said)),
                Ok(Next::Done(done)) => drop(ends.insert(*hand, Ok(done))),
                Err(fault) => drop(ends.insert(*hand, Err(fault))),
            }
        }
    }
    ends
}

/// Signing: runs of sharing and threshold ECDSA with one liar.
pub fn sharing_run(data: &[u8]) {
    let ([run, liar], said) =
        data.split_first_chunk::<2>().map_or(([0, 0], data), |(head, rest)| (*head, rest));
    let hands = hands(run);
    let liar = *hands.keys().nth(usize::from(liar) % hands.len()).expect("one of them");
    let count = hands.len();
    let lies: Vec<(u8, &[u8])> = steps(said).collect();
    let ends = play(hands, |round, hand, said| {
        for (op, word) in lies.iter().filter(|(op, _)| hand == liar && usize::from(op & 7) == round) {
            if op & PRIVATE == 0 {
                said.to_all = word.to_vec();
            } else {
                said.to_each.values_mut().for_each(|private| *private = Secret::new(word.to_vec()));
            }
        }
    });
    let honest: Vec<_> = ends.iter().filter(|(hand, _)| **hand != liar).map(|(_, end)| end).collect();
    // Who heard the liar's word is told of it; if the liar stops speaking because its own run
    // ended, its caller gives the run up.
    assert!(honest.iter().all(|end| *end == honest[0]), "one end at all: {honest:?}");
    for fault in honest.iter().filter_map(|end| end.as_ref().err()) {
        assert!(fault.culprits == [liar] || fault.culprits.is_empty(), "nobody else is named: {fault:?}");
    }
    assert!(ends.len() <= count);
}

/// Seeds: the forms; and for each run and round an honest word of each kind in the liar's mouth.
pub(crate) fn sharing_seeds() -> [Vec<Vec<u8>>; 3] {
    let (sharing, shares) = world();
    let share = shares.values().next().expect("three");
    let other = deal::<Ristretto>(&Ristretto::one(), &three()[..1], 1, &mut Dice(3)).expect("one of one");
    let forms = vec![sharing.encode(), share.encode().expose().clone(), other.0.encode()];
    let mut runs = Vec::new();
    for run in 0..RUNS {
        play(hands(run), |round, hand, said| {
            let round = u8::try_from(round).expect("few rounds");
            let liar = u8::try_from(hands(run).keys().position(|other| *other == hand).expect("it is there"))
                .expect("few");
            if run != 2 && liar != 1 {
                return;
            }
            let head = [run, liar];
            if !said.to_all.is_empty() {
                runs.push([&head[..], &script([(round, &said.to_all)])].concat());
            }
            if let Some(word) = said.to_each.values().next() {
                runs.push([&head[..], &script([(round | PRIVATE, word.expose())])].concat());
            }
        });
    }
    let (sharing, shares) = frost_world();
    let frost = vec![sharing.encode(), shares[&three()[0]].encode().expose().clone()];
    [forms, runs, frost]
}
