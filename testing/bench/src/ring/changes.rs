//! Modes that change who is there: SIGKILL of a member, a partition and its end, a join, strangers;
//! and one in which nothing happens.

use super::herd::Herd;
use super::words::{Counts, Order, between, now};
use crate::args::{BenchRing, RingMode};
use crate::price::median;
use folkmoot_cli::exit::Failure;
use folkmoot_cli::progress::Progress;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What was begun before is over after this.
const QUIET: Duration = Duration::from_millis(500);

/// After this, nothing is left of the beginning, and the token is held for longest.
const REST: Duration = Duration::from_secs(3);

/// What one change took, by the name of what was waited for.
type Took = Vec<(&'static str, Duration)>;

/// Makes the change as often as the options say.
pub(crate) async fn changes(
    herd: &mut Herd,
    options: &BenchRing,
    progress: &Progress,
) -> Result<Value, Failure> {
    let (mut all, mut configurations) = (Vec::new(), Vec::new());
    for _ in 0..options.times {
        tokio::time::sleep(QUIET).await;
        let (took, installed) = match options.mode {
            RingMode::Kill => kill(herd).await?,
            RingMode::Heal => heal(herd).await?,
            RingMode::Admit => admit(herd).await?,
            _ => join(herd).await?,
        };
        all.push(took);
        configurations.push(installed);
        progress.step();
    }
    Ok(json!({
        "bench": "ring", "mode": options.mode, "nodes": herd.all().len(), "times": options.times,
        "one_ring_ms": millis(herd.formed.0), "formed_ms": millis(herd.formed.1), "trip_ms": options.trip, "loss_percent": options.loss,
        "median_ms": medians(&all), "runs_ms": all.iter().map(in_millis).collect::<Vec<_>>(),
        "configurations": configurations,
    }))
}

/// What it took members to form a ring and a view.
pub(super) fn forms(options: &BenchRing, formed: &[(Duration, Duration)]) -> Value {
    let took = |(ring, view): &(Duration, Duration)| vec![("one_ring", *ring), ("view_of_all", *view)];
    let all: Vec<Took> = formed.iter().map(took).collect();
    json!({
        "bench": "ring", "mode": options.mode, "nodes": options.nodes(), "times": options.times,
        "trip_ms": options.trip, "loss_percent": options.loss,
        "median_ms": medians(&all), "runs_ms": all.iter().map(in_millis).collect::<Vec<_>>(),
    })
}

fn millis(time: Duration) -> Value {
    ((time.as_secs_f64() * 10_000.0).round() / 10.0).into()
}

fn in_millis(took: &Took) -> Map<String, Value> {
    took.iter().map(|(what, time)| ((*what).to_owned(), millis(*time))).collect()
}

fn medians(all: &[Took]) -> Map<String, Value> {
    let names = all.first().into_iter().flatten().map(|(what, _)| *what);
    let of = |what: &str| {
        let times = all.iter().flatten().filter(|(name, _)| *name == what);
        millis(median(times.map(|(_, time)| *time).collect()))
    };
    names.map(|what| (what.to_owned(), of(what))).collect()
}

fn since(began: u64, end: u64) -> Duration {
    Duration::from_nanos(end.saturating_sub(began))
}

/// The most configurations that one of these has installed while `counted` went on.
async fn installed(herd: &mut Herd, who: &[usize], before: &[Counts]) -> Result<u64, Failure> {
    let after = herd.counts(who).await?;
    let spent = before.iter().zip(&after).map(|(before, after)| between(before, after));
    Ok(spent.filter_map(|counts| counts.get("configurations").copied()).max().unwrap_or(0))
}

/// The last member is killed: until all others have a view without it. Then it starts again: until
/// all have one view.
async fn kill(herd: &mut Herd) -> Result<(Took, u64), Failure> {
    let all = herd.all();
    let (last, rest) = split(&all)?;
    let before = herd.counts(rest).await?;
    let began = now();
    herd.kill(last).await?;
    let gone = since(began, herd.view(rest, rest, began).await?);
    let ring = since(began, herd.ring(rest));
    let installed = installed(herd, rest, &before).await?;
    tokio::time::sleep(QUIET).await;
    let began = now();
    herd.start(last).await?;
    let back = since(began, herd.view(&all, &all, began).await?);
    let took = vec![("others_have_ring", ring), ("others_have_view", gone), ("back_after_start", back)];
    Ok((took, installed))
}

/// The members are cut into halves: until both sides have their views. Then the cut ends: until all
/// have one view.
async fn heal(herd: &mut Herd) -> Result<(Took, u64), Failure> {
    let all = herd.all();
    let (left, right) = all.split_at(all.len().div_ceil(2));
    let began = now();
    for (here, there) in [(left, right), (right, left)] {
        let from = herd.places(there);
        herd.order(here, &Order::Cut { from }).await?;
    }
    let mut parted = 0;
    for side in [left, right] {
        parted = herd.view(side, side, began).await?.max(parted);
    }
    tokio::time::sleep(QUIET).await;
    let before = herd.counts(&all).await?;
    let healed = now();
    herd.order(&all, &Order::Heal).await?;
    let whole = since(healed, herd.view(&all, &all, healed).await?);
    let installed = installed(herd, &all, &before).await?;
    Ok((vec![("both_sides_have_view", since(began, parted)), ("one_view", whole)], installed))
}

/// The last member leaves the group and joins it again; then its process ends in good order and
/// starts again.
async fn join(herd: &mut Herd) -> Result<(Took, u64), Failure> {
    let all = herd.all();
    let (last, rest) = split(&all)?;
    let began = now();
    herd.order(&[last], &Order::Leave).await?;
    let left = since(began, herd.view(rest, rest, began).await?);
    tokio::time::sleep(QUIET).await;
    let began = now();
    herd.order(&[last], &Order::Join).await?;
    let joined = since(began, herd.view(&all, &all, began).await?);
    let began = now();
    herd.stop(last).await?;
    let stopped = since(began, herd.view(rest, rest, began).await?);
    tokio::time::sleep(QUIET).await;
    let before = herd.counts(rest).await?;
    let began = now();
    herd.start(last).await?;
    let started = since(began, herd.view(&all, &all, began).await?);
    let installed = installed(herd, rest, &before).await?;
    let took = vec![("leave", left), ("join", joined), ("stop", stopped), ("start_and_join", started)];
    Ok((took, installed))
}

/// A stranger starts and asks: until all have one view with it.
async fn admit(herd: &mut Herd) -> Result<(Took, u64), Failure> {
    let members = herd.all();
    let before = herd.counts(&members).await?;
    let began = now();
    herd.stranger().await?;
    let all = herd.all();
    let took = since(began, herd.view(&all, &all, began).await?);
    let installed = installed(herd, &members, &before).await?;
    Ok((vec![("start_ask_and_join", took)], installed))
}

/// Nobody sends: what each member costs a second.
pub(crate) async fn idle(
    herd: &mut Herd,
    options: &BenchRing,
    progress: &Progress,
) -> Result<Value, Failure> {
    tokio::time::sleep(REST).await;
    let all = herd.all();
    let (began, before) = (now(), herd.counts(&all).await?);
    tokio::time::sleep(Duration::from_secs(options.seconds.into())).await;
    let (after, time) = (herd.counts(&all).await?, since(began, now()));
    progress.step();
    let spent: Vec<Counts> =
        before.iter().zip(&after).map(|(before, after)| between(before, after)).collect();
    let each = |name: &str, scale: f64| {
        let of = |counts: &Counts| counts.get(name).copied().unwrap_or_default() as f64 * scale;
        let all: Vec<f64> = spent.iter().map(|counts| of(counts) / time.as_secs_f64()).collect();
        let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
        let round = |value: f64| (value * 1_000.0).round() / 1_000.0;
        json!({ "mean": round(mean), "most": round(all.iter().copied().fold(0.0, f64::max)) })
    };
    Ok(json!({
        "bench": "ring", "mode": options.mode, "nodes": all.len(), "seconds": options.seconds,
        "cpu_percent": each("cpu_ns", 1e-7), "packets_per_second": each("datagrams_sent", 1.0),
        "configurations": spent.iter().filter_map(|counts| counts.get("configurations").copied()).max(),
    }))
}

fn split(all: &[usize]) -> Result<(usize, &[usize]), Failure> {
    let (last, rest) = all.split_last().ok_or_else(|| Failure::bug("nobody"))?;
    Ok((*last, rest))
}

#[cfg(test)]
mod tests {
    use super::medians;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn each_wait_has_a_median_of_its_own() {
        let took = |first, second| {
            vec![("gone", Duration::from_millis(first)), ("back", Duration::from_micros(second))]
        };
        let all = [took(30, 900), took(10, 1_500), took(20, 1_240)];
        assert_eq!(json!(medians(&all)), json!({ "gone": 20.0, "back": 1.2 }));
        assert!(medians(&[]).is_empty());
    }
}
