//! All who hold the same entries have the same roster, and no entry stands that its own past does
//! not support. Method: real keys and charters; random histories on several replicas that split,
//! merge and hear in any order.

mod replicas;

use crate::history::*;
use bytes::Bytes;
use folkmoot_base::{Blob, Cause, EntryId, UnixTime, digest, limits};
use folkmoot_identity::transcript::{Body, DecisionVotes, Entry};
use folkmoot_identity::{
    BuildError, CertificateError, Change, Decision, Ending, EntryError, Gmc, GmcBody, Identity, LoadError,
    Slot, Transcript, Verdict, Vote, VoteContent, VoteProof,
};
use proptest::prelude::*;

#[test]
fn a_member_comes_goes_and_comes_again() {
    let mut t = found(3, 2);
    let first = admit(&mut t, 3, &[0, 1], 1);
    assert!(t.roster().is_member(&id(3)) && t.roster().is_rostered(&PEOPLE[3].node()));
    assert!(!t.roster().may_vote(&id(3)), "votes count from the next electorate on");
    let removal = decide(&t, &expel(&t, 3), &[0, 1]).unwrap();
    let appended = t.append(&removal).unwrap();
    assert_eq!(appended.change, Change::Removed { member: id(3), admission: first, cause: Cause::Expelled });
    assert!(matches!(t.roster().former(&id(3)), Some((_, Ending::Expelled { .. }))));
    assert_eq!(t.append(&removal).unwrap().change, Change::Nothing);
    let again = gmc(&t, 3, &[0, 1], 2);
    let entry = t.make_admit(again.der(), &PEOPLE[2]).unwrap();
    assert!(matches!(t.append(&entry).unwrap().change, Change::Admitted { new: true, .. }));
    assert!(t.roster().is_member(&id(3)) && t.roster().former(&id(3)).is_none());
}

#[test]
fn charter_and_electorate_change() {
    let mut t = found(3, 2);
    admit(&mut t, 3, &[0, 1], 1);
    let all = Decision::Electorate { voters: (0..4).map(id).collect() };
    assert_eq!(t.append(&decide(&t, &all, &[0, 1]).unwrap()).unwrap().change, Change::ElectorateChanged);
    assert!(t.roster().may_vote(&id(3)));
    let change = Decision::change("threshold", "3");
    let two = decide(&t, &change, &[0, 1]).unwrap();
    assert_eq!(t.append(&two).unwrap().change, Change::CharterChanged, "half with the first listed");
    assert_eq!(t.roster().threshold(), 3);
    assert_eq!(t.roster().electorate().serial, 2);
    assert!(decide(&t, &Decision::change("threshold", "2"), &[1, 2]).is_err());
}

#[test]
fn one_admitted_on_both_sides_is_out_after_one_vote() {
    let (mut a, mut b) = (found(3, 2), found(3, 2));
    admit(&mut a, 3, &[0, 1], 1);
    admit(&mut b, 3, &[1, 2], 2);
    merge(&mut a, &b);
    assert_eq!(a.heads().len(), 2);
    let removal = decide(&a, &expel(&a, 3), &[0, 1]).unwrap();
    a.append(&removal).unwrap();
    assert!(!a.roster().is_member(&id(3)));
    merge(&mut b, &a);
    assert_eq!(a.roster(), b.roster());
}

#[test]
fn a_removal_of_one_founder_is_not_one_of_another() {
    let t = found(4, 2);
    let (two, three) = (expel(&t, 2), expel(&t, 3));
    let votes = proofs(&t, &two, slot(&t), &[0, 1]);
    let refused = t.make_decision(&three, slot(&t), &votes, &PEOPLE[0]);
    assert!(matches!(refused, Err(BuildError::Refused(EntryError::PeerVote(_)))));
}

