//! Results of runs: shares that wait for a decision, certificates, multisignatures, lists.

use super::message::{Purpose, SignerBody};
use super::multi::take_multi;
use super::session::SigningSession;
use super::share::{Waiting, in_use};
use super::start::say;
use super::state::{Around, Signers};
use crate::call::Call;
use crate::requests::Requests;
use folkmoot_base::{Blob, Danger, Digest, Secret, digest};
use folkmoot_identity::{AuthorityBody, AuthorityCertificate, Gmc, Mode};
use folkmoot_signing::shared::{self, Outcome};

impl Signers {
    pub(super) fn take_outcome(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        session: &SigningSession,
        outcome: Outcome,
        around: &mut Around<'_>,
    ) {
        around.out.trace(format!("a signing session is done: {}", session.purpose.name()));
        match (&session.purpose, outcome) {
            (Purpose::Found { .. } | Purpose::Reshare { .. }, Outcome::Sharing { public, share }) => {
                self.take_sharing(call, public, share, around);
            }
            (Purpose::Authority { epoch, tbs }, Outcome::Signature(signature)) => {
                let sharing = self.shares.waiting_of(epoch).map(|waiting| digest(&[&waiting.public]));
                let body = AuthorityBody::from_tbs(&tbs.0);
                let made = body.and_then(|body| AuthorityCertificate::close(&body, &signature));
                match (sharing, made) {
                    (Some(name), Ok(made)) => self.shares.keep_authority(
                        call,
                        &name,
                        made.der().clone(),
                        around.entropy,
                        around.out,
                    ),
                    (_, made) => {
                        around.out.trace(format!("no certificate of the group's key: {:?}", made.err()))
                    }
                }
            }
            (Purpose::Certify { request }, Outcome::Signature(signature)) => {
                self.tell_signature(call, name, session, *request, signature, around);
            }
            (Purpose::Repair { holder }, Outcome::Sharing { public, share }) => {
                self.lost.remove(holder);
                self.take_repaired(call, &public, share, around);
            }
            (Purpose::Multi { .. }, Outcome::Signature(signature)) => {
                if session.coordinator == call.me() {
                    take_multi(call, session, &signature, around);
                }
            }
            (Purpose::Revoke { tbs }, Outcome::Signature(signature)) => {
                self.revoked.take(call, session, &tbs.0, &signature, around.out);
            }
            _ => around.out.trace("a run came to something else than its purpose"),
        }
        // The coordinator goes on at once, if there is anything to go on with: what the voters have
        // refused would only be made again.
        if session.coordinator == call.me() {
            if session.purpose.makes_sharing() && self.shares.next(call).is_some() {
                self.wanted = Some(call.now);
            }
            self.others.succeeded();
        }
    }

    /// A run gave another sharing.
    fn take_sharing(
        &mut self,
        call: &Call<'_>,
        public: Vec<u8>,
        share: Option<Secret<Vec<u8>>>,
        around: &mut Around<'_>,
    ) {
        let now = call.transcript.roster().sharing();
        let authority = now.map(|now| now.authority.clone());
        let scheme = call.transcript.roster().charter().scheme();
        let Ok(facts) = shared::facts(scheme, &public) else {
            return around.out.trace("a run came to no sharing");
        };
        let after = in_use(call.transcript.roster()).unwrap_or_default();
        let (public, since) = (public.into(), Some(call.now));
        let waiting = Waiting { facts, after, public, share, authority, anew: true, since };
        self.shares.keep_waiting(call, waiting, around.entropy, around.out);
    }

    /// One of them tells: the coordinator may have no share, and the guest may have another contact
    /// by now. A coordinator that took part need not be told.
    fn tell_signature(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        session: &SigningSession,
        request: Digest,
        signature: Vec<u8>,
        around: &mut Around<'_>,
    ) {
        let me = call.me();
        if session.coordinator == me {
            self.take_certificate(call, request, &signature, around);
        }
        let first = session.participants.as_ref().and_then(|participants| participants.givers.first());
        if first == Some(&me) {
            let body = SignerBody::Signed { request, signature: Blob::from(signature) };
            say(call, name, body, around.out);
        }
    }

    /// Anybody may tell it: one that stands ends our own session for it, one that does not changes
    /// nothing.
    pub(super) fn take_certificate(
        &mut self,
        call: &Call<'_>,
        request: Digest,
        signature: &[u8],
        around: &mut Around<'_>,
    ) {
        let Some(now) = call.transcript.roster().sharing() else { return };
        let Some(open) = around.requests.get(&request) else { return };
        if call.transcript.roster().charter().mode() == Mode::Centralised {
            return self.take_combined(call, request, signature, around);
        }
        if !awaits_certificate(call, &request, around.requests) {
            return;
        }
        let body = open.request.body().issued_under(epoch_of(call, now.facts.epoch));
        match Gmc::issue_by_group(&body, &now.facts.key, signature) {
            Ok(gmc) => {
                let (me, done) = (call.me(), Purpose::Certify { request });
                self.sessions.retain(|_, session| session.coordinator != me || session.purpose != done);
                around.requests.take_issued(call, request, gmc.der().clone(), around.out);
            }
            Err(error) => around.out.trace(format!("the group's signature does not stand: {error}")),
        }
    }
}

/// Whether a signature of the group's key on this request is still wanted here.
pub(super) fn awaits_certificate(call: &Call<'_>, request: &Digest, requests: &Requests) -> bool {
    let Some(open) = requests.get(request) else { return false };
    let central = call.transcript.roster().charter().mode() == Mode::Centralised;
    central || (requests.is_ours(open) && !requests.has_certificate(request))
}

/// The share-epoch that certificates name; the mutant's is none.
pub(super) fn epoch_of(call: &Call<'_>, now: Digest) -> Digest {
    if call.config.danger.is(Danger::AdmissionNoShareEpoch) { [0; 32] } else { now }
}
