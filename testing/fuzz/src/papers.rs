//! Decoders of what is signed: certificates, charters, votes, requests.

use crate::script::Dice;
use crate::values::canonical;
use crate::world::{LATER, NOW, world};
use folkmoot_base::{Secret, hex};
use folkmoot_identity::{
    Charter, Csr, Endorsement, Gmc, GmcBody, Identity, IdentityCertificate, Passphrase, Request,
    RevocationBody, RevocationList, Rule, SignedCharter, SignedMessage, Stamp, Vote, VoteBody, VoteKind,
    VoteProof, authority_of, is_sealed_key, open_sealed_key,
};
use folkmoot_transcript::Transcript;
use std::sync::LazyLock;

/// A charter that recognises Bob: what he has signed for himself, other software could have signed.
static RECOGNISING: LazyLock<Charter> = LazyLock::new(|| {
    let key = hex(bob().key().verifying_key().spki_der());
    world().charter().with_change("recognised.bob", &key).expect("a key of P-256")
});

fn bob() -> &'static Identity {
    &world().founders[1]
}

/// Identity: a certificate in DER, of ours or of an authority outside.
pub fn certificate_der(data: &[u8]) {
    let _ = authority_of(data);
    if let Ok(endorsement) = Endorsement::read(data, &RECOGNISING) {
        assert_eq!((endorsement.by(), endorsement.is_member()), ("bob", false));
        let _ = endorsement.check((&bob().member(), bob().name()), NOW, 60);
    }
    let Ok(certificate) = IdentityCertificate::from_der(data) else { return };
    assert_eq!(certificate.der(), data);
    assert_eq!(IdentityCertificate::from_pem(&certificate.to_pem()), Ok(certificate));
}

/// Identity: PEM of a certificate, and of a key (the key first, then a zero byte, then the
/// certificate).
pub fn identity_pem(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(certificate) = IdentityCertificate::from_pem(text) {
        assert_eq!(IdentityCertificate::from_pem(&certificate.to_pem()), Ok(certificate));
    }
    let _ = Identity::import(text, "erik", &mut Dice(9), NOW, LATER);
    let (key, certificate) = text.split_once('\0').unwrap_or((text, ""));
    let certificate = if certificate.is_empty() { &world().stranger.certificate_pem() } else { certificate };
    if let Ok(identity) = Identity::from_pem(key, certificate) {
        let key = identity.key_pem().expect("a key encodes");
        let again = Identity::from_pem(key.expose(), &identity.certificate_pem()).expect("its own PEM");
        assert_eq!(again.certificate(), identity.certificate());
    }
}

/// Identity: a key under a passphrase. What opens is a key in PEM that reads, or is of a kind that
/// is refused.
pub fn sealed_key(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let right = Passphrase::new(Secret::new(b"right".to_vec())).expect("it is not empty");
    if let Ok(key) = open_sealed_key(text, &right) {
        assert!(is_sealed_key(text) && !is_sealed_key(key.expose()));
        let _ = Identity::import(key.expose(), "erik", &mut Dice(9), NOW, LATER);
    }
}

/// Identity: a membership certificate in DER.
pub fn membership_der(data: &[u8]) {
    let Ok(gmc) = Gmc::from_der(data) else { return };
    assert_eq!(gmc.der(), data);
    let _ = gmc.body().request_digest();
    let _ = gmc.body().check_charter(world().charter());
    let _ = gmc.check_term(NOW, 60);
    let key = |member: &_| world().charter().founder(member).map(|founder| &founder.key);
    let _ = gmc.check_authority(world().charter(), key);
}

/// Identity: a revocation list, and what is to be signed as one.
pub fn revocation_der(data: &[u8]) {
    let authority = world().authority();
    if let Ok(list) = RevocationList::from_der(data, &authority) {
        assert_eq!(list.der(), data);
        assert!(!list.supersedes(&list));
        let tbs = list.body().tbs().expect("what was read encodes");
        assert_eq!(RevocationBody::from_tbs(&tbs, &authority).as_ref(), Ok(list.body()));
    }
    if let Ok(body) = RevocationBody::from_tbs(data, &authority) {
        assert_eq!(body.tbs().as_deref(), Ok(data));
    }
}