#[test]
fn trn_01_every_flipped_byte_is_refused() {
    let mut t = found(3, 2);
    let admission = t.make_admit(gmc(&t, 3, &[0, 1], 1).der(), &PEOPLE[0]).unwrap();
    let removal = decide(&t, &expel(&t, 2), &[0, 1]).unwrap();
    for bytes in [admission, removal] {
        let before = t.heads_digest();
        for place in 0..bytes.len() {
            let mut bad = bytes.to_vec();
            bad[place] ^= 1 << (place % 8);
            assert!(t.append(&bad).is_err(), "byte {place}");
            assert!(place % 16 != 0 || t.append(&bytes[..place]).is_err());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(matches!(t.append(&longer), Err(EntryError::WireMalformed(_))));
        assert!(matches!(t.append(&vec![1; 50_000]), Err(EntryError::WireTooLong(_))));
        assert_eq!(t.heads_digest(), before);
    }
}

#[test]
fn trn_02_parents_are_sorted_and_some() {
    let mut t = found(3, 2);
    let (genesis, body) = (t.genesis_id(), admit_body(&gmc(&t, 3, &[0, 1], 1)));
    for parents in [vec![], vec![genesis, genesis]] {
        let bytes = sign(t.group(), parents, body.clone(), 0);
        assert_eq!(t.append(&bytes), Err(EntryError::WireParents));
    }
}

#[test]
fn trn_03_another_groups_entry_is_refused() {
    let mut t = found(3, 2);
    let other = Transcript::genesis(&charter(3, 2, 8)).unwrap();
    let entry = other.make_admit(gmc(&other, 3, &[0, 1], 1).der(), &PEOPLE[0]).unwrap();
    assert_eq!(t.append(&entry), Err(EntryError::WireOtherGroup(other.group())));
    let gmc = gmc(&other, 3, &[0, 1], 1);
    let refused = t.make_admit(gmc.der(), &PEOPLE[0]);
    let why = CertificateError::PeerCharter("it is for another group");
    assert_eq!(refused, Err(BuildError::Refused(EntryError::PeerCertificate(why))));
}

#[test]
fn trn_04_missing_parents_are_named() {
    let (mut a, mut b) = (found(3, 2), found(3, 2));
    let first = admit(&mut a, 3, &[0, 1], 1);
    let second = admit(&mut a, 4, &[0, 1], 2);
    let bytes = a.get(&second).unwrap().clone();
    assert_eq!(b.append(&bytes), Err(EntryError::MissingParents(vec![first])));
    assert_eq!(b.unknown(&[first, b.genesis_id()]), vec![first]);
}

#[test]
fn trn_05_the_beginning_is_the_charter() {
    let mut t = found(3, 2);
    let other = Entry::genesis(t.group(), &charter(3, 2, 8)).encode();
    assert_eq!(t.append(&other), Err(EntryError::WireOtherGenesis));
    let mut forged = charter(3, 2, 7);
    let last = forged.len() - 3;
    forged[last] ^= 1;
    assert!(matches!(Transcript::genesis(&forged), Err(EntryError::Charter(_))));
    assert_eq!(found(3, 2).genesis_id(), t.genesis_id());
}

#[test]
fn trn_06_the_author_is_a_member() {
    let mut t = found(3, 2);
    let body = admit_body(&gmc(&t, 3, &[0, 1], 1));
    assert_eq!(t.append(&entry(&t.clone(), body, 4)), Err(EntryError::PeerNotMember(id(4))));
}

#[test]
fn trn_07_the_author_signs() {
    let mut t = found(3, 2);
    let body = admit_body(&gmc(&t, 3, &[0, 1], 1));
    let mut forged = Entry::decode(&entry(&t, body, 0)).unwrap();
    forged.author = id(1);
    assert_eq!(t.append(&forged.encode()), Err(EntryError::WireSignature));
}

/// Why this certificate admits nobody.
fn not_admitted(t: &Transcript, gmc: &Gmc) -> EntryError {
    let refused = t.clone().append(&entry(t, admit_body(gmc), 0)).unwrap_err();
    assert_eq!(t.make_admit(gmc.der(), &PEOPLE[0]), Err(BuildError::Refused(refused.clone())));
    refused
}

#[test]
fn trn_10_a_certificate_fits_the_charter() {
    let mut t = found(3, 2);
    let junk = Body::Admit { certificate: Blob::from(vec![0x30, 0]) };
    let refused = t.append(&entry(&t.clone(), junk, 0));
    assert_eq!(refused, Err(EntryError::PeerCertificate(CertificateError::WireMalformed)));
    let old = gmc(&t, 3, &[0, 1], 1);
    t.append(&decide(&t, &Decision::change("threshold", "1"), &[0, 1]).unwrap()).unwrap();
    let why = CertificateError::PeerCharter("it is for another version of the charter");
    assert_eq!(not_admitted(&t, &old), EntryError::PeerCertificate(why));
}

#[test]
fn trn_11_as_many_votes_as_the_threshold_each_verifying() {
    let t = found(3, 2);
    let few = CertificateError::PeerTooFewVotes { got: 1, need: 2 };
    assert_eq!(not_admitted(&t, &gmc(&t, 3, &[0], 1)), EntryError::PeerCertificate(few));
    let (one, other) = (gmc(&t, 3, &[0, 1], 1), gmc(&t, 3, &[0, 1], 2));
    let swapped = Gmc::compose(one.body(), other.votes(), &PEOPLE[3]).unwrap();
    let why = CertificateError::PeerVote(other.votes()[0].voter);
    assert_eq!(not_admitted(&t, &swapped), EntryError::PeerCertificate(why));
}

#[test]
fn trn_12_votes_are_of_voters() {
    let mut t = found(3, 2);
    let unknown = CertificateError::PeerNotVoter(id(5));
    assert_eq!(not_admitted(&t, &gmc(&t, 3, &[0, 5], 1)), EntryError::PeerCertificate(unknown));
    // An expelled voter's vote, however it is dated, admits nobody (T2).
    let late = gmc(&t, 4, &[0, 2], 5);
    t.append(&decide(&t, &expel(&t, 2), &[0, 1]).unwrap()).unwrap();
    let out = CertificateError::PeerNotVoter(id(2));
    assert_eq!(not_admitted(&t, &late), EntryError::PeerCertificate(out));
}

#[test]
fn trn_13_a_request_admits_once() {
    let mut t = found(3, 2);
    let certificate = gmc(&t, 3, &[0, 1], 1);
    let entry = t.make_admit(certificate.der(), &PEOPLE[0]).unwrap();
    t.append(&entry).unwrap();
    assert_eq!(not_admitted(&t, &certificate), EntryError::PeerUsed(id(3)));
    t.append(&decide(&t, &expel(&t, 3), &[0, 1]).unwrap()).unwrap();
    assert_eq!(not_admitted(&t, &certificate), EntryError::PeerUsed(id(3)));
}

#[test]
fn trn_14_a_full_group_admits_nobody_but_renews() {
    let mut t = found(1, 1);
    let stranger =
        |n: u64| Identity::new("s", &mut Seed(1_000_000 + n * 1_000), NOW, LATER).expect("a stranger");
    let admission = |t: &Transcript, who: &Identity, salt| {
        let body = GmcBody::propose(t.roster().charter(), who, 3, NOW, &mut Seed(salt));
        let motion = body.motion().unwrap();
        let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
        let vote = Vote::sign(&PEOPLE[0], content).unwrap().proof();
        entry(t, admit_body(&Gmc::compose(&body, &[vote], who).unwrap()), 0)
    };
    for n in 1..limits::MEMBERS_MAX as u64 {
        t.append(&admission(&t, &stranger(n), n)).unwrap();
    }
    assert_eq!(t.roster().len(), limits::MEMBERS_MAX);
    let heads = t.heads_digest();
    assert_eq!(t.append(&admission(&t, &stranger(0), 0)), Err(EntryError::PeerGroupFull));
    assert_eq!((t.roster().len(), t.heads_digest()), (limits::MEMBERS_MAX, heads));
    let renewed = t.append(&admission(&t, &stranger(1), 5_000)).unwrap().change;
    assert!(matches!(renewed, Change::Admitted { new: false, .. }));
}

#[test]
fn trn_15_no_vote_had_run_out_before_the_certificate_begins() {
    let t = found(3, 2);
    let body = GmcBody::propose(t.roster().charter(), &PEOPLE[3], 3, NOW, &mut Seed(9));
    let compose = |expires| {
        let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires };
        let votes = [0, 1].map(|voter: usize| Vote::sign(&PEOPLE[voter], content).unwrap().proof());
        Gmc::compose(&body, &votes, &PEOPLE[3]).unwrap()
    };
    let ended = compose(UnixTime(NOW.0 - 1));
    assert!(matches!(not_admitted(&t, &ended), EntryError::PeerVoteEnded(_)));
    assert!(t.make_admit(compose(NOW).der(), &PEOPLE[0]).is_ok());
}

