//! Golden bytes in testing/vectors/identity: from fixed seeds the same bytes come out as ever, and
//! they are read as ever. A change of these bytes breaks every existing group. To write them again:
//! `FOLKMOOT_WRITE_VECTORS=1 cargo test -p folkmoot-identity --test it vectors::`.

use crate::common::{END, START, World};
use folkmoot_identity::{Csr, Gmc, GmcBody, Request, SignedCharter, Verdict, Vote, VoteKind, identities_pem};
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

fn csr(world: &World) -> Csr {
    Csr::sign(world.stranger.key(), "dave").unwrap()
}

fn by_csr(world: &World) -> Request {
    let body = GmcBody::propose_csr(world.charter(), &csr(world), 3, START).over(world.head());
    Request::by_csr(csr(world), body).unwrap()
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
    let said = vote.body();
    assert_eq!(vote.voter(), charter.founders()[0].key.member_id());
    assert_eq!((said.verdict, said.expires), (Verdict::Approve, END));
    assert_eq!((said.base, said.turn), (World::new().head(), 0));
    assert_eq!((said.kind, said.subject), (VoteKind::Admit, request.digest()));
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

const GROUP: &str = "b5916347c0117ecb22949470bf2e3da0a0a39b792de1bed44487298efeb6755b";
const REQUEST: &str = "09a6ff29f0b3f11e188a19e1276341b23bfeb1e979e4f167c19136b280a55c60";
const NONCE: &str = "062ce95fd8745a66fbba39fb2141eff8";
const SERIAL: &str = "4ff4752dd75312bc46e8bbcf0a9efeb4";
