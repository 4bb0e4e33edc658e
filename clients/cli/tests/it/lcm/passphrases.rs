//! root.key and member.key under a passphrase: made, opened and changed so.
//!
//! ```text
//! each command     none and a wrong one are refused; the right one opens
//! a bridge pair    by a file; and the other commands by a descriptor or a credential
//! a folder         has no plain key in any form
//! a change         set, changed, removed; killed; of links
//! OpenSSL          opens what is made here, and makes what opens here
//! a terminal       asks, and shows nothing
//! ```

use super::alone::alone;
use super::fleet::{Fleet, until};
use super::folkmoot;
use super::papers::{good, refused};
use crate::at_rest::phrase;
use crate::common::openssl::openssl;
use crate::common::place::Place;
use folkmoot_base::hex;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const ROOT: &str = "correct horse";
const MEMBER: &str = "battery staple";
const BOTH: &[&str] = &["POSE", "SCAN"];

/// A root and a member `arm`, each under its passphrase; where these stand.
fn sealed(place: &Place) -> (String, String) {
    let (root, member) = (phrase(place, ROOT), phrase(place, MEMBER));
    let made = good(place.path(), &format!("root new root --passphrase-file {root}"));
    assert_eq!(made["encrypted"], true);
    let certify = "certify --root root --sender 4 --channel POSE --out arm";
    good(place.path(), &format!("{certify} --passphrase-file {root} --new-passphrase-file {member}"));
    (root, member)
}

fn mode(file: &Path) -> u32 {
    file.metadata().unwrap().permissions().mode() & 0o777
}

/// Whether the key opens with this passphrase, as OpenSSL sees it; or, without one, is open.
fn opens(key: &Path, text: Option<&str>) -> bool {
    let (file, folder) = (key.display(), key.parent().unwrap());
    let given = text.map_or("pass:".into(), |text| format!("file:{text}"));
    let open = std::fs::read_to_string(key).unwrap().starts_with("-----BEGIN PRIVATE KEY-----");
    let (good, said) = openssl(folder, &format!("pkey -in {file} -passin {given} -noout -check"));
    open == text.is_none() && good && said.contains("Key is valid")
}

/// Every way to open a key: of the folder `root`, and of `arm`.
fn commands() -> (Vec<&'static str>, Vec<&'static str>) {
    let of_root = vec![
        "certify --root root --sender 5 --channel POSE --out leg",
        "exclude arm/member.crt --root root",
        "exclude --again --root root --wait 1",
        "passphrase root --no-passphrase",
    ];
    let of_member = vec![
        "spy --secured arm --seconds 1",
        "log a.log --secured arm --seconds 1",
        "play from.log --secured arm",
        "echo POSE SCAN --secured arm --seconds 1",
        "bridge --secured arm --inside udpm://239.255.76.67:7667?ttl=0",
        "passphrase arm --no-passphrase",
        "passphrase arm/member.key --no-passphrase",
    ];
    (of_root, of_member)
}

#[test]
fn no_command_opens_a_key_without_its_passphrase() {
    let place = Place::new("lcm-sealed-keys");
    let here = place.path();
    let (root, member) = sealed(&place);
    std::fs::write(here.join("from.log"), "").unwrap();
    let (of_root, of_member) = commands();
    let both = of_root.iter().map(|line| (line, &member)).chain(of_member.iter().map(|line| (line, &root)));
    for (line, wrong) in both {
        let none = refused(here, line, 3);
        assert!(none.contains("is encrypted, and no passphrase was given"), "{line}: {none}");
        assert!(none.contains("--passphrase-file FILE or --passphrase-fd NUMBER"), "{line}: {none}");
        let why = refused(here, &format!("{line} --passphrase-file {wrong}"), 3);
        assert!(why.contains(".key. Try again. If it is forgotten"), "{line}: {why}");
        assert!(![ROOT, MEMBER].iter().any(|text| why.contains(text)), "{line}: {why}");
    }
    assert!(!here.join("leg").exists() && !here.join("a.log").exists(), "nothing was done");
    assert!(!here.join("root/excluded").exists() && !here.join("arm/state").exists());
    assert!(opens(&here.join("root/root.key"), Some(&root)));
    assert!(opens(&here.join("arm/member.key"), Some(&member)));
    // The right one, with all that a programmer can have logged.
    for line in &of_root[..2] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        command.args(["--json", "--passphrase-file", &root, "lcm"]).args(line.split(' '));
        let done = command.current_dir(here).env("FOLKMOOT_LOG", "trace").output().unwrap();
        let all = [done.stdout, done.stderr].concat();
        let all = String::from_utf8_lossy(&all);
        assert!(done.status.success() && !all.contains(ROOT) && !all.contains("PRIVATE"), "{line}: {all}");
    }
    assert!(opens(&here.join("leg/member.key"), None), "it starts unattended");
}

