//! The sponsor's part: a member hands in the CSR of somebody who is not here, and enters the
//! admission that comes of it. A member does the same for itself when it renews its own
//! certificate.
//!
//! ```text
//! holder              sponsor                         voters
//!   |--CSR, by hand----->|----Open::Request------------->|  CSR and the certificate proposed for it
//!   |                    |<---Item::Approval-------------|  persisted, then ordered
//!   |                    |==Signer: Certify=============>|  the group's key signs: it coordinates, as a contact does for its guest
//!   |<--certificate------|====Item::Admit, ordered======>|  and enters it itself: no guest is there to hand it back
//! ```
//! If the same CSR is handed in at another member while it is open, that member becomes a sponsor
//! too.

use super::Requests;
use super::close::closed;
use super::open::Way;
use super::vote::proofs;
use crate::call::{Call, Out};
use crate::message::Reason;
use crate::pause::ENTRY_PATIENCE;
use crate::voting::{item, lacks_votes_only};
use crate::{AdmissionError, Closed, store};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, UnixTime};
use folkmoot_identity::{Csr, Gmc, GmcBody, Mode, Multi, Request, Scheme};
use folkmoot_transcript::{ItemError, Transcript, Uncounted};

/// `ADM-50`, `ADM-51`: whether a CSR can be granted in this group, and was neither granted nor
/// refused for good before.
pub(super) fn check_csr(transcript: &Transcript, request: &Request) -> Result<(), AdmissionError> {
    let Some(csr) = request.csr() else { return Ok(()) };
    let roster = transcript.roster();
    let member = csr.member();
    if roster.charter().holder_signs() {
        return Err(AdmissionError::PeerHolderSigns(member));
    }
    if roster.has_issued(&csr.serial()) {
        return Err(AdmissionError::PeerUsed(member));
    }
    Ok(())
}

impl Requests {
    /// A person here hands in a CSR.
    pub(crate) fn submit(
        &mut self,
        call: &Call<'_>,
        csr: &[u8],
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let csr = Csr::read(csr).map_err(AdmissionError::LocalCsr)?;
        let roster = call.transcript.roster();
        if roster.charter().holder_signs() {
            return Err(AdmissionError::LocalHolderSigns);
        }
        let same = self.open.of_member(&csr.member()).filter(|open| open.request.csr() == Some(&csr));
        if let Some(digest) = same.map(|open| open.request.digest()) {
            self.sponsor_too(&digest, out);
            return Ok(digest);
        }
        let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
        let size = u32::try_from(roster.len()).unwrap_or(u32::MAX);
        let body = GmcBody::propose_csr(roster.charter(), &csr, size, time);
        let body = body.over(roster.head());
        let request = Request::by_csr(csr, body).map_err(AdmissionError::LocalRequest)?;
        self.bring(call, request, out)
    }

    /// Takes the request of a new key for this member, which is not shown yet.
    pub(crate) fn take_own_key(
        &mut self,
        call: &Call<'_>,
        request: Request,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        if request.csr().is_some() {
            return Err(AdmissionError::LocalCsrStays);
        }
        let digest = request.digest();
        let way = Way { rotates: Some(call.me()), ..Way::default() };
        self.take_request(call, call.me(), (request, way), out)?;
        if let Some(open) = self.open.get_mut(&digest) {
            open.sponsored = true;
        }
        Ok(())
    }

    /// Where several sign together, and an authority signs besides: a word on a granted new key, in
    /// the form that certificates have there. Whoever reaches the authority hands it in with its
    /// own.
    pub(crate) fn say_own_key(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy, out: &mut Out) {
        let charter = call.transcript.roster().charter();
        if charter.scheme() != Scheme::Asm || charter.holder_signs() {
            return;
        }
        let granted = self.open.iter().find(|open| {
            let new = open.rotates.is_some() && !self.has_multi(&open.request.digest());
            new && open.enough(call.transcript).is_some()
        });
        let Some((request, expires)) = granted.map(|open| (open.request.digest(), open.expires)) else {
            return;
        };
        let said = (call.transcript.group(), request);
        let over = (call.transcript.state().head(), expires.min(call.longest()));
        match Multi::alone(call.identity, said, over, entropy) {
            Ok(multi) => drop(self.made.multis.insert(request, multi)),
            Err(error) => out.trace(format!("no word on the new key: {error}")),
        }
    }

    /// Nothing came of it.
    pub(crate) fn drop_own_key(&mut self, request: &Digest, out: &mut Out) {
        if let Some(open) = self.open.remove(request) {
            closed(&open, Closed::Overtaken, out);
        }
    }

    /// Whether this is the request of a new key for a member.
    pub(crate) fn rotates(&self, request: &Digest) -> bool {
        self.open.get(request).is_some_and(|open| open.rotates.is_some())
    }

    /// Takes a request of this member's and shows it to all.
    fn bring(&mut self, call: &Call<'_>, request: Request, out: &mut Out) -> Result<Digest, AdmissionError> {
        let digest = request.digest();
        self.take_request(call, call.me(), (request, Way::default()), out)?;
        self.show(&digest, out);
        Ok(digest)
    }

