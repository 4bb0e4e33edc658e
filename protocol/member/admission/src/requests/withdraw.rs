//! Requests that are taken back: by the guest over its link, or by a member that had asked for a
//! new certificate.

use super::Requests;
use super::close::closed;
use crate::call::{Call, Out};
use crate::message::{GuestMessage, OpenMessage, Reason, Withdrawal};
use crate::{AdmissionError, Closed};
use folkmoot_base::{Danger, Digest, NodeId};

impl Requests {
    /// `ADM-91`: a guest asks no more. It hears that this is known, also if it was known before.
    pub(super) fn guest_withdraws(
        &mut self,
        call: &Call<'_>,
        from: NodeId,
        withdrawal: Withdrawal,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let request = withdrawal.request;
        if self.open.get(&request).is_some_and(|open| open.request.member().node() != from) {
            return Err(AdmissionError::PeerNotHolder(from));
        }
        if self.open.get(&request).is_some() {
            self.withdrawn(call, &withdrawal, out)?;
            out.multicast(&OpenMessage::Withdrawn { withdrawal });
        }
        out.tell(from, &GuestMessage::Standing { request, have: 0, need: 0, reason: Reason::Withdrawn });
        Ok(())
    }

    /// `ADM-91`: the request of whoever signed this is closed.
    pub(crate) fn withdrawn(
        &mut self,
        call: &Call<'_>,
        withdrawal: &Withdrawal,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let Some(open) = self.open.get(&withdrawal.request) else { return Ok(()) };
        let believes = call.config.danger.is(Danger::AdmissionBelievesWithdrawals);
        if !believes && !withdrawal.is_by(&call.transcript.group(), &open.request.body().key) {
            return Err(AdmissionError::PeerWithdrawal);
        }
        if let Some(open) = self.open.remove(&withdrawal.request) {
            closed(&open, Closed::Withdrawn, out);
        }
        Ok(())
    }

    /// A person here takes back its own request for a new certificate.
    pub(crate) fn withdraw(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let open = self.open.get(request).ok_or(AdmissionError::LocalUnknown)?;
        if open.request.csr().is_some() {
            return Err(AdmissionError::LocalCsrStays);
        }
        if open.request.member() != call.me() {
            return Err(AdmissionError::LocalNotOurs);
        }
        let withdrawal = Withdrawal::sign(&call.transcript.group(), *request, call.identity);
        self.withdrawn(call, &withdrawal, out)?;
        out.multicast(&OpenMessage::Withdrawn { withdrawal });
        Ok(*request)
    }
}
