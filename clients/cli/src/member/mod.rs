//! The process that runs one member: takes its events, serves the control socket, prints.
//!
//! ```text
//!   member's events --> [ Process: picture, delivery log ] --> standard output, subscribers
//!   control socket  --> [ one task, one request a turn   ] --> orders to the member
//! ```

mod answer;
mod csr;
mod decide;
pub(crate) mod find;
mod hook;
pub(crate) mod journal;
mod kept;
mod lacks;
mod office;
mod post;
mod propose;
pub(crate) mod render;
mod replica;
mod serve;

use crate::args::Run;
use crate::control::EVENTS_BEHIND_MAX;
use crate::exit::{Exit, Failure};
use crate::show;
use folkmoot::{Event, Folkmoot, MemberId, Options, Session, ViewId};
use journal::Journal;
use kept::Kept;
use post::Letters;
use render::Names;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot};

/// Requests that wait for the process.
const REQUESTS_WAITING_MAX: usize = 64;

/// What is printed of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printing {
    Nothing,
    People,
    Json,
}

/// How the member stands in the group, from its events.
#[derive(Debug, Default, Clone)]
struct Picture {
    view: Option<(ViewId, Vec<MemberId>, String)>,
    steady: bool,
    removed: Option<&'static str>,
    refused: Option<String>,
    denied: Option<String>,
}

/// The running process.
struct Process {
    moot: Folkmoot,
    session: Session,
    journal: Journal,
    kept: Kept,
    office: office::Watch,
    /// Of an authority that shares its log.
    replica: Option<replica::Replica>,
    letters: Letters,
    hook: hook::Hook,
    picture: Picture,
    names: Names,
    events: broadcast::Sender<String>,
    printing: Printing,
    /// Room for own messages on their way, while a burst runs.
    window: Option<Arc<Semaphore>>,
    socket: PathBuf,
}

/// What happened in the loop.
enum Turn {
    Event(Result<Option<Event>, folkmoot::Error>),
    Request((crate::control::Request, oneshot::Sender<crate::control::Answer>)),
    Hook(hook::Turn),
    Office,
    Replica(replica::Turn),
    Stop,
}

/// Runs a member on `folder` until told to stop. `ready` hears when the control socket is there.
pub(crate) async fn run(
    folder: &Path,
    run: &Run,
    printing: Printing,
    ready: Option<oneshot::Sender<()>>,
) -> Result<(), Failure> {
    if let Some(charter) = &run.charter {
        crate::files::adopt(folder, charter)?;
    }
    let mut options = Options::new(folder).listen(run.listen);
    options.seeds.clone_from(&run.at);
    options.replicated = run.replica.replicas.is_some();
    options.clock_ahead = Duration::from_secs(run.clock_ahead);
    options.danger_keep_keys = run.danger_keep_keys;
    let never = |error: folkmoot::Error| if run.authority { error.never_restored() } else { error };
    let moot = Folkmoot::open_with(options).await.map_err(never)?;
    let session = if run.authority { office::of(&moot).await? } else { moot.join().await? };
    if run.apply {
        moot.apply().await?;
    }
    let replica = replica::start(folder, &run.replica).await?;
    let (requests, inbox) = mpsc::channel(REQUESTS_WAITING_MAX);
    let (events, _) = broadcast::channel(EVENTS_BEHIND_MAX);
    let socket = folder.join("control.sock");
    let server = serve::start(&socket, requests, events.clone())?;
    announce(&moot, replica.as_ref(), folder, printing, run.quiet);
    if !run.apply && !run.authority && printing != Printing::Json {
        tell_outsider(&moot, folder).await?;
    }
    if let Some(ready) = ready {
        // Whoever waited may have given up.
        let _ = ready.send(());
    }
    let printing = if run.quiet { Printing::Nothing } else { printing };
    let mut process = Process {
        moot,
        session,
        journal: Journal::default(),
        kept: Kept::default(),
        office: office::Watch::new(run.authority),
        replica,
        letters: Letters::default(),
        hook: hook::Hook::new(run.policy_hook.clone()),
        picture: Picture::default(),
        names: Names::new(),
        events,
        printing,
        window: None,
        socket,
    };
    let result = process.live(inbox, run.while_stdin).await;
    server.abort();
    // The socket goes with the process; a stale one is replaced at the next start anyway.
    let _ = std::fs::remove_file(&process.socket);
    let stopped = match process.replica.take() {
        Some(replica) => replica.stop().await,
        None => Ok(()),
    };
    result.and(stopped)?;
    process.moot.close().await.map_err(Failure::from)
}

fn announce(
    moot: &Folkmoot,
    replica: Option<&replica::Replica>,
    folder: &Path,
    printing: Printing,
    quiet: bool,
) {
    let value = json!({
        "event": "ready", "me": moot.me().hex(), "name": moot.name(), "group": moot.group().hex(),
        "locator": moot.locator().to_string(), "state": folder,
        "replicas": replica.map(replica::Replica::locator),
    });
    match printing {
        Printing::Json => show::line(&value.to_string()),
        Printing::People if !quiet => {
            eprintln!("{} listens at {}; folder {}", moot.name(), moot.locator(), folder.display());
            if let Some(replica) = replica {
                eprintln!("for other replicas: {}", replica.locator());
            }
        }
        Printing::People | Printing::Nothing => {}
    }
}

