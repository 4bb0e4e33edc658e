//! One who has but OpenSSL: its CSR is handed in, voted on, certified by the group's key; OpenSSL
//! verifies the certificate, and the holder of the key comes in as a member at once. Where the
//! holder signs its certificate itself, the key is imported and asks.

use crate::common::actor::Actor;
use crate::common::openssl::openssl;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good, program};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

/// The exit codes of docs/cli.md.
const CONFIGURATION: i32 = 3;
const REFUSED: i32 = 5;
const TIMED_OUT: i32 = 6;

/// A key `NAME.key` and a CSR `NAME.csr`, of OpenSSL.
fn asks(place: &Place, name: &str) {
    let key = format!("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {name}.key");
    let csr = format!("req -new -key {name}.key -subj /CN={name} -out {name}.csr");
    for line in [key, csr] {
        let (done, said) = openssl(place.path(), &line);
        assert!(done, "{said}");
    }
}

fn file(place: &Place, name: &str) -> String {
    place.path().join(name).display().to_string()
}

fn founded(place: &Place, scheme: &str) -> [Actor; 2] {
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(place, name));
    let founders = [&anna, &ben].map(|one| one.state.as_path());
    place.found_with(&founders, Times::PATIENT, &["--scheme", scheme, "--objections", "2"]);
    anna.start(place, &[], &[]);
    ben.start(place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    [anna, ben]
}

/// An identity of the key that OpenSSL drew, in a folder of its own.
fn import(place: &Place, name: &str) -> Actor {
    let state: PathBuf = place.path().join(name);
    let made = good(
        &state,
        &[
            "identity",
            "import",
            "--key",
            &file(place, &format!("{name}.key")),
            "--name",
            name,
            "--no-passphrase",
        ],
    );
    let again = call(
        &state,
        &[
            "identity",
            "import",
            "--key",
            &file(place, &format!("{name}.key")),
            "--name",
            name,
            "--no-passphrase",
        ],
    );
    assert_eq!(code(&again), CONFIGURATION, "a key is never overwritten");
    Actor::of(state, made["member"].as_str().unwrap())
}

#[test]
fn who_has_but_openssl_is_admitted_by_its_csr_and_comes_in_with_its_key() {
    let place = Place::new("csr");
    let [anna, mut ben] = founded(&place, "frost");
    asks(&place, "erik");
    let (csr, out) = (file(&place, "erik.csr"), file(&place, "erik.pem"));
    let submitted = anna.good(&["csr", "submit", &csr]);
    let request = submitted["request"].as_str().unwrap().to_owned();
    let listed = ben.until(&["vote", "list"], |told| told[0]["name"] == "erik");
    assert_eq!(
        (listed[0]["subject"].as_str(), listed[0]["kind"].as_str()),
        (Some(&*request), Some("request"))
    );
    assert_eq!(listed[0]["sponsor"], "anna");
    // Handed in at another member, it is the same request still.
    assert_eq!(ben.good(&["csr", "submit", &csr])["request"], request.as_str());
    let early = anna.run(&["csr", "fetch", &csr, "--timeout", "0"]);
    assert_eq!(code(&early), TIMED_OUT, "{}", complaint(&early));
    let mut waits = program(&ben.state);
    let waits = waits.args(["csr", "submit", &csr, "--out", &file(&place, "waited.pem"), "--timeout", "60"]);
    let mut waits = waits.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(waits.stdout.as_mut().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains(&request), "it is taken before anybody votes: {told}");
    for voter in [&anna, &ben] {
        voter.good(&["vote", "approve", "erik"]);
    }
    anna.good(&["csr", "fetch", &csr, "--out", &out, "--timeout", "60"]);
    assert!(waits.wait_with_output().unwrap().status.success());
    assert_eq!(std::fs::read(place.path().join("waited.pem")).unwrap(), std::fs::read(&out).unwrap());
    let again = anna.run(&["csr", "submit", &csr]);
    assert!(code(&again) == REFUSED && complaint(&again).contains("used before"), "{}", complaint(&again));

    ben.kill();
    ben.good(&["export", &file(&place, "evidence")]);
    std::fs::copy(place.path().join("evidence/authority.pem"), place.path().join("authority.pem")).unwrap();
    let (stands, said) =
        openssl(place.path(), "verify -x509_strict -check_ss_sig -CAfile authority.pem erik.pem");
    assert!(stands, "{said}");
    let (_, subject) = openssl(place.path(), "x509 -in erik.pem -noout -subject -issuer");
    assert!(subject.contains("CN = erik") && subject.contains("CN = test"), "{subject}");
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");

    let erik = import(&place, "erik");
    assert_eq!(submitted["member"], erik.id.as_str());
    is_heard(&place, &erik, &anna, &ben, || {});
    assert_eq!(anna.good(&["vote", "list"]), serde_json::json!([]), "nobody had to vote again");
}

