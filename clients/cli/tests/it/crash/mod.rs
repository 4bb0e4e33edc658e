//! Kill -9 at drawn moments loses nothing that was acknowledged (DECISIONS O4) and reuses no number
//! and no key; a damaged store is refused with a clear error, and the others go on.
//!
//! Real processes, each with its own state folder, over UDP on loopback. `FOLKMOOT_CRASH_MOMENTS`
//! says how many moments, `FOLKMOOT_CRASH_SEED` which ones; both are printed.
//!
//! ```text
//! stage    the group: three founders, one guest       actor   one process: start, ask, kill, look at its disk
//! moments  join, vote, send, view: who dies, when     heard   what it printed     disk   what it kept
//! checks   what must hold of all logs and all disks   damage  truncated and flipped stores
//! ```

mod actor;
mod checks;
mod damage;
mod disk;
mod heard;
mod moments;
mod stage;

use crate::common::draw::Draw;
use moments::Moments;
use stage::Stage;

/// Moments in a usual run; a release is checked with 50 and more.
const MOMENTS: u64 = 12;

#[test]
fn kill_9_at_drawn_moments_loses_nothing_acknowledged_and_reuses_no_number() {
    let wanted = Draw::setting("FOLKMOOT_CRASH_MOMENTS", MOMENTS);
    let seed = Draw::setting("FOLKMOOT_CRASH_SEED", 1);
    println!("FOLKMOOT_CRASH_MOMENTS={wanted} FOLKMOOT_CRASH_SEED={seed}");
    let stage = Stage::new("crash").unwrap();
    let mut run = Moments::new(stage, Draw::new(seed));
    while run.done < wanted {
        run.round().unwrap_or_else(|why| panic!("after moment {}, seed {seed}: {why}", run.done));
    }
    run.stage.round("the end").unwrap();
    run.stage.stop();
    let (charter, everybody) = (run.stage.charter.clone(), run.stage.everybody().collect::<Vec<_>>());
    everybody.iter().for_each(|one| checks::disks(one, &charter));
    checks::transcripts(&run.stage.cast, &charter);
    let (messages, views) = checks::logs(&everybody);
    println!("{} moments, {messages} deliveries in {views} views", run.done);
    assert!(messages > 100 && views > 10, "{messages} deliveries in {views} views prove little");
}

#[test]
fn a_damaged_store_is_refused_clearly_and_the_others_go_on() {
    damage::run().unwrap();
}
