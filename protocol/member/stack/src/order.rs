//! Orders of the application that others take part in, or that people vote on: each is answered in
//! the call. What becomes of it is the subject's [`crate::Outcome`].

use crate::api::Command;
use crate::join::Joining;
use crate::{Member, Stands};
use base::{Digest, Entropy, Fault, Head, Instant, Refused, RefusedBy};
use bytes::Bytes;
use folkmoot_admission::{self as admission, AdmissionError};
use folkmoot_attach::ToNode;
use folkmoot_base as base;
use folkmoot_transcript::{Change, Effect, Force};

/// An order was accepted. What it relies on is to be committed before anybody is told so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted {
    /// What it is about, by the digest that votes on it name, or a letter's; the same order has the
    /// same. None for what has none, and for a request that is not made yet.
    pub subject: Option<Digest>,
    /// How that stands now, if anything is known of it here.
    pub stands: Option<Stands>,
}

/// Why this member cannot carry out an order, whatever it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum OrderError {
    #[error("the member's first program asks, votes and proposes: port 0")]
    Elsewhere,
    #[error("only members vote and propose")]
    NotMember,
    #[error("this member does not ask for admission")]
    AsksNothing,
    #[error("a vote cannot decide that")]
    NoVotes,
    #[error("no other line of decisions has been shown to this member")]
    NoOtherLine,
}

impl OrderError {
    const fn refused_by(self) -> RefusedBy {
        match self {
            Self::Elsewhere => RefusedBy::new(Fault::Member, "first-program-only"),
            Self::NotMember => RefusedBy::new(Fault::Member, "not-admitted"),
            Self::AsksNothing => RefusedBy::new(Fault::Member, "asks-nothing"),
            Self::NoVotes => RefusedBy::new(Fault::Order, "not-for-votes"),
            Self::NoOtherLine => RefusedBy::new(Fault::Member, "no-other-line"),
        }
    }
}

impl From<OrderError> for Refused {
    fn from(error: OrderError) -> Self {
        Self::new(error.refused_by(), &error)
    }
}

/// What an order asks of admission at this member.
enum Wish {
    Ask,
    AskNoMore,
    Resolve(Head),
    Of(admission::Command),
}

impl Member {
    /// An order that admission carries out, on whichever side of it we are.
    pub(crate) fn order(
        &mut self,
        now: Instant,
        command: Command,
        entropy: &mut dyn Entropy,
    ) -> Result<Accepted, Refused> {
        let wish = self.wish(command)?;
        if matches!(self.joining, Joining::Elsewhere) && !matches!(wish, Wish::Resolve(_)) {
            return Err(OrderError::Elsewhere.into());
        }
        let subject = match wish {
            Wish::Ask => {
                self.apply(now, entropy);
                self.asks_by()
            }
            Wish::AskNoMore => self.ask_no_more(now, entropy)?,
            Wish::Resolve(head) => return self.resolve(now, head, entropy),
            Wish::Of(command) => Some(self.at_door(now, command, entropy)?),
        };
        let stands = subject.and_then(|subject| self.outcome(&subject)).map(|outcome| outcome.stands);
        Ok(Accepted { subject, stands })
    }

