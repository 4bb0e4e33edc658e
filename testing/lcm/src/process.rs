//! A process of a measurement, which answers each line with a line. No answer is waited for without
//! an end.

use crate::Outcome;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A running side. It ends when this is dropped.
pub(crate) struct Process {
    child: Child,
    told: ChildStdin,
    said: Receiver<String>,
    name: String,
}

impl Process {
    /// Starts it, and waits until it is ready.
    pub(crate) fn start(line: &[String], environment: &[(String, String)]) -> Outcome<Self> {
        let process = Self::spawn(line, environment)?;
        match process.answer(Duration::from_secs(10))?.as_str() {
            "ready" => Ok(process),
            other => Err(format!("{}: {other}", process.name)),
        }
    }

    /// Starts what does not say when it is ready.
    pub(crate) fn spawn(line: &[String], environment: &[(String, String)]) -> Outcome<Self> {
        let name = line.join(" ");
        let (program, words) = line.split_first().ok_or("nothing to start")?;
        let mut command = Command::new(program);
        command.args(words).envs(environment.iter().cloned());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| format!("{name}: {error}"))?;
        let told = child.stdin.take().ok_or("no input")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let (say, said) = channel();
        std::thread::spawn(move || {
            let all = lines.map_while(Result::ok);
            all.take_while(|line| say.send(line.clone()).is_ok()).for_each(drop);
        });
        Ok(Self { child, told, said, name })
    }

    pub(crate) fn tell(&mut self, task: &str) -> Outcome<()> {
        let told = writeln!(self.told, "{task}").and_then(|()| self.told.flush());
        told.map_err(|error| format!("{}: {error}", self.name))
    }

    /// Its next line.
    pub(crate) fn answer(&self, patience: Duration) -> Outcome<String> {
        let said = self.said.recv_timeout(patience);
        said.map_err(|_| format!("{} did not answer within {} s", self.name, patience.as_secs()))
    }

    /// The numbers of its next line.
    pub(crate) fn numbers(&self, patience: Duration) -> Outcome<Vec<u64>> {
        let line = self.answer(patience)?;
        let numbers: Result<_, _> = line.split_whitespace().map(str::parse).collect();
        numbers.map_err(|_| format!("{} said: {line}", self.name))
    }

    /// How long it has had a processor, in seconds.
    pub(crate) fn processor_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let after = stat.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
        // Of itself and in the system: fields 14 and 15, of which the third is the first here.
        let ticks = after.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
        // USER_HZ is 100 on every Linux.
        ticks.sum::<f64>() / 100.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command; what it prints.
pub(crate) fn call(line: &str) -> Outcome<String> {
    let mut words = line.split_whitespace();
    let program = words.next().ok_or("nothing to call")?;
    let done = Command::new(program).args(words).output().map_err(|error| format!("{line}: {error}"))?;
    let said = String::from_utf8_lossy(&done.stdout).trim().to_owned();
    if done.status.success() {
        return Ok(said);
    }
    Err(format!("{line}: {} {said}", String::from_utf8_lossy(&done.stderr).trim()))
}