    /// Another member handed it in first. If that one is gone, we bring it.
    fn sponsor_too(&mut self, digest: &Digest, out: &mut Out) {
        let Some(open) = self.open.get_mut(digest).filter(|open| !open.sponsored) else { return };
        open.sponsored = true;
        out.persist(store::put_sponsored(digest));
        out.soon();
    }

    pub(crate) fn load_sponsored(&mut self, key: &[u8]) {
        let digest = key.strip_prefix(b"s").and_then(|digest| Digest::try_from(digest).ok());
        let open = digest.and_then(|digest| self.open.get_mut(&digest));
        if let Some(open) = open.filter(|open| open.request.csr().is_some()) {
            open.sponsored = true;
        }
    }

    /// A person here asks for a new certificate for this member, from now on for as long as the
    /// charter allows.
    pub(crate) fn renew(
        &mut self,
        call: &Call<'_>,
        entropy: &mut dyn Entropy,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let (me, roster) = (call.me(), call.transcript.roster());
        let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
        let held = roster.member(&me).ok_or(AdmissionError::LocalNotMember(me))?;
        if held.ends == UnixTime(u64::MAX) {
            return Err(AdmissionError::LocalEndless);
        }
        let size = u32::try_from(roster.len()).unwrap_or(u32::MAX);
        let body = GmcBody::propose(roster.charter(), call.identity, size, time, entropy);
        let body = body.over(roster.head());
        let request = Request::sign(call.identity, body).map_err(AdmissionError::LocalRequest)?;
        self.bring(call, request, out)
    }

    /// The certificate of a granted request that is ours to bring: as it was issued or, for our own
    /// renewal, as we sign it.
    fn finished(&self, call: &Call<'_>, digest: &Digest) -> Option<Bytes> {
        let open = self.open.get(digest).filter(|open| open.sponsored)?;
        if let Some(issued) = self.made.issued.get(digest) {
            return Some(issued.clone());
        }
        let roster = call.transcript.roster();
        let own = open.request.member() == call.me();
        let made = match roster.charter().scheme() {
            _ if !own || !roster.charter().holder_signs() => return None,
            Scheme::Asm => {
                Gmc::compose_multi(open.request.body(), self.made.multis.get(digest)?, call.identity)
            }
            _ => {
                let proofs = proofs(&open.enough(call.transcript)?);
                Gmc::compose(open.request.body(), &proofs, call.identity)
            }
        };
        made.ok().map(|gmc| gmc.der().clone())
    }

    /// `ADM-52`: has the granted certificate ordered until the transcript has it.
    pub(super) fn enter_sponsored(&mut self, call: &Call<'_>, digest: &Digest, out: &mut Out) {
        let Some(certificate) = self.finished(call, digest) else { return };
        let Some(open) = self.open.get_mut(digest).filter(|open| open.sponsored) else { return };
        if open.entered.is_some_and(|at| call.now.since(at) < ENTRY_PATIENCE) {
            return;
        }
        let here = call.transcript.set().admit(digest).is_some_and(|admit| {
            call.transcript.state().check_request(admit, call.transcript.time()).is_ok()
        });
        if open.rotates.is_some() && here {
            return;
        }
        open.entered = Some(call.now);
        let member = open.request.member();
        let how = if open.request.csr().is_some() { "by CSR" } else { "anew" };
        let rotates = open.rotates.is_some();
        let approvals = open.enough(call.transcript).unwrap_or_default();
        match call.transcript.make_admit(&certificate, &approvals) {
            Ok(item) => {
                out.trace(format!("item to admit {member} {how} handed over"));
                out.item(item);
            }
            // Another sponsor has entered it meanwhile.
            Err(ItemError::Late(Uncounted::Used)) => {}
            // It admits nobody: a decision takes it in place of the old key.
            Err(ItemError::Late(why)) if rotates && lacks_votes_only(&why) => {
                out.trace(format!("the certificate of the new key {member} handed over"));
                out.item(item(&certificate));
            }
            Err(error) => {
                out.trace(format!("admission of {member} {how} not entered: {error}"));
                self.give_up(call, digest);
            }
        }
    }

    /// If an authority signs, it gives a request one certificate for good. If that does not stand,
    /// nor a while later when items on their way have come, it never will. Our own renewal is
    /// then asked for again, as a guest asks. For a CSR nothing more can come.
    fn give_up(&mut self, call: &Call<'_>, digest: &Digest) {
        let central = call.transcript.roster().charter().mode() == Mode::Centralised;
        let Some(open) = self.open.get_mut(digest).filter(|_| central) else { return };
        if !core::mem::replace(&mut open.failed, true) {
            return;
        }
        if open.request.member() == call.me() {
            self.renew_anew = true;
        } else {
            self.made.denied.insert(*digest, Reason::Stale);
        }
    }

    /// Asks once more, after [`Self::give_up`].
    pub(crate) fn renew_anew(&mut self, call: &Call<'_>, entropy: &mut dyn Entropy, out: &mut Out) {
        if core::mem::take(&mut self.renew_anew)
            && let Err(error) = self.renew(call, entropy, out)
        {
            out.trace(format!("own renewal not asked for anew: {error}"));
        }
    }
}
