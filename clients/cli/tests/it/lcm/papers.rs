//! `folkmoot lcm root`, `certify`, `certificate`, `exclude`: OpenSSL reads what they make, and they
//! take what OpenSSL makes.

use super::said;
use crate::common::openssl::openssl;
use crate::common::place::Place;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `folkmoot lcm` in this folder; the words are divided by spaces.
pub(super) fn lcm(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.args(["--json", "lcm"]).args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    // It is of no concern to whoever has papers.
    command.env("LCM_DEFAULT_URL", "tcpq://nowhere").output().unwrap()
}

pub(super) fn good(folder: &Path, line: &str) -> Value {
    let output = lcm(folder, line);
    assert!(output.status.success(), "{line}: {}", told(&output));
    said(&output)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(super) fn refused(folder: &Path, line: &str, code: i32) -> String {
    let output = lcm(folder, line);
    assert_eq!(output.status.code(), Some(code), "{line}: {}", told(&output));
    told(&output)
}

fn senders(value: &Value) -> Vec<(u64, Option<&str>)> {
    let rights = value["rights"].as_array().unwrap();
    rights.iter().map(|right| (right["sender"].as_u64().unwrap(), right["channel"].as_str())).collect()
}

#[test]
fn openssl_verifies_what_a_root_certifies_and_shows_the_rights() {
    let place = Place::new("lcm-papers");
    let here = place.path();
    good(here, "root new root --name robots");
    let made = good(here, "certify --root root --sender 4 --channel POSE --channel a:b --out arm");
    assert_eq!(senders(&made), [(4, None), (4, Some("POSE")), (4, Some("a:b"))]);
    assert_eq!(made["subject"], "CN=arm", "the folder's name");
    for (key, folder) in [("root/root.key", "root"), ("arm/member.key", "arm")] {
        let mode = |path: &str| here.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(key), mode(folder)), (0o600, 0o700), "{key}");
        let (good, said) = openssl(here, &format!("pkey -in {key} -noout -check"));
        assert!(good, "{said}");
    }
    let (verified, said) = openssl(here, "verify -x509_strict -CAfile root/root.crt arm/member.crt");
    assert!(verified, "{said}");
    let (_, text) = openssl(here, "x509 -in arm/member.crt -noout -text");
    for part in [
        "URI:urn:lcmsec:gkexchg_g:239.255.76.67:7667:4, URI:urn:lcmsec:gkexchg:239.255.76.67:7667:POSE:4",
        "URI:urn:lcmsec:gkexchg:239.255.76.67:7667:a%3Ab:4",
        "ecdsa-with-SHA256",
        "Issuer: CN = robots",
    ] {
        assert!(text.replace("CN=", "CN = ").contains(part), "{part}: {text}");
    }
    let shown = good(here, "certificate show arm/member.crt");
    assert_eq!((&shown["rights"], shown["counts"].as_bool()), (&made["rights"], Some(true)));
    assert_eq!(good(here, "certificate show root/root.crt")["rights"].as_array().unwrap().len(), 0);
    // Another root has not signed it.
    good(here, "root new other --name robots");
    let judged = lcm(here, "certificate show arm/member.crt --root other/root.crt");
    assert_eq!((judged.status.code(), said_not(&judged)), (Some(1), true));
}

fn said_not(output: &Output) -> bool {
    let said = said(output);
    said["counts"] == false && said["why"].as_str().unwrap().contains("has not signed it")
}

