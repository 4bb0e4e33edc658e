//! A private key under a passphrase, as OpenSSL reads and writes it (RFC 5958, RFC 8018, RFC 7914).
//!
//! ```text
//! EncryptedPrivateKeyInfo   PBES2 { scrypt { salt 16, N 2^14, r 8, p 5 }, aes-256-cbc { iv 16 } }, the key in PKCS#8
//! openssl pkcs8 -topk8 -scrypt -in open.key -out identity.key      openssl pkey -in identity.key
//! ```
//! The form has no tag of its own: that a passphrase is right is seen by what comes out. Whoever
//! tries one has paid for the whole derivation by then, and what is compared after it depends on
//! the passphrase as on a random number, so the time says nothing of how wrong it was.

use crate::pem;
use crate::{CertificateError, Identity};
use der::asn1::{AnyRef, OctetString};
use der::pem::LineEnding;
use der::{Decode, Encode, Sequence, Tag, Tagged};
use folkmoot_base::{Entropy, Secret, draw};
use pkcs5::EncryptionScheme;
use pkcs5::pbes2::{Kdf, Parameters};
use pkcs5::scrypt::Params;

/// Longest passphrase, in bytes.
pub const PASSPHRASE_BYTES_MAX: usize = 1024;
/// Longest file: an RSA key of 3072 bits takes a third of it.
const FILE_BYTES_MAX: usize = 64 * 1024;
const UNKNOWN: &str = "it is encrypted in a way that is not read here. Encrypt it anew: openssl pkcs8 -topk8 -scrypt -in FILE -out FILE";
const SEALED: &str = "ENCRYPTED PRIVATE KEY";
const OPEN: &str = "PRIVATE KEY";

/// What is written: 16 MiB, five times. OpenSSL reads no more than 32 MiB, and asks for somewhat
/// more than N x r x 128, so N cannot be doubled.
const LOG_N: u8 = 14;
const BLOCK: u32 = 8;
const PARALLEL: u32 = 5;

/// What is read: at most 128 MiB, and six times the work of what is written.
const MEMORY_MAX: u64 = 1 << 20;
const WORK_MAX: u64 = 1 << 22;
const BLOCK_MAX: u16 = 64;
const PARALLEL_MAX: u16 = 64;
/// The same of PBKDF2, which OpenSSL writes unless told otherwise.
const ROUNDS_MAX: u32 = 10_000_000;

/// What a person keeps in mind, or a service manager in a safe. It is erased when dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passphrase(Secret<Vec<u8>>);

impl Passphrase {
    /// Takes over the bytes, as they were typed.
    ///
    /// # Errors
    /// [`SealedKeyError::LocalEmpty`], [`SealedKeyError::LocalLong`].
    pub fn new(bytes: Secret<Vec<u8>>) -> Result<Self, SealedKeyError> {
        match bytes.expose().len() {
            0 => Err(SealedKeyError::LocalEmpty),
            1..=PASSPHRASE_BYTES_MAX => Ok(Self(bytes)),
            _ => Err(SealedKeyError::LocalLong),
        }
    }
}

