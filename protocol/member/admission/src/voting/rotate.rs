//! Another key for this member (LINE-09, LINE-49). The new key has signed a certificate that nobody
//! has voted on: it stands in the set and admits nobody. The old key gives its word on it, and the
//! voters decide on both at once, by a quorum as on an expulsion.
//!
//! ```text
//! Rotate --> the certificate's item, ordered --> Proposal, with the old key's word --> approvals, decision
//! ```

use super::Voting;
use crate::AdmissionError;
use crate::call::{Call, Out};
use bytes::Bytes;
use folkmoot_base::{Blob, Danger, Digest};
use folkmoot_identity::{Gmc, Scheme};
use folkmoot_transcript::{Change, Effect, Item, ItemError, ROTATE_LABEL, Uncounted, Unfit};

/// What waits for its certificate to have its place in the order.
#[derive(Debug)]
pub(super) struct Rotation {
    request: Digest,
    item: Bytes,
}

impl Voting {
    /// A person here has a new key, which has signed this certificate.
    pub(crate) fn rotate(
        &mut self,
        call: &Call<'_>,
        certificate: &[u8],
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let rotation = checked(call, certificate)?;
        if call.transcript.set().admit(&rotation.request).is_some() {
            return self.propose(call, effect(call, rotation.request), out);
        }
        out.item(rotation.item.clone());
        out.soon();
        self.rotation = Some(rotation);
        Ok(())
    }

    /// The transcript has taken something: perhaps the certificate.
    pub(crate) fn go_on_rotating(&mut self, call: &Call<'_>, out: &mut Out) {
        let there = |one: &mut Rotation| call.transcript.set().admit(&one.request).is_some();
        let Some(rotation) = self.rotation.take_if(there) else { return };
        if let Err(error) = self.propose(call, effect(call, rotation.request), out) {
            out.trace(format!("another key is not proposed: {error}"));
        }
    }

    pub(super) fn resend_rotation(&self, out: &mut Out) {
        if let Some(rotation) = &self.rotation {
            out.item(rotation.item.clone());
        }
    }
}

/// `ID-87`: a program approves another key only where the certificate lacks nothing but votes: of
/// its term, its group and its base no person is asked.
pub(super) fn check_approval(call: &Call<'_>, effect: &Effect) -> Result<(), AdmissionError> {
    let Change::Rotate { request, .. } = &effect.change else { return Ok(()) };
    let why = call.transcript.set().late().find(|(admit, _)| admit.request == *request);
    match why {
        Some((_, why)) if lacks_votes_only(call, why) => Ok(()),
        _ => Err(AdmissionError::LocalDecision(Unfit::NoAdmit)),
    }
}

fn lacks_votes_only(call: &Call<'_>, why: &Uncounted) -> bool {
    matches!(why, Uncounted::Policy(_) | Uncounted::Minority { .. })
        || call.config.danger.is(Danger::AdmissionAnyRotation)
}

/// The old key's word covers group and request. A signature of one key on the same bytes is always
/// the same, so this is one effect, however often it is proposed.
fn effect(call: &Call<'_>, request: Digest) -> Effect {
    let covered = [&call.transcript.group().0[..], &request].concat();
    let signature = call.identity.key().sign_wire(ROTATE_LABEL, &covered);
    Change::Rotate { member: call.me(), request, signature }.into()
}

/// `ID-86`: the certificate is of this group, of a key of its own that nobody has yet, and admits
/// nobody by itself; and the scheme lets its holder sign.
fn checked(call: &Call<'_>, certificate: &[u8]) -> Result<Rotation, AdmissionError> {
    let roster = call.transcript.roster();
    let charter = roster.charter();
    if !roster.is_member(&call.me()) {
        return Err(AdmissionError::LocalNotMember(call.me()));
    }
    if charter.scheme() != Scheme::Plain || !charter.holder_signs() {
        return Err(AdmissionError::LocalRotation("only in a group of scheme plain without an authority"));
    }
    let gmc = Gmc::from_der(certificate).map_err(AdmissionError::PeerCertificate)?;
    let request = gmc.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
    if roster.is_member(&gmc.member()) || roster.is_used(&request) {
        return Err(AdmissionError::LocalRotation("only for a key that is nobody's yet"));
    }
    let certificate = Blob(Bytes::copy_from_slice(certificate));
    let item = Bytes::from(Item::Admit { certificate, approvals: Vec::new() }.encode());
    match call.transcript.check_admit(&item) {
        Err(ItemError::Late(why)) if lacks_votes_only(call, &why) => Ok(Rotation { request, item }),
        Ok(()) => Err(AdmissionError::LocalRotation("only for a key that does not get in by itself")),
        Err(error) => Err(AdmissionError::PeerItem(error)),
    }
}
