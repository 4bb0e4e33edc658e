//! What goes wrong at the edges is told in plain words, with what to do.

mod clock;
mod foreign;
mod names;

use crate::common::actor::Actor;
use crate::common::foreign::found;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, good, program};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Output, Stdio};

/// It ends with this code and says this.
#[track_caller]
fn says(output: &Output, exit: i32, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(code(output), exit, "{said}");
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
    assert!(found(&said).is_empty(), "{:?} in: {said}", found(&said));
}

/// One who has a group of its own, and does not run.
fn founded(name: &str) -> (Place, Actor) {
    let place = Place::new(name);
    let anna = Actor::new(&place, "anna");
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1"]);
    (place, anna)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn files_that_do_not_serve_are_named_with_what_to_do() {
    let (place, mut anna) = founded("edge-files");
    anna.start(&place, &[], &[]);
    anna.kill();
    let (folder, key) = (text(place.path()), text(&anna.state.join("identity.key")));
    let run = |args: &[&str]| call(&anna.state, args);
    says(
        &run(&["charter", "new", "x", "--out", &text(&place.path().join("x")), "--founder", &key]),
        3,
        &["holds a private key", "Give the identity.pem"],
    );
    for args in [
        &["verify", &folder][..],
        &["charter", "verify", &folder],
        &["charter", "sign", &folder],
        &["join", &folder],
        &["send", "--file", &folder],
        &["charter", "new", "x", "--out", "x", "--founder", &folder],
    ] {
        says(&run(args), 3, &["it is a folder, and a file is needed here"]);
    }
    let exported = text(&place.path().join("export"));
    good(&anna.state, &["export", &exported]);
    let (charter, transcript) = (text(&place.signed()), format!("{exported}/transcript.moot"));
    says(&run(&["verify", &charter, &transcript]), 0, &[]);
    says(&run(&["verify", &transcript, &charter]), 5, &["is a transcript", "folkmoot verify charter.cms"]);
    let bad = place.path().join("bad.toml");
    let draft = std::fs::read_to_string(place.path().join("charter.toml")).unwrap();
    for (good, wrong) in
        [("threshold = 1", "threshold = \"many\""), ("certificate_days = 365", "certificate_days = -1")]
    {
        assert!(draft.contains(good), "{draft}");
        std::fs::write(&bad, draft.replace(good, wrong)).unwrap();
        says(&run(&["charter", "sign", &text(&bad)]), 5, &[]);
    }
}

#[test]
fn mistyped_values_are_told_in_plain_words() {
    let (place, anna) = founded("edge-values");
    let run = |args: &[&str]| call(&anna.state, args);
    says(
        &run(&["charter", "new", "x", "--founder", "x", "--votes", "two"]),
        2,
        &["it must be a whole number"],
    );
    says(&run(&["receive", "--timeout", "soon"]), 2, &["it must be a whole number"]);
    says(&run(&["chat", "--listen", "here"]), 2, &["it must be an address and a port"]);
    says(&run(&["fault", "--drop", "half"]), 2, &["it must be a number"]);
    // A folder whose path is too long for a socket.
    let long = place.path().join("long/".repeat(24));
    std::fs::create_dir_all(long.parent().unwrap()).unwrap();
    good(&long, &["identity", "new", "anna", "--no-passphrase"]);
    good(
        &long,
        &[
            "charter",
            "new",
            "x",
            "--votes",
            "1",
            "--out",
            &text(&place.path().join("y.toml")),
            "--founder",
            &text(&long.join("identity.pem")),
        ],
    );
    good(&long, &["charter", "sign", &text(&place.path().join("y.toml"))]);
    let charter = text(&place.path().join("y.cms"));
    let output = call(&long, &["member", "--listen", "127.0.0.1:0", "--charter", &charter]);
    says(&output, 3, &["longer than about 100 bytes", "--state"]);
    let hook = run(&[
        "member",
        "--charter",
        &text(&place.signed()),
        "--listen",
        "127.0.0.1:0",
        "--policy-hook",
        "/nowhere/votes",
    ]);
    says(&hook, 3, &["--policy-hook: /nowhere/votes does not exist"]);
    let hook = run(&[
        "member",
        "--charter",
        &text(&place.signed()),
        "--listen",
        "127.0.0.1:0",
        "--policy-hook",
        "no-such-program",
    ]);
    says(&hook, 3, &["no folder on the PATH has a program no-such-program"]);
}

#[test]
fn a_full_disk_is_no_success() {
    let (place, mut anna) = founded("edge-full");
    anna.start(&place, &[], &[]);
    anna.until(&["status"], |status| status["epoch"].is_string());
    let charter = text(&place.signed());
    for args in [
        &["identity", "show"][..],
        &["status"],
        &["vote", "list"],
        &["charter", "show", &charter],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = program(&anna.state).args(args).stdin(Stdio::null()).stdout(full).output().unwrap();
        says(&output, 75, &["no space left on device", "Not all of it is there"]);
    }
    // So does a chat, and a member.
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut chat = program(&anna.state);
    let chat = chat.arg("chat").stdin(Stdio::piped()).stdout(full()).stderr(Stdio::piped()).spawn().unwrap();
    writeln!(chat.stdin.as_ref().unwrap(), "hello").unwrap();
    says(&chat.wait_with_output().unwrap(), 75, &["no space left on device"]);
    anna.kill();
    let mut member = program(&anna.state);
    member.args(["member", "--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(full());
    says(&member.output().unwrap(), 75, &["no space left on device"]);
}

#[test]
fn a_member_that_cannot_answer_or_obey_is_told_of() {
    let (place, mut anna) = founded("edge-stopped");
    anna.start(&place, &[], &[]);
    anna.until(&["status"], |status| status["epoch"].is_string());
    // Options that the member which runs cannot follow.
    let (charter, listen) = (text(&place.signed()), ["--listen", "127.0.0.1:9"]);
    let state = anna.state.clone();
    let run = |args: &[&str]| call(&state, args);
    for (args, option) in [
        (&[&["chat"], &listen[..]].concat()[..], "--listen"),
        (&["chat", "--policy-hook", "/bin/true"], "--policy-hook"),
        (&["chat", "--multicast", "auto"], "--multicast"),
        (&["join", &charter, "--at", "udp/127.0.0.1:9", "--listen", "127.0.0.1:9"], "--listen"),
    ] {
        says(&run(args), 2, &["a member runs on", option, "would have no effect"]);
    }
    says(&run(&["chat", "--charter", &charter]), 0, &[]);
    says(&run(&["member", "--listen", "127.0.0.1:0"]), 3, &[]);
    // Stopped by Ctrl-Z.
    anna.signal("STOP");
    std::thread::scope(|scope| {
        let calls = [&["status"][..], &["send", "hello", "--timeout", "1"], &["chat"], &["receive"]];
        let calls = calls.map(|args| scope.spawn(move || run(args)));
        for output in calls {
            says(&output.join().unwrap(), 4, &["has not answered for", "Ctrl-Z"]);
        }
    });
    anna.signal("CONT");
    says(&run(&["status"]), 0, &[]);
    anna.kill();
    // Something else answers.
    let socket = anna.state.join("control.sock");
    let _ = std::fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    let odd = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"{\"hello\":1}\n").unwrap();
    });
    says(&run(&["status"]), 4, &["is no member of this release"]);
    odd.join().unwrap();
    assert!(complaint(&run(&["status"])).contains("no member runs on"));
}
