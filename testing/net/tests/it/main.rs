//! The integration tests of folkmoot-net, one program. The scenarios themselves need root: `cargo
//! xtask verify` plays them.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

fn said(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_folkmoot-net")).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_unknown_scenario_is_refused_with_the_names_of_all() {
    let (good, words) = said(&["--only", "nothing"]);
    assert!(!good);
    for name in
        ["nothing", "mtu", "mtu4", "trunk", "ipv6", "dual", "moves", "moves6", "cuts", "split", "restart"]
    {
        assert!(words.contains(name), "{name} in {words}");
    }
}

#[test]
fn logs_of_another_run_are_not_mixed_with_new_ones() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let (good, words) = said(&["--only", "ipv6", "--keep", folder]);
    assert!(!good && words.contains("choose another folder with --keep"), "{words}");
}

#[test]
fn a_machine_without_namespaces_is_told_why() {
    // In an environment without the program `ip`, whoever runs this.
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot-net"));
    let output = command.arg("--ready").env("PATH", "/nowhere").output().unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && words.contains("ip netns list says:"), "{words}");
}
