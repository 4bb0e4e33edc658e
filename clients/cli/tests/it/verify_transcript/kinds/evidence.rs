//! Evidence of forks.

use super::Row;
use crate::verify_transcript::parts::{Case, END, FORK, Parts};
use crate::verify_transcript::world::{ANNA, BEN, CORA, DAN, FORKED, Moot, STORY, change};
use folkmoot_base::codec;
use folkmoot_transcript::Standing;

/// The honest file, known by its head, with other evidence.
fn showing(evidence: &[Vec<u8>]) -> Case {
    let mut parts = Parts::forked().without(FORK).without(FORK);
    for bytes in evidence {
        parts = parts.with(FORK, bytes.clone(), END);
    }
    known(parts)
}

fn known(parts: Parts) -> Case {
    Case::knowing(parts, FORKED.moot.head())
}

fn sections() -> [Vec<u8>; 2] {
    let all = Parts::forked().0.into_iter().filter(|(kind, _)| *kind == FORK);
    let all: Vec<Vec<u8>> = all.map(|(_, bytes)| bytes).collect();
    all.try_into().unwrap()
}

/// Both sides of a fork as a section.
fn pair(ours: Option<&Standing>, theirs: &Standing) -> Vec<u8> {
    let body = |one: &Standing| codec::encode(one)[1..].to_vec();
    let ours = ours.map_or_else(|| vec![0], |ours| [vec![1], body(ours)].concat());
    [vec![1], ours, body(theirs)].concat()
}

fn ours(number: u64) -> Standing {
    FORKED.moot.t.line().decisions()[&number].clone()
}

fn theirs(number: u64) -> Standing {
    let mut forks = FORKED.moot.t.line().forks().values();
    forks.find(|fork| fork.ours.head().number == number).unwrap().theirs.clone()
}

/// What these voters decide otherwise.
fn other(mut before: Moot, hours: &str) -> Standing {
    before.pass(change("request_hours", hours), &[ANNA, BEN, CORA])
}

/// The first fork, whose other side is changed.
fn first(change: fn(&mut Standing)) -> Case {
    let mut theirs = theirs(1);
    change(&mut theirs);
    showing(&[pair(Some(&ours(1)), &theirs)])
}

pub(super) const ROWS: &[Row] = &[
    ("evidence with a byte more", "LINE-01", || known(Parts::forked().changed(FORK, |bytes| bytes.push(0)))),
    ("a fork over another decision than ours", "LINE-60", || {
        let mut before = FORKED.before[1].clone();
        other_side(&mut before);
        showing(&[pair(None, &other(before, "77"))])
    }),
    ("a fork with a commit of another's signature", "LINE-64", || {
        first(|theirs| theirs.commits[0].signature = theirs.commits[1].signature.clone())
    }),
    ("a fork whose other decision was changed", "LINE-64", || {
        first(|theirs| theirs.proposal.decision.time.0 += 1)
    }),
    ("a fork with the commits of fewer than a quorum", "LINE-65", || {
        first(|theirs| theirs.commits.truncate(1))
    }),
    ("a fork with forged commits on our side", "LINE-64", || {
        let mut ours = ours(1);
        ours.commits[0].signature = ours.commits[1].signature.clone();
        showing(&[pair(Some(&ours), &theirs(1))])
    }),
    ("the other side of a fork, for whoever knows ours", "LINE-84", || {
        Case::knowing(FORKED.other.t.file(), FORKED.moot.head())
    }),
    ("evidence in another order", "LINE-85", || {
        let [one, two] = sections();
        showing(&[two, one])
    }),
    ("evidence twice", "LINE-85", || known(Parts::forked().doubled(FORK))),
    ("evidence without our side", "LINE-85", || showing(&[pair(None, &theirs(1))])),
    ("evidence with our side, which another section has", "LINE-85", || {
        showing(&[pair(Some(&ours(3)), &theirs(3))])
    }),
    ("evidence with one decision on both sides", "LINE-85", || showing(&[pair(Some(&ours(1)), &ours(1))])),
    ("evidence whose side of ours is of another line", "LINE-85", || {
        let mut before = FORKED.before[0].clone();
        let stray = before.pass(change("request_hours", "66"), &[ANNA, BEN, CORA]);
        showing(&[pair(Some(&stray), &theirs(1))])
    }),
    ("evidence of a decision that is not made", "LINE-85", || {
        showing(&[pair(None, &other(FORKED.moot.clone(), "55"))])
    }),
    ("evidence of another group's decision", "LINE-85", || {
        let foreign = STORY.steps[1].t.line().decisions()[&1].clone();
        showing(&[pair(Some(&ours(1)), &foreign)])
    }),
    ("a fork, and no head is known", "LINE-86", || Parts::forked().into()),
    ("a fork, and a head from before it is known", "LINE-86", || {
        Case::knowing(Parts::forked(), ours(2).head())
    }),
];

/// Goes on by another second decision.
fn other_side(moot: &mut Moot) {
    moot.pass(change("request_hours", "88"), &[BEN, CORA, DAN]);
}
