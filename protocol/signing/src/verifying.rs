//! What the public keys of all plain kinds share: one form, the name that follows from it, and two
//! ways to verify.

use crate::SigningError;
use crate::base::{MemberId, NodeId, digest};
use aws_lc_rs::signature::ParsedPublicKey;

/// A kind of plain signature.
pub trait Kind {
    /// A key's SPKI.
    type Spki: Clone + AsRef<[u8]>;
    /// A well-formed signature.
    type Signature;

    /// The signature as the verifier takes it.
    fn bytes(signature: &Self::Signature) -> impl AsRef<[u8]>;
}

/// A public key in its one form, ready to verify with.
pub struct Verifying<K: Kind> {
    spki: K::Spki,
    member: MemberId,
    parsed: ParsedPublicKey,
}

impl<K: Kind> Verifying<K> {
    pub(crate) fn of(spki: K::Spki, parsed: ParsedPublicKey) -> Self {
        Self { member: MemberId(digest(&[spki.as_ref()])), spki, parsed }
    }

    /// The key as SPKI DER.
    pub fn spki_der(&self) -> &K::Spki {
        &self.spki
    }

    /// SHA-256 of the SPKI, as the name of a member.
    pub fn member_id(&self) -> MemberId {
        self.member
    }

    /// SHA-256 of the SPKI, as the name of a node.
    pub fn node_id(&self) -> NodeId {
        self.member.node()
    }

    /// Checks a signature that was made under the same label.
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`].
    pub fn verify(
        &self,
        label: &'static [u8],
        message: &[u8],
        signature: &K::Signature,
    ) -> Result<(), SigningError> {
        self.verify_raw(&labelled(label, message), signature)
    }

    /// Checks a signature without a label, as X.509 and CMS have them.
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`].
    pub fn verify_raw(&self, message: &[u8], signature: &K::Signature) -> Result<(), SigningError> {
        let signature = K::bytes(signature);
        self.parsed.verify_sig(message, signature.as_ref()).map_err(|_| SigningError::PeerSignature)
    }
}

impl<K: Kind> Clone for Verifying<K> {
    fn clone(&self) -> Self {
        Self { spki: self.spki.clone(), member: self.member, parsed: self.parsed.clone() }
    }
}

impl<K: Kind> PartialEq for Verifying<K> {
    fn eq(&self, other: &Self) -> bool {
        self.spki.as_ref() == other.spki.as_ref()
    }
}

impl<K: Kind> Eq for Verifying<K> {}

impl<K: Kind> core::fmt::Debug for Verifying<K> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "VerifyingKey({})", self.member)
    }
}

/// The bytes that a labelled signature covers.
pub(crate) fn labelled(label: &'static [u8], message: &[u8]) -> Vec<u8> {
    debug_assert!(
        label.starts_with(b"folkmoot") && !label.contains(&0),
        "labels name the project, without zeros"
    );
    let mut input = Vec::with_capacity(label.len().saturating_add(message.len()).saturating_add(1));
    input.extend_from_slice(label);
    input.push(0);
    input.extend_from_slice(message);
    input
}

/// The first four bytes in hexadecimal, for `Debug`.
pub(crate) fn head(bytes: &[u8]) -> String {
    crate::base::hex(bytes.iter().take(4))
}
