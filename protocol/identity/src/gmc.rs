//! The group membership certificate: X.509v3. Its holder signs it, and the votes inside are its
//! authority, or one multisignature of the voters in their place. If the charter's scheme gives the
//! group a key of its own, that key signs it.
//!
//! [`crate::Membership`] is the extension that says so.
//!
//! Votes are on the request digest: SHA-256("folkmoot request v1" ‖ 00 ‖ TBSCertificate with
//! `votes` empty).

mod body;

pub use body::{GmcBody, Grounds};

pub(crate) use body::REQUEST_DOMAIN;

use crate::certificate::{certificate_pem, check_term};
use crate::envelope;
use crate::issuer::{Issuer, key_id};
use crate::membership::Combined;
use crate::{CertificateError, Charter, Identity, Multi, VoteKind, VoteProof};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, GroupId, MemberId, NodeId, UnixTime, limits};
use folkmoot_signing::{GroupKey, Scheme, VerifyingKey};
use std::collections::BTreeSet;

/// Longest membership certificate, in bytes of DER: it must fit an item of the transcript.
pub const GMC_BYTES_MAX: usize = limits::ENTRY_BYTES_MAX - 1024;

/// A membership certificate in its one form, signed by its holder. [`Self::check_authority`] judges
/// its authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gmc {
    der: Bytes,
    body: GmcBody,
    issuer: Issuer,
    /// The holder's, verified; or, if a group has issued the certificate, its key's, not yet
    /// verified.
    signature: Vec<u8>,
}

impl Gmc {
    /// Composes the certificate from the proposed body and the votes (sorted here), signed by its
    /// holder.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`]; [`CertificateError::LocalValue`] for a voter twice or
    /// too many votes.
    pub fn compose(
        body: &GmcBody,
        votes: &[VoteProof],
        identity: &Identity,
    ) -> Result<Self, CertificateError> {
        let mut body = body.clone();
        let mut votes = votes.to_vec();
        votes.sort_by_key(|vote| vote.voter);
        body.membership.votes = Some(votes);
        Self::issue(body, identity)
    }

    /// Composes the certificate from the proposed body and the multisignature of the voters, signed
    /// by its holder.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`]; [`CertificateError::LocalValue`] if it is too long.
    pub fn compose_multi(
        body: &GmcBody,
        multi: &Multi,
        identity: &Identity,
    ) -> Result<Self, CertificateError> {
        let mut body = body.clone();
        body.membership.votes = None;
        body.membership.multi = Some(multi.clone());
        Self::issue(body, identity)
    }

