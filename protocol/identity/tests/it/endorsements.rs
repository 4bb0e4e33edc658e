//! Certificates by others that say who a newcomer is (ID-92 to ID-96): OpenSSL is the authority
//! outside, an ordinary key is another group's. Whatever is wrong with one, it says nothing.

use crate::common::{END, START, Seed, World, person};
use crate::openssl::{Folder, accepted};
use folkmoot_base::{GroupName, UnixTime, hex};
use folkmoot_identity::{
    Charter, CharterDraft, CharterError, Endorsement, EndorsementError, Gmc, GmcBody, GroupKey, Identity,
    Recognised, Scheme, SigningKey, authority_of, certificate_from_pem,
};
use std::cell::OnceCell;

const CA: &str =
    "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n";
const PERSON: &str = "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n";

/// An authority outside, in a folder: `ca.pem`, `ca.key`; and the stranger's public key.
struct Corp {
    folder: Folder,
    world: World,
    charter: OnceCell<Charter>,
}

impl Corp {
    fn new(key: &str) -> Self {
        let (folder, world) = (Folder::new(), World::new());
        folder.put("ca.ext", CA);
        folder.put("person.ext", PERSON);
        let pem = der::pem::encode_string(
            "PUBLIC KEY",
            der::pem::LineEnding::LF,
            world.stranger.key().verifying_key().spki_der(),
        );
        folder.put("dave.pub", pem.unwrap());
        let corp = Self { folder, world, charter: OnceCell::new() };
        corp.authority("ca", key);
        corp
    }

    fn openssl(&self, line: &str) {
        accepted(&self.folder.openssl(line));
    }

    /// A key and its self-signed certificate.
    fn authority(&self, name: &str, key: &str) {
        self.openssl(&format!("genpkey -algorithm {key} -out {name}.key"));
        self.openssl(&format!("pkey -in {name}.key -pubout -out {name}.pub"));
        let from = format!("-force_pubkey {name}.pub -key {name}.key -extfile ca.ext -days 3650");
        self.openssl(&format!("x509 -new -subj /O=Example/CN=Corp {from} -out {name}.pem"));
    }

    fn der(&self, name: &str) -> Vec<u8> {
        let pem = std::fs::read_to_string(self.folder.0.join(format!("{name}.pem"))).unwrap();
        certificate_from_pem(&pem).unwrap()
    }

    /// The certificate of this subject and key by this authority, with these extensions.
    fn issue(&self, (subject, key): (&str, &str), by: &str, extensions: &str, name: &str) -> Vec<u8> {
        let from = format!("-CA {by}.pem -CAkey {by}.key -extfile {extensions} -days 30 -out {name}.pem");
        self.openssl(&format!("x509 -new -subj {subject} -force_pubkey {key}.pub {from}"));
        self.der(name)
    }

    fn charter(&self) -> &Charter {
        self.charter.get_or_init(|| {
            let (name, key) = authority_of(&self.der("ca")).unwrap();
            recognising(&self.world, &[(&name, key)])
        })
    }

    /// What these bytes say of the stranger at this time.
    fn said(&self, der: &[u8], time: UnixTime) -> Result<Endorsement, EndorsementError> {
        let endorsement = Endorsement::read(der, self.charter())?;
        endorsement.check((&self.world.stranger.member(), "dave"), time, 60)?;
        Ok(endorsement)
    }
}

fn recognising(world: &World, whom: &[(&str, GroupKey)]) -> Charter {
    let mut recognised = Recognised::default();
    whom.iter().for_each(|(name, key)| recognised.insert((*name).to_owned(), key.clone()));
    Charter::from_toml(&CharterDraft { recognised, ..world.draft() }.to_toml()).unwrap()
}

fn now() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    UnixTime(since.unwrap().as_secs())
}

const P256: &str = "EC -pkeyopt ec_paramgen_curve:P-256";

