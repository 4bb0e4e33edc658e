//! A run is a seed (DECISIONS P1): the same draws, the same bytes; in this process, and in the one
//! that wrote the digests here.

use super::driver::World;
use folkmoot_agreement::mls::Suite;
use folkmoot_base::{Digest, digest};

/// Everything that was said and agreed in a script with every kind of change.
fn transcript(seed: u64, suite: Suite) -> Digest {
    let mut world = World::new(seed);
    world.suite = suite;
    let mut said = Vec::new();
    for members in [&[0, 1, 2, 3][..], &[0, 2, 3, 4], &[0, 2, 3, 4], &[2], &[0, 1, 2, 3, 4, 5]] {
        let (secret, trial) = world.run(members);
        said.push(digest(&[&secret]));
        said.extend(trial.said.iter().map(|said| digest(&[&[said.step], &said.body])));
    }
    digest(&said.iter().map(Digest::as_slice).collect::<Vec<_>>())
}

fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_same_seed_says_the_same_bytes() {
    let first = transcript(1, Suite::Classical);
    assert_eq!(first, transcript(1, Suite::Classical));
    assert_ne!(first, transcript(2, Suite::Classical));
    assert_eq!(hex(&first), "a09350616c257c54ed3f2d3645364a2cdea75b64408d1a2b3b110dc7685e6fa9");
}

#[test]
fn the_hybrid_suite_says_the_same_bytes() {
    let first = transcript(1, Suite::Hybrid);
    assert_eq!(first, transcript(1, Suite::Hybrid));
    assert_eq!(hex(&first), "687f433ce868d5de0e69ea0eafdfa3d7f1bd1c42e82eaf5825f255ae0b3fcae8");
}
