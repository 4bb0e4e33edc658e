//! The program itself, without a running member: files, exit codes, what goes where.

use crate::common::place::Place;
use crate::common::program::code;
use crate::common::typist::Typist;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A folder where commands are run as a person would: by relative names, on plain text unless asked
/// otherwise.
struct Desk(Place);

impl Desk {
    fn new(name: &str) -> Self {
        Self(Place::new(name))
    }

    fn command(&self, who: &str, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        command.current_dir(self.path()).env_remove("FOLKMOOT_STATE");
        command.args(["--state", who]).args(line.split(' '));
        command
    }

    fn run(&self, who: &str, line: &str) -> Output {
        self.command(who, line).output().unwrap()
    }

    fn good(&self, who: &str, line: &str) -> Value {
        let output = self.run(who, &format!("{line} --json"));
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn founders(place: &Desk) {
    for name in ["anna", "ben", "cleo"] {
        place.good(name, &format!("identity new {name} --no-passphrase"));
    }
    let files = "--founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem";
    place.good("anna", &format!("charter new club {files} --votes 2"));
}

#[test]
fn founders_sign_one_after_another_or_each_the_text() {
    let place = Desk::new("sign");
    founders(&place);
    let signed = place.good("anna", "charter sign charter.toml");
    assert_eq!(signed["missing"], serde_json::json!(["ben", "cleo"]));
    place.good("ben", "charter sign charter.cms");
    let early = place.run("anna", "charter verify charter.cms");
    assert_eq!(code(&early), 1);
    assert!(String::from_utf8_lossy(&early.stderr).contains("cleo"), "the hint names who is missing");
    let last = place.good("cleo", "charter sign charter.toml");
    assert_eq!(last["missing"], serde_json::json!([]));
    let verified = place.good("anna", "verify charter.cms");
    assert_eq!(verified["stands"], true);
    let shown = place.good("anna", "charter show charter.cms");
    assert!(shown["charter"].as_str().unwrap().contains("threshold = 2"));
}

#[test]
fn a_founder_reads_before_it_signs() {
    let place = Desk::new("reads");
    founders(&place);
    let signed = place.path().join("charter.cms");
    let asked = |answer: &str| {
        let mut anna = Typist::at(&mut place.command("anna", "charter sign charter.toml"));
        anna.asks("Sign it?");
        assert!(!signed.exists(), "signed before it was read");
        anna.types(answer);
        anna.ends()
    };
    let (code, shown) = asked("no\n");
    assert!(code == 1 && shown.contains("threshold") && shown.contains("nothing was signed"), "{shown}");
    assert!(!signed.exists());
    let (code, shown) = asked("yes\n");
    assert!(code == 0 && signed.exists(), "{shown}");
    // Whoever says so, and whoever sits at no terminal, is not asked; what is signed is shown.
    let (code, shown) = Typist::at(&mut place.command("ben", "charter sign charter.cms --yes")).ends();
    assert!(code == 0 && shown.contains("threshold") && !shown.contains("Sign it?"), "{shown}");
    let cleo = place.run("cleo", "charter sign charter.cms");
    let shown = String::from_utf8_lossy(&cleo.stderr).into_owned();
    assert!(cleo.status.success() && shown.contains("threshold") && !shown.contains("Sign it?"), "{shown}");
    place.good("anna", "verify charter.cms");
}

#[test]
fn founders_sign_apart_and_their_signatures_are_joined() {
    let place = Desk::new("apart");
    founders(&place);
    for name in ["anna", "ben", "cleo"] {
        place.good(name, &format!("charter sign charter.toml --out {name}.cms"));
    }
    let some = place.good("dora", "charter join anna.cms ben.cms");
    assert_eq!(some["missing"], serde_json::json!(["cleo"]));
    assert_eq!(place.good("dora", "charter join cleo.cms")["missing"], serde_json::json!([]));
    place.good("dora", "verify charter.cms");
    // Another text, and a signature that is wrong.
    place.good("anna", "charter new other --votes 1 --founder anna/identity.pem --out other.toml");
    place.good("anna", "charter sign other.toml");
    let other = place.run("dora", "charter join ben.cms other.cms --out all.cms");
    let why = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(code(&other) == 5 && why.contains("ben.cms and other.cms hold different charters"), "{why}");
    let mut bent = std::fs::read(place.path().join("ben.cms")).unwrap();
    *bent.last_mut().unwrap() ^= 1;
    std::fs::write(place.path().join("bent.cms"), bent).unwrap();
    let wrong = place.run("dora", "charter join anna.cms bent.cms --out all.cms");
    let why = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(code(&wrong) == 5 && why.contains("bent.cms is not valid"), "{why}");
    let text = place.run("dora", "charter join charter.toml anna.cms --out all.cms");
    let why = String::from_utf8_lossy(&text.stderr).into_owned();
    assert!(code(&text) != 0 && why.contains("charter sign charter.toml"), "{why}");
    assert!(!place.path().join("all.cms").exists());
}

#[test]
fn a_new_charter_says_what_a_minority_may_and_that_all_votes_leave_no_way_back() {
    let place = Desk::new("minority");
    founders(&place);
    let told = |votes: u32, minority: &str| {
        let files = "--founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem";
        let out = format!("{votes}-{minority}.toml");
        let line = format!("charter new club {files} --votes {votes} --minority {minority} --out {out}");
        String::from_utf8_lossy(&place.run("anna", &line).stdout).into_owned()
    };
    for (minority, may) in [
        ("continue", "goes on as before"),
        ("read-only", "receives, and sends nothing"),
        ("stop", "neither sends nor receives"),
    ] {
        let said = told(2, minority);
        assert!(said.contains("fewer than half of the voters") && said.contains(may), "{said}");
        assert!(!said.contains("no way back"), "{said}");
    }
    let said = told(3, "continue");
    assert!(said.contains("If one key or disk is lost") && said.contains("no way back"), "{said}");
}

#[test]
fn exit_codes_are_as_published() {
    let place = Desk::new("codes");
    founders(&place);
    assert_eq!(code(&place.run("anna", "frobnicate")), 2);
    assert_eq!(
        code(&place.run("anna", "identity new again --no-passphrase")),
        3,
        "a key is never overwritten"
    );
    assert_eq!(code(&place.run("nobody", "identity show")), 3);
    for line in ["status", "roster", "vote list", "send hi", "receive", "why ben", "expel ben"] {
        let output = place.run("anna", line);
        assert_eq!(code(&output), 4, "{line}");
        assert!(output.stdout.is_empty(), "{line}: data only on the standard output");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("folkmoot --state"),
            "{line}: says what to do next"
        );
    }
    place.good("dora", "identity new dora --no-passphrase");
    assert_eq!(code(&place.run("dora", "charter sign charter.toml")), 5, "not a founder");
    assert_eq!(code(&place.run("dora", "charter show missing.cms")), 3);
    std::fs::write(place.path().join("bad.cms"), [0x30, 0x80, 0xff]).unwrap();
    assert_eq!(code(&place.run("dora", "verify bad.cms")), 5);
    assert_eq!(code(&place.run("dora", "member --listen 127.0.0.1:0")), 3, "no charter yet");
}

#[test]
fn errors_are_data_for_programs_too() {
    let place = Desk::new("json");
    let output = place.run("nobody", "status --json");
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(error["exit"], "unreachable");
    assert!(error["error"].as_str().unwrap().contains("no member runs"));
    let output = place.run("nobody", "frobnicate --json");
    let error: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((code(&output), &error["exit"]), (2, &"usage".into()), "a mistyped line, too");
    let output = place.run("nobody", "--help --json");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("Usage:"));
}

