//! Lines from the standard input, whole and in order, within bounds.
//!
//! ```text
//!   standard input --a thread--> [ one batch ] --> the talk
//! ```
//! The thread reads on when its last batch was taken, so whoever writes is held up as long as the
//! group is, and nothing piles up here.

use crate::exit::{Exit, Failure};
use crate::messages::SEND_BYTES_MAX;
use std::io::{BufRead, BufReader, Read};
use tokio::sync::mpsc;

/// What a batch has at most, but for its last line.
const BATCH_BYTES: usize = 64 * 1024;
const BATCH_LINES: usize = 128;

/// What was typed.
pub(super) enum Typed {
    Lines(Vec<Vec<u8>>),
    /// Ctrl-C.
    Interrupted,
    /// What comes next cannot be taken.
    Failed(Failure),
}

/// Begins to read.
pub(super) fn start() -> Result<mpsc::Receiver<Typed>, Failure> {
    let (tell, typed) = mpsc::channel(1);
    let input = BufReader::with_capacity(BATCH_BYTES, std::io::stdin());
    let read = move || read(Lines { input, number: 0 }, &tell);
    std::thread::Builder::new().name("folkmoot-input".into()).spawn(read).map_err(Failure::bug)?;
    Ok(typed)
}

fn read(mut lines: Lines<impl Read>, tell: &mpsc::Sender<Typed>) {
    loop {
        let batch = lines.batch();
        let over = !matches!(&batch, Ok(batch) if !batch.is_empty());
        let typed = match batch {
            Ok(batch) if batch.is_empty() => return,
            Ok(batch) => Typed::Lines(batch),
            Err(failure) => Typed::Failed(failure),
        };
        if tell.blocking_send(typed).is_err() || over {
            return;
        }
    }
}

struct Lines<R> {
    input: BufReader<R>,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The next lines: as many as are there without waiting, one at least; none at the end.
    fn batch(&mut self) -> Result<Vec<Vec<u8>>, Failure> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.is_empty()
            || (batch.len() < BATCH_LINES && bytes < BATCH_BYTES && self.input.buffer().contains(&b'\n'))
        {
            let Some(line) = self.line()? else { break };
            bytes += line.len();
            batch.push(line);
        }
        Ok(batch)
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut line = Vec::new();
        let most = u64::try_from(SEND_BYTES_MAX.saturating_add(2)).unwrap_or(u64::MAX);
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut line);
        self.number += 1;
        let failed = |error: std::io::Error| {
            let why = folkmoot::tools::in_words(&error);
            let text = format!("line {} of the standard input cannot be read: {why}", self.number);
            Failure::new(Exit::Usage, text)
        };
        if read.map_err(failed)? == 0 {
            return Ok(None);
        }
        for end in [b'\n', b'\r'] {
            line.pop_if(|last| *last == end);
        }
        if line.len() > SEND_BYTES_MAX {
            let text = format!(
                "line {} of the standard input is longer than {SEND_BYTES_MAX} bytes, the longest that chat takes. The \
                 lines before it were sent; nothing from it on was",
                self.number
            );
            return Err(Failure::new(Exit::Usage, text));
        }
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn lines<R: Read>(input: R) -> Lines<R> {
        Lines { input: BufReader::with_capacity(BATCH_BYTES, input), number: 0 }
    }

    #[test]
    fn every_line_comes_whole_and_in_order() {
        let text: String = (0..100_000).map(|number| format!("{number}\n")).collect();
        let mut read = lines(text.as_bytes());
        let mut all = Vec::new();
        loop {
            let batch = read.batch().unwrap();
            assert!(batch.len() <= BATCH_LINES);
            if batch.is_empty() {
                break;
            }
            all.extend(batch);
        }
        assert!(all.iter().map(|line| String::from_utf8_lossy(line)).eq((0..100_000).map(|n| n.to_string())));
        let odd = lines(&b"one\r\n\n\xff\xfe\nlast"[..]).batch().unwrap();
        assert_eq!(odd, [&b"one"[..], b"", b"\xff\xfe"], "the last may go on");
    }

    #[test]
    fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
        let mut read = lines((&b"one\n"[..]).chain(std::io::repeat(0)));
        assert_eq!(read.batch().unwrap(), [b"one"]);
        let failure = read.batch().unwrap_err();
        assert!(failure.text.starts_with("line 2 of"), "{failure}");
    }
}
