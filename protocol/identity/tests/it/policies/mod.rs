//! What a charter says about who comes in and who goes. Method: real keys; charters with each
//! policy, and certificates judged by the charter alone. Whom the transcript admits is tested in
//! its own crate.

mod roles;

use crate::common::{END, START, Seed, person};
use folkmoot_base::{GroupName, MemberId};
use folkmoot_identity::{
    CertificateError, Charter, CharterDraft, CharterError, Founder, Gmc, GmcBody, Identity, Policies, Policy,
    Rule, RuleError, Threshold, Verdict, Vote, VoteBody, VoteKind, VoteProof,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

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

fn charter(count: usize, policies: Policies) -> Charter {
    Charter::from_toml(&draft(count, 2, policies).to_toml()).unwrap()
}

/// The certificate of somebody with the votes of these.
fn gmc(charter: &Charter, who: usize, voters: &[usize]) -> Gmc {
    let body = GmcBody::propose(charter, &PEOPLE[who], 3, START, &mut Seed(1 << 20));
    let (group, base, subject) = (charter.group(), body.membership.base, body.request_digest().unwrap());
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    let said = VoteBody { group, base, kind, subject, turn: 0, verdict, expires: END };
    let vote = |voter: &usize| Vote::sign(&PEOPLE[*voter], said).unwrap().proof();
    Gmc::compose(&body, &voters.iter().map(vote).collect::<Vec<_>>(), &PEOPLE[who]).unwrap()
}

/// Whether the founders' votes let somebody in, by the charter alone.
fn check(charter: &Charter, gmc: &Gmc) -> Result<(), CertificateError> {
    gmc.check_authority(charter, |member| charter.founder(member).map(|founder| &founder.key))
}

#[test]
fn id_45_a_list_admits_whom_it_names_and_nobody_else() {
    let policies = Policies { policy: Policy::List, list: ids(&[30]), ..Policies::default() };
    let charter = charter(3, policies);
    assert_eq!(check(&charter, &gmc(&charter, 30, &[])), Ok(()));
    let stranger = check(&charter, &gmc(&charter, 31, &[0, 1, 2]));
    assert_eq!(stranger, Err(CertificateError::PeerNotListed));
    assert!(charter.with_change("list", "none").is_err(), "a list of nobody");
    assert!(charter.with_change("minority_may_admit", "false").is_err());
    let next = charter.with_change("list", &id(31).hex()).unwrap();
    assert_eq!(check(&next, &gmc(&charter, 31, &[])), Ok(()));
}

#[test]
fn id_45_a_founder_admits_alone_where_the_charter_says_so() {
    let policies = Policies { policy: Policy::Founder, decider: Some(id(1)), ..Policies::default() };
    let charter = charter(3, policies);
    let others = check(&charter, &gmc(&charter, 30, &[0, 2]));
    assert_eq!(others, Err(CertificateError::PeerNoDecider));
    assert_eq!(check(&charter, &gmc(&charter, 30, &[1])), Ok(()));
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
