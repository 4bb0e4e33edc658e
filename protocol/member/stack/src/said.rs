//! What admission reports, in the application's terms.

use crate::Member;
use crate::api::Event;
use crate::join::Joining;
use crate::status::Told;
use crate::{Petition, Proposal};
use folkmoot_admission as admission;
use folkmoot_base as base;
use folkmoot_transcript::{Change, Effect};

pub(crate) fn count(votes: usize) -> u32 {
    u32::try_from(votes).unwrap_or(u32::MAX)
}

impl From<&admission::RequestStatus> for Petition {
    fn from(request: &admission::RequestStatus) -> Self {
        Self {
            subject: request.request,
            member: request.member,
            name: request.name.clone(),
            sponsor: request.sponsor,
            have: count(request.have),
            need: count(request.need),
            approved: request.approved.clone(),
            rejected: request.rejected.clone(),
            rule: request.rule.clone(),
            roles: request.roles.clone(),
            term: request.term,
            waits: request.waits.map(refusal),
            stale: request.stale,
            renews: request.renews,
            voters: count(request.voters),
            endorsement: request.endorsement.clone().map(Box::new),
        }
    }
}

/// A request that the authority decides alone: only its person's decision counts.
impl Petition {
    pub(crate) fn for_authority(me: base::MemberId, one: &admission::PetitionStatus) -> Self {
        let said = |verdict: bool| if one.verdict == Some(verdict) { vec![me] } else { Vec::new() };
        Self {
            subject: one.request,
            member: one.member,
            name: one.name.clone(),
            have: u32::from(one.verdict == Some(true)),
            need: 1,
            approved: said(true),
            rejected: said(false),
            rule: None,
            roles: Vec::new(),
            term: one.term,
            waits: None,
            stale: false,
            sponsor: None,
            renews: false,
            voters: 1,
            endorsement: None,
        }
    }
}

/// The reason of the authority, unless it is only that the authority is awaited.
fn refusal(reason: admission::Reason) -> Option<&'static str> {
    (reason != admission::Reason::AwaitingAuthority).then(|| why(reason))
}

impl Member {
    fn petition(&self, subject: base::Digest) -> Option<Petition> {
        self.petitions().into_iter().find(|petition| petition.subject == subject)
    }

    pub(crate) fn admission_event(&mut self, event: admission::Event) {
        match event {
            admission::Event::RequestArrived { request, .. } => {
                if let Some(petition) = self.petition(request) {
                    self.event(Event::Request(petition));
                }
            }
            admission::Event::RequestClosed { request, member, name, why } => {
                self.trace("admission", format!("the request of {member} is closed: {why:?}"));
                let (subject, member) = (request, Some(member));
                self.note_over(subject, why);
                self.event(Event::Closed { subject, member, text: name, why });
            }
            // The machines of the members that took part in making it decide this.
            admission::Event::ProposalArrived {
                effect: Effect { change: Change::Sharing { .. }, .. },
                ..
            } => {
                self.trace("admission", "a new sharing of the group's key is proposed".to_owned());
            }
            admission::Event::ProposalArrived { proposal, effect, .. } => {
                let text = self.in_words(&self.told(), &effect);
                let (have, need) = self.proposal_votes(proposal);
                self.event(Event::Proposal { subject: proposal, text, have, need });
            }
            admission::Event::ProposalClosed { proposal, effect, why } => {
                let text = self.in_words(&self.told(), &effect);
                self.trace("admission", format!("the proposal to {text} is closed: {why:?}"));
                if !matches!(effect.change, Change::Sharing { .. }) {
                    let (subject, member) = (proposal, None);
                    self.note_over(subject, why);
                    self.event(Event::Closed { subject, member, text, why });
                }
            }
            admission::Event::Withdrawn => self.event(Event::Withdrawn),
            admission::Event::VoteCast { motion, have, need, .. } => {
                self.event(Event::Votes { subject: motion, have: count(have), need: count(need) });
            }
            admission::Event::Refused { reason, have, need } => {
                let text = format!("{} ({have} of {need} votes)", why(reason));
                self.event(match reason {
                    admission::Reason::Rejected
                    | admission::Reason::Objected
                    | admission::Reason::NotListed
                    | admission::Reason::Name => Event::Denied { reason: text },
                    _ => Event::Refused { reason: text },
                });
            }
            admission::Event::SignerLied { member } => {
                self.event(Event::SignerLied { member });
            }
            admission::Event::ClockBehind { than, seconds } => {
                self.event(Event::ClockBehind { than, seconds })
            }
            admission::Event::Certified { certificate } => self.event(Event::Certified { certificate }),
            // The transcript reports this, to members and newcomers alike.
            admission::Event::Admitted => {}
        }
    }

