//! Certificates: who may be where, as which sender.

use super::helper::{Count, domain, group, id};
use const_oid::ObjectIdentifier;
use const_oid::db::{rfc5280, rfc5912};
use core::time::Duration;
use der::asn1::{BitString, Ia5String, OctetString, SetOfVec, Utf8StringRef};
use der::{DateTime, Decode as _, Encode as _, Sequence};
use folkmoot_base::{Mutant, UnixTime};
use folkmoot_pubsub::secured::{
    CERTIFICATE_BYTES_MAX, Danger, DomainError, Permit, PermitError, RIGHTS_MAX, Root, duplicates,
};
use folkmoot_signing::plain::SigningKey;
use spki::AlgorithmIdentifierOwned;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::{Time, Validity};

/// `openssl req -x509 -new -subj "/CN=robots root" -days 36500`, on P-256.
const ROOT: &str = "\
-----BEGIN CERTIFICATE-----
MIIBkzCCATmgAwIBAgIUJrwcd3T2vXivWrsfsk/U59IEwDswCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLcm9ib3RzIHJvb3QwIBcNMjYxMTI2MTA0NjQzWhgPMjEyNjEx
MDIxMDQ2NDNaMBYxFDASBgNVBAMMC3JvYm90cyByb290MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE6g/9dHg6MyiSklzGjiaBBxKBbjOEaUypRXpOk6mhux3MQ0Jk
VQganMJrwdmbj8xKM/ePq857zGyRBLrRW6z5laNjMGEwHQYDVR0OBBYEFNfv0UMp
PibzROvbFwkH10c0ssWGMB8GA1UdIwQYMBaAFNfv0UMpPibzROvbFwkH10c0ssWG
MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gA
MEUCIQCS8BfLIqUv+0fz/BU6MRLK+jNI2DvrapYklXFBVttG4wIgd7h2N2kgXrjH
zMNb4/AbbbJwjkC2+IE1t2aPLs5r3Yk=
-----END CERTIFICATE-----
";
/// `openssl x509 -req -CA root.pem -days 36500`, with two rights, a DNS name and another URI.
const NODE: &str = "\
-----BEGIN CERTIFICATE-----
MIICHzCCAcWgAwIBAgIUNwfDhniAb5HD6sS1whjAbKsv8S0wCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLcm9ib3RzIHJvb3QwIBcNMjYxMTI2MTA0NjQzWhgPMjEyNjEx
MDIxMDQ2NDNaMBIxEDAOBgNVBAMMB3JvYm90IDQwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQm79bfO2gaKviqCAorH/r2tBIlGS6Om4e+QwF4WVcRAs4XCU/K3J2W
SMGyIkdQApKUoV8ww5Pi15J8E0k30sqLo4HyMIHvMAwGA1UdEwEB/wQCMAAwDgYD
VR0PAQH/BAQDAgeAMIGOBgNVHREEgYYwgYOGKXVybjpsY21zZWM6Z2tleGNoZ19n
OjIzOS4yNTUuNzYuNjc6NzY2Nzo0hjB1cm46bGNtc2VjOmdrZXhjaGc6MjM5LjI1
NS43Ni42Nzo3NjY3OmNoYW5uZWwxOjSCDnJvYm90NC5leGFtcGxlhhRodHRwczov
L2V4YW1wbGUub3JnLzAdBgNVHQ4EFgQUOeJ97bOI1srEf0QyvTlqmt13mSEwHwYD
VR0jBBgwFoAU1+/RQyk+JvNE69sXCQfXRzSyxYYwCgYIKoZIzj0EAwIDSAAwRQIg
bXCCnr3sOOtmBmobu3WQQCmeX4b7rBeTUm+eDi/AFEsCIQCO96CNoXhPkjU2uss6
1ZBzzv6awnzEUeCfSI4ZaEfiew==
-----END CERTIFICATE-----
";
const NOW: UnixTime = UnixTime(1_800_000_000);

fn signer(number: u8) -> SigningKey {
    SigningKey::generate(&mut Count(number))
}

#[derive(Sequence, Clone)]
struct Tbs {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    version: u8,
    serial: SerialNumber,
    signature: AlgorithmIdentifierOwned,
    issuer: Name,
    validity: Validity,
    subject: Name,
    key: spki::SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT")]
    extensions: Vec<Extension>,
}

