//! The play of a chapter: each command of the page in its order, in a shell, in an empty home.

use super::blocks::{Block, Step};
use super::matching::{Looseness, Names, matches};
use super::script::{Cue, Script, script};
use super::terminal::{LIMIT, PAUSE, Terminal};
use crate::common::netcat;
use crate::common::place::Place;
use crate::common::spaces::Spaces;
use crate::verify_transcript::kinds::{Whose, kinds};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Commands that only look: what they show may come a moment later.
const LOOKS: [&str; 7] = [" roster", " status", " why ", " vote list", " rules", " letters", " doctor"];
/// Makes the standard input the terminal of a session of its own.
const TERMINAL: &[&str] = &["setsid", "--ctty"];
/// Ends what does not end by itself.
const LIMITED: &[&str] = &["timeout", "60"];
/// How soon a program ends that does not know what it was told.
const WRONG: Duration = Duration::from_millis(500);
/// How long what is shown may take to be what the page says.
const SETTLED: Duration = Duration::from_secs(60);

pub(super) struct Stage {
    // Ended before the folder goes.
    terminals: Vec<(String, Terminal)>,
    file: String,
    names: Names,
    /// What the page calls so, and what it is called here.
    own: Vec<(String, String)>,
    spaces: Option<Spaces>,
    /// Whether the hosts that it needs cannot be made here.
    skipped: bool,
    place: Place,
}

