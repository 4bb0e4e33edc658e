//! The control socket's server: reads and answers lines, all within bounds.

use super::subscribers::{Heard, Subscriber, Subscribers};
use crate::control::{Answer, CLIENTS_MAX, LINE_BYTES_MAX, Request, read_line, write_line};
use crate::exit::{Exit, Failure};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

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

async fn converse(stream: UnixStream, requests: Requests, events: Subscribers) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while let Some(line) = read_line(&mut reader, LINE_BYTES_MAX).await? {
        match serde_json::from_str(&line) {
            Ok(Request::Subscribe) => {
                let heard = events.subscribe();
                write_line(&mut writer, &Answer::Ok { ok: Value::Null }).await?;
                let closes = async {
                    let mut byte = [0_u8; 64];
                    while reader.read(&mut byte).await.is_ok_and(|count| count > 0) {}
                    heard.leaves();
                    std::future::pending().await
                };
                return tokio::select! {
                    streamed = stream_events(&heard, &mut writer) => streamed,
                    closed = closes => closed,
                };
            }
            Ok(request) => write_line(&mut writer, &ask(&requests, request).await).await?,
            Err(_) => {
                let error =
                    "not a request of this release. The program folkmoot asks in its own form: use that";
                let answer = Answer::from(Err(Failure::new(Exit::Usage, error)));
                write_line(&mut writer, &answer).await?;
            }
        }
    }
    Ok(())
}

async fn ask(requests: &Requests, request: Request) -> Answer {
    let (done, answer) = oneshot::channel();
    let gone = || Err(Failure::from(folkmoot::Error::Stopped)).into();
    if requests.send((request, done)).await.is_err() {
        return gone();
    }
    answer.await.unwrap_or_else(|_| gone())
}

async fn stream_events(events: &Subscriber, writer: &mut OwnedWriteHalf) -> std::io::Result<()> {
    use tokio::io::AsyncWriteExt as _;
    loop {
        match events.next().await {
            Heard::Line(line) => {
                writer.write_all(line.as_bytes()).await?;
                writer.write_all(b"\n").await?;
            }
            Heard::Missed(count) => {
                write_line(writer, &json!({ "event": "missed", "count": count })).await?;
            }
        }
    }
}