/// Who started as a member and is none would wait for ever without a word.
async fn tell_outsider(moot: &Folkmoot, folder: &Path) -> Result<(), Failure> {
    let status = moot.status().await?;
    if status.people.iter().all(|person| person.member != status.me) {
        let (name, folder) = (moot.name(), folder.display());
        let how = format!("folkmoot --state {folder} join CHARTER --at LOCATOR");
        eprintln!("{name} is no member of the group ({}). To ask for admission: {how}", status.activity);
    }
    Ok(())
}

impl Process {
    async fn live(
        &mut self,
        mut inbox: mpsc::Receiver<(crate::control::Request, oneshot::Sender<crate::control::Answer>)>,
        while_stdin: bool,
    ) -> Result<(), Failure> {
        self.learn_names().await?;
        let stop = stop_signal(while_stdin);
        tokio::pin!(stop);
        loop {
            let turn = tokio::select! {
                event = self.moot.next() => Turn::Event(event),
                Some(request) = inbox.recv() => Turn::Request(request),
                turn = self.hook.next() => Turn::Hook(turn),
                () = self.office.next() => Turn::Office,
                turn = replica::next(&mut self.replica) => Turn::Replica(turn),
                () = &mut stop => Turn::Stop,
            };
            match turn {
                Turn::Event(Ok(Some(event))) => self.hear(event).await?,
                Turn::Event(Ok(None)) | Turn::Stop => return Ok(()),
                Turn::Event(Err(error)) => return Err(error.into()),
                Turn::Hook(turn) => self.follow_hook(turn).await?,
                Turn::Replica(turn) => self.follow_replica(turn).await?,
                Turn::Office => self.look_at_office().await?,
                Turn::Request((crate::control::Request::Stop, done)) => {
                    let _ = done.send(Ok(Value::Null).into());
                    return Ok(());
                }
                Turn::Request((request, done)) => self.answer(request, done).await,
            }
        }
    }

    /// Takes note of an event and passes it on to whoever wants to see it.
    async fn hear(&mut self, event: Event) -> Result<(), Failure> {
        let mut number = None;
        match &event {
            Event::Message { sender, payload, .. } => {
                number = Some(self.kept.note(&event));
                self.journal.note(*sender, payload);
                if let Some(window) = self.window.as_ref().filter(|_| *sender == self.moot.me()) {
                    window.add_permits(1);
                }
            }
            Event::View { group, id, members, epoch, .. } if *group == self.moot.group() => {
                self.learn_names().await?;
                self.picture.view = Some((*id, members.clone(), epoch.clone()));
                (self.picture.steady, self.picture.removed) = (true, None);
                (self.picture.refused, self.picture.denied) = (None, None);
            }
            Event::KeyPending { .. } | Event::Transitional { .. } => self.picture.steady = false,
            Event::Removed { group, cause } if *group == self.moot.group() => {
                let removed = Some(render::cause_word(*cause));
                self.picture = Picture { removed, ..Picture::default() };
            }
            Event::Log(record) => {
                if let Some(replica) = &self.replica {
                    replica.log(record);
                }
            }
            Event::LogConflict { reason } => {
                return Err(Failure::new(Exit::Configuration, reason.clone()));
            }
            Event::Letter { .. } => self.letters.note(&event, ""),
            Event::Answered { by, .. } => self.letters.note(&event, &render::name(&self.names, by)),
            Event::Refused { reason } => self.picture.refused = Some(reason.clone()),
            Event::Denied { reason } => self.picture.denied = Some(reason.clone()),
            Event::Admitted { .. } | Event::Request(_) => self.learn_names().await?,
            _ => {}
        }
        if self.printing != Printing::Nothing || self.events.receiver_count() > 0 {
            let mut value = render::event_json(&event, &self.names);
            self.add_about(&event, &mut value).await?;
            if let (Some(fields), Some(number)) = (value.as_object_mut(), number) {
                fields.insert("number".into(), number.into());
            }
            self.show(&value);
        }
        Ok(())
    }

    /// Votes are told with the name of what they are on.
    async fn add_about(&self, event: &Event, value: &mut Value) -> Result<(), Failure> {
        if let Event::Votes { subject, .. } = event
            && let (Some(fields), Some(about)) = (value.as_object_mut(), self.about(subject).await?)
        {
            fields.insert("about".into(), about.into());
        }
        Ok(())
    }

    async fn learn_names(&mut self) -> Result<(), Failure> {
        let people = self.moot.status().await?.people;
        self.names = people.into_iter().map(|person| (person.member, person.name)).collect();
        self.names.insert(self.moot.me(), self.moot.name().to_owned());
        Ok(())
    }

    fn show(&self, event: &Value) {
        match self.printing {
            Printing::Json => show::line(&event.to_string()),
            Printing::People => {
                if let Some(text) = render::event_text(event) {
                    show::line(&text);
                }
            }
            Printing::Nothing => {}
        }
        if self.events.receiver_count() > 0 {
            // The last subscriber may have gone in between.
            let _ = self.events.send(event.to_string());
        }
    }
}

/// Ends when the process is asked to: Ctrl-C, SIGTERM, or the parent's end of the pipe.
pub(crate) async fn stop_signal(while_stdin: bool) {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    let parent = async {
        if !while_stdin {
            std::future::pending::<()>().await;
        }
        let mut byte = [0_u8; 64];
        while tokio::io::stdin().read(&mut byte).await.is_ok_and(|count| count > 0) {}
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
        () = parent => {}
    }
}
