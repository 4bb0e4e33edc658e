//! The two suites, and how key and salt follow from a group's secret.

use super::Domain;
use folkmoot_base::{Secret, digest, hmac_sha256};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a salt: the first of each nonce.
pub(crate) const SALT_BYTES: usize = 2;
/// Longest key and salt: those of ChaCha20.
pub const MATERIAL_BYTES_MAX: usize = 34;

/// Which ciphers a group uses: one hides names, the other seals contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suite {
    /// AES-128-CTR and AES-128-GCM.
    #[default]
    Aes128,
    /// ChaCha20 and ChaCha20-Poly1305.
    ChaCha20,
}

impl Suite {
    /// Bytes of a key.
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::ChaCha20 => 32,
        }
    }

    /// The name under derived keys.
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Aes128 => b"aes-128",
            Self::ChaCha20 => b"chacha20",
        }
    }
}

/// A key and its salt. Erased when dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    suite: Suite,
    /// Key, salt, zeros.
    bytes: Secret<[u8; MATERIAL_BYTES_MAX]>,
}

impl Material {
    /// Key and salt as they are; `None` if there are more or fewer bytes than the suite takes.
    pub fn new(suite: Suite, key: &[u8], salt: [u8; SALT_BYTES]) -> Option<Self> {
        if key.len() != suite.key_bytes() {
            return None;
        }
        let mut bytes = Zeroizing::new([0; MATERIAL_BYTES_MAX]);
        bytes.iter_mut().zip(key.iter().chain(&salt)).for_each(|(to, from)| *to = *from);
        Some(Self { suite, bytes: Secret::new(*bytes) })
    }

    /// As LCMsec derives them: KDF2 with SHA-256 over the group's secret, a point of P-256 that is
    /// not compressed. All domains with one secret have one key.
    pub fn as_lcmsec(suite: Suite, point: &[u8; 65]) -> Self {
        Self::filled(suite, |out| kdf2_sha256(point, out))
    }

    /// As Folkmoot derives them: HKDF with SHA-256. The domain and the suite go in, so one secret
    /// makes another key in each.
    pub fn derive(suite: Suite, domain: &Domain, secret: &[u8]) -> Self {
        let domain = domain.to_string();
        Self::filled(suite, |out| {
            let hkdf = Hkdf::<Sha256>::new(Some(b"folkmoot lcm key v1"), secret);
            let done = hkdf.expand_multi_info(&[suite.name(), &[0], domain.as_bytes()], out);
            debug_assert!(done.is_ok(), "HKDF gives up to 8,160 bytes");
        })
    }

    fn filled(suite: Suite, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = Zeroizing::new([0; MATERIAL_BYTES_MAX]);
        if let Some(out) = bytes.get_mut(..suite.key_bytes() + SALT_BYTES) {
            fill(out);
        }
        Self { suite, bytes: Secret::new(*bytes) }
    }

    /// The suite.
    pub fn suite(&self) -> Suite {
        self.suite
    }

    pub(crate) fn key(&self) -> &[u8] {
        self.bytes.expose().get(..self.suite.key_bytes()).unwrap_or_default()
    }

    pub(crate) fn salt(&self) -> [u8; SALT_BYTES] {
        let salt = self.bytes.expose().get(self.suite.key_bytes()..);
        salt.and_then(|salt| salt.first_chunk()).copied().unwrap_or_default()
    }

    /// What names the key in this domain: nobody learns the key from it.
    pub(crate) fn print(&self, domain: &Domain) -> [u8; 32] {
        let domain = domain.to_string();
        let parts: [&[u8]; 4] = [b"folkmoot lcm epoch v1\0", self.suite.name(), b"\0", domain.as_bytes()];
        hmac_sha256(self.bytes.expose(), &parts)
    }
}

/// KDF2 (ISO 18033-2) with SHA-256, without label and salt.
fn kdf2_sha256(secret: &[u8], out: &mut [u8]) {
    for (block, number) in out.chunks_mut(32).zip(1_u32..) {
        let made = Zeroizing::new(digest(&[secret, &number.to_be_bytes()]));
        block.iter_mut().zip(*made).for_each(|(to, from)| *to = from);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use folkmoot_base::unhex;

    #[test]
    fn kdf2_gives_what_the_sheet_says() {
        let mut point = [4; 65];
        point.iter_mut().skip(1).zip(0..).for_each(|(to, number)| *to = number);
        let made = Material::as_lcmsec(Suite::Aes128, &point);
        let all = unhex("43723c0d95893279e3535c77cbc97677e001").unwrap();
        assert_eq!([made.key(), &made.salt()].concat(), all);
        let longer = Material::as_lcmsec(Suite::ChaCha20, &point);
        assert!(longer.key().starts_with(&all));
        assert_eq!(longer.key().len(), 32);
    }

    #[test]
    fn one_secret_gives_another_key_in_each_domain_and_suite() {
        let (one, two): (Domain, Domain) =
            ("239.255.76.67:7667".parse().unwrap(), "239.255.76.67:7667:a".parse().unwrap());
        let made = [
            Material::derive(Suite::Aes128, &one, b"secret"),
            Material::derive(Suite::Aes128, &two, b"secret"),
            Material::derive(Suite::ChaCha20, &two, b"secret"),
            Material::derive(Suite::ChaCha20, &two, b"other"),
        ];
        for (place, left) in made.iter().enumerate() {
            for right in made.iter().skip(place + 1) {
                assert_ne!(left.key().get(..16), right.key().get(..16));
                assert_ne!(left.print(&one), right.print(&one));
            }
        }
        assert!(Material::new(Suite::Aes128, &[0; 17], [0; 2]).is_none());
        assert_eq!(format!("{:?}", Material::new(Suite::Aes128, &[7; 16], [9; 2])).find('7'), None);
    }
}
