//! The stranger's part: it asks, collects votes, makes the certificate and waits until the
//! transcript has its admission.
//!
//! ```text
//! Requesting --Standing--> CollectingVotes --Votes--> Certifying --transcript has us--> Admitted
//!     ^----------------------- votes no longer stand --------'
//! ```
//! It speaks to one contact at a time, again and again at growing pauses. It turns to the next
//! contact when this one falls silent or its link goes down. Request and certificate are persisted
//! before they are sent, so a restart asks the same question.

mod shown;
mod withdraw;

use crate::message::{self, GuestMessage, KeyedVote, Reason, SignerKey, Withdrawal};
use crate::pause::Pause;
use crate::roster::speaks;
use crate::store::REQUESTS;
use crate::{AdmissionError, Event, Input, Output};
use bytes::Bytes;
use folkmoot_base::{
    Blob, Digest, Entropy, Instant, MemberId, NodeId, Persist, StoreKey, UnixTime, codec, limits,
};
use folkmoot_identity::{Below, Gmc, GmcBody, Identity, Multi, Request, VerifyingKey, VoteProof};
use folkmoot_transcript::Transcript;
use shown::Shown;
use std::collections::{BTreeMap, VecDeque};

/// Where our request and certificate are kept.
const OWN: &[u8] = b"own";
/// After so many unanswered messages another contact is tried.
const PATIENCE: u32 = 3;
/// Most contacts remembered at once.
const CONTACTS_MAX: usize = 8;

/// How far we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Nobody has answered yet.
    #[default]
    Requesting,
    /// Asked; this is the last that was heard.
    CollectingVotes {
        /// Approving votes so far.
        have: usize,
        /// Votes needed.
        need: usize,
    },
    /// The certificate is made; the transcript does not have us yet.
    Certifying,
    /// The transcript has us. The applicant is done.
    Admitted,
}

/// A stranger who asks for admission. At first it has not asked yet: it asks once it knows the time
/// and has a contact.
#[derive(Debug, Default)]
pub struct Applicant {
    phase: Phase,
    clock: Option<UnixTime>,
    shown: Shown,
    request: Option<Request>,
    certificate: Option<Gmc>,
    contacts: Vec<NodeId>,
    unanswered: u32,
    /// Contacts that had no place, one after the other, since we last waited.
    turned_away: usize,
    /// Refused: the next request waits for the pause to end, or for another charter.
    cooling: bool,
    /// Refused for good: the person has to ask for another request.
    over: bool,
    refused: Option<(Reason, u32, u32)>,
    /// What it has taken back.
    withdrawn: Option<Withdrawal>,
    pause: Pause,
    out: VecDeque<Output>,
}

impl Applicant {
    /// A stranger that has not asked. Hand in everything stored: what it shows may be there.
    pub fn new(stored: &[(StoreKey, Bytes)]) -> Self {
        Self { shown: Shown::load(stored), ..Self::default() }
    }

    /// Restores a stranger. Hand in everything stored; other tables are passed over.
    ///
    /// # Errors
    /// [`AdmissionError::LocalCorrupt`].
    pub fn load(stored: &[(StoreKey, Bytes)]) -> Result<Self, AdmissionError> {
        let mut applicant = Self::new(stored);
        let own = stored.iter().find(|(key, _)| key.table == REQUESTS && key.key == OWN);
        let corrupt = || AdmissionError::LocalCorrupt(REQUESTS);
        match own.map(|(_, value)| value.split_first().ok_or_else(corrupt)).transpose()? {
            Some((b'r', cms)) => applicant.request = Some(Request::from_der(cms).map_err(|_| corrupt())?),
            Some((b'c', der)) => {
                applicant.certificate = Some(Gmc::from_der(der).map_err(|_| corrupt())?);
                applicant.phase = Phase::Certifying;
            }
            Some(_) => return Err(corrupt()),
            None => {}
        }
        Ok(applicant)
    }

    /// `MEM-08`: whether a stranger's own is kept there. Once expelled, a member would ask by it.
    pub fn is_own(key: &StoreKey) -> bool {
        (key.table == REQUESTS && key.key == OWN) || Shown::is_at(key)
    }

