//! The process, and what it notes of its member's events. Every other task of the process has its
//! own file.

use super::clocks::Clocks;
use super::hook::Hook;
use super::journal::Journal;
use super::kept::Kept;
use super::names;
use super::office::Watch;
use super::part::{departure, tell_departure};
use super::past::Met;
use super::post::Letters;
use super::render::{self, Names};
use super::replica::Replica;
use super::subscribers::Subscribers;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use folkmoot::tools::{Machine, OsEntropy};
use folkmoot::{Absence, Cause, Digest, Event, Folkmoot, Party, Presence, Service, Session, ViewId};
use folkmoot_base::Instant;
use folkmoot_identity::Identity;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Semaphore;

/// Renewals that are remembered as such.
const RENEWALS_MAX: usize = 256;

/// What is printed of the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printing {
    Nothing,
    People,
    Json,
}

/// How the member stands in the group, from its events.
#[derive(Debug, Default, Clone)]
pub(super) struct Picture {
    pub(super) view: Option<(ViewId, Vec<Party>, String)>,
    pub(super) steady: bool,
    pub(super) removed: Option<&'static str>,
    pub(super) refused: Option<String>,
    pub(super) denied: Option<String>,
    /// Whose clock differs.
    pub(super) clocks: Clocks,
    /// A contact knows that this stranger asks no more.
    pub(super) withdrawn: bool,
}

/// How many own messages have gone out, and how many of them are settled: back in the group's
/// order, or refused. What may be lost is not counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<(AtomicU64, AtomicU64)>);

