//! What makes a process the authority: the key that signs certificates, and the secret that is
//! dealt, if the scheme has shares.
//!
//! ```text
//! one encoding   "folkmoot office v1" ‖ 00 ‖ certificate ‖ key (PKCS#8) ‖ secret; each after its length, u32; no secret: length 0
//! on disk        table "office": "certificate" as it is; "key" and "secret" sealed under the identity's key, as shares are
//! ```

use crate::AdmissionError;
use crate::store::{open_share, seal_share};
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, Persist, Secret, StoreKey, UnixTime, digest};
use folkmoot_identity::{AuthorityBody, AuthorityCertificate, GroupKey, Identity, Scheme, SigningKey};
use folkmoot_signing::shared;

/// The store's table of an authority.
pub const OFFICE_TABLE: &str = "office";
/// Longest [`Office::encode`], in bytes.
pub const OFFICE_BYTES_MAX: usize = 16 * 1024;
/// First bytes of every encoding.
const DOMAIN: &[u8] = b"folkmoot office v1\0";
const CERTIFICATE: &[u8] = b"certificate";
const KEY: &[u8] = b"key";
const SECRET: &[u8] = b"secret";

/// What makes a process the authority. Its replicas have the same.
#[derive(Debug, Clone)]
pub struct Office {
    /// The certificate of the key: what the charter names.
    pub certificate: AuthorityCertificate,
    /// The key that signs certificates and revocation lists.
    pub key: SigningKey,
    /// The dealer's secret, if the scheme has shares; `None` once it is erased.
    pub secret: Option<Secret<Vec<u8>>>,
}

impl Office {
    /// Makes a new key and its certificate for the group of this name and, if the scheme has
    /// shares, a secret to deal. Shoup's scheme takes long.
    ///
    /// # Errors
    /// [`AdmissionError::LocalOffice`] if the name cannot stand in a certificate, or no dealer can
    /// deal keys of this scheme.
    pub fn draw(
        group_name: &str,
        scheme: Scheme,
        not_before: UnixTime,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, AdmissionError> {
        let refuse = AdmissionError::LocalOffice;
        let key = SigningKey::generate(entropy);
        let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).map_err(|_| refuse("key"))?;
        let body = AuthorityBody::new(group_name, public, not_before, entropy);
        let tbs = body.tbs().map_err(|_| refuse("no certificate can hold this name"))?;
        let certificate = AuthorityCertificate::close(&body, &key.sign_raw(&tbs).to_paper());
        let certificate = certificate.map_err(|_| refuse("no certificate can hold this name"))?;
        let secret = scheme.shared().then(|| shared::draw_secret(scheme, entropy)).transpose();
        let secret = secret.map_err(|_| refuse("keys of this scheme cannot be dealt"))?;
        Ok(Self { certificate, key, secret })
    }

    /// What to keep on disk; key and secret are sealed. Empty if the identity's key cannot make a
    /// seal, which does not happen.
    pub fn persists(&self, identity: &Identity, entropy: &mut dyn Entropy) -> Vec<Persist> {
        self.sealed(identity, entropy).unwrap_or_default()
    }

    fn sealed(&self, identity: &Identity, entropy: &mut dyn Entropy) -> Option<Vec<Persist>> {
        let put =
            |key: &'static [u8], value: Bytes| Persist::put(OFFICE_TABLE, Bytes::from_static(key), value);
        let key = self.key.to_pkcs8_der().ok()?;
        let mut all = vec![
            put(CERTIFICATE, self.certificate.der().clone()),
            put(KEY, seal_share(identity, &name(KEY), &key, entropy)?.into()),
        ];
        if let Some(secret) = &self.secret {
            all.push(put(SECRET, seal_share(identity, &name(SECRET), secret, entropy)?.into()));
        }
        Some(all)
    }

