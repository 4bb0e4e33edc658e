//! Requests by CSR: one form, one nonce, one serial number for each CSR; the certificate proposed
//! is for it and no other. What OpenSSL makes of CSRs and keys is in tests/it/openssl.rs.

use crate::common::{START, Seed, World};
use folkmoot_base::UnixTime;
use folkmoot_identity::{
    CSR_BYTES_MAX, Charter, CharterDraft, CmsError, Csr, CsrError, GmcBody, Request, RequestError, Scheme,
    SigningError, SigningKey, VoteProof,
};
use folkmoot_signing::plain;
use p256::ecdsa;
use proptest::prelude::*;

fn key(seed: u64) -> SigningKey {
    SigningKey::generate(&mut Seed(seed << 32))
}

fn csr() -> Csr {
    Csr::sign(&key(40), "erik").unwrap()
}

fn proposed(world: &World, csr: &Csr) -> GmcBody {
    GmcBody::propose_csr(world.charter(), csr, 3, START)
}

fn asked() -> Request {
    Request::by_csr(csr(), proposed(&World::new(), &csr())).unwrap()
}

/// The same CSR with the other of the two equivalent signatures.
fn mirrored(csr: &Csr) -> Vec<u8> {
    let der = csr.der();
    let low = (der.len() - 72..der.len() - 68)
        .find_map(|at| ecdsa::Signature::from_der(&der[at..]).ok().map(|low| (at, low)));
    let (at, low) = low.expect("a signature at the end");
    let high = ecdsa::Signature::from_scalars(*low.r(), -*low.s()).unwrap().to_der();
    // The bit string before it and the sequence around all are as long as it says.
    let grown = i16::try_from(high.as_bytes().len()).unwrap() - i16::try_from(der.len() - at).unwrap();
    let mut out = [&der[..at], high.as_bytes()].concat();
    let longer = |byte: u8| u8::try_from(i16::from(byte) + grown).unwrap();
    out[at - 2] = longer(out[at - 2]);
    assert_eq!(out[1], 0x81, "a length of one byte more");
    out[2] = longer(out[2]);
    out
}