    /// The certificate of a new key for a member, which nobody has approved: it admits nobody by
    /// itself. `identity` has the new key.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`]; [`CertificateError::LocalValue`] if it is too long.
    pub fn compose_bare(
        body: &GmcBody,
        identity: &Identity,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, CertificateError> {
        if body.membership.scheme != Scheme::Asm {
            return Self::compose(body, &[], identity);
        }
        let said = (body.membership.group, body.request_digest()?);
        let multi = Multi::alone(identity, said, (body.membership.base, body.not_after), entropy);
        Self::compose_multi(body, &multi.map_err(|_| CertificateError::PeerMulti)?, identity)
    }

    /// The certificate with the signature that the group's key, or its authority's, made over
    /// [`GmcBody::issued_tbs`].
    ///
    /// # Errors
    /// [`CertificateError::PeerSignature`] if it is not; [`CertificateError::LocalValue`] if the
    /// body is not to be issued.
    pub fn issue_by_group(
        body: &GmcBody,
        key: &GroupKey,
        signature: &[u8],
    ) -> Result<Self, CertificateError> {
        let issuer = Issuer::group(body.membership.group_name.as_str(), key);
        let gmc = Self::from_der(&body.envelope_by(issuer)?.close(signature)?)?;
        gmc.check_issued(key)?;
        Ok(gmc)
    }

    /// Whether `key`, the group's or its authority's, has signed it.
    ///
    /// # Errors
    /// [`CertificateError::PeerSignature`].
    pub fn check_issued(&self, key: &GroupKey) -> Result<(), CertificateError> {
        let named = matches!(&self.issuer, Issuer::Group { kind, key_id: id, .. }
            if *kind == key.kind() && *id == key_id(key));
        let tbs = self.body.envelope_by(self.issuer.clone())?.tbs()?;
        if !named || key.verify_raw(&tbs, &self.signature).is_err() {
            return Err(CertificateError::PeerSignature);
        }
        Ok(())
    }

    /// A founder's certificate: the charter's digest in place of votes.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotFounder`] if the charter does not name `identity`.
    pub fn found(
        charter: &Charter,
        identity: &Identity,
        not_before: UnixTime,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, CertificateError> {
        let size = u32::try_from(charter.founders().len()).unwrap_or(u32::MAX);
        let mut body = GmcBody::propose(charter, identity, size, not_before, entropy);
        body.membership.votes = None;
        body.check_charter(charter)?;
        Self::issue(body, identity)
    }

    /// Reads and verifies form and holder's signature. Does not judge whether the votes stand.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let (envelope, signature) = envelope::open(der, GMC_BYTES_MAX)?;
        let body = GmcBody::from_envelope(&envelope)?;
        if envelope.issuer == Issuer::Own && body.membership.is_by_authority() {
            return Err(CertificateError::WireProfile("its issuer is wrong"));
        }
        Ok(Self { der: Bytes::copy_from_slice(der), body, issuer: envelope.issuer, signature })
    }

    /// Whether the charter's authority has signed it, if the mode says that one does (`ID-68`).
    ///
    /// # Errors
    /// [`CertificateError::PeerCharter`], [`CertificateError::PeerSignature`].
    pub fn check_central(&self, charter: &Charter) -> Result<(), CertificateError> {
        self.body.check_charter(charter)?;
        match charter.central() {
            Some(central) if !self.is_founder() => self.check_issued(central.certificate.key()),
            _ => Ok(()),
        }
    }

    /// Whether the group's key has signed the request that this certificate grants.
    ///
    /// # Errors
    /// [`CertificateError::PeerAuthority`] without such a signature,
    /// [`CertificateError::PeerSignature`].
    pub fn check_combined(&self, key: &GroupKey) -> Result<(), CertificateError> {
        let combined = self.combined().ok_or(CertificateError::PeerAuthority)?;
        let message = self.body.combined_message(&combined.epoch)?;
        key.verify_raw(&message, &combined.signature).map_err(|_| CertificateError::PeerSignature)
    }

    /// Whether the certificate stands under `charter` (as changed so far). It must fit the charter
    /// and carry the votes that the charter asks for, each by one of `voters`, or their
    /// multisignature if that is the charter's scheme. For a founder, the charter must name its
    /// key. No clock and no line: the transcript judges bases, the expiry of votes and the term
    /// (`LINE-10` to `LINE-31`). No quorum: if the charter forbids a minority to admit, that takes
    /// the electorate, which only the transcript has (`LINE-25`); the charter names only the
    /// founders.
    ///
    /// # Errors
    /// [`CertificateError`], `Peer…`.
    pub fn check_authority<'a>(
        &self,
        charter: &Charter,
        voters: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), CertificateError> {
        let need = usize::try_from(charter.threshold()).unwrap_or(usize::MAX);
        self.check_authority_of(charter, need, voters)
    }

