//! If the charter's scheme is `asm`, those who said yes to a request make one signature on it.
//! There is no share and no key of the group. As many take part as the charter asks for, of those
//! who voted yes themselves.

use super::message::{Purpose, Wording};
use super::session::SigningSession;
use super::state::{Around, Signers};
use crate::call::Call;
use crate::requests::Requests;
use folkmoot_base::{Danger, Digest, MemberId};
use folkmoot_identity::{Multi, VerifyingKey};
use folkmoot_signing::RunId;
use folkmoot_signing::shared::AnyRun;
use folkmoot_transcript::Approval;

impl Signers {
    /// The contact has those who said yes sign for its guests. If an authority signs and nothing
    /// comes of that, any member that reaches the authority does so.
    pub(super) fn coordinate_multis(&mut self, call: &Call<'_>, around: &mut Around<'_>) {
        let me = call.me();
        let at_work = |request: &Digest| {
            self.sessions.values().any(|session| {
                let same = matches!(&session.purpose, Purpose::Multi { request: at, .. } if at == request);
                same && session.coordinator == me
            })
        };
        let ours = around.requests.iter().filter(|open| around.authority.coordinates(around.requests, open));
        let ours = ours.filter_map(|open| {
            let request = open.request.digest();
            let starting = self.starting.contains_key(&request);
            let done = starting || around.requests.has_multi(&request) || at_work(&request);
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
            self.start_session(call, purpose, around);
        }
    }

    /// Whether a coordinator would have the voter of this vote sign: it was not proven to lie, and
    /// its vote has not run out.
    fn may_sign(&self, call: &Call<'_>, approval: &Approval) -> bool {
        !self.others.lied(&approval.voter) && approval.expires >= call.early()
    }
}

/// `ADM-49`: this member signs what its own vote says, in no lower turn, over a decision that
/// is on its line, and nothing that lasts longer.
pub(super) fn said_yes(call: &Call<'_>, request: &Digest, wording: &Wording, requests: &Requests) -> bool {
    let me = call.me();
    if signs_unasked(call) {
        return call.transcript.roster().may_vote(&me) && requests.get(request).is_some();
    }
    let own = requests.get(request).and_then(|open| open.said(call.transcript, &me));
    let yes =
        own.is_some_and(|own| own.is_yes() && own.expires >= wording.expires && own.turn <= wording.turn);
    let on_line = call.transcript.state().has_on_line(&wording.base);
    yes && on_line && call.transcript.roster().may_vote(&me)
}

/// The mutant whose machines sign what nobody there approved.
pub(super) fn signs_unasked(call: &Call<'_>) -> bool {
    call.config.danger.is(Danger::AdmissionSignsUnasked)
}

/// This member's part in the run of these signers. If it coordinates and is not one of them, it
/// only listens.
pub(super) fn sign_multi(
    call: &Call<'_>,
    id: RunId,
    signers: &[MemberId],
    (request, wording): (&Digest, &Wording),
    requests: &Requests,
) -> Option<AnyRun> {
    requests.get(request)?;
    let body = wording.body(call.transcript.group(), *request);
    let roster = call.transcript.roster();
    let keys: Vec<&VerifyingKey> =
        signers.iter().map(|signer| roster.voter_key(signer)).collect::<Option<_>>()?;
    if !signers.contains(&call.me()) {
        return Multi::watch(id, &keys, &body).ok();
    }
    let willing = said_yes(call, request, wording, requests);
    willing.then(|| Multi::signer(id, call.identity, &keys, &body).ok()).flatten()
}

/// The coordinator takes the run's result and passes it on to the guest.
pub(super) fn take_multi(
    call: &Call<'_>,
    session: &SigningSession,
    signature: &[u8],
    around: &mut Around<'_>,
) {
    let Purpose::Multi { request, wording } = &session.purpose else { return };
    // The run has checked each part against its signer's key.
    match Multi::new(wording.base, wording.turn, wording.expires, signature) {
        Ok(multi) => around.requests.take_multi(call, *request, multi, around.out),
        Err(error) => around.out.trace(format!("the multisignature does not stand: {error}")),
    }
}
