//! One member as the director sees it: its process, and what its log says so far.

use crate::log::{Line, Word};
use crate::member::{SHORT, in_words};
use crate::words::{Order, Start};
use folkmoot_sim::record::{Entry, Player, Process, Shown, Standing, What};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};

/// The first word of the command line of a process that is a member.
pub(crate) const AS_MEMBER: &str = "--as-member";

/// Long messages, by sender and length: how often each was delivered. No two senders wait for the
/// short ones.
pub(crate) type Heard = BTreeMap<(Player, usize), usize>;

/// One member.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) player: Player,
    folder: PathBuf,
    running: Option<(Child, ChildStdin)>,
    lives: u16,
    log: PathBuf,
    /// How much of the log was read.
    read: u64,
    pub(crate) view: Option<Shown>,
    pub(crate) heard: Heard,
    pub(crate) stands: Option<Standing>,
    pub(crate) paths: BTreeMap<Player, u16>,
}

impl Seat {
    pub(crate) fn new(player: Player, folder: &Path) -> Self {
        Self {
            player,
            folder: folder.to_owned(),
            running: None,
            lives: 0,
            log: PathBuf::new(),
            read: 0,
            view: None,
            heard: Heard::new(),
            stands: None,
            paths: BTreeMap::new(),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Its last life.
    pub(crate) fn process(&self) -> Process {
        Process { player: self.player, life: self.lives.saturating_sub(1) }
    }

    /// Begins the next life, in a namespace.
    pub(crate) fn start(&mut self, enter: &[String], start: Start) -> Result<(), String> {
        let (life, name) = (self.lives, format!("m{}.{}", self.player, self.lives));
        self.log = self.folder.join(format!("{name}.log"));
        let start = Start { player: self.player, life, log: self.log.clone(), ..start };
        let said = File::create(self.folder.join(format!("{name}.err"))).map_err(in_words)?;
        let own = std::env::current_exe().map_err(in_words)?.display().to_string();
        let text = serde_json::to_string(&start).map_err(in_words)?;
        let words = [enter, &[own, AS_MEMBER.to_owned(), text]].concat();
        let (first, rest) = words.split_first().ok_or("no words")?;
        let mut command = Command::new(first);
        command.args(rest).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(said).kill_on_drop(true);
        let mut child = command.spawn().map_err(in_words)?;
        let stdin = child.stdin.take().ok_or("the process has no standard input")?;
        self.running = Some((child, stdin));
        self.lives = self.lives.saturating_add(1);
        (self.read, self.view, self.stands) = (0, None, None);
        Ok(())
    }

    pub(crate) async fn order(&mut self, order: &Order) -> Result<(), String> {
        let Some((_, stdin)) = &mut self.running else { return Ok(()) };
        let text = serde_json::to_string(order).map_err(in_words)? + "\n";
        let gone = |_| format!("member {} has ended by itself: see {}", self.player, self.folder.display());
        stdin.write_all(text.as_bytes()).await.map_err(gone)
    }

    /// SIGKILL. The rest of its log, and the end of that life.
    pub(crate) async fn kill(&mut self, now: impl Fn() -> u64) -> Result<Vec<Entry>, String> {
        let Some((mut child, _stdin)) = self.running.take() else { return Ok(Vec::new()) };
        child.kill().await.map_err(in_words)?;
        let mut entries = self.read()?;
        entries.push(Entry { at: now(), process: self.process(), what: What::Crash(0) });
        self.view = None;
        Ok(entries)
    }

    /// What its log has new, by the clock of all, in nanoseconds.
    pub(crate) fn read(&mut self) -> Result<Vec<Entry>, String> {
        if let Some((child, _)) = &mut self.running
            && let Some(status) = child.try_wait().map_err(in_words)?
        {
            let place = self.folder.display();
            return Err(format!("member {} ended by itself ({status}): see {place}", self.player));
        }
        // The process makes the file.
        let Ok(mut file) = File::open(&self.log) else { return Ok(Vec::new()) };
        file.seek(SeekFrom::Start(self.read)).map_err(in_words)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(in_words)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        bytes.truncate(whole);
        self.read += u64::try_from(whole).map_err(in_words)?;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut entries = Vec::new();
        for line in lines {
            let Line { at, word } = serde_json::from_slice(line).map_err(in_words)?;
            entries.extend(self.take(at, word)?);
        }
        Ok(entries)
    }

    fn take(&mut self, at: u64, word: Word) -> Result<Option<Entry>, String> {
        match &word {
            Word::Delivered((sender, ..), _, bytes) if *bytes > SHORT.end => {
                *self.heard.entry((*sender, *bytes)).or_default() += 1;
            }
            Word::Stands(stands) => {
                self.paths.clone_from(&stands.paths);
                self.stands = Some(stands.clone().standing(self.process()));
                return Ok(None);
            }
            _ => {}
        }
        let what = word.what().ok_or_else(|| format!("a line of {} cannot be read", self.log.display()))?;
        match &what {
            What::View(view) => self.view = Some(view.clone()),
            What::Left(_) => self.view = None,
            _ => {}
        }
        Ok(Some(Entry { at, process: self.process(), what }))
    }
}
