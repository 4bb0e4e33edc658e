//! Who is who: what is made here is read back equal; votes count only where they were given;
//! certificates stand only under their charter and with enough votes; a charter is a charter only
//! with every founder's signature.

use crate::common::{END, START, Seed, World, person};
use folkmoot_base::{Head, UnixTime};
use folkmoot_identity::{
    CertificateError, Charter, CharterError, CmsError, Gmc, GmcBody, Identity, IdentityCertificate, Request,
    RequestError, SignedCharter, Verdict, Vote, VoteBody, VoteError, VoteKind, VoteProof, change_digest,
};
use std::collections::BTreeSet;

// Identities and their certificates.

#[test]
fn identities_survive_pem() {
    let alice = person("alice", 1);
    let again = Identity::from_pem(alice.key_pem().unwrap().expose(), &alice.certificate_pem()).unwrap();
    assert_eq!(again.certificate(), alice.certificate());
    assert_eq!(again.sign(b"folkmoot test v1", b"x"), alice.sign(b"folkmoot test v1", b"x"));
    assert_eq!(alice.member().0, alice.node().0);
    let bob = person("bob", 2);
    let mixed = Identity::from_pem(alice.key_pem().unwrap().expose(), &bob.certificate_pem());
    assert_eq!(mixed.unwrap_err(), CertificateError::LocalNotHolder);
}

#[test]
fn an_identity_is_a_function_of_its_entropy() {
    assert_eq!(person("alice", 1).certificate(), person("alice", 1).certificate());
    assert_ne!(person("alice", 1).member(), person("alice", 2).member());
}

#[test]
fn secrets_do_not_print() {
    let alice = person("alice", 1);
    let secret = alice.key().to_pkcs8_der().unwrap();
    let scalar: String = secret.expose()[36..68].iter().map(|byte| format!("{byte:02x}")).collect();
    let printed = format!("{alice:?} {:?}", alice.key_pem());
    assert!(!printed.contains(&scalar) && !printed.contains("PRIVATE"), "{printed}");
}

#[test]
fn id_01_names_and_terms_have_limits() {
    let make = |name: &str, from, to| Identity::new(name, &mut Seed(0), UnixTime(from), UnixTime(to));
    assert!(make("", 0, 1).is_err());
    assert!(make(&"x".repeat(65), 0, 1).is_err());
    assert!(make("a\nb", 0, 1).is_err());
    assert!(make("alice", 2, 1).is_err());
    assert!(make("alice", 0, 253_402_300_800).is_err());
    assert!(make(&"x".repeat(64), 0, 253_402_300_799).is_ok());
    assert!(make("Zoë ☕", 0, 2_524_608_000).is_ok(), "UTF-8, and a term into GeneralizedTime");
}

#[test]
fn id_03_terms_are_judged_by_the_time_given() {
    let certificate = person("alice", 1).certificate().clone();
    let at = |seconds: u64, skew| certificate.check_term(UnixTime(seconds), skew);
    assert_eq!(at(START.0, 0), Ok(()));
    assert_eq!(at(END.0, 0), Ok(()));
    assert_eq!(at(START.0 - 1, 0), Err(CertificateError::PeerNotYet(START)));
    assert_eq!(at(END.0 + 1, 0), Err(CertificateError::PeerEnded(END)));
    assert_eq!(at(START.0 - 60, 60), Ok(()));
    assert_eq!(at(END.0 + 60, 60), Ok(()));
}

#[test]
fn id_02_a_membership_certificate_is_no_identity_certificate_nor_the_reverse() {
    let world = World::new();
    assert!(matches!(
        IdentityCertificate::from_der(world.gmc().der()),
        Err(CertificateError::WireProfile(_) | CertificateError::WireTooLong(_))
    ));
    let identity = Gmc::from_der(world.stranger.certificate().der());
    assert!(matches!(identity, Err(CertificateError::WireProfile(_))));
}

// Charters.

#[test]
fn a_charter_keeps_its_bytes_and_names_its_group() {
    let world = World::new();
    let charter = world.charter();
    let again = SignedCharter::complete_from_der(world.signed.der()).unwrap();
    assert_eq!(again, world.signed);
    assert_eq!(folkmoot_base::GroupId::of_charter(charter.bytes()), charter.group());
    assert_eq!((charter.version(), charter.threshold(), charter.founders().len()), (1, 2, 3));
    let commented = format!("# {}", std::str::from_utf8(charter.bytes()).unwrap());
    assert_ne!(Charter::from_toml(&commented).unwrap().group(), charter.group());
}

