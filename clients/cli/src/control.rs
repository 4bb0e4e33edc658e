//! The control socket: how commands talk to the member that runs on a folder. JSON, one value a
//! line.
//!
//! ```text
//! command -> member   {"op":"status"}                       one of [`Request`]
//! member -> command   {"ok":{...}}  or  {"error":"...","exit":"refused"}, and if the member refuses an
//!                     order: "code", "rule", "fault", "forcible"
//!                     after {"op":"subscribe"}: {"ok":null}, then one event a line until either side closes
//! ```
//! The socket lies in the state folder (mode 0700), so only those who may read the key may connect.
//! At most [`CLIENTS_MAX`] clients are served at once, and each line has at most [`LINE_BYTES_MAX`]
//! bytes; a client that breaks either limit is cut off. A subscriber that falls
//! [`EVENTS_BEHIND_MAX`] events or [`EVENTS_BYTES_MAX`] bytes behind is told how many events it has
//! missed, and goes on.

use crate::exit::{By, Exit, Failure};
use crate::values::Ordering;
use folkmoot::StateFolder;
use folkmoot_base::limits::MESSAGE_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

/// What a command asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Who is in, who is not, why.
    Status,
    /// How the group's authority stands, if it is this process.
    Authority,
    /// Requests and proposals that are open.
    Petitions,
    /// The view that is installed, and whether its key is at work.
    View,
    /// Vote. Waits so many seconds for its place in the order.
    Vote {
        subject: String,
        approve: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<u64>,
    },
    /// Ask for a new certificate for the member itself.
    Renew,
    /// Propose that the key of this certificate (hexadecimal) takes the member's place.
    Rotate { certificate: String },
    /// Take back a proposal or a renewal of this member's; without a subject, as a stranger, the
    /// request for admission.
    Withdraw { subject: Option<String> },
    /// The rules in force, and which decisions made them.
    Rules,
    /// Ask for admission for the holder of this CSR (PEM).
    Csr { csr: String },
    /// The certificate that was granted to a member (hexadecimal) under this serial number, if it
    /// was.
    Certificate { member: String, serial: String },
    /// Propose to expel. Here and below: with `force`, even if some decisions are impossible then;
    /// with `weigh`, propose nothing, and say what speaks against it.
    Expel {
        member: String,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        weigh: bool,
    },
    /// Ask to be let go for good, over the member's own signature.
    LeaveForGood {
        #[serde(default)]
        force: bool,
        #[serde(default)]
        weigh: bool,
    },
    /// Propose who votes from now on.
    Voters {
        members: Vec<String>,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        weigh: bool,
    },
    /// Propose to change a field of the charter.
    Change {
        field: String,
        value: String,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        weigh: bool,
    },
    /// Propose that the line's time goes back to the voters' clocks; with `weigh`, propose nothing,
    /// and say what it is and who committed to it.
    Retime { weigh: bool },
    /// Apply a decision that waits for this machine's clock; or go over to another line of
    /// decisions, by its decision at the fork: the member alone, or by a proposal everybody on its
    /// line. Waits so many seconds for somebody who is on the other.
    Resolve { head: String, everybody: bool, wait: u64 },
    /// Ask for admission.
    Apply,
    /// Look for a member.
    Dial { at: String },
    /// Send one message; hexadecimal. Waits for a key.
    Send {
        payload: String,
        service: Ordering,
        #[serde(default)]
        sign: bool,
    },
    /// Send these in this order, each when there is room and a key for it. The answer says which
    /// of them were refused.
    Lines { lines: Vec<Line>, service: Ordering },
    /// A message that was heard, as a file that proves it: the one with this number, or the newest
    /// signed one. Of one that is not signed, if so asked, the bare record.
    Proof {
        number: Option<u64>,
        #[serde(default)]
        unsigned: bool,
    },
    /// Strangers' letters, with their answers.
    Letters,
    /// Answer a letter: its writer's name, or first digits of its id.
    Answer { letter: String, text: String },
    /// Sign a ticket that names these places, for the holder of this key alone or for anybody, and
    /// serves so many days.
    Invite { at: Vec<String>, holder: Option<String>, days: u64 },
    /// Hear everything from now on.
    Subscribe,
    /// Leave the group.
    Leave,
    /// End the process.
    Stop,
    /// Begin a new delivery log.
    Mark,
    /// The delivery log: how many, their digest; latency of those that came between two wall-clock
    /// times, in microseconds since 1970.
    Journal { from: u64, to: u64 },
    /// Send `count` messages, or as many as go in `seconds`, of which at most `window` are not yet
    /// back.
    Burst { count: u64, bytes: u32, service: Ordering, seconds: f64, window: u32 },
    /// Faults of the transport.
    Fault(Faulty),
    /// Keep the sealed payloads that come; withheld from the member if so asked.
    Tap { withhold: bool },
    /// The sealed payloads that came; the tap closes.
    Tapped,
    /// Be deaf to changes of members and cling to the keys (demonstration of K3).
    IgnoreChanges,
    /// Hand the member these sealed payloads as if they had just been delivered.
    Feed { payloads: Vec<Sealed> },
    /// Try every key that the member ever held on these sealed payloads; they may have been sealed
    /// for these views.
    Attempt { payloads: Vec<Sealed>, views: Vec<PossibleView> },
}

