//! A person at a terminal: what stands on the screen while somebody edits a line, pastes, resizes,
//! and others talk meanwhile. The terminal is tmux, whose screen can be read.

use super::whole::alone;
use crate::common::actor::Actor;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a screen.
const LIMIT: Duration = Duration::from_secs(30);

/// A terminal of its own server, which ends with it.
struct Terminal(String);

impl Terminal {
    /// `folkmoot chat` on the folder of somebody who runs already, on so many columns and rows.
    fn chat(who: &Actor, columns: u32, rows: u32) -> Self {
        let terminal = Self(format!("fm-{}", std::process::id()));
        let (program, state) = (env!("CARGO_BIN_EXE_folkmoot"), who.state.display());
        let line =
            format!("env NO_COLOR=1 TZ=UTC '{program}' --state '{state}' chat; echo ended: $?; exec cat");
        let size = [columns, rows].map(|count| count.to_string());
        terminal.tmux(&["new-session", "-d", "-x", &size[0], "-y", &size[1], &line]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.0, "-f", "/dev/null"]).args(args).env_remove("TMUX").stdin(Stdio::null());
        let output = command.output().expect("the tmux command is needed: apt-get install tmux");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// What stands there, without empty lines at the end and with HH:MM for each time.
    fn screen(&self) -> String {
        let screen = self.tmux(&["capture-pane", "-p"]);
        let is_time = |word: &str| {
            let bytes = word.as_bytes();
            bytes.len() == 5 && bytes[2] == b':' && [0, 1, 3, 4].iter().all(|at| bytes[*at].is_ascii_digit())
        };
        let line = |line: &str| match line.split_once(' ') {
            Some((time, rest)) if is_time(time) => format!("HH:MM {rest}"),
            _ => line.to_owned(),
        };
        screen.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Waits until the screen is this, and stays so.
    #[track_caller]
    fn shows(&self, wanted: &[&str]) {
        let (wanted, begun) = (wanted.join("\n"), Instant::now());
        loop {
            let screen = self.screen();
            if screen == wanted || begun.elapsed() > LIMIT {
                assert_eq!(screen, wanted, "\n{screen}");
                std::thread::sleep(Duration::from_millis(100));
                assert_eq!(self.screen(), wanted, "it did not stay");
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.0, "kill-server"]).output();
    }
}

#[test]
fn a_person_types_pastes_and_resizes_while_others_talk() {
    let (place, anna) = alone("terminal");
    let terminal = Terminal::chat(&anna, 60, 12);
    let begin = [
        "type to talk; commands: /sign TEXT, /who, /votes, /yes NAME,",
        " /no NAME, /answer NAME TEXT, /help, /quit",
    ];
    terminal.shows(&[&begin[..], &[">"]].concat());

    // Editing. What was said stands there once.
    terminal.keys(&["helo", "Left", "l", "End", " there", "Enter"]);
    let said = [&begin[..], &["> hello there"]].concat();
    terminal.shows(&[&said[..], &[">"]].concat());

    // Somebody talks while a line is being typed.
    terminal.keys(&["half of"]);
    anna.good(&["send", "meanwhile"]);
    let heard = [&said[..], &["HH:MM anna: meanwhile"]].concat();
    terminal.shows(&[&heard[..], &["> half of"]].concat());
    terminal.keys(&[" a line"]);
    terminal.shows(&[&heard[..], &["> half of a line"]].concat());

    // A narrower terminal, and a line that is wider than it.
    terminal.tmux(&["resize-window", "-x", "30", "-y", "12"]);
    anna.good(&["send", "a line of more than thirty columns"]);
    // The terminal has scrolled by two lines when it laid out the first ones anew.
    let narrow = [
        " /no NAME, /answer NAME TEXT,",
        "/help, /quit",
        "> hello there",
        "HH:MM anna: meanwhile",
        "HH:MM anna: a line of more tha",
        "n thirty columns",
    ];
    terminal.shows(&[&narrow[..], &["> half of a line"]].concat());
    terminal.tmux(&["resize-window", "-x", "60", "-y", "12"]);
    terminal.keys(&["Enter"]);

    // The arrow brings back what was typed.
    terminal.keys(&["Up", "Up"]);
    let wide = [&heard[..], &["HH:MM anna: a line of more than thirty columns", "> half of a line"]].concat();
    terminal.shows(&[&wide[..], &["> hello there"]].concat());
    // Ctrl-C takes back half a line, and does not end the talk.
    terminal.keys(&["C-c"]);
    terminal.shows(&[&wide[..], &[">"]].concat());

    // Six hundred lines are one message, and nothing of it is sent before the person says so.
    let pasted: Vec<String> = (1..=600).map(|number| format!("line {number}")).collect();
    let file = place.path().join("paste");
    std::fs::write(&file, pasted.join("\n")).unwrap();
    terminal.tmux(&["load-buffer", &file.display().to_string()]);
    let (heard, hearer) = super::whole::hears(&anna, 2);
    std::thread::sleep(Duration::from_millis(500));
    terminal.tmux(&["paste-buffer", "-p"]);
    let last: Vec<&str> = pasted[588..].iter().map(String::as_str).collect();
    terminal.shows(&last);
    anna.good(&["send", "before it"]);
    terminal.shows(&last);
    assert_eq!(heard.load(std::sync::atomic::Ordering::Relaxed), 1);
    terminal.keys(&["Enter"]);
    assert_eq!(hearer.join().unwrap(), ["before it".to_owned(), pasted.join("\n")]);
    terminal.shows(&[&last[1..], &[">"]].concat());

    // Ctrl-D on an empty line ends it, and the terminal is as it was.
    terminal.keys(&["C-d"]);
    terminal.shows(&[&last[3..], &[">", "ended: 0"]].concat());
    terminal.keys(&["echoed again"]);
    terminal.shows(&[&last[3..], &[">", "ended: 0", "echoed again"]].concat());
}
