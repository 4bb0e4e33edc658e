//! The keys of members: one of four algorithms, behind one interface.
//!
//! | word | key | signature |
//! |---|---|---|
//! | `p256` | [`crate::plain`] | r ‖ s, 64 bytes, low s; DER in X.509 and CMS |
//! | `ed25519` | [`crate::plain_ed25519`] | R ‖ s, 64 bytes |
//! | `rsa-2048`, `rsa-3072` | [`crate::plain_rsa`] | as long as the modulus |
//!
//! A key's bytes say its algorithm, and each algorithm has one SPKI form. So nobody can show a key
//! of one algorithm as one of another, and a signature of another algorithm than the key's is
//! refused before anything is computed.

use crate::verifying::labelled;
use crate::{KeyKind, SigningError, plain, plain_ed25519 as ed25519, plain_rsa as rsa};
use bytes::Bytes;
use folkmoot_base::codec::{DeserializeBytes, Serialize, Size, tls_codec};
use folkmoot_base::{Algorithm, Entropy, MemberId, NodeId, Secret, SignatureBytes};
use std::io::Write;
use std::sync::Arc;

/// What kind of key a member has, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    P256,
    /// Ed25519.
    Ed25519,
    /// RSA of 2048 bits, PKCS#1 v1.5 with SHA-256.
    Rsa2048,
    /// RSA of 3072 bits, PKCS#1 v1.5 with SHA-256.
    Rsa3072,
}

impl KeyAlgorithm {
    /// All that there are.
    pub const ALL: &[Self] = &[Self::P256, Self::Ed25519, Self::Rsa2048, Self::Rsa3072];

    /// The word that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::P256 => "p256",
            Self::Ed25519 => "ed25519",
            Self::Rsa2048 => "rsa-2048",
            Self::Rsa3072 => "rsa-3072",
        }
    }

    /// The algorithm of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// The word in a charter, which names sizes apart.
    pub fn family(self) -> &'static str {
        match self {
            Self::P256 => "p256",
            Self::Ed25519 => "ed25519",
            Self::Rsa2048 | Self::Rsa3072 => "rsa",
        }
    }

    /// Bits of an RSA modulus.
    pub fn rsa_bits(self) -> Option<u32> {
        match self {
            Self::P256 | Self::Ed25519 => None,
            Self::Rsa2048 => Some(2048),
            Self::Rsa3072 => Some(3072),
        }
    }

    /// Bytes of a signature as it stands in our own messages.
    pub fn signature_bytes(self) -> usize {
        match self {
            Self::P256 | Self::Ed25519 => 64,
            Self::Rsa2048 => 256,
            Self::Rsa3072 => 384,
        }
    }
}

/// A private key. Erased when dropped; its `Debug` shows whose it is and nothing else.
#[derive(Clone)]
pub struct SigningKey {
    half: Half,
    public: VerifyingKey,
}

#[derive(Clone)]
enum Half {
    P256(Arc<plain::SigningKey>),
    Ed25519(Arc<ed25519::SigningKey>),
    Rsa(Arc<rsa::SigningKey>),
}

impl SigningKey {
    /// Draws a key on P-256: [`plain::SigningKey::generate`].
    pub fn generate(entropy: &mut dyn Entropy) -> Self {
        plain::SigningKey::generate(entropy).into()
    }

    /// Draws a key of any algorithm. For RSA that takes a while: two primes are looked for.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if no RSA key comes of this entropy, as of one that repeats.
    pub fn draw(algorithm: KeyAlgorithm, entropy: &mut dyn Entropy) -> Result<Self, SigningError> {
        Ok(match algorithm {
            KeyAlgorithm::P256 => Self::generate(entropy),
            KeyAlgorithm::Ed25519 => ed25519::SigningKey::generate(entropy).into(),
            KeyAlgorithm::Rsa2048 => rsa::SigningKey::draw(rsa::Size::Rsa2048, entropy)?.into(),
            KeyAlgorithm::Rsa3072 => rsa::SigningKey::draw(rsa::Size::Rsa3072, entropy)?.into(),
        })
    }