    /// Takes one input. `transcript` is our own copy: at first nothing but the charter.
    ///
    /// # Errors
    /// [`AdmissionError`]; the applicant is then as it was.
    pub fn handle(
        &mut self,
        now: Instant,
        input: Input,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        if self.phase == Phase::Admitted {
            return Ok(());
        }
        let result = self.dispatch(now, input, transcript, identity, entropy);
        self.notice_admission(transcript, identity);
        let asked = self.ask(transcript, identity, entropy);
        let busy =
            self.phase != Phase::Admitted && !self.over && !self.contacts.is_empty() && self.clock.is_some();
        self.pause.arrange(now, busy, entropy);
        result.and(asked)
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.pause.due()
    }

    /// How far we are.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether it has sent a request or a certificate and waits for the outcome.
    pub fn has_asked(&self) -> bool {
        self.request.is_some() || self.certificate.is_some()
    }

    /// Whether it was refused for good and waits for nothing any more.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Our certificate, once it is made.
    pub fn certificate(&self) -> Option<&Gmc> {
        self.certificate.as_ref()
    }

    fn dispatch(
        &mut self,
        now: Instant,
        input: Input,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        match input {
            Input::Guest { from, payload } => self.answer(from, &payload, transcript, identity),
            Input::Clock(time) => {
                self.clock = Some(time).filter(|time| time.0 > 0);
                Ok(())
            }
            // A node that was linked as a member's before does not answer strangers.
            Input::LinkUp { node, .. } if speaks(transcript.roster(), &node) => Ok(()),
            Input::LinkUp { node, .. } => {
                if !self.contacts.contains(&node) && self.contacts.len() < CONTACTS_MAX {
                    // If all other contacts had no place, a new one is asked at once.
                    if self.turned_away >= self.contacts.len() {
                        self.contacts.insert(0, node);
                        self.speak();
                    } else {
                        self.contacts.push(node);
                    }
                }
                Ok(())
            }
            Input::LinkDown(node) => {
                let first = self.contacts.first() == Some(&node);
                self.contacts.retain(|contact| *contact != node);
                if first {
                    self.speak();
                }
                Ok(())
            }
            Input::Timeout => {
                if self.pause.take(now) {
                    self.cooling = false;
                    self.turned_away = 0;
                    self.try_another();
                    self.speak();
                }
                Ok(())
            }
            Input::Item { .. } => self.follow_line(transcript, identity, entropy),
            Input::Open { .. } | Input::Regrouped | Input::Present(_) => Ok(()),
            Input::Logged(_) => Ok(()),
        }
    }

    /// After too many unanswered messages, the next contact comes first.
    fn try_another(&mut self) {
        if self.unanswered >= PATIENCE && self.contacts.len() > 1 {
            self.unanswered = 0;
            self.contacts.rotate_left(1);
        }
    }

    /// Makes the request as soon as there is a time to put into it, and sends it.
    fn ask(
        &mut self,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let Some(time) = self.clock else { return Ok(()) };
        if self.cooling
            || self.over
            || self.request.is_some()
            || self.certificate.is_some()
            || self.phase == Phase::Admitted
        {
            return Ok(());
        }
        let roster = transcript.roster();
        let size = u32::try_from(roster.len()).unwrap_or(u32::MAX);
        let body = GmcBody::propose(roster.charter(), identity, size, time, entropy);
        let body = body.over(roster.head());
        let request = Request::sign(identity, body).map_err(AdmissionError::LocalRequest)?;
        self.keep(b'r', request.der());
        self.request = Some(request);
        self.speak();
        Ok(())
    }

    /// Tells the first contact what we are waiting for an answer to.
    fn speak(&mut self) {
        let Some(to) = self.contacts.first().copied() else { return };
        let message = match (&self.certificate, &self.request) {
            (Some(certificate), _) => GuestMessage::Certificate { der: Blob(certificate.der().clone()) },
            (None, Some(request)) => {
                let cms = Blob::from(request.der().to_vec());
                let Shown { voucher, endorsement } = self.shown.clone();
                GuestMessage::Request { cms, voucher, endorsement }
            }
            (None, None) => return,
        };
        self.unanswered = self.unanswered.saturating_add(1);
        self.out.push_back(Output::Guest { to, payload: Bytes::from(codec::encode(&message)) });
    }

