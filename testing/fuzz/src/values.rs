//! Decoders of single values of base, signing and agreement.

use crate::script::Dice;
use folkmoot_agreement::gdh::{Context, Token};
use folkmoot_agreement::{PrimeGroup, Ristretto};
use folkmoot_base::codec::{self, DeserializeBytes, Serialize, Size};
use folkmoot_base::limits::LOCATOR_BYTES_MAX;
use folkmoot_base::{Blob, EntryId, GroupName, Head, HostName, Locator, MemberId, NodeId, Party, ViewId};
use folkmoot_identity::Contact;
use folkmoot_signing::plain_ed25519 as ed;
use folkmoot_signing::plain_rsa as rsa;
use folkmoot_signing::{KeyKind, Signature, SigningKey, VerifyingKey};

/// What decodes is written as it was read, and reads again as the same.
pub(crate) fn canonical<T>(data: &[u8]) -> Option<T>
where
    T: DeserializeBytes + Serialize + Size + PartialEq + std::fmt::Debug,
{
    let value: T = codec::decode(data).ok()?;
    let again = codec::encode(&value);
    assert_eq!(again, data, "a second encoding of {value:?}");
    assert_eq!(codec::decode::<T>(&again).as_ref(), Ok(&value));
    Some(value)
}

/// Base: byte strings, names, ids, parties and views as messages hold them.
pub fn base_codec(data: &[u8]) {
    canonical::<Blob>(data);
    canonical::<GroupName>(data);
    canonical::<Vec<EntryId>>(data);
    canonical::<Option<ViewId>>(data);
    if let Some(party) = canonical::<Party>(data) {
        assert_eq!(party.to_bytes(), data[1..], "behind the version");
        assert_eq!(Party::from_hex(&party.hex()), Some(party));
    }
}

/// Base: texts that name something.
pub fn base_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(at) = text.parse::<Locator>() {
        locator(&at, text);
    }
    if let Ok(name) = HostName::read(text) {
        assert_eq!(HostName::of(&name.locator()).as_ref(), Some(&name));
        assert_eq!(HostName::read(&name.to_string()), Ok(name));
    }
    if let Ok(contact) = Contact::read(text) {
        let at = contact.locator().filter(|at| at.as_memory().is_none());
        assert!(at.is_none_or(|at| at.to_string() == text && at.leads_somewhere()));
    }
    if let Some(head) = Head::from_whole(text) {
        assert_eq!(head.whole(), text);
    }
    if let Some(node) = NodeId::from_hex(text) {
        assert_eq!(node.hex(), text);
    }
    if let Some(party) = Party::from_hex(text) {
        assert_eq!(party.hex(), text);
    }
    if let Ok(name) = GroupName::new(text) {
        assert_eq!(name.as_str(), text);
    }
}