#[test]
fn founders_sign_one_after_another_in_any_order() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let [alice, bob, carol] = &world.founders[..] else { panic!("three") };
    let mut signed = SignedCharter::sign(toml, &[carol]).unwrap();
    assert!(matches!(signed.verify(), Err(CharterError::PeerUnsigned(who)) if who == alice.member()));
    assert_eq!(signed.missing().count(), 2);
    let mut copy = SignedCharter::from_der(signed.der()).unwrap();
    copy.add_signature(alice).unwrap();
    signed.add_signature(bob).unwrap();
    signed.add_signature(bob).unwrap();
    signed.merge(&copy).unwrap();
    signed.verify().unwrap();
    assert_eq!(signed.der(), world.signed.der());
}

#[test]
fn id_33_only_founders_sign_and_under_their_names() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let refused = SignedCharter::sign(toml, &[&world.stranger]).unwrap_err();
    assert_eq!(refused, CharterError::PeerNotFounder(world.stranger.member()));
    let renamed = toml.replace("alice", "alicia");
    let refused = SignedCharter::sign(&renamed, &[&world.founders[0]]).unwrap_err();
    assert_eq!(refused, CharterError::PeerNotFounder(world.founders[0].member()));
    assert!(matches!(SignedCharter::sign(toml, &[]), Err(CharterError::Cms(CmsError::WireSigners))));
}

#[test]
fn id_32_a_charter_with_a_founder_missing_is_not_complete() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let signed = SignedCharter::sign(toml, &[&world.founders[0], &world.founders[2]]).unwrap();
    let refused = SignedCharter::complete_from_der(signed.der()).unwrap_err();
    assert_eq!(refused, CharterError::PeerUnsigned(world.founders[1].member()));
}

#[test]
fn id_31_charters_have_limits_and_no_unknown_keys() {
    let toml = std::str::from_utf8(World::new().charter().bytes()).unwrap().to_owned();
    let changes = [
        ("format = 2", "format = 3"),
        ("format = 2", "format = 2\ncolour = \"red\""),
        ("threshold = 2", "threshold = 0"),
        ("threshold = 2", "threshold = 4"),
        ("threshold = 2", "threshold = -1"),
        ("threshold = 2", "threshold = \"2\""),
        ("threshold = 2", ""),
        ("name = \"book club\"", "name = \"\""),
        ("\"plain\"", "\"ts-rsa\""),
        ("\"by-size\"", "\"rot13\""),
        ("\"by-size\"", "\"mls\""),
        ("aes-256-gcm", "rot13"),
        ("contributory = true", "contributory = 1"),
        ("\"continue\"", "\"panic\""),
        ("certificate_days = 365", "certificate_days = 0"),
        ("request_hours = 72", "request_hours = 100000"),
        ("nonce = \"", "nonce = \"00"),
        ("key = \"30", "key = \"31"),
        ("key = \"30", "key = \"0x"),
    ];
    for (from, to) in changes {
        let changed = toml.replacen(from, to, 1);
        assert_ne!(changed, toml, "{from}");
        let refused = Charter::from_toml(&changed).unwrap_err();
        let typed = matches!(refused, CharterError::WireMalformed(_) | CharterError::WireValue { .. });
        assert!(typed, "{from} -> {to}: {refused}");
    }
    let twice = toml.replace("[[founders]]\nname = \"bob\"", "[[founders]]\nname = \"alice\"");
    assert!(Charter::from_toml(&twice).is_ok(), "names may repeat, keys may not");
    let first = toml.split("[[founders]]").nth(1).unwrap();
    assert!(Charter::from_toml(&format!("{toml}\n[[founders]]{first}")).is_err());
    assert!(Charter::from_toml(&format!("{toml}{}", "#".repeat(16 * 1024))).is_err());
    assert!(Charter::from_toml(&format!("{toml}\n[timeouts]\nstep_ms = 500")).is_ok());
    assert!(Charter::from_toml(&format!("{toml}\n[timeouts]\nstep_ms = 0")).is_err());
    assert!(Charter::from_toml(&format!("{toml}\n[timeouts]\nstep = 1")).is_err());
}

