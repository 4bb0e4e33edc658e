//! What comes through between a program of liblcm and one of ours, at a pace.

use crate::Outcome;
use crate::contender::{Common, Contender, Place};
use clap::Args;
use serde_json::json;
use std::time::Duration;

const SIZES: [usize; 7] = [100, 1_464, 10_000, 100_000, 1_000_000, 3_000_000, 10_000_000];
const MILLISECONDS: usize = 1_000;
/// How much is sent in a second.
const BYTES_A_SECOND: usize = 40_000_000;
const RATE_MAX: usize = 1_000;

#[derive(Debug, Args)]
pub(crate) struct Across {
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(options: &Across) -> Outcome<()> {
    let place = Place::prepare(&options.common)?;
    println!("{}", json!({"measures": "across", "conditions": place.conditions()}));
    for size in SIZES {
        for (says, hears) in [
            (Contender::Liblcm, Contender::Liblcm),
            (Contender::Liblcm, Contender::Plain),
            (Contender::Plain, Contender::Liblcm),
            (Contender::Plain, Contender::Plain),
        ] {
            let receiver = place.start_among(says, hears, "receive", 1)?;
            let mut sender = place.start(says, "send", 0)?;
            std::thread::sleep(Duration::from_millis(200));
            let rate = (BYTES_A_SECOND / size).clamp(1, RATE_MAX);
            sender.tell(&format!("{size} {MILLISECONDS} {rate}"))?;
            let sent = sender.numbers(Duration::from_secs(30))?.first().copied().unwrap_or_default();
            // A receiver that had nothing says nothing.
            let came = receiver.numbers(Duration::from_secs(1)).unwrap_or_default();
            let came = came.first().copied().unwrap_or_default();
            let (says, hears) = (says.name(), hears.name());
            println!("{}", json!({"bytes": size, "says": says, "hears": hears, "sent": sent, "came": came}));
        }
    }
    Ok(())
}