#[test]
fn trn_16_a_founders_certificate_does_not_admit() {
    let t = found(3, 2);
    let founder = Gmc::found(t.roster().charter(), &PEOPLE[1], NOW, &mut Seed(3)).unwrap();
    assert_eq!(not_admitted(&t, &founder), EntryError::PeerNoVotes(id(1)));
}

/// Four founders who have voted that a minority may not admit.
fn no_minority(threshold: u32) -> Transcript {
    let mut t = found(4, threshold);
    let forbid = Decision::change("minority_may_admit", "false");
    t.append(&decide(&t, &forbid, &[0, 1, 2]).unwrap()).unwrap();
    t
}

#[test]
fn trn_17_a_minority_admits_unless_the_charter_forbids_it() {
    let free = found(4, 1);
    assert!(free.make_admit(gmc(&free, 4, &[3], 1).der(), &PEOPLE[3]).is_ok());
    let t = no_minority(1);
    for (voters, got, need) in [(&[3][..], 1, 2), (&[0], 1, 2), (&[2, 3], 2, 3)] {
        let refused = not_admitted(&t, &gmc(&t, 4, voters, 1));
        assert_eq!(refused, EntryError::PeerMinority { got, need }, "{voters:?}");
    }
    for voters in [&[0, 3][..], &[1, 2, 3]] {
        let entry = t.make_admit(gmc(&t, 4, voters, 1).der(), &PEOPLE[3]).unwrap();
        assert!(t.clone().append(&entry).is_ok(), "half with the first listed, or more than half");
    }
    let strict = no_minority(3);
    let few = CertificateError::PeerTooFewVotes { got: 2, need: 3 };
    let refused = not_admitted(&strict, &gmc(&strict, 4, &[0, 1], 1));
    assert_eq!(refused, EntryError::PeerCertificate(few), "the threshold still counts");
}