impl Stage {
    /// A home for the chapters that this file has the scripts of.
    pub(super) fn new(name: &str, file: String) -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let [.., third, fourth] = std::process::id().to_be_bytes();
        let port = 20_000 + (u32::from(fourth) * 64 + u32::from(number)) % 6_000 * 2;
        let own = vec![
            ("127.0.0.1".to_owned(), format!("127.{}.{third}.{fourth}", 128 + number % 100)),
            (":7667".to_owned(), format!(":{port}")),
            (":7668".to_owned(), format!(":{}", port + 1)),
        ];
        let place = Place::new(&format!("page-{number}-{name}"));
        Self {
            terminals: Vec::new(),
            file,
            names: Names::default(),
            own,
            spaces: None,
            skipped: false,
            place,
        }
    }

    /// Plays these blocks of a chapter.
    pub(super) fn plays(mut self, chapter: &str, blocks: &[Block]) {
        let Script { before, cues } = script(&self.file, chapter);
        self.act(&before);
        if self.skipped {
            return;
        }
        let mut cues = cues.into_iter().peekable();
        for block in blocks {
            let is_said = |cue: &Cue| cue.says.is_some() && block.lines[0].contains(&cue.at);
            let said = cues.next_if(is_said).filter(|_| block.is_said());
            if let Some(cue) = said {
                self.act(&cue.before);
                let command = cue.says.clone().unwrap();
                self.step(&Step { at: block.at, command, shown: block.lines.clone() }, &cue);
            }
            let mut late = Vec::new();
            for step in block.steps().into_iter().filter(|_| !block.is_said()) {
                let cue = cues.next_if(|cue| step.command.contains(&cue.at)).unwrap_or_default();
                self.act(&cue.before);
                if cue.late {
                    self.opens(&self.names.in_command(&step.command));
                    self.act(&cue.then);
                    late.push((step, cue));
                } else {
                    self.step(&step, &cue);
                }
            }
            late.into_iter().for_each(|(step, cue)| self.goes_on(&step, &cue));
        }
        let left: Vec<String> = cues.map(|cue| cue.at).collect();
        assert!(left.is_empty(), "{chapter}: no command of the page is so, or in this order: {left:?}");
    }

    fn step(&mut self, step: &Step, cue: &Cue) {
        let begun = Instant::now();
        let line = self.names.in_command(&step.command);
        if cue.stays {
            self.opens(&line);
            self.act(&cue.then);
            self.goes_on(step, cue);
            return;
        }
        loop {
            let mut terminal = Terminal::open(&line, self.shell(&line, TERMINAL));
            let code = terminal.ends();
            let part = self.compare(&step.shown, &terminal.shown(), cue.loose);
            if part.is_ok() && code == cue.exit {
                break;
            }
            let looks = cue.says.is_some() || LOOKS.iter().any(|word| step.command.contains(word));
            let again = looks && begun.elapsed() < SETTLED;
            assert!(again, "{}", self.difference(step, &terminal, &format!("{part:?}, exit code {code}")));
            std::thread::sleep(PAUSE * 5);
        }
        self.act(&cue.then);
    }

    /// Waits until the program that stays has shown what the page says; and ends it if the page has
    /// `^C` there.
    fn goes_on(&mut self, step: &Step, cue: &Cue) {
        let line = self.names.in_command(&step.command);
        let Some(place) = self.terminals.iter().rposition(|(_, terminal)| terminal.line == line) else {
            assert!(step.shown.is_empty(), "{line} was ended before it was looked at");
            return;
        };
        let (name, mut terminal) = self.terminals.remove(place);
        if step.shown.is_empty() {
            std::thread::sleep(WRONG);
            assert!(terminal.runs(), "{}", self.difference(step, &terminal, "its end"));
        }
        let stop = step.shown.iter().position(|line| line == "^C");
        let first = &step.shown[..stop.unwrap_or(step.shown.len())];
        let begun = Instant::now();
        while let Err(part) = self.compare(first, &terminal.shown(), cue.loose) {
            assert!(begun.elapsed() < SETTLED, "{}", self.difference(step, &terminal, &part));
            terminal.answer();
            self.terminals.iter_mut().for_each(|(_, terminal)| terminal.answer());
            std::thread::sleep(PAUSE);
        }
        if let Some(stop) = stop {
            terminal.signal("INT");
            let code = terminal.ends();
            let all = [first, &step.shown[stop + 1..]].concat();
            let part = self.compare(&all, &terminal.shown(), cue.loose);
            let good = part.is_ok() && code == cue.exit;
            assert!(good, "{}", self.difference(step, &terminal, &format!("{part:?}, exit code {code}")));
        } else {
            self.terminals.push((name, terminal));
        }
    }

    /// Where the page shows nothing, it says nothing of it.
    fn compare(&mut self, page: &[String], shown: &[String], loose: Looseness) -> Result<(), String> {
        if page.is_empty() {
            return Ok(());
        }
        let back =
            |line: &String| self.own.iter().fold(line.clone(), |line, (page, own)| line.replace(own, page));
        let shown: Vec<String> = shown.iter().map(back).collect();
        matches(page, &shown, &mut self.names, loose)
    }

    fn difference(&self, step: &Step, terminal: &Terminal, part: &str) -> String {
        let (page, here) = (step.shown.join("\n"), terminal.shown().join("\n"));
        format!(
            "line {}: {}\nthe page has\n{page}\nand here is\n{here}\nthey part at {part}",
            step.at, step.command
        )
    }

    fn act(&mut self, actions: &[String]) {
        for action in actions {
            if !self.skipped {
                self.does(action);
            }
        }
    }

    fn does(&mut self, action: &str) {
        let (word, rest) = action.split_once(' ').unwrap_or((action, ""));
        let part = rest.split_once(": ");
        match (word, part) {
            ("story", _) => self.story(),
            ("machines", _) => self.machines(rest),
            ("use", _) => self.act(&script(&self.file, rest).before),
            ("&", _) => self.opens(rest),
            ("see", Some((who, text))) => self.sees(who, text),
            ("type", Some((who, text))) => self.terminal(who).types(text),
            ("ends", _) => self.ends(rest),
            ("signal", Some((who, signal))) => {
                self.terminal(who).signal(signal);
                self.ends(who);
            }
            ("until", Some((text, line))) => self.until(text, line),
            _ => self.good(action),
        }
    }

    /// The files of a story that others keep: an honest one, and one that was forged.
    fn story(&self) {
        let forged = kinds().into_iter().find(|kind| kind.name == "commits of fewer than a quorum").unwrap();
        let files = [
            ("charter.cms", Whose::Story.charter()),
            ("transcript.moot", Whose::Story.honest().file),
            ("forged.moot", (forged.tampered)().file),
        ];
        files.iter().for_each(|(name, bytes)| std::fs::write(self.place.path().join(name), bytes).unwrap());
    }

    /// A host for each of these, on which the program runs whose folder is called so.
    fn machines(&mut self, names: &str) {
        self.spaces = Spaces::lay(&names.split(' ').collect::<Vec<_>>());
        self.skipped = self.spaces.is_none();
    }

    fn opens(&mut self, line: &str) {
        let terminal = Terminal::open(line, self.shell(line, TERMINAL));
        self.terminals.push((name_of(line), terminal));
    }

    fn terminal(&mut self, who: &str) -> &mut Terminal {
        let found = self.terminals.iter_mut().rev().find(|(name, _)| name == who);
        found.map(|(_, terminal)| terminal).unwrap_or_else(|| panic!("{who} has no terminal"))
    }

    fn ends(&mut self, who: &str) {
        self.terminal(who).ends();
        self.terminals.retain(|(name, _)| name != who);
    }

    fn sees(&mut self, who: &str, text: &str) {
        let begun = Instant::now();
        let wanted = [format!("...{text}...")];
        let is_there =
            |line: String| matches(&wanted, &[line], &mut Names::default(), Looseness::default()).is_ok();
        while !self.terminal(who).shown().into_iter().any(is_there) {
            let shown = self.terminal(who).shown();
            assert!(begun.elapsed() < LIMIT, "{who}: {text:?} does not come: {shown:#?}");
            self.terminals.iter_mut().for_each(|(_, terminal)| terminal.answer());
            std::thread::sleep(PAUSE);
        }
    }

    fn until(&mut self, text: &str, line: &str) {
        let begun = Instant::now();
        loop {
            let output = self.shell(line, LIMITED).stdin(Stdio::null()).output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            if said.contains(text) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{line} does not say {text:?}: {said}");
            self.terminals.iter_mut().for_each(|(_, terminal)| terminal.answer());
            std::thread::sleep(PAUSE * 5);
        }
    }

    fn good(&self, line: &str) {
        let output = self.shell(line, LIMITED).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{line}: {told}");
    }

    /// A shell with this line, in the home, with the program on its path, started by `by`.
    fn shell(&self, line: &str, by: &[&str]) -> Command {
        let line = self.own.iter().fold(line.to_owned(), |line, (page, own)| line.replace(page, own));
        let program = Path::new(env!("CARGO_BIN_EXE_folkmoot")).parent().unwrap();
        let path = format!("{}:{}", program.display(), netcat::path());
        let enter = self.spaces.as_ref().map(|spaces| spaces.enter(&name_of(&line)));
        let mut shell = Command::new(by[0]);
        shell
            .args(&by[1..])
            .args(enter.unwrap_or_default())
            .args(["bash", "-c", &line])
            .current_dir(self.place.path())
            .env("HOME", self.place.path());
        for name in ["FOLKMOOT_STATE", "XDG_STATE_HOME", "FOLKMOOT_LOG", "CREDENTIALS_DIRECTORY"] {
            shell.env_remove(name);
        }
        let (_, port) = &self.own[1];
        let lcm = format!("udpm://239.255.76.67{port}?ttl=0");
        shell.env("PATH", path).env("LCM_DEFAULT_URL", lcm).env("NO_COLOR", "1").env("TERM", "xterm");
        shell.env("MANPAGER", "cat");
        shell
    }
}

/// Whose terminal it is: by the folder.
fn name_of(line: &str) -> String {
    let folder = ["--state ", "--secured "].iter().find_map(|option| line.split(option).nth(1));
    folder.and_then(|rest| rest.split(' ').next()).unwrap_or("it").to_owned()
}
