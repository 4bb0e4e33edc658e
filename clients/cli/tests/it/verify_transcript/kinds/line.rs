//! Decisions and the state: signatures, ballots, quorums, handovers.

use super::Row;
use crate::verify_transcript::parts::{Case, HANDOVER, LAST, Parts, STATE};
use crate::verify_transcript::world::{
    ANNA, BEN, CORA, DAN, EVA, FINN, FORKED, Moot, STORY, change, fresh, id, sign_anew, standing,
};
use folkmoot_base::{GroupId, codec, digest};
use folkmoot_transcript::{Effect, Report, Standing, State};

fn story() -> Parts {
    Parts::story()
}

/// The last decision changed, and signed anew by everybody whom it names.
fn last(change: impl FnOnce(&mut Standing)) -> Case {
    let signed = |standing: &mut Standing| {
        change(standing);
        sign_anew(standing, STORY.steps[5].t.state());
    };
    story().standing(LAST, signed).into()
}

/// The same of the first handover, not signed anew.
fn handover(change: impl FnOnce(&mut Standing)) -> Case {
    story().standing(HANDOVER, change).into()
}

/// Another last decision with its state, by these voters.
fn decided(voters: &[usize]) -> Case {
    let mut twin = STORY.steps[5].clone();
    let decision = proposed(&mut twin);
    let standing = fresh(&decision, voters, twin.t.state());
    story().changed(LAST, |bytes| *bytes = codec::encode(&standing)).into()
}

fn proposed(moot: &mut Moot) -> folkmoot_transcript::Decision {
    let effect = Effect::from(change("request_hours", "12"));
    moot.propose(&effect, &[ANNA, BEN, EVA]);
    moot.due(&[effect])
}

fn state_of(state: &State) -> Case {
    story().changed(STATE, |bytes| *bytes = state.encode()).into()
}

fn decision(number: u64) -> Standing {
    let step = STORY.steps[usize::try_from(number).unwrap()].clone();
    step.t.line().decisions()[&number].clone()
}

fn without_handover(number: usize) -> Case {
    let mut parts = story();
    let place = parts.place(HANDOVER);
    parts.0.remove(place + number);
    parts.into()
}

fn with_handover(standing: &Standing) -> Case {
    story().with(HANDOVER, codec::encode(standing), HANDOVER).into()
}

/// A state that a quorum names, whatever is in it.
fn named(bytes: Vec<u8>) -> Case {
    let named = last(|last| {
        last.proposal.decision.state = digest(&[b"folkmoot state v1\0", &bytes]);
        last.proposal.stages.truncate(1);
    });
    Parts::of(&named.file).changed(STATE, |state| *state = bytes).into()
}

