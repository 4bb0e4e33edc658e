//! What a certificate says to the rules, and whether the right keys have signed it.

use crate::{Admit, Approval, ItemError, Signed, State, admission};
use folkmoot_base::{Danger, Head, MemberId, UnixTime};
use folkmoot_identity::names::is_made;
use folkmoot_identity::{CertificateError, Gmc, Verdict, VoteKind};
use folkmoot_signing::{Mode, Scheme, VerifyingKey};

/// A certificate, read.
#[derive(Debug)]
pub(crate) struct Paper {
    pub(crate) gmc: Gmc,
    pub(crate) admit: Admit,
}

impl Paper {
    /// Reads a certificate (GMC, DER) of this group: its form, its holder's signature and name, and
    /// what the charter's scheme and mode ask of every certificate.
    ///
    /// # Errors
    /// [`ItemError::Certificate`], [`ItemError::Founder`].
    pub(crate) fn read(der: &[u8], state: &State) -> Result<Self, ItemError> {
        let gmc = Gmc::from_der(der).map_err(ItemError::Certificate)?;
        if gmc.is_founder() {
            return Err(ItemError::Founder(gmc.member()));
        }
        check_form(&gmc, state).map_err(ItemError::Certificate)?;
        let request = gmc.body().request_digest().map_err(ItemError::Certificate)?;
        let admit = Admit::of(&gmc, request);
        Ok(Self { gmc, admit })
    }

    /// Whether the group's key, where there is one, has signed what it must have signed. The key
    /// never changes, so this does not depend on the state, once the state has it.
    ///
    /// # Errors
    /// [`ItemError::Certificate`].
    pub(crate) fn check_key(&self, state: &State) -> Result<(), ItemError> {
        let charter = state.charter();
        if !charter.scheme().shared() || self.stands_alone() {
            return Ok(());
        }
        let sharing = state.sharing().ok_or(ItemError::Certificate(CertificateError::PeerGroupKey))?;
        let signed = match charter.mode() {
            Mode::Centralised => self.gmc.check_combined(&sharing.facts.key),
            Mode::Decentralised => self.gmc.check_issued(&sharing.facts.key),
        };
        signed.map_err(ItemError::Certificate)
    }

    /// Whether an authority let its holder in without anybody's approval.
    fn stands_alone(&self) -> bool {
        self.gmc.is_issued() && self.gmc.body().membership.votes.as_ref().is_some_and(Vec::is_empty)
    }

    /// The numbers of the bases of all that it carries.
    pub(crate) fn bases(&self) -> impl Iterator<Item = u64> {
        let group = self.gmc.group();
        let multi = self.gmc.multi().map(|multi| multi.body(group, VoteKind::Admit, self.admit.request).base);
        self.gmc.votes().iter().map(|vote| vote.base).chain(multi).map(|base| base.number)
    }

    /// The approvals that it carries, of voters whose keys are known, each verified. Others say
    /// nothing here.
    pub(crate) fn approvals<'a>(&self, key: impl Fn(&MemberId) -> Option<&'a VerifyingKey>) -> Vec<Signed> {
        let group = self.gmc.group();
        let of = |voter: MemberId, base: Head, turn: u32, expires: UnixTime| Approval {
            voter,
            base,
            subject: admission(self.admit.request),
            turn,
            verdict: Verdict::Approve,
            expires,
        };
        let mut all = Vec::new();
        for vote in self.gmc.votes() {
            let approval = of(vote.voter, vote.base, vote.turn, vote.expires);
            let signed = key(&vote.voter)
                .is_some_and(|key| crate::item::body(group, &approval).verify(key, &vote.signature).is_ok());
            if signed {
                all.push(Signed { approval, signature: Some(vote.signature.to_wire()) });
            }
        }
        if let Some(multi) = self.gmc.multi() {
            let body = multi.body(group, VoteKind::Admit, self.admit.request);
            if multi.verify_body(&body, &key).is_ok() {
                let each = multi.signers().iter().map(|voter| of(*voter, body.base, body.turn, body.expires));
                all.extend(each.map(|approval| Signed { approval, signature: None }));
            }
        }
        all
    }
}

/// What every certificate of this group has, whoever approved.
fn check_form(gmc: &Gmc, state: &State) -> Result<(), CertificateError> {
    let (said, charter) = (&gmc.body().membership, state.founding_charter());
    // `ADM-90`: on every way by which somebody comes in, where nobody votes too.
    is_made(gmc.name()).or_else(|why| match state.is(Danger::AdmissionAnyName) {
        true => Ok(()),
        false => Err(CertificateError::PeerName(why)),
    })?;
    let refuse = |what| Err(CertificateError::PeerCharter(what));
    if said.group != charter.group() || said.group_name != *charter.name() {
        return refuse("it is for another group");
    }
    if said.scheme != charter.scheme() {
        return refuse("it names another scheme");
    }
    if said.mode != charter.mode() {
        return refuse("it names another mode");
    }
    gmc.body().check_algorithm(charter)?;
    if charter.central().is_some_and(|central| central.speaks(&gmc.member())) {
        return refuse("its key speaks for the authority");
    }
    if let Some(central) = charter.central() {
        gmc.check_issued(central.certificate.key())?;
    }
    // Without a key of the group nobody verifies a signature that such a key is said to have made:
    // two certificates of one request would say different things.
    let by_key = gmc.issued().is_some() || gmc.combined().is_some();
    let multi = charter.scheme() == Scheme::Asm;
    if gmc.multi().is_some() != multi || (by_key && !charter.scheme().shared()) {
        return Err(CertificateError::PeerAuthority);
    }
    Ok(())
}
