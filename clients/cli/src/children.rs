//! Members as child processes, each with its own state folder: what `demo` directs.
//!
//! A child ends when its standard input does, so none survives this process, however it ends.

use crate::control::{Control, Request};
use crate::exit::{Exit, Failure};
use crate::values::Ordering;
use folkmoot::tools::in_words;
use folkmoot_identity::KeyAlgorithm;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long a child may take to open its folder and socket.
const START: Duration = Duration::from_secs(10);
/// How often a state that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A folder of folders, removed at the end.
#[derive(Debug)]
pub struct Workshop {
    path: PathBuf,
    keep: bool,
}

impl Workshop {
    /// A new one under the system's temporary folder.
    ///
    /// # Errors
    /// There is no room.
    pub fn open(name: &str, keep: bool) -> Result<Self, Failure> {
        let base = std::env::temp_dir();
        for attempt in 0..100 {
            let path = base.join(format!("folkmoot-{name}-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, keep }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::file(&path, &error)),
            }
        }
        Err(Failure::new(
            Exit::Configuration,
            format!("{} has too many old folders of folkmoot; remove them", base.display()),
        ))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves everything where it is.
    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed is in the temporary folder anyway.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The program whose processes the members are.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    path: PathBuf,
}

impl Program {
    /// The running program.
    ///
    /// # Errors
    /// The system does not say where this program is.
    pub(crate) fn own() -> Result<Self, Failure> {
        let path = std::env::current_exe().map_err(|error| {
            Failure::new(
                Exit::Configuration,
                format!("cannot find the path of this program: {}", in_words(&error)),
            )
        })?;
        Ok(Self { path })
    }

    /// Runs it once, to its end, and brings back what it wrote.
    ///
    /// # Errors
    /// It failed, or what it wrote is not JSON.
    async fn call(&self, state: &Path, args: &[&str]) -> Result<Value, Failure> {
        let (code, out, complaint) = self.call_raw(state, args).await?;
        if code != Some(0) {
            let code = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
            let told =
                format!("folkmoot {} ended with exit code {code}: {}", args.join(" "), complaint.trim());
            return Err(Failure::new(Exit::No, told));
        }
        if out.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(out.trim()).map_err(|error| Failure::bug(format!("{}: {error}", args.join(" "))))
    }

    /// As [`Program::call`], with exit code, standard output and standard error.
    async fn call_raw(&self, state: &Path, args: &[&str]) -> Result<(Option<i32>, String, String), Failure> {
        let output = self.command(state).args(args).stdin(Stdio::null()).output().await;
        let output = output.map_err(|error| cannot_start(&error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((output.status.code(), text(&output.stdout), text(&output.stderr)))
    }

    fn command(&self, state: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.kill_on_drop(true).arg("--json").arg("--state").arg(state);
        command
    }
}

fn cannot_start(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Configuration, format!("cannot start a process: {}", in_words(error)))
}

/// What a member sends at once: `count` messages, or as many as it can in `seconds`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Burst {
    /// Number of messages; 0 means as many as it can.
    pub(crate) count: u64,
    /// Bytes of each.
    pub(crate) bytes: u32,
    /// How they are ordered.
    pub(crate) service: Ordering,
    /// How long to go on.
    pub(crate) seconds: f64,
    /// How many may be on their way at once.
    pub(crate) window: u32,
}

/// One member in its own process.
#[derive(Debug)]
pub(crate) struct Member {
    program: Program,
    /// What it is called.
    pub(crate) name: String,
    /// Its folder.
    pub(crate) state: PathBuf,
    pub(crate) id: String,
    /// Where it listens, once it has started.
    pub(crate) locator: String,
    /// Keeps every key it ever has, for the demonstration of what they open.
    pub(crate) keeps_keys: bool,
    /// How far its clock is set forward.
    pub(crate) clock_ahead: u64,
    /// Further words of the command that runs it.
    pub(crate) words: Vec<String>,
    /// No member: the group's authority.
    is_authority: bool,
    process: Option<(Child, ChildStdin)>,
}

impl Member {
    /// Makes the identity; starts nothing yet.
    ///
    /// # Errors
    /// As [`Program::call`].
    pub(crate) async fn new(workshop: &Workshop, program: &Program, name: &str) -> Result<Self, Failure> {
        Self::with(workshop, program, name, KeyAlgorithm::P256).await
    }

    /// The same with a key of this algorithm.
    ///
    /// # Errors
    /// As [`Program::call`].
    pub(crate) async fn with(
        workshop: &Workshop,
        program: &Program,
        name: &str,
        algorithm: KeyAlgorithm,
    ) -> Result<Self, Failure> {
        let state = workshop.path().join(name);
        let key = ["--algorithm", algorithm.name()];
        let made =
            program.call(&state, &["identity", "new", name, "--no-passphrase", key[0], key[1]]).await?;
        Ok(Self::made(program, name, state, &made))
    }

    /// Makes the authority of a group that is to have this name; starts nothing yet.
    pub(crate) async fn authority(
        workshop: &Workshop,
        program: &Program,
        group: &str,
        scheme: &str,
    ) -> Result<Self, Failure> {
        let state = workshop.path().join("authority");
        let made = program
            .call(&state, &["authority", "new", "--group", group, "--scheme", scheme, "--no-passphrase"])
            .await?;
        Ok(Self { is_authority: true, ..Self::made(program, "authority", state, &made) })
    }

    fn made(program: &Program, name: &str, state: PathBuf, made: &Value) -> Self {
        let id = made.get("member").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            program: program.clone(),
            name: name.to_owned(),
            state,
            id,
            locator: String::new(),
            keeps_keys: false,
            clock_ahead: 0,
            words: Vec::new(),
            is_authority: false,
            process: None,
        }
    }

    /// The identity certificate, for others.
    fn certificate(&self) -> String {
        self.state.join("identity.pem").display().to_string()
    }

    /// Starts the process, and waits until it can be spoken to.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn start(&mut self, charter: &Path, at: &[String], apply: bool) -> Result<(), Failure> {
        // After a restart a member comes back where the others know it.
        let listen = self.locator.strip_prefix("udp/").unwrap_or("127.0.0.1:0").to_owned();
        let log = self.log_file()?;
        let mut command = self.program.command(&self.state);
        if self.is_authority {
            command.args(["authority", "run"]).arg(charter);
        } else {
            command.args(["member", "--charter"]).arg(charter);
        }
        command.args(["--quiet", "--while-stdin", "--listen", &listen]);
        command.args(["--clock-ahead", &self.clock_ahead.to_string()]);
        command.args(&self.words);
        for locator in at {
            command.args(["--at", locator]);
        }
        if apply {
            command.arg("--apply");
        }
        if self.keeps_keys {
            command.arg("--danger-keep-keys");
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| cannot_start(&error))?;
        let (stdin, stdout) = child
            .stdin
            .take()
            .zip(child.stdout.take())
            .ok_or_else(|| Failure::bug("the child process has no pipes"))?;
        let mut lines = BufReader::new(stdout).lines();
        let first = tokio::time::timeout(START, lines.next_line()).await;
        let Ok(Ok(Some(line))) = first else {
            return Err(Failure::new(
                Exit::No,
                format!("{} did not start. {}", self.name, self.last_words()),
            ));
        };
        let ready: Value = serde_json::from_str(&line).map_err(Failure::bug)?;
        self.locator = ready.get("locator").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.process = Some((child, stdin));
        Ok(())
    }

