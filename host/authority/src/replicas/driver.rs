//! Runs a replica over a member of the replicas' own group: its state folder, its socket, its disk.
//!
//! ```text
//! authority's member --records--> loop --send, safe--> member of the replicas' group <--UDP--> other replicas
//!                    <--logged---  |  <--messages, views--
//!                                  '--> STATE/member.sqlite, table "log"
//! ```
//! One task. One write, one send and one hand-back are under way at a time, each in the machine's
//! order; writes that wait go together.

use super::machine::{Input, Output, REPLICAS_MAX, Replicas};
use super::status::Status;
use super::{LOG_TABLE, ReplicasError};
use bytes::Bytes;
use core::pin::Pin;
use core::time::Duration;
use folkmoot_base::{GroupId, Locator, MemberId, Persist, Service};
use folkmoot_identity::{Charter, Identity, Minority, SignedCharter};
use folkmoot_runtime::{
    Command, Event, Lock, MemberHandle, Opened, RunningMember, RuntimeError, Sending, StateFolder, Store,
    StoreError, Writer,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Pause before a message that the member refused is handed in again.
const AGAIN: Duration = Duration::from_millis(200);
/// Most writes that go together.
const ROWS_TOGETHER_MAX: usize = 1_024;

/// What to run, and where: a folder of its own, with an identity and the replicas' charter, signed
/// by all of its founders.
#[derive(Debug, Clone)]
pub struct Options {
    /// The state folder of this replica in the replicas' group; never the authority's own.
    pub state: PathBuf,
    /// The identity of that folder, if it was opened before. Without it, the folder's key must be
    /// open, not under a passphrase.
    pub identity: Option<Identity>,
    /// Where to listen for the other replicas.
    pub listen: SocketAddr,
    /// Where they may be found, besides the places remembered from before.
    pub seeds: Vec<Locator>,
}

/// The two ends of the authority's machine.
#[derive(Debug)]
pub struct Ends {
    /// Records that it wants logged (`Event::Log`); closed when it has stopped.
    pub records: mpsc::Receiver<Bytes>,
    /// Records with their place in the log (`Command::Logged`), in its order.
    pub logged: mpsc::Sender<Logged>,
}

/// A record that has its place in the log of all replicas.
#[derive(Debug)]
pub struct Logged {
    /// It.
    pub record: Bytes,
    /// To be told when everything that it brought about is on the authority's disk; dropped if that
    /// cannot be.
    pub kept: oneshot::Sender<()>,
}

/// Why a replica did not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The charter lets a minority go on.
    #[error(
        "the replicas' charter says minority = {0:?}: two sides of a split could both send. Make one with \
         minority = \"read-only\" or \"stop\""
    )]
    LocalMinority(&'static str),
    /// Nobody to replicate with, or too many.
    #[error("the replicas' charter has {0} founders; 2 to {REPLICAS_MAX} can be replicas")]
    LocalCount(usize),
    /// The charter in the folder does not stand.
    #[error("the replicas' charter is not valid: {0}")]
    LocalCharter(String),
    /// The log.
    #[error(transparent)]
    Replicas(#[from] ReplicasError),
    /// The member of the replicas' group.
    #[error("the replicas' group: {0}")]
    Runtime(#[from] RuntimeError),
    /// The authority's member took a record and did not keep it, or has stopped.
    #[error("the authority has stopped")]
    LocalAuthority,
    /// The task broke down.
    #[error("the replica's task has ended")]
    LocalEnded,
}

impl From<StoreError> for DriverError {
    fn from(error: StoreError) -> Self {
        Self::Runtime(RuntimeError::from(error).never_restored())
    }
}

/// A replica at work. Dropped, it stops at once, as if it were killed; [`Self::stop`] lets it
/// finish its writes.
#[derive(Debug)]
pub struct Running {
    status: watch::Receiver<Status>,
    me: MemberId,
    locator: Locator,
    handle: MemberHandle,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), DriverError>>,
}

impl Running {
    /// How it stands; changes can be waited for.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.clone()
    }

    /// Who it is in the replicas' group.
    pub fn me(&self) -> MemberId {
        self.me
    }

    /// Where it listens.
    pub fn locator(&self) -> Locator {
        self.locator.clone()
    }

    /// Its member of the replicas' group: for status, and for tests.
    pub fn handle(&self) -> MemberHandle {
        self.handle.clone()
    }

    /// Waits until it ends by itself.
    ///
    /// # Errors
    /// Why it ended.
    pub async fn ended(&mut self) -> Result<(), DriverError> {
        (&mut self.task).await.map_err(|_| DriverError::LocalEnded)?
    }

    /// Stops it, once its writes are on disk.
    ///
    /// # Errors
    /// Why it could not go on to the end.
    pub async fn stop(mut self) -> Result<(), DriverError> {
        if let Some(stop) = self.stop.take() {
            // One that has ended already is what was asked for.
            let _ = stop.send(());
        }
        self.ended().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Opens the folder, joins the replicas' group and shares the log there.
///
/// # Errors
/// [`DriverError`].
pub async fn open(options: Options, ends: Ends) -> Result<Running, DriverError> {
    let Options { state, identity, listen, seeds } = options;
    let folder = StateFolder::at(&state);
    let signed = SignedCharter::complete_from_der(&folder.read_charter().map_err(RuntimeError::from)?)
        .map_err(|error| DriverError::LocalCharter(error.to_string()))?;
    let listed = listed(signed.charter())?;
    let options = folkmoot_runtime::Options {
        state,
        identity,
        listen,
        seeds,
        heads: Vec::new(),
        voucher: None,
        endorsement: None,
        carries: Vec::new(),
        replicated: false,
        multicast: false,
        clock_ahead: Duration::ZERO,
        danger_keep_keys: false,
    };
    let opened = folkmoot_runtime::open(options).await.map_err(RuntimeError::never_restored)?;
    let Opened { running, me, group, locator, lock, .. } = opened;
    // Beside the member's own connection to the same file: SQLite lets one write at a time, and the
    // other waits.
    let store = Store::open(&folder.store_path())?;
    let stored: Vec<_> = store.load()?.into_iter().filter(|(key, _)| key.table == LOG_TABLE).collect();
    let machine = Replicas::load(me, listed, &stored)?;
    let writer = Arc::new(Writer::start(store)?);
    let handle = running.handle.clone();
    handle.command(Command::Join { group }).await?.map_err(RuntimeError::Refused)?;
    let (tell, status) = watch::channel(machine.status());
    let (stop, stopped) = oneshot::channel();
    let work = Work {
        machine,
        running,
        group,
        ends,
        writer,
        tell,
        writes: VecDeque::new(),
        writing: Slot::default(),
        sends: VecDeque::new(),
        sending: Slot::default(),
        backs: VecDeque::new(),
        handing: Slot::default(),
        _lock: lock,
    };
    let task = tokio::spawn(work.run(stopped));
    Ok(Running { status, me, locator, handle, stop: Some(stop), task })
}

/// The founders, in the charter's order, if it can be the replicas' charter.
fn listed(charter: &Charter) -> Result<Vec<MemberId>, DriverError> {
    if charter.minority() == Minority::Continue {
        return Err(DriverError::LocalMinority(charter.minority().word()));
    }
    let founders: Vec<MemberId> = charter.founders().iter().map(|founder| founder.key.member_id()).collect();
    if (2..=REPLICAS_MAX).contains(&founders.len()) {
        Ok(founders)
    } else {
        Err(DriverError::LocalCount(founders.len()))
    }
}

type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// One thing under way, or none. Waiting for it can be broken off and begun again.
struct Slot<T>(Option<Doing<T>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Slot<T> {
    fn begin(&mut self, doing: impl Future<Output = T> + Send + 'static) {
        self.0 = Some(Box::pin(doing));
    }

    fn is_free(&self) -> bool {
        self.0.is_none()
    }

    async fn done(&mut self) -> T {
        match &mut self.0 {
            Some(doing) => {
                let done = doing.await;
                self.0 = None;
                done
            }
            None => core::future::pending().await,
        }
    }
}

struct Work {
    machine: Replicas,
    running: RunningMember,
    group: GroupId,
    ends: Ends,
    writer: Arc<Writer>,
    tell: watch::Sender<Status>,
    writes: VecDeque<(u64, Vec<Persist>)>,
    writing: Slot<(Vec<u64>, Result<(), StoreError>)>,
    sends: VecDeque<Bytes>,
    sending: Slot<Result<(), RuntimeError>>,
    backs: VecDeque<(u64, Bytes)>,
    handing: Slot<Option<u64>>,
    _lock: Lock,
}

enum Wake {
    Event(Result<Option<Box<Event>>, RuntimeError>),
    Record(Option<Bytes>),
    Written((Vec<u64>, Result<(), StoreError>)),
    Sent(Result<(), RuntimeError>),
    Handed(Option<u64>),
    Stop,
}

impl Work {
    async fn run(mut self, mut stop: oneshot::Receiver<()>) -> Result<(), DriverError> {
        loop {
            let wake = tokio::select! {
                event = self.running.next() => Wake::Event(event.map(|event| event.map(Box::new))),
                record = self.ends.records.recv() => Wake::Record(record),
                written = self.writing.done() => Wake::Written(written),
                sent = self.sending.done() => Wake::Sent(sent),
                handed = self.handing.done() => Wake::Handed(handed),
                _ = &mut stop => Wake::Stop,
            };
            match wake {
                Wake::Event(event) => match event? {
                    Some(event) => self.hear(*event)?,
                    None => return Ok(()),
                },
                Wake::Record(Some(record)) => self.handle(Input::Record(record))?,
                // The authority has stopped: so does its replica.
                Wake::Record(None) | Wake::Stop => return self.finish().await,
                Wake::Written((tickets, result)) => {
                    result?;
                    tickets.into_iter().try_for_each(|ticket| self.handle(Input::Persisted(ticket)))?;
                }
                Wake::Sent(result) => result?,
                Wake::Handed(place) => {
                    self.handle(Input::Handed(place.ok_or(DriverError::LocalAuthority)?))?;
                }
            }
            self.work();
        }
    }

    fn hear(&mut self, event: Event) -> Result<(), DriverError> {
        let group = self.group;
        match event {
            Event::View { group: of, id, members, .. } if of == group => {
                // What waited was for the view before.
                self.sends.clear();
                // A replica is a whole process: other programs of its identity keep no log.
                let replicas = members.iter().filter(|party| party.port == 0);
                let members = replicas.map(|party| party.member).collect();
                self.handle(Input::View { id, members })
            }
            Event::Message { group: of, sender, view, payload, .. } if of == group && sender.port == 0 => {
                self.handle(Input::Message { from: sender.member, view, payload })
            }
            Event::Transitional { group: of } if of == group => self.handle(Input::Transitional),
            Event::Removed { group: of, .. } if of == group => self.handle(Input::Out),
            _ => Ok(()),
        }
    }

    /// What a peer did wrong is told and passed over; two logs that differ end it.
    fn handle(&mut self, input: Input) -> Result<(), DriverError> {
        if let Err(error) = self.machine.handle(input) {
            if matches!(error, ReplicasError::PeerDiverged(_) | ReplicasError::PeerAhead(_)) {
                self.tell.send_replace(self.machine.status());
                return Err(error.into());
            }
            tracing::warn!("{error}");
        }
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Persist { ticket, rows } => self.writes.push_back((ticket, rows)),
                Output::Send(payload) => self.sends.push_back(payload),
                Output::HandBack { place, record } => self.backs.push_back((place, record)),
                Output::Trace(text) => tracing::debug!("{text}"),
            }
        }
        Ok(())
    }

    /// Begins what can be begun.
    fn work(&mut self) {
        if self.writing.is_free() && !self.writes.is_empty() {
            self.write();
        }
        if self.sending.is_free()
            && let Some(payload) = self.sends.pop_front()
        {
            self.sending.begin(send(self.running.handle.clone(), self.group, payload));
        }
        if self.handing.is_free()
            && let Some((place, record)) = self.backs.pop_front()
        {
            self.handing.begin(hand(self.ends.logged.clone(), place, record));
        }
        let status = self.machine.status();
        self.tell.send_if_modified(|told| {
            let news = *told != status;
            *told = status;
            news
        });
    }

    /// What waits goes together, in one transaction.
    fn write(&mut self) {
        let (mut tickets, mut all) = (Vec::new(), Vec::new());
        while all.len() < ROWS_TOGETHER_MAX
            && let Some((ticket, rows)) = self.writes.pop_front()
        {
            tickets.push(ticket);
            all.extend(rows);
        }
        let writer = self.writer.clone();
        self.writing.begin(async move { (tickets, writer.commit(all).await) });
    }

    async fn finish(mut self) -> Result<(), DriverError> {
        loop {
            if self.writing.is_free() && self.writes.is_empty() {
                break;
            }
            if self.writing.is_free() {
                self.write();
            }
            self.writing.done().await.1?;
        }
        Ok(self.running.stop().await?)
    }
}

/// Sends, and again if the member refuses: a message that is lost in its view holds the view up. In
/// a later view it says nothing.
async fn send(handle: MemberHandle, group: GroupId, payload: Bytes) -> Result<(), RuntimeError> {
    loop {
        let message = Sending { group, service: Service::Safe, payload: payload.clone(), signed: false };
        match handle.send(message).await {
            // Out of the group: its next view begins anew.
            Ok(()) | Err(RuntimeError::NotInGroup) => return Ok(()),
            Err(RuntimeError::SendRefused(why)) => {
                tracing::debug!("not sent: {why}");
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Hands a record to the authority: its place once its disk has it, or `None`.
async fn hand(logged: mpsc::Sender<Logged>, place: u64, record: Bytes) -> Option<u64> {
    let (kept, answer) = oneshot::channel();
    logged.send(Logged { record, kept }).await.ok()?;
    answer.await.ok().map(|()| place)
}
