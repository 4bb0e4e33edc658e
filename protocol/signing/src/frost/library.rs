//! Translates between our names and the library's: where each signer's share is evaluated, and what
//! the library's errors mean. Numbers and elements pass as bytes, because the library uses an older
//! version of the curve's crate.

use super::{FrostShare, FrostSharing};
use crate::base::{MemberId, Secret};
use crate::sharing::{sorted, wrong_signers};
use crate::{Edwards, Fault, FaultKind, PrimeGroup};
use frost_ed25519::keys::{KeyPackage, PublicKeyPackage, SigningShare, VerifyingShare};
use frost_ed25519::{Error, Identifier, VerifyingKey};
use std::collections::BTreeMap;

/// The signers of a run and their identifiers in the library.
pub(super) struct Signers(BTreeMap<MemberId, Identifier>);

impl Signers {
    pub(super) fn new(signers: &[MemberId]) -> Result<Self, Fault> {
        let named = sorted(signers)?.into_iter().map(|signer| Ok((signer, identifier(&signer)?)));
        Ok(Self(named.collect::<Result<_, Error>>().map_err(|_| wrong_signers())?))
    }

    /// The signers, sorted.
    pub(super) fn members(&self) -> Vec<MemberId> {
        self.0.keys().copied().collect()
    }

    pub(super) fn has(&self, member: &MemberId) -> bool {
        self.0.contains_key(member)
    }

    /// What is keyed by our names, keyed by the library's.
    pub(super) fn identified<T>(&self, by_member: BTreeMap<MemberId, T>) -> BTreeMap<Identifier, T> {
        let known = by_member.into_iter().filter_map(|(member, value)| Some((*self.0.get(&member)?, value)));
        known.collect()
    }

    /// The library's error in our terms, its culprits by our names.
    pub(super) fn fault(&self, error: &Error) -> Fault {
        let culprits = error.culprits();
        let named = self.0.iter().filter(|(_, identifier)| culprits.contains(identifier));
        Fault { kind: kind(error), culprits: named.map(|(member, _)| *member).collect() }
    }
}

fn kind(error: &Error) -> FaultKind {
    match error {
        Error::InvalidSignatureShare { .. } => FaultKind::PeerPart,
        Error::InvalidSignature => FaultKind::Unattributable,
        Error::GroupError(_) | Error::FieldError(_) | Error::IdentityCommitment => FaultKind::Again,
        _ => FaultKind::LocalSigners,
    }
}

/// Where the library evaluates `member`'s share: our own place for it, by its bytes.
fn identifier(member: &MemberId) -> Result<Identifier, Error> {
    Identifier::deserialize(&Edwards::encode_scalar(&Edwards::place(member)))
}

/// What the holder of `share` has in the library.
pub(super) fn key_package(sharing: &FrostSharing, share: &FrostShare) -> Result<KeyPackage, Error> {
    let number = Secret::new(Edwards::encode_scalar(share.value()));
    let signing = SigningShare::deserialize(number.expose())?;
    Ok(KeyPackage::new(
        identifier(&share.holder())?,
        signing,
        VerifyingShare::from(signing),
        verifying_key(sharing)?,
        threshold(sharing)?,
    ))
}

/// What all of `holders` know of one another in the library.
pub(super) fn public_package(
    sharing: &FrostSharing,
    holders: &[MemberId],
) -> Result<PublicKeyPackage, Error> {
    let mut shares = BTreeMap::new();
    for holder in holders {
        let public = Edwards::encode(&sharing.shared().public_share(holder));
        shares.insert(identifier(holder)?, VerifyingShare::deserialize(&public)?);
    }
    Ok(PublicKeyPackage::new(shares, verifying_key(sharing)?, Some(threshold(sharing)?)))
}

pub(super) fn verifying_key(sharing: &FrostSharing) -> Result<VerifyingKey, Error> {
    VerifyingKey::deserialize(&Edwards::encode(&sharing.shared().public()))
}

fn threshold(sharing: &FrostSharing) -> Result<u16, Error> {
    u16::try_from(sharing.threshold()).map_err(|_| Error::InvalidMinSigners)
}
