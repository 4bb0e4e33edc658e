//! What a charter says about who comes in and who goes, and that the judge of entries holds
//! everybody to it. Method: real keys; charters with each policy; entries are made by force if the
//! builder would refuse.

mod roles;

use crate::common::{Seed, person};
use bytes::Bytes;
use folkmoot_base::{Blob, EntryId, GroupName, MemberId, SignatureBytes, UnixTime, codec};
use folkmoot_identity::transcript::{Body, ENTRY_LABEL, Entry};
use folkmoot_identity::{
    Below, BuildError, CertificateError, Change, Charter, CharterDraft, CharterError, Decision, EntryError,
    Founder, Gmc, GmcBody, Identity, Policies, Policy, Rule, RuleError, SignedCharter, Slot, Threshold,
    Transcript, Verdict, Vote, VoteContent, VoteProof,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const NOW: UnixTime = crate::common::START;
const LATER: UnixTime = crate::common::END;
const DAY: u64 = 86_400;

static PEOPLE: LazyLock<Vec<Identity>> =
    LazyLock::new(|| (0..40).map(|n| person(&format!("p{n}"), 100 + n)).collect());

fn id(who: usize) -> MemberId {
    PEOPLE[who].member()
}

fn ids(who: &[usize]) -> BTreeSet<MemberId> {
    who.iter().map(|who| id(*who)).collect()
}

/// The draft of a charter that the first `count` people found.
fn draft(count: usize, threshold: u32, policies: Policies) -> CharterDraft {
    let named = PEOPLE[..count].iter().map(|founder| Founder::from(founder.certificate())).collect();
    let name = GroupName::new("moot").unwrap();
    CharterDraft { policies, ..CharterDraft::new(name, threshold, named, &mut Seed(7)) }
}

fn found(count: usize, draft: &CharterDraft) -> Transcript {
    let founders: Vec<&Identity> = PEOPLE[..count].iter().collect();
    Transcript::genesis(SignedCharter::sign(&draft.to_toml(), &founders).unwrap().der()).unwrap()
}

fn proof(who: usize, content: VoteContent) -> VoteProof {
    Vote::sign(&PEOPLE[who], content).unwrap().proof()
}

fn body(transcript: &Transcript, who: usize, salt: u64) -> GmcBody {
    let roster = transcript.roster();
    let body = GmcBody::propose(roster.charter(), &PEOPLE[who], 3, NOW, &mut Seed(salt << 20));
    body.after(roster.removals_of(&id(who)))
}

fn gmc_until(transcript: &Transcript, who: usize, voters: &[usize], expires: UnixTime) -> Gmc {
    let body = body(transcript, who, 1);
    let content = VoteContent { motion: body.motion().unwrap(), verdict: Verdict::Approve, expires };
    let votes: Vec<VoteProof> = voters.iter().map(|voter| proof(*voter, content)).collect();
    Gmc::compose(&body, &votes, &PEOPLE[who]).unwrap()
}

/// Whether these votes let somebody in.
fn admit(transcript: &Transcript, who: usize, voters: &[usize]) -> Result<Bytes, BuildError> {
    transcript.make_admit(gmc_until(transcript, who, voters, LATER).der(), &PEOPLE[0])
}

fn lets_in(transcript: &Transcript, voters: &[usize]) -> bool {
    let made = admit(transcript, 30, voters);
    let Err(refused) = made else { return true };
    assert!(
        matches!(
            refused,
            BuildError::Refused(EntryError::PeerCertificate(
                CertificateError::PeerRule(_) | CertificateError::PeerTooFewVotes { .. }
            ))
        ),
        "{refused:?}"
    );
    false
}

fn decide(transcript: &Transcript, decision: &Decision, voters: &[usize]) -> Result<Bytes, BuildError> {
    let slot = Slot { serial: transcript.roster().electorate().serial, ballot: 0 };
    let motion = decision.motion(transcript.group(), transcript.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
    let votes: Vec<VoteProof> = voters.iter().map(|voter| proof(*voter, content)).collect();
    transcript.make_decision(decision, slot, &votes, &PEOPLE[voters[0]])
}

fn decided(transcript: &mut Transcript, decision: &Decision, voters: &[usize]) {
    let entry = decide(transcript, decision, voters).unwrap();
    transcript.append(&entry).unwrap();
}

fn expel(transcript: &Transcript, who: usize) -> Decision {
    Decision::Remove { member: id(who), admission: transcript.roster().member(&id(who)).unwrap().entry }
}

fn expelled(transcript: &mut Transcript, who: usize, voters: &[usize]) {
    let decision = expel(transcript, who);
    decided(transcript, &decision, voters);
}

fn refused(made: Result<Bytes, BuildError>) -> EntryError {
    let BuildError::Refused(error) = made.unwrap_err() else { panic!("another error") };
    error
}

/// An entry with any body, rightly signed over all heads.
fn entry(transcript: &Transcript, body: Body, author: usize) -> Bytes {
    let parents: Vec<EntryId> = transcript.heads().iter().copied().collect();
    let author = &PEOPLE[author];
    let mut entry = Entry {
        group: transcript.group(),
        parents,
        author: author.member(),
        body,
        signature: SignatureBytes::NONE,
    };
    entry.signature = author.key().sign_wire(ENTRY_LABEL, &entry.signed_part());
    entry.encode()
}

// Rules over roles.

// What can no longer be reached.

// Objections and the end of a request.

fn objecting(count: u32) -> Transcript {
    found(4, &draft(4, 2, Policies { objections: Some(count), ..Policies::default() }))
}

fn objections(t: &Transcript, who: usize, verdict: Verdict, voters: &[usize]) -> Vec<VoteProof> {
    let content = VoteContent { motion: body(t, who, 1).motion().unwrap(), verdict, expires: LATER };
    voters.iter().map(|voter| proof(*voter, content)).collect()
}

#[test]
fn trn_32_so_many_objections_refuse_a_request() {
    let mut t = objecting(2);
    let request = body(&t, 30, 1).request_digest().unwrap();
    let make = |t: &Transcript, verdict, voters: &[usize]| {
        t.make_refusal(request, &objections(t, 30, verdict, voters), &PEOPLE[0])
    };
    let error = refused(make(&t, Verdict::Reject, &[0]));
    assert_eq!(error, EntryError::PeerObjections { got: 1, need: 2 });
    assert!(matches!(refused(make(&t, Verdict::Approve, &[0, 1])), EntryError::PeerVote(_)));
    assert!(matches!(refused(make(&t, Verdict::Reject, &[0, 30])), EntryError::PeerNotVoter(_)));
    assert!(matches!(refused(make(&t, Verdict::Reject, &[0, 0])), EntryError::PeerVotesOrder));
    let none = found(4, &draft(4, 2, Policies::default()));
    let votes = objections(&none, 30, Verdict::Reject, &[0, 1]);
    let other = body(&none, 30, 1).request_digest().unwrap();
    let error = refused(none.make_refusal(other, &votes, &PEOPLE[0]));
    assert_eq!(error, EntryError::PeerObjections { got: 2, need: 0 });
    let entry = make(&t, Verdict::Reject, &[0, 3]).unwrap();
    assert_eq!(Entry::decode(&entry).unwrap().encode(), entry);
    assert_eq!(t.append(&entry).unwrap().change, Change::Refused);
    assert!(t.roster().is_refused(&request));
    assert!(t.evidence(&[]).is_empty(), "nothing stands by it");
}

#[test]
fn trn_19_who_was_refused_for_good_asks_anew() {
    let mut t = objecting(2);
    let certificate = gmc_until(&t, 30, &[1, 2], LATER);
    let request = certificate.body().request_digest().unwrap();
    let votes = objections(&t, 30, Verdict::Reject, &[0, 3]);
    let before = t.clone();
    let no = t.make_refusal(request, &votes, &PEOPLE[0]).unwrap();
    t.append(&no).unwrap();
    assert_eq!(refused(t.make_admit(certificate.der(), &PEOPLE[1])), EntryError::PeerRefused(id(30)));
    // On the other side of a split, where nobody had heard of it, it stands; the union has both
    // (T3).
    let yes = before.make_admit(certificate.der(), &PEOPLE[1]).unwrap();
    let mut other = before;
    other.append(&yes).unwrap();
    assert!(matches!(
        refused(other.make_refusal(request, &votes, &PEOPLE[0])),
        EntryError::PeerObjections { .. }
    ));
    t.append(&yes).unwrap();
    other.append(&no).unwrap();
    assert_eq!(t.roster(), other.roster());
    assert!(t.roster().is_member(&id(30)));
}

#[test]
fn trn_18_no_vote_outlasts_the_request() {
    let t = found(3, &draft(3, 2, Policies { request_days: Some(7), ..Policies::default() }));
    let end = UnixTime(NOW.0 + 7 * DAY);
    let late = gmc_until(&t, 30, &[0, 1], UnixTime(end.0 + 1));
    let error = refused(t.make_admit(late.der(), &PEOPLE[0]));
    assert!(matches!(error, EntryError::PeerVoteOutlasts(_)), "{error}");
    assert!(t.make_admit(gmc_until(&t, 30, &[0, 1], end).der(), &PEOPLE[0]).is_ok());
    let without = found(3, &draft(3, 2, Policies::default()));
    assert!(admit(&without, 30, &[0, 1]).is_ok(), "a charter that does not say so is as it was");
}

// Thresholds.

fn following(count: usize, percent: u32, window: u32) -> Transcript {
    let draft = CharterDraft { ratio: Some((percent, window)), ..draft(count, 1, Policies::default()) };
    found(count, &draft)
}

#[test]
fn id_46_a_threshold_follows_the_size_in_steps() {
    let at = |size| Threshold::Ratio { percent: 30, size, window: 5 };
    assert_eq!((at(20).votes(), at(26).votes(), at(1).votes(), at(14).votes()), (6, 8, 1, 5));
    assert_eq!(
        Threshold::Ratio { percent: 100, size: 900, window: 5 }.votes(),
        128,
        "no more than a charter may ask"
    );
    assert!((15..=25).all(|members| at(20).update(members).is_none()));
    assert_eq!((at(20).update(14), at(20).update(26)), (Some(at(14)), Some(at(26))));
    let mut now = at(20);
    let mut updates = Vec::new();
    for members in [20, 26, 26, 20, 20, 26, 20] {
        if let Some(next) = now.update(members) {
            assert!(now.may_become(next, members));
            updates.push(members);
            now = next;
        }
    }
    assert_eq!(updates, [26, 20, 26, 20], "one update for each crossing");
    assert_eq!(Threshold::Fixed(3).update(900), None);
    assert_eq!(at(20).to_string(), "30% of 20 window 5");
    assert_eq!(Threshold::from_word("30% of 20 window 5"), Ok(at(20)));
    let toml = draft(3, 2, Policies::default()).to_toml();
    for bad in [
        "{ ratio = \"0%\", window = 5 }",
        "{ ratio = \"101%\", window = 5 }",
        "{ ratio = \"30\", window = 5 }",
        "{ ratio = \"30%\", window = 1001 }",
        "{ ratio = \"30%\" }",
        "{ ratio = \"30%\", window = 5, size = 3 }",
    ] {
        assert!(
            Charter::from_toml(&toml.replace("threshold = 2", &format!("threshold = {bad}"))).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn trn_29_the_size_in_a_threshold_is_the_groups_and_changes_when_it_is_due() {
    let mut t = following(4, 30, 2);
    assert_eq!(t.roster().threshold(), 2);
    let set = |size: u32| Decision::change("threshold", &format!("30% of {size} window 2"));
    for who in 10..12 {
        assert_eq!(t.roster().threshold_update(), None);
        assert!(
            matches!(refused(decide(&t, &set(7), &[0, 1, 2])), EntryError::PeerThreshold { .. }),
            "not due"
        );
        t.append(&admit(&t, who, &[0, 1]).unwrap()).unwrap();
    }
    t.append(&admit(&t, 12, &[0, 1]).unwrap()).unwrap();
    assert_eq!(t.roster().threshold_update(), Some(set(7)));
    for wrong in [set(10), set(5), set(6), Decision::change("threshold", "50% of 20 window 2")] {
        assert!(
            matches!(refused(decide(&t, &wrong, &[0, 1, 2])), EntryError::PeerThreshold { .. }),
            "{wrong:?}"
        );
    }
    let entry = decide(&t, &set(7), &[0, 1, 2]).unwrap();
    assert_eq!(t.append(&entry).unwrap().change, Change::CharterChanged);
    assert_eq!((t.roster().threshold(), t.roster().threshold_update()), (3, None));
    decided(&mut t, &Decision::change("threshold", "2"), &[0, 1, 2]);
    assert_eq!(t.roster().threshold_update(), None, "a fixed one follows nothing");
    decided(&mut t, &Decision::change("threshold", "50% of 7 window 2"), &[0, 1, 2]);
    assert_eq!(t.roster().threshold(), 4);
}

/// Four founders and three members vote; the terms of these end. A member that has a place and no
/// vote is not one of the voters that a threshold takes.
#[test]
fn trn_26_a_threshold_is_out_of_reach_of_places_without_voters() {
    let mut t = following(4, 50, 2);
    let joins = |t: &mut Transcript, who: std::ops::Range<usize>| {
        for who in who {
            t.append(&admit(t, who, &[0, 1, 2, 3]).unwrap()).unwrap();
        }
    };
    joins(&mut t, 4..7);
    decided(&mut t, &Decision::Electorate { voters: (0..7).map(id).collect() }, &[0, 1, 2, 3]);
    decided(&mut t, &Decision::change("threshold", "50% of 7 window 2"), &[0, 1, 2, 3]);
    for who in 4..7 {
        let held = t.roster().member(&id(who)).unwrap().entry;
        let over = t.make_expire(id(who), held, UnixTime(NOW.0 + 2 * 365 * 86_400), &PEOPLE[0]).unwrap();
        t.append(&over).unwrap();
    }
    assert!(lets_in(&t, &[0, 1, 2, 3]), "four votes of four voters");
    joins(&mut t, 7..15);
    let due = t.roster().threshold_update().unwrap();
    let error = refused(decide(&t, &due, &[0, 1, 2, 3]));
    assert_eq!(error, EntryError::PeerDeadEnd { voters: 4, threshold: 6 });
    assert!(decide(&t, &Decision::change("threshold", "2"), &[0, 1, 2, 3]).is_ok(), "down it goes");
    let there = (0..8).map(id).filter(|who| t.roster().is_member(who)).collect();
    decided(&mut t, &Decision::Electorate { voters: there }, &[0, 1, 2, 3]);
}

#[test]
fn id_47_below_the_threshold_all_voters_suffice_where_the_charter_says_so() {
    let policies = Policies { below: Below::Reset, ..Policies::default() };
    let mut t = found(3, &draft(3, 3, policies));
    assert_eq!((t.roster().threshold(), t.roster().below_threshold()), (3, None));
    expelled(&mut t, 2, &[0, 1, 2]);
    assert_eq!((t.roster().threshold(), t.roster().below_threshold()), (2, Some(2)));
    assert!(!lets_in(&t, &[0]));
    t.append(&admit(&t, 30, &[0, 1]).unwrap()).unwrap();
    expelled(&mut t, 1, &[0, 1]);
    assert_eq!(t.roster().threshold(), 1);
    let error = refused(decide(&t, &expel(&t, 0), &[0]));
    assert_eq!(error, EntryError::PeerDeadEnd { voters: 0, threshold: 1 });
    let toml = draft(3, 2, Policies::default()).to_toml();
    let authority = toml.replace("threshold = 2\n", "threshold = 2\nbelow_threshold = \"authority\"\n");
    let refused = Charter::from_toml(&authority).unwrap_err().to_string();
    assert!(refused.contains("takes an authority"), "{refused}");
}

// Policies other than votes.

#[test]
fn id_45_a_list_admits_whom_it_names_and_nobody_else() {
    let policies = Policies { policy: Policy::List, list: ids(&[30]), ..Policies::default() };
    let mut t = found(3, &draft(3, 2, policies));
    let error = refused(admit(&t, 31, &[0, 1, 2]));
    assert_eq!(error, EntryError::PeerCertificate(CertificateError::PeerNotListed));
    let listed = admit(&t, 30, &[]).unwrap();
    t.append(&listed).unwrap();
    assert!(t.roster().is_member(&id(30)));
    let gmc = gmc_until(&t, 30, &[], LATER);
    let body = Body::Admit { certificate: Blob(gmc.der().clone()) };
    assert!(matches!(t.append(&entry(&t, body, 0)), Err(EntryError::PeerUsed(_))), "once by each request");
    decided(&mut t, &Decision::change("list", &id(31).hex()), &[0, 1]);
    t.append(&admit(&t, 31, &[]).unwrap()).unwrap();
    assert!(t.roster().charter().with_change("list", "none").is_err(), "a list of nobody");
    assert!(t.roster().charter().with_change("minority_may_admit", "false").is_err());
}

/// To be listed is to have been voted for once. Anyone who is voted out is not listed any more,
/// until the voters decide the list again.
#[test]
fn trn_59_who_is_expelled_is_struck_from_the_list() {
    let policies = Policies { policy: Policy::List, list: ids(&[8, 9]), ..Policies::default() };
    let mut t = found(3, &draft(3, 2, policies));
    t.append(&admit(&t, 8, &[]).unwrap()).unwrap();
    expelled(&mut t, 8, &[0, 1, 2]);
    assert!(t.roster().is_struck(&id(8)) && !t.roster().is_struck(&id(9)));
    let error = refused(admit(&t, 8, &[]));
    assert_eq!(error, EntryError::PeerCertificate(CertificateError::PeerNotListed));
    assert!(admit(&t, 9, &[]).is_ok());
    let list = t.roster().charter().policies().list.iter().map(MemberId::hex).collect::<Vec<_>>().join(",");
    decided(&mut t, &Decision::change("list", &id(9).hex()), &[0, 1, 2]);
    decided(&mut t, &Decision::change("list", &list), &[0, 1, 2]);
    assert!(!t.roster().is_struck(&id(8)));
    assert!(admit(&t, 8, &[]).is_ok());
}

#[test]
fn id_45_a_founder_admits_alone_where_the_charter_says_so() {
    let policies = Policies { policy: Policy::Founder, decider: Some(id(1)), ..Policies::default() };
    let mut t = found(3, &draft(3, 2, policies));
    let error = refused(admit(&t, 30, &[0, 2]));
    assert_eq!(error, EntryError::PeerCertificate(CertificateError::PeerNoDecider));
    t.append(&admit(&t, 30, &[1]).unwrap()).unwrap();
    let error = refused(decide(&t, &expel(&t, 1), &[0, 2]));
    assert_eq!(error, EntryError::PeerUnreachable { what: "admit" });
    decided(&mut t, &Decision::change("policy", "threshold"), &[0, 2]);
    assert!(admit(&t, 31, &[0, 2]).is_ok() && admit(&t, 31, &[1]).is_err());
}

#[test]
fn id_45_a_policy_that_cannot_be_is_refused_with_the_reason() {
    let toml = draft(3, 2, Policies::default()).to_toml();
    let with = |lines: &str| {
        Charter::from_toml(&toml.replace("threshold = 2\n", &format!("threshold = 2\n{lines}\n")))
    };
    let listed = format!("policy = \"list\"\nlist = [\"{}\"]", id(9).hex());
    assert!(with(&listed).is_ok());
    for (lines, reason) in [
        ("policy = \"authority\"".to_owned(), "takes an authority"),
        ("policy = \"anarchy\"".into(), "it must be threshold, list, founder or authority"),
        ("policy = \"list\"".into(), "needs a list"),
        ("policy = \"founder\"".into(), "needs a decider"),
        (format!("policy = \"founder\"\ndecider = \"{}\"", id(9).hex()), "a founder's key"),
        (format!("{listed}\nadmit = \"1 of all\""), "needs policy threshold"),
        ("objections = 0".into(), "it must be between 1 and 128"),
        ("request_days = 366".into(), "it must be between 1 and 365"),
        (format!("list = [\"{}\"]", id(9).hex().to_uppercase()), "must be a key id"),
    ] {
        let refused = with(&lines).unwrap_err().to_string();
        assert!(refused.contains(reason), "{lines}: {refused}");
    }
    let forbidden = toml.replace("minority_may_admit = true", "minority_may_admit = false");
    assert!(
        Charter::from_toml(&forbidden.replace("threshold = 2\n", &format!("threshold = 2\n{listed}\n")))
            .is_err()
    );
}

#[test]
fn a_charter_without_the_new_words_has_none_of_them() {
    let text = draft(3, 2, Policies::default()).to_toml();
    for word in
        ["policy", "list", "decider", "admit =", "remove", "objections", "request_days", "below", "[roles]"]
    {
        assert!(!text.replace("minority_may_admit =", "").contains(word), "{word}");
    }
    let charter = Charter::from_toml(&text).unwrap();
    assert_eq!((charter.policies(), charter.threshold_rule()), (&Policies::default(), Threshold::Fixed(2)));
}
