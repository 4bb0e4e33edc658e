//! The papers of real groups, as other software reads them; here OpenSSL. Schemes with shares and
//! without, each with an authority and without:
//!
//! ```text
//! found   anna, ben, cleo      admit   dora, who asks by herself; erik, by CSR where a key of the group or an authority signs
//! sign    a message each of anna and dora                     expel   dora, so that such a key signs a list
//! export  what ben's transcript holds; beside it the messages, the CSRs, and the private keys, open and under a passphrase
//! ```
//! With `FOLKMOOT_PAPERS=FOLDER` they are kept there, in a folder for each group:
//! `testing/papers/check.py` hands them to GnuTLS, Python and pkilint.

use crate::common::actor::Actor;
use crate::common::openssl::openssl;
use crate::common::place::{Place, Times};
use crate::proof::passed_on;
use crate::revoked::list_of;
use folkmoot_base::{Entropy, Secret};
use folkmoot_identity::{Csr, Identity, Passphrase};
use std::path::{Path, PathBuf};

/// Whether a key of the group, or its authority's, signs certificates; otherwise their holders do.
fn is_issued(scheme: &str, centralised: bool) -> bool {
    centralised || has_shares(scheme)
}

/// Whether the group's key is shared, and with an authority has a dealer.
fn has_shares(scheme: &str) -> bool {
    !["plain", "asm"].contains(&scheme)
}

/// Which keys the people of a group have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// All on P-256.
    P256,
    /// One of each algorithm.
    Mixed,
}

impl Keys {
    fn word(self) -> &'static str {
        if self == Self::Mixed { "-mixed" } else { "" }
    }

    /// The algorithm of this person's key. OpenSSL 3.0 verifies no CMS that Ed25519 signed, so
    /// where keys are mixed it is dora who has such a key: she signs one message, and votes on
    /// nothing.
    fn of(self, name: &str) -> &'static str {
        match name {
            "ben" if self == Self::Mixed => "rsa-2048",
            "cleo" if self == Self::Mixed => "rsa-3072",
            "dora" if self == Self::Mixed => "ed25519",
            _ => "p256",
        }
    }

    /// How OpenSSL draws erik's.
    fn drawn(self) -> &'static str {
        match self {
            Self::P256 => "EC -pkeyopt ec_paramgen_curve:P-256",
            Self::Mixed => "RSA -pkeyopt rsa_keygen_bits:3072",
        }
    }
}

struct Group {
    place: Place,
    members: [Actor; 3],
    authority: Option<Actor>,
    keys: Keys,
}

impl Group {
    fn found(scheme: &str, centralised: bool, keys: Keys) -> Self {
        let place = Place::new(&format!("papers-{scheme}-{centralised}{}", keys.word()));
        let members = ["anna", "ben", "cleo"].map(|name| Actor::with(&place, name, keys.of(name)));
        let authority = centralised.then(|| Actor::authority(&place, "authority", scheme));
        let state = authority.as_ref().map(|one| one.state.display().to_string());
        let mut rules = vec!["--scheme", scheme];
        if let Some(state) = &state {
            rules.extend(["--mode", "centralised", "--authority", state]);
            if has_shares(scheme) {
                rules.extend(["--dealer", "keeps"]);
            }
        }
        if keys == Keys::Mixed {
            rules.extend(
                ["p256", "ed25519", "rsa-2048", "rsa-3072"].iter().flat_map(|one| ["--algorithm", one]),
            );
        }
        let folders: Vec<_> = members.iter().map(|one| one.state.as_path()).collect();
        place.found_with(&folders, Times::PATIENT, &rules);
        let mut group = Self { place, members, authority, keys };
        let mut at: Vec<String> = Vec::new();
        for one in group.members.iter_mut().chain(&mut group.authority) {
            one.start(&group.place, &at, &[]);
            at = vec![at.first().unwrap_or(&one.locator).clone()];
        }
        for one in ["ben", "cleo"] {
            group.members[0].why(one, "present");
        }
        group
    }

    fn approve(&self, name: &str) {
        for voter in self.members.iter().take(2) {
            voter.until(&["vote", "approve", name], |told| !told.is_null());
        }
    }

