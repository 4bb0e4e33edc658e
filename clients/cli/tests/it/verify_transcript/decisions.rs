//! What voters decide: removals, changes of the charter, who votes; and deciding twice.

use super::judge::{refused, refused_author, refused_last, stands};
use super::world::{
    EXPELLED, MEMBER, PEOPLE, STORY, STRANGER, author, charter, decide_body, id, motion, moved, proofs,
    removal, signed,
};
use folkmoot_base::EntryId;
use folkmoot_identity::transcript::Body;
use folkmoot_identity::{Decision, Slot, Transcript};
use serde_json::json;

/// The file with a decision more, voted for by these.
fn and(decision: &Decision, voters: &[usize]) -> Vec<u8> {
    let votes = proofs(&motion(&STORY.honest, decision, STORY.slot()), voters);
    STORY.and(decide_body(decision, STORY.slot(), votes), 0)
}

fn expel() -> Decision {
    removal(&STORY.honest, MEMBER)
}

#[test]
fn a_forged_vote_in_a_decision() {
    let place = STORY.place(100, |body| matches!(body, Body::Decide { .. }));
    let mut entry = STORY.entry(place);
    let by = author(&entry);
    let Body::Decide { votes, .. } = &mut entry.body else { panic!() };
    votes.votes[0].signature = votes.votes[1].signature;
    refused_author("forged", &STORY.instead(place, signed(entry, by)), "TRN-23", place + 1, by);
}

#[test]
fn a_decision_by_the_vote_of_a_non_voter() {
    refused_last("d-non-voter", &and(&expel(), &[0, 1, 6]), "TRN-22", 0);
}

#[test]
fn a_decision_by_the_vote_of_an_expelled_voter() {
    refused_last("d-ex-voter", &and(&expel(), &[0, 1, EXPELLED]), "TRN-22", 0);
}

#[test]
fn votes_for_another_decision() {
    let (slot, other) = (STORY.slot(), removal(&STORY.honest, 6));
    let votes = proofs(&motion(&STORY.honest, &other, slot), &[0, 1, 2]);
    refused_last("d-other", &STORY.and(decide_body(&expel(), slot, votes), 0), "TRN-23", 0);
}

#[test]
fn votes_for_another_ballot() {
    let (slot, second) = (STORY.slot(), Slot { ballot: 1, ..STORY.slot() });
    let votes = proofs(&motion(&STORY.honest, &expel(), slot), &[0, 1, 2]);
    refused_last("d-ballot", &STORY.and(decide_body(&expel(), second, votes), 0), "TRN-23", 0);
}

#[test]
fn votes_of_another_group_for_a_decision() {
    let other = Transcript::genesis(&charter(8)).unwrap();
    let here = motion(&STORY.honest, &expel(), STORY.slot());
    let there = moved(&here, other.group(), other.roster().charter().digest());
    let body = decide_body(&expel(), STORY.slot(), proofs(&there, &[0, 1, 2]));
    refused_last("d-group", &STORY.and(body, 0), "TRN-23", 0);
}

#[test]
fn votes_of_an_older_charter_for_a_decision() {
    let old = STORY.honest.roster().founding_charter().digest();
    let then = moved(&motion(&STORY.honest, &expel(), STORY.slot()), STORY.group(), old);
    let body = decide_body(&expel(), STORY.slot(), proofs(&then, &[0, 1, 2]));
    refused_last("d-older", &STORY.and(body, 0), "TRN-23", 0);
}

#[test]
fn one_voter_counted_twice() {
    let mut votes = proofs(&motion(&STORY.honest, &expel(), STORY.slot()), &[0, 1]);
    votes.push(votes[1]);
    refused_last("d-twice", &STORY.and(decide_body(&expel(), STORY.slot(), votes), 0), "TRN-21", 0);
}

