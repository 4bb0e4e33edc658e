//! What comes through in a second, if it is sent as fast as it can be.

use crate::Outcome;
use crate::contender::{Common, Contender, Place};
use crate::process::Process;
use crate::statistics::{median, rounded};
use clap::Args;
use serde_json::json;
use std::time::Duration;

const WHO: [Contender; 5] =
    [Contender::Liblcm, Contender::Plain, Contender::PlainMany, Contender::Secured, Contender::SecuredMany];

#[derive(Debug, Args)]
pub(crate) struct Throughput {
    #[command(flatten)]
    common: Common,
    /// Sizes of the messages, in bytes
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_350, 10_000])]
    sizes: Vec<usize>,
    /// How often each is measured; the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How long each sends
    #[arg(long, default_value_t = 2_000)]
    milliseconds: usize,
}

/// One sending: messages a second, sent and delivered, and the share that was lost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    pub(crate) sent: f64,
    pub(crate) delivered: f64,
    pub(crate) lost: f64,
}

pub(crate) fn run(options: &Throughput) -> Outcome<()> {
    let place = Place::prepare(&options.common)?;
    println!("{}", json!({"measures": "throughput", "conditions": place.conditions()}));
    for size in &options.sizes {
        let mut rates: [Vec<Rate>; 5] = Default::default();
        for _ in 0..options.rounds {
            for (who, rates) in WHO.into_iter().zip(&mut rates) {
                rates.push(measure(&place, who, *size, options.milliseconds)?);
            }
        }
        println!("{}", told(*size, &rates));
    }
    Ok(())
}

fn measure(place: &Place, who: Contender, size: usize, milliseconds: usize) -> Outcome<Rate> {
    let receiver = place.start(who, "receive", 1)?;
    let mut sender = place.start(who, "send", 0)?;
    warm(&mut sender, &receiver, size)?;
    said(&mut sender, &receiver, (size, milliseconds, 0))
}

/// Says something before it counts, so that memory and routes are there.
pub(crate) fn warm(sender: &mut Process, receiver: &Process, size: usize) -> Outcome<()> {
    std::thread::sleep(Duration::from_millis(200));
    said(sender, receiver, (size, 100, 1_000)).map(drop)
}

/// What comes from one to the other of messages of this size, for so many milliseconds, so many a
/// second; 0 for as fast as they can be sent.
pub(crate) fn said(
    sender: &mut Process,
    receiver: &Process,
    (size, milliseconds, a_second): (usize, usize, usize),
) -> Outcome<Rate> {
    sender.tell(&format!("{size} {milliseconds} {a_second}"))?;
    let sent = sender.numbers(Duration::from_secs(30))?;
    let came = receiver.numbers(Duration::from_secs(2))?;
    let a_second = |numbers: &[u64], took: usize| {
        let of = |place: usize| numbers.get(place).copied().unwrap_or_default() as f64;
        of(0) / (of(took) / 1e9).max(1e-9)
    };
    let count = |numbers: &[u64]| numbers.first().copied().unwrap_or_default() as f64;
    let lost = 1.0 - count(&came) / count(&sent).max(1.0);
    Ok(Rate { sent: a_second(&sent, 1), delivered: a_second(&came, 2), lost })
}

fn told(size: usize, rates: &[Vec<Rate>; 5]) -> serde_json::Value {
    let delivered = |rates: &Vec<Rate>| median(&rates.iter().map(|rate| rate.delivered).collect::<Vec<_>>());
    let liblcm = rates.first().map(delivered).unwrap_or_default();
    let mut all = serde_json::Map::from_iter([("bytes".to_owned(), json!(size))]);
    for (who, rates) in WHO.into_iter().zip(rates) {
        let came = delivered(rates);
        let sent = median(&rates.iter().map(|rate| rate.sent).collect::<Vec<_>>());
        let each: Vec<f64> = rates.iter().map(|rate| rate.delivered.round()).collect();
        let told = json!({
            "delivered": came.round(), "sent": sent.round(), "megabytes": rounded(came * size as f64 / 1e6),
            "ratio": rounded(came / liblcm), "rounds": each,
        });
        all.insert(who.name().to_owned(), told);
    }
    all.into()
}
