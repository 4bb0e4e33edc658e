//! Signing: FROST's encodings, and one hand's run of any kind while the others say what the input says.
//!
//! ```text
//! input = kind u8, then steps: whose words u8 (in private with the upper bit; 0xff: to the next round), bytes
//! kind  = 0 key generation, 1 refresh, 2 signing, 3 a helper's repair, 4 a newcomer's
//! ```
//! Whoever says nothing in the input says what is honest, so that changed words come late in a run too.

use crate::frames::member;
use crate::script::{Dice, script, steps};
use folkmoot_base::{MemberId, Secret, digest};
use folkmoot_signing::frost::{Dkg, FrostShare, FrostSharing, Held, Refresh, Repair, Sign, deal};
use folkmoot_signing::{Heard, Next, Run, RunId, Said};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const KINDS: u8 = 5;
const THRESHOLD: usize = 2;
/// More rounds than any run has.
const ROUNDS_MAX: usize = 16;
const NEXT_ROUND: u8 = 0xff;
const PRIVATE: u8 = 0x80;

/// What all said in one round.
type Round = BTreeMap<MemberId, Said>;

fn holders() -> &'static BTreeMap<MemberId, Held> {
    static ALL: OnceLock<BTreeMap<MemberId, Held>> = OnceLock::new();
    ALL.get_or_init(|| {
        let hands: Vec<MemberId> = (0..3).map(member).collect();
        deal(THRESHOLD, &hands, &mut Dice(1)).expect("three hands, two of them sign")
    })
}

fn run_id() -> RunId {
    RunId(digest(&[b"fuzz"]))
}

/// The hands of a run of `kind`, sorted, and whose run the input drives.
fn hands(kind: u8) -> (Vec<MemberId>, MemberId) {
    let mut hands: Vec<MemberId> = holders().keys().copied().collect();
    let first = hands[0];
    match kind {
        2 => hands.truncate(THRESHOLD),
        3 | 4 => {
            hands.push(member(9));
            hands.sort();
        }
        _ => {}
    }
    (hands, if kind == 4 { member(9) } else { first })
}

/// A hand that makes or gets a share.
fn keys(kind: u8, me: MemberId) -> Box<dyn Run<Done = Held>> {
    let all: Vec<MemberId> = holders().keys().copied().collect();
    let held = holders().get(&me).unwrap_or(&holders()[&all[0]]);
    match kind {
        0 => Box::new(Dkg::new(me, run_id(), &all, THRESHOLD).expect("a founder")),
        1 => Box::new(Refresh::new(run_id(), &held.sharing, &held.share, &all).expect("a stayer")),
        _ if me == member(9) => {
            Box::new(Repair::receive(run_id(), &held.sharing, &all, me).expect("a newcomer"))
        }
        _ => Box::new(Repair::help(run_id(), &held.sharing, &held.share, &all, member(9)).expect("a helper")),
    }
}

fn signs(me: MemberId) -> Box<dyn Run<Done = [u8; 64]>> {
    let held = &holders()[&me];
    let (signers, _) = hands(2);
    Box::new(Sign::new(run_id(), &held.sharing, &held.share, &signers, b"message").expect("a signer"))
}

/// What all say in an honest run.
fn honest<D>(seat: impl Fn(MemberId) -> Box<dyn Run<Done = D>>, hands: &[MemberId]) -> Vec<Round> {
    let mut runs: BTreeMap<MemberId, _> = hands.iter().map(|hand| (*hand, seat(*hand))).collect();
    let mut rounds: Vec<Round> = Vec::new();
    let mut said = Round::new();
    for (hand, run) in &mut runs {
        if let Next::Say(words) = run.start(&mut dice(*hand)) {
            said.insert(*hand, words);
        }
    }
    while !said.is_empty() {
        let mut next = Round::new();
        for (hand, run) in &mut runs {
            let heard = heard(&said, *hand, &run.awaited());
            if let Next::Say(words) = run.hear(heard, &mut dice(*hand)).expect("an honest run") {
                next.insert(*hand, words);
            }
        }
        rounds.push(std::mem::replace(&mut said, next));
    }
    rounds
}

fn dice(hand: MemberId) -> Dice {
    Dice(u64::from(hand.0[0]))
}

fn heard(said: &Round, me: MemberId, awaited: &[MemberId]) -> Heard {
    let to_all = awaited
        .iter()
        .map(|hand| (*hand, said.get(hand).map(|said| said.to_all.clone()).unwrap_or_default()));
    let to_me = said.iter().filter_map(|(hand, said)| Some((*hand, said.to_each.get(&me)?.clone())));
    Heard { to_all: to_all.collect(), to_me: to_me.collect() }
}

