//! Keys: drawn, kept, and announced with a proof. Others use them only once the proof is checked.

use super::schnorr::{Nonce, challenge, fits};
use super::{AsmError, VERSION, take};
use crate::PrimeGroup;
use crate::base::{Digest, Entropy, MemberId, Secret, digest};

const PROOF_LABEL: &[u8] = b"folkmoot asm possession v1";

/// A member's secret key. Erased when dropped.
pub struct SecretKey<G: PrimeGroup> {
    secret: Secret<G::Scalar>,
    public: G::Element,
}

impl<G: PrimeGroup> SecretKey<G> {
    /// Draws a key.
    pub fn generate(entropy: &mut dyn Entropy) -> Self {
        Self::of_secret(Secret::new(G::draw(entropy)))
    }

    /// For a sealed store: version 1, then the number.
    pub fn encode(&self) -> Secret<Vec<u8>> {
        let number = Secret::new(G::encode_scalar(self.secret.expose()));
        let mut out = Vec::with_capacity(G::SCALAR_BYTES.saturating_add(1));
        out.push(VERSION);
        out.extend_from_slice(number.expose());
        Secret::new(out)
    }

    /// Reads what [`Self::encode`] writes.
    ///
    /// # Errors
    /// [`AsmError::LocalKey`] for anything else, zero included.
    pub fn decode(bytes: &[u8]) -> Result<Self, AsmError> {
        let number = bytes.strip_prefix(&[VERSION]).ok_or(AsmError::LocalKey)?;
        let secret = G::decode_scalar(number).filter(|secret| *secret != G::zero());
        secret.map(Secret::new).map(Self::of_secret).ok_or(AsmError::LocalKey)
    }

    /// The public key with proof that its holder, as `member` of the group that `context` names
    /// (its GroupId), knows the secret. It proves nothing about who `member` is: the member's
    /// identity key has to sign it, as in a request.
    pub fn announce(
        &self,
        member: MemberId,
        context: &[u8],
        entropy: &mut dyn Entropy,
    ) -> KeyAnnouncement<G> {
        let bound = possession::<G>(&member, &context_digest::<G>(context), &key_digest::<G>(&self.public));
        let nonce = Nonce::<G>::draw(self.secret.expose(), &bound, entropy);
        let element = nonce.element();
        let challenge = challenge::<G>(PROOF_LABEL, &bound, &element);
        KeyAnnouncement { key: self.public, element, answer: nonce.answer(challenge, self.secret.expose()) }
    }

    pub(super) fn secret(&self) -> &Secret<G::Scalar> {
        &self.secret
    }

    /// Whether `key` is the public half of this one.
    pub fn is_of(&self, key: &ProvenKey<G>) -> bool {
        self.public == key.key
    }

    pub(super) fn of_secret(secret: Secret<G::Scalar>) -> Self {
        Self { public: G::raise_generator(secret.expose()), secret }
    }
}

impl<G: PrimeGroup> core::fmt::Debug for SecretKey<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("SecretKey(..)")
    }
}

/// A public key and a proof of possession, not yet checked: it can only be sent, and checked.
#[derive(Clone, Copy)]
pub struct KeyAnnouncement<G: PrimeGroup> {
    key: G::Element,
    element: G::Element,
    answer: G::Scalar,
}

impl<G: PrimeGroup> KeyAnnouncement<G> {
    /// Bytes of the encoding.
    pub const BYTES: usize = 1 + 2 * G::ELEMENT_BYTES + G::SCALAR_BYTES;

    /// Version 1 ‖ key ‖ R ‖ s.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Self::BYTES);
        out.push(VERSION);
        out.extend(G::encode(&self.key));
        out.extend(G::encode(&self.element));
        out.extend(G::encode_scalar(&self.answer));
        out
    }

    /// Reads what [`Self::encode`] writes.
    ///
    /// # Errors
    /// [`AsmError::WireKey`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, AsmError> {
        Self::read(bytes).ok_or(AsmError::WireKey)
    }

    /// Checks that whoever announced this knows the secret of the key, as `member` of the group
    /// that `context` names.
    ///
    /// `member` is the member that the caller knows to have said it, by the signature over it;
    /// never a name read beside it.
    ///
    /// # Errors
    /// [`AsmError::PeerProof`].
    pub fn check(&self, member: MemberId, context: &[u8]) -> Result<ProvenKey<G>, AsmError> {
        let context = context_digest::<G>(context);
        let digest = key_digest::<G>(&self.key);
        let bound = possession::<G>(&member, &context, &digest);
        let challenge = challenge::<G>(PROOF_LABEL, &bound, &self.element);
        if fits::<G>(&self.element, &self.key, challenge, self.answer) {
            Ok(ProvenKey { member, context, key: self.key, digest })
        } else {
            Err(AsmError::PeerProof)
        }
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&[VERSION])?;
        let key = G::decode(take(&mut rest, G::ELEMENT_BYTES)?)?;
        let element = G::decode(take(&mut rest, G::ELEMENT_BYTES)?)?;
        Some(Self { key, element, answer: G::decode_scalar(rest)? })
    }
}

impl<G: PrimeGroup> PartialEq for KeyAnnouncement<G> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.element == other.element && self.answer == other.answer
    }
}

impl<G: PrimeGroup> core::fmt::Debug for KeyAnnouncement<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("KeyAnnouncement(..)")
    }
}

/// A member's public key whose secret it has proven to know. [`KeyAnnouncement::check`] makes one.
/// For keys that members have proven already there is
/// [`ProvenKey::of_possession_proven_elsewhere`](ProvenKey#method.of_possession_proven_elsewhere).
#[derive(Clone, Copy)]
pub struct ProvenKey<G: PrimeGroup> {
    pub(super) member: MemberId,
    pub(super) context: Digest,
    pub(super) key: G::Element,
    /// Stands for the key in hashes, so that nobody encodes it again.
    pub(super) digest: Digest,
}

impl<G: PrimeGroup> ProvenKey<G> {
    /// Takes the caller's word for the proof.
    pub(super) fn vouched(member: MemberId, context: &[u8], key: G::Element) -> Self {
        Self { member, context: context_digest::<G>(context), digest: key_digest::<G>(&key), key }
    }

    /// Whose it is.
    pub fn member(&self) -> MemberId {
        self.member
    }
}

impl<G: PrimeGroup> core::fmt::Debug for ProvenKey<G> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "ProvenKey({})", self.member)
    }
}

/// What stands for a group's context, of whatever length, in hashes.
fn context_digest<G: PrimeGroup>(context: &[u8]) -> Digest {
    digest(&[b"folkmoot asm context v1", &[0], G::NAME, &[0], context])
}

fn key_digest<G: PrimeGroup>(key: &G::Element) -> Digest {
    digest(&[b"folkmoot asm key v1", &[0], G::NAME, &[0], &G::encode(key)])
}

/// What is proven: that `member` of this group has this key.
fn possession<G: PrimeGroup>(member: &MemberId, context: &Digest, key: &Digest) -> Digest {
    digest(&[b"folkmoot asm holder v1", &[0], G::NAME, &[0], context, &member.0, key])
}
