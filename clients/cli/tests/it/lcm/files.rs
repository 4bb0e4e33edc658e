//! The files of `lcm log`: their names, what is overwritten, and what is whole in them.

use super::alone::{alone, is_alone};
use super::ends::interrupt;
use super::fleet::{ended, until};
use super::{event, events, folkmoot, play_until, run, said, url};
use crate::common::place::Place;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A log with so many messages of 1,000 bytes, without pauses.
fn log(place: &Place, count: u8) -> PathBuf {
    let file = place.path().join("from.lcm");
    let all: Vec<u8> = (0..count).flat_map(|number| event(number, "A", &[number; 1_000])).collect();
    std::fs::write(&file, all).unwrap();
    file
}

fn recorder(url: &str, words: &[&str], first: &Path) -> Child {
    let child = folkmoot(url, &[&["log"], words].concat()).spawn().unwrap();
    until("the first file", || first.exists());
    child
}

/// The files whose names begin like this one, without that beginning, in order.
fn suffixes(base: &Path) -> Vec<String> {
    let name = base.file_name().unwrap().to_str().unwrap();
    let all = std::fs::read_dir(base.parent().unwrap()).unwrap();
    let all = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut all: Vec<String> = all.filter_map(|one| Some(one.strip_prefix(name)?.to_owned())).collect();
    all.sort();
    all
}

/// How many events a file has; they are whole, and count from 0.
fn whole(file: &Path) -> usize {
    let (bytes, count) = (std::fs::read(file).unwrap(), events(file).len());
    let mut rest = bytes.as_slice();
    for number in 0..count {
        let length = |place: usize| u32::from_be_bytes(rest[place..place + 4].try_into().unwrap()) as usize;
        assert_eq!(rest[4..12], u64::try_from(number).unwrap().to_be_bytes(), "{}", file.display());
        rest = &rest[28 + length(20) + length(24)..];
    }
    assert!(rest.is_empty(), "{} has half an event", file.display());
    count
}

#[test]
fn a_recording_is_split_by_size_and_never_overwrites_with_increment() {
    alone("lcm::files::a_recording_is_split_by_size_and_never_overwrites_with_increment", || {
        let place = Place::new("lcm-split");
        let (from, base) = (log(&place, 20), place.path().join("drive"));
        let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", base.display()));
        std::fs::write(named(".01"), "mine").unwrap();
        let url = url(0);
        // 5 events of 1,029 bytes are 5,145 bytes.
        let words = [base.to_str().unwrap(), "--increment", "--split-mb", "0.005", "--count", "40"];
        let mut child = recorder(&url, &words, &named(".00"));
        play_until(&url, &from, || child.try_wait().unwrap().is_some());
        let told = ended(child);
        assert_eq!((told["messages"].as_u64(), told["files"].as_u64()), (Some(40), Some(8)), "{told}");
        let wanted = [".00", ".01", ".02", ".03", ".04", ".05", ".06", ".07", ".08"];
        assert_eq!(suffixes(&base), wanted);
        assert_eq!(std::fs::read(named(".01")).unwrap(), b"mine");
        assert_eq!(told["file"].as_str(), named(".08").to_str());
        for suffix in wanted.iter().filter(|suffix| **suffix != ".01") {
            assert_eq!(whole(&named(suffix)), 5);
            assert!(run(&url, &["play", "--speed", "0", named(suffix).to_str().unwrap()]).status.success());
        }
        // The next recording goes on behind them.
        let again = run(&url, &["log", base.to_str().unwrap(), "--increment", "--seconds", "0"]);
        assert_eq!(said(&again)["file"].as_str(), named(".09").to_str());
    });
}

