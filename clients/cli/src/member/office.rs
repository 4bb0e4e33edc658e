//! The process as the group's authority: how it stands, and what changes with it.

use super::{Process, render};
use crate::exit::{Exit, Failure};
use crate::show::{hex, utc};
use folkmoot::{AuthorityStatus, DealerState, Folkmoot, Session};
use serde_json::{Value, json};
use std::time::Duration;

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// What was told of it last.
#[derive(Debug)]
pub(super) struct Watch {
    runs: bool,
    told: Option<Value>,
    look: tokio::time::Instant,
}

impl Watch {
    pub(super) fn new(runs: bool) -> Self {
        Self { runs, told: None, look: tokio::time::Instant::now() }
    }

    /// When to look; never, where this is no authority.
    pub(super) async fn next(&mut self) {
        if !self.runs {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep_until(self.look).await;
        self.look = tokio::time::Instant::now() + LOOK;
    }
}

/// Its session with a group that it is never in; refused where this process is no authority.
pub(super) async fn of(moot: &Folkmoot) -> Result<Session, Failure> {
    if moot.authority().await?.is_some() {
        return Ok(moot.session(moot.group()));
    }
    let why = "this folder cannot be the group's authority: its key is not among the charter's authority.nodes, or it holds no office \
               (folkmoot authority new, take-over)";
    Err(Failure::new(Exit::Refused, why))
}

impl Process {
    /// Shows what has changed.
    pub(super) async fn look_at_office(&mut self) -> Result<(), Failure> {
        let Some(status) = self.moot.authority().await? else { return Ok(()) };
        if let Some(replica) = &mut self.replica {
            replica.bring().await?;
        }
        self.learn_names().await?;
        let here: Vec<String> = status.present.iter().map(|one| one.member.hex()).collect();
        let news = json!({
            "event": "authority", "issued": status.issued, "here": here.len(), "present": here, "members": status.members,
            "dealer": dealer_word(status.dealer), "linked": status.linked.len(), "waiting": status.petitions.len(),
            "replicas": self.replica.as_ref().map(super::replica::Replica::words),
        });
        if self.office.told.as_ref() != Some(&news) {
            self.show(&news);
            self.office.told = Some(news);
        }
        Ok(())
    }

    /// The whole of it, for `folkmoot authority status`.
    pub(super) async fn authority(&mut self) -> Result<Value, Failure> {
        self.learn_names().await?;
        let none = || Failure::new(Exit::No, "who runs on this folder is no authority");
        self.office().await?.ok_or_else(none)
    }

    pub(super) async fn office(&self) -> Result<Option<Value>, Failure> {
        let Some(status) = self.moot.authority().await? else { return Ok(None) };
        let roster = |transcript: &folkmoot_identity::Transcript| {
            let members = transcript.roster().members();
            members.map(|admission| (admission.member, admission.name.clone())).collect::<Vec<_>>()
        };
        let people = self.with_transcript(roster).await?;
        Ok(Some(self.office_json(&status, &people)))
    }

    fn office_json(&self, status: &AuthorityStatus, people: &[(folkmoot::MemberId, String)]) -> Value {
        let person = |(member, name): &(folkmoot::MemberId, String)| {
            let heard = status.present.iter().find(|one| one.member == *member);
            json!({
                "member": member.hex(), "name": name, "here": heard.is_some(),
                "heard_seconds_ago": heard.map(|one| one.age.as_secs()), "sees": heard.map(|one| one.sees),
                "linked": status.linked.contains(&member.node()),
            })
        };
        let petitions = status.petitions.iter().map(|one| {
            json!({
                "subject": hex(&one.request), "member": one.member.hex(), "name": one.name, "until": utc(one.expires.0),
                "verdict": one.verdict.map(|yes| if yes { "approve" } else { "reject" }),
            })
        });
        json!({
            "me": self.moot.me().hex(), "name": render::name(&self.names, &self.moot.me()),
            "group": self.moot.group().hex(), "locator": self.moot.locator().to_string(),
            "certificate": hex(status.certificate.der()), "members": status.members, "here": status.present.len(),
            "people": people.iter().map(person).collect::<Vec<_>>(), "petitions": petitions.collect::<Vec<_>>(),
            "issued": status.issued, "logging": status.logging, "dealer": dealer_word(status.dealer),
            "replicas": self.replica.as_ref().map(super::replica::Replica::json),
        })
    }
}

fn dealer_word(dealer: DealerState) -> &'static str {
    match dealer {
        DealerState::NoShares => "no-shares",
        DealerState::ToBeDealt => "to-be-dealt",
        DealerState::Keeps => "keeps",
        DealerState::Erased => "erased",
    }
}