#[test]
fn a_decision_without_a_quorum() {
    refused_last("d-one", &and(&expel(), &[0]), "TRN-24", 0);
    let first = STORY.honest.roster().electorate().voters[0];
    let others: Vec<usize> = (0..4).filter(|who| id(*who) != first).take(2).collect();
    refused_last("d-half", &and(&expel(), &others), "TRN-24", 0);
}

#[test]
fn a_decision_at_a_wrong_serial() {
    let serial = STORY.slot().serial;
    for (name, serial) in [("d-before", serial - 1), ("d-after", serial + 1)] {
        let slot = Slot { serial, ballot: 0 };
        let votes = proofs(&motion(&STORY.honest, &expel(), slot), &[0, 1, 2]);
        refused_last(name, &STORY.and(decide_body(&expel(), slot, votes), 0), "TRN-20", 0);
    }
}

#[test]
fn a_removal_of_an_admission_that_does_not_hold() {
    // An admission of the member that ended long ago, and one that never was.
    let past = STORY.place(1, |body| matches!(body, Body::Decide { decision: Decision::Remove { member, .. }, .. } if *member == id(MEMBER)));
    let Body::Decide { decision, .. } = STORY.entry(past).body else { panic!() };
    refused_last("d-ended", &and(&decision, &[0, 1, 2]), "TRN-25", 0);
    let never = Decision::Remove { member: id(STRANGER), admission: EntryId([9; 32]) };
    refused_last("d-never", &and(&never, &[0, 1, 2]), "TRN-25", 0);
}

#[test]
fn a_charter_change_outside_its_legal_values() {
    for (field, value) in [("certificate_days", "0"), ("threshold", "many"), ("name", "another")] {
        let name = format!("d-value-{field}");
        refused_last(&name, &and(&Decision::change(field, value), &[0, 1, 2]), "TRN-27", 0);
    }
}

#[test]
fn more_votes_asked_for_than_there_are_voters() {
    refused_last("d-dead", &and(&Decision::change("threshold", "5"), &[0, 1, 2]), "TRN-26", 0);
}

#[test]
fn a_stranger_among_the_voters() {
    let voters = [0, 1, 2, STRANGER].map(id).to_vec();
    refused_last("d-electorate", &and(&Decision::Electorate { voters }, &[0, 1, 2]), "TRN-28", 0);
}

/// The transcript in which each of these decisions was carried out over the same head.
fn forked(decided: &[(Decision, Slot, &[usize])]) -> Vec<u8> {
    let mut both = STORY.honest.clone();
    for (decision, slot, voters) in decided {
        let votes = proofs(&motion(&STORY.honest, decision, *slot), voters);
        let entry = STORY.honest.make_decision(decision, *slot, &votes, &PEOPLE[voters[0]]).unwrap();
        both.append(&entry).unwrap();
    }
    both.file().flatten().collect()
}

#[test]
fn one_serial_decided_twice() {
    let change = Decision::change("certificate_days", "20");
    let slot = STORY.slot();
    let file = forked(&[(expel(), slot, &[0, 1, 2]), (change.clone(), slot, &[0, 1, 3])]);
    let told = refused("d-forked", &file, &[], "TRN-45");
    let mut liars = vec![id(0).hex(), id(1).hex()];
    liars.sort();
    assert_eq!((&told["blame"], &told["blamed"]), (&json!("voters"), &json!(liars)), "{told}");
    assert!(told["why"].as_str().unwrap().contains("one ballot"), "{told}");
    // In different ballots; and one decision written down twice, which is none.
    let second = Slot { ballot: 1, ..slot };
    let file = forked(&[(expel(), slot, &[0, 1, 2]), (change, second, &[0, 1, 3])]);
    assert!(refused("d-ballots", &file, &[], "TRN-45")["why"].as_str().unwrap().contains("two ballots"));
    stands("d-same", &forked(&[(expel(), slot, &[0, 1, 2]), (expel(), slot, &[0, 1, 3])]), &[]);
}
