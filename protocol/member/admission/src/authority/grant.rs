//! Grants: what members hand in, the one certificate that it leads to, and who is told.
//!
//! ```text
//! Grant --judge--> Output::Log(record) ==host: all replicas, one order==> Input::Logged(record) --> disk --> Granted, to all who asked
//! ```

use super::judge::{Judge, Refused};
use super::machine::{Authority, Call};
use super::message::{AuthorityMessage, WireGrounds};
use super::record::{LogRecord, Logging};
use crate::{AdmissionError, Closed, Output, Reason};
use core::time::Duration;
use folkmoot_base::{Blob, Digest, NodeId, UnixTime, limits};
use folkmoot_identity::{CertificateError, Gmc, Grounds, Request};
use folkmoot_transcript::ItemError;
use std::collections::BTreeSet;

/// Most records on their way through the log.
pub const LOGGING_MAX: usize = limits::REQUESTS_MAX;
/// How long the log may take to bring a record back before it is handed in again.
const LOG_PATIENCE: Duration = Duration::from_secs(5);

impl Authority {
    /// `ADM-60` to `ADM-63`, `ADM-68`: a member hands in a request and what the voters made of it.
    pub(super) fn hear_grant(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        request: &[u8],
        grounds: &WireGrounds,
    ) -> Result<(), AdmissionError> {
        let request = Request::from_der(request).map_err(AdmissionError::WireRequest)?;
        let digest = request.digest();
        if let Some(der) = self.issued.get(&digest).cloned() {
            self.tell(from, &AuthorityMessage::Granted { request: digest, der: Blob(der) });
            return Ok(());
        }
        if let Some(logging) = self.logging.get_mut(&digest) {
            logging.askers.insert(from);
            return Ok(());
        }
        let answered = self.consider(call, from, &request, grounds);
        if let Err(refused) = &answered {
            self.deny(from, digest, refused.reason);
        }
        answered.map_err(|refused| *refused.why)
    }

    fn consider(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        request: &Request,
        grounds: &WireGrounds,
    ) -> Result<(), Refused> {
        let no_clock = Refused::new(Reason::AwaitingAuthority, AdmissionError::LocalNoClock);
        let time = self.clock.ok_or(no_clock)?;
        let judge = self.judge(call, time, from);
        let grounds = judge.read(grounds)?;
        let gmc = judge.certify(request, &grounds)?;
        self.has_room(from, request)?;
        if call.transcript.roster().is_for_authority() {
            return self.petition(call, from, request, &gmc);
        }
        self.issue(call, request.digest(), &gmc, BTreeSet::from([from]));
        Ok(())
    }

    /// The certificate for a request that its person approves.
    pub(super) fn certify_alone(&self, call: &Call<'_>, request: &Request) -> Result<Gmc, AdmissionError> {
        let time = self.clock.ok_or(AdmissionError::LocalNoClock)?;
        let judge = self.judge(call, time, call.identity.node());
        let made = judge.certify(request, &Grounds::Votes(Vec::new()));
        let made = made.and_then(|gmc| self.has_room(judge.from, request).map(|()| gmc));
        made.map_err(|refused| *refused.why)
    }

    /// `ADM-62`: never two certificates of one serial number, nor a second for a request that was
    /// granted before.
    fn has_room(&self, from: NodeId, request: &Request) -> Result<(), Refused> {
        let serial = &request.body().serial;
        let underway = self.logging.values().any(|logging| logging.gmc.body().serial == *serial);
        if underway || self.issued.has_serial(serial) || self.issued.knows(&request.digest()) {
            let why = CertificateError::PeerCharter("another certificate has its serial number");
            let why = AdmissionError::PeerGrant(from, ItemError::Certificate(why));
            return Err(Refused::new(Reason::Stale, why));
        }
        if self.logging.len() >= LOGGING_MAX || self.issued.is_full() {
            return Err(Refused::new(Reason::Full, AdmissionError::LocalFull));
        }
        Ok(())
    }