/// Identity: a charter's text.
pub fn charter_toml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(charter) = Charter::from_toml(text) else { return };
    assert_eq!(charter.bytes(), data);
    for contact in charter.contacts() {
        // Of what nobody dials, a charter takes any spelling.
        if let Some(at) = contact.locator().filter(|at| at.as_memory().is_none()) {
            assert_eq!(at.to_string(), contact.as_str());
        }
    }
    assert_eq!(Charter::from_toml(text), Ok(charter));
}

/// Identity: a change of a charter: a field, `=`, a value; several, one in a line.
pub fn charter_change(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut charter = world().charter().clone();
    for line in text.lines().take(16) {
        let (field, value) = line.split_once('=').unwrap_or((line, ""));
        if let Ok(rule) = Rule::parse(value) {
            assert_eq!(Rule::parse(&rule.to_string()), Ok(rule));
        }
        if let Ok(next) = charter.with_change(field, value) {
            assert_ne!(next.digest(), charter.digest());
            assert_eq!(next.group(), charter.group());
            charter = next;
        }
    }
}

/// Identity: a signed charter in CMS. Putting its parts together again gives the same bytes.
pub fn signed_charter(data: &[u8]) {
    let Ok(signed) = SignedCharter::from_der(data) else { return };
    assert_eq!(signed.der(), data);
    let mut again = signed.clone();
    again.merge(&signed).expect("the same charter");
    assert_eq!(again.der(), data, "a second encoding of one signed charter");
    assert!(Transcript::founded(data).is_err() || signed.verify().is_ok());
}

/// Identity: a vote in CMS, its content, and its short form.
pub fn vote(data: &[u8]) {
    if let Ok(body) = VoteBody::decode(data) {
        assert_eq!(body.encode(), data);
    }
    canonical::<VoteProof>(data);
    let Ok(vote) = Vote::from_der(data) else { return };
    assert_eq!(vote.der(), data);
    let body = vote.body();
    assert_eq!(VoteBody::decode(&body.encode()).as_ref(), Ok(body));
    let again = Vote::from_signature(*body, vote.certificate(), vote.signature().clone());
    assert_eq!(again.as_ref(), Ok(&vote));
    let admits = vote.proof().verify(body.group, body.subject, vote.certificate().key()).is_ok();
    assert!(!admits || body.kind == VoteKind::Admit, "another vote counts as one to admit");
}

/// Identity: a CSR in its one form, and as other software writes it; what is proposed for it.
pub fn csr(data: &[u8]) {
    if let Ok(csr) = Csr::from_der(data) {
        assert_eq!(csr.der(), data);
        assert_eq!(Csr::read(data).as_ref(), Ok(&csr));
    }
    let Ok(csr) = Csr::read(data) else { return };
    assert_eq!(Csr::from_der(csr.der()).as_ref(), Ok(&csr), "what was read is in its one form");
    assert_eq!(Csr::read(csr.to_pem().as_bytes()).as_ref(), Ok(&csr));
    let body = GmcBody::propose_csr(world().charter(), &csr, 3, NOW);
    let asked = Request::by_csr(csr, body).expect("what is proposed is for it");
    assert_eq!(Request::from_der(asked.der()).as_ref(), Ok(&asked));
}

/// Identity: a request in CMS, or by CSR.
pub fn request(data: &[u8]) {
    let Ok(request) = Request::from_der(data) else { return };
    assert_eq!(request.der(), data);
    assert_eq!(request.body().request_digest(), Ok(request.digest()));
    let _ = request.body().check_charter(world().charter());
}

/// Identity: a signed message in CMS, and the record of one that is not signed.
pub fn signed_message(data: &[u8]) {
    if let Ok((stamp, text)) = Stamp::from_record(data) {
        assert_eq!(stamp.record(text), data);
    }
    let Ok(message) = SignedMessage::from_der(data) else { return };
    assert_eq!(message.der(), data);
    let record = message.stamp().record(message.text());
    assert_eq!(Stamp::from_record(&record), Ok((*message.stamp(), &message.text()[..])));
    let _ = message.check_charter(world().charter(), None);
    let _ = world().transcript.check_sender(&message, None);
}
