//! `ID-97`: what a newcomer shows of who it is. Each member judges it by itself, when the request
//! comes and whenever somebody looks: it may run out, and the charter may recognise its signer no
//! more.

use super::open::Open;
use crate::call::{Call, Out};
use folkmoot_base::Danger;
use folkmoot_identity::{Endorsement, EndorsementError};

impl Open {
    /// What its endorsement says now, if it says anything.
    pub(super) fn endorsement(&self, call: &Call<'_>) -> Option<Endorsement> {
        self.way.endorsement.as_ref().and_then(|der| judge(call, self, &der.0).ok())
    }

    /// Drops an endorsement that says nothing: the request is heard as one without.
    pub(super) fn look_at_endorsement(&mut self, call: &Call<'_>, out: &mut Out) {
        let judged = self.way.endorsement.as_ref().map(|der| judge(call, self, &der.0));
        if let Some(Err(error)) = judged {
            out.trace(format!(
                "the certificate that {} shows does not count: {error}",
                self.request.member()
            ));
            self.way.endorsement = None;
        }
    }
}

fn judge(call: &Call<'_>, open: &Open, der: &[u8]) -> Result<Endorsement, EndorsementError> {
    let endorsement = Endorsement::read(der, call.transcript.roster().charter())?;
    if !call.config.danger.is(Danger::AdmissionAnyEndorsement) {
        let holder = (&open.request.member(), open.request.body().name.as_str());
        endorsement.check(holder, call.clock.unwrap_or_default(), call.config.skew_seconds)?;
    }
    Ok(endorsement)
}
