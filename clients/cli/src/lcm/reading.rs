//! A log, read message by message.
//!
//! A thread of its own reads: a pipe may keep it waiting, and Ctrl-C ends the command all the same.

use crate::args::lcm::Channels;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::log::{Event, Step, step};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;
use tokio::sync::mpsc;

/// How many messages are read ahead.
const AHEAD: usize = 4;
/// How much of a log's end is looked at for its last message: more, if that is too little.
const TAILS: [i64; 3] = [1 << 20, 32 << 20, 512 << 20];

/// What a log has next.
#[derive(Debug)]
pub(super) enum Next {
    Message {
        channel: Channel,
        /// In microseconds since 1970.
        time: i64,
        /// How long after the log's first message.
        at: Duration,
        payload: Vec<u8>,
    },
    /// So many bytes were damaged. The last message is so long after the first one, if there is
    /// any.
    End { skipped: u64, length: Option<Duration> },
}

/// The messages whose channels are wanted, from so long after the first one, and the end.
pub(super) fn messages(file: File, wanted: Channels, start: Duration) -> mpsc::Receiver<io::Result<Next>> {
    let (tell, told) = mpsc::channel(AHEAD);
    // Nobody waits for this thread at the end: it may be reading still.
    std::thread::spawn(move || {
        let mut reader = Reader::new(file);
        let (mut first, mut length) = (None, Duration::ZERO);
        loop {
            let next = reader.next(|event| {
                length = between(*first.get_or_insert(event.time), event.time);
                (length >= start).then(|| next(&event, length, &wanted)).flatten()
            });
            let (next, over) = match next {
                Ok(Some(None)) => continue,
                Ok(Some(Some(message))) => (Ok(message), false),
                Ok(None) => (Ok(Next::End { skipped: reader.skipped, length: first.map(|_| length) }), true),
                Err(error) => (Err(error), true),
            };
            if tell.blocking_send(next).is_err() || over {
                return;
            }
        }
    });
    told
}

fn next(event: &Event<'_>, at: Duration, wanted: &Channels) -> Option<Next> {
    let Event { channel, time, payload, .. } = *event;
    wanted.wants(&channel).then(|| Next::Message { channel, time, at, payload: payload.to_vec() })
}

/// From one time of a log to another; nothing if its clock went back.
fn between(first: i64, last: i64) -> Duration {
    let ahead = i128::from(last).saturating_sub(first.into());
    Duration::from_micros(u64::try_from(ahead).unwrap_or(0))
}

/// How long a log is, if its end can be found: not that of a pipe.
pub(super) fn length(mut file: File) -> io::Result<Option<Duration>> {
    let bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let Some(first) = Reader::new(&file).next(|event| event.time)? else { return Ok(None) };
    for tail in TAILS {
        let whole = bytes <= tail.unsigned_abs();
        file.seek(if whole { SeekFrom::Start(0) } else { SeekFrom::End(tail.saturating_neg()) })?;
        let (mut reader, mut last) = (Reader::new(&file), None);
        while let Some(time) = reader.next(|event| event.time)? {
            last = Some(time);
        }
        if last.is_some() || whole {
            return Ok(last.map(|last| between(first, last)));
        }
    }
    Ok(None)
}

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
        // The more there is, the more is added: a log of lies is looked at again after each time.
        let lacks = bytes.saturating_sub(self.buffer.len()).max(CHUNK).max(self.buffer.len() / 4);
        let lacks = u64::try_from(lacks).unwrap_or(u64::MAX);
        let read = self.file.by_ref().take(lacks).read_to_end(&mut self.buffer)?;
        self.last = u64::try_from(read).unwrap_or(u64::MAX) < lacks;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_lies_is_not_read_over_and_over() {
        // Headers inside of the first event say that they end a little beyond what was read.
        let header = |length: usize| {
            let (channel, payload) = (Channel::new("A").unwrap(), vec![0; length.saturating_sub(29)]);
            let mut event = Vec::new();
            Event { number: 0, time: 0, channel, payload: &payload }.encode(&mut event).unwrap();
            event.truncate(29);
            event
        };
        let mut file = header(29 * 50);
        (1..50).for_each(|lie| file.extend(header(lie * (CHUNK + 1_000))));
        file.resize(50 * CHUNK, 0);
        let mut reader = Reader::new(file.as_slice());
        let mut fills = 0;
        while let Step::More(bytes) = step(&reader.buffer[reader.done..], reader.last) {
            reader.fill(bytes).unwrap();
            fills += 1;
        }
        assert!(fills < 20, "{fills} times");
    }

    #[test]
    fn a_log_is_as_long_as_from_its_first_message_to_its_last() {
        let path = std::env::temp_dir().join(format!("folkmoot-length-{}", std::process::id()));
        let channel = Channel::new("A").unwrap();
        let log = |times: &[i64], bytes: usize| {
            let (mut file, payload) = (Vec::new(), vec![7; bytes]);
            for time in times {
                Event { number: 0, time: *time, channel, payload: &payload }.encode(&mut file).unwrap();
            }
            std::fs::write(&path, file).unwrap();
            length(File::open(&path).unwrap()).unwrap()
        };
        assert_eq!(log(&[5, 6, 1_000_005], 700_000), Some(Duration::from_secs(1)));
        assert_eq!(log(&[5, 6, 2_000_005], 3 << 20), Some(Duration::from_secs(2)), "longer than a tail");
        assert_eq!(log(&[i64::MIN, i64::MAX], 1), Some(Duration::from_micros(u64::MAX)));
        assert_eq!((log(&[5, 4], 1), log(&[], 1)), (Some(Duration::ZERO), None));
        std::fs::remove_file(&path).unwrap();
    }

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
}