    /// Proposals that were open when we stopped are news to the person who has just started us.
    pub(crate) fn tell_proposals(&mut self) {
        for Proposal { subject, text, have, need, .. } in self.proposals() {
            self.event(Event::Proposal { subject, text, have, need });
        }
    }

    /// The open proposals.
    pub fn proposals(&self) -> Vec<Proposal> {
        let Joining::Inside(admission) = &self.joining else { return Vec::new() };
        let open = admission.status(&self.transcript, &self.config.identity).proposals;
        if open.is_empty() {
            return Vec::new();
        }
        let told = self.told();
        let open = open.into_iter();
        open.map(|status| Proposal {
            subject: status.proposal,
            proposer: status.proposer,
            text: self.in_words(&told, &status.effect),
            have: count(status.have),
            need: count(status.need),
            approved: status.approved,
            rejected: status.rejected,
            voters: count(status.voters),
            rule: status.rule,
        })
        .collect()
    }

    fn proposal_votes(&self, subject: base::Digest) -> (u32, u32) {
        let found = self.proposals().into_iter().find(|proposal| proposal.subject == subject);
        found.map_or((0, 0), |proposal| (proposal.have, proposal.need))
    }

    fn in_words(&self, told: &Told, effect: &Effect) -> String {
        let text = |blob: &base::Blob| String::from_utf8_lossy(&blob.0).into_owned();
        let plain = match &effect.change {
            Change::Remove { member } => format!("expel {}", told.name(member)),
            Change::Leave(leave) => {
                format!("release {}, who asks to leave for good", told.name(&leave.member))
            }
            Change::Charter { field, value } => {
                format!("set {} = {} in the charter", text(field), text(value))
            }
            Change::Electorate { voters } => format!("let these vote from now on: {}", told.several(voters)),
            Change::Sharing { .. } => "take new shares of the group's key into use".to_owned(),
            Change::Hold { request } => {
                format!("keep {}, who was admitted too late", self.late(told, request))
            }
            Change::Rotate { member, .. } => format!("give {} another key", told.name(member)),
            Change::Rejoin { head } => format!("go over to the other line of decisions, at {head}"),
            Change::Retime { .. } => "take the time of the decisions back to the voters' clocks".to_owned(),
        };
        if effect.is_forced() {
            format!("{plain}, even if some decisions are impossible then")
        } else {
            plain
        }
    }

    fn late(&self, told: &Told, request: &base::Digest) -> String {
        let admit = self.transcript.set().admit(request);
        admit.map_or_else(|| "somebody".to_owned(), |admit| told.name(&admit.member))
    }
}

fn why(reason: admission::Reason) -> &'static str {
    match reason {
        admission::Reason::AwaitingVotes => "not enough votes yet",
        admission::Reason::Rejected => "the voters said no",
        admission::Reason::Stale => "the request was for another version of the charter",
        admission::Reason::Full => "too many requests are open: try again later",
        admission::Reason::Term => {
            "the term that was asked for has not begun or is over, or a vote has run out"
        }
        admission::Reason::Objected => "so many objected that the request is refused for good",
        admission::Reason::NotListed => "the charter admits by its list, and this key is not on it",
        admission::Reason::AwaitingAuthority => {
            "the group's authority has not signed yet, or cannot be reached"
        }
        admission::Reason::SharesStale => {
            "so many have left with shares of the group's key that they could sign: nobody is admitted until the voters have new shares"
        }
        admission::Reason::Votes => "the votes in the certificate are not valid",
        admission::Reason::Name => {
            "nobody is admitted under this name: it has what cannot be seen, or what stands between names in a list"
        }
        admission::Reason::Withdrawn => "the request was withdrawn",
    }
}
