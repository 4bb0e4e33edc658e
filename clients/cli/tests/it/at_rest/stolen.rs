//! A thief has a folder, and not its passphrase: nothing in it is the key, a share or a secret, in
//! any form that a search finds, and nothing runs on it. The same search finds all of them where a
//! key is open, so it can see what it looks for.
//!
//! ```text
//! anna, ben   frost: the identity key, the share of the group's key     stolen while they run, and after
//! authority   its key and the dealer's secret
//! ```

use super::{locked, phrase};
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good};
use folkmoot_base::codec;
use folkmoot_base::sealing::{Classic, OpeningKey, Sealed};
use folkmoot_base::{Secret, digest, hex, hmac_sha256};
use folkmoot_identity::{Identity, Passphrase};
use folkmoot_runtime::{StateFolder, Store};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(Secret::new(text.as_bytes().to_vec())).unwrap()
}

/// What the owner has, who knows the passphrase: by name, bytes that must be nowhere.
fn secrets(state: &Path, text: Option<&str>) -> Vec<(String, Vec<u8>)> {
    let given = text.map(passphrase);
    let identity = StateFolder::at(state).identity(given.as_ref()).unwrap();
    let pkcs8 = identity.key().to_pkcs8_der().unwrap().expose().clone();
    let seed: [u8; 32] = hmac_sha256(&pkcs8, &[b"folkmoot share seal v1"]);
    let mut all = vec![("identity key".into(), number(&pkcs8)), ("seal of shares".into(), seed.to_vec())];
    let opening = OpeningKey::<Classic>::derive(&Secret::new(seed));
    for (key, value) in Store::open(&state.join("member.sqlite")).unwrap().load().unwrap() {
        let name = match (key.table, key.key.as_ref()) {
            ("share", name) => name.to_vec(),
            ("office", what @ (b"key" | b"secret")) => digest(&[b"folkmoot office seal v1\0", what]).to_vec(),
            _ => continue,
        };
        let info = [b"folkmoot share v1".as_slice(), &name].concat();
        let plain = opening.open(&info, &codec::decode::<Sealed>(&value).unwrap()).unwrap();
        let what = format!("{} {}", key.table, hex(&key.key));
        // A share ends in its number.
        let part =
            if key.key.as_ref() == b"key" { number(&plain) } else { plain[plain.len() - 32..].to_vec() };
        all.push((what, part));
    }
    all
}

/// The secret number of a P-256 key in PKCS#8.
fn number(pkcs8: &[u8]) -> Vec<u8> {
    let before = [2, 1, 1, 4, 32];
    let at = pkcs8.windows(5).position(|part| part == before).unwrap() + 5;
    pkcs8[at..at + 32].to_vec()
}

/// Every file of a folder, also of folders in it: tables, free pages, log of writes and all.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.extend(files(&entry.path()));
        } else if kind.is_file() {
            all.push((entry.path(), std::fs::read(entry.path()).unwrap()));
        }
    }
    all
}

/// The forms in which bytes may lie in a file. Sixteen bytes are enough to find: half of a number
/// is as bad.
fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for half in secret.chunks_exact(16) {
        let backwards: Vec<u8> = half.iter().rev().copied().collect();
        all.extend([half.to_vec(), backwards]);
        all.extend([hex(half).into_bytes(), hex(half).to_uppercase().into_bytes()]);
    }
    // In base64 three bytes make four letters, so there are three ways to begin.
    for skipped in 0..3 {
        let text = base64(&secret[skipped..]);
        all.extend([text[..20].to_vec(), text.iter().map(|letter| url(*letter)).take(20).collect()]);
    }
    all
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for three in bytes.chunks_exact(3) {
        let number = three.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        out.extend([18, 12, 6, 0].map(|shift| LETTERS[(number >> shift & 63) as usize]));
    }
    out
}

fn url(letter: u8) -> u8 {
    match letter {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
    }
}

/// The names of secrets that some file has.
fn found(folder: &Path, secrets: &[(String, Vec<u8>)]) -> Vec<String> {
    // Lines of PEM are broken.
    let all: Vec<(PathBuf, Vec<u8>)> = files(folder)
        .into_iter()
        .flat_map(|(path, bytes)| {
            let joined = bytes.iter().filter(|byte| **byte != b'\n').copied().collect();
            [(path.clone(), bytes), (path, joined)]
        })
        .collect();
    let has = |form: &Vec<u8>| all.iter().any(|(_, file)| file.windows(form.len()).any(|part| part == form));
    secrets.iter().filter(|(_, secret)| forms(secret).iter().any(has)).map(|(name, _)| name.clone()).collect()
}

