//! Tells on the standard error how far long work is. On a terminal it draws a bar; elsewhere it
//! prints a line now and then.
//!
//! ```text
//! terminal   3 of 30 joins  ######------------------  12s
//! else       progress: 3 of 30 joins
//! ```

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a bar that turns is drawn anew.
const TICK: Duration = Duration::from_millis(120);
/// Pause between two lines about work that goes on.
const PAUSE: Duration = Duration::from_secs(2);

/// Where the lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Bar,
    Lines,
    Nothing,
}

/// Work that takes more than a moment. The bar disappears when this value is dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    shown: Shown,
    told: Instant,
}

impl Progress {
    /// Work of so many steps; `what` names them, as `joins`. There is a line for each.
    pub fn steps(what: &str, all: usize) -> Self {
        let progress = Self::new(Some(u64::try_from(all).unwrap_or(u64::MAX)), what, false);
        progress.tell();
        progress
    }

    /// Work of unknown length; `what` names it, as `waiting for a vote`.
    pub(crate) fn wait(what: &str, quiet: bool) -> Self {
        let progress = Self::new(None, what, quiet);
        progress.tell();
        progress
    }

    /// Work of many short steps; [`Progress::to`] says how many there are.
    pub fn parts(what: &str, quiet: bool) -> Self {
        Self::new(Some(0), what, quiet)
    }

    fn new(all: Option<u64>, what: &str, quiet: bool) -> Self {
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar,
            (false, false) => Shown::Lines,
        };
        let target = match shown {
            Shown::Bar => ProgressDrawTarget::stderr(),
            Shown::Lines | Shown::Nothing => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(all, target).with_message(what.to_owned());
        let template = match all {
            Some(_) => "{pos} of {len} {msg}  {bar:24.##-}  {elapsed}",
            None => "{spinner} {msg}  {elapsed}",
        };
        // Without a style that can be read it is drawn in the usual one.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("##-"));
        }
        if shown == Shown::Bar {
            bar.enable_steady_tick(TICK);
        }
        Self { bar, shown, told: Instant::now() }
    }

    /// One step more is done.
    pub fn step(&self) {
        self.bar.inc(1);
        self.tell();
    }

    /// So many of all are done. Lines come at most every two seconds.
    pub fn to(&mut self, done: usize, all: usize) {
        let number = |count| u64::try_from(count).unwrap_or(u64::MAX);
        self.bar.set_length(number(all));
        self.bar.set_position(number(done));
        if self.told.elapsed() > PAUSE {
            self.told = Instant::now();
            self.tell();
        }
    }

    /// Hides the bar while something else writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Says something on the standard error.
    pub fn say(&self, text: &str) {
        self.aside(|| eprintln!("{text}"));
    }

    /// Goes on while `work` does, and says so now and then.
    pub async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut pause = PAUSE;
        loop {
            match tokio::time::timeout(pause, &mut work).await {
                Ok(done) => return done,
                Err(_) => self.tell_since(),
            }
            // The longer it takes, the less often it is told.
            pause = (pause * 2).min(Duration::from_secs(16));
        }
    }

    fn tell(&self) {
        if self.shown == Shown::Lines {
            eprintln!("progress: {}", self.words());
        }
    }

    fn tell_since(&self) {
        if self.shown == Shown::Lines {
            eprintln!("progress: {}, {} s", self.words(), self.bar.elapsed().as_secs());
        }
    }

    fn words(&self) -> String {
        let what = self.bar.message();
        match self.bar.length() {
            Some(all) => format!("{} of {all} {what}", self.bar.position()),
            None => what,
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn words_tell_how_many_of_how_many() {
        let progress = Progress::steps("joins", 3);
        progress.step();
        assert_eq!(progress.words(), "1 of 3 joins");
        let mut parts = Progress::parts("entries", true);
        parts.to(7, 9);
        assert_eq!(parts.words(), "7 of 9 entries");
        assert_eq!(Progress::wait("waiting", true).words(), "waiting");
    }
}