#[test]
fn id_57_every_changed_bit_of_a_csr_is_refused() {
    let csr = csr();
    assert_eq!(Csr::from_der(csr.der()), Ok(csr.clone()));
    let mut der = csr.der().to_vec();
    for bit in 0..der.len() * 8 {
        der[bit / 8] ^= 1 << (bit % 8);
        assert!(Csr::from_der(&der).is_err() && Csr::read(&der).is_err(), "bit {bit}");
        der[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..der.len() {
        assert!(Csr::from_der(&der[..cut]).is_err() && Csr::read(&der[..cut]).is_err(), "cut at {cut}");
    }
    assert!(Csr::from_der(&[&der[..], &[0]].concat()).is_err());
    assert_eq!(Csr::from_der(&vec![0x30; CSR_BYTES_MAX + 1]), Err(CsrError::WireTooLong(CSR_BYTES_MAX + 1)));
    assert!(matches!(Csr::read(&vec![b'x'; 100_000]), Err(CsrError::WireTooLong(_))));
}

#[test]
fn id_57_of_two_signatures_that_say_the_same_one_is_the_form() {
    for seed in 40..48 {
        let csr = Csr::sign(&key(seed), "erik").unwrap();
        let other = mirrored(&csr);
        assert_ne!(other, csr.der());
        assert_eq!(Csr::from_der(&other), Err(CsrError::WireSignature(SigningError::WireHighS)));
        let read = Csr::read(&other).unwrap();
        assert_eq!((&read, read.nonce(), read.serial()), (&csr, csr.nonce(), csr.serial()));
        let body = proposed(&World::new(), &csr);
        let request = Request::by_csr(csr.clone(), body).unwrap();
        let at = request.der().windows(csr.der().len()).position(|part| part == csr.der()).unwrap();
        let mut pair = request.der().to_vec();
        pair.splice(at..at + csr.der().len(), other);
        assert!(Request::from_der(&pair).is_err(), "another length, or the higher signature");
    }
}

#[test]
fn id_57_pem_with_text_around_it_is_read_and_two_are_not() {
    let csr = csr();
    let pem = csr.to_pem();
    let older = pem.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST");
    for text in [pem.clone(), older, format!("Certificate Request:\n    Data:\n{pem}")] {
        assert_eq!(Csr::read(text.as_bytes()).as_ref(), Ok(&csr), "{text}");
    }
    let certificate = World::new().stranger.certificate_pem();
    for text in [format!("{pem}{pem}"), certificate, "-----BEGIN ".to_owned(), String::new()] {
        assert_eq!(Csr::read(text.as_bytes()), Err(CsrError::WireMalformed), "{text}");
    }
}

#[test]
fn id_58_one_csr_makes_one_nonce_and_one_serial_number() {
    let (world, csr) = (World::new(), csr());
    let (now, later) =
        (proposed(&world, &csr), GmcBody::propose_csr(world.charter(), &csr, 9, UnixTime(START.0 + 5)));
    assert_eq!((now.serial, now.membership.nonce), (later.serial, later.membership.nonce));
    assert_ne!(now.request_digest(), later.request_digest(), "the term is voted on");
    let others = [Csr::sign(&key(40), "emil").unwrap(), Csr::sign(&key(41), "erik").unwrap()];
    for other in others {
        assert_ne!(other.nonce(), csr.nonce());
        assert_ne!(other.serial(), csr.serial());
    }
    assert!((0x40..0x80).contains(&csr.serial()[0]));
    assert_ne!(csr.nonce()[1..], csr.serial()[1..]);
    let refused = |change: &dyn Fn(&mut GmcBody)| {
        let mut body = proposed(&world, &csr);
        change(&mut body);
        Request::by_csr(csr.clone(), body).unwrap_err()
    };
    assert_eq!(
        refused(&|body| body.membership.nonce[0] ^= 1),
        RequestError::PeerProposal("it has another nonce")
    );
    assert_eq!(
        refused(&|body| body.serial[5] ^= 1),
        RequestError::PeerProposal("it has another serial number")
    );
}

#[test]
fn id_59_a_request_by_csr_proposes_for_its_name_and_key_and_holds_no_votes() {
    let (world, csr) = (World::new(), csr());
    let request = asked();
    assert_eq!(Request::from_der(request.der()), Ok(request.clone()));
    assert_eq!(request.body().request_digest(), Ok(request.digest()));
    assert_eq!((request.member(), request.csr()), (csr.member(), Some(&csr)));
    assert_eq!(world.request().csr(), None, "the other form");
    let refused = |change: &dyn Fn(&mut GmcBody)| {
        let mut body = proposed(&world, &csr);
        change(&mut body);
        Request::by_csr(csr.clone(), body).unwrap_err()
    };
    assert_eq!(refused(&|body| body.name = "emil".into()), RequestError::PeerProposal("it has another name"));
    assert_eq!(
        refused(&|body| body.key = key(41).verifying_key().clone()),
        RequestError::PeerProposal("it has another key")
    );
    let votes: Vec<VoteProof> = vec![world.vote(0).proof()];
    for given in [None, Some(votes)] {
        let refused = refused(&|body| body.membership.votes.clone_from(&given));
        assert_eq!(refused, RequestError::PeerProposal("it carries votes, or is a founder's"));
    }
    let issued = Request::by_csr(csr.clone(), proposed(&world, &csr).issued_under([3; 32]));
    assert!(issued.is_err());
    let long = vec![0x30; 5_000];
    assert_eq!(Request::from_der(&long), Err(RequestError::Cms(CmsError::WireTooLong(5_000))));
}

/// The CSR is signed by its holder; what a member proposes is signed by nobody yet, so a change
/// there may make another request. But it is another one, with a digest of its own, and in its one
/// encoding.
#[test]
fn id_59_every_changed_bit_is_refused_or_makes_another_request() {
    let request = asked();
    let mut der = request.der().to_vec();
    for bit in 0..der.len() * 8 {
        der[bit / 8] ^= 1 << (bit % 8);
        if let Ok(other) = Request::from_der(&der) {
            assert_ne!(other.digest(), request.digest(), "bit {bit}");
            assert_eq!((other.der(), other.csr()), (&der[..], request.csr()), "bit {bit}");
        }
        der[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..der.len() {
        assert!(Request::from_der(&der[..cut]).is_err(), "cut at {cut}");
    }
    for more in [&[0_u8][..], &[0x30, 0x00], &der] {
        assert!(Request::from_der(&[&der[..], more].concat()).is_err());
    }
}

#[test]
fn who_signs_follows_from_the_scheme() {
    let world = World::new();
    let named: Vec<_> = world.founders.iter().map(|founder| founder.certificate().into()).collect();
    for (scheme, holder) in
        [(Scheme::Plain, true), (Scheme::Asm, true), (Scheme::TsDsa, false), (Scheme::Frost, false)]
    {
        let name = world.charter().name().clone();
        let draft = CharterDraft { scheme, ..CharterDraft::new(name, 2, named.clone(), &mut Seed(9)) };
        assert_eq!(Charter::from_toml(&draft.to_toml()).unwrap().holder_signs(), holder, "{scheme:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn requests_by_csr_survive_their_bytes(seed in 1_u64..1 << 20, name in "[^\\p{C}]{1,16}", size: u32, at in 1_u64..1 << 33) {
        let csr = Csr::sign(&key(seed), &name).unwrap();
        prop_assert_eq!(Csr::read(csr.to_pem().as_bytes()), Ok(csr.clone()));
        prop_assert_eq!(Csr::from_der(csr.der()), Ok(csr.clone()));
        let body = GmcBody::propose_csr(World::new().charter(), &csr, size, UnixTime(at));
        let request = Request::by_csr(csr, body.clone()).unwrap();
        prop_assert_eq!(Request::from_der(request.der()), Ok(request.clone()));
        prop_assert_eq!(request.body(), &body);
    }

    #[test]
    fn garbage_is_no_csr(garbage: Vec<u8>) {
        prop_assert!(Csr::from_der(&garbage).is_err() && Csr::read(&garbage).is_err());
    }

    #[test]
    fn a_foreign_signature_has_one_form(seed in 1_u64..1 << 20, message: Vec<u8>) {
        let low = plain::SigningKey::generate(&mut Seed(seed << 32)).sign_raw(&message);
        prop_assert_eq!(plain::Signature::from_foreign_der(&low.to_der()), Ok(low));
        let inner = ecdsa::Signature::from_der(&low.to_der()).unwrap();
        let high = ecdsa::Signature::from_scalars(*inner.r(), -*inner.s()).unwrap().to_der();
        prop_assert_eq!(plain::Signature::from_foreign_der(high.as_bytes()), Ok(low));
        prop_assert_eq!(plain::Signature::from_der(high.as_bytes()), Err(SigningError::WireHighS));
    }
}
