//! Rules over roles: their form, who decides by them, and what would put them out of reach.

use super::*;

fn rule(text: &str) -> Option<Rule> {
    Some(Rule::parse(text).unwrap())
}

/// Operators are 0, 1 and 2; security is 3 and 4.
fn roles() -> BTreeMap<String, BTreeSet<MemberId>> {
    BTreeMap::from([("operators".into(), ids(&[0, 1, 2])), ("security".into(), ids(&[3, 4]))])
}

fn by_roles(admit: &str, remove: Option<&str>) -> Charter {
    let remove = remove.and_then(rule);
    let policies = Policies { roles: roles(), admit: rule(admit), remove, ..Policies::default() };
    charter(6, policies)
}

#[test]
fn id_43_a_rule_that_is_none_is_refused_where_it_goes_wrong() {
    for (text, at, what) in [
        ("", 1, "a number of voters"),
        ("2 of", 5, "the name of a role"),
        ("2 operators", 3, "\"of\" is expected here"),
        ("two of operators", 1, "a number of voters"),
        ("0 of operators", 1, "from 1 to 256"),
        ("02 of operators", 1, "from 1 to 256"),
        ("257 of all", 1, "from 1 to 256"),
        ("2 of Operators", 6, "the name of a role"),
        ("1 of and", 6, "the name of a role"),
        ("1 of a and", 11, "a number of voters"),
        ("1 of a 1 of b", 8, "\"and\", \"or\" or the end"),
        ("(1 of a", 8, "\")\" is expected here"),
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
    let text = by_roles("2 of operators and 1 of security", Some("3 of all")).bytes().to_vec();
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
    let charter = by_roles("2 of operators and 1 of security", None);
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
fn id_44_a_rule_over_roles_is_judged_by_votes_that_verify() {
    let both = by_roles("2 of operators and 1 of security", None);
    let lets_in = |charter: &Charter, voters: &[usize]| match check(charter, &gmc(charter, 30, voters)) {
        Ok(()) => true,
        Err(CertificateError::PeerRule(_) | CertificateError::PeerTooFewVotes { .. }) => false,
        Err(other) => panic!("{other:?}"),
    };
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
    let granted = gmc(&both, 30, &[0, 1]);
    let mut votes = granted.votes().to_vec();
    votes.push(VoteProof { voter: id(3), ..votes[0].clone() });
    let forged = Gmc::compose(granted.body(), &votes, &PEOPLE[30]).unwrap();
    assert_eq!(check(&both, &forged), Err(CertificateError::PeerVote(id(3))));
}