    fn log_file(&self) -> Result<std::fs::File, Failure> {
        let path = self.state.join("log");
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|error| Failure::file(&path, &error))
    }

    /// The end of the child's log, for a person who wants to know what happened.
    pub(crate) fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.state.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(8)..).unwrap_or_default().join("\n  ");
        if last.is_empty() {
            format!("{} said nothing", self.name)
        } else {
            format!("{} said:\n  {last}", self.name)
        }
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(|(child, _)| child.id())
    }

    /// SIGKILL, as a power cut would be.
    pub(crate) async fn kill(&mut self) -> Result<(), Failure> {
        if let Some((mut child, _stdin)) = self.process.take() {
            child
                .kill()
                .await
                .map_err(|error| Failure::new(Exit::No, format!("cannot kill {}: {error}", self.name)))?;
        }
        Ok(())
    }

    /// Runs a command on its folder, to its end, and brings back what that wrote.
    ///
    /// # Errors
    /// As [`Program::call`].
    pub(crate) async fn call(&self, args: &[&str]) -> Result<Value, Failure> {
        self.program.call(&self.state, args).await
    }

    /// The same, with exit code, standard output and standard error.
    pub(crate) async fn call_raw(&self, args: &[&str]) -> Result<(Option<i32>, String, String), Failure> {
        self.program.call_raw(&self.state, args).await
    }

    /// Has it begin a new delivery log.
    ///
    /// # Errors
    /// It is gone.
    pub(crate) async fn mark(&self) -> Result<(), Failure> {
        self.ask(&Request::Mark).await.map(drop)
    }

    /// Asks through the control socket.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Value, Failure> {
        let mut control = Control::connect(&self.state).await.map_err(|failure| self.explain(failure))?;
        control.ask(request).await.map_err(|failure| self.explain(failure))
    }

    fn explain(&self, failure: Failure) -> Failure {
        if failure.exit == Exit::Unreachable {
            return Failure::new(Exit::No, format!("{}. {}", failure.text, self.last_words()));
        }
        Failure { text: format!("{}: {}", self.name, failure.text), ..failure }
    }

    /// Ends the process in good order.
    pub(crate) async fn stop(&mut self) {
        let Some((mut child, stdin)) = self.process.take() else { return };
        drop(stdin);
        if tokio::time::timeout(Duration::from_secs(3), child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

/// These members found a group: the first writes a charter to `text`, and each signs it. Returns
/// the path of the signed charter.
///
/// # Errors
/// As [`Program::call`].
pub(crate) async fn found(
    founders: &[&Member],
    text: &Path,
    (name, votes): (&str, u32),
    more: &[&str],
) -> Result<PathBuf, Failure> {
    let first = founders.first().ok_or_else(|| Failure::bug("the group has no founders"))?;
    let (file, votes) = (text.display().to_string(), votes.to_string());
    let certificates: Vec<String> = founders.iter().map(|founder| founder.certificate()).collect();
    let mut line = vec!["charter", "new", name, "--votes", &votes, "--out", &file];
    line.extend(more);
    line.extend(certificates.iter().flat_map(|file| ["--founder", file.as_str()]));
    first.call(&line).await?;
    for founder in founders {
        founder.call(&["charter", "sign", &file]).await?;
    }
    Ok(text.with_extension("cms"))
}

/// What some members have in common when they share a view and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) view: String,
    /// The name of its key.
    pub(crate) epoch: String,
}

/// Waits until exactly `members` share one view with one key, other than `old`, and that key is at
/// work.
///
/// # Errors
/// They do not within `limit`, or one of them is gone.
pub(crate) async fn shared(
    members: &[&Member],
    old: Option<&Shared>,
    limit: Duration,
) -> Result<Shared, Failure> {
    let end = Instant::now() + limit;
    let mut wanted: Vec<String> = members.iter().map(|member| member.id.clone()).collect();
    wanted.sort();
    loop {
        let views = views(members).await?;
        if let Some(shared) = common(&views, &wanted)
            && old.is_none_or(|old| old.view != shared.view && old.epoch != shared.epoch)
        {
            return Ok(shared);
        }
        if Instant::now() > end {
            return Err(Failure::new(Exit::TimedOut, stuck(members, &views, limit).await));
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn views(members: &[&Member]) -> Result<Vec<Value>, Failure> {
    let mut views = Vec::new();
    for member in members {
        views.push(member.ask(&Request::View).await?);
    }
    Ok(views)
}

fn common(views: &[Value], wanted: &[String]) -> Option<Shared> {
    let (first, rest) = views.split_first()?;
    let text = |view: &Value, field: &str| view.get(field).and_then(Value::as_str).map(str::to_owned);
    let shared = Shared { view: text(first, "view")?, epoch: text(first, "epoch")? };
    let mut members: Vec<String> =
        first.get("members")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    members.sort();
    let same = |view: &Value| {
        text(view, "view").as_ref() == Some(&shared.view)
            && text(view, "epoch").as_ref() == Some(&shared.epoch)
    };
    let steady = views.iter().all(|view| view.get("steady") == Some(&Value::Bool(true)));
    (members == wanted && steady && rest.iter().all(same)).then_some(shared)
}

async fn stuck(members: &[&Member], views: &[Value], limit: Duration) -> String {
    let mut text = format!("no common view and key within {} s:", limit.as_secs());
    for (member, view) in members.iter().zip(views) {
        let activity = match member.ask(&Request::Status).await {
            Ok(status) => status.get("activity").and_then(Value::as_str).unwrap_or_default().to_owned(),
            Err(failure) => failure.text,
        };
        text.push_str(&format!("\n  {}: {activity}; {view}", member.name));
    }
    text
}

/// Has all of these send at once, and brings back how many messages that were.
///
/// # Errors
/// One of them is gone, or cannot send.
pub(crate) async fn burst_all(members: &[&Member], burst: Burst) -> Result<u64, Failure> {
    let Burst { count, bytes, service, seconds, window } = burst;
    let mut all = JoinSet::new();
    for member in members {
        let request = Request::Burst { count, bytes, service, seconds, window };
        let state = member.state.clone();
        all.spawn(async move { Control::connect(&state).await?.ask(&request).await });
    }
    let mut sent = 0;
    while let Some(answer) = all.join_next().await {
        let answer = answer.map_err(Failure::bug)??;
        sent += answer.get("sent").and_then(Value::as_u64).unwrap_or(0);
    }
    Ok(sent)
}

/// Waits until `done` says so of the answer of `member` to `request`.
pub(crate) async fn until(
    member: &Member,
    request: &Request,
    limit: Duration,
    what: &str,
    done: impl Fn(&Value) -> bool,
) -> Result<Value, Failure> {
    let end = Instant::now() + limit;
    loop {
        let answer = member.ask(request).await?;
        if done(&answer) {
            return Ok(answer);
        }
        if Instant::now() > end {
            let text = format!(
                "{}: {what} did not happen within {} s; last seen: {answer}",
                member.name,
                limit.as_secs()
            );
            return Err(Failure::new(Exit::TimedOut, text));
        }
        tokio::time::sleep(LOOK).await;
    }
}
