//! The group membership certificate: X.509v3. Self-signed by its holder, with the votes inside that are its authority, or one
//! multisignature of the voters in their place; or, where the charter's scheme gives the group a key of its own, signed by that.
//!
//! The extension that says so is [`Membership`].
//!
//! What is voted on is the request digest: SHA-256("folkmoot request v1" ‖ 00 ‖ TBSCertificate with `votes` empty).

use crate::certificate::{certificate_pem, check_term};
use crate::envelope::{self, Envelope, Serial, draw_serial};
use crate::issuer::{Issuer, key_id};
use crate::membership::{Combined, Membership};
use crate::{CertificateError, Charter, Csr, Identity, Motion, Multi, VoteProof};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, GroupId, MemberId, NodeId, UnixTime, digest, draw, limits};
use folkmoot_signing::{GroupKey, Scheme, VerifyingKey};
use std::collections::BTreeSet;

/// Longest membership certificate, in bytes of DER: it must fit an entry of the transcript.
pub const GMC_BYTES_MAX: usize = limits::ENTRY_BYTES_MAX - 1024;
/// Most votes in one certificate.
pub const VOTES_MAX: usize = 256;
/// First bytes of every request's content, and of what the request digest covers.
pub(crate) const REQUEST_DOMAIN: &[u8] = b"folkmoot request v1\0";

/// First bytes of what the group's key signs where an authority signs the certificate. No certificate begins so.
const COMBINED_DOMAIN: &[u8] = b"folkmoot combined v1\0";

/// What a certificate stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grounds {
    /// Votes, sorted by voter; none where an authority decides alone.
    Votes(Vec<VoteProof>),
    /// One signature of the voters.
    Multi(Multi),
    /// A signature of the group's key.
    Combined(Combined),
}

/// Everything of a certificate but the holder's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GmcBody {
    /// The serial number.
    pub serial: Serial,
    /// The holder's name.
    pub name: String,
    /// The holder's key.
    pub key: VerifyingKey,
    /// Begin of the term.
    pub not_before: UnixTime,
    /// End of the term.
    pub not_after: UnixTime,
    /// The group's part.
    pub membership: Membership,
}

impl GmcBody {
    /// What `identity` proposes to the group of `charter`: votes empty, term from `not_before` for as long as the charter
    /// allows.
    pub fn propose(
        charter: &Charter,
        identity: &Identity,
        group_size: u32,
        not_before: UnixTime,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let holder = (identity.name().to_owned(), identity.key().verifying_key().clone());
        let (serial, nonce) = (draw_serial(entropy), draw(entropy));
        Self::proposal(charter, holder, (serial, nonce), group_size, not_before)
    }

    /// What a member proposes for the holder of `csr`: as [`Self::propose`], with the serial number and nonce of the CSR.
    pub fn propose_csr(charter: &Charter, csr: &Csr, group_size: u32, not_before: UnixTime) -> Self {
        let holder = (csr.name().to_owned(), csr.key().clone());
        Self::proposal(charter, holder, (csr.serial(), csr.nonce()), group_size, not_before)
    }

    fn proposal(
        charter: &Charter,
        (name, key): (String, VerifyingKey),
        (serial, nonce): (Serial, [u8; 16]),
        group_size: u32,
        not_before: UnixTime,
    ) -> Self {
        let seconds = u64::from(charter.certificate_days()).saturating_mul(86_400);
        Self {
            serial,
            name,
            key,
            not_before,
            not_after: UnixTime(not_before.0.saturating_add(seconds)),
            membership: Membership {
                group_name: charter.name().clone(),
                group: charter.group(),
                scheme: charter.scheme(),
                mode: charter.mode(),
                threshold: charter.threshold(),
                group_size,
                charter: charter.digest(),
                nonce,
                votes: Some(Vec::new()),
                issued: None,
                multi: None,
                combined: None,
            },
        }
    }

    /// Whose it is to be.
    pub fn member(&self) -> MemberId {
        self.key.member_id()
    }

    /// The TBSCertificate with the votes field empty: what a request carries and a vote decides on.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`] if a value cannot stand in a certificate.
    pub fn proposed(&self) -> Result<Vec<u8>, CertificateError> {
        let mut empty = self.clone();
        if !empty.membership.is_founders() {
            empty.membership = self.membership.proposed();
        }
        empty.envelope_by(Issuer::Own)?.tbs()
    }

