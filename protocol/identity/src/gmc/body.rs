//! Everything of a certificate except the signature: what is proposed, voted on, and given its
//! grounds.

use crate::envelope::{Envelope, Serial, draw_serial};
use crate::issuer::Issuer;
use crate::membership::{Combined, Membership};
use crate::{CertificateError, Charter, Csr, Identity, Multi, VoteProof};
use folkmoot_base::{Digest, Entropy, Head, MemberId, UnixTime, digest, draw};
use folkmoot_signing::{GroupKey, VerifyingKey};

/// First bytes of every request's content, and of what the request digest covers.
pub(crate) const REQUEST_DOMAIN: &[u8] = b"folkmoot request v1\0";

/// First bytes of what the group's key signs if an authority signs the certificate. No certificate
/// begins like this.
const COMBINED_DOMAIN: &[u8] = b"folkmoot combined v1\0";

/// The grounds that a certificate rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grounds {
    /// Votes, sorted by voter; none if an authority decides alone.
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
    /// What `identity` proposes to the group of `charter`: votes empty, term from `not_before` for
    /// as long as the charter allows.
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

    /// What a member proposes for the holder of `csr`: as [`Self::propose`], with the serial number
    /// and nonce of the CSR.
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
        Self {
            serial,
            name,
            key,
            not_before,
            not_after: charter.longest_term(not_before),
            membership: Membership {
                group_name: charter.name().clone(),
                group: charter.group(),
                scheme: charter.scheme(),
                mode: charter.mode(),
                threshold: charter.threshold(),
                group_size,
                base: Head { number: 0, digest: charter.digest() },
                nonce,
                votes: Some(Vec::new()),
                issued: None,
                multi: None,
                combined: None,
            },
        }
    }

    /// The same for somebody whose last known decision is this. Without it the base is no head of
    /// any line, and the request admits nobody.
    #[must_use]
    pub fn over(mut self, head: Head) -> Self {
        self.membership.base = head;
        self
    }

    /// The member that it is for.
    pub fn member(&self) -> MemberId {
        self.key.member_id()
    }

    /// The TBSCertificate with the votes field empty: a request carries it, and votes decide on it.
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

    /// Whether `charter` (as changed so far) lets the group vote on this body, or found with it
    /// (ID-13).
    ///
    /// # Errors
    /// [`CertificateError::PeerCharter`], [`CertificateError::PeerNotFounder`].
    pub fn check_charter(&self, charter: &Charter) -> Result<(), CertificateError> {
        let refuse = |what| Err(CertificateError::PeerCharter(what));
        let said = &self.membership;
        if said.group != charter.group() || said.group_name != *charter.name() {
            return refuse("it is for another group");
        }
        if said.scheme != charter.scheme() {
            return refuse("it names another scheme");
        }
        if said.mode != charter.mode() {
            return refuse("it names another mode");
        }
        if !charter.allows_term(self.not_before, self.not_after) {
            return refuse("its term is longer than the charter allows, or outside the charter's own");
        }
        if said.is_founders() && charter.founder(&self.member()).is_none() {
            return Err(CertificateError::PeerNotFounder(self.member()));
        }
        self.check_algorithm(charter)?;
        // `ID-69`: an authority stands outside the group, and a node cannot be both.
        if charter.central().is_some_and(|central| central.speaks(&self.member())) {
            return refuse("its key speaks for the authority");
        }
        Ok(())
    }

    /// Whether `charter` names the algorithm of the holder's key (ID-73).
    ///
    /// # Errors
    /// [`CertificateError::PeerCharter`].
    pub fn check_algorithm(&self, charter: &Charter) -> Result<(), CertificateError> {
        let algorithms = charter.algorithms();
        if algorithms.allows(&self.key) {
            Ok(())
        } else {
            Err(CertificateError::PeerCharter(algorithms.why_not(&self.key)))
        }
    }

    /// This body as the group's key must sign it: no votes, under the sharing with this epoch.
    pub fn issued_under(&self, epoch: Digest) -> Self {
        let mut body = self.clone();
        body.membership.votes = None;
        body.membership.issued = Some(epoch);
        body
    }

    /// This body as the charter's authority must sign it, on these grounds.
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

    /// The grounds that it rests on: `None` for a founder, and if the group's key issues.
    pub fn grounds(&self) -> Option<Grounds> {
        let Membership { votes, multi, combined, .. } = &self.membership;
        let votes = votes.as_ref().map(|votes| Grounds::Votes(votes.clone()));
        let multi = multi.as_ref().map(|multi| Grounds::Multi(multi.clone()));
        votes.or(multi).or_else(|| combined.as_ref().map(|combined| Grounds::Combined(combined.clone())))
    }

    /// What signers sign with the group's key, under the sharing with this epoch, if an authority
    /// signs the certificate: `"folkmoot combined v1" ‖ 00 ‖ GroupId ‖ epoch ‖ request digest`.
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn combined_message(&self, epoch: &Digest) -> Result<Vec<u8>, CertificateError> {
        Ok([COMBINED_DOMAIN, &self.membership.group.0, epoch, &self.request_digest()?].concat())
    }

    /// The TBSCertificate that `key`, the group's or its authority's, must sign, for a body made by
    /// [`Self::issued_under`] or [`Self::on_grounds`].
    ///
    /// # Errors
    /// As [`Self::proposed`].
    pub fn issued_tbs(&self, key: &GroupKey) -> Result<Vec<u8>, CertificateError> {
        self.envelope_by(Issuer::group(self.membership.group_name.as_str(), key))?.tbs()
    }

    pub(crate) fn envelope_by(&self, issuer: Issuer) -> Result<Envelope, CertificateError> {
        let membership = self
            .membership
            .encode()
            .map_err(|()| CertificateError::LocalValue("its membership extension cannot be encoded"))?;
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
        let refuse = CertificateError::WireProfile("its membership extension is malformed");
        let membership = envelope
            .membership
            .clone()
            .ok_or(CertificateError::WireProfile("it has no membership extension"))?;
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
            // A request is its holder's statement even if an authority is to sign the certificate.
            Issuer::Own => !issued || body.membership == body.membership.proposed(),
            Issuer::Group { .. } => issued && by_group,
        };
        if fits { Ok(body) } else { Err(CertificateError::WireProfile("its issuer is wrong")) }
    }
}
