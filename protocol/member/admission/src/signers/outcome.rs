//! Results of runs: shares that wait for a decision, certificates, multisignatures, lists.

use super::message::{Purpose, SignerBody};
use super::session::SigningSession;
use super::share::Waiting;
use super::share::in_use;
use crate::call::Call;
use crate::desk::Desk;
use folkmoot_base::{Blob, Danger, Digest, Entropy, digest};
use folkmoot_identity::{AuthorityBody, AuthorityCertificate, Gmc, Mode};
use folkmoot_signing::shared::{self, Outcome};

impl Desk {
    pub(super) fn take_outcome(
        &mut self,
        call: &Call<'_>,
        name: Digest,
        session: &SigningSession,
        outcome: Outcome,
        entropy: &mut dyn Entropy,
    ) {
        self.out.trace(format!("a signing session is done: {}", session.purpose.name()));
        match (&session.purpose, outcome) {
            (Purpose::Found { .. } | Purpose::Reshare { .. }, Outcome::Sharing { public, share }) => {
                let now = call.transcript.roster().sharing();
                let authority = now.map(|now| now.authority.clone());
                let scheme = call.transcript.roster().charter().scheme();
                let Ok(facts) = shared::facts(scheme, &public) else {
                    return self.out.trace("a run came to no sharing");
                };
                let after = in_use(call.transcript.roster()).unwrap_or_default();
                let waiting = Waiting { facts, after, public: public.into(), share, authority };
                self.signers.shares.keep_waiting(call, waiting, entropy, &mut self.out);
            }
            (Purpose::Authority { epoch, tbs }, Outcome::Signature(signature)) => {
                let sharing = self.signers.shares.waiting_of(epoch).map(|waiting| digest(&[&waiting.public]));
                let body = AuthorityBody::from_tbs(&tbs.0);
                let made = body.and_then(|body| AuthorityCertificate::close(&body, &signature));
                match (sharing, made) {
                    (Some(name), Ok(made)) => self.signers.shares.keep_authority(
                        call,
                        &name,
                        made.der().clone(),
                        entropy,
                        &mut self.out,
                    ),
                    (_, made) => {
                        self.out.trace(format!("no certificate of the group's key: {:?}", made.err()))
                    }
                }
            }
            (Purpose::Certify { request }, Outcome::Signature(signature)) => {
                self.tell_signature(call, name, session, *request, signature);
            }
            (Purpose::Multi { .. }, Outcome::Signature(signature)) => {
                if session.coordinator == call.me() {
                    self.take_multi(call, session, &signature);
                }
            }
            (Purpose::Revoke { tbs }, Outcome::Signature(signature)) => {
                self.signers.revoked.take(call, session, &tbs.0, &signature, &mut self.out);
            }
            _ => self.out.trace("a run came to something else than its purpose"),
        }
        // The coordinator goes on at once.
        if session.coordinator == call.me() {
            if session.purpose.makes_sharing() {
                self.signers.wanted = Some(call.now);
            }
            self.signers.silent.clear();
            self.signers.failures.clear();
        }
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
    ) {
        let me = call.me();
        if session.coordinator == me {
            self.take_certificate(call, request, &signature);
        }
        let first = session.participants.as_ref().and_then(|participants| participants.givers.first());
        if first == Some(&me) {
            let body = SignerBody::Signed { request, signature: Blob::from(signature) };
            self.say_to_signers(call, name, body);
        }
    }

    /// Whether a signature of the group's key on this request is still wanted here.
    pub(super) fn awaits_certificate(&self, call: &Call<'_>, request: &Digest) -> bool {
        let Some(open) = self.requests.get(request) else { return false };
        let central = call.transcript.roster().charter().mode() == Mode::Centralised;
        central || (self.requests.is_ours(open) && !self.requests.has_certificate(request))
    }

    /// Anybody may tell it: one that stands ends our own session for it, one that does not changes
    /// nothing.
    pub(super) fn take_certificate(&mut self, call: &Call<'_>, request: Digest, signature: &[u8]) {
        let Some(now) = call.transcript.roster().sharing() else { return };
        let Some(open) = self.requests.get(&request) else { return };
        if call.transcript.roster().charter().mode() == Mode::Centralised {
            return self.take_combined(call, request, signature);
        }
        if !self.awaits_certificate(call, &request) {
            return;
        }
        let body = open.request.body().issued_under(self.epoch_of(call, now.facts.epoch));
        match Gmc::issue_by_group(&body, &now.facts.key, signature) {
            Ok(gmc) => {
                let (me, done) = (call.me(), Purpose::Certify { request });
                self.signers
                    .sessions
                    .retain(|_, session| session.coordinator != me || session.purpose != done);
                self.requests.take_issued(call, request, gmc.der().clone(), &mut self.out);
            }
            Err(error) => self.out.trace(format!("the group's signature does not stand: {error}")),
        }
    }

    /// The share-epoch that certificates name; the mutant's is none.
    pub(super) fn epoch_of(&self, call: &Call<'_>, now: Digest) -> Digest {
        if call.config.danger.is(Danger::AdmissionNoShareEpoch) { [0; 32] } else { now }
    }
}
