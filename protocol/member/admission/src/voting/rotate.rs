//! Another key for this member (LINE-09, LINE-49). The new key signs that it wants to be a
//! member's, the old key gives its word on that, and the voters decide on both at once, by a quorum
//! as on an expulsion. Who signs certificates decides how the new key asks.
//!
//! ```text
//! holders sign (plain, asm) Rotate --> its certificate without votes, ordered --> Proposal --> approvals, decision
//! a key of the group, or    Rotate --> Proposal, and its request shown --> approvals
//! an authority, signs       --> the certificate signed as any member's, ordered: it admits nobody by itself --> decision
//! ```

use super::Voting;
use crate::AdmissionError;
use crate::call::{Call, Out};
use bytes::Bytes;
use folkmoot_base::{Blob, Danger, Digest, MemberId};
use folkmoot_identity::{Gmc, GmcBody, Request};
use folkmoot_transcript::{
    Admit, Change, Effect, Item, ItemError, ROTATE_LABEL, Transcript, Uncounted, Unfit,
};
use std::collections::BTreeMap;

/// What waits for its certificate to have its place in the order.
#[derive(Debug)]
pub(super) struct Rotation {
    request: Digest,
    item: Bytes,
}

/// The requests of new keys that are open here, as the transcript's rules see them.
pub(crate) type Asked = BTreeMap<Digest, Admit>;

impl Voting {
    /// A person here has a new key, which has signed this certificate.
    pub(crate) fn rotate(
        &mut self,
        call: &Call<'_>,
        certificate: &[u8],
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let rotation = checked(call, certificate)?;
        if call.transcript.set().admit(&rotation.request).is_some() {
            return self.propose(call, effect(call, rotation.request), out);
        }
        out.item(rotation.item.clone());
        out.soon();
        let subject = effect(call, rotation.request).subject().digest;
        self.rotation = Some(rotation);
        Ok(subject)
    }