fn past(kind: u8) -> &'static [Round] {
    static ALL: OnceLock<Vec<Vec<Round>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let of = |kind: u8| {
            let (hands, _) = hands(kind);
            if kind == 2 { honest(signs, &hands) } else { honest(|me| keys(kind, me), &hands) }
        };
        (0..KINDS).map(of).collect()
    });
    &all[usize::from(kind)]
}

/// Signing: sharings and shares.
pub fn frost_forms(data: &[u8]) {
    if let Ok(sharing) = FrostSharing::decode(data) {
        assert_eq!(sharing.encode(), data);
        assert!(sharing.threshold() >= 1 && sharing.threshold() <= sharing.holders().len());
        assert_eq!(sharing.with_holder(sharing.holders()[0]).as_ref(), Ok(&sharing));
    }
    if let Ok(share) = FrostShare::decode(data) {
        assert_eq!(share.encode().expose().as_slice(), data);
        let own = holders().values().find(|held| held.share == share);
        assert_eq!(share.check(&holders()[&hands(0).0[0]].sharing).is_ok(), own.is_some());
    }
}

/// Signing: one hand among others who say anything.
pub fn frost_run(data: &[u8]) {
    let Some((kind, script)) = data.split_first() else { return };
    let kind = kind % KINDS;
    let (hands, me) = hands(kind);
    if kind == 2 {
        let key = holders()[&me].sharing.key();
        let signed = drive(signs(me), &hands, me, past(kind), script);
        assert!(signed.is_none_or(|signature| key.verify(b"message", &signature).is_ok()));
    } else if let Some(held) = drive(keys(kind, me), &hands, me, past(kind), script) {
        assert_eq!(held.share.check(&held.sharing), Ok(()));
        assert!(held.sharing.holds(&me));
    }
}

fn drive<D>(
    mut run: Box<dyn Run<Done = D>>,
    hands: &[MemberId],
    me: MemberId,
    past: &[Round],
    script: &[u8],
) -> Option<D> {
    let mut script = steps(script).peekable();
    let silent = script.peek().is_none();
    let Next::Say(mut own) = run.start(&mut dice(me)) else { return None };
    let nothing = Round::new();
    for round in 0..ROUNDS_MAX {
        let mut heard = heard(past.get(round).unwrap_or(&nothing), me, &run.awaited());
        for (whose, words) in script.by_ref().take_while(|(whose, _)| *whose != NEXT_ROUND) {
            let hand = hands[usize::from(whose & !PRIVATE) % hands.len()];
            if hand == me {
                continue;
            }
            if whose & PRIVATE != 0 {
                heard.to_me.insert(hand, Secret::new(words.to_vec()));
            } else if let Some(said) = heard.to_all.get_mut(&hand) {
                *said = words.to_vec();
            }
        }
        if let Some(words) = heard.to_all.get_mut(&me) {
            *words = std::mem::take(&mut own.to_all);
        }
        match run.hear(heard, &mut dice(me)) {
            Ok(Next::Say(said)) => own = said,
            Ok(Next::Done(done)) => return Some(done),
            Err(fault) => {
                assert!(!silent, "honest words were refused: {fault}");
                assert!(!fault.culprits.contains(&me), "an honest hand names itself: {fault}");
                assert!(fault.culprits.iter().all(|hand| hands.contains(hand)) && fault.culprits.is_sorted());
                assert!(run.hear(Heard::default(), &mut dice(me)).is_err(), "a run goes on after its end");
                return None;
            }
        }
    }
    panic!("a run of more than {ROUNDS_MAX} rounds")
}

/// Encodings; and for each kind of run all as it is, one hand's words in full, and a dispute.
pub(crate) fn frost_seeds() -> [Vec<Vec<u8>>; 2] {
    let held = holders().values().next().expect("somebody holds a share");
    let forms = vec![held.sharing.encode(), held.share.encode().expose().clone()];
    let mut runs = Vec::new();
    for kind in 0..KINDS {
        let (hands, me) = hands(kind);
        let place = hands.iter().position(|hand| *hand != me).expect("others");
        let words = past(kind).iter().map(|round| round.get(&hands[place]).map(|said| said.to_all.clone()));
        let whose = u8::try_from(place).expect("few hands");
        let all = words.flat_map(|words| [(whose, words.unwrap_or_default()), (NEXT_ROUND, Vec::new())]);
        let told: Vec<_> = all.collect();
        let rounds = usize::from(kind == 0) * 2 + usize::from(matches!(kind, 1));
        let mut dispute = vec![(NEXT_ROUND, Vec::new()); rounds];
        dispute.push((whose | PRIVATE, vec![1; 32]));
        runs.extend(
            [script::<Vec<u8>>([]), script(told), script(dispute)]
                .map(|steps| [&[kind][..], &steps].concat()),
        );
    }
    [forms, runs]
}