#[test]
fn id_31_what_this_release_cannot_do_is_refused_with_the_reason() {
    let world = World::new();
    let toml = std::str::from_utf8(world.charter().bytes()).unwrap();
    let all: Vec<_> = world.founders.iter().collect();
    for (from, to, key, reason) in [
        ("format = 2", "format = 3", "format", "this release reads format 2"),
        (
            "format = 2",
            "version = 1",
            "version",
            "this charter has the first format, which this release does not read: found the group anew with folkmoot charter new, and admit its members again",
        ),
        ("\"plain\"", "\"rsa\"", "scheme", "it must be plain, asm, ts-dsa, frost or shoup-rsa"),
        (
            "\"by-size\"",
            "\"gdh2\"",
            "keying",
            "it must be by-size, gdh, tgdh, str, bd, ckd, dutta-barua or mls",
        ),
        ("\"by-size\"", "\"ckd\"", "keying", NO_SHARE),
        ("\"aes-256-gcm\"", "\"aes-128-gcm\"", "cipher", "it must be aes-256-gcm or chacha20-poly1305"),
    ] {
        let asked = toml.replacen(from, to, 1);
        assert_ne!(asked, toml, "{from}");
        let refused = CharterError::WireValue { key, reason };
        assert_eq!(Charter::from_toml(&asked).unwrap_err(), refused, "read");
        assert_eq!(SignedCharter::sign(&asked, &all).unwrap_err(), refused, "made");
        assert!(refused.to_string().contains(key) && refused.to_string().contains(reason));
    }
    for (field, word) in [("scheme", "frost"), ("keying", "mls"), ("cipher", "x"), ("contributory", "true")] {
        let refused = world.charter().with_change(field, word).unwrap_err();
        assert!(matches!(refused, CharterError::PeerChange { .. }), "{field} cannot be voted on");
    }
}

const NO_SHARE: &str =
    "in this module the key does not depend on every member's share: contributory must be false";

#[test]
fn id_34_one_field_changes_and_the_group_stays() {
    let charter = World::new().charter().clone();
    let next = charter.with_change("threshold", "3").unwrap();
    assert_eq!((next.version(), next.threshold(), next.group()), (2, 3, charter.group()));
    assert_ne!(next.digest(), charter.digest());
    assert_eq!(next, charter.with_change("threshold", "3").unwrap());
    let back = next.with_change("threshold", "2").unwrap();
    assert_ne!(back.digest(), charter.digest(), "votes of the first version do not come back to life");
    assert_ne!(change_digest("a", "bc"), change_digest("ab", "c"));
    for (field, word) in [
        ("threshold", "2"),
        ("threshold", "0"),
        ("threshold", "03"),
        ("threshold", "+3"),
        ("threshold", "999"),
        ("name", "another"),
        ("nonce", "00"),
        ("minority", "CONTINUE"),
        ("minority_may_admit", "yes"),
        ("timeouts.step_ms", "0"),
    ] {
        let refused = charter.with_change(field, word).unwrap_err();
        assert!(matches!(refused, CharterError::PeerChange { .. }), "{field} = {word}");
    }
    for (field, word) in [
        ("minority", "stop"),
        ("minority_may_admit", "false"),
        ("certificate_days", "30"),
        ("request_hours", "1"),
        ("timeouts.step_ms", "500"),
        ("timeouts.silence_ms", "500"),
        ("timeouts.lookup_ms", "500"),
        ("timeouts.skew_ms", "500"),
        ("timeouts.refresh_ms", "60000"),
    ] {
        charter.with_change(field, word).unwrap();
    }
}

// Votes.

#[test]
fn votes_survive_and_are_the_same_each_time() {
    let world = World::new();
    let vote = world.vote(0);
    assert_eq!(Vote::from_der(vote.der()).unwrap(), vote);
    assert_eq!(world.vote(0).der(), vote.der());
    assert_eq!(vote.voter(), world.founders[0].member());
    let key = world.founders[0].key().verifying_key();
    assert_eq!(vote.proof().verify(world.charter().group(), world.request().digest(), key), Ok(()));
    let again = Vote::from_signature(*vote.body(), vote.certificate(), vote.signature().clone());
    assert_eq!(again.as_ref().map(Vote::der), Ok(vote.der()));
    let other = VoteBody { turn: 1, ..*vote.body() };
    assert!(Vote::from_signature(other, vote.certificate(), vote.signature().clone()).is_err());
}

