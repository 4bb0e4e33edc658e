//! Whom a certificate admits: its votes, its holder, its term.

use super::judge::{refused, refused_author, refused_last};
use super::world::{
    EXPELLED, LATER, MEMBER, Moot, NOW, PEOPLE, STORY, STRANGER, admit_body, author, charter, day_after,
    file_entries, forge, founders_own, gmc, id, moved, proof, proofs, request, signed,
};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_identity::transcript::Body;
use folkmoot_identity::{Decision, Gmc, GmcBody, Identity, Transcript, Verdict, VoteProof};
use serde_json::json;

/// The file with an entry more that admits by this certificate; anna's key signs the entry.
fn and(gmc: &Gmc) -> Vec<u8> {
    STORY.and(admit_body(gmc), 0)
}

fn compose(body: &GmcBody, votes: &[VoteProof], holder: &Identity) -> Vec<u8> {
    and(&Gmc::compose(body, votes, holder).unwrap())
}

fn asked() -> (GmcBody, Vec<VoteProof>) {
    let body = request(&STORY.honest, STRANGER, 77);
    let votes = proofs(&body.motion().unwrap(), &[0, 1]);
    (body, votes)
}

#[test]
fn a_vote_of_a_non_voter() {
    refused_last("non-voter", &and(&gmc(&STORY.honest, STRANGER, &[0, MEMBER], 1)), "TRN-12", 0);
    refused_last("own-vote", &and(&gmc(&STORY.honest, STRANGER, &[0, STRANGER], 1)), "TRN-12", 0);
}

#[test]
fn a_vote_of_an_expelled_voter() {
    refused_last("ex-voter", &and(&gmc(&STORY.honest, STRANGER, &[0, EXPELLED], 1)), "TRN-12", 0);
}