#[test]
fn trn_17_the_charter_is_the_one_of_the_entrys_past() {
    let (mut before, after) = (found(4, 1), no_minority(1));
    let minority = gmc(&before, 4, &[3], 1);
    let entry = before.make_admit(minority.der(), &PEOPLE[3]).unwrap();
    before.append(&entry).unwrap();
    merge(&mut before, &after);
    assert!(before.roster().is_member(&id(4)), "admitted before its side heard of the change");
    let roster = before.roster();
    let yes = |who: &[usize]| who.iter().map(|who| id(*who)).collect();
    assert!(!roster.admits(&yes(&[2, 3])) && roster.admits(&yes(&[0, 3])));
    assert_eq!((roster.admission_need(&yes(&[])), roster.admission_need(&yes(&[2, 3]))), (2, 3));
    assert_eq!(found(4, 1).roster().admission_need(&yes(&[])), 1);
}

/// Why this decision, with these votes, does not stand.
fn not_decided(t: &Transcript, decision: &Decision, slot: Slot, votes: Vec<VoteProof>) -> EntryError {
    let votes = DecisionVotes { slot, votes };
    let body = Body::Decide { decision: decision.clone(), votes };
    t.clone().append(&entry(t, body, 0)).unwrap_err()
}

/// Why this decision does not stand, though all founders vote for it.
fn not_sensible(t: &Transcript, decision: &Decision) -> EntryError {
    not_decided(t, decision, slot(t), proofs(t, decision, slot(t), &[0, 1, 2, 3]))
}

#[test]
fn trn_20_a_decision_uses_up_its_serial() {
    let mut t = found(4, 2);
    let decision = expel(&t, 3);
    let later = Slot { serial: 1, ballot: 0 };
    let refused = not_decided(&t, &decision, later, proofs(&t, &decision, later, &[0, 1]));
    assert_eq!(refused, EntryError::PeerSerial { got: 1, want: 0 });
    let now = slot(&t);
    t.append(&decide(&t, &decision, &[0, 1]).unwrap()).unwrap();
    assert_eq!(t.roster().electorate().voters, [0, 1, 2].map(id));
    let refused = not_decided(&t, &expel(&t, 2), now, proofs(&t, &expel(&t, 2), now, &[0, 1]));
    assert_eq!(refused, EntryError::PeerSerial { got: 0, want: 1 });
}