/// As a thief copies it, who may come while the member runs.
fn stolen(place: &Place, state: &Path, name: &str) -> PathBuf {
    let to = place.path().join(name);
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(state).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_file() && entry.file_name() != "lock" {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    to
}

/// Everything that could be tried with a folder: each says that a passphrase is missing, or wrong.
fn tried(place: &Place, folder: &Path) {
    let (at, charter) = (place.path().join("mine"), place.signed());
    let (file, charter) = (at.display().to_string(), charter.display().to_string());
    let lines: [&[&str]; 6] = [
        &["member", "--listen", "127.0.0.1:0"],
        &["chat", "--listen", "127.0.0.1:0"],
        &["join", &charter, "--at", "udp/127.0.0.1:9", "--listen", "127.0.0.1:0"],
        &["charter", "sign", &charter],
        &["identity", "passphrase", "--no-passphrase"],
        &["authority", "hand-over", &file],
    ];
    let guess = phrase(place, "a guess");
    for line in lines {
        for (more, why) in
            [(&[][..], "no passphrase was given"), (&["--passphrase-file", &guess], "does not open")]
        {
            let refused = call(folder, &[line, more].concat());
            assert_eq!(code(&refused), 3, "{line:?}: {}", complaint(&refused));
            assert!(complaint(&refused).contains(why), "{line:?}: {}", complaint(&refused));
        }
    }
    assert_eq!(code(&call(folder, &["send", "it is me"])), 4);
    assert_eq!(code(&call(folder, &["receive", "--count", "1", "--timeout", "1"])), 4);
    let bare = StateFolder::at(folder);
    assert!(bare.identity(None).is_err() && bare.identity(Some(&passphrase("a guess"))).is_err());
    let certificate = String::from_utf8(bare.read_certificate().unwrap()).unwrap();
    assert!(Identity::from_pem(&bare.read_key().unwrap(), &certificate).is_err());
}

const ANNA: &str = "correct horse battery staple";

fn member(place: &Place, name: &str, text: &str) -> Actor {
    let state = locked(place, name, text);
    let id = good(&state, &["identity", "show"])["member"].as_str().unwrap().to_owned();
    Actor::of(state, &id)
}

/// The founders share a key and sign a certificate with it, then are stolen.
#[test]
fn id_83_a_stolen_folder_signs_opens_and_reads_nothing() {
    let place = Place::new("stolen");
    let mut anna = member(&place, "anna", ANNA);
    let mut ben = Actor::new(&place, "ben");
    let file = phrase(&place, ANNA);
    let by = ["--passphrase-file", &*file];
    {
        let text = place.path().join("charter.toml").display().to_string();
        let founder = |one: &Actor| one.state.join("identity.pem").display().to_string();
        let (first, second) = (founder(&anna), founder(&ben));
        let names = ["--founder", &first, "--founder", &second];
        let line = ["charter", "new", "test", "--votes", "2", "--scheme", "frost", "--out", &text];
        anna.good(&[&line[..], &names].concat());
        let draft = std::fs::read_to_string(&text).unwrap();
        let silence = Times::PATIENT.silence_ms;
        std::fs::write(&text, format!("{draft}\n[timeouts]\nsilence_ms = {silence}\n")).unwrap();
        anna.good(&[&["charter", "sign", &text], &by[..]].concat());
        ben.good(&["charter", "sign", &text]);
    }
    anna.start(&place, &[], &by);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    let mut dora = Actor::new(&place, "dora");
    dora.start(&place, &[anna.locator.clone(), ben.locator.clone()], &["--apply"]);
    for voter in [&anna, &ben] {
        voter.until(&["vote", "approve", "dora"], |told| !told.is_null());
    }
    dora.why("anna", "present");
    assert!(anna.good(&["invite"])["ticket"].is_string(), "the member that runs has the key open");
    let text = "the treasure lies under the third oak, and nobody else knows it";
    ben.good(&["send", text, "--timeout", "30"]);
    // The new shares, made after dora came, are on the disk by then or they are not: both are
    // looked for.
    std::thread::sleep(Duration::from_secs(3));
    let running = stolen(&place, &anna.state, "stolen-running");
    anna.kill();
    let after = stolen(&place, &anna.state, "stolen-after");
    let mine = secrets(&anna.state, Some(ANNA));
    let names: Vec<&str> = mine.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.iter().any(|name| name.starts_with("share ")), "anna has no share: {names:?}");
    let all: Vec<(String, Vec<u8>)> = mine
        .into_iter()
        .chain([("message".into(), text.as_bytes()[..32].to_vec()), ("passphrase".into(), ANNA.into())])
        .collect();
    for folder in [&running, &after] {
        assert_eq!(found(folder, &all), Vec::<String>::new(), "{}", folder.display());
        tried(&place, folder);
        assert_eq!(found(folder, &all), Vec::<String>::new(), "after it was tried");
    }
    // The search sees an open key, and with the key whatever lies beside it can be opened.
    ben.kill();
    let open = secrets(&ben.state, None);
    assert_eq!(found(&ben.state, &open), ["identity key"]);
    // With the passphrase it is anna still.
    anna.start(&place, core::slice::from_ref(&dora.locator), &by);
    anna.why("dora", "present");
}

#[test]
fn id_83_a_stolen_authority_signs_and_deals_nothing() {
    let place = Place::new("office");
    let (state, file) = (place.path().join("office"), phrase(&place, ANNA));
    let line = ["authority", "new", "--group", "test", "--scheme", "ts-dsa"];
    good(&state, &[&line[..], &["--passphrase-file", &file]].concat());
    let mine = secrets(&state, Some(ANNA));
    assert_eq!(mine.len(), 4, "identity, seal, key and secret");
    let folder = stolen(&place, &state, "stolen");
    assert_eq!(found(&folder, &mine), Vec::<String>::new());
    let to = place.path().join("office.file").display().to_string();
    let refused = call(&folder, &["authority", "hand-over", &to]);
    assert!(code(&refused) == 3 && complaint(&refused).contains("no passphrase"), "{}", complaint(&refused));
    assert!(!Path::new(&to).exists());
    // What founders need of it is no secret.
    assert!(call(&folder, &["authority", "certificate"]).status.success());
    good(&folder, &["authority", "hand-over", &to, "--passphrase-file", &file]);
    // The file of a hand-over is open, and the search sees that.
    let beside = place.path().join("handed");
    std::fs::create_dir(&beside).unwrap();
    std::fs::rename(&to, beside.join("office")).unwrap();
    assert_eq!(found(&beside, &mine).len(), 2, "{:?}", found(&beside, &mine));
}