#[derive(Sequence)]
struct Outer {
    tbs: Tbs,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

fn name(text: &str) -> Name {
    let oid = const_oid::db::rfc4519::CN;
    let value = der::asn1::Any::from(Utf8StringRef::new(text).unwrap());
    let part = SetOfVec::try_from(vec![AttributeTypeAndValue { oid, value }]).unwrap();
    Name::from_der(&vec![part].to_der().unwrap()).unwrap()
}

fn time(at: u64) -> Time {
    Time::GeneralTime(der::asn1::GeneralizedTime::from_date_time(
        DateTime::from_unix_duration(Duration::from_secs(at)).unwrap(),
    ))
}

fn extension(oid: ObjectIdentifier, critical: bool, value: &[u8]) -> Extension {
    Extension { extn_id: oid, critical, extn_value: OctetString::new(value).unwrap() }
}

fn uris(rights: &[&str]) -> Extension {
    let uri = |right: &&str| GeneralName::UniformResourceIdentifier(Ia5String::new(right).unwrap());
    let value = SubjectAltName(rights.iter().map(uri).collect()).to_der().unwrap();
    extension(rfc5280::ID_CE_SUBJECT_ALT_NAME, false, &value)
}

/// Of the 2050s and later, because X.509 wants the other form before.
const BEGINS: u64 = 2_600_000_000;
const ENDS: u64 = 2_700_000_000;
const WITHIN: UnixTime = UnixTime(2_650_000_000);

fn tbs(subject: &str, key: &SigningKey, extensions: Vec<Extension>) -> Tbs {
    Tbs {
        version: 2,
        serial: SerialNumber::new(&[7; 16]).unwrap(),
        signature: algorithm(),
        issuer: name("root"),
        validity: Validity::new(time(BEGINS), time(ENDS)),
        subject: name(subject),
        key: spki::SubjectPublicKeyInfoOwned::from_der(key.verifying_key().spki_der()).unwrap(),
        extensions,
    }
}

fn algorithm() -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned { oid: rfc5912::ECDSA_WITH_SHA_256, parameters: None }
}

fn sign(tbs: Tbs, by: &SigningKey) -> Vec<u8> {
    let signature = by.sign_raw(&tbs.to_der().unwrap()).to_der();
    let signature = BitString::from_bytes(&signature).unwrap();
    Outer { tbs, algorithm: algorithm(), signature }.to_der().unwrap()
}

fn authority() -> Extension {
    extension(rfc5280::ID_CE_BASIC_CONSTRAINTS, true, &[0x30, 3, 1, 1, 0xff])
}

fn root() -> Root {
    Root::from_der(&sign(tbs("root", &signer(1), vec![authority()]), &signer(1))).unwrap()
}

fn issue(number: u8, rights: &[&str]) -> Vec<u8> {
    sign(tbs("node", &signer(number), vec![uris(rights)]), &signer(1))
}

fn permit(rights: &[&str]) -> Result<Permit, PermitError> {
    root().permit(&issue(2, rights), WITHIN, 0)
}

const GROUP: &str = "urn:lcmsec:gkexchg_g:239.255.76.67:7667:4";
const OVER: &str = "urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:4";

fn from_pem(pem: &str) -> Vec<u8> {
    der::pem::decode_vec(pem.as_bytes()).unwrap().1
}

#[test]
fn pub_26_a_certificate_of_openssl_is_read() {
    let root = Root::from_der(&from_pem(ROOT)).unwrap();
    let permit = root.permit(&from_pem(NODE), NOW, 0).unwrap();
    assert_eq!((permit.sender(&group()), permit.sender(&domain("channel1"))), (Some(id(4)), Some(id(4))));
    assert_eq!((permit.sender(&domain("channel2")), permit.rights().len()), (None, 2));
    let member = permit.member(&group()).unwrap();
    assert_eq!((member.sender, member.key.as_ref()), (id(4), Some(permit.key())));
    assert_eq!(permit.member(&domain("channel2")), None);
    assert_eq!(permit.ends().to_string(), "2126-11-02T10:46:43Z");
}

