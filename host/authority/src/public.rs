//! What others may know of an authority: the certificate of its key, and the identity certificate
//! of its node. These are two PEM blocks in one file, in this order; `openssl x509` shows the
//! first.

use crate::AuthorityError;
use crate::office::file;
use folkmoot_identity::{AuthorityCertificate, IdentityCertificate, certificates_from_pem};
use folkmoot_runtime::{StateFolder, write_whole};
use std::path::Path;

/// Where it is kept in the state folder.
pub const PUBLIC_FILE: &str = "authority.pem";
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// One replica of an authority, or its only one.
#[derive(Debug, Clone)]
pub struct Public {
    /// Of the key that signs certificates: every replica's.
    pub certificate: AuthorityCertificate,
    /// The identity that speaks with it: this one's.
    pub node: IdentityCertificate,
}

impl Public {
    /// Both certificates.
    pub fn to_pem(&self) -> String {
        format!("{}{}", self.certificate.to_pem(), self.node.to_pem())
    }

    /// Reads the file at `path`, or the one in the state folder at `path`.
    ///
    /// # Errors
    /// [`AuthorityError::LocalFile`].
    pub fn read(path: &Path) -> Result<Self, AuthorityError> {
        use std::io::Read as _;
        let path = if path.is_dir() { path.join(PUBLIC_FILE) } else { path.to_owned() };
        let mut pem = String::new();
        let read =
            std::fs::File::open(&path).and_then(|open| open.take(FILE_BYTES_MAX).read_to_string(&mut pem));
        read.map_err(|error| file(&path, &error))?;
        Self::from_pem(&pem).ok_or_else(|| {
            let detail =
                "it does not hold the two certificates of an authority that folkmoot authority certificate prints";
            AuthorityError::LocalFile { path, detail: detail.into() }
        })
    }

    /// Reads what [`Self::to_pem`] writes.
    pub fn from_pem(pem: &str) -> Option<Self> {
        let all = certificates_from_pem(pem).ok()?;
        let [certificate, node] = all.as_slice() else { return None };
        let certificate = AuthorityCertificate::from_der(certificate).ok()?;
        Some(Self { certificate, node: IdentityCertificate::from_der(node).ok()? })
    }

    pub(crate) fn write(&self, folder: &StateFolder) -> Result<(), AuthorityError> {
        let path = folder.path().join(PUBLIC_FILE);
        Ok(write_whole(&path, self.to_pem().as_bytes())?)
    }
}
