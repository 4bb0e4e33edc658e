//! A signature as messages and papers of ours carry it: which algorithm, then the bytes.

use crate::codec::{DeserializeBytes, Serialize, Size, codec_enum, tls_codec};
use bytes::Bytes;
use std::io::Write;

codec_enum! {
    /// How a member signs.
    pub enum Algorithm {
        /// ECDSA over P-256 with SHA-256: 64 bytes, r and s, low s (FIPS 186-5).
        P256 = 1,
        /// Ed25519: 64 bytes (RFC 8032).
        Ed25519 = 2,
        /// RSA of 2,048 to 4,096 bits, PKCS #1 v1.5 with SHA-256 (RFC 8017).
        Rsa = 3,
    }
}

/// Longest signature, in bytes: RSA of 4,096 bits.
pub const SIGNATURE_BYTES_MAX: usize = 512;

/// A signature with its algorithm: one byte, a length of two bytes, the signature. It is a claim
/// until somebody has verified it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignatureBytes {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The signature in the algorithm's form, at most [`SIGNATURE_BYTES_MAX`] bytes.
    pub bytes: Bytes,
}

impl SignatureBytes {
    /// Stands where a signature will be.
    pub const NONE: Self = Self { algorithm: Algorithm::P256, bytes: Bytes::new() };
}

impl Size for SignatureBytes {
    fn tls_serialized_len(&self) -> usize {
        self.bytes.len().saturating_add(3)
    }
}

impl Serialize for SignatureBytes {
    fn tls_serialize<W: Write>(&self, writer: &mut W) -> Result<usize, tls_codec::Error> {
        let length = u16::try_from(self.bytes.len()).map_err(|_| tls_codec::Error::InvalidVectorLength)?;
        self.algorithm.tls_serialize(writer)?;
        length.tls_serialize(writer)?;
        writer
            .write_all(&self.bytes)
            .map_err(|_| tls_codec::Error::InvalidWriteLength("signature".into()))?;
        Ok(self.tls_serialized_len())
    }
}

impl DeserializeBytes for SignatureBytes {
    fn tls_deserialize_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), tls_codec::Error> {
        let (algorithm, rest) = Algorithm::tls_deserialize_bytes(bytes)?;
        let (length, rest) = u16::tls_deserialize_bytes(rest)?;
        let length = usize::from(length);
        if length > SIGNATURE_BYTES_MAX {
            return Err(tls_codec::Error::InvalidVectorLength);
        }
        let (value, rest) = rest.split_at_checked(length).ok_or(tls_codec::Error::EndOfStream)?;
        Ok((Self { algorithm, bytes: Bytes::copy_from_slice(value) }, rest))
    }
}

/// Of P-256.
impl From<[u8; 64]> for SignatureBytes {
    fn from(bytes: [u8; 64]) -> Self {
        Self { algorithm: Algorithm::P256, bytes: Bytes::copy_from_slice(&bytes) }
    }
}
