//! Waits until messages are due, while a person may pause and continue.

use super::keys::Keys;
use super::pace::Pace;
use crate::args::lcm::Play;
use crate::exit::Failure;
use crate::progress::Progress;
use rustix::process::Signal as Kind;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// A pause that is longer than this is told.
const LONG: Duration = Duration::from_mins(1);
/// How often it looks whether it was stopped, and says where it is.
const LOOK: Duration = Duration::from_millis(100);
/// Looks that are further apart: the program was stopped, or had no processor.
const STOPPED: Duration = Duration::from_secs(1);

/// Where and how a log is played.
pub(super) struct Player {
    pace: Pace,
    keys: Option<Keys>,
    continued: Signal,
    paused: bool,
    bar: Progress,
    /// How long the log is, if somebody is to see that.
    length: Option<Duration>,
    shown: Instant,
    /// Where in the log the next message is.
    at: Duration,
}

impl Player {
    /// `length`: how long the log is, if a line is to say where it is.
    pub(super) fn new(play: &Play, length: Option<Duration>) -> Result<Self, Failure> {
        let continued = signal(SignalKind::from_raw(Kind::CONT.as_raw())).map_err(Failure::bug)?;
        let player = Self {
            pace: Pace::new(play.speed),
            keys: Keys::of_terminal(),
            continued,
            paused: play.paused,
            bar: Progress::parts("s of the log", length.is_none()),
            length,
            shown: Instant::now(),
            at: play.start.unwrap_or_default(),
        };
        if play.paused {
            player.tell();
        }
        Ok(player)
    }

    /// The log begins anew.
    pub(super) fn rewind(&mut self) {
        self.pace.rewind();
    }

    /// Waits until the message at `at`, with this time, is due.
    pub(super) async fn wait(&mut self, time: i64, at: Duration) {
        self.at = at;
        let due = self.pace.next(time);
        self.tell_long(due);
        loop {
            self.show();
            let (now, paused) = (Instant::now(), self.paused);
            let due = self.pace.due();
            if !paused && due.is_none_or(|due| due <= now) {
                return;
            }
            let look = due.filter(|due| !paused && *due < now + LOOK).unwrap_or(now + LOOK);
            tokio::select! {
                () = sleep_until(look) => {}
                () = space(&mut self.keys) => self.turn(!paused),
                _ = self.continued.recv() => self.turn(false),
            }
            self.rested(now.elapsed(), paused);
        }
    }

    /// So much time passed. If that was a pause, or the program was stopped, it is no time of the
    /// log's: what follows has its pauses as before.
    pub(super) fn rested(&mut self, time: Duration, paused: bool) {
        if paused || time > STOPPED {
            self.pace.rest(time);
        }
    }

    /// Where in the log it is.
    pub(super) fn position(&self) -> Duration {
        self.pace.position(self.at)
    }

    fn turn(&mut self, paused: bool) {
        if std::mem::replace(&mut self.paused, paused) != paused {
            self.tell();
        }
    }

    fn tell(&self) {
        let seconds = self.position().as_secs_f64();
        let how = match &self.keys {
            _ if !self.paused => "continued".to_owned(),
            Some(_) => "paused. The space key continues".to_owned(),
            None => format!("paused. To continue: kill -CONT {}", std::process::id()),
        };
        self.bar.say(&format!("at {seconds:.1} s: {how}"));
    }

    fn tell_long(&self, due: Option<Instant>) {
        let pause = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
        if pause > LONG && !self.paused {
            let seconds = pause.as_secs();
            self.bar.say(&format!(
                "the log pauses here, and the next message comes in {seconds} s. --speed 0 plays without pauses"
            ));
        }
    }

    fn show(&mut self) {
        let seconds = |time: Duration| usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
        if let Some(length) = self.length
            && self.shown.elapsed() >= LOOK
        {
            self.shown = Instant::now();
            self.bar.to(seconds(self.position()), seconds(length));
        }
    }
}

async fn space(keys: &mut Option<Keys>) {
    match keys {
        Some(keys) => keys.space().await,
        None => std::future::pending().await,
    }
}
