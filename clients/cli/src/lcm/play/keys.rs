//! The space key, while a log is played on a terminal.
//!
//! Keys come one by one meanwhile, and are not shown. Ctrl-C and Ctrl-Z are signals as ever. The
//! terminal is as it was when this is dropped, and while the program is stopped. A program in the
//! background leaves it alone: the system would stop whoever reads from there.

use rustix::process::{Signal, getpgrp, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use std::io::{IsTerminal, stdin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Between two looks at a terminal that has no key.
const LOOK: Duration = Duration::from_millis(20);
/// How long a look waits for a key, in tenths of a second.
const WAIT: u8 = 1;

/// The terminal: whoever has the lock may change it, and read from it.
#[derive(Debug)]
struct Mode {
    before: Termios,
    over: Mutex<bool>,
}

/// What a person presses.
#[derive(Debug)]
pub(super) struct Keys {
    mode: Arc<Mode>,
    pressed: mpsc::Receiver<()>,
    stops: JoinHandle<()>,
}

impl Keys {
    /// Nothing, if the standard input is no terminal.
    pub(super) fn of_terminal() -> Option<Self> {
        let before = stdin().is_terminal().then(|| tcgetattr(stdin()).ok()).flatten()?;
        let mut stop = signal(SignalKind::from_raw(Signal::TSTP.as_raw())).ok()?;
        let (tell, pressed) = mpsc::channel(1);
        let mode = Arc::new(Mode { before, over: Mutex::new(false) });
        let (reads, stopped) = (Arc::clone(&mode), Arc::clone(&mode));
        std::thread::Builder::new().name("folkmoot-keys".into()).spawn(move || reads.read(&tell)).ok()?;
        let stops = tokio::spawn(async move {
            while stop.recv().await.is_some() {
                stopped.stop();
            }
        });
        Some(Self { mode, pressed, stops })
    }

    /// Waits for the space key. Safe to cancel.
    pub(super) async fn space(&mut self) {
        if self.pressed.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.stops.abort();
        let mut over = self.mode.lock();
        *over = true;
        self.mode.restore();
    }
}

impl Mode {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, tell: &mpsc::Sender<()>) {
        loop {
            let over = self.lock();
            if *over {
                return;
            }
            let mut key = [0_u8; 1];
            let read = if self.take() { rustix::io::read(stdin(), &mut key) } else { Ok(0) };
            drop(over);
            match read {
                // Whoever presses faster than that is read presses once.
                Ok(1..) if key == *b" " => drop(tell.try_send(())),
                Ok(1..) => {}
                Ok(0) | Err(rustix::io::Errno::INTR) => std::thread::sleep(LOOK),
                Err(_) => return,
            }
        }
    }

    /// Whether this program may read; the keys come one by one then. A shell may have changed that.
    fn take(&self) -> bool {
        let Ok(now) = tcgetattr(stdin()) else { return false };
        if !is_in_front() || !now.local_modes.contains(LocalModes::ICANON) {
            return is_in_front();
        }
        let mut keys = self.before.clone();
        keys.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON);
        keys.special_codes[SpecialCodeIndex::VMIN] = 0;
        keys.special_codes[SpecialCodeIndex::VTIME] = WAIT;
        tcsetattr(stdin(), OptionalActions::Now, &keys).is_ok()
    }

    fn restore(&self) {
        if is_in_front() {
            // The person's own `reset` is all that is left if the terminal refuses.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }

    /// Stops the program, as Ctrl-Z does to others, until it is continued.
    fn stop(&self) {
        let _reads_nothing = self.lock();
        self.restore();
        // It cannot fail: a process may signal itself.
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// Whether the terminal is this program's now.
fn is_in_front() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|front| front == getpgrp())
}