    /// The digest of [`Self::proposed`]: the subject of the votes.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn request_digest(&self) -> Result<Digest, CertificateError> {
        Ok(digest(&[REQUEST_DOMAIN, &self.proposed()?]))
    }

    /// The motion that votes for this certificate sign.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn motion(&self) -> Result<Motion, CertificateError> {
        Ok(Motion::admit(self.membership.group, self.membership.charter, self.request_digest()?))
    }

    /// Whether the body is one that `charter` (as changed so far) lets the group vote on or found with (ID-13).
    ///
    /// # Errors
    /// [`CertificateError::PeerCharter`], [`CertificateError::PeerNotFounder`].
    pub fn check_charter(&self, charter: &Charter) -> Result<(), CertificateError> {
        let refuse = |what| Err(CertificateError::PeerCharter(what));
        let said = &self.membership;
        if said.group != charter.group() || said.group_name != *charter.name() {
            return refuse("another group");
        }
        if said.charter != charter.digest() {
            return refuse("another version of the charter");
        }
        if said.threshold != charter.threshold() {
            return refuse("another threshold");
        }
        if said.scheme != charter.scheme() {
            return refuse("another scheme");
        }
        if said.mode != charter.mode() {
            return refuse("another mode");
        }
        let seconds = u64::from(charter.certificate_days()).saturating_mul(86_400);
        if self.not_after.0.saturating_sub(self.not_before.0) > seconds {
            return refuse("a longer term");
        }
        if said.is_founders() && charter.founder(&self.member()).is_none() {
            return Err(CertificateError::PeerNotFounder(self.member()));
        }
        // `ID-69`: an authority stands outside the group, and a node cannot be both.
        if charter.central().is_some_and(|central| central.speaks(&self.member())) {
            return refuse("a key that speaks for the authority");
        }
        Ok(())
    }

    /// This body as the group's key is to sign it: no votes, under the sharing with this epoch.
    pub fn issued_under(&self, epoch: Digest) -> Self {
        let mut body = self.clone();
        body.membership.votes = None;
        body.membership.issued = Some(epoch);
        body
    }

    /// This body as the charter's authority is to sign it, on these grounds.
    #[must_use]
    pub fn on_grounds(&self, grounds: &Grounds) -> Self {
        let mut body = self.clone();
        body.membership = body.membership.proposed();
        match grounds {
            Grounds::Votes(votes) => body.membership.votes = Some(votes.clone()),
            Grounds::Multi(multi) => {
                (body.membership.votes, body.membership.multi) = (None, Some(multi.clone()))
            }
            Grounds::Combined(combined) => {
                (body.membership.votes, body.membership.combined) = (None, Some(combined.clone()));
            }
        }
        body
    }

    /// On which grounds it stands: `None` for a founder, and where the group's key issues.
    pub fn grounds(&self) -> Option<Grounds> {
        let Membership { votes, multi, combined, .. } = &self.membership;
        let votes = votes.as_ref().map(|votes| Grounds::Votes(votes.clone()));
        let multi = multi.as_ref().map(|multi| Grounds::Multi(multi.clone()));
        votes.or(multi).or_else(|| combined.as_ref().map(|combined| Grounds::Combined(combined.clone())))
    }

    /// What hands sign by the group's key, under the sharing with this epoch, where an authority signs the certificate:
    /// `"folkmoot combined v1" ‖ 00 ‖ GroupId ‖ epoch ‖ request digest`.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn combined_message(&self, epoch: &Digest) -> Result<Vec<u8>, CertificateError> {
        Ok([COMBINED_DOMAIN, &self.membership.group.0, epoch, &self.request_digest()?].concat())
    }

    /// The TBSCertificate that `key`, the group's or its authority's, is to sign; of a body made by [`Self::issued_under`] or
    /// [`Self::on_grounds`].
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn issued_tbs(&self, key: &GroupKey) -> Result<Vec<u8>, CertificateError> {
        self.envelope_by(Issuer::group(self.membership.group_name.as_str(), key))?.tbs()
    }

    pub(crate) fn envelope_by(&self, issuer: Issuer) -> Result<Envelope, CertificateError> {
        let membership = self.membership.encode().map_err(|()| CertificateError::LocalValue("membership"))?;
        Ok(Envelope {
            serial: self.serial,
            name: self.name.clone(),
            key: self.key.clone(),
            not_before: self.not_before,
            not_after: self.not_after,
            membership: Some(membership),
            issuer,
        })
    }

    pub(crate) fn from_envelope(envelope: &Envelope) -> Result<Self, CertificateError> {
        let refuse = CertificateError::WireProfile("membership extension");
        let membership =
            envelope.membership.clone().ok_or(CertificateError::WireProfile("no membership extension"))?;
        let body = Self {
            serial: envelope.serial,
            name: envelope.name.clone(),
            key: envelope.key.clone(),
            not_before: envelope.not_before,
            not_after: envelope.not_after,
            membership: Membership::decode(&membership).ok_or(refuse.clone())?,
        };
        if body.membership.encode().as_deref() != Ok(&membership) {
            return Err(refuse);
        }
        let by_group = matches!(&envelope.issuer, Issuer::Group { name, .. }
            if *name == crate::authority::common(body.membership.group_name.as_str()));
        let issued = body.membership.issued.is_some() || body.membership.is_by_authority();
        let fits = match &envelope.issuer {
            // What is asked for is its holder's word even where an authority is to sign it.
            Issuer::Own => !issued || body.membership == body.membership.proposed(),
            Issuer::Group { .. } => issued && by_group,
        };
        if fits { Ok(body) } else { Err(CertificateError::WireProfile("issuer")) }
    }
}

