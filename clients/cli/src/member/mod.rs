//! The process that runs one member: takes its events, serves the control socket, prints.
//!
//! ```text
//!   member's events --> [ Process: picture, delivery log ] --> standard output, subscribers
//!   control socket  --> [ one task, one request a turn   ] --> orders to the member
//! ```

mod answer;
pub(crate) mod carried;
pub(crate) mod clocks;
pub(crate) mod concerns;
mod csr;
mod decide;
pub(crate) mod find;
mod follow;
mod former;
mod hook;
pub(crate) mod invite;
mod journal;
mod kept;
mod lacks;
mod lines;
pub(crate) mod matters;
pub(crate) mod names;
mod office;
mod outcome;
mod part;
mod past;
mod post;
mod process;
mod propose;
pub(crate) mod reached;
pub(crate) mod render;
mod replica;
mod resolve;
mod retime;
pub(crate) mod robot;
mod rules_now;
mod say;
mod serve;
pub(crate) mod side;
pub(crate) mod skips;
mod subscribers;
pub(crate) mod times;
mod told;
mod trouble;
mod withdraw;

use crate::args::run::Run;
use crate::exit::Failure;
use crate::printer::{Gone, Printer};
use crate::values::Multicast;
use folkmoot::{Absence, Event, Folkmoot, MemberStatus, Options, Person, Presence};
use folkmoot_identity::Identity;
use journal::Journal;
use kept::Kept;
use post::Letters;
pub(crate) use process::Printing;
use process::{Picture, Process, Tally};
use render::Names;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use subscribers::Subscribers;
use tokio::io::AsyncReadExt;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
pub(crate) use withdraw::gave_up;

/// Requests that wait for the process.
const REQUESTS_WAITING_MAX: usize = 64;

/// What happened in the loop.
enum Turn {
    Event(Result<Option<Event>, folkmoot::Error>),
    Request((crate::control::Request, oneshot::Sender<crate::control::Answer>)),
    Hook(hook::Turn),
    Office,
    Replica(replica::Turn),
    Stop,
    /// Nothing more can be printed.
    Unread(Gone),
}

/// What the member is opened with.
fn options(folder: &Path, run: &Run, identity: Identity) -> Options {
    let mut options = Options::new(folder).listen(run.listen);
    options.identity = Some(identity);
    options.seeds.clone_from(&run.at);
    options.heads.clone_from(&run.heads);
    options.voucher.clone_from(&run.voucher);
    options.endorsement.clone_from(&run.endorsement);
    options.carries.clone_from(&run.carries);
    options.replicated = run.replica.replicas.is_some();
    options.multicast = run.multicast == Multicast::Auto;
    options.clock_ahead = Duration::from_secs(run.clock_ahead);
    options.danger_keep_keys = run.danger_keep_keys;
    // What this program shows, or is given, may take it long.
    options.own_thread = true;
    options
}

/// Runs a member on `folder` until told to stop. `ready` hears when the control socket is there.
pub(crate) async fn run(
    folder: &Path,
    run: &Run,
    printing: Printing,
    ready: Option<oneshot::Sender<()>>,
) -> Result<(), Failure> {
    prepare(folder, run)?;
    let identity = run.keys.identity(folder)?;
    let options = options(folder, run, identity.clone());
    let never = |error: folkmoot::Error| if run.authority { error.never_restored() } else { error };
    let moot = Folkmoot::open_with(options).await.map_err(never)?;
    let stop = stop_signal(run.while_stdin);
    let session = if run.authority { office::of(&moot).await? } else { moot.join().await? };
    if run.apply {
        moot.apply().await?;
    }
    let replica = replica::start(folder, &run.replica, &run.keys).await?;
    let (requests, inbox) = mpsc::channel(REQUESTS_WAITING_MAX);
    let events = Subscribers::default();
    let socket = folder.join("control.sock");
    let server = serve::start(&socket, requests, events.clone())?;
    let printer = printer(printing)?;
    announce(&moot, replica.as_ref(), folder, printing, run.quiet, &printer);
    if !run.apply && !run.authority && printing != Printing::Json {
        tell_outsider(&moot, folder).await?;
    }
    let robot =
        run.robot.map(|address| robot::start(&moot, identity.clone(), folder, address, run.robot_rate));
    if let Some(ready) = ready {
        // Whoever waited may have given up.
        let _ = ready.send(());
    }
    crate::notify::ready();
    let printing = if run.quiet { Printing::Nothing } else { printing };
    let newcomer = !run.authority && is_outside(&moot.status().await?);
    let mut process = Process {
        met: past::Met::new(newcomer),
        moot,
        session,
        identity,
        journal: Journal::default(),
        kept: Kept::default(),
        office: office::Watch::new(run.authority),
        replica,
        letters: Letters::default(),
        hook: hook::Hook::new(run.policy_hook.clone()),
        picture: Picture::default(),
        tally: Tally::default(),
        names: Names::new(),
        renewals: BTreeSet::new(),
        gave_up: None,
        events,
        printing,
        printer,
        window: None,
        socket,
    };
    let result = process.live(inbox, stop, run.apply).await;
    server.abort();
    if let Some(robot) = robot {
        robot.abort();
    }
    process.end(result).await
}

/// What is wrong before anything runs.
fn prepare(folder: &Path, run: &Run) -> Result<(), Failure> {
    if let Some(charter) = &run.charter {
        crate::files::adopt(folder, charter)?;
    }
    if let Some(program) = &run.policy_hook {
        hook::check(program)?;
    }
    Ok(())
}