#[test]
fn trn_21_votes_are_sorted_each_voter_once() {
    let t = found(4, 2);
    let decision = expel(&t, 3);
    let two = proofs(&t, &decision, slot(&t), &[0, 1]);
    for votes in [vec![two[0], two[0]], vec![two[1], two[0]]] {
        assert_eq!(not_decided(&t, &decision, slot(&t), votes), EntryError::PeerVotesOrder);
    }
}

#[test]
fn trn_22_votes_are_of_voters() {
    let t = found(4, 2);
    let decision = expel(&t, 3);
    let unknown = not_decided(&t, &decision, slot(&t), proofs(&t, &decision, slot(&t), &[0, 7]));
    assert_eq!(unknown, EntryError::PeerNotVoter(id(7)));
}

#[test]
fn trn_23_votes_are_for_this_decision_in_this_ballot() {
    let t = found(4, 2);
    let decision = expel(&t, 3);
    let other_ballot = proofs(&t, &decision, Slot { serial: 0, ballot: 1 }, &[0, 1]);
    let other_target = proofs(&t, &expel(&t, 2), slot(&t), &[0, 1]);
    for votes in [other_ballot, other_target] {
        assert!(matches!(not_decided(&t, &decision, slot(&t), votes), EntryError::PeerVote(_)));
    }
}

#[test]
fn trn_24_threshold_and_quorum_decide() {
    let t = found(4, 2);
    let decision = expel(&t, 3);
    let refuse =
        |voters: &[usize]| not_decided(&t, &decision, slot(&t), proofs(&t, &decision, slot(&t), voters));
    assert_eq!(refuse(&[0]), EntryError::PeerTooFewVotes { got: 1, need: 2 });
    let half = refuse(&[1, 2]);
    assert!(matches!(half, EntryError::PeerTooFewVotes { .. }), "half without the first listed");
    assert!(decide(&t, &decision, &[0, 3]).is_ok());
}

#[test]
fn trn_25_the_admission_named_holds() {
    let t = found(4, 2);
    let ghost = Decision::Remove { member: id(9), admission: t.genesis_id() };
    assert_eq!(not_sensible(&t, &ghost), EntryError::PeerTarget(id(9)));
    let other = Decision::Remove { member: id(3), admission: EntryId([1; 32]) };
    assert_eq!(not_sensible(&t, &other), EntryError::PeerTarget(id(3)));
}

#[test]
fn trn_26_enough_voters_stay() {
    let t = found(4, 2);
    let many = not_sensible(&t, &Decision::change("threshold", "5"));
    assert_eq!(many, EntryError::PeerDeadEnd { voters: 4, threshold: 5 });
    let all = found(4, 4);
    let left = not_sensible(&all, &expel(&all, 3));
    assert_eq!(left, EntryError::PeerDeadEnd { voters: 3, threshold: 4 });
}

#[test]
fn trn_27_the_field_takes_the_value() {
    let t = found(4, 2);
    let bytes = |bytes: &[u8]| Blob::from(bytes.to_vec());
    let odd = Decision::ChangeCharter { field: bytes(b"minority"), value: bytes(&[0xff]) };
    for change in [Decision::change("name", "x"), Decision::change("certificate_days", "0"), odd] {
        assert!(matches!(not_sensible(&t, &change), EntryError::PeerChange(_)), "{change:?}");
    }
}

#[test]
fn trn_28_an_electorate_is_distinct_members() {
    let t = found(4, 2);
    for voters in [vec![], vec![id(0), id(0)], vec![id(0), id(9)]] {
        assert_eq!(not_sensible(&t, &Decision::Electorate { voters }), EntryError::PeerElectorate);
    }
}

#[test]
fn trn_31_expiry_is_judged_by_the_entrys_time() {
    let mut t = found(3, 2);
    admit(&mut t, 3, &[0, 1], 1);
    let end = NOW.0 + YEAR;
    let early = entry(&t, expire_body(&t, 3, end), 2);
    let why = EntryError::PeerTooEarly { not_after: UnixTime(end), time: UnixTime(end) };
    assert_eq!(t.append(&early), Err(why));
    let founders = Body::Expire { member: id(0), admission: t.genesis_id(), time: UnixTime(u64::MAX) };
    assert!(matches!(t.append(&entry(&t.clone(), founders, 1)), Err(EntryError::PeerTooEarly { .. })));
    let body = expire_body(&t, 3, end + 1);
    let appended = t.append(&entry(&t.clone(), body, 3)).unwrap();
    assert!(matches!(appended.change, Change::Removed { cause: Cause::Expired, .. }));
}

