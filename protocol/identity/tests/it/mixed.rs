//! One group whose members have keys of all algorithms: everything that they sign stands beside the
//! others', and a key that the charter does not name is refused by everyone.

use crate::common::{END, START, Seed, stamp};
use crate::openssl::{CMS, Folder, accepted};
use folkmoot_base::{Entropy as _, GroupName, Head, digest, digest_512, unhex};
use folkmoot_identity::{
    Algorithms, CertificateError, Charter, CharterDraft, CharterError, Csr, Founder, Gmc, GmcBody, Identity,
    IdentityCertificate, KeyAlgorithm, Request, Scheme, SignedCharter, SignedMessage, SignerCertificate,
    Verdict, VerifyingKey, Vote, VoteBody, VoteKind, identities_pem,
};
use std::sync::LazyLock;

/// Four founders and a stranger for each, one of each algorithm, in the order of
/// [`KeyAlgorithm::ALL`].
static PEOPLE: LazyLock<[Vec<Identity>; 2]> = LazyLock::new(|| {
    [("founder", 40_u64), ("stranger", 50)].map(|(role, seed)| {
        let draw = |(at, one): (u64, &KeyAlgorithm)| {
            let mut entropy = Seed((seed + at) << 32);
            Identity::draw(*one, &format!("{role} {}", one.name()), &mut entropy, START, END).unwrap()
        };
        (0..).zip(KeyAlgorithm::ALL).map(draw).collect()
    })
});

fn founders() -> &'static [Identity] {
    &PEOPLE[0]
}

fn strangers() -> &'static [Identity] {
    &PEOPLE[1]
}

fn draft(people: &[Identity], algorithms: impl IntoIterator<Item = KeyAlgorithm>) -> CharterDraft {
    let named = people.iter().map(|person| person.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new("mixed").unwrap(), 1, named, &mut Seed(99 << 32));
    CharterDraft { algorithms: Algorithms::new(algorithms), ..draft }
}

fn signed() -> SignedCharter {
    let toml =
        CharterDraft { threshold: 4, ..draft(founders(), KeyAlgorithm::ALL.iter().copied()) }.to_toml();
    SignedCharter::sign(&toml, &founders().iter().collect::<Vec<_>>()).unwrap()
}

fn head(charter: &Charter) -> Head {
    Head { number: 0, digest: digest(&[b"folkmoot founding v1\0", &charter.group().0]) }
}

fn request(charter: &Charter, who: &Identity) -> Request {
    let body = GmcBody::propose(charter, who, 4, START, &mut Seed(5 << 32)).over(head(charter));
    Request::sign(who, body).unwrap()
}

fn yes(charter: &Charter, request: &Request) -> VoteBody {
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    let (group, subject) = (charter.group(), request.digest());
    VoteBody { group, base: head(charter), kind, subject, turn: 0, verdict, expires: END }
}

fn gmc(charter: &Charter, who: &Identity) -> Gmc {
    let request = request(charter, who);
    let votes: Vec<_> =
        founders().iter().map(|one| Vote::sign(one, yes(charter, &request)).unwrap().proof()).collect();
    Gmc::compose(request.body(), &votes, who).unwrap()
}

#[test]
fn keys_of_all_algorithms_found_ask_vote_and_speak_in_one_group() {
    let signed = signed();
    let charter = signed.charter();
    assert_eq!(SignedCharter::complete_from_der(signed.der()).unwrap(), signed);
    let key = |member: &_| charter.founder(member).map(|founder| &founder.key);
    for who in strangers() {
        let request = request(charter, who);
        assert_eq!(Request::from_der(request.der()).unwrap(), request);
        for voter in founders() {
            let vote = Vote::sign(voter, yes(charter, &request)).unwrap();
            assert_eq!(Vote::from_der(vote.der()).unwrap(), vote);
            let again =
                Vote::from_signature(*vote.body(), voter.certificate(), vote.signature().clone()).unwrap();
            assert_eq!(again, vote, "all but the signature follows from content and voter");
        }
        let gmc = gmc(charter, who);
        assert_eq!(Gmc::from_der(gmc.der()).unwrap(), gmc);
        gmc.check_authority(charter, key).unwrap();
        let stamp = stamp(charter.group(), who.member());
        let shown = SignerCertificate::Admitted(Box::new(gmc));
        let said = SignedMessage::assemble(stamp, "a word".into(), &stamp.sign(who.key(), b"a word"), shown)
            .unwrap();
        assert_eq!(SignedMessage::from_der(said.der()).unwrap(), said);
        said.check_charter(charter, None).unwrap();
        let csr = Csr::sign(who.key(), who.name()).unwrap();
        assert_eq!(Csr::read(csr.to_pem().as_bytes()).unwrap(), csr);
        let (key, certificate) = (who.key_pem().unwrap(), who.certificate_pem());
        let again = Identity::from_pem(key.expose(), &certificate).unwrap();
        assert_eq!(again.certificate(), who.certificate());
    }
}