fn printer(printing: Printing) -> Result<Printer, Failure> {
    let words: fn(u64) -> String = match printing {
        Printing::Json => |count| json!({ "event": "missed", "count": count }).to_string(),
        Printing::People | Printing::Nothing => |count| format!("({count} lines were left out: nobody read)"),
    };
    Printer::start(std::io::stdout(), words).map_err(Failure::bug)
}

fn announce(
    moot: &Folkmoot,
    replica: Option<&replica::Replica>,
    folder: &Path,
    printing: Printing,
    quiet: bool,
    printer: &Printer,
) {
    let value = json!({
        "event": "ready", "me": moot.me().hex(), "name": moot.name(), "group": moot.group().hex(),
        "locator": moot.locator().to_string(), "addresses": reached::json(&moot.addresses()), "state": crate::show::path(folder),
        "replicas": replica.map(replica::Replica::locator),
    });
    match printing {
        Printing::Json => printer.say(value.to_string()),
        Printing::People if !quiet => {
            let places = reached::places(&moot.locator(), &moot.addresses());
            eprintln!("{} listens at {places}; folder {}", moot.name(), folder.display());
            if let Some(replica) = replica {
                eprintln!("for other replicas: {}", replica.places());
            }
        }
        Printing::People | Printing::Nothing => {}
    }
}

fn is_outside(status: &MemberStatus) -> bool {
    status.people.iter().all(|person| person.member != status.me)
}

/// Who started as a member and is none would wait for ever without a word.
async fn tell_outsider(moot: &Folkmoot, folder: &Path) -> Result<(), Failure> {
    let status = moot.status().await?;
    let gone = |one: &Person| one.member == status.me && one.presence == Presence::Absent(Absence::Expelled);
    if is_outside(&status) || status.people.iter().any(gone) {
        let (name, folder) = (moot.name(), folder.display());
        let how = format!("folkmoot --state {folder} join CHARTER --at LOCATOR");
        eprintln!("{name} is not a member of the group ({}). To ask for admission: {how}", status.activity);
    }
    Ok(())
}

impl Process {
    async fn end(mut self, result: Result<(), Failure>) -> Result<(), Failure> {
        // The socket goes with the process; a stale one is replaced at the next start anyway.
        let _ = std::fs::remove_file(&self.socket);
        let stopped = match self.replica.take() {
            Some(replica) => replica.stop().await,
            None => Ok(()),
        };
        result.and(stopped)?;
        let closed = self.moot.close().await.map_err(Failure::from);
        self.printer.end().await;
        closed?;
        self.gave_up.map_or(Ok(()), Err)
    }

    async fn live(
        &mut self,
        mut inbox: mpsc::Receiver<(crate::control::Request, oneshot::Sender<crate::control::Answer>)>,
        stop: impl Future<Output = ()>,
        applies: bool,
    ) -> Result<(), Failure> {
        let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::bug)?;
        self.learn_names().await?;
        tokio::pin!(stop);
        loop {
            let turn = tokio::select! {
                event = self.moot.next() => Turn::Event(event),
                Some(request) = inbox.recv() => Turn::Request(request),
                turn = self.hook.next() => Turn::Hook(turn),
                () = self.office.next() => Turn::Office,
                turn = replica::next(&mut self.replica) => Turn::Replica(turn),
                () = &mut stop => Turn::Stop,
                gone = self.printer.gone() => Turn::Unread(gone),
            };
            match turn {
                Turn::Event(Ok(Some(event))) => self.hear(event).await?,
                Turn::Stop if applies && is_interrupted(&mut interrupt).await => {
                    self.gave_up = self.give_up().await?;
                    return Ok(());
                }
                Turn::Event(Ok(None)) => return Ok(()),
                Turn::Stop => return self.part().await,
                Turn::Unread(gone) => return self.part().await.and(gone),
                Turn::Event(Err(error)) => return Err(error.into()),
                Turn::Hook(turn) => self.follow_hook(turn).await?,
                Turn::Replica(turn) => self.follow_replica(turn).await?,
                Turn::Office => self.look_at_office().await?,
                Turn::Request((crate::control::Request::Stop, done)) => {
                    let parted = self.part().await;
                    let _ = done.send(crate::control::Answer::Ok { ok: Value::Null });
                    return parted;
                }
                Turn::Request((request, done)) => self.answer(request, done).await,
            }
        }
    }
}

/// Ends when the process is asked to: Ctrl-C, SIGTERM, SIGHUP, or the parent's end of the pipe.
/// Signals count from the call on, which is before anybody is told that this process is there.
pub(crate) fn stop_signal(while_stdin: bool) -> impl Future<Output = ()> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [interrupt, terminate, hangup] = kinds.map(|kind| asked(signal(kind)));
    let parent = async move {
        if !while_stdin {
            std::future::pending::<()>().await;
        }
        let mut byte = [0_u8; 64];
        while tokio::io::stdin().read(&mut byte).await.is_ok_and(|count| count > 0) {}
    };
    async move {
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
            () = hangup => {}
            () = parent => {}
        }
    }
}

/// Whether Ctrl-C was pressed.
async fn is_interrupted(interrupt: &mut Signal) -> bool {
    tokio::select! {
        biased;
        signal = interrupt.recv() => signal.is_some(),
        () = std::future::ready(()) => false,
    }
}

async fn asked(signal: std::io::Result<Signal>) {
    match signal {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}
