//! Golden bytes in testing/vectors/identity: from fixed seeds the same bytes come out as ever, and
//! they are read as ever. A change of these bytes breaks every existing group. To write them again:
//! `FOLKMOOT_WRITE_VECTORS=1 cargo test -p folkmoot-identity --test it vectors::`.

use crate::common::{END, START, World};
use folkmoot_identity::{
    Csr, Gmc, GmcBody, Request, SignedCharter, Transcript, Verdict, Vote, VoteKind, identities_pem,
};
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/vectors/identity").join(name)
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An entry over Genesis, by alice, that admits dave.
fn admission(world: &World) -> Vec<u8> {
    let transcript = Transcript::genesis(world.signed.der()).unwrap();
    transcript.make_admit(world.gmc().der(), &world.founders[0]).unwrap().to_vec()
}

fn csr(world: &World) -> Csr {
    Csr::sign(world.stranger.key(), "dave").unwrap()
}

fn by_csr(world: &World) -> Request {
    Request::by_csr(csr(world), GmcBody::propose_csr(world.charter(), &csr(world), 3, START)).unwrap()
}

#[test]
fn the_same_seeds_give_the_same_bytes() {
    let world = World::new();
    let identities = world.founders.iter().chain([&world.stranger]).map(|person| person.certificate());
    let made = [
        ("charter.toml", world.charter().bytes().to_vec()),
        ("charter.cms", world.signed.der().to_vec()),
        ("request.cms", world.request().der().to_vec()),
        ("csr.der", csr(&world).der().to_vec()),
        ("request-by-csr.der", by_csr(&world).der().to_vec()),
        ("vote.cms", world.vote(0).der().to_vec()),
        ("gmc.der", world.gmc().der().to_vec()),
        ("admit.entry", admission(&world)),
        ("identities.pem", identities_pem(identities).into_bytes()),
    ];
    for (name, bytes) in made {
        if std::env::var_os("FOLKMOOT_WRITE_VECTORS").is_some() {
            std::fs::write(path(name), &bytes).unwrap();
        }
        assert!(golden(name) == bytes, "{name} came out as {}", hex(&bytes));
    }
}

#[test]
fn the_golden_charter_is_read() {
    let signed = SignedCharter::complete_from_der(&golden("charter.cms")).unwrap();
    let charter = signed.charter();
    assert_eq!(charter.bytes()[..], golden("charter.toml"));
    assert_eq!((charter.name().as_str(), charter.threshold()), ("book club", 2));
    let names: Vec<_> = charter.founders().iter().map(|founder| founder.name.as_str()).collect();
    assert_eq!(names, ["alice", "bob", "carol"]);
    assert_eq!(hex(&charter.group().0), GROUP);
}

#[test]
fn the_golden_votes_and_certificate_are_read() {
    let charter = SignedCharter::complete_from_der(&golden("charter.cms")).unwrap().charter().clone();
    let request = Request::from_der(&golden("request.cms")).unwrap();
    assert_eq!((request.body().name.as_str(), request.body().not_before), ("dave", START));
    assert_eq!(hex(&request.digest()), REQUEST);
    let vote = Vote::from_der(&golden("vote.cms")).unwrap();
    let content = vote.content();
    assert_eq!(vote.voter(), charter.founders()[0].key.member_id());
    assert_eq!((content.verdict, content.expires), (Verdict::Approve, END));
    assert_eq!((content.motion.kind, content.motion.subject), (VoteKind::Admit, request.digest()));
    let gmc = Gmc::from_der(&golden("gmc.der")).unwrap();
    assert_eq!(gmc.body().request_digest().unwrap(), request.digest());
    let key = |voter: &_| charter.founder(voter).map(|founder| &founder.key);
    assert_eq!(gmc.check_authority(&charter, key), Ok(()));
}

#[test]
fn the_golden_request_by_csr_is_read() {
    let csr = Csr::from_der(&golden("csr.der")).unwrap();
    let request = Request::from_der(&golden("request-by-csr.der")).unwrap();
    assert_eq!((request.csr(), request.body().name.as_str()), (Some(&csr), "dave"));
    assert_eq!((hex(&csr.nonce()), hex(&csr.serial())), (NONCE.into(), SERIAL.into()));
}

#[test]
fn the_golden_entry_is_taken() {
    let mut transcript = Transcript::genesis(&golden("charter.cms")).unwrap();
    let appended = transcript.append(&golden("admit.entry")).unwrap();
    assert!(appended.new);
    assert_eq!(hex(&appended.id.0), ENTRY);
    assert_eq!(transcript.roster().len(), 4);
}

const GROUP: &str = "b5916347c0117ecb22949470bf2e3da0a0a39b792de1bed44487298efeb6755b";
const REQUEST: &str = "961cb0ea96ae8f85ac6a4badaf42615d00b96bcf52159016851befc8e838e372";
const NONCE: &str = "062ce95fd8745a66fbba39fb2141eff8";
const SERIAL: &str = "4ff4752dd75312bc46e8bbcf0a9efeb4";
const ENTRY: &str = "35fd98e29d982fd811aac086c5f899c38f42b7dd3002e88db2569515ece13d4a";
