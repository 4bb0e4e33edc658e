//! A program that votes for the member: `--policy-hook PROGRAM`.
//!
//! ```text
//! open request, not voted on --> PROGRAM, no shell, no arguments: one JSON object on its standard input
//!   exit code 0   approve      or, with exit code 0, one line on its standard output:
//!             3   reject         {"verdict": "approve" | "reject" | "wait", "reason": "..."}
//!             4   wait
//! ```
//! Anything else (another code, a signal, other output, more than [`ANSWER_BYTES_MAX`] bytes,
//! [`PATIENCE`] over) is a failure, and a failure means to wait: a program that breaks votes for
//! nobody and against nobody. One program runs at a time. If it said to wait, it is asked again
//! when others have voted, and every [`AGAIN`]. Its votes count as the person's.

use crate::exit::{Exit, Failure};
use folkmoot::{Digest, Petition};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Longest that it may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most that it may say.
const ANSWER_BYTES_MAX: u64 = 4_096;
/// Pause until who waits is asked about again, if nobody votes meanwhile.
const AGAIN: Duration = Duration::from_secs(60);
/// How often open requests are looked at.
const LOOK: Duration = Duration::from_millis(300);
const REJECT: i32 = 3;
const WAIT: i32 = 4;

/// Refuses a program that could never answer: it would vote for nobody, and nobody would notice.
pub(crate) fn check(program: &Path) -> Result<(), Failure> {
    let by_path = program.components().count() > 1;
    let folders = std::env::var_os("PATH").filter(|_| !by_path).unwrap_or_default();
    let mut places = std::iter::once(program.to_owned())
        .filter(|_| by_path)
        .chain(std::env::split_paths(&folders).map(|one| one.join(program)));
    let runs = |place: &PathBuf| {
        place.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if places.any(|place| runs(&place)) {
        return Ok(());
    }
    let name = program.display();
    let why = match (by_path, program.exists()) {
        (true, true) => format!("{name} is no program that may be run. Run: chmod +x {name}"),
        (true, false) => format!("{name} does not exist. Give the path of the program that votes"),
        (false, _) => format!("no folder on the PATH has a program {name}. Give its path, as in ./{name}"),
    };
    Err(Failure::new(Exit::Configuration, format!("--policy-hook: {why}")))
}

/// What the program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Approve,
    Reject,
    Wait,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Wait => "wait",
        }
    }
}

/// One line of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    pub(super) verdict: Verdict,
    #[serde(default)]
    pub(super) reason: String,
}

impl Reply {
    fn failed(why: impl std::fmt::Display) -> Self {
        Self { verdict: Verdict::Wait, reason: format!("the program failed: {why}") }
    }
}

/// When it was asked about a request, at how many votes, and what it said.
#[derive(Debug)]
struct Asked {
    at: Instant,
    votes: usize,
    told: Option<Reply>,
}

/// What there is to do.
pub(super) enum Turn {
    Look,
    Said(Digest, Reply),
}

/// The program, and what it was asked.
#[derive(Debug)]
pub(super) struct Hook {
    program: Option<PathBuf>,
    asked: BTreeMap<Digest, Asked>,
    running: Option<(Digest, JoinHandle<Reply>)>,
    /// When open requests are looked at next.
    look: Instant,
}

impl Hook {
    pub(super) fn new(program: Option<PathBuf>) -> Self {
        Self { program, asked: BTreeMap::new(), running: None, look: Instant::now() }
    }

    /// The next thing to do; never, without a program. May be dropped and called anew.
    pub(super) async fn next(&mut self) -> Turn {
        match &mut self.running {
            None if self.program.is_none() => std::future::pending().await,
            None => {
                tokio::time::sleep_until(self.look).await;
                self.look = Instant::now() + LOOK;
                Turn::Look
            }
            Some((request, task)) => {
                let reply = task.await.unwrap_or_else(Reply::failed);
                let request = *request;
                self.running = None;
                Turn::Said(request, reply)
            }
        }
    }

    /// Starts the program on a request, as `question` puts it to it.
    pub(super) fn ask(&mut self, petition: &Petition, question: &Value) {
        let Some(program) = self.program.clone() else { return };
        let told = self.asked.remove(&petition.subject).and_then(|asked| asked.told);
        self.asked.insert(petition.subject, Asked { at: Instant::now(), votes: votes(petition), told });
        self.running = Some((petition.subject, tokio::spawn(ask(program, question.to_string()))));
    }