pub(super) const ROWS: &[Row] = &[
    ("a handover without its last byte", "LINE-01", || {
        story().changed(HANDOVER, |bytes| bytes.truncate(bytes.len() - 1)).into()
    }),
    ("a last decision with a byte more", "LINE-01", || story().changed(LAST, |bytes| bytes.push(0)).into()),
    ("a last decision without a ballot", "LINE-61", || last(|last| last.proposal.stages.clear())),
    ("a ballot twice", "LINE-61", || last(|last| last.proposal.stages.push(last.proposal.stages[1].clone()))),
    ("promises in ballot 0", "LINE-62", || {
        last(|last| last.proposal.stages[0].promises = last.proposal.stages[1].promises.clone())
    }),
    ("a later ballot without promises", "LINE-62", || last(|last| last.proposal.stages[1].promises.clear())),
    ("fewer promises than a quorum", "LINE-62", || last(|last| last.proposal.stages[1].promises.truncate(1))),
    ("a promise of a member without a vote", "LINE-62", || {
        last(|last| {
            let promises = &mut last.proposal.stages[1].promises;
            promises[0].voter = id(FINN);
            promises.sort_by_key(|promise| promise.voter);
        })
    }),
    ("promises that are not sorted", "LINE-62", || last(|last| last.proposal.stages[1].promises.reverse())),
    ("a report of a ballot that is not over", "LINE-62", || {
        last(|last| {
            let decision = last.proposal.decision.digest();
            last.proposal.stages[1].promises[0].report = Some(Report { ballot: 2, decision });
        })
    }),
    ("a report that is not followed", "LINE-63", || {
        last(|last| {
            let other = Some(Report { ballot: 1, decision: [9; 32] });
            last.proposal.stages[1].promises[0].report = other;
        })
    }),
    ("a proposal as fresh, although commits are reported", "LINE-63", || {
        last(|last| drop(last.proposal.stages.remove(0)))
    }),
    ("a commit with another voter's signature", "LINE-64", || {
        handover(|one| one.commits[0].signature = one.commits[1].signature.clone())
    }),
    ("a proposal with another's signature than its owner's", "LINE-64", || {
        handover(|one| one.proposal.stages[0].signature = one.commits[0].signature.clone())
    }),
    ("a promise with another voter's signature", "LINE-64", || {
        story()
            .standing(LAST, |last| {
                let promises = &mut last.proposal.stages[1].promises;
                promises[0].signature = promises[1].signature.clone();
            })
            .into()
    }),
    ("a promise whose report was left out", "LINE-64", || {
        story()
            .standing(LAST, |last| {
                let promises = &mut last.proposal.stages[1].promises;
                promises.iter_mut().rfind(|promise| promise.report.is_some()).unwrap().report = None;
            })
            .into()
    }),
    ("the commits of another ballot", "LINE-64", || {
        let electors = STORY.steps[5].t.state();
        let earlier = |last: &Standing| {
            standing(&last.proposal.decision, vec![(0, Vec::new())], &[ANNA, BEN, EVA], electors)
        };
        story().standing(LAST, |last| last.commits = earlier(last).commits).into()
    }),
    ("the time of a handover moved", "LINE-64", || handover(|one| one.proposal.decision.time.0 += 1)),
    ("an approval left out of a handover", "LINE-64", || {
        handover(|one| drop(one.proposal.decision.effects[0].proofs.pop()))
    }),
    ("the voters that a handover names changed", "LINE-64", || {
        handover(|one| drop(one.proposal.decision.electorate.as_mut().unwrap().places.pop()))
    }),
    ("a request put into what a handover holds", "LINE-64", || {
        handover(|one| one.proposal.decision.holds.push([7; 32]))
    }),
    ("the state that a handover names changed", "LINE-64", || {
        handover(|one| one.proposal.decision.state[0] ^= 1)
    }),
    ("commits of fewer than a quorum", "LINE-65", || last(|last| last.commits.truncate(1))),
    ("no commits", "LINE-65", || last(|last| last.commits.clear())),
    ("a commit twice", "LINE-65", || last(|last| last.commits.insert(0, last.commits[0].clone()))),
    ("commits that are not sorted", "LINE-65", || last(|last| last.commits.reverse())),
    ("a decision by voters of whom one was expelled", "LINE-65", || decided(&[BEN, CORA, DAN])),
    ("a decision with the commit of a member without a vote", "LINE-65", || decided(&[ANNA, BEN, FINN])),
    ("a decision by a minority", "LINE-65", || decided(&[BEN, EVA])),
    ("the handovers swapped", "LINE-65", || {
        let mut parts = story();
        let place = parts.place(HANDOVER);
        parts.0.swap(place, place + 1);
        parts.into()
    }),
    ("the handover by which a voter went left out", "LINE-64", || without_handover(1)),
    ("the handover by which the quorum grew left out", "LINE-70", || without_handover(2)),
    ("a handover twice", "LINE-70", || story().doubled(HANDOVER).into()),
    ("a handover of another group, signed by our voters", "LINE-70", || {
        handover(|one| {
            one.proposal.decision.group = GroupId([9; 32]);
            sign_anew(one, STORY.steps[1].t.state());
        })
    }),
    ("a handover that hands nothing over", "LINE-70", || with_handover(&decision(1))),
    ("a last decision from before the handovers", "LINE-70", || {
        let parts = story().changed(LAST, |bytes| *bytes = codec::encode(&decision(1)));
        parts.changed(STATE, |bytes| *bytes = STORY.steps[1].t.state().encode()).into()
    }),
    ("the state after an earlier decision", "LINE-71", || state_of(STORY.steps[5].t.state())),
    ("the state of another line", "LINE-71", || {
        let mut twin = STORY.steps[5].clone();
        twin.pass(change("request_hours", "99"), &[ANNA, BEN, CORA]);
        state_of(twin.t.state())
    }),
    ("another group's state", "LINE-71", || state_of(FORKED.moot.t.state())),
    ("the time of the state moved", "LINE-71", || {
        story().changed(STATE, |bytes| bytes[1 + 32 + 8 + 7] ^= 1).into()
    }),
    ("a member's name in the state changed", "LINE-71", || {
        story()
            .changed(STATE, |bytes| {
                let at = bytes.windows(4).position(|part| part == b"Finn").unwrap();
                bytes[at] = b'G';
            })
            .into()
    }),
    ("a byte behind the state", "LINE-71", || story().changed(STATE, |bytes| bytes.push(0)).into()),
    ("an empty state", "LINE-71", || story().changed(STATE, Vec::clear).into()),
    ("a state that cannot be read, although a quorum names it", "LINE-71", || named(vec![1, 2, 3])),
    ("a member under a name that nobody may have, in a state that a quorum names", "LINE-71", || {
        let mut state = STORY.moot.t.state().encode();
        let at = state.windows(4).position(|part| part == b"Finn").unwrap();
        state[at + 2] = b',';
        named(state)
    }),
];