#[test]
fn a_key_has_a_passphrase_where_one_was_asked_for() {
    let place = Place::new("lcm-asked");
    let here = place.path();
    let (one, two) = (phrase(&place, "one"), phrase(&place, "two"));
    let both = format!("root new root --no-passphrase --passphrase-file {one}");
    assert!(refused(here, &both, 2).contains("--no-passphrase") && !here.join("root").exists());
    assert_eq!(good(here, "root new root --no-passphrase")["encrypted"], false);
    assert_eq!(good(here, "root new other")["encrypted"], false, "nobody is at a terminal");
    let mut told = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    told.args(["lcm", "root", "new", "third"]).current_dir(here).stdin(Stdio::null());
    let told = String::from_utf8(told.output().unwrap().stdout).unwrap();
    assert!(told.contains("third/root.key is not encrypted"), "{told}");
    assert!(told.contains("folkmoot lcm passphrase third"), "{told}");
    // What opens the root does not seal the member.
    good(here, &format!("certify --root root --sender 1 --out open --passphrase-file {one}"));
    assert!(opens(&here.join("open/member.key"), None));
    let certify = "certify --root root --sender 2 --out arm --new-passphrase-file";
    let request = format!("{certify} {two} --request open/member.crt");
    refused(here, &request, 2);
    refused(here, &format!("{certify} nowhere"), 3);
    assert!(!here.join("arm").exists());
    good(here, &format!("{certify} {two}"));
    assert!(opens(&here.join("arm/member.key"), Some(&two)) && mode(&here.join("arm/member.key")) == 0o600);
}

/// Runs it to its end, with this on its standard input.
fn fed(mut command: Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn bridges_and_all_others_run_on_keys_that_a_passphrase_opens() {
    alone("lcm::passphrases::bridges_and_all_others_run_on_keys_that_a_passphrase_opens", || {
        let robots = [("rover", 1, BOTH), ("arm", 2, BOTH), ("leg", 3, BOTH)];
        let fleet = Fleet::new("lcm-sealed-fleet", 11, &robots);
        let place = Place::new("lcm-sealed-fleet-words");
        let member = phrase(&place, MEMBER);
        for (name, ..) in robots {
            good(fleet.path(), &format!("passphrase {name} --new-passphrase-file {member}"));
        }
        let more = ["--passphrase-file", &*member];
        let (rover, arm) = (fleet.bridge_of("rover", 1, &more), fleet.bridge_of("arm", 2, &more));
        arm.is_with(&[1, 2]);
        let there = fleet.record(2, "there.lcm");
        fleet.carries(1, &there, "sealed");
        // A change is for the next start.
        good(fleet.path(), &format!("passphrase arm --passphrase-file {member} --no-passphrase"));
        fleet.carries(1, &there, "changed");
        let leg = fleet.file("leg");
        let command = |words: &[&str]| folkmoot(&fleet.outside(), &[words, &["--secured", &leg]].concat());
        // As systemd hands it to a service.
        let given = place.path().join("credentials");
        std::fs::create_dir(&given).unwrap();
        std::fs::copy(&member, given.join("folkmoot-passphrase")).unwrap();
        let spied =
            command(&["spy", "--seconds", "2"]).env("CREDENTIALS_DIRECTORY", &given).output().unwrap();
        assert!(spied.status.success(), "{}", String::from_utf8_lossy(&spied.stderr));
        fleet.write(&fleet.path().join("leg.log"), &[("POSE", b"by a pipe".to_vec())]);
        let (from, to) = (fleet.file("leg.log"), fleet.file("to.log"));
        until("what the leg plays", || {
            let played = fed(command(&["play", &from, "--passphrase-fd", "0"]), &format!("{MEMBER}\n"));
            assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
            there.count("POSE", "by a pipe") > 0
        });
        for words in [["log", &to, "--force"], ["echo", "POSE", "SCAN"]] {
            let words = [&words[..], &["--seconds", "1", "--passphrase-file", &member]].concat();
            let done = command(&words).output().unwrap();
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        }
        [rover, arm].into_iter().for_each(|bridge| drop(bridge.stop()));
    });
}

/// Every file below a folder that has one of these parts.
fn holding(folder: &Path, parts: &[Vec<u8>]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(holding(&entry, parts));
            continue;
        }
        let bytes = std::fs::read(&entry).unwrap();
        let has = |part: &Vec<u8>| bytes.windows(part.len()).any(|window| window == part);
        found.extend(parts.iter().any(has).then_some(entry));
    }
    found
}

