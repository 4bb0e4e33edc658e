//! An admission as a certificate asks for it: the facts that the rules look at.

use crate::Head;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::{Gmc, Request, Serial};
use folkmoot_signing::VerifyingKey;
use std::collections::BTreeSet;

/// Most share-epochs that are kept of one admission.
pub const EPOCHS_MAX: usize = 4;

/// What a certificate says, apart from who approved it. Two certificates of one request are one
/// admission, whose share-epochs are those of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admit {
    /// The digest of the request, which names the admission.
    pub request: Digest,
    /// Who is admitted, or whose term is renewed.
    pub member: MemberId,
    /// The name in the certificate.
    pub name: String,
    /// The key.
    pub key: VerifyingKey,
    /// When the term begins.
    pub begins: UnixTime,
    /// When it ends.
    pub ends: UnixTime,
    /// The last decision that the requester knew.
    pub base: Head,
    /// The serial number, if the group's key or its authority's has issued the certificate.
    pub issued: Option<Serial>,
    /// The serial number, if the request was by a CSR, which determines it.
    pub csr: Option<Serial>,
    /// The share-epochs of the group's key under which it has signed certificate or request, one of
    /// each certificate that is known.
    pub epochs: BTreeSet<Digest>,
}

impl Admit {
    /// What a certificate says; `request` is the digest of its request.
    pub fn of(gmc: &Gmc, request: Digest) -> Self {
        let body = gmc.body();
        Self {
            request,
            member: gmc.member(),
            name: gmc.name().to_owned(),
            key: gmc.key().clone(),
            begins: body.not_before,
            ends: body.not_after,
            base: body.membership.base,
            issued: gmc.is_issued().then_some(body.serial),
            csr: Some(body.serial),
            epochs: gmc.issued().or(gmc.combined().map(|combined| combined.epoch)).into_iter().collect(),
        }
    }

    /// Takes the share-epochs of another certificate of the same request. Of more than
    /// [`EPOCHS_MAX`] the one that is in use stays first, then the lowest. Whether it has others
    /// now, and whether there were too many.
    pub(crate) fn merge(&mut self, other: &Self, in_use: Option<Digest>) -> (bool, bool) {
        let before = self.epochs.clone();
        self.epochs.extend(&other.epochs);
        let many = self.epochs.len() > EPOCHS_MAX;
        while self.epochs.len() > EPOCHS_MAX {
            let last = self.epochs.iter().rev().find(|epoch| Some(**epoch) != in_use);
            let Some(last) = last.copied() else { break };
            self.epochs.remove(&last);
        }
        (self.epochs != before, many)
    }

    /// What a request asks for, before anybody has signed a certificate.
    pub fn asked(request: &Request) -> Self {
        let body = request.body();
        Self {
            request: request.digest(),
            member: request.member(),
            name: body.name.clone(),
            key: body.key.clone(),
            begins: body.not_before,
            ends: body.not_after,
            base: body.membership.base,
            issued: None,
            csr: Some(body.serial),
            epochs: BTreeSet::new(),
        }
    }
}

/// A request that objections ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The digest of the request.
    pub request: Digest,
    /// The serial number that its CSR gives, if it is by CSR: nothing that is proposed for that CSR
    /// later admits anybody.
    pub csr: Option<Serial>,
}
