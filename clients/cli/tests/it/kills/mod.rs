//! The group's key outlives its holders: real processes are killed while new shares are made, and
//! some of them are gone for good; and a holder that has lost its share has it again.
//!
//! ```text
//! beginning  six founders share a key, and are stopped: a copy of each folder, to begin from many times
//! moment     one is voted out, which makes new shares; at a drawn moment some die for good, their folders too,
//!            perhaps with all others, who start again; whoever is left, as many as sign, lets a guest in,
//!            and OpenSSL takes the guest's certificate
//! lost       a holder is stopped, its store deleted, and it starts among as many as repair takes; Shoup's: by the dealer
//! ```
//! `FOLKMOOT_CRASH_MOMENTS` says how many moments, `FOLKMOOT_CRASH_SEED` the first seed. Each
//! moment has a seed of its own, one higher than the one before, so that it can be played again
//! alone.

mod beginning;
mod lost;

use crate::common::draw::Draw;
use beginning::Beginning;
use std::collections::BTreeMap;
use std::time::Instant;

/// Moments in a usual run: two of frost and one of ts-dsa. A release is checked with 200.
const MOMENTS: u64 = 3;

#[test]
fn killed_at_drawn_moments_of_resharing_and_some_gone_for_good_the_group_signs() {
    let wanted = Draw::setting("FOLKMOOT_CRASH_MOMENTS", MOMENTS);
    let first = Draw::setting("FOLKMOOT_CRASH_SEED", 1);
    println!("FOLKMOOT_CRASH_MOMENTS={wanted} FOLKMOOT_CRASH_SEED={first}");
    let mut beginnings: BTreeMap<&str, Beginning> = BTreeMap::new();
    for (done, seed) in (first..).take(usize::try_from(wanted).unwrap()).enumerate() {
        let scheme = if seed.is_multiple_of(3) { "ts-dsa" } else { "frost" };
        let beginning = beginnings.entry(scheme).or_insert_with(|| Beginning::new(scheme));
        let begun = Instant::now();
        let told = beginning.moment(&mut Draw::new(seed));
        let told = told.unwrap_or_else(|why| {
            panic!(
                "after {done} moments, FOLKMOOT_CRASH_MOMENTS=1 FOLKMOOT_CRASH_SEED={seed} ({scheme}): {why}"
            )
        });
        println!("moment {:3} seed {seed} {scheme:6} in {:?}: {told}", done + 1, begun.elapsed());
    }
}
