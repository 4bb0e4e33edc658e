//! If the charter's scheme is `asm`, those who said yes to a request make one signature on it.
//! There is no share and no key of the group. As many take part as the charter asks for, of those
//! who voted yes themselves.

use super::message::{Purpose, Wording};
use super::session::SigningSession;
use crate::call::Call;
use crate::desk::Desk;
use folkmoot_base::{Danger, Digest, Entropy, MemberId};
use folkmoot_identity::{Multi, VerifyingKey};
use folkmoot_signing::RunId;
use folkmoot_signing::shared::AnyRun;
use folkmoot_transcript::Approval;

impl Desk {
    /// The contact has those who said yes sign for its guests. If an authority signs and nothing
    /// comes of that, any member that reaches the authority does so.
    pub(crate) fn coordinate_multis(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy) {
        let me = call.me();
        let at_work = |request: &Digest| {
            self.signers.sessions.values().any(|session| {
                let same = matches!(&session.purpose, Purpose::Multi { request: at, .. } if at == request);
                same && session.coordinator == me
            })
        };
        let ours = self.requests.iter().filter(|open| self.authority.coordinates(&self.requests, open));
        let ours = ours.filter_map(|open| {
            let request = open.request.digest();
            let starting = self.signers.starting.contains_key(&request);
            let done = starting || self.requests.has_multi(&request) || at_work(&request);
            open.enough_of(call.transcript, |approval| self.may_sign(call, approval)).filter(|_| !done)?;
            // No participant may find that it outlasts its own vote.
            let given = open.approvals(call.transcript).into_iter().map(|signed| &signed.approval);
            let fit: Vec<&Approval> = given.filter(|approval| self.may_sign(call, approval)).collect();
            let expires = fit.iter().map(|approval| approval.expires).min()?;
            let turn = fit.iter().map(|approval| approval.turn).max()?;
            let base = call.transcript.state().head();
            Some(Purpose::Multi { request, wording: Wording { base, turn, expires } })
        });
        let ours: Vec<Purpose> = ours.collect();
        for purpose in ours {
            self.start_session(call, purpose, entropy);
        }
    }

    /// Whether a coordinator would have the voter of this vote sign: it was not proven to lie, and
    /// its vote has not run out.
    fn may_sign(&self, call: &Call<'_>, approval: &Approval) -> bool {
        !self.signers.liars.contains_key(&approval.voter) && approval.expires >= call.early()
    }

    /// `ADM-49`: this member signs what its own vote says, in no lower turn, over a decision that
    /// is on its line, and nothing that lasts longer.
    pub(crate) fn said_yes(&self, call: &Call<'_>, request: &Digest, wording: &Wording) -> bool {
        let me = call.me();
        if self.signs_unasked(call) {
            return call.transcript.roster().may_vote(&me) && self.requests.get(request).is_some();
        }
        let own = self.requests.get(request).and_then(|open| open.said(call.transcript, &me));
        let yes =
            own.is_some_and(|own| own.is_yes() && own.expires >= wording.expires && own.turn <= wording.turn);
        let on_line = call.transcript.state().has_on_line(&wording.base);
        yes && on_line && call.transcript.roster().may_vote(&me)
    }

    /// The mutant whose machines sign what nobody there approved.
    pub(super) fn signs_unasked(&self, call: &Call<'_>) -> bool {
        call.config.danger.is(Danger::AdmissionSignsUnasked)
    }

    /// This member's part in the run of these signers. If it coordinates and is not one of them, it
    /// only listens.
    pub(crate) fn sign_multi(
        &self,
        call: &Call<'_>,
        id: RunId,
        signers: &[MemberId],
        (request, wording): (&Digest, &Wording),
    ) -> Option<AnyRun> {
        self.requests.get(request)?;
        let body = wording.body(call.transcript.group(), *request);
        let roster = call.transcript.roster();
        let keys: Vec<&VerifyingKey> =
            signers.iter().map(|signer| roster.voter_key(signer)).collect::<Option<_>>()?;
        if !signers.contains(&call.me()) {
            return Multi::watch(id, &keys, &body).ok();
        }
        let willing = self.said_yes(call, request, wording);
        willing.then(|| Multi::signer(id, call.identity, &keys, &body).ok()).flatten()
    }

    /// The coordinator takes the run's result and passes it on to the guest.
    pub(crate) fn take_multi(&mut self, call: &Call<'_>, session: &SigningSession, signature: &[u8]) {
        let Purpose::Multi { request, wording } = &session.purpose else { return };
        let roster = call.transcript.roster();
        if self.requests.get(request).is_none() {
            return;
        }
        // The run has checked each part against its signer's key. For the whole, only whether these
        // still vote needs a check.
        let votes = |multi: &Multi| multi.signers().iter().all(|signer| roster.voter_key(signer).is_some());
        match Multi::new(wording.base, wording.turn, wording.expires, signature) {
            Ok(multi) if !votes(&multi) => self.out.trace("a signer votes no more"),
            Ok(multi) => {
                self.requests.take_multi(call, *request, multi, &mut self.out);
            }
            Err(error) => self.out.trace(format!("the multisignature does not stand: {error}")),
        }
    }
}
