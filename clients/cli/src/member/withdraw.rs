//! What was proposed or asked for is taken back: by the member that proposed it, or by a stranger
//! that asks no more. Ctrl-C at `join` does the latter.

use super::process::Process;
use crate::exit::{Exit, Failure};
use folkmoot::{Event, MemberId};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// So long a stranger waits until a contact knows, and how often it says it again.
const KNOWN: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(400);
/// So long a member waits until what it took back has its place in the order.
const ORDERED: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(50);

/// How a stranger ends that gave up; whether a contact knows that it asks no more.
pub(crate) fn gave_up(known: bool) -> Failure {
    let text = if known {
        "gave up: the request is withdrawn. To ask again, run the same command"
    } else {
        "gave up. No member answered, so those who have the request may still vote on it until it runs out. \
         To ask again, run the same command"
    };
    Failure::new(Exit::NotInGroup, text)
}

impl Process {
    pub(super) async fn withdraw(&mut self, subject: Option<&str>) -> Result<Value, Failure> {
        match subject {
            Some(text) => self.take_back(text).await,
            None if self.is_inside().await? => {
                let hint = "this member is in the group and asks for nothing. What does it take back? Name a \
                            proposal of its own: folkmoot withdraw SUBJECT (folkmoot vote list shows them)";
                Err(Failure::new(Exit::Usage, hint))
            }
            None => {
                let known = self.ask_no_more().await?;
                Ok(json!({ "state": "withdrawn", "known": known }))
            }
        }
    }

    /// Ctrl-C at whoever waits to be admitted. Gives why the process ends.
    pub(super) async fn give_up(&mut self) -> Result<Option<Failure>, Failure> {
        if self.is_inside().await? {
            return Ok(None);
        }
        Ok(Some(gave_up(self.ask_no_more().await?)))
    }

    async fn is_inside(&self) -> Result<bool, Failure> {
        let status = self.moot.status().await?;
        let me = |person: &folkmoot::Person| person.member == status.me;
        Ok(status.people.iter().filter(|person| me(person)).any(super::decide::on_roster))
    }

    /// Says so until a contact knows. Whether one does.
    async fn ask_no_more(&mut self) -> Result<bool, Failure> {
        let end = Instant::now() + KNOWN;
        self.picture.withdrawn = false;
        while !self.picture.withdrawn && Instant::now() < end {
            self.moot.withdraw_request().await?;
            let again = Instant::now() + AGAIN;
            while !self.picture.withdrawn && Instant::now() < again {
                self.hear_for(LOOK).await?;
            }
        }
        Ok(self.picture.withdrawn)
    }

    async fn take_back(&mut self, text: &str) -> Result<Value, Failure> {
        self.learn_names().await?;
        let found = self.matter(text).await?;
        let subject = found.value.subject;
        self.moot.withdraw(subject).await?;
        let end = Instant::now() + ORDERED;
        let me = self.moot.me();
        let (state, others) = loop {
            let open = self.moot.proposals().await?.into_iter().find(|one| one.subject == subject);
            let asked = self.moot.petitions().await?.into_iter().any(|one| one.subject == subject);
            let others: Vec<MemberId> = open.iter().flat_map(|one| one.approved.clone()).collect();
            match (&open, others.contains(&me)) {
                (None, _) if !asked => break ("withdrawn", others),
                // Its yes is gone, and others have said yes: it is theirs now.
                (Some(_), false) if !others.is_empty() => break ("open", others),
                _ if Instant::now() >= end => break ("waiting", others),
                _ => self.hear_for(LOOK).await?,
            }
        };
        Ok(json!({
            "state": state, "kind": found.kind, "about": found.name, "subject": found.id,
            "approved": super::render::all(&self.names, &others),
        }))
    }

    /// Hears what comes within this time.
    async fn hear_for(&mut self, time: Duration) -> Result<(), Failure> {
        let heard: Result<Result<Option<Event>, _>, _> = tokio::time::timeout(time, self.moot.next()).await;
        match heard {
            Ok(Ok(Some(event))) => self.hear(event).await,
            Ok(Ok(None)) | Err(_) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
        }
    }
}
