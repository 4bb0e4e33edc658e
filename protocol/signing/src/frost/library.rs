//! Between our names and the library's: who sits where, what its errors mean. Numbers and elements pass by their bytes, for the
//! library stands on an older generation of the curve's crate.

use super::{FrostShare, FrostSharing};
use crate::base::MemberId;
use crate::{Edwards, Fault, FaultKind, HANDS_MAX, PrimeGroup};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::keys::{
    KeyPackage, PublicKeyPackage, SigningShare, VerifiableSecretSharingCommitment, VerifyingShare,
};
use frost_ed25519::{Error, Identifier, VerifyingKey};
use std::collections::BTreeMap;

/// The hands of a run and their places in the library, in the order of their ids.
#[derive(Clone)]
pub(super) struct Seats(BTreeMap<MemberId, Identifier>);

impl Seats {
    /// Seats `hands`: 1 to [`HANDS_MAX`], none twice.
    pub(super) fn new(hands: &[MemberId]) -> Result<Self, Fault> {
        let mut seats = BTreeMap::new();
        for hand in hands {
            seats.insert(*hand, place(hand).map_err(|_| wrong_hands())?);
        }
        let good = !hands.is_empty() && hands.len() <= HANDS_MAX && seats.len() == hands.len();
        if good { Ok(Self(seats)) } else { Err(wrong_hands()) }
    }

    pub(super) fn hands(&self) -> Vec<MemberId> {
        self.0.keys().copied().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn has(&self, hand: &MemberId) -> bool {
        self.0.contains_key(hand)
    }

    /// The library's name of `hand`.
    pub(super) fn place(&self, hand: &MemberId) -> Result<Identifier, Fault> {
        self.0.get(hand).copied().ok_or_else(wrong_hands)
    }

    /// What the library keys by its names, keyed by ours. Whom nobody here bears is left out.
    pub(super) fn named<T>(
        &self,
        by_place: impl IntoIterator<Item = (Identifier, T)>,
    ) -> BTreeMap<MemberId, T> {
        let known = by_place.into_iter().filter_map(|(place, value)| Some((self.name(&place)?, value)));
        known.collect()
    }

    fn name(&self, place: &Identifier) -> Option<MemberId> {
        self.0.iter().find(|(_, theirs)| *theirs == place).map(|(hand, _)| *hand)
    }

    /// The library's error in our words, its culprits by our names.
    pub(super) fn fault(&self, error: &Error) -> Fault {
        let mut culprits: Vec<_> = error.culprits().iter().filter_map(|place| self.name(place)).collect();
        culprits.sort();
        Fault { kind: kind(error), culprits }
    }
}

fn kind(error: &Error) -> FaultKind {
    match error {
        Error::InvalidSignatureShare { .. } => FaultKind::PeerPart,
        Error::InvalidSecretShare { .. } => FaultKind::PeerShare,
        Error::InvalidProofOfKnowledge { .. } => FaultKind::PeerProof,
        Error::IncorrectNumberOfCommitments => FaultKind::PeerCommitment,
        Error::InvalidSignature => FaultKind::Unattributable,
        Error::GroupError(_) | Error::FieldError(_) | Error::IdentityCommitment => FaultKind::Again,
        _ => FaultKind::LocalHands,
    }
}

pub(super) fn wrong_hands() -> Fault {
    Fault::of_nobody(FaultKind::LocalHands)
}

/// Where the library evaluates `hand`'s share: the crate's own place, by its bytes.
pub(super) fn place(hand: &MemberId) -> Result<Identifier, Error> {
    Identifier::deserialize(&Edwards::encode_scalar(&Edwards::place(hand)))
}

/// A count of hands as the library takes it.
pub(super) fn count(number: usize) -> Result<u16, Fault> {
    u16::try_from(number).map_err(|_| wrong_hands())
}

/// Elements as the library's commitments.
pub(super) fn commitments(elements: &[EdwardsPoint]) -> Result<VerifiableSecretSharingCommitment, Error> {
    VerifiableSecretSharingCommitment::deserialize(elements.iter().map(Edwards::encode))
}

/// The library's commitments as elements.
pub(super) fn elements(commitments: &VerifiableSecretSharingCommitment) -> Result<Vec<EdwardsPoint>, Error> {
    let bytes = commitments.serialize()?;
    bytes.iter().map(|bytes| Edwards::decode(bytes).ok_or(Error::IncorrectCommitment)).collect()
}

/// What a holder's hand in the library holds.
pub(super) fn key_package(sharing: &FrostSharing, share: &FrostShare) -> Result<KeyPackage, Error> {
    let signing = SigningShare::deserialize(share.scalar().expose())?;
    Ok(KeyPackage::new(
        place(&share.holder())?,
        signing,
        VerifyingShare::from(signing),
        VerifyingKey::deserialize(&sharing.key().bytes())?,
        u16::try_from(sharing.threshold()).map_err(|_| Error::InvalidMinSigners)?,
    ))
}

/// What all of `holders` know of one another in the library.
pub(super) fn public_package(
    sharing: &FrostSharing,
    holders: &[MemberId],
) -> Result<PublicKeyPackage, Error> {
    let mut shares = BTreeMap::new();
    for holder in holders {
        shares.insert(place(holder)?, VerifyingShare::deserialize(&sharing.verifying_share(holder))?);
    }
    let threshold = u16::try_from(sharing.threshold()).map_err(|_| Error::InvalidMinSigners)?;
    Ok(PublicKeyPackage::new(shares, VerifyingKey::deserialize(&sharing.key().bytes())?, Some(threshold)))
}