#[test]
fn each_step_of_a_beginner_is_told_and_a_mistyped_folder_stays_away() {
    let place = Desk::new("begin");
    founders(&place);
    let told = |who: &str, line: &str| -> String {
        let output = place.run(who, line);
        assert!(!output.status.success(), "{who} {line}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for line in ["status", "identity show", "member", "chat", "doctor", "export out"] {
        let next = if line == "export out" { "no member has run" } else { "identity new NAME" };
        assert!(
            format!("{:?}", place.run("ana", line)).contains(next),
            "{line}: {:?}",
            place.run("ana", line)
        );
    }
    for line in ["verify", "charter show", "charter verify"] {
        assert!(told("ana", line).contains("name the file"), "{line}");
    }
    assert!(!place.path().join("ana").exists(), "asking makes no folder");
    for line in ["verify charter.toml", "charter show charter.toml", "member --charter charter.toml"] {
        assert!(told("anna", line).contains("charter sign charter.toml"), "{line}: {}", told("anna", line));
    }
    place.good("dora", "identity new dora --no-passphrase");
    assert!(told("dora", "charter sign charter.toml").contains("not among the founders: anna, ben, cleo"));
    place.good("anna", "charter sign charter.toml");
    place.good("ben", "charter sign charter.toml");
    let early = told("anna", "member --charter charter.cms");
    assert!(early.contains("lacks signatures. Now cleo runs: folkmoot charter sign charter.cms"), "{early}");
    assert!(told("anna", "status").contains("chat --charter FILE"));
    let files = "--founder anna/identity.pem --founder ben/identity.pem";
    place.good("anna", &format!("charter new other {files} --out other.toml"));
    let mixed = told("anna", "charter sign other.toml --out charter.cms");
    assert!(mixed.contains("holds another charter"), "{mixed}");
}

#[test]
fn a_file_of_another_kind_is_called_by_its_name() {
    let place = Desk::new("kinds");
    place.good("anna", "identity new anna --no-passphrase");
    place.good("anna", "charter new club --votes 1 --founder anna/identity.pem");
    place.good("anna", "charter sign charter.toml");
    for (line, says) in [
        ("charter verify anna/identity.pem", "is somebody's certificate, and a charter is needed here"),
        ("charter sign anna/identity.pem", "is somebody's certificate, and a charter is needed here"),
        ("join anna/identity.key", "is a private key, and a charter is needed here"),
        (
            "charter new other --votes 1 --founder charter.cms",
            "is a signed charter, and a certificate is needed",
        ),
    ] {
        let output = place.run("anna", line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(says), "{line}: {said}");
    }
}

#[test]
fn an_address_in_use_is_told_apart() {
    let place = Desk::new("port");
    place.good("anna", "identity new anna --no-passphrase");
    place.good("anna", "charter new club --votes 1 --founder anna/identity.pem");
    place.good("anna", "charter sign charter.toml");
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let line = format!("member --charter charter.cms --listen {}", taken.local_addr().unwrap());
    let output = place.run("anna", &line);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(&output), 75, "{complaint}");
    assert!(complaint.contains("address already in use") && complaint.contains("--listen"), "{complaint}");
}

#[test]
fn secrets_lie_in_a_private_folder_and_nothing_is_coloured_in_a_pipe() {
    use std::os::unix::fs::PermissionsExt;
    let place = Desk::new("modes");
    place.good("anna", "identity new anna --no-passphrase");
    let mode = |file: &str| std::fs::metadata(place.path().join(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("anna"), mode("anna/identity.key")), (0o700, 0o600));
    let shown = place.run("anna", "identity show");
    assert!(!shown.stdout.contains(&0x1b));
    std::fs::set_permissions(place.path().join("anna/identity.key"), PermissionsExt::from_mode(0o640))
        .unwrap();
    let refused = place.run("anna", "charter sign charter.toml");
    assert_eq!(code(&refused), 3);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod 600"));
}