/// Why a key was not sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealedKeyError {
    /// A passphrase without a character.
    #[error("an empty passphrase protects nothing")]
    LocalEmpty,
    /// More than anybody types.
    #[error("the passphrase has more than {PASSPHRASE_BYTES_MAX} bytes")]
    LocalLong,
    /// It is another one.
    #[error("the passphrase is wrong")]
    LocalWrong,
    /// Not an encrypted key in PEM, or in a way that is not read.
    #[error("{0}")]
    LocalForm(&'static str),
    /// It opens, and what is inside does not serve.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// `EncryptedPrivateKeyInfo`.
#[derive(Sequence)]
struct SealedKey {
    scheme: EncryptionScheme,
    data: OctetString,
}

impl Identity {
    /// The private key as encrypted PKCS#8 PEM, with a salt of its own.
    ///
    /// # Errors
    /// [`SealedKeyError::LocalForm`] if it cannot be encoded, which no key does.
    pub fn sealed_key_pem(
        &self,
        passphrase: &Passphrase,
        entropy: &mut dyn Entropy,
    ) -> Result<String, SealedKeyError> {
        let params = Params::new(LOG_N, BLOCK, PARALLEL).map_err(|_| no_form())?;
        seal(&self.key_pem()?, passphrase, params, entropy)
    }

    /// Reads what [`Self::sealed_key_pem`] writes, or OpenSSL, and the certificate of that key.
    ///
    /// # Errors
    /// [`SealedKeyError::LocalWrong`], whatever is wrong with the passphrase; else as
    /// [`Self::from_pem`].
    pub fn from_sealed_pem(
        key_pem: &str,
        passphrase: &Passphrase,
        certificate_pem: &str,
    ) -> Result<Self, SealedKeyError> {
        Ok(Self::from_pem(open_sealed_key(key_pem, passphrase)?.expose(), certificate_pem)?)
    }
}

/// Whether a key file in PEM is encrypted.
pub fn is_sealed_key(pem: &str) -> bool {
    pem.contains(&format!("-----BEGIN {SEALED}-----"))
}

/// Decrypts a private key that was encrypted as PKCS#8: the same key, not encrypted, in PEM.
///
/// # Errors
/// [`SealedKeyError::LocalForm`] if it is not one whose making takes bounded memory and time;
/// [`SealedKeyError::LocalWrong`].
pub fn open_sealed_key(pem: &str, passphrase: &Passphrase) -> Result<Secret<String>, SealedKeyError> {
    let sealed = read(pem)?;
    let plain = sealed.scheme.decrypt(passphrase.0.expose(), sealed.data.as_bytes());
    let plain = Secret::new(plain.map_err(|why| match why {
        pkcs5::Error::DecryptFailed => SealedKeyError::LocalWrong,
        // A cipher or a digest that is not compiled in: no passphrase would do.
        _ => SealedKeyError::LocalForm(UNKNOWN),
    })?);
    // Of 256 wrong passphrases one leaves a padding that could be right.
    if !is_private_key(plain.expose()) {
        return Err(SealedKeyError::LocalWrong);
    }
    let pem = der::pem::encode_string(OPEN, LineEnding::LF, plain.expose());
    pem.map(Secret::new).map_err(|_| no_form())
}

fn seal(
    open_pem: &Secret<String>,
    passphrase: &Passphrase,
    params: Params,
    entropy: &mut dyn Entropy,
) -> Result<String, SealedKeyError> {
    let key = pem::first(open_pem.expose(), &[OPEN]).map_err(|_| no_form())?.der;
    let (salt, iv) = (draw::<16>(entropy), draw::<16>(entropy));
    let parameters = Parameters::generate_scrypt_aes256cbc(params, &salt, iv).map_err(|_| no_form())?;
    let data = parameters.encrypt(passphrase.0.expose(), key.expose()).map_err(|_| no_form())?;
    let data = OctetString::new(data).map_err(|_| no_form())?;
    let der = SealedKey { scheme: parameters.into(), data }.to_der().map_err(|_| no_form())?;
    der::pem::encode_string(SEALED, LineEnding::LF, &der).map_err(|_| no_form())
}

/// Reads the form. Nothing is derived yet: what a hostile file asks for is judged first.
fn read(pem: &str) -> Result<SealedKey, SealedKeyError> {
    let refuse = SealedKeyError::LocalForm;
    if pem.len() > FILE_BYTES_MAX {
        return Err(refuse("it is longer than any key that is read here"));
    }
    let all = pem::read(pem, &[SEALED]).map_err(|_| no_form())?;
    let [one] = all.as_slice() else { return Err(no_form()) };
    let sealed = SealedKey::from_der(one.der.expose()).map_err(|_| refuse(UNKNOWN))?;
    let parameters = sealed.scheme.pbes2().ok_or(refuse(UNKNOWN))?;
    if is_bounded(&parameters.kdf) {
        return Ok(sealed);
    }
    Err(refuse(
        "its passphrase would take more memory or time than is given here. Encrypt it anew: openssl pkcs8 \
                -topk8 -scrypt -in FILE -out FILE",
    ))
}

fn is_bounded(kdf: &Kdf) -> bool {
    match kdf {
        Kdf::Scrypt(scrypt) => {
            let (n, r, p) = (scrypt.cost_parameter, scrypt.block_size, scrypt.parallelization);
            let memory = n.saturating_mul(r.into());
            n.is_power_of_two()
                && n > 1
                && (1..=BLOCK_MAX).contains(&r)
                && (1..=PARALLEL_MAX).contains(&p)
                && memory <= MEMORY_MAX
                && memory.saturating_mul(p.into()) <= WORK_MAX
        }
        Kdf::Pbkdf2(pbkdf2) => (1..=ROUNDS_MAX).contains(&pbkdf2.iteration_count),
        _ => false,
    }
}

/// Whether this is a `PrivateKeyInfo` from its first byte to its last: a sequence that begins with
/// version 0 or 1.
fn is_private_key(der: &[u8]) -> bool {
    AnyRef::from_der(der)
        .is_ok_and(|any| any.tag() == Tag::Sequence && matches!(any.value(), [2, 1, 0 | 1, 0x30, ..]))
}

fn no_form() -> SealedKeyError {
    SealedKeyError::LocalForm("it does not hold exactly one encrypted key in PEM (PKCS#8)")
}

#[cfg(test)]
mod tests;
