//! A log, read message by message.
//!
//! A thread of its own reads: a pipe may keep it waiting, and Ctrl-C ends the command all the same.

use folkmoot_lcm::Pattern;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::log::{Event, Step, step};
use std::fs::File;
use std::io::{self, Read};
use tokio::sync::mpsc;

/// How many messages are read ahead.
const AHEAD: usize = 4;

/// What a log has next.
#[derive(Debug)]
pub(super) enum Next {
    Message {
        channel: Channel,
        /// In microseconds since 1970.
        time: i64,
        payload: Vec<u8>,
    },
    /// So many bytes were damaged.
    End(u64),
}

/// The messages whose channels match, and the end.
pub(super) fn messages(file: File, wanted: Pattern) -> mpsc::Receiver<io::Result<Next>> {
    let (tell, told) = mpsc::channel(AHEAD);
    // Nobody waits for this thread at the end: it may be reading still.
    std::thread::spawn(move || {
        let mut reader = Reader::new(file);
        loop {
            let next = reader.next(|event| next(&event, &wanted));
            let (next, over) = match next {
                Ok(Some(None)) => continue,
                Ok(Some(Some(message))) => (Ok(message), false),
                Ok(None) => (Ok(Next::End(reader.skipped)), true),
                Err(error) => (Err(error), true),
            };
            if tell.blocking_send(next).is_err() || over {
                return;
            }
        }
    });
    told
}

fn next(event: &Event<'_>, wanted: &Pattern) -> Option<Next> {
    let Event { channel, time, payload, .. } = *event;
    wanted.matches(&channel).then(|| Next::Message { channel, time, payload: payload.to_vec() })
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