    /// Reads what [`Self::persists`] kept. Hand in everything stored. `None` if there is no office.
    ///
    /// # Errors
    /// [`AdmissionError::LocalCorrupt`].
    pub fn load(identity: &Identity, stored: &[(StoreKey, Bytes)]) -> Result<Option<Self>, AdmissionError> {
        let of = |name: &[u8]| {
            stored
                .iter()
                .find(|(key, _)| key.table == OFFICE_TABLE && key.key == name)
                .map(|(_, value)| value)
        };
        let corrupt = || AdmissionError::LocalCorrupt(OFFICE_TABLE);
        let Some(certificate) = of(CERTIFICATE) else { return Ok(None) };
        let key = of(KEY).and_then(|sealed| open_share(identity, &name(KEY), sealed)).ok_or_else(corrupt)?;
        let open = |sealed: &Bytes| open_share(identity, &name(SECRET), sealed).ok_or_else(corrupt);
        let secret = of(SECRET).map(open).transpose()?;
        Self::join(certificate, &key, secret).map(Some).ok_or_else(corrupt)
    }

    /// Erases the secret: from memory now, from the disk with the result.
    pub(super) fn erase(&mut self) -> Persist {
        // Erases itself when dropped.
        self.secret = None;
        Persist::delete(OFFICE_TABLE, Bytes::from_static(SECRET))
    }

    /// The whole office, unsealed, to be handed to a replica in a file.
    pub fn encode(&self) -> Secret<Vec<u8>> {
        let key = self.key.to_pkcs8_der().unwrap_or_else(|_| Secret::new(Vec::new()));
        let secret = self.secret.as_ref().map(|secret| secret.expose().as_slice()).unwrap_or_default();
        let parts = [self.certificate.der().as_ref(), key.expose().as_slice(), secret];
        // Room for all at once: no half-filled copy is left behind.
        let mut out = Vec::with_capacity(OFFICE_BYTES_MAX);
        out.extend_from_slice(DOMAIN);
        for part in parts {
            out.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
            out.extend_from_slice(part);
        }
        Secret::new(out)
    }

    /// Reads what [`Self::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// [`AdmissionError::LocalOffice`].
    pub fn decode(bytes: &[u8]) -> Result<Self, AdmissionError> {
        let none = || AdmissionError::LocalOffice("it is not a canonically encoded office");
        let rest = bytes.strip_prefix(DOMAIN).filter(|_| bytes.len() <= OFFICE_BYTES_MAX).ok_or_else(none)?;
        let (certificate, rest) = part(rest).ok_or_else(none)?;
        let (key, rest) = part(rest).ok_or_else(none)?;
        let (secret, rest) = part(rest).ok_or_else(none)?;
        let key = Secret::new(key.to_vec());
        let secret = (!secret.is_empty()).then(|| Secret::new(secret.to_vec()));
        let office = Self::join(certificate, &key, secret).filter(|_| rest.is_empty()).ok_or_else(none)?;
        if office.encode().expose() == bytes { Ok(office) } else { Err(none()) }
    }

    fn join(certificate: &[u8], key: &Secret<Vec<u8>>, secret: Option<Secret<Vec<u8>>>) -> Option<Self> {
        let certificate = AuthorityCertificate::from_der(certificate).ok()?;
        let key = SigningKey::from_pkcs8_der(key.expose()).ok()?;
        let own = certificate.key().spki_der() == key.verifying_key().spki_der();
        own.then_some(Self { certificate, key, secret })
    }

    /// Whether this can be the office of a group with this charter; the public key of its secret,
    /// if it has one. For Shoup's scheme this proves two primes, which takes long: once is enough.
    pub(super) fn check(&self, scheme: Scheme, keeps: bool) -> Result<Option<GroupKey>, AdmissionError> {
        let refuse = |what| Err(AdmissionError::LocalOffice(what));
        match &self.secret {
            Some(_) if !scheme.shared() => refuse("it holds a secret, but the scheme has no shares"),
            Some(secret) => match shared::public_key(scheme, secret) {
                Ok(key) => Ok(Some(key)),
                Err(_) => refuse("its secret is of another scheme"),
            },
            None if keeps => refuse("its secret is missing, and the charter says that the dealer keeps it"),
            None => Ok(None),
        }
    }
}

/// The name under which a secret of the office is sealed.
fn name(what: &[u8]) -> Digest {
    digest(&[b"folkmoot office seal v1\0", what])
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}
