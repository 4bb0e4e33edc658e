//! The control socket's server: reads and answers lines, all within bounds.

use super::subscribers::{Heard, Subscriber, Subscribers};
use crate::control::{Answer, CLIENTS_MAX, LINE_BYTES_MAX, Request, read_line, write_line};
use crate::exit::{Exit, Failure};
use folkmoot_control::{Ask, Hello, Id, Reply};
use serde::Serialize;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

/// Requests of one connection that are being answered; the next one waits.
const REQUESTS_MAX: usize = 64;
/// Subscriptions of one connection.
const SUBSCRIPTIONS_MAX: usize = 8;
/// Lines that wait for the reader of one connection. What more there is waits where it comes from.
const LINES_WAITING_MAX: usize = 4;

/// Where requests go, with the place for the answer.
pub(crate) type Requests = mpsc::Sender<(Request, oneshot::Sender<Answer>)>;

/// Opens the socket and serves it. The folder's lock is held, so a socket that is there already is
/// a stale one.
pub(crate) fn start(path: &Path, requests: Requests, events: Subscribers) -> Result<JoinHandle<()>, Failure> {
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::InvalidInput => "this path of the control socket is longer than about 100 bytes, which is the most that the system \
                allows. Choose a folder with a shorter path, with --state"
                .to_owned(),
            _ => folkmoot::tools::in_words(&error),
        };
        Failure::new(Exit::Configuration, format!("{}: {why}", path.display()))
    })?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|error| Failure::file(path, &error))?;
    Ok(tokio::spawn(accept(listener, requests, events)))
}

async fn accept(listener: UnixListener, requests: Requests, events: Subscribers) {
    let room = Arc::new(Semaphore::new(CLIENTS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (requests, events) = (requests.clone(), events.clone());
                tokio::spawn(async move {
                    // A command that goes away, or speaks nonsense, ends its own connection and
                    // nothing else.
                    if let Err(error) = converse(stream, requests, events).await {
                        tracing::debug!(%error, "control");
                    }
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "control socket");
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        }
    }
}

/// Takes requests until the client closes its side; what was asked by then is answered still, and
/// events come until it closes the other.
async fn converse(stream: UnixStream, requests: Requests, events: Subscribers) -> std::io::Result<()> {
    let (reader, writer) = stream.into_split();
    let (said, lines) = mpsc::channel(LINES_WAITING_MAX);
    let writes = tokio::spawn(write_all(writer, lines));
    let heard = hear(reader, requests, events, said).await;
    let written = writes.await.map_err(std::io::Error::other)?;
    heard.and(written)
}

async fn write_all(mut writer: OwnedWriteHalf, mut lines: mpsc::Receiver<Arc<str>>) -> std::io::Result<()> {
    write_line(&mut writer, &Hello::ours()).await?;
    while let Some(line) = lines.recv().await {
        writer.write_all(line.as_bytes()).await?;
        writer.write_all(b"\n").await?;
    }
    Ok(())
}

async fn hear(
    reader: OwnedReadHalf,
    requests: Requests,
    events: Subscribers,
    said: mpsc::Sender<Arc<str>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(reader);
    let room = Arc::new(Semaphore::new(REQUESTS_MAX));
    let mut subscribed: Vec<Arc<Subscriber>> = Vec::new();
    while let Some(line) = read_line(&mut reader, LINE_BYTES_MAX).await? {
        let Ask { id, request } = match Ask::read(&line) {
            Ok(ask) => ask,
            Err(reply) => {
                if !tell(&said, &reply).await {
                    break;
                }
                continue;
            }
        };
        if request == Request::Subscribe {
            let heard = (subscribed.len() < SUBSCRIPTIONS_MAX).then(|| events.subscribe());
            let why = || format!("a connection has at most {SUBSCRIPTIONS_MAX} subscriptions");
            let may = heard.as_ref().map(|_| Value::Null).ok_or_else(|| Failure::new(Exit::Usage, why()));
            tell(&said, &Reply { id: id.clone(), answer: crate::control::answer(may) }).await;
            if let Some(heard) = heard {
                subscribed.push(Arc::clone(&heard));
                tokio::spawn(stream_events(heard, id, said.clone()));
            }
            continue;
        }
        // Whoever asks too much at once waits with the next line.
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
        let (said, answer) = (said.clone(), ask(&requests, request).await);
        tokio::spawn(async move {
            let gone = || crate::control::answer(Err(folkmoot::Error::Stopped.into()));
            let answer = answer.await.unwrap_or_else(|_| gone());
            tell(&said, &Reply { id, answer }).await;
            drop(permit);
        });
    }
    subscribed.iter().for_each(|one| one.leaves());
    Ok(())
}

/// Whether anybody is there to hear it.
async fn tell(said: &mpsc::Sender<Arc<str>>, value: &impl Serialize) -> bool {
    let line = folkmoot_control::line(value).unwrap_or_default();
    said.send(line.into()).await.is_ok()
}

/// Hands it to the member, behind those that came before it on this connection. Where its answer
/// will be; if the member has gone, nowhere.
async fn ask(requests: &Requests, request: Request) -> oneshot::Receiver<Answer> {
    let (done, answer) = oneshot::channel();
    let _ = requests.send((request, done)).await;
    answer
}

async fn stream_events(events: Arc<Subscriber>, id: Option<Id>, said: mpsc::Sender<Arc<str>>) {
    // Messages have an id of their own.
    let id = id.and_then(|id| folkmoot_control::line(&id).ok());
    loop {
        let line = match events.next().await {
            Heard::Line(line) => line,
            Heard::Missed(count) => json!({ "event": "missed", "count": count }).to_string().into(),
        };
        let named = match (&id, line.strip_prefix('{')) {
            (Some(id), Some(rest)) => format!("{{\"subscription\":{id},{rest}").into(),
            _ => line,
        };
        if said.send(named).await.is_err() {
            return;
        }
    }
}
