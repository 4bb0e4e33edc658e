//! Asks a person at the terminal: for a yes, or for something that is not to be seen.

use crate::exit::{Exit, Failure};
use folkmoot_base::Secret;
use folkmoot_identity::PASSPHRASE_BYTES_MAX;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::io::{IsTerminal, Stdin, Write};

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const CTRL_U: u8 = 21;
const BACKSPACE: [u8; 2] = [8, 127];

/// Whether somebody is there to be asked.
pub(crate) fn is_here() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks for a yes.
pub(crate) fn agrees(question: &str) -> bool {
    eprint!("{question} ");
    // Whoever does not see the question can still answer it.
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.is_ok() && line.trim() == "yes"
}

/// The terminal while it shows nothing of what is typed; as it was when this is dropped.
struct Quiet {
    terminal: Stdin,
    before: Termios,
}

impl Quiet {
    /// Keys come one by one, Ctrl-C among them: a signal would end the process and leave the
    /// terminal quiet.
    fn begin() -> rustix::io::Result<Self> {
        let terminal = std::io::stdin();
        let before = tcgetattr(&terminal)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Drain, &quiet)?;
        Ok(Self { terminal, before })
    }

    /// The next key; none at the end of the input.
    fn key(&self) -> rustix::io::Result<Option<u8>> {
        let mut key = [0_u8; 1];
        loop {
            match rustix::io::read(&self.terminal, &mut key) {
                Ok(0) => return Ok(None),
                Ok(_) => return Ok(Some(key[0])),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // The person's own `reset` is all that is left if the terminal refuses.
        let _ = tcsetattr(&self.terminal, OptionalActions::Drain, &self.before);
        eprintln!();
    }
}

/// Asks, and reads one line that is not shown.
pub(crate) fn hidden(question: &str) -> Result<Secret<Vec<u8>>, Failure> {
    let refuse = |error: rustix::io::Errno| {
        let why =
            format!("the terminal cannot be read ({error}). Give the passphrase with --passphrase-file FILE");
        Failure::new(Exit::Configuration, why)
    };
    let quiet = Quiet::begin().map_err(refuse)?;
    eprint!("{question} ");
    // Whoever does not see the question can still answer it.
    let _ = std::io::stderr().flush();
    // Room for all at once: no half-filled copy is left behind.
    let mut line = Line(Vec::with_capacity(PASSPHRASE_BYTES_MAX + 1));
    loop {
        match line.press(quiet.key().map_err(refuse)?) {
            Pressed::More => {}
            Pressed::Done => return Ok(Secret::new(line.0)),
            Pressed::Stop => {
                return Err(Failure::new(Exit::Usage, "no passphrase was typed; nothing was done"));
            }
        }
    }
}

/// What came of a key.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    More,
    Done,
    Stop,
}

/// What was typed so far.
struct Line(Vec<u8>);

impl Line {
    fn press(&mut self, key: Option<u8>) -> Pressed {
        match key {
            Some(b'\n' | b'\r') => return Pressed::Done,
            Some(CTRL_D) if !self.0.is_empty() => return Pressed::Done,
            Some(CTRL_C | CTRL_D) | None => return Pressed::Stop,
            Some(CTRL_U) => self.0.clear(),
            Some(key) if BACKSPACE.contains(&key) => {
                // One character, of as many bytes as it has.
                while self.0.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            }
            // One too many is kept, so that the whole is refused and not cut short.
            Some(key) if self.0.len() <= PASSPHRASE_BYTES_MAX => self.0.push(key),
            Some(_) => {}
        }
        Pressed::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> (Vec<u8>, Pressed) {
        let mut line = Line(Vec::new());
        for key in keys.bytes() {
            match line.press(Some(key)) {
                Pressed::More => {}
                end => return (line.0, end),
            }
        }
        (line.0, Pressed::More)
    }

    #[test]
    fn a_line_can_be_mended_and_given_up() {
        assert_eq!(typed("horse\nmore"), (b"horse".to_vec(), Pressed::Done));
        assert_eq!(typed("hört\u{7f}\u{8}\u{7f}o\r"), (b"ho".to_vec(), Pressed::Done));
        assert_eq!(typed("wrong\u{15}right\n"), (b"right".to_vec(), Pressed::Done));
        assert_eq!(typed("\u{7f}\u{7f}x\u{4}"), (b"x".to_vec(), Pressed::Done));
        assert_eq!(typed("half\u{3}").1, Pressed::Stop);
        assert_eq!(typed("\u{4}").1, Pressed::Stop);
        let long = "x".repeat(3 * PASSPHRASE_BYTES_MAX);
        assert_eq!(typed(&long).0.len(), PASSPHRASE_BYTES_MAX + 1, "bounded, and seen to be too long");
    }
}