#[test]
fn id_93_a_certificate_by_whom_the_charter_recognises_says_who_a_newcomer_is() {
    for key in [P256, "ed25519", "RSA -pkeyopt rsa_keygen_bits:2048"] {
        let corp = Corp::new(key);
        let der = corp.issue(("/CN=dave", "dave"), "ca", "person.ext", "dave");
        let endorsement = corp.said(&der, now()).unwrap();
        assert_eq!((endorsement.by(), endorsement.is_member()), ("Corp", false), "{key}");
        assert!(endorsement.not_after() > now());
        // Every changed byte says nothing.
        for at in 0..der.len() {
            let mut changed = der.clone();
            changed[at] ^= 1;
            assert!(corp.said(&changed, now()).is_err(), "{key}, byte {at}");
        }
    }
}

#[test]
fn id_93_another_key_under_the_same_name_says_nothing() {
    let corp = Corp::new(P256);
    corp.authority("liar", P256);
    let forged = corp.issue(("/CN=dave", "dave"), "liar", "person.ext", "forged");
    assert_eq!(corp.said(&forged, now()), Err(EndorsementError::PeerIssuer));
    // Without the rule it would: somebody who believes the name alone takes it.
    let believes = recognising(&corp.world, &[("Corp", authority_of(&corp.der("liar")).unwrap().1)]);
    assert!(Endorsement::read(&forged, &believes).is_ok());
    // Nobody at all is recognised by most charters.
    let good = corp.issue(("/CN=dave", "dave"), "ca", "person.ext", "dave");
    assert_eq!(Endorsement::read(&good, corp.world.charter()), Err(EndorsementError::PeerIssuer));
    assert_eq!(Endorsement::read(b"", corp.charter()), Err(EndorsementError::WireMalformed));
    assert_eq!(Endorsement::read(&[0x30; 9_000], corp.charter()), Err(EndorsementError::WireMalformed));
}

/// Somebody whom the authority has certified, and who is no authority, certifies the stranger; and
/// somebody does so whom it has made an authority. Neither is named.
#[test]
fn id_93_whom_a_recognised_key_has_certified_says_nothing_of_others() {
    let corp = Corp::new(P256);
    for (number, extensions) in ["person.ext", "ca.ext"].into_iter().enumerate() {
        let between = format!("between{number}");
        corp.openssl(&format!("genpkey -algorithm {P256} -out {between}.key"));
        corp.openssl(&format!("pkey -in {between}.key -pubout -out {between}.pub"));
        corp.issue(("/CN=Corp", &between), "ca", extensions, &between);
        let leaf = corp.issue(("/CN=dave", "dave"), &between, "person.ext", "leaf");
        assert_eq!(corp.said(&leaf, now()), Err(EndorsementError::PeerIssuer), "{extensions}");
    }
}

#[test]
fn id_94_an_endorsement_is_a_persons_and_of_now() {
    let corp = Corp::new(P256);
    let issue = |extensions: &str| {
        corp.folder.put("some.ext", extensions);
        corp.said(&corp.issue(("/CN=dave", "dave"), "ca", "some.ext", "some"), now())
    };
    for extensions in [PERSON, "keyUsage=digitalSignature\n", "subjectAltName=email:dave@example.com\n"] {
        assert!(issue(extensions).is_ok(), "{extensions}");
    }
    for wrong in [
        CA,
        "basicConstraints=CA:TRUE\n",
        "keyUsage=critical,keyEncipherment\n",
        "keyUsage=digitalSignature,keyCertSign\n",
        "extendedKeyUsage=critical,serverAuth\n",
        "1.2.3.4=critical,DER:0500\n",
    ] {
        assert!(matches!(issue(wrong), Err(EndorsementError::PeerPurpose(_))), "{wrong}");
    }
    let der = corp.issue(("/CN=dave", "dave"), "ca", "person.ext", "dave");
    let (day, begun) = (86_400, now());
    for (time, holds) in [
        (begun.0 - 30, true),
        (begun.0 - 3_600, false),
        (begun.0 + 29 * day, true),
        (begun.0 + 30 * day + 30, true),
        (begun.0 + 30 * day + 3_600, false),
    ] {
        let said = corp.said(&der, UnixTime(time));
        assert_eq!(said.is_ok(), holds, "{}", time - begun.0);
        assert!(holds || matches!(said, Err(EndorsementError::PeerTerm(_))));
    }
}