    fn wish(&self, command: Command) -> Result<Wish, OrderError> {
        let change = match command {
            Command::Apply => return Ok(Wish::Ask),
            Command::Withdraw { subject: None } => return Ok(Wish::AskNoMore),
            Command::Resolve { head } => return Ok(Wish::Resolve(head)),
            Command::Vote { subject, approve } => {
                return Ok(Wish::Of(admission::Command::Vote { motion: subject, approve }));
            }
            Command::Expel { member } => return Ok(Wish::Of(admission::Command::Expel(member))),
            Command::SubmitCsr { csr } => return Ok(Wish::Of(admission::Command::Submit(csr))),
            Command::Renew => return Ok(Wish::Of(admission::Command::Renew)),
            Command::Rotate { certificate } => return Ok(Wish::Of(admission::Command::Rotate(certificate))),
            Command::Withdraw { subject: Some(subject) } => {
                return Ok(Wish::Of(admission::Command::Withdraw(subject)));
            }
            Command::LeaveForGood => return Ok(Wish::Of(admission::Command::Leave(Force::No))),
            Command::Forced(command) if matches!(*command, Command::LeaveForGood) => {
                return Ok(Wish::Of(admission::Command::Leave(Force::Yes)));
            }
            Command::Forced(command) => {
                let change = self.change(*command).ok_or(OrderError::NoVotes)?;
                Effect { change, force: Force::Yes }
            }
            command => self.change(command).ok_or(OrderError::NoVotes)?.into(),
        };
        Ok(Wish::Of(admission::Command::Propose(change)))
    }

    /// The change that a command asks for.
    fn change(&self, command: Command) -> Option<Change> {
        let blob = |text: String| base::Blob::from(text.into_bytes());
        match command {
            Command::Expel { member } => Some(Change::Remove { member }),
            Command::ChangeCharter { field, value } => {
                Some(Change::Charter { field: blob(field), value: blob(value) })
            }
            Command::Electorate { voters } => Some(Change::Electorate { voters }),
            Command::Rejoin { head } => Some(Change::Rejoin { head }),
            Command::Retime => Some(Change::Retime { head: self.transcript.state().head() }),
            _ => None,
        }
    }

    /// Has admission do it, if we are a member or speak for the authority.
    fn at_door(
        &mut self,
        now: Instant,
        command: admission::Command,
        entropy: &mut dyn Entropy,
    ) -> Result<Digest, Refused> {
        let (transcript, identity) = (&self.transcript, &self.config.identity);
        let votes = matches!(command, admission::Command::Vote { .. });
        let done = match &mut self.joining {
            Joining::Inside(admission) => admission.order(now, command, transcript, identity, entropy),
            Joining::Office(authority) if votes => authority.order(now, command, transcript, identity),
            _ => return Err(OrderError::NotMember.into()),
        };
        self.drain_door();
        done.map_err(|error: AdmissionError| error.refused())
    }

    /// The request by which we ask, if it is made already.
    fn asks_by(&self) -> Option<Digest> {
        match &self.joining {
            Joining::Outside(applicant) => applicant.asks_by(),
            _ => None,
        }
    }

    fn ask_no_more(&mut self, now: Instant, entropy: &mut dyn Entropy) -> Result<Option<Digest>, OrderError> {
        let (transcript, identity) = (&self.transcript, &self.config.identity);
        let Joining::Outside(applicant) = &mut self.joining else { return Err(OrderError::AsksNothing) };
        let subject = applicant.withdraw(now, transcript, identity, entropy);
        self.wants_in = false;
        self.drain_door();
        Ok(subject)
    }

    /// Our person goes over to another line. We go once a node that is on it shows it. Or it takes
    /// what waits for the clock; or lets us go on from our head by the date that the clock shows,
    /// or skip.
    fn resolve(&mut self, now: Instant, head: Head, entropy: &mut dyn Entropy) -> Result<Accepted, Refused> {
        if self.transcript.ahead().iter().any(|one| one.head() == head) {
            self.tell_node(ToNode::Resolve(self.home, head));
            let taken = self.transcript.take_ahead_of_clock();
            self.taken(now, Bytes::new(), taken, entropy);
            return Ok(Accepted::default());
        }
        if self.asks_date().is_some() && head == self.transcript.state().head() {
            self.at_door(now, admission::Command::Date, entropy)?;
            return Ok(Accepted::default());
        }
        let offered = self.offers().last().is_some_and(|last| last.head == head);
        if self.transcript.line().forks().is_empty() && !offered {
            return Err(OrderError::NoOtherLine.into());
        }
        self.tell_node(ToNode::Resolve(self.home, head));
        Ok(Accepted::default())
    }
}
