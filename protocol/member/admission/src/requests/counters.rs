//! How many messages of guests came, and how many were refused, by rule.

use crate::AdmissionError;

/// Messages of guests so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// All that came, refused or not.
    pub heard: u64,
    /// `ADM-01` Not an admission message.
    pub malformed: u64,
    /// `ADM-02` A request that does not verify.
    pub forged: u64,
    /// `ADM-03` The request or certificate of someone else.
    pub not_holder: u64,
    /// `ADM-04` A request that does not fit the group or the charter.
    pub unfit: u64,
    /// `ADM-07` A request for which there was no room.
    pub full: u64,
    /// `ADM-08` More messages than a guest may send.
    pub too_often: u64,
    /// `ADM-17` An older request than the one that is open.
    pub older: u64,
    /// `ADM-26` Another request, too soon after the one that is open.
    pub too_soon: u64,
    /// By any other rule.
    pub other: u64,
}

impl Counters {
    pub(super) fn count(&mut self, result: &Result<(), AdmissionError>) {
        self.heard = self.heard.saturating_add(1);
        let counter = match result {
            Ok(()) => return,
            Err(AdmissionError::WireMalformed(_)) => &mut self.malformed,
            Err(AdmissionError::WireRequest(_)) => &mut self.forged,
            Err(AdmissionError::PeerNotHolder(_)) => &mut self.not_holder,
            Err(AdmissionError::PeerCharter(_)) => &mut self.unfit,
            Err(AdmissionError::PeerTooManyRequests) => &mut self.full,
            Err(AdmissionError::PeerTooOften(_)) => &mut self.too_often,
            Err(AdmissionError::PeerOlder(_)) => &mut self.older,
            Err(AdmissionError::PeerTooSoon(_)) => &mut self.too_soon,
            Err(_) => &mut self.other,
        };
        *counter = counter.saturating_add(1);
    }
}