    /// Reads a key of any algorithm from PKCS#8 DER. The same file is not a key of two algorithms:
    /// it names its own.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it is none.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, SigningError> {
        if let Ok(key) = plain::SigningKey::from_pkcs8_der(der) {
            return Ok(key.into());
        }
        if let Ok(key) = ed25519::SigningKey::from_pkcs8_der(der) {
            return Ok(key.into());
        }
        rsa::SigningKey::from_pkcs8_der(der).map(Self::from)
    }

    /// Reads a P-256 key from SEC 1: [`plain::SigningKey::from_sec1_der`].
    ///
    /// # Errors
    /// [`SigningError::LocalKey`].
    pub fn from_sec1_der(der: &[u8]) -> Result<Self, SigningError> {
        plain::SigningKey::from_sec1_der(der).map(Self::from)
    }

    /// Writes the key as PKCS#8 DER, not encrypted.
    ///
    /// # Errors
    /// [`SigningError::LocalKey`] if it cannot be encoded, which no key does.
    pub fn to_pkcs8_der(&self) -> Result<Secret<Vec<u8>>, SigningError> {
        match &self.half {
            Half::P256(key) => key.to_pkcs8_der(),
            Half::Ed25519(key) => Ok(key.to_pkcs8_der()),
            Half::Rsa(key) => key.to_pkcs8_der(),
        }
    }

    /// The key on P-256, where an algorithm needs one ([`crate::asm`], topics of LCM).
    pub fn as_p256(&self) -> Option<&plain::SigningKey> {
        match &self.half {
            Half::P256(key) => Some(key),
            Half::Ed25519(_) | Half::Rsa(_) => None,
        }
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs `message` under `label`, which begins with "folkmoot" and names purpose and version
    /// (DECISIONS N4: `message` covers the GroupId). Deterministic; one message has one signature.
    pub fn sign(&self, label: &'static [u8], message: &[u8]) -> Signature {
        self.sign_raw(&labelled(label, message))
    }

    /// [`Self::sign`], as it stands in our own messages.
    pub fn sign_wire(&self, label: &'static [u8], message: &[u8]) -> SignatureBytes {
        self.sign(label, message).to_wire()
    }

    /// Signs `message` without a label. Only for X.509 and CMS, whose formats fix the bytes.
    ///
    /// The RSA library checks its result before it leaves, so that a fault of the processor shows
    /// nobody the key. If that check fails, the signature is no signature, and nobody accepts it.
    pub fn sign_raw(&self, message: &[u8]) -> Signature {
        match &self.half {
            Half::P256(key) => Signature::P256(key.sign_raw(message)),
            Half::Ed25519(key) => Signature::Ed25519(key.sign_raw(message)),
            Half::Rsa(key) => {
                Signature::Rsa(key.sign_raw(message).unwrap_or_else(|_| key.verifying_key().no_signature()))
            }
        }
    }
}

impl From<plain::SigningKey> for SigningKey {
    fn from(key: plain::SigningKey) -> Self {
        Self { public: key.verifying_key().clone().into(), half: Half::P256(Arc::new(key)) }
    }
}

impl From<ed25519::SigningKey> for SigningKey {
    fn from(key: ed25519::SigningKey) -> Self {
        let public = VerifyingKey::Ed25519(key.verifying_key().clone());
        Self { public, half: Half::Ed25519(Arc::new(key)) }
    }
}

impl From<rsa::SigningKey> for SigningKey {
    fn from(key: rsa::SigningKey) -> Self {
        let public = VerifyingKey::Rsa(key.verifying_key().clone());
        Self { public, half: Half::Rsa(Arc::new(key)) }
    }
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "SigningKey({}, ..)", self.public.member_id())
    }
}

/// A public key of one of the algorithms, ready to verify with.
#[derive(Clone, PartialEq, Eq)]
pub enum VerifyingKey {
    /// On P-256.
    P256(plain::VerifyingKey),
    /// Ed25519.
    Ed25519(ed25519::VerifyingKey),
    /// RSA of 2048 or 3072 bits.
    Rsa(rsa::VerifyingKey),
}