#[test]
fn id_42_a_proof_holds_for_its_request_voter_base_turn_and_expiry_only() {
    let world = World::new();
    let (proof, group, request) = (world.vote(0).proof(), world.charter().group(), world.request().digest());
    let (alice, bob) = (world.founders[0].key().verifying_key(), world.founders[1].key().verifying_key());
    let refused = Err(VoteError::PeerSignature(proof.voter));
    assert_eq!(proof.verify(folkmoot_base::GroupId([1; 32]), request, alice), refused);
    assert_eq!(proof.verify(group, [1; 32], alice), refused);
    for other in [
        VoteProof { expires: UnixTime(END.0 + 1), ..proof.clone() },
        VoteProof { turn: 1, ..proof.clone() },
        VoteProof { base: Head { number: 1, ..proof.base }, ..proof.clone() },
        VoteProof { base: Head { digest: [1; 32], ..proof.base }, ..proof.clone() },
    ] {
        assert_eq!(other.verify(group, request, alice), refused);
    }
    assert_eq!(proof.verify(group, request, bob), refused);
    let renamed = VoteProof { voter: world.founders[1].member(), ..proof.clone() };
    assert!(renamed.verify(group, request, bob).is_err() && renamed.verify(group, request, alice).is_err());
}

#[test]
fn id_42_a_no_does_not_count_as_a_yes() {
    let world = World::new();
    let no = VoteBody { verdict: Verdict::Reject, ..world.yes() };
    let no = Vote::sign(&world.founders[0], no).unwrap();
    assert_eq!(Vote::from_der(no.der()).unwrap().body().verdict, Verdict::Reject);
    let key = world.founders[0].key().verifying_key();
    assert!(no.proof().verify(world.charter().group(), world.request().digest(), key).is_err());
}

#[test]
fn id_41_a_vote_says_what_it_is_about_over_which_decision_and_how_often_it_changed() {
    let world = World::new();
    let kinds = [
        VoteKind::Admit,
        VoteKind::Remove,
        VoteKind::ChangeCharter,
        VoteKind::Electorate,
        VoteKind::Sharing,
        VoteKind::Hold,
        VoteKind::Rotate,
        VoteKind::Rejoin,
        VoteKind::Leave,
        VoteKind::Retime,
    ];
    let mut encodings = BTreeSet::new();
    for kind in kinds {
        let said = VoteBody { kind, subject: [9; 32], turn: 7, ..world.yes() };
        let vote = Vote::sign(&world.founders[1], said).unwrap();
        assert_eq!(*Vote::from_der(vote.der()).unwrap().body(), said);
        assert_eq!(VoteBody::decode(&said.encode()), Ok(said));
        encodings.insert(said.encode());
        // A vote of another kind is no admission's, whatever its digest is.
        let proof = vote.proof();
        let key = world.founders[1].key().verifying_key();
        assert_eq!(proof.verify(said.group, said.subject, key).is_ok(), kind == VoteKind::Admit);
    }
    assert_eq!(encodings.len(), kinds.len());
    let mut unknown = world.yes().encode();
    let at = unknown.len() - (32 + 4 + 1 + 8) - 1;
    assert_eq!(unknown[at], VoteKind::Admit as u8);
    for kind in [0, 11, 255] {
        unknown[at] = kind;
        assert!(matches!(VoteBody::decode(&unknown), Err(VoteError::WireContent(_))), "{kind}");
    }
}

#[test]
fn id_40_one_kind_of_message_does_not_pass_for_another() {
    let world = World::new();
    let (charter, vote, request) = (world.signed.der(), world.vote(0), world.request());
    assert_eq!(Vote::from_der(request.der()).unwrap_err(), VoteError::WireDomain);
    assert_eq!(Request::from_der(vote.der()).unwrap_err(), RequestError::WireDomain);
    assert!(matches!(SignedCharter::from_der(vote.der()), Err(CharterError::WireMalformed(_))));
    assert!(Vote::from_der(charter).is_err());
}

// Requests and membership certificates.

#[test]
fn requests_survive_and_their_digest_is_in_the_certificate() {
    let world = World::new();
    let request = world.request();
    assert_eq!(Request::from_der(request.der()).unwrap(), request);
    assert_eq!(request.body().request_digest().unwrap(), request.digest());
    assert_eq!(world.gmc().body().request_digest().unwrap(), request.digest());
    assert_eq!(request.body().membership.base, world.head());
    assert_eq!(request.body().check_charter(world.charter()), Ok(()));
}

#[test]
fn id_51_nobody_asks_for_another() {
    let world = World::new();
    let body = world.request().body().clone();
    let refused = Request::sign(&world.founders[0], body.clone()).unwrap_err();
    assert_eq!(refused, RequestError::PeerNotHolder(world.founders[0].member()));
    let refused = Gmc::compose(&body, &[], &world.founders[0]).unwrap_err();
    assert_eq!(refused, CertificateError::LocalNotHolder);
}