#[test]
fn id_95_an_endorsement_is_of_the_key_and_the_name_that_ask() {
    let corp = Corp::new(P256);
    let mallory = person("dave", 9);
    let der = corp.issue(("/CN=dave", "dave"), "ca", "person.ext", "dave");
    let endorsement = Endorsement::read(&der, corp.charter()).unwrap();
    let check = |who: &Identity, name: &str| endorsement.check((&who.member(), name), now(), 60);
    assert_eq!(check(&corp.world.stranger, "dave"), Ok(()));
    assert_eq!(check(&mallory, "dave"), Err(EndorsementError::PeerHolder));
    for alike in ["Dave", "d\u{430}ve", "dave ", "dav\u{e9}", ""] {
        assert_eq!(check(&corp.world.stranger, alike), Err(EndorsementError::PeerName), "{alike:?}");
    }
    // The name is the one common name; an organisation's is none.
    for subject in ["/CN=dave/CN=mallory", "/O=dave", "/CN=mallory/O=dave"] {
        let der = corp.issue((subject, "dave"), "ca", "person.ext", "other");
        assert_eq!(corp.said(&der, now()), Err(EndorsementError::PeerName), "{subject}");
    }
    let der = corp.issue(("/C=NL/O=Example/CN=dave", "dave"), "ca", "person.ext", "more");
    assert!(corp.said(&der, now()).is_ok());
    // A key that no member can have.
    corp.openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.key");
    corp.openssl("pkey -in p384.key -pubout -out p384.pub");
    let der = corp.issue(("/CN=dave", "p384"), "ca", "person.ext", "p384");
    assert_eq!(corp.said(&der, now()), Err(EndorsementError::PeerHolder));
}

/// A group with a key of its own, and the certificate of the stranger's membership there.
fn elsewhere(name: &str, who: &Identity, key: &SigningKey) -> Vec<u8> {
    let founders: Vec<_> = (20..23).map(|seed| person(&format!("p{seed}"), seed)).collect();
    let named = founders.iter().map(|founder| founder.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new(name).unwrap(), 2, named, &mut Seed(98 << 32));
    let charter = Charter::from_toml(&CharterDraft { scheme: Scheme::TsDsa, ..draft }.to_toml()).unwrap();
    let body = GmcBody::propose(&charter, who, 3, START, &mut Seed(5 << 32)).issued_under([3; 32]);
    let public = group_key(key);
    let signature = key.sign_raw(&body.issued_tbs(&public).unwrap()).to_paper();
    Gmc::issue_by_group(&body, &public, &signature).unwrap().der().to_vec()
}

fn group_key(key: &SigningKey) -> GroupKey {
    GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap()
}