/// Each single bit, of the least and of the longest.
#[test]
fn id_21_every_changed_bit_is_refused_whatever_the_key() {
    let signed = signed();
    let charter = signed.charter();
    for (who, step) in founders().iter().zip([1, 1, 7, 11]) {
        let vote = Vote::sign(who, yes(charter, &request(charter, who))).unwrap();
        let flipped = |der: &[u8], bit: usize| {
            let mut der = der.to_vec();
            der[bit / 8] ^= 1 << (bit % 8);
            der
        };
        for bit in (0..vote.der().len() * 8).step_by(step) {
            assert!(Vote::from_der(&flipped(vote.der(), bit)).is_err(), "{} bit {bit}", who.name());
        }
        let der = who.certificate().der();
        for bit in (0..der.len() * 8).step_by(step) {
            assert!(IdentityCertificate::from_der(&flipped(der, bit)).is_err(), "{} bit {bit}", who.name());
        }
        let csr = Csr::sign(who.key(), who.name()).unwrap();
        for bit in (0..csr.der().len() * 8).step_by(step) {
            let other = Csr::from_der(&flipped(csr.der(), bit));
            assert!(other.is_err(), "{} bit {bit}", who.name());
        }
    }
}

#[test]
fn id_73_a_key_that_the_charter_does_not_name_is_no_founders() {
    for (at, founder) in founders().iter().enumerate() {
        for algorithm in KeyAlgorithm::ALL {
            let text = draft(&founders()[at..=at], [*algorithm]).to_toml();
            let read = Charter::from_toml(&text);
            if founder.key().verifying_key().algorithm() == *algorithm {
                assert!(read.unwrap().algorithms().iter().eq([*algorithm]), "{text}");
            } else {
                let Err(CharterError::WireValue { key: "founders.key", reason }) = read else {
                    panic!("{text}");
                };
                assert!(reason.contains("do not name"), "{reason}");
            }
        }
    }
}