    /// Notes what was said of a request; whether that is news.
    pub(super) fn note(&mut self, request: &Digest, reply: &Reply) -> bool {
        let asked = self.asked.get_mut(request);
        asked.is_some_and(|asked| asked.told.replace(reply.clone()).as_ref() != Some(reply))
    }

    /// Which of these it is asked about next: who was not asked about first, then who was longest
    /// ago.
    pub(super) fn choose<'a>(&mut self, open: &'a [Petition]) -> Option<&'a Petition> {
        self.asked.retain(|request, _| open.iter().any(|petition| petition.subject == *request));
        let due = |petition: &&Petition| match self.asked.get(&petition.subject) {
            Some(asked) => asked.votes != votes(petition) || asked.at.elapsed() >= AGAIN,
            None => true,
        };
        open.iter().filter(due).min_by_key(|petition| self.asked.get(&petition.subject).map(|asked| asked.at))
    }
}

fn votes(petition: &Petition) -> usize {
    petition.approved.len() + petition.rejected.len()
}

async fn ask(program: PathBuf, question: String) -> Reply {
    match tokio::time::timeout(PATIENCE, converse(program, question)).await {
        Ok(Ok((code, answer))) => read(code, &answer),
        Ok(Err(error)) => Reply::failed(error),
        Err(_) => Reply::failed(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

/// Runs it to its end. If this is dropped, it is killed.
async fn converse(program: PathBuf, mut question: String) -> std::io::Result<(Option<i32>, Vec<u8>)> {
    let mut command = tokio::process::Command::new(&program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    question.push('\n');
    let write = async move {
        if let Some(mut input) = input {
            // It may well answer without reading.
            let _ = input.write_all(question.as_bytes()).await;
        }
    };
    let mut answer = Vec::new();
    let read = async {
        match output {
            Some(output) => output.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut answer).await.map(|_| ()),
            None => Ok(()),
        }
    };
    let ((), heard) = tokio::join!(write, read);
    heard?;
    Ok((child.wait().await?.code(), answer))
}

fn read(code: Option<i32>, answer: &[u8]) -> Reply {
    let plain = |verdict| Reply { verdict, reason: String::new() };
    let Ok(text) = std::str::from_utf8(answer) else { return Reply::failed("its answer is not text") };
    let text = text.trim();
    if u64::try_from(answer.len()).unwrap_or(u64::MAX) > ANSWER_BYTES_MAX {
        return Reply::failed(format!("its answer has more than {ANSWER_BYTES_MAX} bytes"));
    }
    match (code, text) {
        (Some(0), "") => plain(Verdict::Approve),
        (Some(REJECT), "") => plain(Verdict::Reject),
        (Some(WAIT), "") => plain(Verdict::Wait),
        (Some(0), text) if text.lines().count() == 1 => serde_json::from_str(text).unwrap_or_else(|_| {
            let form = r#"{"verdict":"approve","reason":"on my list"}"#;
            Reply::failed(format!(
                "its answer has no verdict. It must be a line such as {form}, or reject, or wait"
            ))
        }),
        (Some(0), _) => Reply::failed("its answer has more than one line"),
        (Some(code), _) => Reply::failed(format!("exit code {code}")),
        (None, _) => Reply::failed("a signal ended it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_a_code_or_a_line_and_all_else_is_to_wait() {
        let verdict = |code, text: &str| read(code, text.as_bytes()).verdict;
        assert_eq!(verdict(Some(0), ""), Verdict::Approve);
        assert_eq!(verdict(Some(3), ""), Verdict::Reject);
        assert_eq!(verdict(Some(4), ""), Verdict::Wait);
        let line = r#"{"verdict":"reject","reason":"not today"}"#;
        assert_eq!(
            read(Some(0), line.as_bytes()),
            Reply { verdict: Verdict::Reject, reason: "not today".into() }
        );
        let failures = [
            (Some(1), ""),
            (Some(3), line),
            (None, ""),
            (Some(0), "approve"),
            (Some(0), r#"{"verdict":"perhaps"}"#),
            (Some(0), "{\"verdict\":\"approve\"}\n{\"verdict\":\"approve\"}"),
        ];
        for (code, text) in failures {
            let reply = read(code, text.as_bytes());
            assert_eq!(reply.verdict, Verdict::Wait, "{code:?} {text}");
            assert!(reply.reason.starts_with("the program failed"), "{}", reply.reason);
        }
        assert_eq!(verdict(Some(0), &"x".repeat(5_000)), Verdict::Wait);
    }
}
