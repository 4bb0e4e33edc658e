//! Keys at rest: made, opened and changed under a passphrase, by everything that can be told one.
//!
//! ```text
//! mod        files, descriptors, credentials; what is refused; a change that is killed
//! typed      the same at a terminal
//! service    a member as systemd starts one
//! stolen     what a thief has of a folder without its passphrase
//! ```

mod service;
mod stolen;
mod typed;

use crate::common::openssl::openssl;
use crate::common::place::Place;
use crate::common::program::{call, code, complaint, good, program};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// A passphrase in a file beside the folders.
pub(crate) fn phrase(place: &Place, text: &str) -> String {
    let file = place.path().join(format!("{}.phrase", text.replace(' ', "-")));
    let mut open =
        std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&file).unwrap();
    writeln!(open, "{text}").unwrap();
    file.display().to_string()
}

/// A folder whose key is under this passphrase.
pub(crate) fn locked(place: &Place, name: &str, text: &str) -> PathBuf {
    let state = place.path().join(name);
    let made = good(&state, &["identity", "new", name, "--passphrase-file", &phrase(place, text)]);
    assert_eq!(made["encrypted"], true);
    state
}

/// Something that needs the key: signs the charter that is in the place.
fn signs(state: &Path, more: &[&str]) -> Output {
    let text = state.parent().unwrap().join("charter.toml");
    let _ = std::fs::remove_file(text.with_extension("cms"));
    call(state, &[&["charter", "sign", text.to_str().unwrap()], more].concat())
}

fn draft(place: &Place, founder: &Path) {
    let (text, file) = (place.path().join("charter.toml"), founder.join("identity.pem"));
    let (text, file) = (text.to_str().unwrap(), file.to_str().unwrap());
    good(founder, &["charter", "new", "club", "--votes", "1", "--founder", file, "--out", text]);
}

fn key(state: &Path) -> String {
    std::fs::read_to_string(state.join("identity.key")).unwrap()
}