    /// Sends the record to the log, or takes it at once if there is no log.
    pub(super) fn issue(&mut self, call: &Call<'_>, request: Digest, gmc: &Gmc, askers: BTreeSet<NodeId>) {
        if !self.config.replicated {
            return self.take(request, gmc, askers);
        }
        let record = LogRecord { request, der: Blob(gmc.der().clone()) }.encode();
        let (gmc, due) = (gmc.clone(), call.now + LOG_PATIENCE);
        self.out.push_back(Output::Log(record.clone()));
        self.logging.insert(request, Logging { record, gmc, askers, due });
    }

    /// `ADM-62`: a record of ours or of another replica has its place in the log. The first record
    /// for a request stands.
    pub(super) fn hear_logged(&mut self, record: &[u8]) -> Result<(), AdmissionError> {
        // What is held, byte for byte, was judged before: after a start the whole log comes.
        if let Some(held) = LogRecord::claim(record).filter(|record| self.issued.is_held(record)) {
            let askers = self.logging.remove(&held.request).map(|logging| logging.askers).unwrap_or_default();
            self.tell_granted(&askers, held.request, &held.der.0);
            return Ok(());
        }
        let (request, gmc) = LogRecord::read(record, self.office.certificate.key())?;
        // ADM-81: one asker may have been told one certificate, and another the other.
        if self.issued.knows(&request) {
            self.conflict = true;
            self.logging.clear();
            return Err(AdmissionError::LocalConflict);
        }
        let askers = self.logging.remove(&request).map(|logging| logging.askers).unwrap_or_default();
        if self.issued.has_serial(&gmc.body().serial) {
            self.deny_all(&askers, request, Reason::Stale);
            return Err(AdmissionError::LocalRecord("another certificate has its serial number"));
        }
        if self.issued.is_full() {
            self.deny_all(&askers, request, Reason::Full);
            return Err(AdmissionError::LocalFull);
        }
        self.take(request, &gmc, askers);
        Ok(())
    }

    /// Persists the certificate, then tells those who asked.
    fn take(&mut self, request: Digest, gmc: &Gmc, mut askers: BTreeSet<NodeId>) {
        let persist = self.issued.insert(request, gmc);
        self.out.push_back(Output::Persist(persist));
        askers.extend(self.close_petition(&request, Closed::Granted));
        self.tell_granted(&askers, request, gmc.der());
        self.trace(format!("certificate for {} issued", gmc.member()));
    }

    fn tell_granted(&mut self, askers: &BTreeSet<NodeId>, request: Digest, der: &bytes::Bytes) {
        for node in askers {
            self.tell(*node, &AuthorityMessage::Granted { request, der: Blob(der.clone()) });
        }
    }

    pub(super) fn deny(&mut self, to: NodeId, request: Digest, reason: Reason) {
        self.tell(to, &AuthorityMessage::Denied { request, reason });
    }

    pub(super) fn deny_all(&mut self, to: &BTreeSet<NodeId>, request: Digest, reason: Reason) {
        to.iter().for_each(|node| self.deny(*node, request, reason));
    }

    /// `ADM-83`: a record that did not come back from the log is handed in again if it would still
    /// stand: the log may have been away for long. One that would not stand is dropped, and its
    /// askers ask again. If the log has it after all, it counts all the same.
    pub(super) fn log_again(&mut self, call: &Call<'_>) {
        let due = self.logging.iter().filter(|(_, logging)| logging.due <= call.now);
        for request in due.map(|(request, _)| *request).collect::<Vec<_>>() {
            let time = self.clock.unwrap_or_default();
            let judge = self.judge(call, time, call.identity.node());
            if self.logging.get(&request).is_some_and(|logging| judge.stands(&logging.gmc)) {
                let Some(logging) = self.logging.get_mut(&request) else { continue };
                logging.due = call.now + LOG_PATIENCE;
                self.out.push_back(Output::Log(logging.record.clone()));
            } else if let Some(logging) = self.logging.remove(&request) {
                self.deny_all(&logging.askers, request, Reason::AwaitingAuthority);
                self.trace(format!("certificate for {} no longer stands", logging.gmc.member()));
            }
        }
    }

    fn judge<'a>(&'a self, call: &Call<'a>, time: UnixTime, from: NodeId) -> Judge<'a> {
        let (office, transcript) = (&self.office, call.transcript);
        Judge { office, transcript, time, skew_seconds: self.config.skew_seconds, from }
    }
}