#[test]
fn a_vote_for_another_candidate() {
    let (body, _) = asked();
    let other = gmc(&STORY.honest, 17, &[0, 1], 5);
    refused_last("candidate", &compose(&body, other.votes(), &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn a_vote_given_in_another_group() {
    let (body, _) = asked();
    let other = Transcript::genesis(&charter(8)).unwrap();
    let there = moved(&body.motion().unwrap(), other.group(), other.roster().charter().digest());
    refused_last("group", &compose(&body, &proofs(&there, &[0, 1]), &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn votes_for_an_older_charter() {
    let old = STORY.honest.roster().founding_charter();
    let body = request(&Transcript::genesis(&STORY.charter).unwrap(), STRANGER, 1);
    let votes = proofs(&body.motion().unwrap(), &[0, 1]);
    refused_last("older", &compose(&body, &votes, &PEOPLE[STRANGER]), "TRN-10", 0);
    // The certificate says the new version, the votes were for the old one.
    let (body, _) = asked();
    let then = moved(&body.motion().unwrap(), STORY.group(), old.digest());
    refused_last("older-votes", &compose(&body, &proofs(&then, &[0, 1]), &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn too_few_votes() {
    refused_last("few", &and(&gmc(&STORY.honest, STRANGER, &[0], 1)), "TRN-11", 0);
}

#[test]
fn a_voter_twice_in_a_certificate() {
    // One vote stands in the place of the other: the same length, signed anew by the holder, who
    // alone could do so.
    let (body, votes) = asked();
    let honest = Gmc::compose(&body, &votes, &PEOPLE[STRANGER]).unwrap();
    let mut der = honest.der().to_vec();
    let at = |vote: &VoteProof| der.windows(32).position(|part| part == vote.voter.0).unwrap();
    let (one, other) = (at(&votes[0]), at(&votes[1]));
    let length = other - one - 4;
    der.copy_within(one..one + length, other);
    refused_last("voter-twice", &STORY.and(Body::Admit { certificate: Blob::from(der) }, 0), "TRN-10", 0);
}

#[test]
fn a_no_counted_as_a_yes() {
    let (body, votes) = asked();
    let no = proof(&body.motion().unwrap(), 2, Verdict::Reject, LATER);
    refused_last("no", &compose(&body, &[votes[0], no], &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn a_forged_vote_in_a_certificate() {
    let place = STORY.place(100, |body| matches!(body, Body::Admit { .. }));
    let mut entry = STORY.entry(place);
    let Body::Admit { certificate } = &entry.body else { panic!() };
    let honest = Gmc::from_der(&certificate.0).unwrap();
    let holder = PEOPLE.iter().find(|one| one.member() == honest.member()).unwrap();
    // The holder votes for itself in the name of a voter, and signs its certificate anew; the
    // author signs the entry.
    let forged = proof(&honest.body().motion().unwrap(), MEMBER, Verdict::Approve, LATER);
    let mut votes = honest.votes().to_vec();
    votes[0].signature = forged.signature;
    entry.body = admit_body(&Gmc::compose(honest.body(), &votes, holder).unwrap());
    let by = author(&entry);
    refused_author("forged-vote", &STORY.instead(place, signed(entry, by)), "TRN-11", place + 1, by);
}

#[test]
fn another_name_in_a_certificate() {
    let (mut body, votes) = asked();
    body.name = "anna".into();
    refused_last("name", &compose(&body, &votes, &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn another_key_in_a_certificate() {
    let (mut body, votes) = asked();
    body.key = PEOPLE[17].key().verifying_key().clone();
    refused_last("key", &compose(&body, &votes, &PEOPLE[17]), "TRN-11", 0);
}

#[test]
fn a_certificate_changed_by_another_than_its_holder() {
    let (body, votes) = asked();
    let mut der = Gmc::compose(&body, &votes, &PEOPLE[STRANGER]).unwrap().der().to_vec();
    let nonce = der.windows(16).position(|part| part == body.membership.nonce).unwrap();
    der[nonce] ^= 1;
    refused_last("altered", &STORY.and(Body::Admit { certificate: Blob::from(der) }, 0), "TRN-10", 0);
}

#[test]
fn another_term_in_a_certificate() {
    let (body, votes) = asked();
    let longer = GmcBody { not_after: day_after(body.not_after), ..body.clone() };
    refused_last("longer", &compose(&longer, &votes, &PEOPLE[STRANGER]), "TRN-10", 0);
    // No longer than the charter allows, but another than was voted for.
    let (not_before, not_after) = (day_after(body.not_before), day_after(body.not_after));
    let later = GmcBody { not_before, not_after, ..body };
    refused_last("later", &compose(&later, &votes, &PEOPLE[STRANGER]), "TRN-11", 0);
}

#[test]
fn votes_that_had_run_out() {
    let (body, _) = asked();
    let late = |voter| proof(&body.motion().unwrap(), voter, Verdict::Approve, UnixTime(NOW.0 - 1));
    refused_last("run-out", &compose(&body, &[late(0), late(1)], &PEOPLE[STRANGER]), "TRN-15", 0);
}

#[test]
fn an_expelled_member_resurrected() {
    // The charter is as when it was admitted, so that nothing but the removal is in its way.
    let mut moot = Moot { t: STORY.honest.clone(), salt: 5_000_000 };
    moot.admit(STRANGER, [0, 1]);
    let old = moot.t.roster().member(&id(STRANGER)).unwrap().certificate.clone().unwrap();
    moot.expel(STRANGER, &[0, 1, 2]);
    let back = forge(&moot.t, Body::Admit { certificate: Blob(old) }, 3);
    let mut entries = file_entries(&moot.t);
    entries.push(back);
    let told = refused("resurrected", &STORY.file(&entries), &[], "TRN-13");
    assert_eq!((&told["entry"], &told["blamed"]), (&json!(entries.len()), &json!([id(3).hex()])));
}

#[test]
fn votes_given_before_the_expulsion() {
    let mut moot = Moot { t: STORY.honest.clone(), salt: 5_000_000 };
    moot.admit(STRANGER, [0, 1]);
    let kept = gmc(&moot.t, STRANGER, &[0, 1], 6_000_000);
    moot.expel(STRANGER, &[0, 1, 2]);
    let mut entries = file_entries(&moot.t);
    entries.push(forge(&moot.t, admit_body(&kept), 3));
    let told = refused("votes-before", &STORY.file(&entries), &[], "TRN-59");
    assert_eq!((&told["entry"], &told["blamed"]), (&json!(entries.len()), &json!([id(3).hex()])));
}

#[test]
fn a_request_admitted_twice() {
    let mut moot = Moot { t: STORY.honest.clone(), salt: 5_000_000 };
    moot.admit(STRANGER, [0, 1]);
    let same = moot.t.roster().member(&id(STRANGER)).unwrap().certificate.clone().unwrap();
    let mut entries = file_entries(&moot.t);
    entries.push(forge(&moot.t, Body::Admit { certificate: Blob(same.clone()) }, 3));
    refused("request-twice", &STORY.file(&entries), &[], "TRN-13");
    // The same request with other votes is the same request.
    let gmc = Gmc::from_der(&same).unwrap();
    let votes = proofs(&gmc.body().motion().unwrap(), &[2, 3]);
    let other = Gmc::compose(gmc.body(), &votes, &PEOPLE[STRANGER]).unwrap();
    *entries.last_mut().unwrap() = forge(&moot.t, admit_body(&other), 3);
    refused("request-votes", &STORY.file(&entries), &[], "TRN-13");
}

#[test]
fn a_founders_certificate_without_votes() {
    refused_last("founders", &and(&founders_own(&STORY.honest, 1)), "TRN-16", 0);
}

#[test]
fn a_minority_admits_where_it_may_not() {
    let mut moot = Moot { t: STORY.honest.clone(), salt: 6_000_000 };
    moot.decide(&Decision::change("minority_may_admit", "false"), &[0, 1, 2]);
    let first = moot.t.roster().electorate().voters[0];
    let others: Vec<usize> = (0..4).filter(|who| id(*who) != first).take(2).collect();
    let gmc = gmc(&moot.t, STRANGER, &others, 1);
    let mut entries = file_entries(&moot.t);
    entries.push(forge(&moot.t, admit_body(&gmc), others[0]));
    refused("minority", &STORY.file(&entries), &[], "TRN-17");
}