#[test]
fn a_rotation_keeps_the_newest_files_and_a_killed_one_leaves_whole_events() {
    alone("lcm::files::a_rotation_keeps_the_newest_files_and_a_killed_one_leaves_whole_events", || {
        let place = Place::new("lcm-rotate");
        let (from, base) = (log(&place, 20), place.path().join("drive"));
        let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", base.display()));
        std::fs::write(&base, "mine").unwrap();
        std::fs::write(named(".3"), "mine, too").unwrap();
        let before = event(0, "BEFORE", b"");
        std::fs::write(named(".0"), &before).unwrap();
        let url = url(1);
        let words = [base.to_str().unwrap(), "--rotate", "3", "--split-mb", "0.005"];
        let mut child = recorder(&url, &words, &named(".1"));
        // What an earlier run wrote was renamed.
        assert_eq!(std::fs::read(named(".1")).unwrap(), before);
        play_until(&url, &from, || named(".2").exists() && whole(&named(".2")) == 5);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(suffixes(&base), ["", ".0", ".1", ".2", ".3"]);
        assert!(whole(&named(".0")) <= 5);
        assert_eq!((whole(&named(".1")), whole(&named(".2"))), (5, 5), "the oldest one is gone");
        assert_eq!(std::fs::read(&base).unwrap(), b"mine");
        assert_eq!(std::fs::read(named(".3")).unwrap(), b"mine, too");
        // A file that is no log is not taken for an old one.
        let more = run(&url, &["log", base.to_str().unwrap(), "--rotate", "4", "--seconds", "0"]);
        let told = String::from_utf8_lossy(&more.stderr).into_owned();
        assert_eq!(more.status.code(), Some(3));
        assert!(told.contains("drive.3 is not a log of LCM"), "{told}");
        assert_eq!((whole(&named(".1")), whole(&named(".2"))), (5, 5), "nothing was renamed");
    });
}

#[test]
fn a_recording_is_split_by_time() {
    alone("lcm::files::a_recording_is_split_by_time", || {
        let place = Place::new("lcm-split-time");
        let (from, base) = (log(&place, 1), place.path().join("drive"));
        let second = place.path().join("drive.01");
        let url = url(2);
        let words = [base.to_str().unwrap(), "--increment", "--split-seconds", "1"];
        let child = recorder(&url, &words, &place.path().join("drive.00"));
        play_until(&url, &from, || second.exists());
        interrupt(&child);
        let told = ended(child);
        assert!(told["files"].as_u64() >= Some(2) && whole(&second) > 0, "{told}");
        assert!(whole(&place.path().join("drive.00")) > 1);
    });
}

#[test]
fn a_full_disk_leaves_whole_events() {
    alone("lcm::files::a_full_disk_leaves_whole_events", || {
        if !is_alone() {
            eprintln!("SKIPPED: no namespace can be made here, so no small disk");
            return;
        }
        let place = Place::new("lcm-small-disk");
        let (from, copy) = (log(&place, 20), place.path().join("copy.lcm"));
        let disk = place.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        let url = url(3);
        // 40,960 bytes, where others do not see it.
        let script = r#"mount -t tmpfs -o size=40960 none "$1" || exit 9
            "$0" lcm --lcm-url "$3" log "$1/to.lcm"
            code=$?; cp "$1/to.lcm" "$2"; exit $code"#;
        let mut log = Command::new("unshare");
        log.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_folkmoot")]);
        log.args([&disk, &copy]).arg(&url).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut log = log.spawn().unwrap();
        play_until(&url, &from, || log.try_wait().unwrap().is_some());
        let log = log.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&log.stderr);
        if log.status.code() == Some(9) {
            eprintln!("SKIPPED: a small disk cannot be mounted here: {told}");
            return;
        }
        assert_eq!(log.status.code(), Some(75), "{told}");
        assert!(told.contains("to.lcm: no space left"), "{told}");
        let bytes = std::fs::metadata(&copy).unwrap().len();
        assert_eq!(whole(&copy), 39, "{bytes} bytes");
    });
}

#[test]
fn how_files_are_named_is_said_once() {
    let code = |words: &[&str]| run(&url(0), &[&["log", "x.lcm"], words].concat()).status.code();
    assert_eq!(code(&["--split-mb", "5"]), Some(2), "which names?");
    assert_eq!(code(&["--split-seconds", "5"]), Some(2));
    assert_eq!(code(&["--increment", "--rotate", "5"]), Some(2));
    assert_eq!(code(&["--force", "--rotate", "5"]), Some(2));
    assert_eq!(code(&["--rotate", "0"]), Some(2));
    assert_eq!(code(&["--increment", "--split-mb", "0"]), Some(2));
    assert_eq!(code(&["--increment", "--split-mb", "nan"]), Some(2));
    assert_eq!(code(&["--invert"]), Some(2), "no channel is left");
}
