//! One secret, many holders: any `threshold` shares determine it, fewer say nothing (Shamir 1979),
//! and everybody can check every share (Feldman 1987).
//!
//! ```text
//! deal          an authority that knows the secret         centralised groups
//! Joint         the first holders, no dealer               Gennaro, Jarecki, Krawczyk, Rabin 1999/2007, committed first
//! Redistribute  threshold old holders -> any new ones      new shares, new threshold, same secret (Desmedt, Jajodia 1997)
//! Enrol         threshold holders -> one newcomer          one share more of the same polynomial, nobody's share told
//! ```
//! A [`Sharing`] is public and the same for all. A [`Share`] is one holder's secret, bound to its
//! sharing's epoch. Shares of different epochs do not go together: every run refuses them, and what
//! they would give is not the secret.

mod deal;
mod dealing;
mod enrol;
mod joint;
mod message;
mod pledge;
mod proof;
mod redistribute;
mod round;
mod share;

pub use deal::{Shares, deal};
pub use enrol::Enrol;
pub use joint::Joint;
pub use redistribute::{Change, Redistribute};
pub use share::{Holding, Share};

pub(crate) use dealing::{Dealing, Dealt, Plan};
pub(crate) use message::{Kind, Reader, Writer};
pub(crate) use pledge::{Form, Piece, second_generator};
pub(crate) use proof::challenge;
pub(crate) use redistribute::own;
pub(crate) use round::{each, said, to_all};

use crate::P256;
use crate::base::{Digest, MemberId, digest};
use crate::plain::VerifyingKey;
use crate::polynomial::committed;
use crate::run::{Fault, FaultKind};
use crate::{PrimeGroup, SIGNERS_MAX, SigningError};
use p256::elliptic_curve::group::GroupEncoding as _;
use p256::pkcs8::EncodePublicKey as _;

/// Why a sharing or a share was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// The bytes are not the one encoding of a sharing over this group.
    #[error("it is not a sharing over this group")]
    WireSharing,
    /// The bytes are not the one encoding of a share over this group. The store is damaged.
    #[error("it is not a share over this group")]
    LocalShare,
    /// The share is of another sharing or epoch, or its holder holds none there.
    #[error("the share belongs to another sharing")]
    LocalEpoch,
    /// Not 1 ≤ threshold ≤ holders ≤ 256, or a holder named twice.
    #[error("these holders and this threshold do not make a sharing")]
    LocalHolders,
}

/// What everybody knows of a shared secret: the commitments to its polynomial and who holds shares.
#[derive(Clone)]
pub struct Sharing<G: PrimeGroup> {
    commitments: Vec<G::Element>,
    holders: Vec<MemberId>,
}

impl<G: PrimeGroup> Sharing<G> {
    /// Commitments that are not the identity; holders sorted, at least as many, none twice.
    pub(crate) fn new(commitments: Vec<G::Element>, holders: Vec<MemberId>) -> Result<Self, SharingError> {
        let sorted = holders.is_sorted_by(|left, right| left < right);
        let good = sorted && (1..=holders.len()).contains(&commitments.len()) && holders.len() <= SIGNERS_MAX;
        if !good || commitments.contains(&G::identity()) {
            return Err(SharingError::LocalHolders);
        }
        Ok(Self { commitments, holders })
    }

    /// How many shares determine the secret: as many as there are commitments.
    pub fn threshold(&self) -> usize {
        self.commitments.len()
    }

    /// The commitments, the group's public key first.
    pub(crate) fn commitments(&self) -> &[G::Element] {
        &self.commitments
    }

    /// Who holds a share, sorted.
    pub fn holders(&self) -> &[MemberId] {
        &self.holders
    }

    /// The group's public key: the secret times the generator.
    pub fn public(&self) -> G::Element {
        self.commitments.first().copied().unwrap_or_else(G::identity)
    }

    /// `member`'s share times the generator, whether it holds one or not.
    pub fn public_share(&self, member: &MemberId) -> G::Element {
        committed::<G>(&self.commitments, G::place(member))
    }

    /// The share-epoch (DECISIONS N3): SHA-256 of a label, the group's name and the commitments. It
    /// changes with the polynomial, so with every redistribution, and not when a newcomer is given
    /// a share of the same polynomial.
    pub fn epoch(&self) -> Digest {
        let commitments: Vec<u8> = self.commitments.iter().flat_map(G::encode).collect();
        digest(&[b"folkmoot share-epoch v1", &[0], G::NAME, &[0], &commitments])
    }

