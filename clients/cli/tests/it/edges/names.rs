//! Folders and files may have any name that the system allows, and files the forms in which editors
//! leave them. What is none is called what it is.

use super::says;
use crate::common::place::Place;
use crate::common::program::{call, good, program};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

/// Does it in a folder, as text and as data. Words that begin with `@` are names in the folder,
/// with a byte at their end that is no UTF-8.
fn does(folder: &Path, state: &Path, line: &str) -> Value {
    let word = |word: &str| match word.strip_prefix('@') {
        Some(name) => named(folder, name),
        None => word.into(),
    };
    let args: Vec<OsString> = line.split_whitespace().map(word).collect();
    let output = program(state).args(&args).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {:?} {said}", output.status);
    let first = String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned);
    first.map_or(Value::Null, |line| serde_json::from_str(&line).unwrap())
}

fn named(folder: &Path, name: &str) -> OsString {
    let name = [name.as_bytes(), b"\xeb"].concat();
    folder.join(OsStr::from_bytes(&name)).into_os_string()
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_as_good_as_any() {
    let place = Place::new("edge-names");
    let folder = place.path();
    let state = named(folder, "zo");
    let state = Path::new(&state);
    let told = does(folder, state, "identity new zoe --no-passphrase");
    assert!(told["key"].as_str().unwrap().contains("zo\u{fffd}"), "{told}");
    for line in [
        "identity show",
        "identity passphrase --no-passphrase",
        "man --out @pages",
        "lcm root new @root",
        "lcm certify --root @root --sender 1 --channel POSE --out @papers",
        "lcm passphrase @papers --no-passphrase",
    ] {
        does(folder, state, line);
    }
    let papers = named(folder, "papers");
    std::fs::copy(Path::new(&papers).join("member.crt"), named(folder, "member")).unwrap();
    does(folder, state, "lcm exclude @member --root @root");
    std::fs::copy(state.join("identity.pem"), named(folder, "identity")).unwrap();
    does(folder, state, "charter new solo --votes 1 --founder @identity --out @charter");
    does(folder, state, "charter sign @charter --out @signed");
    let ready = does(folder, state, "member --charter @signed --listen 127.0.0.1:0 --while-stdin");
    assert_eq!(ready["event"], "ready");
    assert!(ready["state"].as_str().unwrap().ends_with("zo\u{fffd}"), "{ready}");
}

#[test]
fn passphrases_are_read_as_editors_leave_them_and_what_is_none_is_called_what_it_is() {
    let place = Place::new("edge-passphrases");
    let (folder, state) = (place.path(), place.path().join("anna"));
    let file = |name: &str, content: &[u8]| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let marked = file("marked", "\u{feff}horse\r\nmore".as_bytes());
    good(&state, &["identity", "new", "anna", "--passphrase-file", &marked]);
    let plain = file("plain", b"horse\n");
    let wide = file("wide", b"\xff\xfeh\0o\0r\0s\0e\0");
    // A credential may be any bytes.
    let bytes = file("bytes", b"\xff\xfe\x01\0\x02\x03\0");
    good(&place.path().join("ben"), &["identity", "new", "ben", "--passphrase-file", &bytes]);
    std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    for (option, value, exit, part) in [
        ("--passphrase-file", wide, 3, "is no text in UTF-8"),
        ("--passphrase-file", path("link"), 3, "it is a link to nowhere, where nothing is"),
        ("--passphrase-file", path("socket"), 3, "it is a socket"),
        ("--passphrase-file", path("none"), 3, "no such file"),
        ("--passphrase-fd", "77".to_owned(), 2, "no file is open as number 77"),
    ] {
        let line = ["identity", "passphrase", "--no-passphrase", option, &value];
        says(&call(&state, &line), exit, &[part]);
    }
    good(&state, &["identity", "passphrase", "--no-passphrase", "--passphrase-file", &plain]);
    // The certificate is damaged, and not the key.
    std::fs::write(state.join("identity.pem"), "no certificate").unwrap();
    let line = ["charter", "sign", &file("charter.toml", b"")];
    says(&call(&state, &line), 3, &["identity.pem cannot be used", "it holds no certificate"]);
}