#[test]
fn pub_26_malformed_rights_make_a_certificate_void() {
    let malformed = "urn:lcmsec:gkexchg:239.255.76.67:7667:channel1:0";
    let error = DomainError::Sender;
    let refused = PermitError::PeerRight { right: malformed.to_owned(), error };
    assert_eq!(permit(&[GROUP, malformed]), Err(refused));
    assert_eq!(permit(&[]), Err(PermitError::PeerRights));
    assert_eq!(permit(&["https://example.org/"]), Err(PermitError::PeerRights));
    assert_eq!(permit(&[GROUP, OVER, GROUP]), Err(PermitError::PeerRights));
    let many: Vec<String> =
        (0..RIGHTS_MAX).map(|number| format!("urn:lcmsec:gkexchg:239.255.76.67:7667:c{number}:4")).collect();
    let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
    many.push(GROUP);
    assert_eq!(permit(&many), Err(PermitError::PeerRights));
    assert_eq!(permit(&many[1..]).unwrap().rights().len(), RIGHTS_MAX);
    assert!(permit(&[GROUP, "https://example.org/", OVER]).is_ok());
}

#[test]
fn pub_27_only_what_the_root_signed_counts() {
    let forged = sign(tbs("node", &signer(2), vec![uris(&[GROUP])]), &signer(9));
    assert_eq!(root().permit(&forged, WITHIN, 0), Err(PermitError::PeerIssuer));
    let mut other = tbs("node", &signer(2), vec![uris(&[GROUP])]);
    other.issuer = name("other root");
    assert_eq!(root().permit(&sign(other, &signer(1)), WITHIN, 0), Err(PermitError::PeerIssuer));
    let foreign = Root::from_der(&from_pem(ROOT)).unwrap();
    assert_eq!(foreign.permit(&issue(2, &[GROUP]), WITHIN, 0), Err(PermitError::PeerIssuer));
    // Whoever has a certificate makes none.
    let below =
        sign(Tbs { issuer: name("node"), ..tbs("below", &signer(3), vec![uris(&[GROUP])]) }, &signer(2));
    assert_eq!(root().permit(&below, WITHIN, 0), Err(PermitError::PeerIssuer));
    // Without the rule anybody permits itself anything.
    let lax = root().with_danger(Mutant::from(Some(Danger::AnyIssuer)));
    assert_eq!(lax.permit(&forged, WITHIN, 0).unwrap().sender(&group()), Some(id(4)));
}

#[test]
fn pub_27_every_changed_bit_voids_a_certificate() {
    let good = issue(2, &[GROUP, OVER]);
    let expected = root().permit(&good, WITHIN, 0).unwrap();
    for place in 0..good.len() * 8 {
        let mut altered = good.clone();
        altered[place / 8] ^= 1 << (place % 8);
        assert!(root().permit(&altered, WITHIN, 0).is_err(), "bit {place}");
    }
    assert!(root().permit(&[&good[..], &[0]].concat(), WITHIN, 0).is_err());
    assert_eq!(root().permit(&good, WITHIN, 0), Ok(expected));
    let long = vec![0; CERTIFICATE_BYTES_MAX + 1];
    assert_eq!(root().permit(&long, WITHIN, 0), Err(PermitError::WireMalformed));
}

#[test]
fn pub_27_a_certificate_has_one_encoding_whatever_the_root_signs() {
    let critical = Extension { critical: true, ..uris(&[GROUP]) };
    let mut made = tbs("node", &signer(2), vec![critical]).to_der().unwrap();
    // "Not critical", which DER says by saying nothing.
    let place = made.windows(3).rposition(|bytes| bytes == [1, 1, 0xff]).unwrap();
    made[place + 2] = 0;
    let signature = BitString::from_bytes(&signer(1).sign_raw(&made).to_der()).unwrap();
    let parts = [made, algorithm().to_der().unwrap(), signature.to_der().unwrap()].concat();
    let length = u16::try_from(parts.len()).unwrap().to_be_bytes();
    let other = [&[0x30, 0x82], &length[..], &parts].concat();
    assert_eq!(root().permit(&other, WITHIN, 0), Err(PermitError::WireMalformed));
}