#[test]
fn pub_28_the_register_gives_no_number_to_two_keys() {
    let place = Place::new("lcm-register");
    let here = place.path();
    good(here, "root new root");
    good(here, "certify --root root --sender 4 --channel POSE --out arm");
    let why = refused(here, "certify --root root --sender 4 --channel SCAN --out leg", 1);
    assert!(why.contains("another key is sender 4") && why.contains("root/issued/4-"), "{why}");
    assert!(!here.join("leg/member.key").exists(), "nothing is left of it");
    // Elsewhere the number is free, and so is another number here.
    good(here, "certify --root root --sender 4 --out far --lcm-url udpm://239.255.76.68:7668");
    good(here, "certify --root root --sender 5 --channel SCAN --out leg");
    // The same key may have a new certificate.
    let (done, public) = openssl(here, "pkey -in arm/member.key -pubout -out arm.pub");
    assert!(done, "{public}");
    let again = "certify --root root --sender 4 --channel POSE --channel SCAN --request arm.pub --name arm";
    good(here, &format!("{again} --out renewed"));
    assert!(!here.join("renewed/member.key").exists());
    // When both certificates are excluded, the number is free.
    let excluded = good(here, "exclude arm/member.crt --root root --only --out arm.out");
    assert_eq!(excluded["exclusions"][0]["sender"], 4);
    assert_eq!(excluded["done"], false, "nobody was told");
    refused(here, "certify --root root --sender 4 --channel POSE --out new", 1);
    good(here, "exclude renewed/member.crt --root root --out renewed.out");
    good(here, "exclude renewed/member.crt --root root --out again.out");
    let statement = |name: &str| std::fs::read(here.join(name)).unwrap();
    assert!(
        statement("renewed.out") == statement("again.out") && statement("arm.out") != statement("again.out")
    );
    good(here, "certify --root root --sender 4 --channel POSE --out new");
    // Whoever holds a key does not go on with another certificate of it.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    good(here, "certify --root root --sender 4 --channel SCAN --request new/member.crt --out newer");
    refused(here, "exclude new/member.crt --root root --out one.out", 2);
    let both = good(here, "exclude new/member.crt --root root");
    assert_eq!(both["exclusions"].as_array().unwrap().len(), 2);
    let all = good(here, "certificate show newer/member.crt");
    assert_eq!(all["counts"], true, "its term has not ended");
    let folder = std::fs::read_dir(here.join("root/issued")).unwrap();
    let left = folder.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("4-"));
    assert_eq!(left.count(), 1, "that of the other group");
}