    /// The same, if so many votes are needed: fewer than the threshold, if there are fewer voters
    /// and the charter resets it then. Only somebody who knows the voters can say
    /// (`Roster::threshold`).
    ///
    /// # Errors
    /// [`CertificateError`], `Peer…`.
    pub fn check_authority_of<'a>(
        &self,
        charter: &Charter,
        need: usize,
        voters: impl Fn(&MemberId) -> Option<&'a VerifyingKey>,
    ) -> Result<(), CertificateError> {
        self.check_central(charter)?;
        if self.body.membership.issued.is_some() || self.combined().is_some() {
            return Err(CertificateError::PeerGroupKey);
        }
        if self.is_founder() {
            return Ok(());
        }
        if self.multi().is_some() != (charter.scheme() == Scheme::Asm) {
            return Err(CertificateError::PeerAuthority);
        }
        let yes: BTreeSet<MemberId> = self.approvals().into_iter().map(|(voter, _)| voter).collect();
        charter.policies().let_in(Some(&self.member()), &yes, need)?;
        let (group, request) = (self.group(), self.body.request_digest()?);
        if let Some(multi) = self.multi() {
            return multi.verify_body(&multi.body(group, VoteKind::Admit, request), voters);
        }
        for vote in self.votes() {
            let key = voters(&vote.voter).ok_or(CertificateError::PeerNotVoter(vote.voter))?;
            vote.verify(group, request, key).map_err(|_| CertificateError::PeerVote(vote.voter))?;
        }
        Ok(())
    }

    /// Whether the term holds at `time`, give or take `skew_seconds`.
    ///
    /// # Errors
    /// [`CertificateError::PeerNotYet`], [`CertificateError::PeerEnded`].
    pub fn check_term(&self, time: UnixTime, skew_seconds: u64) -> Result<(), CertificateError> {
        check_term(self.body.not_before, self.body.not_after, time, skew_seconds)
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        &self.der
    }

    /// The PEM form.
    pub fn to_pem(&self) -> String {
        certificate_pem(&self.der)
    }

    /// Everything it says.
    pub fn body(&self) -> &GmcBody {
        &self.body
    }

    /// Whether it rests on the charter itself instead of votes.
    pub fn is_founder(&self) -> bool {
        self.body.membership.is_founders()
    }

    /// The share-epoch of the group's key that issued it, if one did.
    pub fn issued(&self) -> Option<Digest> {
        self.body.membership.issued
    }

    /// The signature of the group's key on its request, if it rests on one.
    pub fn combined(&self) -> Option<&Combined> {
        self.body.membership.combined.as_ref()
    }

    /// Whether somebody other than its holder signed it: the group's key, or its authority's.
    pub fn is_issued(&self) -> bool {
        self.issuer != Issuer::Own
    }

    /// The multisignature of the voters, if it rests on one.
    pub fn multi(&self) -> Option<&Multi> {
        self.body.membership.multi.as_ref()
    }

    /// Who approved, by vote or multisignature, and until when that counts; empty for a founder,
    /// and if the group's key has signed.
    pub fn approvals(&self) -> Vec<(MemberId, UnixTime)> {
        let votes = self.votes().iter().map(|vote| (vote.voter, vote.expires));
        let multi = self.multi().into_iter();
        let signed = multi.flat_map(|multi| multi.signers().iter().map(|signer| (*signer, multi.expires())));
        votes.chain(signed).collect()
    }

    /// The votes; empty for a founder, and if something else stands in their place.
    pub fn votes(&self) -> &[VoteProof] {
        self.body.membership.votes.as_deref().unwrap_or_default()
    }

    /// The holder's key.
    pub fn key(&self) -> &VerifyingKey {
        &self.body.key
    }

    /// The holder's name.
    pub fn name(&self) -> &str {
        &self.body.name
    }

    /// The holder as a member.
    pub fn member(&self) -> MemberId {
        self.body.member()
    }

    /// The holder as a node.
    pub fn node(&self) -> NodeId {
        self.body.member().node()
    }

    /// The group.
    pub fn group(&self) -> GroupId {
        self.body.membership.group
    }

    fn issue(body: GmcBody, identity: &Identity) -> Result<Self, CertificateError> {
        let der = body.envelope_by(Issuer::Own)?.sign(identity.key())?;
        if der.len() > GMC_BYTES_MAX {
            return Err(CertificateError::LocalValue("it carries too many votes"));
        }
        Self::from_der(&der)
    }
}