#[test]
fn a_certificate_with_enough_votes_stands() {
    let world = World::new();
    let gmc = world.gmc();
    assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    assert_eq!(world.check(&gmc), Ok(()));
    assert_eq!(gmc.votes().len(), 2);
    assert!(!gmc.is_founder());
    let (a, b) = (world.vote(0).proof(), world.vote(2).proof());
    assert_eq!(world.gmc_with(&[b.clone(), a.clone()]), world.gmc_with(&[a, b]), "votes have one order");
}

#[test]
fn id_14_votes_are_counted_under_the_charter() {
    let world = World::new();
    let one = world.gmc_with(&[world.vote(0).proof()]);
    assert_eq!(world.check(&one), Err(CertificateError::PeerTooFewVotes { got: 1, need: 2 }));
    assert!(matches!(
        Gmc::compose(
            world.request().body(),
            &[world.vote(0).proof(), world.vote(0).proof()],
            &world.stranger
        ),
        Err(CertificateError::LocalValue(_))
    ));
    let own = Vote::sign(&world.stranger, world.yes()).unwrap().proof();
    let padded = world.gmc_with(&[world.vote(0).proof(), own.clone()]);
    assert_eq!(world.check(&padded), Err(CertificateError::PeerNotVoter(world.stranger.member())));
    let forged = VoteProof { voter: world.founders[1].member(), ..own };
    let forged = world.gmc_with(&[world.vote(0).proof(), forged]);
    assert_eq!(world.check(&forged), Err(CertificateError::PeerVote(world.founders[1].member())));
}

#[test]
fn id_14_votes_for_one_body_do_not_stand_in_another() {
    let world = World::new();
    let votes = [world.vote(0).proof(), world.vote(1).proof()];
    let body = world.request().body().clone();
    let mut longer = body.clone();
    longer.not_after = UnixTime(body.not_after.0 - 1);
    let mut renamed = body.clone();
    renamed.name = "david".to_owned();
    let mut nonce = body.clone();
    nonce.membership.nonce[0] ^= 1;
    let base = body.clone().over(Head { number: 1, ..world.head() });
    for changed in [longer, renamed, nonce, base] {
        let gmc = Gmc::compose(&changed, &votes, &world.stranger).unwrap();
        assert!(matches!(world.check(&gmc), Err(CertificateError::PeerVote(_))));
    }
    let thief = person("dave", 5);
    let mut stolen = body;
    stolen.key = thief.key().verifying_key().clone();
    let gmc = Gmc::compose(&stolen, &votes, &thief).unwrap();
    assert!(matches!(world.check(&gmc), Err(CertificateError::PeerVote(_))));
}

#[test]
fn id_13_a_certificate_stands_under_its_own_charter_only() {
    let world = World::new();
    let changed = world.charter().with_change("request_hours", "1").unwrap();
    let still = world.gmc().check_authority(&changed, |member| world.key(member));
    assert_eq!(still, Ok(()), "a change of the charter leaves what was granted");
    let toml = std::str::from_utf8(world.charter().bytes())
        .unwrap()
        .replace("request_hours = 72", "request_hours = 73");
    let other = Charter::from_toml(&toml).unwrap();
    let refused = world.gmc().check_authority(&other, |member| world.key(member));
    assert_eq!(refused, Err(CertificateError::PeerCharter("it is for another group")));
    let mut long = GmcBody::propose(world.charter(), &world.stranger, 3, START, &mut Seed(1));
    long.not_after = UnixTime(long.not_after.0 + 1);
    assert_eq!(
        long.check_charter(world.charter()),
        Err(CertificateError::PeerCharter(
            "its term is longer than the charter allows, or outside the charter's own"
        ))
    );
}

#[test]
fn id_12_founders_stand_on_the_charters_word() {
    let world = World::new();
    let gmc = Gmc::found(world.charter(), &world.founders[1], START, &mut Seed(1)).unwrap();
    assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
    assert!(gmc.is_founder());
    assert_eq!(world.check(&gmc), Ok(()));
    let refused = Gmc::found(world.charter(), &world.stranger, START, &mut Seed(1)).unwrap_err();
    assert_eq!(refused, CertificateError::PeerNotFounder(world.stranger.member()));
}

#[test]
fn a_certificate_grows_linearly_with_its_votes() {
    let world = World::new();
    let votes: Vec<_> = (0..3).map(|who| world.vote(who).proof()).collect();
    let sizes: Vec<_> = (0..=3).map(|n| world.gmc_with(&votes[..n]).der().len()).collect();
    let steps: Vec<_> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (140..=170).contains(step)), "{steps:?}");
}