    /// The same where others sign the certificate: the new key asks for one.
    pub(crate) fn rotate_by_request(
        &mut self,
        call: &Call<'_>,
        request: &Request,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let asked = Admit::asked(request);
        let effect = effect(call, asked.request);
        self.asked.insert(asked.request, asked);
        self.propose(call, effect, out)
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

    /// The requests that open proposals of another key name, each with the member that it is for.
    pub(crate) fn rotating(&self, transcript: &Transcript) -> BTreeMap<Digest, MemberId> {
        let open = self.proposals.iter().map(|(_, one)| &one.effect);
        let said = transcript.set().effects().filter(|effect| !transcript.is_rejected(effect, None));
        let all = open.chain(said);
        let named = all.filter_map(|effect| match &effect.change {
            Change::Rotate { member, request, .. } => Some((*request, *member)),
            _ => None,
        });
        named.collect()
    }

    /// Which of them are open at the desk.
    pub(crate) fn note_asked(&mut self, asked: Asked) {
        self.asked = asked;
    }

    /// Whether an effect could be carried out now, given enough approvals. Of another key the
    /// certificate may have yet to be signed, and its request may be on its way.
    pub(super) fn stands(&self, call: &Call<'_>, effect: &Effect) -> Result<(), Unfit> {
        let Change::Rotate { member, request, .. } = &effect.change else {
            return call.transcript.would_stand(effect);
        };
        let others_sign = !call.transcript.roster().charter().holder_signs();
        match call.transcript.would_stand_with(effect, self.asked.get(request)) {
            Err(Unfit::Unsigned) => Ok(()),
            Err(Unfit::NoAdmit) if others_sign => {
                let here = call.transcript.state().roster().contains_key(member);
                let here = if here { Ok(()) } else { Err(Unfit::NotMember(*member)) };
                here.and_then(|()| call.transcript.state().may_rotate(member))
            }
            judged => judged,
        }
    }

    /// `ID-87`, `ID-88`: a program approves another key only where its certificate lacks nothing
    /// but votes and who signs it, and has the member's name: of term, group, base and name no
    /// person is asked.
    pub(super) fn check_approval(&self, call: &Call<'_>, effect: &Effect) -> Result<(), AdmissionError> {
        let Change::Rotate { member, request, .. } = &effect.change else { return Ok(()) };
        if call.config.danger.is(Danger::AdmissionAnyRotation) {
            return Ok(());
        }
        let refuse = |why| Err(AdmissionError::LocalDecision(why));
        let set = call.transcript.set();
        let Some(asked) = set.admit(request).or_else(|| self.asked.get(request)) else {
            return refuse(Unfit::NoAdmit);
        };
        check_name(call, member, &asked.name)?;
        if let Err(why) = self.stands(call, effect) {
            return refuse(why);
        }
        let late = set.late().find(|(admit, _)| admit.request == *request).map(|(_, why)| why.clone());
        let lacks = match late {
            Some(why) => lacks_votes_only(&why) || is_unsigned(&why),
            None => call
                .transcript
                .state()
                .check_request(asked, call.transcript.time())
                .map_or_else(|why| is_unsigned(&why), |()| true),
        };
        if lacks { Ok(()) } else { refuse(Unfit::NoAdmit) }
    }
}

/// Whether a certificate lacks nothing but votes.
pub(crate) fn lacks_votes_only(why: &Uncounted) -> bool {
    matches!(why, Uncounted::Policy(_) | Uncounted::Minority { .. })
}

/// Whether nothing is wrong with a request but that its certificate is not signed yet.
fn is_unsigned(why: &Uncounted) -> bool {
    matches!(why, Uncounted::Epoch | Uncounted::SharesStale { .. })
}

/// `ID-88`: another key is the same member's, under the same name: a vote on a key gives nobody
/// another's name.
fn check_name(call: &Call<'_>, member: &MemberId, name: &str) -> Result<(), AdmissionError> {
    let held = call.transcript.roster().member(member);
    if held.is_some_and(|held| held.name == name) {
        return Ok(());
    }
    Err(AdmissionError::LocalRotation("only under the name that it has"))
}

/// The old key's word covers group and request. A signature of one key on the same bytes is always
/// the same, so this is one effect, however often it is proposed.
fn effect(call: &Call<'_>, request: Digest) -> Effect {
    let covered = [&call.transcript.group().0[..], &request].concat();
    let signature = call.identity.key().sign_wire(ROTATE_LABEL, &covered);
    Change::Rotate { member: call.me(), request, signature }.into()
}

/// `ID-86`: whether this member could have the key that asks so.
pub(crate) fn check_key(call: &Call<'_>, request: &Digest, body: &GmcBody) -> Result<(), AdmissionError> {
    let (me, roster, member) = (call.me(), call.transcript.roster(), body.key.member_id());
    if !roster.is_member(&me) {
        return Err(AdmissionError::LocalNotMember(me));
    }
    call.transcript.state().may_rotate(&me).map_err(AdmissionError::LocalNoRotation)?;
    let algorithms = roster.charter().algorithms();
    algorithms.check_choice(body.key.algorithm()).map_err(AdmissionError::LocalAlgorithm)?;
    if roster.is_member(&member) || roster.is_used(request) {
        return Err(AdmissionError::LocalRotation("only for a key that is nobody's yet"));
    }
    if call.config.danger.is(Danger::AdmissionAnyRotation) {
        return Ok(());
    }
    check_name(call, &me, &body.name)
}

/// `ID-86`: the certificate is of this group, of a key of its own that nobody has yet, and admits
/// nobody by itself.
fn checked(call: &Call<'_>, certificate: &[u8]) -> Result<Rotation, AdmissionError> {
    let gmc = Gmc::from_der(certificate).map_err(AdmissionError::PeerCertificate)?;
    let request = gmc.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
    check_key(call, &request, gmc.body())?;
    let any = call.config.danger.is(Danger::AdmissionAnyRotation);
    let item = item(certificate);
    match call.transcript.check_admit(&item) {
        Err(ItemError::Late(why)) if any || lacks_votes_only(&why) => Ok(Rotation { request, item }),
        Ok(()) => Err(AdmissionError::LocalRotation("only for a key that does not get in by itself")),
        Err(error) => Err(AdmissionError::PeerItem(error)),
    }
}

/// The item of a certificate that nobody has approved as an admission.
pub(crate) fn item(certificate: &[u8]) -> Bytes {
    let certificate = Blob(Bytes::copy_from_slice(certificate));
    Bytes::from(Item::Admit { certificate, approvals: Vec::new() }.encode())
}