/// A membership certificate in its one form, signed by its holder. Its authority is judged by [`Self::check_authority`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gmc {
    der: Bytes,
    body: GmcBody,
    issuer: Issuer,
    /// Of the holder, verified; or, where a group has issued, of its key, not yet.
    signature: Vec<u8>,
}

impl Gmc {
    /// Composes the certificate from the proposed body and the votes (sorted here), signed by its holder.
    ///
    /// # Errors
    /// [`CertificateError::LocalNotHolder`]; [`CertificateError::LocalValue`] for a voter twice or too many votes.
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

    /// Composes the certificate from the proposed body and the multisignature of the voters, signed by its holder.
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

    /// The certificate with the signature that the group's key, or its authority's, made over [`GmcBody::issued_tbs`].
    ///
    /// # Errors
    /// [`CertificateError::PeerSignature`] if it is not; [`CertificateError::LocalValue`] if the body is not to be issued.
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

    /// Reads and verifies form and holder's signature. Says nothing on whether the votes stand.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let (envelope, signature) = envelope::open(der, GMC_BYTES_MAX)?;
        let body = GmcBody::from_envelope(&envelope)?;
        if envelope.issuer == Issuer::Own && body.membership.is_by_authority() {
            return Err(CertificateError::WireProfile("issuer"));
        }
        Ok(Self { der: Bytes::copy_from_slice(der), body, issuer: envelope.issuer, signature })
    }

    /// Whether the charter's authority has signed it, where the mode says that one does (`ID-68`).
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
    /// [`CertificateError::PeerAuthority`] without such a signature, [`CertificateError::PeerSignature`].
    pub fn check_combined(&self, key: &GroupKey) -> Result<(), CertificateError> {
        let combined = self.combined().ok_or(CertificateError::PeerAuthority)?;
        let message = self.body.combined_message(&combined.epoch)?;
        key.verify_raw(&message, &combined.signature).map_err(|_| CertificateError::PeerSignature)
    }

    /// Whether the certificate stands under `charter` (as changed so far): it fits the charter, and carries the votes that
    /// the charter asks for, each by one of `voters`, or their multisignature where that is the charter's scheme; for a founder, that the charter names its key. No clock: expiry of
    /// votes and term are judged by whoever orders the admission (T7). No quorum: where the charter forbids a minority to
    /// admit, that takes the electorate, which is the transcript's (`TRN-17`); the charter names only who founded.
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

    /// The same, where so many votes are needed: fewer than the threshold, if there are fewer voters and the charter has it
    /// reset then. Only who knows the voters can say (`Roster::threshold`).
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
        let motion = self.body.motion()?;
        if let Some(multi) = self.multi() {
            return multi.verify(&motion, voters);
        }
        for vote in self.votes() {
            let key = voters(&vote.voter).ok_or(CertificateError::PeerNotVoter(vote.voter))?;
            vote.verify(&motion, key).map_err(|_| CertificateError::PeerVote(vote.voter))?;
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

    /// Whether it stands on the charter's word instead of votes.
    pub fn is_founder(&self) -> bool {
        self.body.membership.is_founders()
    }

    /// The share-epoch of the group's key that issued it, if one did.
    pub fn issued(&self) -> Option<Digest> {
        self.body.membership.issued
    }

    /// The signature of the group's key on its request, if it stands on one.
    pub fn combined(&self) -> Option<&Combined> {
        self.body.membership.combined.as_ref()
    }

    /// Whether somebody else than its holder signed it: the group's key, or its authority's.
    pub fn is_issued(&self) -> bool {
        self.issuer != Issuer::Own
    }

    /// The multisignature of the voters, if it stands on one.
    pub fn multi(&self) -> Option<&Multi> {
        self.body.membership.multi.as_ref()
    }

    /// Who approved, by vote or multisignature, and until when that counts; empty for a founder, and where the group's key has signed.
    pub fn approvals(&self) -> Vec<(MemberId, UnixTime)> {
        let votes = self.votes().iter().map(|vote| (vote.voter, vote.expires));
        let multi = self.multi().into_iter();
        let signed = multi.flat_map(|multi| multi.signers().iter().map(|signer| (*signer, multi.expires())));
        votes.chain(signed).collect()
    }

    /// The votes; empty for a founder, and where something else stands for them.
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

    /// Of which group.
    pub fn group(&self) -> GroupId {
        self.body.membership.group
    }

    fn issue(body: GmcBody, identity: &Identity) -> Result<Self, CertificateError> {
        let der = body.envelope_by(Issuer::Own)?.sign(identity.key())?;
        if der.len() > GMC_BYTES_MAX {
            return Err(CertificateError::LocalValue("too many votes"));
        }
        Self::from_der(&der)
    }
}
