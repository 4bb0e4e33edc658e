//! Multisignatures by the keys that members have already: the P-256 keys that their certificates
//! name, and that sign by ECDSA elsewhere. docs/decisions/0020-one-key-for-asm.md says why one key
//! may do both.

use super::{AsmError, ProvenKey, SecretKey, Signers, Signing};
use crate::shared::{AnyRun, Outcome, mapped};
use crate::{Fault, FaultKind, P256, RunId, SigningKey, VerifyingKey, plain};

impl ProvenKey<P256> {
    /// The key that a member's certificate names, as its key in the group that `context` names (its
    /// GroupId). The member is who the key says: its digest.
    /// This checks nothing. **Call it only with a key under which you, or the roster that you took
    /// it from, verified an ECDSA signature over bytes that hold this very key**: a charter, a
    /// request, a self-signed certificate. A signature over bytes that do not contain the key
    /// proves no possession: a key can be found for such bytes afterwards, even one made from
    /// another's (`rogue.rs` does it). If a key was only announced, a multisignature that verifies
    /// says that the pieces fit, and not who signed.
    ///
    /// # Errors
    /// [`AsmError::WireKey`] if it is not on P-256: a charter with this scheme allows no other key.
    pub fn of_possession_proven_elsewhere(key: &VerifyingKey, context: &[u8]) -> Result<Self, AsmError> {
        let point = key.as_p256().and_then(plain::VerifyingKey::point).ok_or(AsmError::WireKey)?;
        Ok(Self::vouched(key.member_id(), context, point))
    }
}

impl SecretKey<P256> {
    /// The secret half of an identity key, in an erased place of its own. What it signs here is
    /// hashed by SHA-512 under labels of this module and the group's name; nonces are drawn, never
    /// derived as for ECDSA.
    fn of_identity(key: &plain::SigningKey) -> Self {
        Self::of_secret(key.scalar())
    }
}

/// The holder of `key` as a signer among `signers`, for `message` under `label` (which begins with
/// "folkmoot"). Its run ends in [`Outcome::Signature`], an encoded
/// [`MultiSignature`](super::MultiSignature).
///
/// # Errors
/// [`FaultKind::LocalSigners`] if the holder is not one of the signers, or its key is not on P-256.
pub fn signer(
    run: RunId,
    key: &SigningKey,
    signers: Signers<P256>,
    label: &'static [u8],
    message: &[u8],
) -> Result<AnyRun, Fault> {
    let me = key.verifying_key().member_id();
    let key = key.as_p256().ok_or(Fault { kind: FaultKind::LocalSigners, culprits: Vec::new() })?;
    let signing = Signing::new(run, me, &SecretKey::of_identity(key), signers, label, message)?;
    Ok(mapped(signing, |signed| Outcome::Signature(signed.encode())))
}

/// A listener to the run of these signers. It names those who lie in it and gets its result, but
/// sends nothing.
pub fn watch(run: RunId, signers: Signers<P256>, label: &'static [u8], message: &[u8]) -> AnyRun {
    mapped(Signing::watch(run, signers, label, message), |signed| Outcome::Signature(signed.encode()))
}
