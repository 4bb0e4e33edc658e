//! The corpus through its targets: as it is, cut at every place, lengthened, and with each bit flipped; then the promises
//! that no single input shows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::Locator;
use folkmoot_fuzz::{Seat, TARGETS, Target};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Longest seed of which every bit is flipped, in bytes.
const FLIPPED_BYTES_MAX: usize = 2_048;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    let folder = fs::read_dir(corpus().join(name)).unwrap_or_else(|error| panic!("corpus/{name}: {error}"));
    folder.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

/// Runs each seed and its neighbours; of the neighbours, one in `stride`.
fn replay(name: &str, target: Target, stride: usize) {
    let seeds = seeds_of(name);
    assert!(!seeds.is_empty(), "{name} has seeds");
    target(&[]);
    for seed in seeds {
        target(&seed);
        for end in (0..seed.len()).step_by(stride) {
            target(&seed[..end]);
        }
        for more in [&[0_u8][..], &[0xff], &[0; 64]] {
            target(&[&seed, more].concat());
        }
        if seed.len() < FLIPPED_BYTES_MAX {
            let mut flipped = seed.clone();
            for bit in (0..seed.len() * 8).step_by(stride) {
                flipped[bit / 8] ^= 1 << (bit % 8);
                target(&flipped);
                flipped[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
#[test]
fn timing() {
    for (name, target) in TARGETS {
        let seeds = seeds_of(name);
        let start = std::time::Instant::now();
        for seed in &seeds { for _ in 0..5 { target(seed); } }
        let each = start.elapsed() / (5 * seeds.len() as u32);
        let bytes: usize = seeds.iter().map(Vec::len).sum();
        let runs: usize = seeds.iter().map(|s| s.len() * if s.len() < 2048 {9} else {1}).sum();
        println!("{name:20} {each:>10.1?} bytes {bytes} runs {runs} total {:?}", each * runs as u32);
    }
}