#[test]
fn id_96_a_membership_certificate_of_another_group_says_who_a_newcomer_is() {
    let (world, key) = (World::new(), SigningKey::generate(&mut Seed(7 << 32)));
    let (dave, later) = (&world.stranger, UnixTime(START.0 + 86_400));
    let chess = recognising(&world, &[("chess club", group_key(&key))]);
    let der = elsewhere("chess club", dave, &key);
    let endorsement = Endorsement::read(&der, &chess).unwrap();
    endorsement.check((&dave.member(), "dave"), later, 60).unwrap();
    assert_eq!((endorsement.by(), endorsement.is_member()), ("chess club", true));
    // For another key; after its term; and the same key's word for another group.
    assert_eq!(
        endorsement.check((&person("dave", 9).member(), "dave"), later, 60),
        Err(EndorsementError::PeerHolder)
    );
    let ended = endorsement.check((&dave.member(), "dave"), END, 60);
    assert!(matches!(ended, Err(EndorsementError::PeerTerm(_))));
    let go = elsewhere("go club", dave, &key);
    assert_eq!(Endorsement::read(&go, &chess), Err(EndorsementError::PeerMembership));
    // Another group of the same name, with a key of its own.
    let other = SigningKey::generate(&mut Seed(70 << 32));
    let forged = elsewhere("chess club", dave, &other);
    assert_eq!(Endorsement::read(&forged, &chess), Err(EndorsementError::PeerIssuer));
    // A certificate that its holder has signed is nobody's word but its own.
    let own = recognising(&world, &[("book club", group_key(dave.key()))]);
    assert_eq!(Endorsement::read(world.gmc().der(), &own), Err(EndorsementError::PeerMembership));
}

/// The authority of a charter's own form, as `export` writes it, can be recognised.
#[test]
fn id_92_a_groups_key_and_an_authority_are_recognised_by_their_certificates() {
    let (_, certificate) = crate::common::authority("chess club");
    let (name, key) = authority_of(certificate.der()).unwrap();
    assert_eq!((name.as_str(), &key), ("chess club", certificate.key()));
    let world = World::new();
    for wrong in [world.stranger.certificate().der(), world.gmc().der()] {
        assert!(authority_of(wrong).unwrap_err().contains("CA:TRUE"));
    }
    // No charter takes such a key.
    let corp = Corp::new("EC -pkeyopt ec_paramgen_curve:P-384");
    let why = authority_of(&corp.der("ca")).unwrap_err();
    assert!(why.contains("P-256"), "{why}");
}

#[test]
fn id_92_a_charter_recognises_at_most_eight_each_by_a_key_of_its_own() {
    let world = World::new();
    let key = |seed: u64| group_key(&SigningKey::generate(&mut Seed(seed << 32)));
    let text = |whom: &[(String, u64)]| {
        let mut recognised = Recognised::default();
        whom.iter().for_each(|(name, seed)| recognised.insert(name.clone(), key(*seed)));
        Charter::from_toml(&CharterDraft { recognised, ..world.draft() }.to_toml())
    };
    let many = |count: u64| (0..count).map(|one| (format!("group {one}"), 100 + one)).collect::<Vec<_>>();
    assert_eq!(text(&many(8)).unwrap().recognised().iter().count(), 8);
    let refused = |whom: &[(String, u64)]| {
        let Err(CharterError::WireValue { key: "recognised", reason }) = text(whom) else {
            panic!("{whom:?}");
        };
        reason
    };
    assert!(refused(&many(9)).contains("at most 8"));
    assert!(refused(&[("a".into(), 1), ("b".into(), 1)]).contains("a key of its own"));
    for name in ["", "a\u{7}b", &"n".repeat(65)] {
        assert!(refused(&[(name.to_owned(), 1)]).contains("a name must have"), "{name:?}");
    }
    let charter = text(&many(1)).unwrap();
    let word = hex(key(50).spki_der());
    let next = charter.with_change("recognised.Example Corp", &word).unwrap();
    assert_eq!(next.recognised().iter().count(), 2);
    assert_eq!(next.group(), charter.group());
    let taken = next.with_change("recognised.group 0", "none").unwrap();
    assert_eq!(taken.recognised().iter().map(|(name, _)| name).collect::<Vec<_>>(), ["Example Corp"]);
    for wrong in ["", "3059", &word.to_uppercase(), &format!("{word}00")] {
        assert!(charter.with_change("recognised.Example Corp", wrong).is_err(), "{wrong}");
    }
    assert!(charter.with_change("recognised.", &word).is_err());
    assert!(next.with_change("recognised.other", &word).is_err(), "the same key under another name");
}