    /// The same sharing with one more holder, which was given its share by [`Enrol`].
    ///
    /// # Errors
    /// [`SharingError::LocalHolders`] if it holds one already or there are too many.
    pub fn with_holder(&self, newcomer: MemberId) -> Result<Self, SharingError> {
        let mut holders = self.holders.clone();
        holders.push(newcomer);
        holders.sort();
        Self::new(self.commitments.clone(), holders)
    }

    /// The one encoding: `01 10`, group name, commitments, holders, each with its count in two
    /// bytes.
    pub fn encode(&self) -> Vec<u8> {
        let writer = Writer::new(Kind::Sharing, 0).group::<G>().length(self.commitments.len());
        let writer =
            self.commitments.iter().fold(writer, |writer, commitment| writer.element::<G>(commitment));
        writer.members(&self.holders).end()
    }

    /// Reads what [`Self::encode`] writes.
    ///
    /// # Errors
    /// [`SharingError::WireSharing`] for everything else: another group, elements outside it,
    /// holders not sorted or too few, more bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, SharingError> {
        Self::read(bytes).ok_or(SharingError::WireSharing)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes, Kind::Sharing)?;
        reader.group::<G>()?;
        let threshold = reader.length().filter(|length| *length <= SIGNERS_MAX)?;
        let commitments = reader.elements::<G>(threshold)?;
        let holders = reader.members(SIGNERS_MAX)?;
        reader.end()?;
        Self::new(commitments, holders).ok()
    }
}

impl<G: PrimeGroup> PartialEq for Sharing<G> {
    fn eq(&self, other: &Self) -> bool {
        self.commitments == other.commitments && self.holders == other.holders
    }
}

impl<G: PrimeGroup> Eq for Sharing<G> {}

impl<G: PrimeGroup> core::fmt::Debug for Sharing<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let epoch = MemberId(self.epoch()).short();
        write!(out, "Sharing({epoch}, {} of {})", self.threshold(), self.holders.len())
    }
}

impl Sharing<P256> {
    /// The group's public key as one that verifies ECDSA signatures.
    ///
    /// # Errors
    /// [`SigningError::WireKey`] if it cannot be encoded, which no key does.
    pub fn verifying_key(&self) -> Result<VerifyingKey, SigningError> {
        p256_key(&self.public())
    }
}

/// An element as a key that verifies ECDSA signatures.
pub(crate) fn p256_key(public: &p256::ProjectivePoint) -> Result<VerifyingKey, SigningError> {
    let key = p256::PublicKey::from_sec1_bytes(&public.to_bytes()).map_err(|_| SigningError::WireKey)?;
    let document = key.to_public_key_der().map_err(|_| SigningError::WireKey)?;
    VerifyingKey::from_spki_der(document.as_bytes())
}

/// Sorts a list of participants and refuses an empty one, one that is too long, and a participant
/// named twice.
pub(crate) fn sorted(participants: &[MemberId]) -> Result<Vec<MemberId>, Fault> {
    let mut participants = participants.to_vec();
    participants.sort();
    let twice = participants.windows(2).any(|pair| matches!(pair, [left, right] if left == right));
    if participants.is_empty() || participants.len() > SIGNERS_MAX || twice {
        return Err(wrong_signers());
    }
    Ok(participants)
}

pub(crate) fn wrong_signers() -> Fault {
    Fault::of_nobody(FaultKind::LocalSigners)
}

/// Digest of what the participants of a run must agree on: a label, the group, and parts of fixed
/// length or with their length in front.
pub(crate) fn context<G: PrimeGroup>(label: &[u8], parts: &[&[u8]]) -> Digest {
    let all: Vec<&[u8]> = [label, &[0], G::NAME, &[0]].into_iter().chain(parts.iter().copied()).collect();
    digest(&all)
}

/// A list of participants as [`context`] covers it.
pub(crate) fn listed(participants: &[MemberId]) -> Vec<u8> {
    let count = u64::try_from(participants.len()).unwrap_or(u64::MAX).to_be_bytes();
    count.into_iter().chain(participants.iter().flat_map(|participant| participant.0)).collect()
}
