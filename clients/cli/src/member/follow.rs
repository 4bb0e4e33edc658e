//! The process follows what runs beside its member: the program that votes, the authority's office
//! and the office's replica.

use super::hook::{self, Reply, Verdict};
use super::matters::endorsement_json;
use super::names::stranger;
use super::process::Process;
use super::{render, replica};
use crate::exit::{Exit, Failure};
use folkmoot::{AuthorityStatus, DealerState, Digest, Error, MemberId, Petition};
use folkmoot_authority::replicas::Logged;
use folkmoot_base::hex;
use folkmoot_identity::names::told;
use serde_json::{Value, json};

impl Process {
    /// Starts the program on a request, or does what it said.
    pub(super) async fn follow_hook(&mut self, turn: hook::Turn) -> Result<(), Failure> {
        match turn {
            hook::Turn::Look => self.ask_hook().await,
            hook::Turn::Said(request, reply) => self.obey_hook(request, reply).await,
        }
    }

    async fn ask_hook(&mut self) -> Result<(), Failure> {
        let me = self.moot.me();
        let look = move |transcript: &folkmoot_transcript::Transcript| {
            let roster = transcript.roster();
            (roster.may_vote(&me), roster.charter().policies().clone())
        };
        let (may_vote, policies) = self.with_transcript(look).await?;
        let may_vote = may_vote || self.moot.authority().await?.is_some();
        let mut open = self.moot.petitions().await?;
        open.retain(|one| may_vote && !one.approved.contains(&me) && !one.rejected.contains(&me));
        let Some(petition) = self.hook.choose(&open) else { return Ok(()) };
        let question = self.question(petition, |member| policies.roles_of(member));
        self.hook.ask(petition, &question);
        Ok(())
    }

    /// What the program is given.
    fn question(&self, petition: &Petition, roles: impl Fn(&MemberId) -> Vec<String>) -> Value {
        let voters = |voters: &[MemberId]| {
            let voter = |member: &MemberId| json!({ "member": member.hex(), "name": render::name(&self.names, member), "roles": roles(member) });
            voters.iter().map(voter).collect::<Vec<_>>()
        };
        json!({
            "request": hex(&petition.subject), "group": self.moot.group().hex(), "me": self.moot.me().hex(),
            "member": petition.member.hex(), "name": stranger(&self.names, &petition.member, &petition.name), "roles": petition.roles,
            "sponsor": petition.sponsor.map(|sponsor| sponsor.hex()),
            "term": { "from": petition.term.0.0, "to": petition.term.1.0 }, "have": petition.have, "need": petition.need,
            "rule": petition.rule, "approved": voters(&petition.approved), "rejected": voters(&petition.rejected),
            "endorsement": petition.endorsement.as_deref().map(endorsement_json),
        })
    }

    async fn obey_hook(&mut self, request: Digest, reply: Reply) -> Result<(), Failure> {
        let approve = match reply.verdict {
            Verdict::Wait => None,
            Verdict::Approve => Some(true),
            Verdict::Reject => Some(false),
        };
        let name = self.about(&request).await?;
        if let Some(approve) = approve.filter(|_| name.is_some()) {
            match self.moot.vote(request, approve).await {
                Err(Error::Refused(refused)) => tracing::warn!(%refused, "vote by the policy program"),
                voted => drop(voted?),
            }
        }
        if self.hook.note(&request, &reply) {
            self.show(&json!({
                "event": "hook", "subject": hex(&request), "name": name, "verdict": reply.verdict.word(),
                "reason": reply.reason,
            }));
        }
        Ok(())
    }

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
            "replicas": self.replica.as_ref().map(replica::Replica::words),
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
        let none = || Failure::new(Exit::No, "the member that runs on this folder is not an authority");
        self.office().await?.ok_or_else(none)
    }

    pub(super) async fn office(&self) -> Result<Option<Value>, Failure> {
        let Some(status) = self.moot.authority().await? else { return Ok(None) };
        let roster = |transcript: &folkmoot_transcript::Transcript| {
            let members = transcript.roster().members();
            told(members.iter().map(|(member, held)| (*member, held.name.as_str())))
                .into_iter()
                .collect::<Vec<_>>()
        };
        let people = self.with_transcript(roster).await?;
        Ok(Some(self.office_json(&status, &people)))
    }

    fn office_json(&self, status: &AuthorityStatus, people: &[(MemberId, String)]) -> Value {
        let person = |(member, name): &(MemberId, String)| {
            let heard = status.present.iter().find(|one| one.member == *member);
            json!({
                "member": member.hex(), "name": name, "here": heard.is_some(),
                "heard_seconds_ago": heard.map(|one| one.age.as_secs()), "sees": heard.map(|one| one.sees),
                "linked": status.linked.contains(&member.node()),
            })
        };
        let petitions = status.petitions.iter().map(|one| {
            json!({
                "subject": hex(&one.request), "member": one.member.hex(), "name": stranger(&self.names, &one.member, &one.name), "until": one.expires.to_string(),
                "verdict": one.verdict.map(|yes| if yes { "approve" } else { "reject" }),
            })
        });
        json!({
            "me": self.moot.me().hex(), "name": render::name(&self.names, &self.moot.me()),
            "group": self.moot.group().hex(), "locator": self.moot.locator().to_string(),
            "certificate": hex(status.certificate.der()), "members": status.members, "here": status.present.len(),
            "people": people.iter().map(person).collect::<Vec<_>>(), "petitions": petitions.collect::<Vec<_>>(),
            "issued": status.issued, "logging": status.logging, "dealer": dealer_word(status.dealer),
            "shares_said_again": status.again,
            "replicas": self.replica.as_ref().map(replica::Replica::json),
        })
    }

    pub(super) async fn follow_replica(&mut self, turn: replica::Turn) -> Result<(), Failure> {
        match turn {
            replica::Turn::Logged(Logged { record, kept }) => {
                if let Some(replica) = &mut self.replica {
                    replica.hear(&record);
                }
                self.moot.logged(record).await?;
                // A replica that has ended says so by itself.
                let _ = kept.send(());
                Ok(())
            }
            replica::Turn::Ended(ended) => {
                self.replica = None;
                let why = || {
                    Failure::new(
                        Exit::Configuration,
                        "the replica has stopped, because its member was told to stop",
                    )
                };
                Err(ended.err().map_or_else(why, replica::refuse))
            }
        }
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
