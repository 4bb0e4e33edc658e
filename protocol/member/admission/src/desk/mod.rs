//! The desk of an admitted member: the parts, where each input goes, and what goes between parts.
//! No part knows another but by what is handed to it in a call.

mod admission;

pub use admission::Admission;

use crate::at_authority::AtAuthority;
use crate::authority::AuthorityMessage;
use crate::call::{Call, Out};
use crate::expire::Expiring;
use crate::message::{self, OpenMessage};
use crate::pause::Pause;
use crate::requests::{Requests, Way, certificate};
use crate::roster::speaks;
use crate::signers::{Around, Signers};
use crate::voting::{Deciding, Voting, check_key};
use crate::{AdmissionError, Command, Event, Input};
use folkmoot_base::{Danger, Digest, Entropy, MemberId, NodeId, UnixTime};
use folkmoot_identity::{Request, Verdict, VoteKind};
use folkmoot_transcript::{Item, Taken};

/// The parts, and what goes between them.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    requests: Requests,
    voting: Voting,
    deciding: Deciding,
    expiring: Expiring,
    signers: Signers,
    authority: AtAuthority,
    pause: Pause,
    out: Out,
    /// Whether what the transcript had settled before this desk was there is settled here too.
    resumed: bool,
}

impl Desk {
    /// Does something, and what follows from the state before and after it.
    fn turn<R>(
        &mut self,
        call: &Call<'_>,
        entropy: &mut dyn Entropy,
        act: impl FnOnce(&mut Self, &mut dyn Entropy) -> R,
    ) -> R {
        self.resume(call);
        self.match_rotations(call);
        let result = act(self, entropy);
        self.work(call, entropy);
        result
    }

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
            Input::Guest { from, payload } => self.requests.hear_guest(call, from, &payload, &mut self.out),
            Input::Open { sender, payload } => {
                self.take_steps(call, true, entropy);
                self.open(call, sender, &payload, entropy)
            }
            Input::Clock(time) => {
                self.requests.close_expired(call, time, &mut self.out);
                self.voting.close_expired(time, &mut self.out);
                self.expiring.work(call, time, &mut self.out);
                self.voting.say_again(call, &mut self.out);
                Ok(())
            }
            Input::Timeout => {
                self.resend_if_due(call);
                self.take_steps(call, false, entropy);
                Ok(())
            }
            Input::LinkUp { node, .. } if speaks(call.transcript.roster(), &node) => {
                self.authority.up(call, node);
                Ok(())
            }
            Input::LinkUp { node, host } => {
                self.requests.guest_up(node, host, &mut self.out);
                Ok(())
            }
            Input::LinkDown(node) => {
                self.authority.down(&node);
                self.requests.guest_down(&node);
                Ok(())
            }
            Input::Regrouped => {
                self.out.soon();
                self.deciding.regrouped(call.now);
                self.signers.regrouped(call.now);
                self.deciding.resend(call, &mut self.out);
                Ok(())
            }
            Input::Item { item, taken } => {
                self.take_steps(call, true, entropy);
                self.taken(call, &item, &taken);
                Ok(())
            }
            Input::Present(_) | Input::Logged(_) => Ok(()),
        }
    }

    /// Does what follows from the state rather than from the input: casts votes and carries out
    /// decisions that can be.
    fn work(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        self.match_rotations(call);
        self.requests.say_own_key(call, entropy, &mut self.out);
        self.authority.work(call, &mut self.requests, &mut self.out);
        let (signers, voting, mut around) = self.signers(entropy);
        signers.work(call, voting, &mut around);
        self.deciding.work(call, &mut self.out);
        self.requests.renew_anew(call, entropy, &mut self.out);
        let busy = self.has_unfinished(call);
        if self.out.take_soon() {
            self.pause.soon();
        }
        self.pause.arrange(call.now, busy, entropy);
    }

    /// The signers, with what their sessions use of the other parts.
    fn signers<'a>(
        &'a mut self,
        entropy: &'a mut dyn Entropy,
    ) -> (&'a mut Signers, &'a mut Voting, Around<'a>) {
        let Self { requests, voting, signers, authority, out, .. } = self;
        (signers, voting, Around { requests, authority, out, entropy })
    }

    fn take_steps(&mut self, call: &Call<'_>, all: bool, entropy: &mut dyn Entropy) {
        let (signers, _, mut around) = self.signers(entropy);
        signers.take_steps(call, all, &mut around);
    }

    /// Whether anything would be sent again.
    fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let requests = self.requests.has_unfinished(call, self.authority.is_linked());
        requests || self.voting.has_unfinished(call) || self.deciding.has_unfinished()
    }

    /// Sends whatever is unfinished again: requests, proposals, own words, ballots. Each may be
    /// heard twice without harm. So this is done at pauses that double, and soon after the
    /// membership changed. If nothing is unfinished, no timer runs.
    fn resend_if_due(&mut self, call: &Call<'_>) {
        if !self.pause.take(call.now) {
            return;
        }
        // What a request of another key is for is said before it.
        self.voting.resend(call, &mut self.out);
        self.requests.resend(call, self.authority.is_linked(), &mut self.out);
        self.deciding.resend(call, &mut self.out);
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
            OpenMessage::Request { cms, voucher, endorsement, instead } => {
                let rotating = self.voting.rotating(call.transcript);
                let way = Way { voucher, endorsement, instead, ..Way::default() };
                self.requests.hear_request(call, sender, (&cms.0, way), &rotating, &mut self.out)
            }
            OpenMessage::Proposal { effect } => self.voting.hear(call, sender, effect, &mut self.out),
            OpenMessage::Ballot { message } => self.deciding.hear(call, message, &mut self.out),
            OpenMessage::Signer { message } => {
                let (signers, _, mut around) = self.signers(entropy);
                signers.hear(call, sender, message, &mut around)
            }
            OpenMessage::Revocations { der } => {
                self.signers.hear_revocations(call, sender, &der.0, &mut self.out)
            }
            OpenMessage::Granted { der } => {
                let (_, request) = certificate(&der.0)?;
                self.take_granted(call, &request, &der.0).map(|_| ())
            }
            OpenMessage::Withdrawn { withdrawal } => {
                self.requests.withdrawn(call, &withdrawal, &mut self.out)
            }
            OpenMessage::TakenBack { proposal } => {
                self.voting.taken_back(call, sender, &proposal, &mut self.out)
            }
        }
    }

    /// Hears a message of the authority over its link: `ADM-56`, `ADM-59`.
    fn hear_authority(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        payload: &[u8],
    ) -> Result<(), AdmissionError> {
        match self.authority.hear(call, from, payload)? {
            AuthorityMessage::Granted { request, der } => {
                let new = self.take_granted(call, &request, &der.0)?;
                let elsewhere = self.requests.get(&request).is_some_and(|open| !self.requests.is_ours(open));
                if new && elsewhere {
                    self.out.multicast(&OpenMessage::Granted { der });
                }
                Ok(())
            }
            AuthorityMessage::Denied { request, reason } => {
                self.requests.hear_denied(call, request, reason, &mut self.out);
                Ok(())
            }
            AuthorityMessage::Dealt { session, dealt } => {
                self.signers.pass_on_dealt(call, session, dealt, &mut self.out)
            }
            AuthorityMessage::Revocations { der } => {
                self.signers.hear_revocations(call, from.member(), &der.0, &mut self.out)?;
                self.signers.spread_revocations(call, &der.0);
                Ok(())
            }
            AuthorityMessage::Heartbeat { .. }
            | AuthorityMessage::Grant { .. }
            | AuthorityMessage::Deal { .. }
            | AuthorityMessage::Again { .. } => Err(AdmissionError::PeerOutOfTurn(from)),
        }
    }

    /// The authority has signed a certificate, and it or a member passes it on. It proves itself.
    fn take_granted(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        der: &[u8],
    ) -> Result<bool, AdmissionError> {
        let new = self.requests.take_granted(call, request, der, &mut self.out)?;
        if new {
            self.authority.answered(request);
        }
        Ok(new)
    }

    /// Gives the digest of the command's subject.
    fn order(
        &mut self,
        call: &Call<'_>,
        command: Command,
        entropy: &mut dyn Entropy,
    ) -> Result<Digest, AdmissionError> {
        match command {
            Command::Vote { motion, .. } if self.requests.rotates(&motion) => {
                Err(AdmissionError::LocalRotates)
            }
            Command::Vote { motion, approve } if self.requests.get(&motion).is_some() => {
                self.vote_request(call, &motion, approve)
            }
            Command::Vote { motion, approve } => {
                let effect = self.voting.effect(&motion).filter(|_| approve);
                if effect.is_some_and(|effect| !self.signers.may_approve(effect)) {
                    return Err(AdmissionError::LocalNoShare);
                }
                self.voting.vote(call, motion, approve, &mut self.out)
            }
            Command::Propose(effect) if !self.signers.may_approve(&effect) => {
                Err(AdmissionError::LocalNoShare)
            }
            Command::Expel(member) => self.voting.expel(call, member, &mut self.out),
            Command::Leave(force) => self.voting.leave(call, force, &mut self.out),
            Command::Propose(effect) => self.voting.propose(call, effect, &mut self.out),
            Command::Submit(csr) => self.requests.submit(call, &csr, &mut self.out),
            Command::Renew => self.requests.renew(call, entropy, &mut self.out),
            Command::Rotate(asks) => self.rotate(call, &asks),
            Command::Withdraw(motion) if self.requests.get(&motion).is_some() => {
                self.requests.withdraw(call, &motion, &mut self.out)
            }
            Command::Withdraw(motion) => self.voting.withdraw(call, &motion, &mut self.out),
            Command::Date => {
                self.deciding.know_date(call, &mut self.out);
                Ok(call.transcript.state().head().digest)
            }
        }
    }

    /// A person here has a new key, which has signed this: a certificate where holders sign those,
    /// else a request for one.
    fn rotate(&mut self, call: &Call<'_>, asks: &[u8]) -> Result<Digest, AdmissionError> {
        if call.transcript.roster().charter().holder_signs() {
            return self.voting.rotate(call, asks, &mut self.out);
        }
        let request = Request::from_der(asks).map_err(AdmissionError::WireRequest)?;
        let digest = request.digest();
        check_key(call, &digest, request.body())?;
        let new = self.requests.get(&digest).is_none();
        if new {
            self.requests.take_own_key(call, request.clone(), &mut self.out)?;
        }
        // Others hear what the request is for before they hear it.
        let proposed = self.voting.rotate_by_request(call, &request, &mut self.out);
        match proposed {
            Ok(_) => self.requests.show(&digest, &mut self.out),
            Err(_) if new => self.requests.drop_own_key(&digest, &mut self.out),
            Err(_) => {}
        }
        proposed
    }

    /// Requests and proposals of another key for a member belong together, and each part has one.
    fn match_rotations(&mut self, call: &Call<'_>) {
        let rotating = self.voting.rotating(call.transcript);
        let asked = self.requests.tell_rotations(&rotating, &call.me(), &mut self.out);
        self.voting.note_asked(asked);
    }

    /// A person votes on a request. It may change its mind until the request is granted: the last
    /// word stands.
    fn vote_request(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        approve: bool,
    ) -> Result<Digest, AdmissionError> {
        let motion = self.requests.motion(call, request);
        let (subject, expires) = motion.ok_or(AdmissionError::LocalUnknown)?;
        let verdict = if approve { Verdict::Approve } else { Verdict::Reject };
        self.voting.speak(call, subject, verdict, expires, &mut self.out)?;
        if !approve {
            self.requests.show_refused_csr(call, request, &mut self.out);
        }
        Ok(*request)
    }

    /// A quorum decided at a time that has not come here.
    fn tell_if_behind(&mut self, call: &Call<'_>, decided: UnixTime) {
        let seconds = call.clock.map_or(0, |time| decided.0.saturating_sub(time.0));
        if seconds > call.config.skew_seconds {
            self.out.event(Event::ClockBehind { than: None, seconds });
        }
    }

    /// The process may have stopped after the transcript took an item and before that was followed
    /// here: what the disk has open is settled with the first input.
    fn resume(&mut self, call: &Call<'_>) {
        let before = core::mem::replace(&mut self.resumed, true);
        if before || call.config.danger.is(Danger::AdmissionLeavesSettled) {
            return;
        }
        self.voting.settle(call, &mut self.out);
        self.requests.close_settled(call, &mut self.out);
        self.voting.close_senseless(call, &mut self.out);
    }

    /// The transcript has taken an item.
    fn taken(&mut self, call: &Call<'_>, item: &[u8], taken: &Taken) {
        self.voting.settle(call, &mut self.out);
        match Item::decode(item) {
            Ok(Item::Approval(word)) if taken.new => match word.approval.subject.kind {
                VoteKind::Admit => self.requests.notice_approval(call, &word.approval, &mut self.out),
                _ => self.voting.notice_word(call, &word.approval, &mut self.out),
            },
            Ok(Item::Admit { .. }) => self.voting.go_on_rotating(call, &mut self.out),
            Ok(Item::Effect(effect)) if taken.new => self.voting.notice_effect(call, effect, &mut self.out),
            Ok(Item::Decision(standing)) if taken.advanced => {
                self.tell_if_behind(call, standing.proposal.decision.time);
                self.voting.notice_decision(call, &standing.proposal.decision, &mut self.out)
            }
            _ => {}
        }
        self.requests.close_settled(call, &mut self.out);
        if taken.advanced || !taken.came.is_empty() || !taken.went.is_empty() {
            self.voting.close_senseless(call, &mut self.out);
            self.requests.follow(call, &mut self.out);
        }
    }
}