impl Tally {
    /// A message goes out. Counted before it is sent, since it may be back before the sender knows.
    pub(super) fn goes(&self, service: Service) {
        if service != Service::Unreliable {
            self.0.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A message is back, or was refused.
    pub(super) fn settles(&self, service: Service) {
        if service != Service::Unreliable {
            self.0.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Out of the group, nothing comes back.
    fn settle_all(&self) {
        self.0.1.store(self.gone(), Ordering::Relaxed);
    }

    pub(super) fn gone(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    pub(super) fn settled(&self) -> u64 {
        self.0.1.load(Ordering::Relaxed)
    }
}

/// The running process.
pub(super) struct Process {
    pub(super) moot: Folkmoot,
    pub(super) session: Session,
    pub(super) identity: Identity,
    pub(super) journal: Journal,
    pub(super) kept: Kept,
    pub(super) office: Watch,
    /// Of an authority that shares its log.
    pub(super) replica: Option<Replica>,
    pub(super) letters: Letters,
    pub(super) hook: Hook,
    pub(super) picture: Picture,
    /// What is news to it.
    pub(super) met: Met,
    pub(super) tally: Tally,
    pub(super) names: Names,
    /// Open requests of members for new certificates.
    pub(super) renewals: BTreeSet<Digest>,
    /// Why the process ends, if whoever asked for admission gave up.
    pub(super) gave_up: Option<Failure>,
    pub(super) events: Subscribers,
    pub(super) printing: Printing,
    pub(super) printer: Printer,
    /// Room for own messages on their way, while a burst runs.
    pub(super) window: Option<Arc<Semaphore>>,
    pub(super) socket: PathBuf,
}

/// Of those who are gone, the ones who still are members, and whether each left by itself.
fn how(machine: &Machine, now: Instant, gone: Vec<Party>) -> Vec<(Party, bool)> {
    let member = &machine.upper.member;
    let people = member.status(now).people;
    let left = |party: &Party| {
        people.iter().any(|person| {
            person.member == party.member && matches!(person.presence, Presence::Absent(Absence::Left { .. }))
        })
    };
    let stays = |party: &Party| member.transcript().roster().is_member(&party.member);
    gone.into_iter().filter(stays).map(|party| (party, left(&party))).collect()
}

impl Process {
    /// Takes note of an event and passes it on to whoever wants to see it.
    pub(super) async fn hear(&mut self, event: Event) -> Result<(), Failure> {
        let mut number = None;
        let went = self.went(&event).await?;
        match &event {
            Event::Message { group, sender, service, payload, .. } => {
                number = Some(self.kept.note(&event));
                if *sender == self.moot.me().into() && *group == self.moot.group() {
                    self.tally.settles(*service);
                }
                self.journal.note(*sender, payload);
                if let Some(window) = self.window.as_ref().filter(|_| *sender == self.moot.me().into()) {
                    window.add_permits(1);
                }
            }
            Event::View { group, id, members, epoch, .. } if *group == self.moot.group() => {
                self.learn_names().await?;
                self.met.view(members.len());
                self.picture.view = Some((*id, members.clone(), epoch.clone()));
                (self.picture.steady, self.picture.removed) = (true, None);
                (self.picture.refused, self.picture.denied) = (None, None);
            }
            Event::KeyPending { .. } | Event::Transitional { .. } => self.picture.steady = false,
            Event::Removed { group, cause } if *group == self.moot.group() => {
                let removed = Some(render::cause_word(*cause));
                self.tally.settle_all();
                let clocks = core::mem::take(&mut self.picture.clocks);
                self.picture = Picture { removed, clocks, ..Picture::default() };
            }
            Event::Log(record) => {
                if let Some(replica) = &self.replica {
                    replica.log(record);
                }
            }
            Event::LogConflict { reason } => {
                return Err(Failure::new(Exit::Configuration, reason.clone()));
            }
            Event::Letter(event) => self.letters.note(event, &self.names),
            Event::Refused { reason } => self.picture.refused = Some(reason.clone()),
            Event::Denied { reason } => self.picture.denied = Some(reason.clone()),
            Event::Request(petition) => {
                if petition.renews && self.renewals.len() < RENEWALS_MAX {
                    self.renewals.insert(petition.subject);
                }
                self.learn_names().await?;
            }
            Event::Admitted { .. } => self.learn_names().await?,
            Event::ClockBehind { .. } => self.picture.clocks.note(&event, folkmoot::tools::wall_clock()),
            Event::Withdrawn => self.picture.withdrawn = true,
            _ => {}
        }
        if self.printing != Printing::Nothing || self.events.any() {
            let mut value = render::event_json(&event, &self.names);
            self.add_about(&event, &mut value).await?;
            self.tell_past(&event, &mut value).await?;
            if let Some(fields) = value.as_object_mut() {
                fields.insert("time".into(), folkmoot::tools::wall_clock().to_string().into());
                fields.extend(number.map(|number| ("number".to_owned(), number.into())));
                fields.extend(went.into_iter().flatten());
            }
            self.show(&value);
        }
        if let Event::Closed { subject, .. } = &event {
            self.renewals.remove(subject);
            self.learn_names().await?;
        }
        Ok(())
    }

    /// Who was in the view before this one and is not in it, and still is a member (`went`); and
    /// which of them left by themselves (`left`). Several changes in one view have one cause.
    async fn went(&self, event: &Event) -> Result<Option<[(String, Value); 2]>, Failure> {
        let Event::View { group, members, cause, .. } = event else { return Ok(None) };
        let before = self.picture.view.as_ref().filter(|_| *group == self.moot.group());
        let Some((_, before, _)) = before else { return Ok(None) };
        let gone: Vec<Party> = before.iter().filter(|party| !members.contains(party)).copied().collect();
        let mut went = Vec::new();
        if !gone.is_empty() {
            let look = move |machine: &mut Machine, now, _: &mut OsEntropy| how(machine, now, gone);
            went = self.moot.handle().look(look).await?;
        }
        let all_left = *cause == Cause::Leave;
        let name = |(party, _): &(Party, bool)| names::party_name(&self.names, party);
        let left: Vec<String> = went.iter().filter(|(_, left)| all_left || *left).map(name).collect();
        let went: Vec<String> = went.iter().map(name).collect();
        Ok(Some([("went".into(), went.into()), ("left".into(), left.into())]))
    }

    /// Votes are told with the name of what they are on, proposals with those whom they concern.
    async fn add_about(&self, event: &Event, value: &mut Value) -> Result<(), Failure> {
        if let Event::Votes { subject, .. } = event
            && let (Some(fields), Some(about)) = (value.as_object_mut(), self.about(subject).await?)
        {
            fields.insert("about".into(), about.into());
        }
        if let Event::Closed { subject, .. } = event
            && let Some(fields) = value.as_object_mut().filter(|_| self.renewals.contains(subject))
        {
            fields.insert("kind".into(), "renewal".into());
        }
        if let Event::Proposal { subject, .. } = event
            && let (Some(fields), Some(concerns)) =
                (value.as_object_mut(), self.concerns(vec![*subject]).await?.pop())
        {
            fields.insert("concerns".into(), concerns.into());
        }
        if let Event::Removed { .. } = event
            && let Some(cause) = self.own_cause().await?
            && let Some(fields) = value.as_object_mut()
        {
            fields.insert("cause".into(), cause.into());
        }
        if let Event::Expelled { member } = event {
            let member = *member;
            if self.tell_replaced(member, value).await? {
                return Ok(());
            }
            let how = self.with_transcript(move |known| departure(known, &member)).await?;
            tell_departure(value, how);
        }
        Ok(())
    }

    pub(super) async fn learn_names(&mut self) -> Result<(), Failure> {
        self.names = self.moot.names().await?.0;
        Ok(())
    }

    pub(super) fn show(&self, event: &Value) {
        match self.printing {
            Printing::Json => self.printer.say(folkmoot_control::line(event).unwrap_or_default()),
            Printing::People => {
                if let Some(text) = render::event_text(event) {
                    self.printer.say(text);
                }
            }
            Printing::Nothing => {}
        }
        if self.events.any() {
            self.events.send(&folkmoot_control::line(event).unwrap_or_default());
        }
    }
}