/// One of several messages; hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) payload: String,
    #[serde(default)]
    pub(crate) sign: bool,
}

impl Request {
    /// How long an answer takes at most. What waits for a key may take as long as the group.
    fn patience(&self) -> Option<Duration> {
        match self {
            Self::Send { .. } | Self::Lines { .. } | Self::Burst { .. } | Self::Attempt { .. } => None,
            Self::Vote { wait: Some(wait), .. } | Self::Resolve { wait, .. } => {
                Some(PATIENCE.saturating_add(Duration::from_secs(*wait)))
            }
            _ => Some(PATIENCE),
        }
    }
}

/// Faults that are wanted from now on; with `heal`, instead of those that were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Faulty {
    pub(crate) cut: Vec<String>,
    pub(crate) drop: Option<f64>,
    pub(crate) delay_ms: Option<u64>,
    pub(crate) longest: Option<usize>,
    pub(crate) heal: bool,
}

/// A view that a sealed payload may be for: its id in hexadecimal, as `view` answers it, and its
/// members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PossibleView {
    pub(crate) id: String,
    pub(crate) members: Vec<String>,
}

/// A sealed payload on its way between processes of a demonstration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sealed {
    pub(crate) sender: String,
    pub(crate) payload: String,
}

/// What the member answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Ok {
        ok: Value,
    },
    Error {
        error: String,
        exit: Exit,
        #[serde(flatten)]
        by: Option<Box<By>>,
    },
}

impl From<Result<Value, Failure>> for Answer {
    fn from(result: Result<Value, Failure>) -> Self {
        match result {
            Ok(ok) => Self::Ok { ok },
            Err(Failure { exit, text, by }) => Self::Error { error: text, exit, by },
        }
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
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    writer.write_all(&line).await
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
}

impl Control {
    /// Connects to the member that runs on `folder`.
    pub(crate) async fn connect(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("control.sock");
        let stream = UnixStream::connect(&path).await.map_err(|error| cannot_ask(folder, &error))?;
        let (reader, writer) = stream.into_split();
        Ok(Self { reader: BufReader::new(reader), writer, path })
    }

    /// Asks, and brings back the answer.
    pub(crate) async fn ask(&mut self, request: &Request) -> Result<Value, Failure> {
        let line = match request.patience() {
            None => self.exchange(request).await?,
            Some(most) => match tokio::time::timeout(most, self.exchange(request)).await {
                Ok(line) => line?,
                Err(_) => return Err(self.silent(most)),
            },
        };
        match serde_json::from_str(&line) {
            Ok(Answer::Ok { ok }) => Ok(ok),
            Ok(Answer::Error { error, exit, by }) => Err(Failure { exit, text: error, by }),
            Err(_) => Err(self.odd(&line)),
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<String, Failure> {
        write_line(&mut self.writer, request).await.map_err(|error| self.gone(&error.to_string()))?;
        self.next_line().await?.ok_or_else(|| self.gone("it closed the connection"))
    }

    /// The next event, after [`Request::Subscribe`]; `None` when the member has ended.
    pub(crate) async fn event(&mut self) -> Result<Option<Value>, Failure> {
        let Some(line) = self.next_line().await? else { return Ok(None) };
        serde_json::from_str(&line).map(Some).map_err(|_| self.odd(&line))
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
    fn requests_read_as_they_are_written_and_nothing_else_does() {
        let vote = Request::Vote { subject: "ab".into(), approve: true, wait: None };
        let text = serde_json::to_string(&vote).unwrap();
        assert_eq!(text, r#"{"op":"vote","subject":"ab","approve":true}"#);
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), vote);
        for wrong in
            ["", "{}", r#"{"op":"nothing"}"#, r#"{"op":"vote"}"#, r#"{"op":"dial","at":"x","more":1}"#]
        {
            assert!(serde_json::from_str::<Request>(wrong).is_err(), "{wrong}");
        }
        let heal = Request::Fault(Faulty { heal: true, ..Faulty::default() });
        assert_eq!(serde_json::from_str::<Request>(r#"{"op":"fault","heal":true}"#).unwrap(), heal);
        assert!(serde_json::from_str::<Request>(r#"{"op":"fault","heel":true}"#).is_err());
    }

    #[test]
    fn answers_keep_their_exit_code() {
        let answer = Answer::from(Err(Failure::new(Exit::Refused, "no")));
        let text = serde_json::to_string(&answer).unwrap();
        assert_eq!(text, r#"{"error":"no","exit":"refused"}"#);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
        let by = RefusedBy::rule(Fault::Group, "full", "ADM-07");
        let refused =
            Refused { by, sentence: "too many (ADM-07)".into(), remedy: Some("Wait"), forcible: true };
        let answer = Answer::from(Err(Failure::from(refused)));
        let text = serde_json::to_string(&answer).unwrap();
        let said = r#"{"error":"too many (ADM-07). Wait. To propose it anyway, add --force","exit":"refused","code":"full","rule":"ADM-07","fault":"group","forcible":true}"#;
        assert_eq!(text, said);
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }
}