/// The words for a person.
fn words(folder: &Path, line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    let output = command.arg("lcm").args(line.split(' ')).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_is_excluded_does_not_count_by_what_lies_beside_the_root_or_the_certificate() {
    let place = Place::new("lcm-counts");
    let here = place.path();
    good(here, "root new root");
    good(here, "certify --root root --sender 4 --channel POSE --out arm");
    good(here, "certify --root root --sender 5 --channel POSE --out leg");
    let by_root = "certificate show arm/member.crt --root root/root.crt";
    assert_eq!(good(here, by_root)["counts"], true);
    good(here, "exclude arm/member.crt --root root");
    let counts_not = |line: &str, folder: &str| {
        let output = lcm(here, line);
        let shown = crate::lcm::said(&output);
        let why = shown["why"].as_str().unwrap_or_default().to_owned();
        assert_eq!((output.status.code(), shown["counts"].as_bool()), (Some(1), Some(false)), "{shown}");
        assert!(why.contains(&format!("it is excluded, says {folder}/excluded/")), "{why}");
        assert!(why.contains(", which is of 20"), "{why}");
    };
    counts_not(by_root, "root");
    assert!(words(here, by_root).contains("it does not count: it is excluded"));
    // The member's folder has heard nothing yet.
    assert_eq!(good(here, "certificate show arm/member.crt")["counts"], true);
    let copied = Command::new("cp").args(["-r", "root/excluded", "arm/"]).current_dir(here).status();
    assert!(copied.unwrap().success());
    counts_not("certificate show arm/member.crt", "arm");
    for command in ["spy", "bridge --inside udpm://239.255.76.100:7667?ttl=0"] {
        refused(here, &format!("{command} --seconds 1 --secured arm"), 5);
    }
    // A statement counts for whom it names.
    assert_eq!(good(here, "certificate show leg/member.crt --root root/root.crt")["counts"], true);
    // By another root it is nobody's word.
    good(here, "root new other");
    good(here, "certify --root other --sender 4 --channel POSE --out far");
    let copied = Command::new("cp").args(["-r", "root/excluded", "far/"]).current_dir(here).status();
    assert!(copied.unwrap().success());
    assert_eq!(good(here, "certificate show far/member.crt")["counts"], true);
}

#[test]
fn without_now_nobody_is_told_and_nothing_is_claimed_of_the_members() {
    let place = Place::new("lcm-untold");
    let here = place.path();
    good(here, "root new root");
    good(here, "certify --root root --sender 4 --channel POSE --out arm");
    for _ in 0..2 {
        let said = words(here, "exclude arm/member.crt --root root");
        let lies = "CN=arm, sender 4: the exclusion is signed, and lies in root/excluded/4-";
        assert!(said.starts_with(lies) && !said.contains("knows of it"), "{said}");
        assert!(said.contains("Without --now this command tells nobody"), "{said}");
    }
}

#[test]
fn a_certificate_for_no_channel_says_so_and_how_to_get_one_for_some() {
    let place = Place::new("lcm-none");
    let here = place.path();
    good(here, "root new root");
    let said = words(here, "certify --root root --sender 4 --out arm");
    assert!(said.contains("for no channel: ") && said.contains("add --channel NAME"), "{said}");
    let helped =
        words(here, "certify --root root --sender 4 --out new --channel POSE --request arm/member.crt");
    assert!(helped.contains("POSE") && !helped.contains("for no channel"), "{helped}");
}

#[test]
fn a_request_is_certified_without_its_key() {
    let place = Place::new("lcm-request");
    let here = place.path();
    good(here, "root new root");
    for line in [
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout arm.key -subj /CN=arm -out arm.csr",
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.key",
        "pkey -in rsa.key -pubout -out rsa.pub",
    ] {
        let (done, said) = openssl(here, line);
        assert!(done, "{said}");
    }
    let made = good(here, "certify --root root --sender 4 --channel POSE --request arm.csr --out arm");
    assert_eq!((made["subject"].as_str(), here.join("arm/member.key").exists()), (Some("CN=arm"), false));
    let (_, of_key) = openssl(here, "pkey -in arm.key -pubout");
    let (_, of_certificate) = openssl(here, "x509 -in arm/member.crt -noout -pubkey");
    assert_eq!(of_key, of_certificate);
    let why = refused(here, "certify --root root --sender 5 --request rsa.pub --out rsa", 3);
    assert!(why.contains("rsa.pub") && why.contains("topics take keys of p256 alone"), "{why}");
    refused(here, "certify --root root --sender 5 --request root/root.crt --out rsa", 3);
}

#[test]
fn what_is_wrong_with_papers_is_named() {
    let place = Place::new("lcm-wrong");
    let here = place.path();
    let why = refused(here, "certify --root nowhere --sender 4 --out arm", 3);
    assert!(why.contains("folkmoot lcm root new nowhere"), "{why}");
    good(here, "root new root");
    assert!(refused(here, "root new root", 3).contains("root/root.key exists"));
    let other = "certify --root root --sender 4 --out root";
    assert!(refused(here, other, 3).contains("root/root.crt exists"));
    for number in ["0", "65536", "-1", "x"] {
        refused(here, &format!("certify --root root --sender={number} --out arm"), 2);
    }
    let long = format!("certify --root root --sender 4 --channel {} --out arm", "x".repeat(64));
    refused(here, &long, 2);
    std::fs::set_permissions(here.join("root/root.key"), PermissionsExt::from_mode(0o644)).unwrap();
    let why = refused(here, "certify --root root --sender 4 --out arm", 3);
    assert!(why.contains("can be read by others") && why.contains("chmod 600 root/root.key"), "{why}");
    std::fs::set_permissions(here.join("root/root.key"), PermissionsExt::from_mode(0o600)).unwrap();
    assert!(refused(here, "certificate show root/root.key", 3).contains("no certificate in PEM"));
    let why = refused(here, "exclude root/root.crt --root root --out x", 2);
    assert!(why.contains("no rights to lose"), "{why}");
    // A certificate of another root.
    good(here, "root new other");
    good(here, "certify --root other --sender 4 --out arm");
    assert!(refused(here, "exclude arm/member.crt --root root --out x", 3).contains("has not signed it"));
    refused(here, "exclude --root root", 2);
}

#[test]
fn what_openssl_makes_by_the_lines_of_the_documents_is_taken() {
    let place = Place::new("lcm-openssl");
    let here = place.path();
    let page = include_str!("../../../../../docs/pubsub.md");
    let lines: Vec<&str> = page.lines().filter(|line| line.contains("    openssl ")).collect();
    assert_eq!(lines.len(), 3, "docs/pubsub.md has its lines for OpenSSL");
    let from = page.find(lines[0]).unwrap();
    let end = page.find(lines[2]).unwrap() + lines[2].len();
    let script = page[from..end].to_owned() + "\n";
    let mut shell = Command::new("sh");
    let done = shell.args(["-e", "-c", &script]).current_dir(here).output().unwrap();
    assert!(done.status.success(), "{}", told(&done));
    let shown = good(here, "certificate show member.crt --root root.crt");
    assert_eq!(
        (senders(&shown), shown["counts"].as_bool()),
        (vec![(5, None), (5, Some("POSE"))], Some(true))
    );
    // A root of OpenSSL's certifies here, too.
    good(here, "certify --root . --sender 6 --channel POSE --out leg");
    let (verified, said) = openssl(here, "verify -CAfile root.crt leg/member.crt");
    assert!(verified, "{said}");
}
