//! How each command ends: by Ctrl-C, by a full disk, by a host without a network.

use super::alone::{alone, is_alone};
use super::fleet::Fleet;
use super::{event, events, folkmoot, play_until, recorder, run, said, url};
use crate::common::place::Place;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

pub(super) fn interrupt(child: &Child) {
    let mut kill = Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Interrupts a command that takes part already, and waits until it ends.
fn stopped(mut child: Child) -> Output {
    interrupt(&child);
    let end = Instant::now() + Duration::from_secs(10);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("Ctrl-C did not end it");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// Waits until the process catches Ctrl-C, and a moment longer.
pub(super) fn settle(child: &Child) {
    let end = Instant::now() + Duration::from_secs(20);
    let status = format!("/proc/{}/status", child.id());
    let catches = || {
        let Ok(status) = std::fs::read_to_string(&status) else {
            // A system without /proc.
            std::thread::sleep(Duration::from_secs(2));
            return true;
        };
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(caught, 16).unwrap() & 2 != 0
    };
    while !catches() {
        assert!(Instant::now() < end, "it does not catch Ctrl-C");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn ctrl_c_ends_a_recording_and_what_came_is_in_it() {
    alone("lcm::ends::ctrl_c_ends_a_recording_and_what_came_is_in_it", || {
        let place = Place::new("lcm-stop-log");
        let (from, to) = (place.path().join("from.lcm"), place.path().join("to.lcm"));
        std::fs::write(&from, event(0, "A", b"one")).unwrap();
        let url = url(0);
        let recorder = recorder(&url, &to, &[]);
        play_until(&url, &from, || std::fs::metadata(&to).unwrap().len() > 0);
        let recorded = stopped(recorder);
        assert_eq!(recorded.status.code(), Some(0));
        let count = said(&recorded)["messages"].as_u64().unwrap();
        assert!(count > 0 && count == u64::try_from(events(&to).len()).unwrap(), "{count}");
    });
}

#[test]
fn ctrl_c_ends_play_in_a_pause_without_pauses_and_at_a_pipe() {
    alone("lcm::ends::ctrl_c_ends_play_in_a_pause_without_pauses_and_at_a_pipe", || {
        let place = Place::new("lcm-stop-play");
        let play = |file: &Path, more: &[&str]| {
            let words = [&["play", file.to_str().unwrap()], more].concat();
            let child = folkmoot(&url(1), &words).spawn().unwrap();
            settle(&child);
            said(&stopped(child))["messages"].as_u64().unwrap()
        };
        // The second message is due in 292,000 years.
        let (file, mut far) = (place.path().join("far.lcm"), event(1, "A", b"two"));
        far[12] = 0x7f;
        std::fs::write(&file, [event(0, "A", b"one"), far].concat()).unwrap();
        assert!(play(&file, &[]) <= 1);
        // A log without an end: all of it is published, or nothing.
        let endless = pipe(place.path().join("endless.lcm"));
        let feed = || {
            let endless = endless.clone();
            std::thread::spawn(move || {
                let mut to = std::fs::OpenOptions::new().write(true).open(endless).unwrap();
                while to.write_all(&event(0, "A", &[7; 60])).is_ok() {}
            })
        };
        for (more, wanted) in [(["--speed", "0"], true), (["--channel", "B"], false)] {
            let fed = feed();
            assert_eq!(play(&endless, &more) > 0, wanted, "{more:?}");
            fed.join().unwrap();
        }
        // Somebody holds the pipe, and writes nothing.
        let silent = pipe(place.path().join("silent.lcm"));
        let _held = std::fs::OpenOptions::new().read(true).write(true).open(&silent).unwrap();
        assert_eq!(play(&silent, &[]), 0);
    });
}

fn pipe(path: PathBuf) -> PathBuf {
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn ctrl_c_ends_an_echo() {
    alone("lcm::ends::ctrl_c_ends_an_echo", || {
        let child = folkmoot(&url(2), &["echo", "A", "B"]).spawn().unwrap();
        settle(&child);
        let echoed = stopped(child);
        assert_eq!((echoed.status.code(), said(&echoed)["messages"].as_u64()), (Some(0), Some(0)));
    });
}

#[test]
fn a_full_disk_ends_a_recording_and_is_named() {
    alone("lcm::ends::a_full_disk_ends_a_recording_and_is_named", || {
        let place = Place::new("lcm-full");
        let from = place.path().join("from.lcm");
        std::fs::write(&from, event(0, "A", b"one")).unwrap();
        let url = url(3);
        let mut log = folkmoot(&url, &["log", "--force", "/dev/full"]).spawn().unwrap();
        play_until(&url, &from, || log.try_wait().unwrap().is_some());
        let log = log.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&log.stderr);
        assert_eq!(log.status.code(), Some(75), "{told}");
        assert!(told.contains("/dev/full") && told.contains("no space left"), "{told}");
    });
}

#[test]
fn an_interface_that_this_host_does_not_have_is_refused_with_those_that_it_has() {
    alone("lcm::ends::an_interface_that_this_host_does_not_have_is_refused_with_those_that_it_has", || {
        let fleet = Fleet::new("lcm-interface", 30, &[("rover", 1, &["POSE"])]);
        let (log, folder) = (fleet.file("a.lcm"), fleet.file("rover"));
        std::fs::write(&log, event(0, "A", b"one")).unwrap();
        let none = "this machine has no network interface nope; it has: lo";
        let told = |words: &[&str]| {
            let output = run(&fleet.outside(), words);
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        for words in [
            &["spy", "--seconds", "1"][..],
            &["spy", "--seconds", "1", "--secured", &folder],
            &["log", &fleet.file("b.lcm"), "--seconds", "1"],
            &["play", &log],
            &["echo", "A", "B", "--seconds", "1"],
        ] {
            let (code, words) = told(&[words, &["--interface", "nope"]].concat());
            assert!(code == Some(3) && words.contains(none), "{words}");
        }
        assert_eq!(told(&["spy", "--seconds", "1", "--interface", "lo"]).0, Some(0));
        // A bridge may be started before its network is there.
        let bridge = ["bridge", "--seconds", "1", "--secured", &folder, "--interface", "nope"];
        let sides = ["--outside", &fleet.outside(), "--inside", &fleet.inside(1)];
        let bridge = run(&fleet.inside(1), &[&bridge[..], &sides].concat());
        let words = String::from_utf8_lossy(&bridge.stdout).into_owned();
        assert!(bridge.status.success(), "{words}");
        assert!(words.contains(r#"{"event":"no-interface","what":"nope"}"#), "{words}");
    });
}

#[test]
fn a_bridge_without_a_network_outside_says_so_once_in_plain_words() {
    alone("lcm::ends::a_bridge_without_a_network_outside_says_so_once_in_plain_words", || {
        if !is_alone() {
            eprintln!("SKIPPED: no network namespace can be made here, so this host has its network");
            return;
        }
        let fleet = Fleet::new("lcm-no-way", 31, &[("rover", 1, &["POSE"])]);
        let outside = fleet.outside().replace("ttl=0", "ttl=1");
        let line = format!(
            "ip link set lo up && {} lcm bridge --seconds 3 --secured {} --outside '{outside}' --inside '{}'",
            env!("CARGO_BIN_EXE_folkmoot"),
            fleet.file("rover"),
            fleet.inside(1)
        );
        let told = Command::new("unshare").args(["--net", "sh", "-c", &line]).output().unwrap();
        let words = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(told.status.success(), "{words}");
        assert_eq!(words.matches("there is no network outside").count(), 1, "{words}");
        assert!(!words.contains("WARN") && !words.contains("not said"), "{words}");
    });
}

#[test]
fn a_host_without_a_network_is_told_what_helps_and_it_does() {
    alone("lcm::ends::a_host_without_a_network_is_told_what_helps_and_it_does", || {
        if !is_alone() {
            eprintln!("SKIPPED: no network namespace can be made here, so this host has its network");
            return;
        }
        let lost = |words: &[&str]| {
            let mut unshare = Command::new("unshare");
            unshare.args(["--net", "sh", "-c"]).args(words);
            unshare.output().unwrap()
        };
        let spy = format!("{} lcm spy --seconds 1", env!("CARGO_BIN_EXE_folkmoot"));
        let told = lost(&[&spy]);
        let words = String::from_utf8_lossy(&told.stderr).into_owned();
        assert_eq!(told.status.code(), Some(3), "{words}");
        let (_, help) = words.trim().split_once("As root: ").unwrap();
        let helped = lost(&[&format!("{help} && {spy}")]);
        assert!(helped.status.success(), "{help}: {}", String::from_utf8_lossy(&helped.stderr));
    });
}