/// The forms in which the secret number of a key may lie in a file: bytes, digits, and the lines of
/// PEM, of which the second has most of it.
fn forms(place: &Place, key: &str, given: &str) -> Vec<Vec<u8>> {
    let line = format!("pkey -in {key} -passin file:{given} -outform");
    let (one, pem) = openssl(place.path(), &format!("{line} PEM"));
    let (other, _) = openssl(place.path(), &format!("{line} DER -out plain.der"));
    assert!(one && other, "{pem}");
    let der = std::fs::read(place.path().join("plain.der")).unwrap();
    let at = der.windows(5).position(|part| part == [2, 1, 1, 4, 32]).unwrap() + 5;
    let (number, middle) = (&der[at..at + 16], pem.lines().nth(1).unwrap());
    let base64 = &middle[middle.len() - 16..];
    vec![number.to_vec(), hex(number).into_bytes(), base64.as_bytes().to_vec()]
}

#[test]
fn no_file_of_a_sealed_folder_has_the_key_or_the_passphrase() {
    let (place, apart) = (Place::new("lcm-plain"), Place::new("lcm-plain-apart"));
    let (root, member) = sealed(&apart);
    let from = |name: &str| apart.path().join(name);
    let keys = [(from("root/root.key"), &root), (from("arm/member.key"), &member)];
    let mut parts = vec![ROOT.as_bytes().to_vec(), MEMBER.as_bytes().to_vec()];
    for (key, given) in &keys {
        let mine = forms(&place, key.to_str().unwrap(), given);
        parts.extend(mine.clone());
        // The search sees a key that is open.
        let seen = place.path().join("seen");
        std::fs::create_dir_all(&seen).unwrap();
        let line = format!("pkey -in {} -passin file:{given} -out seen/open.key", key.display());
        assert!(openssl(place.path(), &line).0);
        assert_eq!(holding(&seen, &mine), [seen.join("open.key")]);
    }
    for folder in ["root", "arm"] {
        assert_eq!(holding(&from(folder), &parts), Vec::<PathBuf>::new(), "{folder}");
    }
    assert_eq!((mode(&keys[0].0), mode(&keys[1].0)), (0o600, 0o600));
}

#[test]
fn a_passphrase_is_set_changed_and_removed() {
    let place = Place::new("lcm-change");
    let here = place.path();
    let (one, two) = (phrase(&place, "one"), phrase(&place, "two"));
    good(here, "root new root");
    good(here, "certify --root root --sender 4 --out arm");
    for (folder, key) in [("root", here.join("root/root.key")), ("arm", here.join("arm/member.key"))] {
        let line = format!("passphrase {folder}");
        assert!(refused(here, &line, 2).contains("--new-passphrase-file"));
        let before = File::open(&key).unwrap();
        let set = good(here, &format!("{line} --new-passphrase-file {one}"));
        assert_eq!((&set["encrypted"], mode(&key)), (&true.into(), 0o600));
        assert!(opens(&key, Some(&one)));
        // Whoever has the old file still open sees what is left of it.
        let mut left = Vec::new();
        (&before).read_to_end(&mut left).unwrap();
        assert!(!left.is_empty() && left.iter().all(|byte| *byte == 0), "{left:?}");
        good(here, &format!("{line} --passphrase-file {one} --new-passphrase-file {two}"));
        assert!(opens(&key, Some(&two)) && !opens(&key, Some(&one)));
        // What a stop left behind is no key, and no hindrance.
        let draft = key.with_extension("key.new");
        std::fs::write(&draft, "half a key").unwrap();
        let removed = good(here, &format!("{line} --passphrase-file {two} --no-passphrase"));
        assert_eq!((&removed["encrypted"], mode(&key)), (&false.into(), 0o600));
        assert!(opens(&key, None) && !draft.exists());
    }
    good(here, "certify --root root --sender 5 --out leg");
    assert!(refused(here, "passphrase . --no-passphrase", 3).contains("neither root.key nor member.key"));
    std::fs::copy(here.join("arm/member.key"), here.join("root/member.key")).unwrap();
    assert!(refused(here, "passphrase root --no-passphrase", 3).contains("Give the file"));
    good(here, &format!("passphrase root/member.key --new-passphrase-file {one}"));
    assert!(opens(&here.join("root/root.key"), None));
}