/// The liar signs whatever it likes with its key; its certificate carries votes that verify.
#[test]
fn id_73_a_key_that_the_charter_does_not_name_is_nobodys_certificate() {
    for (at, stranger) in strangers().iter().enumerate() {
        let all_but = KeyAlgorithm::ALL.iter().enumerate().filter(|(other, _)| *other != at);
        let rest: Vec<_> = all_but.map(|(_, one)| *one).collect();
        let (founder, wide) = (&founders()[(at + 1) % 4], KeyAlgorithm::ALL.iter().copied());
        let named: &[Identity] = std::slice::from_ref(founder);
        for (algorithms, is_allowed) in [(rest, false), (wide.collect(), true)] {
            let charter = Charter::from_toml(&draft(named, algorithms).to_toml()).unwrap();
            let request = request(&charter, stranger);
            let asked = request.body().check_charter(&charter);
            let vote = Vote::sign(founder, yes(&charter, &request)).unwrap().proof();
            let gmc = Gmc::compose(request.body(), &[vote], stranger).unwrap();
            let admitted = gmc.check_authority(&charter, |_| Some(founder.certificate().key()));
            assert_eq!(asked, admitted);
            match admitted {
                Ok(()) => assert!(is_allowed),
                Err(CertificateError::PeerCharter(why)) => {
                    assert!(!is_allowed && why.contains("do not name"), "{why}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn id_73_asm_takes_keys_of_p256_alone() {
    let people = &founders()[..1];
    let asm = |algorithms: &[KeyAlgorithm]| {
        let draft = draft(people, algorithms.iter().copied());
        Charter::from_toml(&CharterDraft { scheme: Scheme::Asm, ..draft }.to_toml())
    };
    asm(&[KeyAlgorithm::P256]).unwrap();
    for other in &KeyAlgorithm::ALL[1..] {
        let Err(CharterError::WireValue { key: "algorithms", reason }) = asm(&[KeyAlgorithm::P256, *other])
        else {
            panic!("{other:?}");
        };
        assert!(reason.starts_with("with asm it must be p256 alone"), "{reason}");
    }
}

/// An RSA key of 3072 bits that nobody has the other half of.
fn nobodys(number: u64) -> VerifyingKey {
    let head = "308201a2300d06092a864886f70d01010105000382018f003082018a0282018100";
    let mut spki = unhex(head).unwrap();
    let mut modulus = vec![0; 384];
    Seed(number << 32).fill(&mut modulus);
    modulus[0] |= 0xc0;
    modulus[383] |= 1;
    spki.extend(modulus);
    spki.extend([2, 3, 1, 0, 1]);
    VerifyingKey::from_spki_der(&spki).unwrap()
}

/// One founder more than there is room for is refused before anybody signs, though the text is not
/// too long. What is counted for each is never less than what it takes.
#[test]
fn id_74_what_all_founders_sign_fits_or_is_refused_when_it_is_made() {
    let name = "n".repeat(64);
    let read = |count: u64| {
        let founder = |number| Founder { name: name.clone(), key: nobodys(number) };
        let many = (1..=count).map(founder).collect();
        let draft = CharterDraft::new(GroupName::new("mixed").unwrap(), 1, many, &mut Seed(1));
        Charter::from_toml(
            &CharterDraft { algorithms: Algorithms::new([KeyAlgorithm::Rsa3072]), ..draft }.to_toml(),
        )
    };
    assert_eq!(read(16).unwrap().founders().len(), 16);
    let Err(CharterError::WireValue { key: "founders", reason }) = read(17) else { panic!("17 fit") };
    assert_eq!(reason, "there are too many with RSA keys: what they sign is too long");
    assert!(matches!(read(18), Err(CharterError::WireMalformed(_))), "the text itself is too long");
    for founder in founders() {
        let pem = founder.key_pem().unwrap();
        let person = Identity::import(pem.expose(), &name, &mut Seed(1), START, END).unwrap();
        let draft = draft(std::slice::from_ref(&person), KeyAlgorithm::ALL.iter().copied());
        let signed = SignedCharter::sign(&draft.to_toml(), &[&person]).unwrap();
        let key = person.certificate().key();
        let counted = key.spki_der().len() + 2 * key.algorithm().signature_bytes() + 3 * name.len() + 560;
        let taken = signed.der().len() - signed.charter().bytes().len();
        assert!(taken <= counted, "{taken} of {counted}, {}", founder.name());
    }
}

#[test]
fn openssl_verifies_what_keys_of_rsa_sign_and_every_certificate() {
    let folder = Folder::new();
    let signed = signed();
    let charter = signed.charter();
    folder.put(
        "identities.pem",
        identities_pem(founders().iter().chain(strangers()).map(Identity::certificate)),
    );
    for who in founders().iter().chain(strangers()) {
        folder.put("one.pem", who.certificate_pem());
        let said = accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile one.pem one.pem"));
        assert!(said.contains("one.pem: OK"), "{said}");
        folder.put("gmc.pem", gmc(charter, who).to_pem());
        accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile gmc.pem gmc.pem"));
        folder.put("csr.pem", Csr::sign(who.key(), who.name()).unwrap().to_pem());
        accepted(&folder.openssl("req -in csr.pem -noout -verify"));
        folder.put("key.pem", who.key_pem().unwrap().expose());
        accepted(&folder.openssl("pkey -in key.pem -check -noout"));
        let vote = Vote::sign(who, yes(charter, &request(charter, who))).unwrap();
        folder.put("message.cms", vote.der());
        if who.key().verifying_key().algorithm() == KeyAlgorithm::Ed25519 {
            by_hand(&folder, who, &vote);
        } else {
            accepted(&folder.openssl(CMS));
            folder.put("message.cms", request(charter, who).der());
            accepted(&folder.openssl(CMS));
        }
    }
}

/// OpenSSL 3.0 reads a CMS that Ed25519 has signed, and cannot verify it. So it is shown the
/// attributes and the signature.
fn by_hand(folder: &Folder, who: &Identity, vote: &Vote) {
    let said = accepted(&folder.openssl("cms -cmsout -print -inform DER -in message.cms"));
    assert!(said.contains("algorithm: ED25519") && said.contains("algorithm: sha512"), "{said}");
    let head = [
        0x31, 0x6b, 0x30, 0x18, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03, 0x31, 0x0b,
        0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01, 0x30, 0x4f, 0x06, 0x09, 0x2a, 0x86,
        0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04, 0x31, 0x42, 0x04, 0x40,
    ];
    let attributes = [&head[..], &digest_512(&[&vote.body().encode()])].concat();
    // In the CMS the set stands under the tag [0].
    assert!(vote.der().windows(attributes.len() - 1).any(|part| part == &attributes[1..]));
    folder.put("attributes", attributes);
    folder.put("signature", vote.signature().to_paper());
    folder.put("one.pem", who.certificate_pem());
    accepted(
        &folder.openssl("pkeyutl -verify -rawin -certin -inkey one.pem -in attributes -sigfile signature"),
    );
}