    fn answer(
        &mut self,
        from: NodeId,
        payload: &[u8],
        transcript: &Transcript,
        identity: &Identity,
    ) -> Result<(), AdmissionError> {
        if !self.contacts.contains(&from) {
            return Err(AdmissionError::PeerOutOfTurn(from));
        }
        match message::decode(payload)? {
            GuestMessage::Standing { request, reason: Reason::Withdrawn, .. } => {
                let ours = self.withdrawn.as_ref().is_some_and(|withdrawal| withdrawal.request == request);
                if !ours {
                    return Err(AdmissionError::PeerOtherRequest(from));
                }
                self.out.push_back(Output::Event(Event::Withdrawn));
                Ok(())
            }
            GuestMessage::Standing { request, have, need, reason } => {
                self.is_ours(from, &request)?;
                self.unanswered = 0;
                self.stand(reason, have, need);
                Ok(())
            }
            GuestMessage::Votes { request, votes } => {
                self.is_ours(from, &request)?;
                self.unanswered = 0;
                self.certify(&votes, transcript, identity)
            }
            GuestMessage::Issued { request, der } => {
                self.is_ours(from, &request)?;
                self.unanswered = 0;
                self.take_issued(from, &request, &der.0, transcript)
            }
            GuestMessage::Multi { request, base, turn, expires, signature, keys } => {
                self.is_ours(from, &request)?;
                self.unanswered = 0;
                let multi =
                    Multi::new(base, turn, expires, &signature.0).map_err(AdmissionError::PeerCertificate)?;
                self.certify_multi(&multi, &keys, transcript, identity)
            }
            GuestMessage::Request { .. }
            | GuestMessage::Certificate { .. }
            | GuestMessage::Withdraw { .. } => Err(AdmissionError::PeerOutOfTurn(from)),
        }
    }

    fn is_ours(&self, from: NodeId, digest: &Digest) -> Result<(), AdmissionError> {
        let asked = self.request.as_ref().map(Request::digest);
        let certified = || self.certificate.as_ref().and_then(|gmc| gmc.body().request_digest().ok());
        if asked.or_else(certified) == Some(*digest) {
            Ok(())
        } else {
            Err(AdmissionError::PeerOtherRequest(from))
        }
    }

    /// Another contact may have a place: each is asked once, at once, before we wait.
    fn seek_place(&mut self) {
        self.unanswered = PATIENCE;
        self.turned_away = self.turned_away.saturating_add(1);
        if self.turned_away < self.contacts.len() {
            self.try_another();
            self.speak();
        }
    }

    fn stand(&mut self, reason: Reason, have: u32, need: u32) {
        if reason == Reason::Full {
            self.seek_place();
        }
        match reason {
            // The votes in the certificate no longer stand: collect them again, for a new request.
            Reason::Votes | Reason::Stale | Reason::Term => {
                self.start_over();
                self.cooling = true;
            }
            Reason::Objected | Reason::NotListed | Reason::Name | Reason::Withdrawn => {
                self.start_over();
                self.over = true;
            }
            Reason::AwaitingVotes
            | Reason::Rejected
            | Reason::Full
            | Reason::AwaitingAuthority
            | Reason::SharesStale => {
                if self.certificate.is_none() {
                    self.phase = Phase::CollectingVotes { have: size(have), need: size(need) };
                }
            }
        }
        if self.refused.replace((reason, have, need)) != Some((reason, have, need)) {
            let (have, need) = (size(have), size(need));
            self.out.push_back(Output::Event(Event::Refused { reason, have, need }));
        }
    }

    /// Forgets request and certificate; [`Self::ask`] makes the next request.
    fn start_over(&mut self) {
        self.certificate = None;
        self.phase = Phase::Requesting;
        self.out.push_back(Output::Persist(Persist::delete(REQUESTS, OWN)));
        self.request = None;
    }

