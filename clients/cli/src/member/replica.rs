//! The replica that an authority's process runs: records that the authority wants logged go to it,
//! and logged records come back.
//!
//! ```text
//! authority's member --Event::Log--> Process --records--> driver (host/authority) <--UDP--> other replicas
//!                    <--logged------         <--logged---
//! ```
//! A record that finds no room is dropped here: the authority sends it again after a few seconds.

use super::lacks::Lacks;
use super::reached;
use super::render::view_text;
use crate::args::run::ReplicaArgs;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::keys::Keys;
use folkmoot::tools::reached_at;
use folkmoot::{Bytes, MemberId, StateFolder};
use folkmoot_authority::replicas::{
    DriverError, Ends, Logged, Options, Running, Standing, Status, WANTS_MAX, open,
};
use folkmoot_identity::SignedCharter;
use folkmoot_identity::names::told;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::{mpsc, watch};

/// It, at work.
pub(super) struct Replica {
    running: Running,
    records: mpsc::Sender<Bytes>,
    logged: mpsc::Receiver<Logged>,
    status: watch::Receiver<Status>,
    /// The replicas, by their charter.
    names: BTreeMap<MemberId, String>,
    /// The authority's folder, and what the log lacks of it.
    home: PathBuf,
    lacks: Lacks,
}

/// What happened there.
pub(super) enum Turn {
    Logged(Logged),
    Ended(Result<(), DriverError>),
}

pub(super) fn refuse(error: DriverError) -> Failure {
    let text = format!("the replica has stopped: {error}");
    match error {
        DriverError::Runtime(error) => Failure { text, ..Failure::from(error) },
        DriverError::LocalEnded => Failure::bug(text),
        _ => Failure::new(Exit::Configuration, text),
    }
}

/// Starts it, where one is wanted. `home` is the authority's folder.
pub(super) async fn start(
    home: &Path,
    wanted: &ReplicaArgs,
    keys: &Keys,
) -> Result<Option<Replica>, Failure> {
    let Some(state) = &wanted.replicas else { return Ok(None) };
    if std::fs::canonicalize(state)
        .is_ok_and(|path| std::fs::canonicalize(home).is_ok_and(|home| home == path))
    {
        let why = "--replicas needs another folder than --state: the replicas form a group of their own";
        return Err(Failure::new(Exit::Usage, why));
    }
    if let Some(charter) = &wanted.replicas_charter {
        files::adopt(state, charter)?;
    }
    let names = names(state)?;
    let (records, inbox) = mpsc::channel(WANTS_MAX);
    let (tell, logged) = mpsc::channel(1);
    let options = Options {
        state: state.clone(),
        identity: Some(keys.identity(state)?),
        listen: wanted.replicas_listen,
        seeds: wanted.replicas_at.clone(),
    };
    let running = open(options, Ends { records: inbox, logged: tell }).await.map_err(|error| {
        let failure = refuse(error);
        Failure {
            text: failure.text.replacen("the replica has stopped", "the replica cannot start", 1),
            ..failure
        }
    })?;
    let status = running.status();
    let (home, lacks) = (home.to_owned(), Lacks::new());
    Ok(Some(Replica { running, records, logged, status, names, home, lacks }))
}

/// The replicas that the charter in this folder lists.
fn names(state: &Path) -> Result<BTreeMap<MemberId, String>, Failure> {
    let folder = StateFolder::at(state);
    if !folder.charter_path().exists() {
        let why = format!(
            "{} does not hold the charter of the replicas' group: name it with --replicas-charter FILE",
            state.display()
        );
        return Err(Failure::new(Exit::Configuration, why));
    }
    let stands_not = |error| {
        Failure::new(
            Exit::Configuration,
            format!("{} is not valid: {error}", folder.charter_path().display()),
        )
    };
    let signed = SignedCharter::complete_from_der(&folder.read_charter()?).map_err(stands_not)?;
    let founders = signed.charter().founders().iter();
    Ok(told(founders.map(|founder| (founder.key.member_id(), founder.name.as_str()))))
}

/// The next thing that happens there; never, without one.
pub(super) async fn next(replica: &mut Option<Replica>) -> Turn {
    let Some(replica) = replica else { return std::future::pending().await };
    tokio::select! {
        Some(logged) = replica.logged.recv() => Turn::Logged(logged),
        ended = replica.running.ended() => Turn::Ended(ended),
    }
}

impl Replica {
    /// The log has this record.
    pub(super) fn hear(&mut self, record: &Bytes) {
        self.lacks.hear(record);
    }

    /// The authority wants it logged.
    pub(super) fn log(&self, record: &Bytes) {
        if self.records.try_send(record.clone()).is_err() {
            tracing::debug!("no room for a record: it is said again");
        }
    }

    pub(super) fn locator(&self) -> String {
        self.running.locator().to_string()
    }

    /// Where other replicas reach it.
    pub(super) fn places(&self) -> String {
        let bound = self.running.locator();
        reached::places(&bound, &reached_at(&bound))
    }

    pub(super) fn words(&self) -> String {
        self.status.borrow().words_with(&|member| self.name(member))
    }

    fn name(&self, member: &MemberId) -> String {
        self.names.get(member).cloned().unwrap_or_else(|| member.to_string())
    }

    /// What the own disk has issued and the log has not goes into it, once the log is in sync and
    /// has been handed back.
    pub(super) async fn bring(&mut self) -> Result<(), Failure> {
        let status = self.status.borrow().clone();
        for record in self.lacks.next(&self.home, &status).await? {
            self.log(&record);
        }
        Ok(())
    }

    /// All of it, for `folkmoot authority status`.
    pub(super) fn json(&self) -> Value {
        let status = self.status.borrow();
        let one = |member: &MemberId| json!({ "member": member.hex(), "name": self.name(member), "here": status.present.contains(member) });
        json!({
            "me": self.running.me().hex(), "name": self.name(&self.running.me()), "locator": self.locator(),
            "replicas": status.listed.iter().map(one).collect::<Vec<_>>(),
            "view": status.view.as_ref().map(view_text), "quorum": status.has_quorum(), "in_sync": status.is_ready(), "knows": status.knows,
            "state": word(status.standing), "records": status.length, "handed": status.handed, "waiting": status.waiting,
            "words": status.words_with(&|member| self.name(member)),
        })
    }

    /// Stops it, once its writes are on disk.
    pub(super) async fn stop(self) -> Result<(), Failure> {
        self.running.stop().await.map_err(refuse)
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Out => "out",
        Standing::NoQuorum => "no-quorum",
        Standing::FewKnow { .. } => "few-know",
        Standing::CatchingUp { .. } => "catching-up",
        Standing::Ready => "ready",
        Standing::Changing => "changing",
        Standing::Diverged(_) => "diverged",
    }
}
