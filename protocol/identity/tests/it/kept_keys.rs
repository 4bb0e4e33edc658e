//! Golden bytes in testing/vectors/identity/mixed: from one kept key of each algorithm the same
//! certificate, charter, CSR, request, vote, membership certificate and link proof come out as
//! ever, and they are read as ever. Written again as in vectors.rs; testing/verify/vectors.py reads
//! them, too.

use crate::common::{END, START, Seed};
use der::pem::LineEnding;
use folkmoot_base::{GroupName, Head, codec, digest};
use folkmoot_identity::{
    Algorithms, Charter, CharterDraft, Csr, Gmc, GmcBody, Identity, IdentityCertificate, KeyAlgorithm,
    Request, Signature, SignedCharter, Verdict, Vote, VoteBody, VoteKind,
};
use std::path::{Path, PathBuf};

/// What a link's handshake signs under this label (docs/protocol/link.md).
const LINK: &[u8] = b"folkmoot link v1";

fn path(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors").join(folder).join(name)
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(path("identity/mixed", name)).unwrap()
}

/// A founder with the kept key of this algorithm.
fn founder(algorithm: KeyAlgorithm) -> Identity {
    let der = std::fs::read(path("signing", &format!("{}.key.der", algorithm.name()))).unwrap();
    let pem = der::pem::encode_string("PRIVATE KEY", LineEnding::LF, &der).unwrap();
    let mut entropy = Seed(u64::from(algorithm as u8) << 32);
    Identity::import(&pem, algorithm.name(), &mut entropy, START, END).unwrap()
}

fn founders() -> Vec<Identity> {
    KeyAlgorithm::ALL.iter().map(|algorithm| founder(*algorithm)).collect()
}

fn charter(people: &[Identity]) -> SignedCharter {
    let named = people.iter().map(|person| person.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new("mixed").unwrap(), 4, named, &mut Seed(99 << 32));
    let algorithms = Algorithms::new(KeyAlgorithm::ALL.iter().copied());
    let toml = CharterDraft { algorithms, ..draft }.to_toml();
    SignedCharter::sign(&toml, &people.iter().collect::<Vec<_>>()).unwrap()
}

fn request(charter: &Charter, who: &Identity) -> Request {
    let body = GmcBody::propose(charter, who, 4, START, &mut Seed(5 << 32));
    Request::sign(who, body.over(head(charter))).unwrap()
}

fn head(charter: &Charter) -> Head {
    Head { number: 0, digest: digest(&[b"folkmoot founding v1\0", &charter.group().0]) }
}

fn vote(charter: &Charter, voter: &Identity, request: &Request) -> Vote {
    let (group, base, subject) = (charter.group(), head(charter), request.digest());
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    Vote::sign(voter, VoteBody { group, base, kind, subject, turn: 0, verdict, expires: END }).unwrap()
}

/// As a dialler signs it, who does not know yet whom it has reached.
fn statement(charter: &Charter, who: &Identity) -> Vec<u8> {
    let started = 1_767_225_600_000_000_u64.to_be_bytes();
    let parts: [&[u8]; 7] = [&[1], &charter.group().0, &[2; 32], &[3; 32], &who.node().0, &[0; 32], &started];
    parts.concat()
}

#[test]
fn the_same_keys_give_the_same_bytes() {
    let people = founders();
    let signed = charter(&people);
    let charter = signed.charter();
    let asked = request(charter, &people[0]);
    let mut made = vec![
        (String::from("charter.toml"), charter.bytes().to_vec()),
        (String::from("charter.cms"), signed.der().to_vec()),
    ];
    for who in &people {
        let own = request(charter, who);
        let votes: Vec<_> = people.iter().map(|voter| vote(charter, voter, &own).proof()).collect();
        let said = statement(charter, who);
        let files = [
            ("certificate.der", who.certificate().der().to_vec()),
            ("csr.der", Csr::sign(who.key(), who.name()).unwrap().der().to_vec()),
            ("request.cms", own.der().to_vec()),
            ("vote.cms", vote(charter, who, &asked).der().to_vec()),
            ("gmc.der", Gmc::compose(own.body(), &votes, who).unwrap().der().to_vec()),
            ("link.statement", said.clone()),
            ("link.signature", codec::encode(&who.sign(LINK, &said).to_wire())),
        ];
        made.extend(files.map(|(name, bytes)| (format!("{}.{name}", who.name()), bytes)));
    }
    for (name, bytes) in made {
        if std::env::var_os("FOLKMOOT_WRITE_VECTORS").is_some() {
            std::fs::write(path("identity/mixed", &name), &bytes).unwrap();
        }
        assert!(golden(&name) == bytes, "{name} came out otherwise");
    }
}

#[test]
fn the_golden_bytes_of_every_algorithm_are_read() {
    let signed = SignedCharter::complete_from_der(&golden("charter.cms")).unwrap();
    let charter = signed.charter();
    assert_eq!(charter.bytes()[..], golden("charter.toml"));
    assert_eq!(charter.founders().len(), 4);
    let asked = Request::from_der(&golden("p256.request.cms")).unwrap();
    for algorithm in KeyAlgorithm::ALL {
        let read = |name: &str| golden(&format!("{}.{name}", algorithm.name()));
        let certificate = IdentityCertificate::from_der(&read("certificate.der")).unwrap();
        assert_eq!((certificate.name(), certificate.key().algorithm()), (algorithm.name(), *algorithm));
        assert!(charter.founder(&certificate.member()).is_some());
        assert_eq!(Csr::from_der(&read("csr.der")).unwrap().key(), certificate.key());
        let own = Request::from_der(&read("request.cms")).unwrap();
        assert_eq!(own.member(), certificate.member());
        let vote = Vote::from_der(&read("vote.cms")).unwrap();
        assert_eq!((vote.voter(), vote.body().subject), (certificate.member(), asked.digest()));
        let gmc = Gmc::from_der(&read("gmc.der")).unwrap();
        assert_eq!(gmc.body().request_digest().unwrap(), own.digest());
        let key = |voter: &_| charter.founder(voter).map(|founder| &founder.key);
        assert_eq!(gmc.check_authority(charter, key), Ok(()));
        let signature = Signature::from_wire(&codec::decode(&read("link.signature")).unwrap()).unwrap();
        let key = certificate.key();
        assert_eq!(key.verify(LINK, &read("link.statement"), &signature), Ok(()));
        assert!(key.verify(b"folkmoot link v2", &read("link.statement"), &signature).is_err());
    }
}
