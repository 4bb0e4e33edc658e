//! Private keys in files, also those that other software wrote.
//!
//! ```text
//! openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256     -----BEGIN PRIVATE KEY-----     PKCS#8 (RFC 5208)
//! openssl genpkey -algorithm ed25519                                 -----BEGIN PRIVATE KEY-----     PKCS#8 (RFC 8410)
//! openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072       -----BEGIN PRIVATE KEY-----     PKCS#8
//! openssl ecparam -genkey -name prime256v1                           -----BEGIN EC PRIVATE KEY-----  SEC 1 (RFC 5915), parameters before it
//! ```

use crate::pem::{self, Unread};
use crate::{CertificateError, Identity};
use der::pem::LineEnding;
use folkmoot_base::{Entropy, Secret, UnixTime};
use folkmoot_signing::{SigningKey, VerifyingKey};

/// Longest file: an RSA key of 3072 bits takes about 2.5 KiB, and certificates or a mail may stand
/// around it.
const FILE_BYTES_MAX: usize = 64 * 1024;
const PKCS8: &str = "PRIVATE KEY";
const SEC1: &str = "EC PRIVATE KEY";
const PKCS1: &str = "RSA PRIVATE KEY";
const SEALED: &str = "ENCRYPTED PRIVATE KEY";
const ENCRYPTED: &str = "the key is encrypted. Decrypt it first: openssl pkey -in FILE -out FILE";
const NO_KEY: &str = "a member cannot have such a key: it must be of P-256 (prime256v1) with a named curve, Ed25519, or RSA with 2048 or 3072 bits and exponent 65537";

impl Identity {
    /// Makes an identity of a key that other software drew: PEM, PKCS#8, not encrypted, of any
    /// [`folkmoot_signing::KeyAlgorithm`]; P-256 with its curve named, also in SEC 1.
    ///
    /// # Errors
    /// [`CertificateError::LocalPem`] says what is wrong with the file;
    /// [`CertificateError::LocalValue`] says what is wrong with name or term.
    pub fn import(
        key_pem: &str,
        name: &str,
        entropy: &mut dyn Entropy,
        not_before: UnixTime,
        not_after: UnixTime,
    ) -> Result<Self, CertificateError> {
        Self::of_key(key_from_pem(key_pem)?, name, entropy, not_before, not_after)
    }
}

/// Writes a private key as PKCS#8 PEM, not encrypted.
///
/// # Errors
/// [`CertificateError::LocalPem`] if it cannot be encoded, which no key does.
pub fn key_to_pem(key: &SigningKey) -> Result<Secret<String>, CertificateError> {
    let refuse = CertificateError::LocalPem("the key cannot be read");
    let der = key.to_pkcs8_der().map_err(|_| refuse.clone())?;
    der::pem::encode_string(PKCS8, LineEnding::LF, der.expose()).map(Secret::new).map_err(|_| refuse)
}

/// Reads a public key: PEM, as `openssl pkey -pubout` writes it.
///
/// # Errors
/// [`CertificateError::LocalPem`] says what is wrong with the file.
pub fn public_from_pem(pem: &str) -> Result<VerifyingKey, CertificateError> {
    let refuse = CertificateError::LocalPem;
    let block = pem::first(pem, &["PUBLIC KEY"]).map_err(|why| match why {
        Unread::Nothing => refuse("it holds no public key"),
        Unread::Damaged | Unread::Headers => refuse("the key cannot be read"),
    })?;
    VerifyingKey::from_spki_der(block.der.expose()).map_err(|_| refuse(NO_KEY))
}

/// Reads a private key: PEM, PKCS#8, not encrypted; P-256 also in SEC 1. Whatever stands around it
/// does not matter, if that is no other key.
///
/// # Errors
/// [`CertificateError::LocalPem`] says what is wrong with the file.
pub fn key_from_pem(pem: &str) -> Result<SigningKey, CertificateError> {
    let refuse = CertificateError::LocalPem;
    if pem.len() > FILE_BYTES_MAX {
        return Err(refuse("it is longer than any key that a member can have"));
    }
    let found = pem::read(pem, &[PKCS8, SEC1, SEALED, PKCS1]).map_err(|why| match why {
        Unread::Nothing => refuse("it holds no private key"),
        Unread::Damaged => refuse("the key cannot be read"),
        // So OpenSSL encrypted keys before PKCS#8.
        Unread::Headers => refuse(ENCRYPTED),
    })?;
    let [key] = found.as_slice() else { return Err(refuse("it holds more than one private key")) };
    let read = match key.label {
        PKCS8 => SigningKey::from_pkcs8_der(key.der.expose()),
        SEC1 => SigningKey::from_sec1_der(key.der.expose()),
        PKCS1 => {
            return Err(refuse("the key is in an older form. Convert it: openssl pkey -in FILE -out FILE"));
        }
        _ => return Err(refuse(ENCRYPTED)),
    };
    read.map_err(|_| refuse(NO_KEY))
}