    /// A request that was made before an expulsion of ours, or on another line, admits nobody: it
    /// is made anew.
    fn follow_line(
        &mut self,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<(), AdmissionError> {
        let body = self.request.as_ref().map(Request::body);
        let body = body.or_else(|| self.certificate.as_ref().map(Gmc::body));
        let state = transcript.state();
        let stale = |body: &GmcBody| {
            let base = body.membership.base;
            !state.has_on_line(&base) || base.number < state.removed_at(&identity.member())
        };
        if body.is_some_and(stale) {
            self.start_over();
            self.cooling = false;
            self.ask(transcript, identity, entropy)?;
        }
        Ok(())
    }

    /// Enough votes: each is checked by the key it came with, whose digest is the voter's name.
    fn certify(
        &mut self,
        votes: &[KeyedVote],
        transcript: &Transcript,
        identity: &Identity,
    ) -> Result<(), AdmissionError> {
        let Some(request) = &self.request else { return Ok(()) };
        let body = request.body();
        let mut stands: BTreeMap<_, (VoteProof, VerifyingKey)> = BTreeMap::new();
        for vote in votes.iter().take(limits::MEMBERS_MAX) {
            let key = VerifyingKey::from_spki_der(&vote.spki.0)
                .map_err(|_| AdmissionError::PeerNotVoter(vote.proof.voter))?;
            stands.insert(vote.proof.voter, (vote.proof.clone(), key));
        }
        let proofs: Vec<VoteProof> = stands.values().map(|(proof, _)| proof.clone()).collect();
        let certificate = Gmc::compose(body, &proofs, identity).map_err(AdmissionError::PeerCertificate)?;
        self.take_approved(certificate, transcript, |voter| stands.get(voter).map(|(_, key)| key))
    }

    /// The voters have signed together. Checked by the keys that came with the signature; their
    /// digests are the signers' names.
    fn certify_multi(
        &mut self,
        multi: &Multi,
        keys: &[SignerKey],
        transcript: &Transcript,
        identity: &Identity,
    ) -> Result<(), AdmissionError> {
        let Some(request) = &self.request else { return Ok(()) };
        let read = |signer: &SignerKey| VerifyingKey::from_spki_der(&signer.spki.0).ok();
        let keys = keys.iter().take(limits::MEMBERS_MAX).filter_map(read);
        let keys: BTreeMap<MemberId, VerifyingKey> = keys.map(|key| (key.member_id(), key)).collect();
        let certificate =
            Gmc::compose_multi(request.body(), multi, identity).map_err(AdmissionError::PeerCertificate)?;
        self.take_approved(certificate, transcript, |voter| keys.get(voter))
    }

    /// Whether these voters have approved and are enough, as far as the charter tells. The
    /// transcript judges how many are needed, and we may not have it yet.
    fn take_approved<'a>(
        &mut self,
        certificate: Gmc,
        transcript: &Transcript,
        keys: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), AdmissionError> {
        let charter = transcript.roster().charter();
        let reset = charter.policies().below == Below::Reset;
        let need = if reset { 1 } else { usize::try_from(charter.threshold()).unwrap_or(usize::MAX) };
        certificate.check_authority_of(charter, need, keys).map_err(AdmissionError::PeerCertificate)?;
        self.take_certificate(certificate);
        Ok(())
    }

    /// The group has signed, or its authority. The transcript judges whether the group's key
    /// signed, and we may not have it yet; the authority's key is in the charter.
    fn take_issued(
        &mut self,
        from: NodeId,
        request: &Digest,
        der: &[u8],
        transcript: &Transcript,
    ) -> Result<(), AdmissionError> {
        let certificate = Gmc::from_der(der).map_err(AdmissionError::PeerCertificate)?;
        let ours = certificate.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
        if ours != *request || !certificate.is_issued() {
            return Err(AdmissionError::PeerOutOfTurn(from));
        }
        certificate.check_central(transcript.roster().charter()).map_err(AdmissionError::PeerCertificate)?;
        if self.certificate.as_ref() != Some(&certificate) {
            self.take_certificate(certificate);
        }
        Ok(())
    }

    fn take_certificate(&mut self, certificate: Gmc) {
        let der = certificate.der().clone();
        self.keep(b'c', &der);
        self.certificate = Some(certificate);
        self.request = None;
        self.phase = Phase::Certifying;
        self.out.push_back(Output::Event(Event::Certified { certificate: der }));
        self.speak();
    }

    fn notice_admission(&mut self, transcript: &Transcript, identity: &Identity) {
        if self.phase != Phase::Admitted && transcript.roster().is_member(&identity.member()) {
            self.phase = Phase::Admitted;
            self.out.push_back(Output::Persist(Persist::delete(REQUESTS, OWN)));
            self.out.push_back(Output::Event(Event::Admitted));
        }
    }

    fn keep(&mut self, kind: u8, der: &[u8]) {
        let value = [&[kind], der].concat();
        self.out.push_back(Output::Persist(Persist::put(REQUESTS, OWN, value)));
    }
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