    /// Everything that the group has signed, in one folder.
    fn papers(mut self, issued: bool) -> (Place, PathBuf) {
        let at: Vec<String> = self.members.iter().map(|one| one.locator.clone()).collect();
        let mut dora = Actor::with(&self.place, "dora", self.keys.of("dora"));
        dora.start(&self.place, &at, &["--apply"]);
        self.approve("dora");
        self.members[1].why("dora", "present");
        let csr = self.request();
        if issued {
            self.members[0].good(&["csr", "submit", &csr.display().to_string()]);
            self.approve("erik");
            self.members[0].good(&["csr", "fetch", &csr.display().to_string(), "--timeout", "60"]);
        }
        let [anna, ben, _] = &mut self.members;
        let (by_anna, _) = passed_on(&self.place, anna, ben, "from anna", &["--sign"]);
        let (by_dora, _) = passed_on(&self.place, &dora, ben, "from dora", &["--sign"]);
        anna.good(&["expel", "dora"]);
        ben.until(&["vote", "approve", "expel", "dora"], |told| !told.is_null());
        ben.why("dora", "expelled");
        let papers = if issued {
            list_of(&self.place, ben, &anna.locator)
        } else {
            ben.kill();
            let papers = self.place.path().join("evidence");
            ben.good(&["export", &papers.display().to_string()]);
            papers
        };
        std::fs::create_dir(papers.join("messages")).unwrap();
        for (name, file) in [("anna.cms", by_anna), ("dora.cms", by_dora)] {
            std::fs::copy(file, papers.join("messages").join(name)).unwrap();
        }
        requests(&self.place, &papers.join("requests"));
        private_keys(&self.place, &papers.join("keys"));
        (self.place, papers)
    }

    /// The CSR that OpenSSL makes for erik.
    fn request(&self) -> PathBuf {
        let drawn = self.keys.drawn();
        accepted(self.place.path(), &format!("genpkey -algorithm {drawn} -out erik.key"));
        accepted(self.place.path(), "req -new -key erik.key -subj /CN=erik -out erik.csr");
        self.place.path().join("erik.csr")
    }
}

/// The two CSRs that there can be, in the one form in which a group keeps them: OpenSSL's, with the
/// lower s of its signature, and one that this library signs.
fn requests(place: &Place, to: &Path) {
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let anna = Identity::from_pem(&read("anna/identity.key"), &read("anna/identity.pem")).unwrap();
    let made = [Csr::read(read("erik.csr").as_bytes()).unwrap(), Csr::sign(anna.key(), "anna").unwrap()];
    std::fs::create_dir(to).unwrap();
    for csr in made {
        std::fs::write(to.join(format!("{}.der", csr.name())), csr.der()).unwrap();
    }
}

/// What the keys are sealed under; testing/papers/papers.py knows it, too.
const PASSPHRASE: &str = "papers";

/// The same salt for all: the form is what is looked at.
struct Sevens;

