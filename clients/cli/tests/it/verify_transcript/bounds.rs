//! How much memory `folkmoot verify` takes, whatever it is given: at most [`BESIDE`] more than the
//! file, of which everything is kept.

use super::kinds::Whose;
use super::parts::{CHARTER, Parts};
use super::wide::WIDE;
use super::world::STORY;
use crate::common::place::Place;
use crate::common::program::program;
use folkmoot_transcript::FILE_LABEL;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::time::Duration;

const MIB: usize = 1024 * 1024;
const BESIDE: usize = 72 * MIB;
/// Noise that is offered.
const NOISE: usize = 1024 * MIB;
/// Items of the widest set.
const ITEMS: usize = 16_384;

/// The most memory that a process has had so far, in bytes; none if it has ended, or where the
/// system does not say so in this way.
fn peak(child: &Child) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Runs `folkmoot verify` to its end, and feeds it: its exit code, and the most memory that it had.
fn verify(place: &Place, line: &[&str], feed: impl FnOnce(ChildStdin) + Send) -> (i32, usize) {
    let mut command = program(&place.path().join("nobody"));
    command.arg("verify").args(line).current_dir(place.path());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| feed(input));
        let mut most = 0;
        loop {
            most = most.max(peak(&child).unwrap_or_default());
            if let Some(status) = child.try_wait().unwrap() {
                println!("{line:?}: {} KiB", most / 1024);
                return (status.code().unwrap(), most);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    })
}

/// A gigabyte of noise behind a beginning, or as much as is read of it.
fn noise(begin: &[u8]) -> impl FnOnce(ChildStdin) + Send {
    move |mut input| {
        let mut state = 7_u64;
        let mut piece = vec![0; MIB];
        for chunk in piece.chunks_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        let mut sent = input.write_all(begin);
        for _ in 0..NOISE / MIB {
            sent = sent.and_then(|()| input.write_all(&piece));
        }
        // The reader goes when it has seen enough.
        drop(sent);
    }
}

#[test]
fn what_has_no_end_costs_no_memory() {
    let place = Place::new("endless");
    std::fs::write(place.path().join("charter.cms"), Whose::Story.charter()).unwrap();
    let zero = "/dev/zero";
    for line in [
        &[zero][..],
        &[zero, zero],
        &["charter.cms", zero],
        &[zero, "--charter", "charter.cms"],
        &["charter.cms", "--charter", zero],
        &["charter.cms", "--charter", "charter.cms", "--transcript", zero],
    ] {
        let (code, most) = verify(&place, line, drop);
        assert!([1, 3, 5].contains(&code) && most < BESIDE, "{line:?}: {code}, {most} bytes");
    }
}

#[test]
fn a_gigabyte_of_noise_costs_no_memory() {
    let place = Place::new("noise");
    std::fs::write(place.path().join("charter.cms"), Whose::Story.charter()).unwrap();
    let whole = STORY.file();
    let mut charter = Parts::story();
    charter.0.retain(|(kind, _)| *kind == CHARTER);
    // Without its end, which has no bytes.
    let open = &whole[..whole.len() - 5];
    let held = [open, &[6, 0, 15, 255, 255]].concat();
    for begin in [&[][..], FILE_LABEL, &charter.file(), open, &held, &whole] {
        let (code, most) = verify(&place, &["charter.cms", "/dev/stdin"], noise(begin));
        assert!(code == 1 && most < BESIDE + begin.len(), "{} bytes: {code}, {most}", begin.len());
        let (code, most) = verify(&place, &["/dev/stdin", "charter.cms"], noise(begin));
        assert!(code != 0 && most < BESIDE, "{} bytes: {code}, {most}", begin.len());
    }
}

/// The file stands, and costs no more.
fn costs_little(name: &str, file: &[u8]) {
    let place = Place::new(name);
    std::fs::write(place.path().join("charter.cms"), WIDE.charter()).unwrap();
    std::fs::write(place.path().join("wide.moot"), file).unwrap();
    let (code, most) = verify(&place, &["charter.cms", "wide.moot"], drop);
    assert!(code == 0 && most < BESIDE + file.len(), "{code}: {most} bytes for {}", file.len());
}

#[test]
fn the_widest_set_costs_little_memory_beside_itself() {
    costs_little("wide", &WIDE.file(ITEMS));
}

#[test]
fn the_longest_state_costs_little_memory_beside_itself() {
    costs_little("longest", &WIDE.largest());
}
