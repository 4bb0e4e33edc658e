//! Where a talk shows things: on the standard output and the standard error; or, on a terminal,
//! above the line that is being typed.

use super::piped::{self, Typed};
use crate::exit::Failure;
use crate::show::{Paint, harmless, line, paint};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, ExternalPrinter,
    KeyEvent, Movement,
};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Stands before what is being typed.
const PROMPT: &str = "> ";
/// Lines that the arrows bring back.
const HISTORY_MAX: usize = 500;

type Printer = Arc<Mutex<Box<dyn ExternalPrinter + Send>>>;

/// Where things are shown.
#[derive(Clone)]
pub(super) struct Screen(Option<Printer>);

impl Screen {
    /// The line editor, where a person types; otherwise plain lines. What is typed comes out of the
    /// receiver.
    pub(super) fn open(json: bool) -> Result<(Self, mpsc::Receiver<Typed>, Option<Mode>), Failure> {
        if !json
            && std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal()
            && let Some((printer, typed, mode)) = edit()
        {
            return Ok((Self(Some(Arc::new(Mutex::new(printer)))), typed, Some(mode)));
        }
        Ok((Self(None), piped::start()?, None))
    }

    /// Whether a person types here, and sees it.
    pub(super) fn has_editor(&self) -> bool {
        self.0.is_some()
    }

    /// Shows data.
    pub(super) fn say(&self, text: &str) {
        match &self.0 {
            None => line(text),
            Some(printer) => above(printer, text),
        }
    }

    /// Shows something about the talk.
    pub(super) fn note(&self, text: &str) {
        match &self.0 {
            None => eprintln!("{text}"),
            Some(printer) => above(printer, text),
        }
    }

    /// Says what went wrong.
    pub(super) fn complain(&self, failure: &Failure) {
        self.note(&paint(Paint::Red, &harmless(&failure.text)));
    }
}

fn above(printer: &Printer, text: &str) {
    let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
    // If the terminal has gone, the talk ends by its hang-up.
    let _ = printer.print(format!("{text}\n"));
}

/// How the terminal was before, and is again when this is dropped.
pub(super) struct Mode(Termios);

impl Drop for Mode {
    fn drop(&mut self) {
        let mut out = std::io::stdout();
        // No more bracketed paste, and a line of its own for what comes next. The terminal may have
        // gone.
        let _ = out.write_all(b"\x1b[?2004l\r\x1b[K").and_then(|()| out.flush());
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Begins to edit; nothing if the terminal can do no more than print.
fn edit() -> Option<(Box<dyn ExternalPrinter + Send>, mpsc::Receiver<Typed>, Mode)> {
    let mode = Mode(tcgetattr(std::io::stdin()).ok()?);
    let config = Config::builder().auto_add_history(false).history_ignore_dups(true).ok()?;
    let config = config.max_history_size(HISTORY_MAX).ok()?.build();
    let mut editor =
        Editor::<(), MemHistory>::with_history(config.clone(), MemHistory::with_config(&config)).ok()?;
    editor.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(Box::new(GivesUpTheLine)));
    let printer = editor.create_external_printer().ok()?;
    let (tell, typed) = mpsc::channel(1);
    std::thread::Builder::new().name("folkmoot-input".into()).spawn(move || read(&mut editor, &tell)).ok()?;
    Some((Box::new(printer), typed, mode))
}

/// Ctrl-C takes back half a line first, as in a shell, and ends the talk where nothing is typed.
struct GivesUpTheLine;

impl ConditionalEventHandler for GivesUpTheLine {
    fn handle(&self, _: &Event, _: u16, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        (!context.line().is_empty()).then_some(Cmd::Kill(Movement::WholeBuffer))
    }
}

fn read(editor: &mut Editor<(), MemHistory>, tell: &mpsc::Sender<Typed>) {
    loop {
        let typed = match editor.readline(PROMPT) {
            Ok(text) => {
                // Not kept, it cannot be brought back; no more.
                let _ = editor.add_history_entry(&text);
                Typed::Lines(vec![text.into_bytes()])
            }
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => return,
        };
        let over = matches!(typed, Typed::Interrupted);
        if tell.blocking_send(typed).is_err() || over {
            return;
        }
    }
}
