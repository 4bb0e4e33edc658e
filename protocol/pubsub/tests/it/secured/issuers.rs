//! Certificates that a root makes are taken by whoever has its certificate, and by nobody else.

use super::helper::{Count, domain, group, id};
use folkmoot_base::UnixTime;
use folkmoot_pubsub::secured::{Claim, Domain, IssueError, Issuer, PermitError, RIGHTS_MAX, Right, Root};
use folkmoot_signing::plain::SigningKey;
use std::collections::BTreeSet;

const NOW: UnixTime = UnixTime(1_800_000_000);
const END: UnixTime = UnixTime(1_900_000_000);

fn signer(number: u8) -> SigningKey {
    SigningKey::generate(&mut Count(number))
}

fn issuer(number: u8) -> Issuer {
    Issuer::new("robots", signer(number), &(NOW..=END), &mut Count(9)).unwrap()
}

fn rights(domains: &[Domain]) -> BTreeSet<Right> {
    domains.iter().map(|domain| Right { domain: *domain, sender: id(4) }).collect()
}

fn issue(by: &Issuer, rights: &BTreeSet<Right>) -> Result<Vec<u8>, IssueError> {
    by.issue("arm", signer(2).verifying_key(), rights, &(NOW..=END), &mut Count(1))
}

#[test]
fn pub_26_what_a_root_issues_is_read_as_it_was_asked_for() {
    let (issuer, wanted) = (issuer(1), rights(&[group(), domain("POSE"), domain("robot:pose")]));
    let made = issue(&issuer, &wanted).unwrap();
    let root = Root::from_der(issuer.certificate()).unwrap();
    let permit = root.permit(&made, NOW, 0).unwrap();
    assert!(permit.rights().iter().eq(&wanted) && permit.key() == signer(2).verifying_key());
    assert_eq!(permit.ends(), END);
    let claim = Claim::from_der(&made).unwrap();
    assert_eq!((claim.subject.as_str(), claim.issuer.as_str()), ("CN=arm", "CN=robots"));
    assert!(claim.rights.iter().eq(&wanted) && claim.term == (NOW..=END));
    let own = Claim::from_der(issuer.certificate()).unwrap();
    assert_eq!((own.subject, own.rights), ("CN=robots".to_owned(), vec![]));
}

#[test]
fn pub_27_a_root_issues_under_its_own_key_and_within_a_term() {
    let (one, other) = (issuer(1), issuer(3));
    let made = issue(&one, &rights(&[group()])).unwrap();
    // Both roots have one name.
    assert_eq!(other.root().permit(&made, NOW, 0), Err(PermitError::PeerIssuer));
    assert!(matches!(Issuer::open(one.certificate(), signer(3)), Err(IssueError::LocalKey)));
    assert!(Issuer::open(one.certificate(), signer(1)).is_ok());
    assert!(matches!(Issuer::open(&made, signer(2)), Err(IssueError::LocalPermit(PermitError::PeerIssuer))));
    let with = |name: &str, term| {
        one.issue(name, signer(2).verifying_key(), &rights(&[group()]), &term, &mut Count(1))
    };
    assert_eq!(with("arm", END..=NOW), Err(IssueError::LocalTerm));
    assert_eq!(with("arm", NOW..=UnixTime(u64::MAX)), Err(IssueError::LocalTerm));
    for name in ["", "a\nb", &"x".repeat(65)] {
        assert_eq!(with(name, NOW..=END), Err(IssueError::LocalName), "{name:?}");
    }
    // One that begins before the root is taken when both have begun.
    assert!(with("arm", UnixTime(NOW.0 - 3_600)..=END).is_ok());
}

#[test]
fn pub_28_a_root_issues_no_rights_that_do_not_fit_together() {
    let issuer = issuer(1);
    let refused = |rights: &BTreeSet<Right>| issue(&issuer, rights).unwrap_err();
    assert_eq!(refused(&rights(&[])), PermitError::PeerRights.into());
    assert_eq!(refused(&rights(&[domain("POSE")])), PermitError::PeerNoGroup(domain("POSE")).into());
    let mut two = rights(&[group(), domain("POSE")]);
    two.insert(Right { domain: domain("SCAN"), sender: id(5) });
    assert_eq!(refused(&two), PermitError::PeerTwoSenders(group(), id(4), id(5)).into());
    let channels: Vec<Domain> = (0..RIGHTS_MAX).map(|number| domain(&format!("c{number}"))).collect();
    let mut many = rights(&channels);
    many.insert(Right { domain: group(), sender: id(4) });
    assert_eq!(refused(&many), PermitError::PeerRights.into());
    // As many as may be have room, unless their names are long.
    many.pop_last();
    assert!(issue(&issuer, &many).is_ok());
    let long: Vec<Domain> =
        (0..60).map(|number| domain(&format!("{number:02}{}", "x".repeat(60)))).chain([group()]).collect();
    assert!(matches!(refused(&rights(&long)), IssueError::LocalTooLong(_)));
}
