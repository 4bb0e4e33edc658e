//! The control socket: how commands talk to the member that runs on a folder, in lines of JSON.
//! docs/control.md says what goes over it. The socket lies in the state folder (mode 0700), so only
//! those who may read the key may connect. At most [`CLIENTS_MAX`] clients are served at once, and
//! each line has at most [`LINE_BYTES_MAX`] bytes; a client that breaks either limit is cut off. A
//! subscriber that falls [`EVENTS_BEHIND_MAX`] events or [`EVENTS_BYTES_MAX`] bytes behind is told
//! how many events it has missed, and goes on.

use crate::exit::{Exit, Failure};
use folkmoot::StateFolder;
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
pub(crate) use folkmoot_control::{Answer, Faulty, Line, PossibleView, Request, Sealed};
use folkmoot_control::{Ask, Hello, Id, Reply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// Commands served at once.
pub(crate) const CLIENTS_MAX: usize = 32;
/// Longest line that a member takes.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest line that it says: a message of the greatest length, in hexadecimal, and as text with
/// what JSON adds to it ([`crate::show::words`]).
pub(crate) const SAID_BYTES_MAX: usize = 5 * MESSAGE_BYTES_MAX;
/// Events kept for a slow subscriber.
pub(crate) const EVENTS_BEHIND_MAX: usize = 16_384;
/// Their bytes; the newest one is kept however long it is.
pub(crate) const EVENTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A member that lets a command wait for longer than this does not run, though its process may be
/// there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How long an answer takes at most. What waits for a key may take as long as the group.
fn patience(request: &Request) -> Option<Duration> {
    match request {
        Request::Send { .. } | Request::Lines { .. } | Request::Burst { .. } | Request::Attempt { .. } => {
            None
        }
        Request::Vote { wait: Some(wait), .. } | Request::Resolve { wait, .. } => {
            Some(PATIENCE.saturating_add(Duration::from_secs(*wait)))
        }
        _ => Some(PATIENCE),
    }
}

/// The answer to a request that was obeyed, or not.
pub(crate) fn answer(result: Result<Value, Failure>) -> Answer {
    match result {
        Ok(ok) => Answer::Ok { ok },
        Err(failure) => Answer::No(failure.into()),
    }
}

/// One line of at most `most` bytes from `reader`, without its end; `None` at the stream's end.
///
/// # Errors
/// A line that is too long or not UTF-8, or what the system says.
pub(crate) async fn read_line(
    reader: &mut BufReader<OwnedReadHalf>,
    most: usize,
) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    if reader.take(most).read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            "the line is too long, or was cut short",
        ));
    }
    String::from_utf8(line)
        .map(Some)
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

/// One line to `writer`.
///
/// # Errors
/// What the system says.
pub(crate) async fn write_line(writer: &mut OwnedWriteHalf, value: &impl Serialize) -> std::io::Result<()> {
    let mut line = folkmoot_control::line(value)?;
    line.push('\n');
    writer.write_all(line.as_bytes()).await
}

/// Microseconds since 1970, by the machine's clock: the same for all processes on it.
pub(crate) fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A command's end of the socket.
#[derive(Debug)]
pub(crate) struct Control {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    path: PathBuf,
    greeted: bool,
    /// Requests so far: the name of the last one.
    asked: u64,
    /// Events that came before an answer.
    events: VecDeque<Value>,
}

impl Control {
    /// Connects to the member that runs on `folder`.
    pub(crate) async fn connect(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("control.sock");
        let stream = UnixStream::connect(&path).await.map_err(|error| cannot_ask(folder, &error))?;
        let (reader, writer) = stream.into_split();
        let reader = BufReader::new(reader);
        Ok(Self { reader, writer, path, greeted: false, asked: 0, events: VecDeque::new() })
    }

    /// Hears who answers: a process that is stopped holds the socket, and says nothing.
    async fn greet(&mut self) -> Result<(), Failure> {
        if !self.greeted {
            let line = self.next_line().await?.ok_or_else(|| self.gone("it closed the connection"))?;
            let hello: Hello = self.read(&line)?;
            self.greeted = hello.is_ours();
            return if self.greeted { Ok(()) } else { Err(self.odd(&line)) };
        }
        Ok(())
    }