#[test]
fn trn_25_an_admission_expires_once() {
    let mut t = found(3, 2);
    admit(&mut t, 3, &[0, 1], 1);
    let body = expire_body(&t, 3, NOW.0 + YEAR + 1);
    t.append(&entry(&t.clone(), body.clone(), 0)).unwrap();
    assert_eq!(t.append(&entry(&t.clone(), body, 2)), Err(EntryError::PeerTarget(id(3))));
}

#[test]
fn trn_22_an_expired_voter_has_no_vote_but_counts_in_the_quorum() {
    let mut t = found(2, 1);
    admit(&mut t, 2, &[0], 1);
    let all = Decision::Electorate { voters: [0, 1, 2].map(id).to_vec() };
    t.append(&decide(&t, &all, &[0, 1]).unwrap()).unwrap();
    t.append(&entry(&t.clone(), expire_body(&t, 2, NOW.0 + YEAR + 1), 0)).unwrap();
    let change = Decision::change("certificate_days", "30");
    let refused = decide(&t, &change, &[0, 2]);
    assert_eq!(refused, Err(BuildError::Refused(EntryError::PeerNotVoter(id(2)))));
    assert!(decide(&t, &change, &[0]).is_err());
    assert!(decide(&t, &change, &[0, 1]).is_ok());
}

#[test]
fn every_vote_comes_out_of_the_transcript_as_it_was_signed() {
    let mut t = found(3, 2);
    admit(&mut t, 3, &[0, 1], 1);
    t.append(&decide(&t, &Decision::change("threshold", "1"), &[0, 2]).unwrap()).unwrap();
    let everyone = Decision::Electorate { voters: (0..4).map(id).collect() };
    let (at, motion) = (slot(&t), everyone.motion(t.group(), t.roster().charter().digest(), slot(&t)));
    assert_eq!(at.serial, 1);
    t.append(&decide(&t, &everyone, &[1, 2]).unwrap()).unwrap();
    admit(&mut t, 4, &[3], 2);
    let evidence = t.evidence(&[]);
    let counts: Vec<_> = evidence.iter().map(|one| (one.votes.len(), one.unnamed.len())).collect();
    assert_eq!(counts, [(2, 0), (2, 0), (2, 0), (0, 1)], "of one admitted later, no certificate is here");
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
    let signed = Vote::sign(&PEOPLE[1], content).unwrap();
    assert!(evidence[2].votes.iter().any(|vote| vote.der() == signed.der()));
    assert_eq!(t.evidence(&[PEOPLE[3].certificate().clone()])[3].votes[0].voter(), id(3));
    assert_eq!(evidence[0].certificate.as_ref().unwrap().member(), id(3));
    assert!(evidence[1].certificate.is_none());
    assert_eq!(t.signed_charter().unwrap().der(), charter(3, 2, 7));
}

#[test]
fn a_stored_transcript_is_verified_again() {
    let mut t = found(3, 2);
    admit(&mut t, 3, &[0, 1], 1);
    t.append(&decide(&t, &expel(&t, 2), &[0, 1]).unwrap()).unwrap();
    admit(&mut t, 4, &[0, 1], 2);
    let mut stored: Vec<Bytes> = t.entries().cloned().collect();
    stored.reverse();
    let loaded = Transcript::load(stored.clone()).unwrap();
    assert_eq!((loaded.heads_digest(), loaded.roster()), (t.heads_digest(), t.roster()));
    assert_eq!(Transcript::load(stored[..3].to_vec()).err(), Some(LoadError::LocalNoGenesis));
    let gap = [stored[0].clone(), stored[3].clone()];
    let gap = Transcript::load(gap).err();
    assert!(matches!(gap, Some(LoadError::LocalCorrupt { number: 0, why: EntryError::MissingParents(_) })));
    let mut bad = stored[1].to_vec();
    bad[100] ^= 1;
    stored[1] = bad.into();
    assert!(matches!(Transcript::load(stored), Err(LoadError::LocalCorrupt { .. })));
}
