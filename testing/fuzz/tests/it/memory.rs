//! If strangers flood a program that embeds both stacks with datagrams, it does not grow.

use core::time::Duration;
use folkmoot_base::Locator;
use folkmoot_fuzz::Player;
use std::fs;
use std::process::Command;

/// Datagrams of the flood.
const FLOOD: u32 = 60_000;
/// What both stacks may grow by: half-open handshakes, guests and traces have bounds far below
/// this.
const GROWTH_BYTES_MAX: usize = 24 * 1024 * 1024;
/// Set for the process in which the flood is alone: what other tests take would count too.
const ALONE: &str = "FOLKMOOT_FLOOD_ALONE";
const NAME: &str = "memory::a_flood_of_strangers_is_bounded";

/// Resident memory in bytes; `None` where the system does not say so in this way.
fn resident() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
fn a_flood_of_strangers_is_bounded() {
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let output = alone.args([NAME, "--exact"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let hello = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/link_message/00")).unwrap();
    let mut player = Player::new(0);
    let mut state = 7_u64;
    let mut send = |count: u32| {
        for number in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut datagram = hello.clone();
            let place = usize::try_from(state >> 33).unwrap() % datagram.len();
            datagram[place] ^= u8::try_from(state >> 56).unwrap();
            datagram[2..6].copy_from_slice(&number.to_be_bytes());
            if number % 3 == 0 {
                datagram[1] = u8::try_from(state >> 60).unwrap() % 8;
                datagram.resize(datagram.len() + place * 8, 1);
            }
            player.datagram(Locator::memory(10 + number), datagram.into());
            if number % 16 == 0 {
                player.pass(Duration::from_millis(1));
            }
        }
    };
    send(FLOOD / 10);
    let Some(before) = resident() else { return };
    send(FLOOD);
    let after = resident().unwrap();
    assert!(after.saturating_sub(before) < GROWTH_BYTES_MAX, "{before} to {after} bytes");
}
