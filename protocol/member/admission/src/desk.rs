//! The machine of an admitted member: its state, and where each input goes.

use crate::at_authority::{AtAuthority, speaks};
use crate::call::{Call, Out};
use crate::message::{self, OpenMessage};
use crate::pause::Pause;
use crate::requests::{Counters, Guests, Requests};
use crate::signers::Signers;
use crate::voting::{Deciding, Proposals, Words};
use crate::{AdmissionError, Command, Config, Input, Output};
use folkmoot_base::{Entropy, Instant, MemberId, UnixTime};
use folkmoot_identity::Identity;
use folkmoot_transcript::{Expire, Item, Taken, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// Admission at one member.
#[derive(Debug, Default)]
pub struct Admission {
    pub(crate) config: Config,
    pub(crate) clock: Option<UnixTime>,
    /// The members in the group's view now.
    pub(crate) present: BTreeSet<MemberId>,
    pub(crate) desk: Desk,
}

/// The parts, and what goes between them.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    pub(crate) requests: Requests,
    pub(crate) proposals: Proposals,
    pub(crate) words: Words,
    pub(crate) deciding: Deciding,
    pub(crate) guests: Guests,
    counters: Counters,
    /// Which ends of certificates were noticed, and when it is our turn to enter them (again).
    pub(crate) expiring: BTreeMap<Expire, UnixTime>,
    pub(crate) signers: Signers,
    pub(crate) central: AtAuthority,
    pub(crate) pause: Pause,
    pub(crate) out: Out,
}

impl Admission {
    /// A member's desk with nothing on it.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// Takes one input.
    ///
    /// # Errors
    /// [`AdmissionError`]; nothing but bookkeeping against floods has changed then.
    pub fn handle(
        &mut self,
        now: Instant,
        input: Input,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        match &input {
            Input::Clock(time) => self.clock = Some(*time),
            Input::Present(members) => self.present.clone_from(members),
            _ => {}
        }
        let (clock, present, config) = (self.clock, &self.present, &self.config);
        let call = Call { now, clock, transcript, identity, present, config };
        let result = self.desk.dispatch(&call, input, entropy);
        self.desk.work(&call, entropy);
        result
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.desk.out.poll()
    }

    /// What guests said so far, and what was refused of it.
    pub fn counters(&self) -> Counters {
        self.desk.counters
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let desk = &self.desk;
        [desk.pause.due(), desk.deciding.due(), desk.signers.due(), desk.central.due()]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Desk {
    fn dispatch(
        &mut self,
        call: &Call<'_>,
        input: Input,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        match input {
            Input::Guest { from, payload } if speaks(call.transcript.roster(), &from) => {
                self.hear_authority(call, from, &payload)
            }
            Input::Guest { from, payload } => {
                let heard = self.guest(call, from, &payload);
                self.counters.count(&heard);
                heard
            }
            Input::Open { sender, payload } => {
                self.take_steps(call, true, entropy);
                self.open(call, sender, &payload, entropy)
            }
            Input::Clock(time) => {
                self.close_expired(call, time);
                self.expire_members(call, time);
                Ok(())
            }
            Input::Timeout => {
                self.resend_if_due(call);
                self.take_steps(call, false, entropy);
                Ok(())
            }
            Input::LinkUp(node) if speaks(call.transcript.roster(), &node) => {
                self.authority_up(call, node);
                Ok(())
            }
            Input::LinkUp(node) => {
                self.guests.up(node);
                self.out.soon();
                Ok(())
            }
            Input::LinkDown(node) => {
                self.authority_down(&node);
                self.guests.down(&node);
                Ok(())
            }
            Input::Regrouped => {
                self.out.soon();
                self.resend_ballots(call);
                Ok(())
            }
            Input::Item { item, taken } => {
                self.take_steps(call, true, entropy);
                self.taken(call, &item, &taken);
                Ok(())
            }
            Input::Command(command) => self.command(call, command, entropy),
            Input::Present(_) | Input::Logged(_) => Ok(()),
        }
    }

    /// Does what follows from the state rather than from the input: casts votes and carries out
    /// decisions that can be.
    fn work(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        self.work_central(call);
        self.work_signers(call, entropy);
        self.work_ballots(call);
        self.renew_anew(call, entropy);
        let busy = self.has_unfinished(call);
        if self.out.take_soon() {
            self.pause.soon();
        }
        self.pause.arrange(call.now, busy, entropy);
    }

    fn open(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        payload: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if !call.transcript.roster().is_member(&sender) {
            return Err(AdmissionError::PeerNotMember(sender));
        }
        match message::decode(payload)? {
            OpenMessage::Request { cms } => self.hear_request(call, sender, &cms.0),
            OpenMessage::Proposal { effect } => self.hear_proposal(call, sender, effect),
            OpenMessage::Ballot { message } => self.hear_ballot(call, message),
            OpenMessage::Signer { message } => self.hear_signer(call, sender, message, entropy),
            OpenMessage::Revocations { der } => self.hear_revocations(call, sender, &der.0),
            OpenMessage::Granted { der } => self.hear_granted(call, &der.0),
        }
    }

    fn command(
        &mut self,
        call: &Call<'_>,
        command: Command,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        match command {
            Command::Vote { motion, approve } if self.requests.get(&motion).is_some() => {
                self.vote_request(call, motion, approve)
            }
            Command::Vote { motion, approve } => self.vote_proposal(call, motion, approve),
            Command::Expel(member) => self.expel(call, member),
            Command::Propose(effect) => self.propose(call, effect),
            Command::Submit(csr) => self.submit(call, &csr),
            Command::Renew => self.renew(call, entropy),
        }
    }

    /// The transcript has taken an item.
    fn taken(&mut self, call: &Call<'_>, item: &[u8], taken: &Taken) {
        self.settle_words(call);
        match Item::decode(item) {
            Ok(Item::Approval(word)) if taken.new => self.notice_approval(call, &word.approval),
            Ok(Item::Effect(effect)) if taken.new => self.notice_effect(call, effect),
            Ok(Item::Decision(standing)) if taken.advanced => {
                self.notice_decision(&standing.proposal.decision)
            }
            _ => {}
        }
        self.close_settled(call);
        if taken.advanced || !taken.came.is_empty() || !taken.went.is_empty() {
            self.close_senseless(call);
            self.forget_issued(call);
            self.forget_multis(call);
            self.retell_guests(call);
        }
    }
}