#[test]
fn links_to_a_key_stay_links_and_other_copies_stay_whole() {
    let place = Place::new("lcm-links");
    let here = place.path();
    let one = phrase(&place, "one");
    good(here, "root new root");
    good(here, "certify --root root --sender 4 --out arm");
    let (key, safe, copy) = (here.join("arm/member.key"), here.join("safe.key"), here.join("copy.key"));
    std::fs::rename(&key, &safe).unwrap();
    std::os::unix::fs::symlink(&safe, &key).unwrap();
    std::fs::hard_link(&safe, &copy).unwrap();
    good(here, &format!("passphrase arm --new-passphrase-file {one}"));
    assert!(key.is_symlink() && opens(&safe, Some(&one)));
    assert!(opens(&copy, None), "a copy of somebody's is not touched");
}

/// Killed while the new key is written, and right after, again and again: the key opens with the
/// old passphrase or the new one.
#[test]
fn a_change_that_is_killed_leaves_the_old_key_or_the_new_one() {
    let place = Place::new("lcm-killed");
    let here = place.path();
    let (one, two) = (phrase(&place, "one"), phrase(&place, "two"));
    good(here, &format!("root new root --passphrase-file {one}"));
    let (key, draft) = (here.join("root/root.key"), here.join("root/root.key.new"));
    let (mut now, mut next, mut changed) = (&one, &two, 0);
    let kills = std::env::var("FOLKMOOT_KILLS").map_or(12, |kills| kills.parse().unwrap());
    for kill in 0..kills {
        let _ = std::fs::remove_file(&draft);
        let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        command.args(["lcm", "passphrase", "root", "--passphrase-file", now, "--new-passphrase-file", next]);
        command.current_dir(here).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut until = |is_there: bool| {
            while draft.exists() != is_there && child.try_wait().unwrap().is_none() {
                std::hint::spin_loop();
            }
        };
        until(true);
        if kill % 2 == 1 {
            until(false);
        }
        std::thread::sleep(Duration::from_micros(50 * (kill / 2)));
        child.kill().unwrap();
        child.wait().unwrap();
        let (old, new) = (opens(&key, Some(now)), opens(&key, Some(next)));
        assert!(old != new, "kill {kill}: opens with the old {old}, with the new {new}");
        assert!(mode(&key) == 0o600 && (new || kill % 2 == 0));
        if new {
            (now, next, changed) = (next, now, changed + 1);
        }
    }
    println!("{changed} of {kills} changes were done when they were killed");
}

#[test]
fn keys_that_openssl_encrypted_open_here() {
    let place = Place::new("lcm-openssl-sealed");
    let here = place.path();
    let (one, two) = (phrase(&place, "one"), phrase(&place, "two"));
    let curve = "-algorithm EC -pkeyopt ec_paramgen_curve:P-256";
    let shell = |line: &str| {
        let (done, said) = openssl(here, line);
        assert!(done, "{line}: {said}");
    };
    std::fs::create_dir(here.join("arm")).unwrap();
    shell(&format!("genpkey {curve} -aes256 -pass file:{one} -out root.key"));
    shell(&format!("req -x509 -key root.key -passin file:{one} -subj /CN=robots -days 100 -out root.crt"));
    shell(&format!("genpkey {curve} -out open.key"));
    for how in ["-scrypt", "-v2 aes-256-cbc", ""] {
        let line = format!("pkcs8 -topk8 {how} -in open.key -passout file:{two} -out arm/member.key");
        shell(line.replace("  ", " ").as_str());
        shell("pkey -in open.key -pubout -out arm.pub");
        std::fs::set_permissions(here.join("arm/member.key"), PermissionsExt::from_mode(0o600)).unwrap();
        let wrong = format!("passphrase arm --passphrase-file {one} --new-passphrase-file {one}");
        assert!(refused(here, &wrong, 3).contains("does not open"), "{how}");
        good(here, &format!("passphrase arm --passphrase-file {two} --new-passphrase-file {one}"));
        assert!(opens(&here.join("arm/member.key"), Some(&one)), "{how}");
        let (_, ours) = openssl(here, &format!("pkey -in arm/member.key -passin file:{one} -pubout"));
        assert_eq!(ours, std::fs::read_to_string(here.join("arm.pub")).unwrap(), "the same key");
    }
    std::fs::set_permissions(here.join("root.key"), PermissionsExt::from_mode(0o600)).unwrap();
    let certify = "certify --root . --sender 6 --channel POSE --request arm.pub --name arm --out arm";
    assert!(refused(here, certify, 3).contains("no passphrase was given"));
    good(here, &format!("{certify} --passphrase-file {one}"));
}

