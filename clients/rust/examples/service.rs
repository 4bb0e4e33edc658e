//! A program that runs for long without a terminal, as a service of systemd does: it opens a folder
//! under a passphrase, takes what the members say into a file, and leaves in good order when it is
//! told to stop.
//!
//! Three people on one machine. Each makes an identity under a passphrase, all sign one charter,
//! and each folder gets a copy of it:
//!
//! ```text
//! echo 'correct horse battery' >secret && chmod 600 secret
//! for who in anna ben cleo; do folkmoot --state $who --passphrase-file secret identity new $who; done
//! folkmoot charter new "our log" --votes 2 --contact udp/127.0.0.1:4811 \
//!     --founder anna/identity.pem --founder ben/identity.pem --founder cleo/identity.pem
//! folkmoot --state anna --passphrase-file secret charter sign charter.toml --yes
//! for who in ben cleo; do
//!     folkmoot --state $who --passphrase-file secret charter sign charter.cms --yes
//! done
//! for who in anna ben cleo; do cp charter.cms $who; done
//! ```
//! Anna is the service. Ben and Cleo talk, and read `said.log` when they are done. Stop the service
//! by `kill`, or with Ctrl-C:
//!
//! ```text
//! cargo run -p folkmoot --example service -- anna 127.0.0.1:4811 said.log secret
//! folkmoot --state ben --passphrase-file secret chat --listen 127.0.0.1:4812
//! folkmoot --state cleo --passphrase-file secret chat --listen 127.0.0.1:4813
//! ```
//! Under systemd leave out `secret`, and give the unit
//! `LoadCredentialEncrypted=folkmoot-passphrase:/etc/folkmoot/anna.cred` (docs/cli.md, "A member as
//! a service of systemd"). The exit codes are those of docs/cli.md: 0 is done, 2 is the command
//! line, 3 is a wrong folder, file or passphrase, 7 says that this member is in the group no more,
//! 75 is what time may mend. `Restart=on-failure` with `RestartPreventExitStatus=2 3 7` starts it
//! again where that may help.
//!
//! How it works: what comes goes to a task of its own, through a channel with few places. If the
//! disk is slow, the channel is full, and this program takes no more events; the library then keeps
//! them, 262,144 or 256 MiB of them. Beyond that the member stops with an error (code 70) and is
//! started again: it never holds up the others.

use folkmoot::parts::system::is_passing;
use folkmoot::{Error, Event, Folkmoot, Options, Passphrase, Secret, Session};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Lines that wait for the disk.
const WAITING: usize = 64;
/// Longest wait until the others know that this member leaves.
const PARTING: Duration = Duration::from_secs(4);

/// Why the service ends: the exit code, and the text for the log.
struct Failure(u8, String);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::LocalResumed => 1, // On a virtual machine: it only has to be started again.
            Error::LocalSlowReader(_) | Error::LocalFailed => 70,
            error if error.is_passing() => 75,
            _ => 3,
        };
        Self(code, error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(if is_passing(&error) { 75 } else { 3 }, error.to_string())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ended = match &words[..] {
        [state, address, log, secret @ ..] if secret.len() < 2 => {
            run(state, address, log, secret.first().map(PathBuf::from)).await
        }
        _ => Err(Failure(2, "usage: service STATE ADDRESS:PORT LOG [PASSPHRASE-FILE]".into())),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(code, why)) => {
            eprintln!("service: {why}");
            ExitCode::from(code)
        }
    }
}

async fn run(state: &str, address: &str, log: &str, secret: Option<PathBuf>) -> Result<(), Failure> {
    let address: SocketAddr = address.parse().map_err(|why| Failure(2, format!("{address}: {why}")))?;
    let mut options = Options::new(state).listen(address);
    if let Some(file) = secret.or_else(credential) {
        options = options.passphrase(passphrase(&file)?);
    }
    // Before the member runs: a signal that comes meanwhile is not lost.
    let stop = told_to_stop(signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
    let mut moot = Folkmoot::open_with(options).await?;
    let session = moot.join().await?;
    eprintln!("service: {} runs at {}", moot.name(), moot.locator());
    let (lines, waiting) = mpsc::channel(WAITING);
    let writer = tokio::task::spawn_blocking(move || write(file, waiting));
    let ended = serve(&mut moot, &session, &lines, stop).await;
    drop(lines);
    moot.close().await?;
    writer.await.map_err(|error| Failure(70, error.to_string()))??;
    ended?;
    eprintln!("service: ended as told");
    Ok(())
}

/// The signals that tell it to stop, as they come.
fn told_to_stop(mut term: Signal, mut interrupt: Signal) -> mpsc::Receiver<()> {
    let (told, stop) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = term.recv() => {}
                _ = interrupt.recv() => {}
            }
            if told.send(()).await.is_err() {
                return; // It has stopped.
            }
        }
    });
    stop
}

/// Where systemd has put the passphrase, if it has.
fn credential() -> Option<PathBuf> {
    let file = Path::new(&std::env::var_os("CREDENTIALS_DIRECTORY")?).join("folkmoot-passphrase");
    file.exists().then_some(file)
}

/// The first line of a file.
fn passphrase(file: &Path) -> Result<Passphrase, Failure> {
    let wrong = |why: String| Failure(3, format!("{}: {why}", file.display()));
    let mut line = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    line.truncate(line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len()));
    Passphrase::new(Secret::new(line)).map_err(|error| wrong(error.to_string()))
}

/// Takes events, each only when there is room for its line. A signal has this member leave, so that
/// the others need not miss it; what was said before that still comes. Another signal ends the
/// wait.
async fn serve(
    moot: &mut Folkmoot,
    session: &Session,
    lines: &mpsc::Sender<String>,
    mut stop: mpsc::Receiver<()>,
) -> Result<(), Failure> {
    let mut end = None;
    loop {
        let next = async {
            let room = lines.reserve().await.map_err(|_| Failure(3, "the log takes no more".into()))?;
            Ok::<_, Failure>((room, moot.next().await?))
        };
        let parted = async {
            match end {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        let (room, event) = tokio::select! {
            next = next => next?,
            Some(()) = stop.recv() => {
                if end.replace(Instant::now() + PARTING).is_some() {
                    return Ok(());
                }
                session.leave().await?;
                continue;
            }
            () = parted => return Ok(()),
        };
        match event {
            Some(Event::Message { sender, payload, .. }) => {
                let who = sender.of(&moot.names().await?.name(&sender.member));
                room.send(format!("{who}: {}", String::from_utf8_lossy(&payload)));
            }
            Some(Event::View { members, .. }) => eprintln!("service: {} are here", members.len()),
            Some(Event::SendFailed { error }) => eprintln!("service: not sent: {error}"),
            Some(Event::Removed { .. }) if end.is_some() => return Ok(()),
            Some(Event::Removed { .. }) => {
                return Err(Failure(7, "this member is in the group no more".into()));
            }
            Some(_) => {}
            None => return Err(Failure(70, "the member has stopped, and nobody told it to".into())),
        }
    }
}

/// Writes lines until the last one. On a thread of its own, since a disk may take long.
fn write(mut file: std::fs::File, mut lines: mpsc::Receiver<String>) -> std::io::Result<()> {
    while let Some(line) = lines.blocking_recv() {
        writeln!(file, "{line}")?;
    }
    file.sync_all()
}
