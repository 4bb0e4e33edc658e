//! The largest of each kind fits where it must, odd names survive, and forms that only a signer
//! could make are refused too.

use crate::common::{END, Seed, World, person};
use folkmoot_base::{GroupName, MemberId, limits};
use folkmoot_identity::names::is_made;
use folkmoot_identity::{
    Charter, CharterDraft, CmsError, FOUNDERS_MAX, Gmc, Identity, NAME_BYTES_MAX, Request, RequestError,
    SignedCharter, VOTES_MAX, Vote, VoteError, VoteProof,
};
use proptest::prelude::*;
use std::process::Command;

#[test]
fn the_largest_charter_fits_an_entry() {
    let name = "é".repeat(NAME_BYTES_MAX / 2);
    let founders: Vec<_> = (0..FOUNDERS_MAX as u64).map(|seed| person(&name, seed)).collect();
    let named = founders.iter().map(|founder| founder.certificate().into()).collect();
    let group = GroupName::new(&"\"".repeat(255)).unwrap();
    let draft = CharterDraft::new(group, FOUNDERS_MAX as u32, named, &mut Seed(1 << 50));
    let all: Vec<_> = founders.iter().collect();
    let signed = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
    assert!(signed.der().len() + 1024 <= limits::ENTRY_BYTES_MAX, "{}", signed.der().len());
    assert_eq!(SignedCharter::complete_from_der(signed.der()).unwrap(), signed);
}

#[test]
fn the_largest_certificate_fits_an_entry_and_one_vote_more_is_refused() {
    let world = World::new();
    let one = world.vote(0).proof();
    let votes = |count: usize| -> Vec<_> {
        let voter = |n: usize| MemberId(folkmoot_base::digest(&[&n.to_be_bytes()]));
        (0..count).map(|n| VoteProof { voter: voter(n), ..one.clone() }).collect()
    };
    let gmc = world.gmc_with(&votes(VOTES_MAX));
    assert!(gmc.der().len() + 1024 <= limits::ENTRY_BYTES_MAX, "{}", gmc.der().len());
    assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    assert!(Gmc::compose(world.request().body(), &votes(VOTES_MAX + 1), &world.stranger).is_err());
}

#[test]
fn the_longest_names_fit_votes_and_requests() {
    let name = "é".repeat(NAME_BYTES_MAX / 2);
    let mut world = World::new();
    world.stranger = person(&name, 77);
    let request = world.request();
    assert_eq!(Request::from_der(request.der()).unwrap(), request);
    world.founders[0] = person(&name, 78);
    let vote = world.vote(0);
    assert_eq!(Vote::from_der(vote.der()).unwrap(), vote);
}

/// What OpenSSL makes of `content` with `flags`, signed by a real identity.
fn signed_by_openssl(identity: &Identity, content: &[u8], flags: &[&str], folder: &str) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("folkmoot-limits-{}-{folder}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("key.pem"), identity.key_pem().unwrap().expose()).unwrap();
    std::fs::write(folder.join("certificate.pem"), identity.certificate_pem()).unwrap();
    std::fs::write(folder.join("content"), content).unwrap();
    let base = ["cms", "-sign", "-binary", "-nodetach", "-outform", "DER", "-signer", "certificate.pem"];
    let files = ["-inkey", "key.pem", "-in", "content", "-out", "out.cms"];
    let all = base.iter().chain(&files).chain(flags);
    let status = Command::new("openssl").args(all).current_dir(&folder).status().unwrap();
    assert!(status.success());
    let out = std::fs::read(folder.join("out.cms")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    out
}

#[test]
fn id_22_other_forms_of_the_same_vote_are_refused() {
    let world = World::new();
    let content = world.vote(0).body().encode();
    for (n, flags) in
        [&[][..], &["-noattr"], &["-nosmimecap"], &["-keyid"], &["-md", "sha512"], &["-nocerts"]]
            .into_iter()
            .enumerate()
    {
        let der = signed_by_openssl(&world.founders[0], &content, flags, &format!("form{n}"));
        let refused = Vote::from_der(&der).unwrap_err();
        assert!(matches!(refused, VoteError::Cms(_)), "{flags:?}: {refused}");
    }
}

#[test]
fn id_23_a_vote_has_one_signer() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let two = SignedCharter::sign(toml, &[&world.founders[0], &world.founders[1]]).unwrap();
    assert!(matches!(
        Vote::from_der(two.der()),
        Err(VoteError::Cms(CmsError::WireTooLong(_) | CmsError::WireSigners))
    ));
    assert!(matches!(Request::from_der(two.der()), Err(RequestError::Cms(CmsError::WireSigners))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn odd_names_survive_or_are_refused(
        group in "[^\\p{Cc}]{1,40}",
        name in "[^\\p{Cc}]{1,12}|[a-z'éж日ש]{1,12}",
    ) {
        let founder = person(&name, 1);
        let named = vec![founder.certificate().into()];
        let draft = CharterDraft::new(GroupName::new(&group).unwrap(), 1, named, &mut Seed(2));
        let signed = SignedCharter::sign(&draft.to_toml(), &[&founder]);
        prop_assert_eq!(signed.is_ok(), is_made(&name).is_ok());
        let Ok(signed) = signed else { return Ok(()) };
        let again = SignedCharter::complete_from_der(signed.der()).unwrap();
        prop_assert_eq!(again.charter().name().as_str(), &group);
        prop_assert_eq!(&again.charter().founders()[0].name, &name);
        let gmc = Gmc::found(again.charter(), &founder, END, &mut Seed(3)).unwrap();
        prop_assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    }

    #[test]
    fn any_text_is_a_charter_or_refused(text in "\\PC{0,200}") {
        prop_assert!(Charter::from_toml(&text).is_err());
    }
}
