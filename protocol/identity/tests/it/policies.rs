//! What a charter says on who comes in and who goes, and that the judge of entries holds everybody to it.
//! Method: real keys; charters with each policy; entries made by force where the builder would refuse.

use crate::common::{Seed, person};
use bytes::Bytes;
use folkmoot_base::{Blob, EntryId, GroupName, MemberId, UnixTime, codec};
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

fn rule(text: &str) -> Option<Rule> {
    Some(Rule::parse(text).unwrap())
}

/// Operators are 0, 1 and 2; security is 3 and 4.
fn roles() -> BTreeMap<String, BTreeSet<MemberId>> {
    BTreeMap::from([("operators".into(), ids(&[0, 1, 2])), ("security".into(), ids(&[3, 4]))])
}

fn by_roles(admit: &str, remove: Option<&str>) -> Transcript {
    let remove = remove.and_then(rule);
    let policies = Policies { roles: roles(), admit: rule(admit), remove, ..Policies::default() };
    found(6, &draft(6, 2, policies))
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
    let mut entry =
        Entry { group: transcript.group(), parents, author: author.member(), body, signature: [0; 64] };
    entry.signature = author.key().sign_fixed(ENTRY_LABEL, &entry.signed_part());
    entry.encode()
}

// Rules over roles.

#[test]
fn id_43_a_rule_that_is_none_is_refused_where_it_goes_wrong() {
    for (text, at, what) in [
        ("", 1, "a number of voters"),
        ("2 of", 5, "the name of a role"),
        ("2 operators", 3, "\"of\" belongs here"),
        ("two of operators", 1, "a number of voters"),
        ("0 of operators", 1, "from 1 to 256"),
        ("02 of operators", 1, "from 1 to 256"),
        ("257 of all", 1, "from 1 to 256"),
        ("2 of Operators", 6, "the name of a role"),
        ("1 of and", 6, "the name of a role"),
        ("1 of a and", 11, "a number of voters"),
        ("1 of a 1 of b", 8, "\"and\", \"or\" or the end"),
        ("(1 of a", 8, "\")\" belongs here"),
        ("1 of a)", 7, "\"and\", \"or\" or the end"),
        ("1 of a and (1 of b or 2 of ü)", 28, "the name of a role"),
        ("1 of é and x", 6, "the name of a role"),
    ] {
        let refused = Rule::parse(text).unwrap_err();
        assert_eq!(refused.at, at, "{text}: {refused}");
        assert!(refused.what.contains(what), "{text}: {refused}");
    }
    let nested = |depth: usize| format!("{}1 of a{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Rule::parse(&nested(8)).is_ok() && Rule::parse(&nested(9)).unwrap_err().at == 9);
    let parts = |count: usize| vec!["1 of a"; count].join(" or ");
    assert!(Rule::parse(&parts(32)).is_ok() && Rule::parse(&parts(33)).is_err());
    assert!(Rule::parse(&"(".repeat(100_000)).is_err(), "no depth of brackets costs a stack");
}

#[test]
fn id_43_and_binds_closer_than_or_and_brackets_closer_than_both() {
    let roles = BTreeMap::from([
        ("a".to_owned(), ids(&[0, 1])),
        ("b".to_owned(), ids(&[2])),
        ("c".to_owned(), ids(&[3])),
    ]);
    let holds = |text: &str, yes: &[usize]| Rule::parse(text).unwrap().holds(&ids(yes), &roles);
    let loose = "1 of c or 2 of a and 1 of b";
    assert!(holds(loose, &[3]) && holds(loose, &[0, 1, 2]));
    assert!(!holds(loose, &[0, 1]) && !holds(loose, &[0, 2]));
    let tight = "(1 of c or 2 of a) and 1 of b";
    assert!(!holds(tight, &[3]) && holds(tight, &[3, 2]) && holds(tight, &[0, 1, 2]));
    assert!(holds("3 of all", &[7, 8, 9]) && !holds("3 of all", &[7, 8]));
    let spelled = |text: &str| Rule::parse(text).unwrap().to_string();
    assert_eq!(spelled(" ((1 of c)  or (2 of a and (1 of b)) )"), loose);
    assert_eq!(spelled(tight), tight);
    let tally = Rule::parse(tight).unwrap().tally(&ids(&[0]), &roles);
    assert_eq!(tally, "(1 of c (has 0) or 2 of a (has 1)) and 1 of b (has 0)");
}

fn any_rule() -> impl Strategy<Value = String> {
    let part = (1..5_u32, prop::sample::select(vec!["a", "b", "all"]));
    let part = part.prop_map(|(count, role)| format!("{count} of {role}"));
    part.prop_recursive(3, 12, 3, |inner| {
        (prop::collection::vec(inner, 1..4), prop::sample::select(vec![" and ", " or "]))
            .prop_map(|(parts, word)| format!("({})", parts.join(word)))
    })
}

proptest! {
    #[test]
    fn id_43_a_rule_has_one_spelling_and_more_yes_never_hurts(text in any_rule(), yes: u8, more: u8) {
        let Ok(rule) = Rule::parse(&text) else { return Ok(()) };
        let spelled = rule.to_string();
        prop_assert_eq!(&Rule::parse(&spelled).unwrap(), &rule);
        let voters = |mask: u8| ids(&(0..8).filter(|bit| mask >> bit & 1 == 1).collect::<Vec<_>>());
        let roles = BTreeMap::from([("a".to_owned(), ids(&[0, 1, 2])), ("b".to_owned(), ids(&[2, 3, 4, 5]))]);
        let (few, many) = (voters(yes), voters(yes | more));
        prop_assert!(!rule.holds(&few, &roles) || rule.holds(&many, &roles));
        prop_assert!(!rule.holds(&few, &roles) || few.len() >= rule.least());
    }

    #[test]
    fn id_43_any_text_is_a_rule_or_an_error_in_it(text in "[ 0-9a-cof()ünd]{0,40}") {
        if let Err(RuleError { at, .. }) = Rule::parse(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&at), "{}", at);
        }
    }
}