#[test]
fn a_csr_that_was_refused_for_good_is_not_heard_again() {
    let place = Place::new("csr-refused");
    let [anna, ben] = founded(&place, "frost");
    asks(&place, "mallory");
    let csr = file(&place, "mallory.csr");
    anna.good(&["csr", "submit", &csr]);
    anna.good(&["vote", "reject", "mallory"]);
    ben.until(&["vote", "reject", "mallory"], |told| !told.is_null());
    for member in [&anna, &ben] {
        member.until(&["vote", "list"], |told| told.as_array().is_some_and(Vec::is_empty));
        let again = member.run(&["csr", "submit", &csr]);
        assert!(
            code(&again) == REFUSED && complaint(&again).contains("refused for good"),
            "{}",
            complaint(&again)
        );
    }
    let never = anna.run(&["csr", "fetch", &csr]);
    assert_eq!(code(&never), REFUSED, "{}", complaint(&never));
    // The same key under a new CSR is heard: it is a new wish.
    let (made, said) = openssl(place.path(), "req -new -key mallory.key -subj /CN=mallory -out anew.csr");
    assert!(made, "{said}");
    anna.good(&["csr", "submit", &file(&place, "anew.csr")]);
}

#[test]
fn where_the_holder_signs_a_csr_is_refused_at_the_door_and_the_key_asks_itself() {
    let place = Place::new("csr-plain");
    let [anna, ben] = founded(&place, "plain");
    asks(&place, "erik");
    let refused = anna.run(&["csr", "submit", &file(&place, "erik.csr")]);
    let why = "in this group, holders sign such certificates themselves. Import the key";
    assert!(code(&refused) == REFUSED && complaint(&refused).contains(why), "{}", complaint(&refused));
    let erik = import(&place, "erik");
    is_heard(&place, &erik, &anna, &ben, || {
        for voter in [&anna, &ben] {
            voter.until(&["vote", "approve", "erik"], |told| !told.is_null());
        }
    });
}

/// It joins through `contact`, and what it types once it shares a view is heard by `hearer`.
fn is_heard(place: &Place, who: &Actor, contact: &Actor, hearer: &Actor, vote: impl FnOnce()) {
    let mut hears = program(&hearer.state);
    let hears = hears.args(["receive", "--count", "1", "--timeout", "60"]).stdout(Stdio::piped());
    let hears = hears.stdin(Stdio::null()).spawn().unwrap();
    let mut talk = who.talk(place, "join", &contact.locator);
    vote();
    hearer.why("erik", "present");
    talk.types("good evening");
    let heard = hears.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&heard.stdout).into_owned();
    assert!(heard.status.success() && told.contains("good evening") && told.contains("erik"), "{told}");
    talk.closes();
    let end = talk.end();
    assert!(end.status.success(), "{}", String::from_utf8_lossy(&end.stderr));
}

#[test]
fn what_is_no_csr_or_key_of_ours_is_refused_and_says_why() {
    let place = Place::new("csr-wrong");
    let anna = Actor::new(&place, "anna");
    let lines = [
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out rsa.key",
        "req -new -key rsa.key -subj /CN=rsa -out rsa.csr",
        "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out p256.key",
        "pkey -in p256.key -aes256 -passout pass:secret -out locked.key",
    ];
    for line in lines {
        let (done, said) = openssl(place.path(), line);
        assert!(done, "{said}");
    }
    let refused = anna.run(&["csr", "submit", &file(&place, "rsa.csr")]);
    assert!(
        code(&refused) == CONFIGURATION && complaint(&refused).contains("a member cannot have the CSR's key"),
        "{}",
        complaint(&refused)
    );
    let missing = anna.run(&["csr", "submit", &file(&place, "none.csr")]);
    assert_eq!(code(&missing), CONFIGURATION);
    let state = place.path().join("nobody");
    for (key, why) in [
        ("rsa.key", "a member cannot have such a key"),
        ("locked.key", "encrypted"),
        ("rsa.csr", "no private key"),
    ] {
        let refused = call(
            &state,
            &["identity", "import", "--key", &file(&place, key), "--name", "x", "--no-passphrase"],
        );
        assert!(
            code(&refused) == CONFIGURATION && complaint(&refused).contains(why),
            "{}",
            complaint(&refused)
        );
        assert!(!state.join("identity.key").exists());
    }
    let refused = call(
        &state,
        &["identity", "import", "--key", &file(&place, "p256.key"), "--name", "", "--no-passphrase"],
    );
    assert_eq!(code(&refused), 2, "{}", complaint(&refused));
}
