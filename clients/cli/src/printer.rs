//! Lines on the standard output that a running member does not wait for.
//!
//! ```text
//!   member --say--> [ at most 16,384 lines, 64 MiB ] --a thread--> standard output
//! ```
//! If nobody reads, the member goes on. Lines for which there is no room are left out, and a line
//! in their place says how many. If the reader has gone, whoever asks ([`Printer::gone`]) is told.

use crate::control::{EVENTS_BEHIND_MAX, EVENTS_BYTES_MAX};
use crate::exit::Failure;
use crate::show::unwritten;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// So long the end of a process waits for its reader.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Why nothing more is printed: the reader has gone, or what else went wrong.
pub(crate) type Gone = Result<(), Failure>;

/// The way to the standard output.
pub(crate) struct Printer {
    lines: Option<SyncSender<String>>,
    /// Of the lines that wait.
    bytes: Arc<AtomicUsize>,
    /// Lines left out since the last one that was taken.
    missed: AtomicU64,
    /// The line that says so.
    words: fn(u64) -> String,
    gone: watch::Receiver<Option<Gone>>,
    done: oneshot::Receiver<()>,
}

impl Printer {
    /// Prints on `out`; `words` makes the line about lines that were left out.
    pub(crate) fn start(mut out: impl Write + Send + 'static, words: fn(u64) -> String) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<String>(EVENTS_BEHIND_MAX);
        let bytes = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&bytes);
        let (tell, gone) = watch::channel(None);
        let (finished, done) = oneshot::channel();
        std::thread::Builder::new().name("folkmoot-print".into()).spawn(move || {
            for text in waiting {
                left.fetch_sub(text.len(), Ordering::Relaxed);
                if let Err(error) = out.write_all((text + "\n").as_bytes()).and_then(|()| out.flush()) {
                    tell.send_replace(Some(unwritten(&error).map_or(Ok(()), Err)));
                    break;
                }
            }
            // Whoever waits may have given up.
            let _ = finished.send(());
        })?;
        Ok(Self { lines: Some(lines), bytes, missed: AtomicU64::new(0), words, gone, done })
    }

    /// Prints a line, or leaves it out.
    pub(crate) fn say(&self, text: String) {
        if !(self.confess() && self.put(text)) {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says how many lines were left out, if any. Whether there was room for that.
    fn confess(&self) -> bool {
        let missed = self.missed.load(Ordering::Relaxed);
        let told = missed == 0 || self.put((self.words)(missed));
        if told {
            self.missed.store(0, Ordering::Relaxed);
        }
        told
    }

    /// A line that is longer than all of the room is taken where nothing waits.
    fn put(&self, text: String) -> bool {
        let (length, waiting) = (text.len(), self.bytes.load(Ordering::Relaxed));
        if waiting > 0 && waiting.saturating_add(length) > EVENTS_BYTES_MAX {
            return false;
        }
        // Before the thread can take it.
        self.bytes.fetch_add(length, Ordering::Relaxed);
        let taken = self.lines.as_ref().is_some_and(|lines| lines.try_send(text).is_ok());
        if !taken {
            self.bytes.fetch_sub(length, Ordering::Relaxed);
        }
        taken
    }

    /// Waits until nothing more can be printed.
    pub(crate) async fn gone(&mut self) -> Gone {
        match self.gone.wait_for(Option::is_some).await.ok().and_then(|gone| gone.clone()) {
            Some(gone) => gone,
            None => std::future::pending().await,
        }
    }

    /// Prints what waits, as far as somebody reads it.
    pub(crate) async fn end(mut self) {
        self.confess();
        self.lines = None;
        // If nobody reads, the last lines are nobody's loss.
        let _ = tokio::time::timeout(LAST_LINES, self.done).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::{EVENTS_BEHIND_MAX, EVENTS_BYTES_MAX, Printer};
    use std::io::{self, Write};
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Takes a line each time that it is told to.
    struct Reader {
        may: Receiver<bool>,
        heard: Sender<String>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if !self.may.recv().unwrap_or(true) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.heard.send(String::from_utf8(bytes.to_vec()).unwrap()).unwrap();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn reader() -> (Reader, Sender<bool>, Receiver<String>) {
        let ((allow, may), (heard, said)) = (channel(), channel());
        (Reader { may, heard }, allow, said)
    }

    #[tokio::test]
    async fn who_does_not_read_holds_nobody_up_and_hears_how_much_was_left_out() {
        let (reader, allow, said) = reader();
        let printer = Printer::start(reader, |count| format!("{count} left out")).unwrap();
        let all = EVENTS_BEHIND_MAX + 100;
        (0..all).for_each(|number| printer.say(number.to_string()));
        (0..all).for_each(|_| allow.send(true).unwrap());
        let mut text: String = said.iter().take(EVENTS_BEHIND_MAX).collect();
        drop(allow);
        printer.say("again".to_owned());
        printer.end().await;
        text.extend(said);
        let lines: Vec<&str> = text.lines().collect();
        let [kept @ .., left_out, "again"] = &lines[..] else { panic!("{:?}", lines.last()) };
        assert!(kept.iter().map(|line| line.parse::<usize>().unwrap()).eq(0..kept.len()));
        let left_out: usize = left_out.strip_suffix(" left out").unwrap().parse().unwrap();
        assert_eq!(kept.len() + left_out, all);
    }

    #[tokio::test]
    async fn lines_that_wait_have_a_bound_in_bytes() {
        let (reader, allow, said) = reader();
        let printer = Printer::start(reader, |count| format!("{count} left out")).unwrap();
        let long = "x".repeat(1 << 20);
        (0..200).for_each(|_| printer.say(long.clone()));
        (0..200).for_each(|_| allow.send(true).unwrap());
        // So many as the room holds, all but one.
        let mut kept = said.iter().take(EVENTS_BYTES_MAX / long.len() - 1).count();
        drop(allow);
        printer.end().await;
        let rest: Vec<String> = said.iter().collect();
        kept += rest.iter().filter(|line| line.len() > long.len()).count();
        let left_out = rest.iter().filter_map(|line| line.strip_suffix(" left out\n")).next();
        assert_eq!(left_out, Some(&*(200 - kept).to_string()));
        assert!(kept <= EVENTS_BYTES_MAX / long.len() + 1, "{kept}");
    }

    #[tokio::test]
    async fn a_reader_that_has_gone_is_told_of() {
        let (reader, allow, _said) = reader();
        allow.send(false).unwrap();
        let mut printer = Printer::start(reader, |_| String::new()).unwrap();
        printer.say("anybody?".to_owned());
        assert_eq!(printer.gone().await, Ok(()));
        printer.end().await;
    }
}
