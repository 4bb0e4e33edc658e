//! The face of the machine: what the host hands in, and what it may ask.

use super::Desk;
use crate::call::Call;
use crate::requests::Counters;
use crate::status::{ShareStatus, SigningStatus, Status};
use crate::store::{REQUESTS, SHARES, VOTES};
use crate::voting::approvers;
use crate::{AdmissionError, Command, Config, Input, Output};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, Instant, MemberId, NodeId, StoreKey, UnixTime, codec};
use folkmoot_identity::{Identity, Mode, REVOKED_TABLE, RevocationList};
use folkmoot_transcript::Transcript;
use std::collections::BTreeSet;

/// Admission at one member.
#[derive(Debug, Default)]
pub struct Admission {
    config: Config,
    clock: Option<UnixTime>,
    /// The members in the group's view now.
    present: BTreeSet<MemberId>,
    desk: Desk,
}

impl Admission {
    /// A member's desk with nothing on it.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// Restores a member's desk. Hand in everything stored; other tables are passed over.
    ///
    /// # Errors
    /// [`AdmissionError::LocalCorrupt`] names the damaged table.
    pub fn load(
        config: Config,
        transcript: &Transcript,
        identity: &Identity,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, AdmissionError> {
        let mut admission = Self::new(config);
        let desk = &mut admission.desk;
        for (key, value) in stored.iter().filter(|(key, _)| key.table == REQUESTS) {
            desk.load_request(identity, &key.key, value).ok_or(AdmissionError::LocalCorrupt(REQUESTS))?;
        }
        for (key, _) in stored.iter().filter(|(key, _)| key.table == REQUESTS) {
            desk.requests.load_sponsored(&key.key);
        }
        for (key, value) in stored.iter().filter(|(key, _)| key.table == VOTES) {
            desk.load_vote(identity, &key.key, value).ok_or(AdmissionError::LocalCorrupt(VOTES))?;
        }
        for (key, value) in stored.iter().filter(|(key, _)| key.table == SHARES) {
            desk.signers
                .load_share(transcript, identity, (key, value), &mut desk.out)
                .ok_or(AdmissionError::LocalCorrupt(SHARES))?;
        }
        desk.signers.loaded_shares(transcript);
        desk.deciding.restarted();
        for (_, value) in stored.iter().filter(|(key, _)| key.table == REVOKED_TABLE) {
            desk.signers.load_revocations(transcript, value);
        }
        Ok(admission)
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
            Input::Clock(time) => self.clock = Some(*time).filter(|time| time.0 > 0),
            Input::Present(members) => self.present.clone_from(members),
            _ => {}
        }
        let (clock, present, config) = (self.clock, &self.present, &self.config);
        let call = Call { now, clock, transcript, identity, present, config };
        self.desk.turn(&call, entropy, |desk, entropy| desk.dispatch(&call, input, entropy))
    }

    /// A person speaks. The digest is the subject's: what is voted on, taken back or asked for.
    ///
    /// # Errors
    /// [`AdmissionError`], and nothing has changed.
    pub fn order(
        &mut self,
        now: Instant,
        command: Command,
        transcript: &Transcript,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<Digest, AdmissionError> {
        let (clock, present, config) = (self.clock, &self.present, &self.config);
        let call = Call { now, clock, transcript, identity, present, config };
        self.desk.turn(&call, entropy, |desk, entropy| desk.order(&call, command, entropy))
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.desk.out.poll()
    }

    /// What guests said so far, and what was refused of it.
    pub fn counters(&self) -> Counters {
        self.desk.requests.counters()
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let desk = &self.desk;
        let due = [desk.pause.due(), desk.deciding.due(), desk.signers.due(), desk.authority.due()];
        due.into_iter().flatten().min()
    }

    /// The state of the signing sessions.
    pub fn signing(&self, now: Instant, transcript: &Transcript) -> SigningStatus {
        let (open, still, holds) = self.desk.signers.status(now, transcript.roster());
        let guests = self.desk.requests.iter().filter(|open| self.desk.requests.is_ours(open));
        let time = self.clock.unwrap_or_default().max(transcript.state().time());
        SigningStatus {
            open,
            still,
            holds,
            approvals: transcript.set().effects().map(|effect| approvers(effect, transcript, time)).collect(),
            guests: guests.map(|open| open.request.member()).collect(),
        }
    }

    /// `LINE-95`: whether the next decision asks our person for the date, and something waits for
    /// that now.
    pub fn asks_date(&self, transcript: &Transcript) -> Option<bool> {
        self.desk.deciding.asks_date(transcript.state(), self.clock?)
    }

    /// `ADM-89`: how it stands with the shares of the group's key; `None` if there is no such key.
    pub fn share(&self, now: Instant, me: &MemberId, transcript: &Transcript) -> Option<ShareStatus> {
        self.desk.signers.share_status(now, me, transcript.roster())
    }

    /// The nodes of the charter's authority that are linked here, and when one of them last said
    /// anything; `None` if the charter has no authority.
    pub fn authority(&self, transcript: &Transcript) -> Option<(Vec<NodeId>, Option<Instant>)> {
        let central = transcript.roster().charter().mode() == Mode::Centralised;
        central.then(|| self.desk.authority.reached())
    }

    /// The newest revocation list of the group's key that this member has; `None` if nobody was
    /// expelled to whom the key had issued a certificate.
    pub fn revocations(&self) -> Option<&RevocationList> {
        self.desk.signers.revocations()
    }

    /// What is open now.
    pub fn status(&self, transcript: &Transcript, identity: &Identity) -> Status {
        let (clock, present, config) = (self.clock, &self.present, &self.config);
        let call = Call { now: Instant::default(), clock, transcript, identity, present, config };
        let mut requests = self.desk.requests.status(&call);
        for one in &mut requests {
            one.opinion = self.desk.voting.opinion(&call, &folkmoot_transcript::admission(one.request));
        }
        let proposals = self.desk.voting.status(&call, self.desk.deciding.ballot());
        Status { requests, proposals }
    }
}

impl Desk {
    fn load_request(&mut self, identity: &Identity, key: &[u8], value: &[u8]) -> Option<()> {
        match key.first()? {
            b'r' => self.requests.load(&identity.member(), value)?,
            b'p' => self.voting.load_proposal(value)?,
            _ => {}
        }
        Some(())
    }

    fn load_vote(&mut self, identity: &Identity, key: &[u8], value: &[u8]) -> Option<()> {
        match key.first()? {
            b'b' => self.deciding.recall(codec::decode(value).ok()?),
            b'w' => self.voting.load_word(&identity.member(), value)?,
            _ => {}
        }
        Some(())
    }
}
