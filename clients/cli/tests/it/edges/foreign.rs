//! Whatever is fed to the program, it answers in plain words: bad values to every option and
//! argument of every command, files of the wrong kind to every command that reads one, and a folder
//! in which every file is damaged in turn.

use super::{says, text};
use crate::common::commands::{self, Taken};
use crate::common::foreign::found;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, good};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// What nobody means by a value.
const BAD: [&[u8]; 5] = [b"x y\x1b[2J", b"-7", b"99999999999999999999999", b"", b"not \xff\xfe text"];

fn run(state: &Path, args: &[OsString]) -> Output {
    crate::common::program::program(state).args(args).stdin(Stdio::null()).output().unwrap()
}

/// It did not do it, and said why: one error as data, in plain words, without control characters.
#[track_caller]
fn plain(output: &Output, what: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!((1..=7).contains(&code(output)), "{what}: {} {said}", code(output));
    assert!(found(&said).is_empty(), "{what}: {:?} in {said}", found(&said));
    let last = said.lines().last().unwrap_or_default();
    let error: serde_json::Value =
        serde_json::from_str(last).unwrap_or_else(|_| panic!("{what}: no error as data: {said}"));
    let error = error["error"].as_str().unwrap().to_owned();
    assert!(error.split_whitespace().count() > 2, "{what}: it does not say what to do: {error}");
    assert!(!error.contains('\u{1b}'), "{what}: {error:?}");
    error
}

#[test]
fn no_option_answers_a_bad_value_in_foreign_words() {
    let place = Place::new("foreign-values");
    let mut tried = 0;
    for Taken { command, options, arguments } in commands::all() {
        let words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        for bad in BAD {
            let value = OsStr::from_bytes(bad);
            // The last word is wrong in any case, so that nothing is ever run.
            let end = OsString::from("--no-such-option");
            for option in &options {
                let mut given = OsString::from(format!("{option}="));
                given.push(value);
                let line = [&words[..], &[given, end.clone()]].concat();
                let output = run(place.path(), &line);
                let error = plain(&output, &format!("{command} {option} {value:?}"));
                assert_eq!(code(&output), 2, "{command} {option} {value:?}: {error}");
                let named = error.contains(option.as_str()) || error.contains("no-such-option");
                assert!(named || bad.contains(&0xff), "{command} {option}: does not name it: {error}");
                tried += 1;
            }
            if arguments {
                let line = [&words[..], &[value.to_owned(), end.clone()]].concat();
                let output = run(place.path(), &line);
                plain(&output, &format!("{command} {value:?}"));
                assert_eq!(code(&output), 2, "{command} {value:?}");
                tried += 1;
            }
        }
    }
    println!("{tried} lines");
    assert!(tried > 500, "only {tried}: are the options still in the help?");
}