    /// Asks, and brings back the answer.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Value, Failure> {
        let answer = match patience(request) {
            None => self.exchange(request).await?,
            Some(most) => match tokio::time::timeout(most, self.exchange(request)).await {
                Ok(answer) => answer?,
                Err(_) => return Err(self.silent(most)),
            },
        };
        match answer {
            Answer::Ok { ok } => Ok(ok),
            Answer::No(no) => Err(no.into()),
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<Answer, Failure> {
        self.asked = self.asked.saturating_add(1);
        let id = Some(Id::Number(self.asked));
        let ask = Ask { id: id.clone(), request: request.clone() };
        self.greet().await?;
        write_line(&mut self.writer, &ask).await.map_err(|error| self.gone(&error.to_string()))?;
        loop {
            let line = self.next_line().await?.ok_or_else(|| self.gone("it closed the connection"))?;
            let value: Value = self.read(&line)?;
            if value.get("event").is_some() {
                self.events.push_back(unnamed(value));
                continue;
            }
            // What was asked before, and nobody waited for, is passed over.
            match serde_json::from_value::<Reply>(value) {
                Ok(reply) if reply.id == id => return Ok(reply.answer),
                Ok(_) => {}
                Err(_) => return Err(self.odd(&line)),
            }
        }
    }

    /// The next event, after [`Request::Subscribe`]; `None` when the member has ended.
    pub(crate) async fn event(&mut self) -> Result<Option<Value>, Failure> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        let Some(line) = self.next_line().await? else { return Ok(None) };
        self.read(&line).map(unnamed).map(Some)
    }

    fn read<T: DeserializeOwned>(&self, line: &str) -> Result<T, Failure> {
        serde_json::from_str(line).map_err(|_| self.odd(line))
    }

    async fn next_line(&mut self) -> Result<Option<String>, Failure> {
        let line = read_line(&mut self.reader, SAID_BYTES_MAX).await;
        line.map_err(|error| self.gone(&error.to_string()))
    }

    /// What came is nothing that a member of this release says.
    fn odd(&self, line: &str) -> Failure {
        let (socket, said) = (self.path.display(), line.chars().take(80).collect::<String>());
        let text = format!(
            "what answers at {socket} is no member of this release: it said {said:?}. If the member was started by \
             another release, stop it, and start it again with this one"
        );
        Failure::new(Exit::Unreachable, text)
    }

    /// The process holds the socket, and does nothing.
    fn silent(&self, waited: Duration) -> Failure {
        let (socket, seconds) = (self.path.display(), waited.as_secs());
        let text = format!(
            "the member at {socket} has not answered for {seconds} s. Its process may be stopped: in its terminal, \
             Ctrl-Z stops it, and fg lets it go on; then it may still do what was \
             asked. If it hangs, end it and start it again"
        );
        Failure::new(Exit::Unreachable, text)
    }

    fn gone(&self, why: &str) -> Failure {
        Failure::new(Exit::Unreachable, format!("the member at {} is gone: {why}", self.path.display()))
    }
}

/// An event without the name of its subscription: a command has one at most.
fn unnamed(mut event: Value) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.remove("subscription");
    }
    event
}

/// Why no member can be asked.
fn cannot_ask(folder: &Path, error: &std::io::Error) -> Failure {
    let path = folder.join("control.sock");
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            let text =
                format!("{} belongs to another user: only that user may ask its member", path.display());
            Failure::new(Exit::Configuration, text)
        }
        _ => nobody_runs(folder),
    }
}

/// No member runs on `folder`: how one comes to run there, from where the folder stands.
fn nobody_runs(folder: &Path) -> Failure {
    let (state, files) = (folder.display(), StateFolder::at(folder));
    let next = if !files.has_identity() {
        format!("It holds no identity. Make one: folkmoot --state {state} identity new NAME")
    } else if !files.charter_path().exists() {
        format!(
            "It holds no charter. As a founder: folkmoot --state {state} chat --charter FILE; \
             as a stranger: folkmoot --state {state} join FILE --at LOCATOR"
        )
    } else {
        format!("Start one: folkmoot --state {state} chat")
    };
    Failure::new(Exit::Unreachable, format!("no member runs on {state}. {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::{Fault, Refused, RefusedBy};

    #[test]
    fn answers_keep_their_exit_code() {
        let said_no = answer(Err(Failure::new(Exit::Refused, "no")));
        let text = serde_json::to_string(&said_no).unwrap();
        assert_eq!(text, r#"{"error":"no","exit":"refused"}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), said_no);
        let by = RefusedBy::rule(Fault::Group, "full", "ADM-07");
        let refused =
            Refused { by, sentence: "too many (ADM-07)".into(), remedy: Some("Wait"), forcible: true };
        let said_no = answer(Err(Failure::from(refused)));
        let text = serde_json::to_string(&said_no).unwrap();
        let said = r#"{"error":"too many (ADM-07). Wait. To propose it anyway, add --force","exit":"refused","code":"full","rule":"ADM-07","fault":"group","forcible":true}"#;
        assert_eq!(text, said);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), said_no);
    }
}