/// A value has one text, whatever text it was read from.
fn locator(at: &Locator, text: &str) {
    let own = at.to_string();
    assert!(own.len() <= LOCATOR_BYTES_MAX && own.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(own.parse().as_ref(), Ok(at));
    assert_eq!(own.split_once('/').map(|(scheme, _)| scheme), Some(at.scheme()));
    match (at.as_udp(), at.as_memory()) {
        (Some(address), None) => {
            assert!(at.scheme() == "udp" && address.ip().to_canonical() == address.ip());
            assert_eq!(&Locator::udp(address), at);
        }
        (None, Some(port)) => assert_eq!(&Locator::memory(port), at),
        _ => assert_eq!((own.as_str(), at.leads_somewhere()), (text, true)),
    }
    assert_eq!(at.host(), at.clone().host());
    assert!(HostName::of(at).is_none_or(|name| name.locator() == *at));
}

/// Signing: keys and signatures in each of their forms.
pub fn signing_forms(data: &[u8]) {
    if let Ok(key) = VerifyingKey::from_spki_der(data) {
        assert_eq!(key.spki_der(), data);
    }
    if let Ok(signature) = Signature::tls_deserialize_exact_bytes(data) {
        let wire = signature.tls_serialize_detached().expect("a signature encodes");
        assert_eq!(wire, data);
        assert_eq!(Signature::from_paper(signature.kind(), &signature.to_paper()), Ok(signature));
    }
    for kind in [KeyKind::EcdsaP256, KeyKind::Ed25519, KeyKind::Rsa] {
        if let Ok(signature) = Signature::from_paper(kind, data) {
            assert_eq!(signature.to_paper(), data);
            assert_eq!(Signature::from_wire(&signature.to_wire()), Ok(signature));
        }
        if let Ok(signature) = Signature::from_foreign_paper(kind, data) {
            assert_eq!(Signature::from_paper(kind, &signature.to_paper()), Ok(signature));
        }
    }
    if let Ok(key) = SigningKey::from_pkcs8_der(data) {
        let again = key.to_pkcs8_der().expect("a key encodes");
        let again = SigningKey::from_pkcs8_der(again.expose()).expect("its own encoding");
        assert_eq!(again.verifying_key(), key.verifying_key());
    }
}

/// Signing: Ed25519 and RSA, keys and signatures.
pub fn signing_kinds(data: &[u8]) {
    if let Ok(key) = ed::VerifyingKey::from_spki_der(data) {
        assert_eq!(key.spki_der().as_slice(), data);
    }
    if let Ok(signature) = ed::Signature::from_bytes(data) {
        assert_eq!(signature.to_bytes().as_slice(), data);
    }
    if let Ok(key) = ed::SigningKey::from_pkcs8_der(data) {
        assert_eq!(key.to_pkcs8_der().expose().as_slice(), data);
    }
    for read in [rsa::VerifyingKey::from_spki_der, rsa::VerifyingKey::historical_from_spki_der] {
        if let Ok(key) = read(data) {
            assert_eq!(key.spki_der(), data);
        }
    }
    if let Ok(signature) = rsa::Signature::from_bytes(data) {
        assert_eq!(signature.as_bytes(), data);
    }
    if let Ok(key) = rsa::SigningKey::from_pkcs8_der(data) {
        let again = key.to_pkcs8_der().expect("a key encodes");
        let again = rsa::SigningKey::from_pkcs8_der(again.expose()).expect("its own encoding");
        assert_eq!(again.verifying_key(), key.verifying_key());
    }
}

/// Seeds of [`signing_kinds`]: keys and signatures made by OpenSSL.
pub(crate) fn kinds_seeds() -> Vec<Vec<u8>> {
    let vectors = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/signing");
    let names = [
        "ed25519.key.der",
        "ed25519.spki.der",
        "ed25519.signature",
        "rsa-1024.spki.der",
        "rsa-1024.signature",
        "rsa-2048.spki.der",
        "rsa-2048.key.der",
    ];
    names
        .map(|name| std::fs::read(vectors.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
        .into()
}

/// Parties of the published operations of GDH: two of one member, and one of another.
pub(crate) fn gdh_members() -> [Party; 3] {
    [(1, 0), (1, 1), (2, 0)].map(|(number, port)| Party::new(MemberId([number; 32]), port))
}

/// A group of one, and what its member hands to the newcomers of a merge.
pub(crate) fn gdh_merge() -> (Context<Ristretto>, Token) {
    let [first, rest @ ..] = gdh_members();
    let mut context = Context::first_member(first, &mut Dice(1));
    let token = context.merge_start(&rest, &mut Dice(2)).expect("the only member is the controller");
    (context, token)
}

/// Agreement: elements, tokens, and each published operation that takes a token.
pub fn agreement_token(data: &[u8]) {
    if let Some(element) = Ristretto::decode_any(data) {
        assert_eq!(Ristretto::encode(&element), data);
    }
    let Some(token) = canonical::<Token>(data) else { return };
    let members = gdh_members();
    let [first, second, last] = members;
    for from in members {
        let (mut old, _) = gdh_merge();
        let _ = old.factor_out(from, &token);
        let _ = old.update(from, &token, &members);
        let _ = old.update(from, &token, &token.members);
        let mut new = Context::<Ristretto>::new_member(second);
        let _ = new.mass_join(from, &token, &members, &mut Dice(3));
        let _ = new.factor_out(from, &token);
        let _ = new.update(from, &token, &members);
        let mut joiner = Context::<Ristretto>::new_member(last);
        let _ = joiner.join(from, &token, &[first, last], &mut Dice(4));
        let _ = joiner.mass_join(from, &token, &members, &mut Dice(5));
        let _ = joiner.collect(from, &token);
    }
}