/// A terminal: our end, and the name of the other.
fn terminal() -> (File, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map(File::from).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    (ours, name)
}

/// Types these answers at a terminal, each when it is asked for something; exit code, and all that
/// was shown.
fn typed(here: &Path, line: &str, answers: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.arg("lcm").args(line.split(' ')).current_dir(here);
    typed_at(command, answers)
}

/// The same at any command.
pub(crate) fn typed_at(mut command: Command, answers: &[(&str, &str)]) -> (i32, String) {
    let (mut ours, name) = terminal();
    let theirs = || File::options().read(true).write(true).open(&name).unwrap();
    let mut child = command.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
    // So that the reading below ends when the program does: nobody else has the terminal open then.
    drop(command);
    let (mut shown, mut asked) = (Vec::new(), 0);
    let (mut byte, mut answers) = ([0], answers.iter());
    let mut next = answers.next();
    while ours.read(&mut byte).is_ok_and(|length| length == 1) {
        shown.push(byte[0]);
        let seen = String::from_utf8_lossy(&shown[asked..]).into_owned();
        if let Some((_, answer)) = next.filter(|(one, _)| seen.contains(one) && seen.ends_with(": ")) {
            ours.write_all(format!("{answer}\n").as_bytes()).unwrap();
            asked = shown.len();
            next = answers.next();
        }
    }
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(next.is_none(), "{next:?} was not asked for: {shown}");
    (child.wait().unwrap().code().unwrap(), shown)
}

#[test]
fn a_terminal_is_asked_and_shows_nothing_of_it() {
    let place = Place::new("lcm-typed");
    let here = place.path();
    let (new, again, old) = ("New passphrase:", "The same passphrase again:", "Passphrase of root/root.key:");
    let (code, shown) = typed(here, "root new root", &[(new, ROOT), (again, "correct house")]);
    assert!(code == 2 && shown.contains("differ") && !here.join("root").exists(), "{shown}");
    let (code, shown) = typed(here, "root new root", &[(new, ROOT), (again, ROOT)]);
    assert!(code == 0 && !shown.contains("horse") && !shown.contains("is not encrypted"), "{shown}");
    assert!(opens(&here.join("root/root.key"), Some(&phrase(&place, ROOT))));
    let certify = "certify --root root --sender 4 --out arm";
    let (code, shown) = typed(here, certify, &[(old, "x"), (old, "y"), (old, ROOT)]);
    assert!(code == 0 && !shown.contains("horse"), "{shown}");
    assert!(shown.contains("arm/member.key is not encrypted"), "{shown}");
    let (code, shown) = typed(here, "exclude arm/member.crt --root root", &[(old, "x"); 3]);
    assert!(code == 3 && shown.contains("Try again"), "{shown}");
    let change = [("Passphrase of arm", MEMBER), (new, ROOT), (again, ROOT)];
    typed(here, "passphrase arm", &[(new, MEMBER), (again, MEMBER)]);
    let (code, shown) = typed(here, "passphrase arm", &change);
    assert!(code == 0 && shown.contains("under the new passphrase") && !shown.contains("staple"), "{shown}");
    assert!(opens(&here.join("arm/member.key"), Some(&phrase(&place, ROOT))));
    let (code, shown) = typed(here, "root new open --no-passphrase", &[]);
    assert!(code == 0 && shown.contains("open/root.key is not encrypted"), "{shown}");
    // A script that was started at a terminal keeps what it would be asked to itself.
    let (_ours, name) = terminal();
    let mut script = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    script.args(["lcm", "root", "new", "script"]).current_dir(here).stdin(File::open(name).unwrap());
    assert!(script.output().unwrap().status.success() && opens(&here.join("script/root.key"), None));
}
