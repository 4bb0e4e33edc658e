//! A signature as the transcript carries it: which algorithm, then the bytes.

use folkmoot_base::codec::{Blob, TlsDeserializeBytes, TlsSerialize, TlsSize, codec_enum};

codec_enum! {
    /// How a voter signs.
    pub enum Algorithm {
        /// ECDSA over P-256 with SHA-256: 64 bytes, r and s (FIPS 186-5).
        P256 = 1,
        /// Ed25519: 64 bytes (RFC 8032).
        Ed25519 = 2,
        /// RSA of 2,048 to 4,096 bits, PKCS #1 v1.5 with SHA-256 (RFC 8017).
        Rsa = 3,
    }
}

/// A signature with its algorithm. It is a claim until somebody has verified it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct SignatureBytes {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The signature in the algorithm's form, at most 512 bytes.
    pub bytes: Blob,
}
