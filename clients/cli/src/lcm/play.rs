//! `folkmoot lcm play`

use super::{end, failed};
use crate::args::lcm::Play;
use crate::exit::{Exit, Failure};
use crate::show::{data, many_of};
use folkmoot_lcm::Bus;
use folkmoot_pubsub::Address;
use folkmoot_pubsub::log::{Event, Step, step};
use serde_json::json;
use std::fs::File;
use std::io::{self, Read};
use std::time::Duration;
use tokio::time::Instant;

/// What is read of the file at once.
const CHUNK: usize = 1 << 20;

/// A log that is read event by event; what is damaged is skipped and counted.
#[derive(Debug)]
struct Reader<R> {
    file: R,
    buffer: Vec<u8>,
    /// How much of the buffer was dealt with.
    done: usize,
    last: bool,
    skipped: u64,
}

impl<R: Read> Reader<R> {
    fn new(file: R) -> Self {
        Self { file, buffer: Vec::new(), done: 0, last: false, skipped: 0 }
    }

    /// Hands the next event to `take`; `None` at the end.
    fn next<T>(&mut self, take: impl FnOnce(Event<'_>) -> T) -> io::Result<Option<T>> {
        loop {
            let (drop, damaged) = match step(self.buffer.get(self.done..).unwrap_or_default(), self.last) {
                Step::Event { event, bytes } => {
                    let taken = take(event);
                    self.done = self.done.saturating_add(bytes);
                    return Ok(Some(taken));
                }
                Step::Skip(bytes) => (bytes, bytes),
                Step::More(bytes) => {
                    self.fill(bytes)?;
                    (0, 0)
                }
                Step::End => return Ok(None),
            };
            self.done = self.done.saturating_add(drop);
            self.skipped = self.skipped.saturating_add(u64::try_from(damaged).unwrap_or(u64::MAX));
        }
    }

    /// Reads until so many bytes are there, or the file ends.
    fn fill(&mut self, bytes: usize) -> io::Result<()> {
        self.buffer.drain(..self.done.min(self.buffer.len()));
        self.done = 0;
        let lacks = bytes.saturating_sub(self.buffer.len()).max(CHUNK);
        let lacks = u64::try_from(lacks).unwrap_or(u64::MAX);
        let read = self.file.by_ref().take(lacks).read_to_end(&mut self.buffer)?;
        self.last = u64::try_from(read).unwrap_or(u64::MAX) < lacks;
        Ok(())
    }
}

/// When each message is due: its time in the log after the first one's, by the factor.
#[derive(Debug)]
struct Pace {
    speed: f64,
    first: Option<(i64, Instant)>,
}

impl Pace {
    /// A log whose clock goes back has no pause there.
    fn due(&mut self, time: i64) -> Option<Instant> {
        if self.speed == 0.0 {
            return None;
        }
        let (first, start) = *self.first.get_or_insert_with(|| (time, Instant::now()));
        let micros = u64::try_from(time.saturating_sub(first)).ok()?;
        let pause =
            Duration::try_from_secs_f64(Duration::from_micros(micros).as_secs_f64() / self.speed).ok()?;
        start.checked_add(pause)
    }
}

pub(super) async fn run(address: &Address, play: &Play, json: bool) -> Result<(), Failure> {
    let wrong = |error: io::Error| Failure::file(&play.file, &error);
    let mut reader = Reader::new(File::open(&play.file).map_err(wrong)?);
    let bus = Bus::join(*address).map_err(failed)?;
    let mut end = std::pin::pin!(end(None));
    let mut pace = Pace { speed: play.speed, first: None };
    let (mut messages, mut stopped) = (0_u64, false);
    while !stopped {
        let next = reader.next(|event| (event.channel, event.time, event.payload.to_vec())).map_err(wrong)?;
        let Some((channel, time, payload)) = next else { break };
        if !play.channel.matches(&channel) {
            continue;
        }
        if let Some(due) = pace.due(time) {
            stopped = tokio::select! {
                () = tokio::time::sleep_until(due) => false,
                () = &mut end => true,
            };
        }
        if !stopped {
            bus.publish(channel, &payload).await.map_err(failed)?;
            messages = messages.saturating_add(1);
        }
    }
    let value = json!({ "file": play.file, "messages": messages, "skipped_bytes": reader.skipped });
    data(json, &value, || format!("{} published", many_of(messages, "message")));
    if reader.skipped > 0 {
        let text = format!("the log is damaged: {} skipped", many_of(reader.skipped, "byte"));
        return Err(Failure::new(Exit::No, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot_pubsub::Channel;

    #[test]
    fn a_log_is_read_in_pieces_and_what_is_damaged_is_counted() {
        let mut file = Vec::new();
        for number in 0..5 {
            let payload = vec![7; 600_000];
            let channel = Channel::new("A").unwrap();
            Event { number, time: 0, channel, payload: &payload }.encode(&mut file).unwrap();
            file.extend_from_slice(if number == 2 { b"junk" } else { b"" });
        }
        let mut reader = Reader::new(file.as_slice());
        let mut numbers = Vec::new();
        while let Some(number) = reader.next(|event| event.number).unwrap() {
            numbers.push(number);
        }
        assert_eq!((numbers, reader.skipped), (vec![0, 1, 2, 3, 4], 4));
    }

    #[test]
    fn pauses_are_those_of_the_log() {
        let mut pace = Pace { speed: 2.0, first: None };
        let due: Vec<Option<Instant>> =
            [5_000_000, 6_000_000, 4_000_000, 9_000_000].map(|time| pace.due(time)).into();
        let start = due[0].unwrap();
        let after = |millis: u64| Some(start + Duration::from_millis(millis));
        assert_eq!(due[1..], [after(500), None, after(2_000)]);
        assert_eq!(Pace { speed: 0.0, first: None }.due(5), None);
    }
}