#[test]
fn pub_27_a_certificate_counts_within_its_term() {
    let good = issue(2, &[GROUP]);
    let at = |time, skew| root().permit(&good, UnixTime(time), skew).map(|permit| permit.ends());
    assert_eq!(at(BEGINS - 1, 0), Err(PermitError::PeerNotYet(UnixTime(BEGINS))));
    assert_eq!(at(ENDS + 1, 0), Err(PermitError::PeerEnded(UnixTime(ENDS))));
    for (time, skew) in [(BEGINS, 0), (ENDS, 0), (BEGINS - 60, 60), (ENDS + 60, 60)] {
        assert_eq!(at(time, skew), Ok(UnixTime(ENDS)));
    }
    // The root's term counts, too.
    let short = Tbs {
        validity: Validity::new(time(BEGINS), time(BEGINS + 10)),
        ..tbs("root", &signer(1), vec![authority()])
    };
    let short = Root::from_der(&sign(short, &signer(1))).unwrap();
    let ended = Err(PermitError::PeerEnded(UnixTime(BEGINS + 10)));
    assert_eq!(short.permit(&good, WITHIN, 0), ended);
    assert_eq!(short.permit(&good, UnixTime(BEGINS), 0).unwrap().ends(), UnixTime(BEGINS + 10));
    let lax = root().with_danger(Mutant::from(Some(Danger::AnyTime)));
    assert!(lax.permit(&good, UnixTime(ENDS + 1_000_000), 0).is_ok(), "an expired robot is back");
}

#[test]
fn pub_27_what_an_extension_says_counts() {
    let with = |extension: Extension| {
        let made = tbs("node", &signer(2), vec![uris(&[GROUP]), extension]);
        root().permit(&sign(made, &signer(1)), WITHIN, 0)
    };
    let unknown = ObjectIdentifier::new_unwrap("1.2.3.4");
    assert!(with(extension(unknown, false, &[5, 0])).is_ok());
    assert!(matches!(with(extension(unknown, true, &[5, 0])), Err(PermitError::WireExtensions(_))));
    assert!(matches!(with(authority()), Err(PermitError::WireExtensions(_))));
    assert!(matches!(with(uris(&[OVER])), Err(PermitError::WireExtensions(_))), "one stands twice");
    let usage = |bits: u8| extension(rfc5280::ID_CE_KEY_USAGE, true, &[3, 2, 0, bits]);
    assert!(matches!(with(usage(0x20)), Err(PermitError::WireExtensions(_))));
    // A root is one only if it says so, and has signed itself.
    let of = |made: Tbs, by| Root::from_der(&sign(made, &signer(by))).map(drop);
    let node = tbs("root", &signer(1), vec![]);
    assert!(matches!(of(node, 1), Err(PermitError::WireExtensions(_))));
    assert_eq!(of(tbs("root", &signer(1), vec![authority()]), 2), Err(PermitError::PeerIssuer));
    assert_eq!(of(tbs("other", &signer(1), vec![authority()]), 1), Err(PermitError::PeerIssuer));
}

#[test]
fn pub_28_a_member_has_one_sender_in_a_multicast_group() {
    let other = "urn:lcmsec:gkexchg:239.255.76.67:7667:channel2:5";
    assert_eq!(permit(&[GROUP, OVER, other]), Err(PermitError::PeerTwoSenders(group(), id(4), id(5))));
    let twice = "urn:lcmsec:gkexchg_g:239.255.76.67:7667:5";
    assert_eq!(permit(&[GROUP, twice]), Err(PermitError::PeerTwoSenders(group(), id(4), id(5))));
    assert_eq!(permit(&[OVER]), Err(PermitError::PeerNoGroup(domain("channel1"))));
    // In another group it may have another one.
    let elsewhere = "urn:lcmsec:gkexchg_g:239.255.76.68:7667:5";
    assert_eq!(permit(&[GROUP, OVER, elsewhere]).unwrap().rights().len(), 3);
}

#[test]
fn pub_28_two_keys_with_one_sender_are_reported() {
    let of = |number, rights: &[&str]| root().permit(&issue(number, rights), WITHIN, 0).unwrap();
    let five = "urn:lcmsec:gkexchg_g:239.255.76.67:7667:5";
    let honest = [of(2, &[GROUP, OVER]), of(3, &[five])];
    assert_eq!(duplicates(&honest), []);
    // One key may have two certificates.
    assert_eq!(duplicates([&honest[0], &of(2, &[GROUP])]), []);
    let faulty = of(4, &[GROUP]);
    let members = [signer(2), signer(4)].map(|key| key.verifying_key().member_id());
    assert_eq!(duplicates([&honest[0], &honest[1], &faulty]), [(GROUP.parse().unwrap(), members)]);
}