impl VerifyingKey {
    /// Reads an SPKI of any algorithm, in the one form that its algorithm has (`SIGN-03`,
    /// `SIGN-05`, `SIGN-07`, `SIGN-09`).
    ///
    /// # Errors
    /// [`SigningError::WireKey`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, SigningError> {
        match der.len() {
            plain::SPKI_BYTES => plain::VerifyingKey::from_spki_der(der).map(Self::P256),
            ed25519::SPKI_BYTES => ed25519::VerifyingKey::from_spki_der(der).map(Self::Ed25519),
            _ => rsa::VerifyingKey::from_spki_der(der).map(Self::Rsa),
        }
    }

    /// The key as SPKI DER.
    pub fn spki_der(&self) -> &[u8] {
        match self {
            Self::P256(key) => key.spki_der(),
            Self::Ed25519(key) => key.spki_der(),
            Self::Rsa(key) => key.spki_der(),
        }
    }

    /// SHA-256 of the SPKI, as the name of a member.
    pub fn member_id(&self) -> MemberId {
        match self {
            Self::P256(key) => key.member_id(),
            Self::Ed25519(key) => key.member_id(),
            Self::Rsa(key) => key.member_id(),
        }
    }

    /// SHA-256 of the SPKI, as the name of a node.
    pub fn node_id(&self) -> NodeId {
        self.member_id().node()
    }

    /// Which algorithm, and how long.
    pub fn algorithm(&self) -> KeyAlgorithm {
        match self {
            Self::P256(_) => KeyAlgorithm::P256,
            Self::Ed25519(_) => KeyAlgorithm::Ed25519,
            Self::Rsa(key) if key.size() == rsa::Size::Rsa3072 => KeyAlgorithm::Rsa3072,
            Self::Rsa(_) => KeyAlgorithm::Rsa2048,
        }
    }

    /// Which kind of signature it verifies.
    pub fn kind(&self) -> KeyKind {
        match self {
            Self::P256(_) => KeyKind::EcdsaP256,
            Self::Ed25519(_) => KeyKind::Ed25519,
            Self::Rsa(_) => KeyKind::Rsa,
        }
    }

    /// The key on P-256, where an algorithm needs one.
    pub fn as_p256(&self) -> Option<&plain::VerifyingKey> {
        match self {
            Self::P256(key) => Some(key),
            Self::Ed25519(_) | Self::Rsa(_) => None,
        }
    }

    /// Checks a signature that was made under the same label.
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`], also for a signature of another algorithm.
    pub fn verify(
        &self,
        label: &'static [u8],
        message: &[u8],
        signature: &Signature,
    ) -> Result<(), SigningError> {
        self.verify_raw(&labelled(label, message), signature)
    }

    /// Checks a signature without a label, as X.509 and CMS have them.
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`], also for a signature of another algorithm.
    pub fn verify_raw(&self, message: &[u8], signature: &Signature) -> Result<(), SigningError> {
        match (self, signature) {
            (Self::P256(key), Signature::P256(signature)) => key.verify_raw(message, signature),
            (Self::Ed25519(key), Signature::Ed25519(signature)) => key.verify_raw(message, signature),
            (Self::Rsa(key), Signature::Rsa(signature)) => key.verify_raw(message, signature),
            _ => Err(SigningError::PeerSignature),
        }
    }

    /// [`Self::verify`] for a signature as it stands in our own messages.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`],
    /// [`SigningError::PeerSignature`].
    pub fn verify_wire(
        &self,
        label: &'static [u8],
        message: &[u8],
        signature: &SignatureBytes,
    ) -> Result<(), SigningError> {
        self.verify(label, message, &Signature::from_wire(signature)?)
    }
}

impl From<plain::VerifyingKey> for VerifyingKey {
    fn from(key: plain::VerifyingKey) -> Self {
        Self::P256(key)
    }
}

impl core::fmt::Debug for VerifyingKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "VerifyingKey({}, {})", self.algorithm().name(), self.member_id())
    }
}

