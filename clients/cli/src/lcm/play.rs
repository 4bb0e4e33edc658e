//! `folkmoot lcm play`

use super::meeting::Meeting;
use super::reading::{Next, messages};
use super::{Place, end};
use crate::args::lcm::Play;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use serde_json::json;
use std::fs::File;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// A pause that is longer than this is told.
const LONG: Duration = Duration::from_mins(1);

/// When each message is due: so long after the one before it as in the log, by the factor.
#[derive(Debug)]
struct Pace {
    speed: f64,
    /// The last message's time in the log, and when it was due.
    last: Option<(i64, Instant)>,
}

impl Pace {
    /// Where the clock of a log goes back there is no pause, and those after it are as they were.
    fn due(&mut self, time: i64) -> Option<Instant> {
        if self.speed == 0.0 {
            return None;
        }
        let (before, start) = *self.last.get_or_insert_with(|| (time, Instant::now()));
        let micros = u64::try_from(time.saturating_sub(before)).unwrap_or(0);
        let pause = Duration::from_micros(micros).as_secs_f64() / self.speed;
        let due = start.checked_add(Duration::try_from_secs_f64(pause).ok()?)?;
        self.last = Some((time, due));
        Some(due)
    }
}

pub(super) async fn run(at: Meeting, play: Play, json: bool) -> Result<(), Failure> {
    let Play { file, channel: wanted, secured, speed } = play;
    let wrong = |error: io::Error| Failure::file(&file, &error);
    let log = File::open(&file).map_err(wrong)?;
    let place = Place::join(at, &secured, json).await?;
    let mut end = std::pin::pin!(end(None));
    let mut log = messages(log, wanted);
    let mut pace = Pace { speed, last: None };
    let (mut published, mut skipped) = (0_u64, 0);
    loop {
        let next = tokio::select! {
            biased;
            () = &mut end => break,
            next = log.recv() => next,
        };
        let (channel, time, payload) = match next.transpose().map_err(wrong)? {
            Some(Next::Message { channel, time, payload }) => (channel, time, payload),
            Some(Next::End(damaged)) => {
                skipped = damaged;
                break;
            }
            None => break,
        };
        if let Some(due) = pace.due(time) {
            tokio::select! {
                () = wait(due) => {}
                () = &mut end => break,
            }
        }
        place.publish(channel, &payload).await?;
        published = published.saturating_add(1);
    }
    let left = place.leave().await;
    let value = json!({ "file": file, "messages": published, "skipped_bytes": skipped });
    data(json, &value, || format!("{} published", many_of(published, "message")));
    if skipped > 0 {
        let text = format!("the log is damaged: {} skipped", many_of(skipped, "byte"));
        return Err(Failure::new(Exit::No, text));
    }
    left
}

async fn wait(due: Instant) {
    let pause = due.saturating_duration_since(Instant::now());
    if pause > LONG {
        let seconds = pause.as_secs();
        eprintln!(
            "the log pauses here, and the next message comes in {seconds} s. --speed 0 plays without pauses"
        );
    }
    tokio::time::sleep_until(due).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(speed: f64, times: &[i64]) -> Vec<f64> {
        let mut pace = Pace { speed, last: None };
        let due: Vec<Instant> = times.iter().map(|time| pace.due(*time).unwrap()).collect();
        due.iter().map(|one| one.duration_since(due[0]).as_secs_f64()).collect()
    }

    #[test]
    fn pauses_are_those_of_the_log() {
        assert_eq!(due(2.0, &[5_000_000, 6_000_000, 9_000_000]), [0.0, 0.5, 2.0]);
        assert_eq!(Pace { speed: 0.0, last: None }.due(5), None);
    }

    #[test]
    fn a_clock_that_goes_back_costs_that_pause_alone() {
        assert_eq!(due(1.0, &[9_000_000, 4_000_000, 5_000_000, 6_000_000]), [0.0, 0.0, 1.0, 2.0]);
        assert_eq!(due(1.0, &[0, i64::MIN, i64::MIN + 1_000_000]), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_time_far_ahead_is_far_ahead() {
        let far = due(0.001, &[i64::MIN, i64::MAX]);
        assert!(far[1] > 9e15, "{far:?}");
    }
}
