//! Perfect forward secrecy: after a history somebody learns every long-term secret of all members,
//! identity keys, shares of the group's key, what is on their disks, and has all that was said. It
//! does not get a key. A module is never given such a secret, so the attack takes them for all that
//! a module draws, sends or derives from. (Their machines begin anew from them in keying's
//! `tests/it/forward.rs`.)

use super::attack::{Dice, Way, ways};
use super::{ModuleName, begin, views};
use crate::world::{Verdict, World, ensure};
use folkmoot_base::digest;

/// Secrets that outlive a run: the identity keys of two members, a share, and the key that seals
/// the shares on a disk.
fn revealed() -> Vec<Vec<u8>> {
    let kinds = ["identity key of 2", "identity key of 0", "share of 2", "sealing key of 2"];
    kinds.iter().map(|kind| digest(&[kind.as_bytes()]).to_vec()).collect()
}

/// Every run of a history with each kind of change.
pub fn withstands(module: ModuleName) -> Verdict {
    let make = |plan: &_, kept: Option<&_>| begin(module, plan, kept);
    let mut world = World::new(&make, 3);
    for view in views() {
        world.complete(&view, |_| true)?;
    }
    for run in 0..world.records.len() {
        let got = ways(module, &world, run, &revealed());
        ensure!(got.is_empty(), "the key of run {run} is got: {got:?}");
    }
    Ok(())
}

/// The same, if one member draws its ephemeral secrets from its identity key.
pub fn is_found(module: ModuleName) -> Verdict {
    let make = |plan: &_, kept: Option<&_>| begin(module, plan, kept);
    let mut world = World::new(&make, 3);
    let distributes = matches!(module, ModuleName::Ckd | ModuleName::CkdHybrid);
    let key = revealed()[usize::from(distributes)].clone();
    world.stream(if distributes { 0 } else { 2 }, Dice::Again(key));
    world.complete(&[0, 1, 2, 3], |_| true)?;
    let got = ways(module, &world, 0, &revealed());
    ensure!(got.contains(&Way::Replayed), "the attack is blind: {got:?}");
    Ok(())
}
