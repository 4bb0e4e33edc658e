//! Messages that our own functions do not make but a liar's could: each is refused, by its own
//! rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use crate::gmc::REQUEST_DOMAIN;
use crate::*;
use folkmoot_base::{Entropy, GroupName, Head, UnixTime, digest};

struct Seed(u64);

impl Entropy for Seed {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

fn person(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Seed(seed << 32), UnixTime(1), UnixTime(1_000_000_000)).unwrap()
}

fn charter(founder: &Identity) -> Charter {
    let draft =
        CharterDraft::new(GroupName::new("g").unwrap(), 1, vec![founder.certificate().into()], &mut Seed(9));
    Charter::from_toml(&draft.to_toml()).unwrap()
}

/// A CMS over `content` that says it is `named`'s and is signed by `signer`.
fn envelope_of(content: &[u8], named: &Identity, signer: &Identity) -> Vec<u8> {
    let signature = cms::sign_content(signer.key(), content);
    cms::assemble(content, &[(named.certificate().clone(), signature)]).unwrap()
}

fn content(group: &Charter) -> VoteBody {
    VoteBody {
        group: group.group(),
        base: Head { number: 0, digest: [2; 32] },
        kind: VoteKind::Admit,
        subject: [3; 32],
        turn: 0,
        verdict: Verdict::Approve,
        expires: UnixTime(5),
    }
}

#[test]
fn id_24_a_vote_signed_by_another_is_refused() {
    let (alice, bob) = (person("alice", 1), person("bob", 2));
    let der = envelope_of(&content(&charter(&alice)).encode(), &alice, &bob);
    assert_eq!(Vote::from_der(&der).unwrap_err(), VoteError::Cms(CmsError::PeerSignature(alice.member())));
}

#[test]
fn id_40_a_signed_vote_without_its_label_or_with_more_is_refused() {
    let alice = person("alice", 1);
    let vote = content(&charter(&alice)).encode();
    let bare = envelope_of(vote.strip_prefix(b"folkmoot vote v2\0").unwrap(), &alice, &alice);
    assert_eq!(Vote::from_der(&bare).unwrap_err(), VoteError::WireDomain);
    let long = envelope_of(&[&vote[..], &[0]].concat(), &alice, &alice);
    assert!(matches!(Vote::from_der(&long), Err(VoteError::WireContent(_))));
    let short = envelope_of(&vote[..vote.len() - 1], &alice, &alice);
    assert!(matches!(Vote::from_der(&short), Err(VoteError::WireContent(_))));
}

#[test]
fn id_51_a_request_signed_by_another_than_its_holder_is_refused() {
    let (alice, bob) = (person("alice", 1), person("bob", 2));
    let group = charter(&alice);
    let body = GmcBody::propose(&group, &bob, 1, UnixTime(1), &mut Seed(4));
    let wish = [REQUEST_DOMAIN, &body.proposed().unwrap()].concat();
    assert!(Request::from_der(&envelope_of(&wish, &bob, &bob)).is_ok());
    let stolen = Request::from_der(&envelope_of(&wish, &alice, &alice)).unwrap_err();
    assert_eq!(stolen, RequestError::PeerNotHolder(alice.member()));
}

#[test]
fn id_52_a_request_with_votes_or_a_founders_body_is_refused() {
    let (alice, bob) = (person("alice", 1), person("bob", 2));
    let group = charter(&alice);
    let mut body = GmcBody::propose(&group, &bob, 1, UnixTime(1), &mut Seed(4));
    let proof = Vote::sign(&alice, content(&group)).unwrap().proof();
    for votes in [Some(vec![proof]), None] {
        body.membership.votes = votes;
        let tbs = body.envelope_by(crate::issuer::Issuer::Own).unwrap().tbs().unwrap();
        let der = envelope_of(&[REQUEST_DOMAIN, &tbs].concat(), &bob, &bob);
        assert_eq!(Request::from_der(&der).unwrap_err(), RequestError::PeerNotHolder(bob.member()));
    }
}

#[test]
fn id_33_a_charter_with_a_strangers_signature_added_is_refused() {
    let (alice, bob) = (person("alice", 1), person("bob", 2));
    let group = charter(&alice);
    let both =
        [&alice, &bob].map(|who| (who.certificate().clone(), cms::sign_content(who.key(), group.bytes())));
    let der = cms::assemble(group.bytes(), &both).unwrap();
    assert_eq!(SignedCharter::from_der(&der).unwrap_err(), CharterError::PeerNotFounder(bob.member()));
    let twice = cms::assemble(group.bytes(), &[both[0].clone(), both[0].clone()]);
    assert!(twice.is_err() || SignedCharter::from_der(&twice.unwrap()).is_err());
}

#[test]
fn id_23_two_certificates_of_one_founder_are_refused() {
    let alice = person("alice", 1);
    let group = charter(&alice);
    let again = envelope::Envelope {
        serial: [0x41; 16],
        name: "alice".to_owned(),
        key: alice.certificate().key().clone(),
        not_before: UnixTime(1),
        not_after: UnixTime(2),
        membership: None,
        issuer: crate::issuer::Issuer::Own,
    };
    let other = IdentityCertificate::from_der(&again.sign(alice.key()).unwrap()).unwrap();
    let signature = cms::sign_content(alice.key(), group.bytes());
    let both = [(alice.certificate().clone(), signature.clone()), (other, signature)];
    let der = cms::assemble(group.bytes(), &both).unwrap();
    assert_eq!(SignedCharter::from_der(&der).unwrap_err(), CharterError::Cms(CmsError::WireSigners));
}

#[test]
fn id_02_a_certificate_with_anothers_key_is_refused() {
    let (alice, bob) = (person("alice", 1), person("bob", 2));
    let claim = envelope::Envelope {
        serial: [0x41; 16],
        name: "alice".to_owned(),
        key: alice.certificate().key().clone(),
        not_before: UnixTime(1),
        not_after: UnixTime(2),
        membership: None,
        issuer: crate::issuer::Issuer::Own,
    };
    let tbs = claim.tbs().unwrap();
    let der = claim.close(&bob.key().sign_raw(&tbs).to_paper()).unwrap();
    assert_eq!(IdentityCertificate::from_der(&der).unwrap_err(), CertificateError::PeerSignature);
}

#[test]
fn id_11_extensions_that_are_not_ours_are_refused() {
    let alice = person("alice", 1);
    let group = charter(&alice);
    let good = GmcBody::propose(&group, &alice, 1, UnixTime(1), &mut Seed(4))
        .envelope_by(crate::issuer::Issuer::Own)
        .unwrap();
    let membership = good.membership.clone().unwrap();
    let mut other_version = membership.clone();
    let version = other_version.windows(3).position(|three| three == [0x02, 0x01, 0x02]).unwrap();
    assert!(version < 8, "the version comes first");
    other_version[version + 2] = 3;
    for changed in [other_version, membership[..membership.len() - 1].to_vec(), vec![0x05, 0x00], Vec::new()]
    {
        let bad = envelope::Envelope { membership: Some(changed), ..good.clone() };
        let der = bad.sign(alice.key()).unwrap();
        assert!(matches!(Gmc::from_der(&der), Err(CertificateError::WireProfile(_))));
    }
}