impl Entropy for Sevens {
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// The key of each person that the program has drawn, open and sealed.
fn private_keys(place: &Place, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for name in ["anna", "ben", "cleo", "dora"] {
        let read = |file: &str| std::fs::read_to_string(place.path().join(name).join(file)).unwrap();
        let identity = Identity::from_pem(&read("identity.key"), &read("identity.pem")).unwrap();
        let passphrase = Passphrase::new(Secret::new(PASSPHRASE.into())).unwrap();
        let sealed = identity.sealed_key_pem(&passphrase, &mut Sevens).unwrap();
        std::fs::write(to.join(format!("{name}-open.pem")), identity.key_pem().unwrap().expose()).unwrap();
        std::fs::write(to.join(format!("{name}-sealed.pem")), sealed).unwrap();
    }
}

fn accepted(folder: &Path, line: &str) -> String {
    let (good, said) = openssl(folder, line);
    assert!(good, "openssl {line}: {said}");
    said
}

/// The files in a folder of the papers that end like this, by their paths within the papers.
fn files(papers: &Path, folder: &str, end: &str) -> Vec<String> {
    let names = std::fs::read_dir(papers.join(folder)).unwrap();
    let names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> =
        names.filter(|name| name.ends_with(end)).map(|name| format!("{folder}/{name}")).collect();
    found.sort();
    found
}

/// OpenSSL verifies every paper.
fn judge(papers: &Path, issued: bool, keys: Keys) {
    const STRICT: &str = "verify -x509_strict -check_ss_sig";
    let cms = |file: &str, authority: &str| {
        let line = format!("cms -verify -inform DER -in {file} -CAfile {authority} -binary -out content");
        assert!(accepted(papers, &line).contains("Verification successful"), "{file}");
    };
    accepted(papers, &format!("{STRICT} -CAfile identities.pem identities.pem"));
    cms("charter.cms", "identities.pem");
    let votes = files(papers, "votes", ".cms");
    votes.iter().for_each(|vote| cms(vote, "identities.pem"));
    let certificates = files(papers, "certificates", ".pem");
    let of = |name: &str| certificates.iter().find(|file| file.contains(&format!("/{name}-")));
    assert_eq!(certificates.len(), 1 + usize::from(issued), "{certificates:?}");
    cms("messages/anna.cms", "identities.pem");
    let dora = of("dora").unwrap();
    if issued {
        accepted(papers, &format!("{STRICT} -CAfile authority.pem authority.pem"));
        let revoking = format!("{STRICT} -crl_check -CAfile authority.pem -CRLfile revoked.pem");
        accepted(papers, &format!("{revoking} {}", of("erik").unwrap()));
        let (stands, said) = openssl(papers, &format!("{revoking} {dora}"));
        assert!(!stands && said.contains("error 23"), "{said}");
        let said = accepted(papers, "crl -inform DER -in revoked.crl -noout -text -CAfile authority.pem");
        assert!(said.contains("verify OK"), "{said}");
    } else {
        assert!(!papers.join("authority.pem").exists() && !papers.join("revoked.crl").exists());
    }
    let authority = if issued { "authority.pem" } else { dora };
    accepted(papers, &format!("{STRICT} -CAfile {authority} {dora}"));
    if keys == Keys::P256 {
        cms("messages/dora.cms", authority);
    } else {
        by_ed25519(papers, dora);
    }
    for request in files(papers, "requests", ".der") {
        let said = accepted(papers, &format!("req -inform DER -in {request} -verify -noout"));
        assert!(said.contains("verify OK"), "{said}");
    }
    for key in files(papers, "keys", ".pem") {
        let said = accepted(papers, &format!("pkey -in {key} -passin pass:{PASSPHRASE} -check -noout"));
        assert!(said.contains("Key is valid"), "{said}");
    }
    std::fs::remove_file(papers.join("content")).unwrap();
}

/// OpenSSL 3.0 reads a CMS that Ed25519 signed (RFC 8419), and verifies none. So it is shown the
/// signed attributes and the signature, as they stand in the file.
fn by_ed25519(papers: &Path, dora: &str) {
    let said = accepted(papers, "cms -cmsout -print -inform DER -in messages/dora.cms");
    assert!(said.contains("algorithm: sha512") && said.contains("algorithm: ED25519"), "{said}");
    let der = std::fs::read(papers.join("messages/dora.cms")).unwrap();
    // [0] of 107 bytes that begins with the content type; the signature is the end of the file.
    let at = der.windows(4).rposition(|part| part == [0xa0, 0x6b, 0x30, 0x18]).unwrap();
    let mut attributes = der[at..at + 109].to_vec();
    attributes[0] = 0x31;
    std::fs::write(papers.join("attributes"), attributes).unwrap();
    std::fs::write(papers.join("signature"), &der[der.len() - 64..]).unwrap();
    accepted(
        papers,
        &format!("pkeyutl -verify -rawin -certin -inkey {dora} -in attributes -sigfile signature"),
    );
    for name in ["attributes", "signature"] {
        std::fs::remove_file(papers.join(name)).unwrap();
    }
}

/// Copies all files of a folder.
fn keep(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let (source, target) = (file.path(), to.join(file.file_name()));
        if source.is_dir() {
            keep(&source, &target);
        } else {
            std::fs::copy(source, target).unwrap();
        }
    }
}

/// Both groups of this scheme; their papers are kept if a folder is named. Only a dealer makes
/// shares of shoup-rsa.
fn run(scheme: &str, keys: Keys) {
    for centralised in [false, true].into_iter().filter(|mode| *mode || scheme != "shoup-rsa") {
        let issued = is_issued(scheme, centralised);
        let (place, papers) = Group::found(scheme, centralised, keys).papers(issued);
        judge(&papers, issued, keys);
        if let Some(kept) = std::env::var_os("FOLKMOOT_PAPERS") {
            let mode = if centralised { "centralised" } else { "decentralised" };
            keep(&papers, &Path::new(&kept).join(format!("{scheme}-{mode}{}", keys.word())));
        }
        drop(place);
    }
}

#[test]
fn openssl_reads_the_papers_of_plain() {
    run("plain", Keys::P256);
}

#[test]
fn openssl_reads_the_papers_of_asm() {
    run("asm", Keys::P256);
}

#[test]
fn openssl_reads_the_papers_of_frost() {
    run("frost", Keys::P256);
}

#[test]
fn openssl_reads_the_papers_of_ts_dsa() {
    run("ts-dsa", Keys::P256);
}

#[test]
fn openssl_reads_the_papers_of_shoup_rsa() {
    run("shoup-rsa", Keys::P256);
}

/// Keys of all algorithms in one group, for each scheme that takes them: with asm all keys are of
/// P-256 (ID-73).
#[test]
fn openssl_reads_the_papers_of_plain_with_keys_of_all_algorithms() {
    run("plain", Keys::Mixed);
}

#[test]
fn openssl_reads_the_papers_of_frost_with_keys_of_all_algorithms() {
    run("frost", Keys::Mixed);
}

#[test]
fn openssl_reads_the_papers_of_ts_dsa_with_keys_of_all_algorithms() {
    run("ts-dsa", Keys::Mixed);
}

#[test]
fn openssl_reads_the_papers_of_shoup_rsa_with_keys_of_all_algorithms() {
    run("shoup-rsa", Keys::Mixed);
}