#[test]
fn id_44_roles_and_rules_stand_in_the_charter_and_fit_each_other() {
    let text =
        by_roles("2 of operators and 1 of security", Some("3 of all")).roster().charter().bytes().to_vec();
    let text = String::from_utf8(text).unwrap();
    let charter = Charter::from_toml(&text).unwrap();
    assert_eq!(charter.policies().roles, roles());
    assert_eq!(charter.policies().roles_of(&id(3)), ["security"]);
    for (from, to) in [
        ("1 of security\"", "1 of guards\""),
        ("security = [", "Security = ["),
        ("security = [", "all = ["),
        ("2 of operators", "4 of operators"),
        ("3 of all", "7 of all"),
        ("operators = [\"", "operators = [\"00"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        assert!(
            matches!(Charter::from_toml(&changed), Err(CharterError::WireValue { .. })),
            "{from} -> {to}"
        );
    }
    let broken = text.replacen("2 of operators and", "2 of operators und", 1);
    let Err(CharterError::WireRule { key: "admit", source }) = Charter::from_toml(&broken) else {
        panic!("no rule")
    };
    assert_eq!(source.at, 16);
}

#[test]
fn id_44_roles_and_rules_change_by_vote() {
    let charter = by_roles("2 of operators and 1 of security", None).roster().charter().clone();
    let keys = |who: &[usize]| ids(who).iter().map(MemberId::hex).collect::<Vec<_>>().join(",");
    let next = charter.with_change("roles.security", &keys(&[5])).unwrap();
    assert_eq!(next.policies().roles["security"], ids(&[5]));
    assert_ne!(next.digest(), charter.digest(), "votes by the old roles do not count");
    let next = next.with_change("admit", "1 of security or 4 of all").unwrap();
    let next = next.with_change("remove", "1 of security").unwrap();
    for (field, word) in [
        ("admit", "1 of security  or 4 of all"),
        ("admit", "(1 of security)"),
        ("admit", "1 of nobody"),
        ("roles.security", "none"),
        ("roles.security", "anna"),
        ("roles.Big", &keys(&[1])),
        ("roles.security", &keys(&[5])),
    ] {
        let refused = next.with_change(field, word).unwrap_err();
        assert!(matches!(refused, CharterError::PeerChange { .. }), "{field} = {word}: {refused:?}");
    }
    let reversed: Vec<String> = ids(&[1, 2]).iter().rev().map(MemberId::hex).collect();
    assert!(next.with_change("roles.security", &reversed.join(",")).is_err(), "one order");
    let unread = next.with_change("admit", "1 of security und").unwrap_err();
    assert!(matches!(unread, CharterError::PeerRule { source: RuleError { at: 15, .. }, .. }), "{unread:?}");
    let bare = next.with_change("admit", "none").unwrap().with_change("remove", "none").unwrap();
    assert!(bare.with_change("roles.security", "none").unwrap().policies().roles.len() == 1);
}

#[test]
fn trn_11_a_rule_over_roles_decides_who_admits() {
    let both = by_roles("2 of operators and 1 of security", None);
    assert!(lets_in(&both, &[0, 1, 3]) && lets_in(&both, &[0, 1, 2, 4, 5]));
    for few in [&[0, 1][..], &[0, 3], &[0, 1, 5], &[3, 4, 0], &[5]] {
        assert!(!lets_in(&both, few), "{few:?}");
    }
    let either = by_roles("2 of security or (1 of operators and 3 of all)", None);
    assert!(lets_in(&either, &[3, 4]) && lets_in(&either, &[0, 3, 5]));
    assert!(!lets_in(&either, &[0, 3]) && !lets_in(&either, &[0, 1]));
    let none = by_roles("1 of all", None);
    assert!(!lets_in(&none, &[0]) && lets_in(&none, &[0, 5]), "the threshold holds besides");
    // A role is a matter of votes that verify, not of names in a list.
    let certificate = gmc_until(&both, 30, &[0, 1], LATER);
    let mut votes = certificate.votes().to_vec();
    votes.push(VoteProof { voter: id(3), ..votes[0] });
    let forged = Gmc::compose(certificate.body(), &votes, &PEOPLE[30]).unwrap();
    let error = refused(both.make_admit(forged.der(), &PEOPLE[0]));
    assert_eq!(error, EntryError::PeerCertificate(CertificateError::PeerVote(id(3))));
}

#[test]
fn trn_33_a_removal_may_take_a_rule_besides_the_quorum() {
    let t = by_roles("2 of all", Some("1 of security or 5 of all"));
    let error = refused(decide(&t, &expel(&t, 5), &[0, 1, 2, 5]));
    assert!(
        matches!(error, EntryError::PeerRule(ref told) if told.contains("1 of security (has 0)")),
        "{error}"
    );
    assert!(decide(&t, &expel(&t, 5), &[0, 1, 2, 3]).is_ok());
    assert!(matches!(refused(decide(&t, &expel(&t, 5), &[3, 4])), EntryError::PeerTooFewVotes { .. }));
    assert!(decide(&t, &Decision::change("certificate_days", "9"), &[0, 1, 2]).is_ok(), "removals only");
}

// What can no longer be reached.

#[test]
fn trn_26_what_makes_a_rule_unreachable_is_refused_unless_the_voters_force_it() {
    let mut t = by_roles("2 of operators and 1 of security", None);
    expelled(&mut t, 4, &[0, 1, 2, 3]);
    for decision in [
        expel(&t, 3),
        Decision::Electorate { voters: [0, 1, 2, 5].map(id).to_vec() },
        Decision::change("admit", "2 of security"),
        Decision::change("roles.security", &id(30).hex()),
    ] {
        let error = refused(decide(&t, &decision, &[0, 1, 2, 5]));
        assert_eq!(error, EntryError::PeerUnreachable { what: "admit" }, "{decision:?}");
        assert!(error.to_string().contains("TRN-26"));
        assert!(decide(&t, &decision.forced(), &[0, 1, 2, 5]).is_ok());
    }
    let (plain, forced) = (expel(&t, 3), expel(&t, 3).forced());
    assert_ne!(plain.subject(), forced.subject(), "votes cover the word");
    let slot = Slot { serial: t.roster().electorate().serial, ballot: 0 };
    let motion = plain.motion(t.group(), t.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: LATER };
    let votes = [0, 1, 2, 5].map(|voter| proof(voter, content));
    let smuggled = refused(t.make_decision(&forced, slot, &votes, &PEOPLE[0]));
    assert!(matches!(smuggled, EntryError::PeerVote(_)), "{smuggled}");
    decided(&mut t, &forced, &[0, 1, 2, 5]);
    // What is out of reach already hinders no decision: one of them is the way back.
    decided(&mut t, &Decision::change("roles.security", &id(5).hex()), &[0, 1, 2]);
    assert!(lets_in(&t, &[0, 1, 5]));
}

#[test]
fn trn_26_the_threshold_can_be_put_out_of_reach_by_force_but_not_the_last_voter() {
    let t = found(3, &draft(3, 3, Policies::default()));
    let error = refused(decide(&t, &expel(&t, 2), &[0, 1, 2]));
    assert_eq!(error, EntryError::PeerDeadEnd { voters: 2, threshold: 3 });
    assert!(decide(&t, &expel(&t, 2).forced(), &[0, 1, 2]).is_ok());
    let mut alone = found(1, &draft(1, 1, Policies::default()));
    let error = refused(decide(&alone, &expel(&alone, 0).forced(), &[0]));
    assert_eq!(error, EntryError::PeerDeadEnd { voters: 0, threshold: 1 });
    let removal = by_roles("2 of all", Some("2 of security"));
    let error = refused(decide(&removal, &expel(&removal, 3), &[0, 1, 3, 4]));
    assert_eq!(error, EntryError::PeerUnreachable { what: "remove" });
    decided(&mut alone, &Decision::change("certificate_days", "9").forced(), &[0]);
    assert_eq!(alone.roster().charter().certificate_days(), 9, "force where none is needed changes nothing");
}

#[test]
fn trn_01_there_is_no_forcing_of_the_forced() {
    let decision = Decision::change("threshold", "1").forced();
    assert_eq!(decision.clone().forced(), decision);
    let bytes = codec::encode(&decision);
    assert_eq!(codec::decode::<Decision>(&bytes).unwrap(), decision);
    let (version, body) = bytes.split_first().unwrap();
    let twice = [&[*version, 4], body].concat();
    assert!(codec::decode::<Decision>(&twice).is_err());
    let deep = [&[*version][..], &[4; 40_000], body].concat();
    assert!(codec::decode::<Decision>(&deep).is_err(), "no depth of them costs a stack");
}

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
    // On the other side of a split, where nobody had heard of it, it stands; the union has both (T3).
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

/// Four founders and three members vote; the terms of these end. Who has a place and no vote is none of the voters that a threshold takes.
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

/// To be listed is to have been voted for once; who is voted out is not any more, until the voters say the list again.
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
        ("policy = \"anarchy\"".into(), "threshold, list, founder or authority"),
        ("policy = \"list\"".into(), "takes a list"),
        ("policy = \"founder\"".into(), "takes a decider"),
        (format!("policy = \"founder\"\ndecider = \"{}\"", id(9).hex()), "a founder's key"),
        (format!("{listed}\nadmit = \"1 of all\""), "goes with policy threshold"),
        ("objections = 0".into(), "between 1 and 128"),
        ("request_days = 366".into(), "between 1 and 365"),
        (format!("list = [\"{}\"]", id(9).hex().to_uppercase()), "not a key id"),
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
