//! Runs the corpus through its targets: each seed as it is, cut at every place, lengthened, and
//! with each bit flipped.

use folkmoot_fuzz::{TARGETS, Target};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Longest seed of which every bit is flipped, in bytes.
const FLIPPED_BYTES_MAX: usize = 2_048;

/// Machines that cost milliseconds each time: of their neighbours one in so many is run.
/// `FOLKMOOT_REPLAY_ALL=1` runs all.
const DEAR: &[(&str, usize)] = &[
    ("signing_kinds", 11),
    ("asm_words", 7),
    ("asm_forms", 3),
    ("identity_pem", 3),
    ("line_item", 17),
    ("line_file", 41),
    ("link_stranger", 7),
    ("link_liar", 13),
    ("agreement_run", 7),
    ("keying_machine", 7),
    ("sharing_run", 61),
    ("admission_desk", 7),
    ("admission_applicant", 3),
    ("authority_desk", 61),
    ("authority_office", 3),
    ("node_peer", 61),
    ("lcm_opener", 11),
    ("member_words", 41),
    ("embedded_stranger", 11),
    ("embedded_pair", 3),
    ("stored_state", 41),
    ("shoup_forms", 3),
    ("shoup_run", 61),
    ("dealer_secret", 11),
    ("dealer_share", 41),
];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn names(path: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn target(name: &str) -> Target {
    TARGETS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no target {name}")).1
}

fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    let folder =
        fs::read_dir(folder("corpus").join(name)).unwrap_or_else(|error| panic!("corpus/{name}: {error}"));
    folder.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

/// Runs each seed and its neighbours.
fn replay(name: &str) {
    let target = target(name);
    let dear = DEAR
        .iter()
        .find(|(dear, _)| *dear == name)
        .filter(|_| std::env::var_os("FOLKMOOT_REPLAY_ALL").is_none());
    let stride = dear.map_or(1, |(_, stride)| *stride);
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

/// One test for each target, and one that none is missing.
macro_rules! replays {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            replay(stringify!($name));
        })+

        #[test]
        fn every_target_is_replayed_has_seeds_and_a_file_for_the_fuzzer() {
            let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
            assert_eq!(targets, BTreeSet::from([$(stringify!($name).to_owned()),+]));
            assert_eq!(targets, names("corpus"));
            assert_eq!(targets, names("libfuzzer/fuzz_targets"));
            let manifest = fs::read_to_string(folder("libfuzzer/Cargo.toml")).unwrap();
            for name in &targets {
                assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} is not in the manifest");
            }
        }
    };
}

replays! {
    base_codec
    base_text
    signing_forms
    signing_kinds
    agreement_token
    asm_forms
    asm_words
    certificate_der
    identity_pem
    sealed_key
    membership_der
    revocation_der
    charter_toml
    charter_change
    signed_charter
    vote
    request
    csr
    signed_message
    line_item
    line_state
    line_ballot
    line_file
    ticket
    link_message
    ring_frame
    group_message
    flush_frame
    keying_envelope
    admission_message
    authority_message
    authority_office
    node_sync
    attach_frames
    lcm_datagram
    lcm_receiver
    lcm_log
    lcm_address
    lcm_header
    lcm_opener
    lcm_right
    lcm_permit
    lcm_confirming
    lcm_keys_message
    lcm_keys_machine
    lcm_types
    lcm_typed
    link_stranger
    link_wire
    link_liar
    ring_gathering
    ring_operational
    group_ordered
    flush_machine
    agreement_run
    sharing_forms
    sharing_run
    frost_forms
    keying_machine
    session_machine
    admission_desk
    admission_applicant
    authority_desk
    letters_word
    letters_desk
    letters_writer
    node_peer
    member_words
    embedded_stranger
    embedded_pair
    stored_state
    shoup_forms
    shoup_run
    ts_rsa_run
    dealer_secret
    dealer_share
    replica_message
    replica_machine
}

#[test]
fn the_corpus_is_small() {
    let bytes: usize = names("corpus").iter().flat_map(|name| seeds_of(name)).map(|seed| seed.len()).sum();
    assert!(bytes < 1_000_000, "{bytes} bytes");
}