#[test]
fn id_84_a_passphrase_comes_by_file_descriptor_or_credential() {
    let place = Place::new("by");
    let anna = locked(&place, "anna", "correct horse");
    draft(&place, &anna);
    assert!(key(&anna).starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    let file = phrase(&place, "correct horse");
    assert!(signs(&anna, &["--passphrase-file", &file]).status.success());
    // A pipe, of which one line is taken.
    let line = ["charter", "show", "--passphrase-fd", "0"];
    let text = place.path().join("charter.toml");
    for typed in ["correct horse\n", "correct horse", "correct horse\r\n", "correct horse\nmore\n"] {
        let _ = std::fs::remove_file(text.with_extension("cms"));
        let mut child = program(&anna)
            .args(["charter", "sign", text.to_str().unwrap(), line[2], line[3]])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{typed:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let given = place.path().join("credentials");
    std::fs::create_dir(&given).unwrap();
    std::fs::copy(&file, given.join("folkmoot-passphrase")).unwrap();
    let _ = std::fs::remove_file(text.with_extension("cms"));
    let by_credential = program(&anna)
        .args(["charter", "sign", text.to_str().unwrap()])
        .env("CREDENTIALS_DIRECTORY", &given)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(by_credential.status.success(), "{}", String::from_utf8_lossy(&by_credential.stderr));
    let both = signs(&anna, &["--passphrase-file", &file, "--passphrase-fd", "0"]);
    assert_eq!(code(&both), 2, "{}", complaint(&both));
}

#[test]
fn id_84_a_key_is_left_unencrypted_by_name_only() {
    let place = Place::new("name");
    let state = |name: &str| place.path().join(name);
    let refused = call(&state("anna"), &["identity", "new", "anna"]);
    assert_eq!(code(&refused), 2);
    let why = complaint(&refused);
    assert!(why.contains("--passphrase-file") && why.contains("--no-passphrase"), "{why}");
    assert!(!state("anna").exists(), "nothing was made");
    let open = good(&state("ben"), &["identity", "new", "ben", "--no-passphrase"]);
    assert_eq!(open["encrypted"], false);
    assert!(key(&state("ben")).starts_with("-----BEGIN PRIVATE KEY-----"));
    let file = phrase(&place, "x");
    let both =
        call(&state("cleo"), &["identity", "new", "cleo", "--no-passphrase", "--passphrase-file", &file]);
    assert_eq!(code(&both), 2);
    std::fs::write(&file, "\n").unwrap();
    let empty = call(&state("cleo"), &["identity", "new", "cleo", "--passphrase-file", &file]);
    assert!(code(&empty) == 3 && complaint(&empty).contains("empty"), "{}", complaint(&empty));
    std::fs::write(&file, "x".repeat(2_000)).unwrap();
    let long = call(&state("cleo"), &["identity", "new", "cleo", "--passphrase-file", &file]);
    assert!(code(&long) == 3 && complaint(&long).contains("1024"), "{}", complaint(&long));
    let _ = std::os::unix::fs::symlink(&file, place.path().join("link"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let exposed = call(&state("cleo"), &["identity", "new", "cleo", "--passphrase-file", &file]);
    assert!(code(&exposed) == 3 && complaint(&exposed).contains("chmod 600"), "{}", complaint(&exposed));
    assert!(!state("cleo").exists());
    let seat = call(&state("seat"), &["authority", "new", "--group", "club"]);
    assert!(code(&seat) == 2 && complaint(&seat).contains("--no-passphrase"), "{}", complaint(&seat));
}

#[test]
fn id_81_a_wrong_passphrase_is_told_as_such_with_the_way_back() {
    let place = Place::new("wrong");
    let anna = locked(&place, "anna", "correct horse");
    draft(&place, &anna);
    let mut told = Vec::new();
    for wrong in ["correct hors", "correct horsf", "Correct horse", "battery staple", "x"] {
        let refused = signs(&anna, &["--passphrase-file", &phrase(&place, wrong)]);
        assert_eq!(code(&refused), 3);
        told.push(complaint(&refused));
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    for part in ["forgotten", "identity new", "folkmoot expel", "folkmoot join"] {
        assert!(told[0].contains(part), "{part}: {}", told[0]);
    }
    let none = signs(&anna, &[]);
    assert!(code(&none) == 3 && complaint(&none).contains("no passphrase was given"), "{}", complaint(&none));
}

#[test]
fn id_80_openssl_opens_what_was_made_here_and_makes_what_opens_here() {
    let place = Place::new("other");
    let anna = locked(&place, "anna", "correct horse");
    draft(&place, &anna);
    let file = phrase(&place, "correct horse");
    let (opens, said) = openssl(&anna, &format!("pkey -in identity.key -passin file:{file} -check -noout"));
    assert!(opens && said.contains("Key is valid"), "{said}");
    // Encrypted anew by OpenSSL, under another passphrase: the same member.
    let other = phrase(&place, "battery staple");
    for how in ["-scrypt", "-v2 aes-256-cbc"] {
        let line = format!(
            "pkcs8 -topk8 {how} -in identity.key -passin file:{file} -out other -passout file:{other}"
        );
        let (made, said) = openssl(&anna, &line);
        assert!(made, "{said}");
        let ours = anna.join("identity.key");
        let before = std::fs::read(&ours).unwrap();
        std::fs::write(&ours, std::fs::read(anna.join("other")).unwrap()).unwrap();
        let signed = signs(&anna, &["--passphrase-file", &other]);
        assert!(signed.status.success(), "{how}: {}", complaint(&signed));
        assert_eq!(code(&signs(&anna, &["--passphrase-file", &file])), 3);
        std::fs::write(&ours, before).unwrap();
    }
    // Imported with its passphrase.
    let imported = place.path().join("copy");
    let from = anna.join("other").display().to_string();
    let import = ["identity", "import", "--key", &from, "--name", "anna"];
    let refused = call(&imported, &import);
    assert!(code(&refused) == 3 && complaint(&refused).contains("no passphrase"), "{}", complaint(&refused));
    let made = good(&imported, &[&import[..], &["--passphrase-file", &other]].concat());
    assert_eq!(made["encrypted"], true);
    assert_eq!(made["member"], good(&anna, &["identity", "show"])["member"]);
    let (opens, said) = openssl(&imported, &format!("pkey -in identity.key -passin file:{other} -noout"));
    assert!(opens, "{said}");
}

/// Whether the folder's key opens with this passphrase, or is open where there is none.
fn opens(place: &Place, state: &Path, text: Option<&str>) -> bool {
    match text {
        Some(text) => signs(state, &["--passphrase-file", &phrase(place, text)]).status.success(),
        None => key(state).starts_with("-----BEGIN PRIVATE KEY-----"),
    }
}

#[test]
fn id_85_a_passphrase_is_changed_set_and_removed() {
    let place = Place::new("change");
    let anna = locked(&place, "anna", "first one");
    draft(&place, &anna);
    let (first, second) = (phrase(&place, "first one"), phrase(&place, "second one"));
    let change = ["identity", "passphrase"];
    let words =
        |more: &[&str]| -> Vec<String> { change.iter().chain(more).map(|word| (*word).to_owned()).collect() };
    let run = |more: &[&str]| {
        let words = words(more);
        call(&anna, &words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let nobody = run(&["--passphrase-file", &first]);
    assert!(
        code(&nobody) == 2 && complaint(&nobody).contains("--new-passphrase-file"),
        "{}",
        complaint(&nobody)
    );
    assert_eq!(code(&run(&["--passphrase-file", &second, "--new-passphrase-file", &first])), 3);
    assert!(opens(&place, &anna, Some("first one")));
    assert!(run(&["--passphrase-file", &first, "--new-passphrase-file", &second]).status.success());
    assert!(opens(&place, &anna, Some("second one")) && !opens(&place, &anna, Some("first one")));
    assert!(run(&["--passphrase-file", &second, "--no-passphrase"]).status.success());
    assert!(opens(&place, &anna, None));
    let open = std::fs::File::open(anna.join("identity.key")).unwrap();
    assert!(run(&["--new-passphrase-file", &first]).status.success());
    assert!(opens(&place, &anna, Some("first one")) && !opens(&place, &anna, None));
    // What the open key stood in is overwritten: whoever has the old file still open sees it.
    let mut left = Vec::new();
    std::io::Read::read_to_end(&mut { open }, &mut left).unwrap();
    assert!(!left.is_empty() && left.iter().all(|byte| *byte == 0), "{left:?}");
    let lock = std::fs::File::create(anna.join("lock")).unwrap();
    lock.lock().unwrap();
    let in_use = run(&["--passphrase-file", &first, "--no-passphrase"]);
    assert!(code(&in_use) == 3 && complaint(&in_use).contains("in use"), "{}", complaint(&in_use));
    assert_eq!(std::fs::metadata(anna.join("identity.key")).map(|file| mode(&file)).unwrap(), 0o600);
}

fn mode(file: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o777
}

/// Killed at some moment of a change, again and again: the key opens with the old passphrase or the
/// new one.
#[test]
fn id_85_a_change_that_is_killed_leaves_the_old_key_or_the_new_one() {
    let place = Place::new("killed");
    let anna = locked(&place, "anna", "one");
    draft(&place, &anna);
    let change = |from: &str, to: &str| {
        let (from, to) = (phrase(&place, from), phrase(&place, to));
        let mut command = program(&anna);
        command.args(["identity", "passphrase", "--passphrase-file", &from, "--new-passphrase-file", &to]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let begun = Instant::now();
    assert!(change("one", "two").status().unwrap().success());
    let whole = begun.elapsed();
    let (mut now, mut changed) = ("two", 0);
    let kills = std::env::var("FOLKMOOT_KILLS").map_or(12, |kills| kills.parse().unwrap());
    for kill in 0..kills {
        let next = if now == "two" { "one" } else { "two" };
        let mut child = change(now, next).spawn().unwrap();
        // Most of the time goes by before the file is written: the last part is drawn more often.
        let share = 0.5 + 0.6 * f64::from(kill) / f64::from(kills);
        std::thread::sleep(whole.mul_f64(share));
        child.kill().unwrap();
        child.wait().unwrap();
        let (old, new) = (opens(&place, &anna, Some(now)), opens(&place, &anna, Some(next)));
        assert!(old != new, "kill {kill}: opens with the old {old}, with the new {new}");
        if new {
            (now, changed) = (next, changed + 1);
        }
    }
    println!("{changed} of {kills} changes were done when they were killed; a whole one takes {whole:?}");
    assert!(whole < Duration::from_secs(60));
}

/// The state of a folder is the same whether a half-written draft lies there or not.
#[test]
fn id_85_a_draft_that_a_stop_left_behind_is_no_key() {
    let place = Place::new("draft");
    let anna = locked(&place, "anna", "one");
    draft(&place, &anna);
    let whole = key(&anna);
    std::fs::write(anna.join("identity.key.new"), &whole[..whole.len() / 2]).unwrap();
    assert!(opens(&place, &anna, Some("one")));
    let (one, two) = (phrase(&place, "one"), phrase(&place, "two"));
    good(&anna, &["identity", "passphrase", "--passphrase-file", &one, "--new-passphrase-file", &two]);
    assert!(opens(&place, &anna, Some("two")) && !anna.join("identity.key.new").exists());
}

/// What any of these programs say.
fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn doctor_and_show_say_whether_the_key_is_encrypted() {
    let place = Place::new("doctor");
    let anna = locked(&place, "anna", "one");
    let detail = |state: &Path| {
        let told: Value = serde_json::from_slice(&call(state, &["doctor"]).stdout).unwrap();
        let one = told.as_array().unwrap().iter().find(|one| one["check"] == "identity").unwrap().clone();
        one["detail"].as_str().unwrap().to_owned()
    };
    assert!(detail(&anna).contains("its key is encrypted"));
    let ben = place.path().join("ben");
    good(&ben, &["identity", "new", "ben", "--no-passphrase"]);
    assert!(detail(&ben).contains("identity passphrase"));
    assert!(!said(&call(&anna, &["identity", "show"])).contains("passphrase"));
}