/// Files of a kind that no command asks for.
fn odd_files(place: &Path) -> Vec<PathBuf> {
    let noise: Vec<u8> =
        (0..4_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let contents: [(&str, &[u8]); 8] = [
        ("empty", b""),
        ("noise", &noise),
        ("text", b"good evening\n"),
        ("json", b"{\"hello\": [1, null]}"),
        ("toml", b"name = \"x\"\nfounders = 7\n"),
        ("half.pem", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
        ("half.key", b"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"),
        ("ticket", b"folkmoot-ticket:AAAA"),
    ];
    let mut files: Vec<PathBuf> = contents
        .iter()
        .map(|(name, bytes)| {
            let file = place.join(name);
            std::fs::write(&file, bytes).unwrap();
            file
        })
        .collect();
    files.extend([place.join("nowhere"), place.to_owned(), "/dev/null".into()]);
    files
}

#[test]
fn no_file_is_answered_in_foreign_words() {
    let place = Place::new("foreign-files");
    let anna = place.path().join("anna");
    good(&anna, &["identity", "new", "anna", "--no-passphrase"]);
    place.found_with(&[&anna], Times::PATIENT, &["--votes", "1"]);
    let charter = text(&place.signed());
    let out = text(&place.path().join("out"));
    let lines: [&[&str]; 18] = [
        &["charter", "sign", "FILE"],
        &["charter", "show", "FILE"],
        &["charter", "verify", "FILE"],
        &["charter", "new", "x", "--out", &out, "--founder", "FILE"],
        &["join", "FILE", "--listen", "127.0.0.1:0"],
        &["member", "--charter", "FILE", "--listen", "127.0.0.1:0"],
        &["verify", "FILE"],
        &["verify", &charter, "FILE"],
        &["verify", "FILE", "--charter", &charter],
        &["identity", "import", "--key", "FILE", "--name", "x", "--no-passphrase"],
        &["authority", "take-over", "FILE"],
        &["authority", "take-log", "FILE"],
        &["authority", "run", "FILE", "--listen", "127.0.0.1:0"],
        &["csr", "submit", "FILE"],
        &["lcm", "gen", "FILE", "--out", &out],
        &["lcm", "certify", "--root", "FILE", "--sender", "7", "--out", &out],
        &["lcm", "certificate", "show", "FILE"],
        &["lcm", "bridge", "--secured", "FILE"],
    ];
    for (at, file) in odd_files(place.path()).iter().enumerate() {
        for line in lines {
            let args: Vec<String> = line
                .iter()
                .map(|word| if *word == "FILE" { text(file) } else { (*word).to_owned() })
                .collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            // Into a folder of its own: an import makes an identity.
            let fresh = place.path().join(format!("fresh-{at}"));
            let state = if line[1] == "import" { &fresh } else { &anna };
            let output = call(state, &args);
            if code(&output) != 0 {
                plain(&output, &format!("{args:?}"));
            }
        }
    }
}

/// Whatever of its folder is damaged, a member that starts says so.
#[test]
fn a_damaged_folder_is_told_in_plain_words() {
    let place = Place::new("foreign-folder");
    let [whole, broken] = ["whole", "broken"].map(|name| place.path().join(name));
    good(&whole, &["identity", "new", "anna", "--no-passphrase"]);
    place.found_with(&[&whole], Times::PATIENT, &["--votes", "1"]);
    let listen = ["member", "--listen", "127.0.0.1:0", "--charter"];
    let charter = text(&place.signed());
    let noise = [0x9d_u8; 300];
    for (name, bytes) in [
        ("identity.key", &noise[..]),
        ("identity.key", b""),
        ("identity.pem", &noise),
        ("identity.pem", b"-----BEGIN CERTIFICATE-----\n"),
        ("charter.cms", &noise),
        ("member.sqlite", &noise),
        ("member.sqlite", b"good evening"),
    ] {
        let _ = std::fs::remove_dir_all(&broken);
        std::fs::create_dir(&broken).unwrap();
        for file in ["identity.key", "identity.pem"] {
            std::fs::copy(whole.join(file), broken.join(file)).unwrap();
        }
        std::fs::copy(place.signed(), broken.join("charter.cms")).unwrap();
        std::fs::write(broken.join(name), bytes).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&broken, mode).unwrap();
        for line in [
            &["member", "--listen", "127.0.0.1:0"][..],
            &["identity", "show"],
            &["export", &text(&place.path().join("x"))],
        ] {
            let output = call(&broken, line);
            if code(&output) != 0 {
                plain(&output, &format!("{name}: {line:?}"));
            }
        }
    }
    // A folder that is none, and a socket that nobody can make.
    says(&call(&place.signed(), &["identity", "show"]), 3, &[]);
    let long = place.path().join("long/".repeat(30));
    good(&long, &["identity", "new", "anna", "--no-passphrase"]);
    let output = call(&long, &[&listen[..], &[&charter]].concat());
    plain(&output, "a path that is too long");
}