/// A well-formed signature of one of the algorithms. It has one encoding in each form.
#[derive(Clone, PartialEq, Eq)]
pub enum Signature {
    /// Of P-256.
    P256(plain::Signature),
    /// Of Ed25519.
    Ed25519(ed25519::Signature),
    /// Of RSA.
    Rsa(rsa::Signature),
}

impl Signature {
    /// Reads a signature as X.509 and CMS carry it under a key of this kind: DER for P-256, bare
    /// bytes for the others.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`].
    pub fn from_paper(kind: KeyKind, bytes: &[u8]) -> Result<Self, SigningError> {
        match kind {
            KeyKind::EcdsaP256 => plain::Signature::from_der(bytes).map(Self::P256),
            KeyKind::Ed25519 => ed25519::Signature::from_bytes(bytes).map(Self::Ed25519),
            KeyKind::Rsa => rsa_signature(bytes),
        }
    }

    /// [`Self::from_paper`] for a signature that other software made: of the two that ECDSA has,
    /// the lower one is kept.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`].
    pub fn from_foreign_paper(kind: KeyKind, bytes: &[u8]) -> Result<Self, SigningError> {
        match kind {
            KeyKind::EcdsaP256 => plain::Signature::from_foreign_der(bytes).map(Self::P256),
            KeyKind::Ed25519 | KeyKind::Rsa => Self::from_paper(kind, bytes),
        }
    }

    /// As X.509 and CMS carry it.
    pub fn to_paper(&self) -> Vec<u8> {
        match self {
            Self::P256(signature) => signature.to_der(),
            Self::Ed25519(signature) => signature.to_bytes().to_vec(),
            Self::Rsa(signature) => signature.as_bytes().to_vec(),
        }
    }

    /// The kind of key that made it.
    pub fn kind(&self) -> KeyKind {
        match self {
            Self::P256(_) => KeyKind::EcdsaP256,
            Self::Ed25519(_) => KeyKind::Ed25519,
            Self::Rsa(_) => KeyKind::Rsa,
        }
    }

    /// As it stands in our own messages.
    pub fn to_wire(&self) -> SignatureBytes {
        match self {
            Self::P256(signature) => signature.to_wire(),
            Self::Ed25519(signature) => SignatureBytes {
                algorithm: Algorithm::Ed25519,
                bytes: Bytes::copy_from_slice(&signature.to_bytes()),
            },
            Self::Rsa(signature) => SignatureBytes {
                algorithm: Algorithm::Rsa,
                bytes: Bytes::copy_from_slice(signature.as_bytes()),
            },
        }
    }

    /// Reads what [`Self::to_wire`] makes.
    ///
    /// # Errors
    /// [`SigningError::WireSignature`], [`SigningError::WireHighS`].
    pub fn from_wire(signature: &SignatureBytes) -> Result<Self, SigningError> {
        match signature.algorithm {
            Algorithm::P256 => plain::Signature::from_bytes(&signature.bytes).map(Self::P256),
            Algorithm::Ed25519 => ed25519::Signature::from_bytes(&signature.bytes).map(Self::Ed25519),
            Algorithm::Rsa => rsa_signature(&signature.bytes),
        }
    }
}

/// Of a key that signs today: 1024 bits do not.
fn rsa_signature(bytes: &[u8]) -> Result<Signature, SigningError> {
    if bytes.len() == rsa::Size::Historical1024.bytes() {
        return Err(SigningError::WireSignature);
    }
    rsa::Signature::from_bytes(bytes).map(Signature::Rsa)
}

impl core::fmt::Debug for Signature {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::P256(signature) => signature.fmt(out),
            Self::Ed25519(signature) => signature.fmt(out),
            Self::Rsa(signature) => signature.fmt(out),
        }
    }
}

impl Size for Signature {
    fn tls_serialized_len(&self) -> usize {
        self.to_wire().tls_serialized_len()
    }
}

impl Serialize for Signature {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        self.to_wire().tls_serialize(writer)
    }
}

impl DeserializeBytes for Signature {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (wire, rest) = SignatureBytes::tls_deserialize_bytes(bytes)?;
        let value =
            Self::from_wire(&wire).map_err(|error| tls_codec::Error::DecodingError(error.to_string()))?;
        Ok((value, rest))
    }
}
