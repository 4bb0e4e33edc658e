//! Which keys members may have, and the hash. The words are those of a signature's algorithm byte.

use crate::CharterError;
use crate::charter_value::value;
use crate::cms::CHARTER_BYTES_MAX;
use crate::founder::Founder;
use folkmoot_signing::{KeyAlgorithm, VerifyingKey};
use std::collections::BTreeSet;
use thiserror::Error;

const FAMILIES: [&str; 3] = ["p256", "ed25519", "rsa"];
const RSA_BITS: [u32; 2] = [2048, 3072];
/// Why no vote changes any of these.
pub(crate) const FIXED: &str = "it is fixed when the group is founded: its members have such keys already";
/// What a signed charter holds of a founder besides its key, its signatures and its name: the frame
/// of its certificate and of what it signed.
const FRAME_BYTES: usize = 560;

/// `ID-73`: somebody chose an algorithm for a member's new key that the charter does not name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a key of {chosen} was chosen, and this group's charter does not name that; no vote changes it (ID-73). It names {named}. \
     Choose one of them: folkmoot identity rotate --algorithm {first}"
)]
pub struct NotNamed {
    chosen: &'static str,
    named: String,
    first: &'static str,
}

/// Which keys the members of a group may have: at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Algorithms(BTreeSet<KeyAlgorithm>);

impl Default for Algorithms {
    /// P-256 alone: what a charter means that says nothing.
    fn default() -> Self {
        Self(BTreeSet::from([KeyAlgorithm::P256]))
    }
}

impl Algorithms {
    /// These; P-256 alone, if there are none.
    pub fn new(algorithms: impl IntoIterator<Item = KeyAlgorithm>) -> Self {
        let algorithms: BTreeSet<KeyAlgorithm> = algorithms.into_iter().collect();
        if algorithms.is_empty() { Self::default() } else { Self(algorithms) }
    }

    /// `ID-71`: what the text says of algorithms and of sizes of RSA keys.
    pub(crate) fn read(families: Option<&[String]>, rsa_bits: Option<&[u32]>) -> Result<Self, CharterError> {
        let usual = [FAMILIES[0].to_owned()];
        let families = families.unwrap_or(&usual);
        if !chosen(families, |word| FAMILIES.contains(&word.as_str())) {
            return Err(value(
                "algorithms",
                "it must list p256, ed25519 or rsa, at least one and none twice",
            ));
        }
        if rsa_bits.is_some_and(|bits| !chosen(bits, |bits| RSA_BITS.contains(bits))) {
            return Err(value("rsa_bits", "it must list 2048 or 3072, at least one and none twice"));
        }
        if rsa_bits.is_some() && !families.iter().any(|word| word == "rsa") {
            return Err(value("rsa_bits", "it goes with the algorithm rsa alone"));
        }
        let sizes = rsa_bits.unwrap_or(&RSA_BITS);
        let is_named = |one: &KeyAlgorithm| {
            families.iter().any(|word| word == one.family())
                && one.rsa_bits().is_none_or(|bits| sizes.contains(&bits))
        };
        Ok(Self(KeyAlgorithm::ALL.iter().copied().filter(is_named).collect()))
    }

    /// `ID-73`: whether a member may have this key.
    pub fn allows(&self, key: &VerifyingKey) -> bool {
        self.0.contains(&key.algorithm())
    }

    /// `ID-73`: the same of a key that is yet to be made.
    ///
    /// # Errors
    /// [`NotNamed`].
    pub fn check_choice(&self, algorithm: KeyAlgorithm) -> Result<(), NotNamed> {
        let names = self.0.iter().map(|one| one.name());
        match self.0.first() {
            Some(first) if !self.0.contains(&algorithm) => Err(NotNamed {
                chosen: algorithm.name(),
                named: names.collect::<Vec<_>>().join(", "),
                first: first.name(),
            }),
            _ => Ok(()),
        }
    }

    /// Each that a member may have.
    pub fn iter(&self) -> impl Iterator<Item = KeyAlgorithm> {
        self.0.iter().copied()
    }

    pub(crate) fn is_p256_alone(&self) -> bool {
        *self == Self::default()
    }

    /// Why a member may not have this key.
    pub(crate) fn why_not(&self, key: &VerifyingKey) -> &'static str {
        match key.algorithm() {
            KeyAlgorithm::P256 => "its key is of p256, which the charter's algorithms do not name",
            KeyAlgorithm::Ed25519 => "its key is of ed25519, which the charter's algorithms do not name",
            KeyAlgorithm::Rsa2048 => {
                "its key is of rsa with 2048 bits, which the charter's algorithms and rsa_bits do not name"
            }
            KeyAlgorithm::Rsa3072 => {
                "its key is of rsa with 3072 bits, which the charter's algorithms and rsa_bits do not name"
            }
        }
    }

    /// The words that a charter lists.
    pub(crate) fn families(&self) -> BTreeSet<&'static str> {
        self.0.iter().map(|one| one.family()).collect()
    }

    /// The sizes that a charter lists: none if it names no RSA, or all sizes.
    pub(crate) fn sizes(&self) -> Vec<u32> {
        let sizes: Vec<u32> = self.0.iter().filter_map(|one| one.rsa_bits()).collect();
        if sizes.len() == RSA_BITS.len() { Vec::new() } else { sizes }
    }
}

pub(crate) fn check_hash(hash: Option<&str>) -> Result<(), CharterError> {
    match hash {
        None | Some("sha256") => Ok(()),
        Some(_) => Err(value("hash", "it must be sha256")),
    }
}

/// `ID-74`: text, certificates and signatures of all founders fit one signed charter. RSA takes
/// more room than the others.
pub(crate) fn check_room(text: &str, founders: &[Founder]) -> Result<(), CharterError> {
    let each = |founder: &Founder| {
        let signature = founder.key.algorithm().signature_bytes();
        // The name stands in the certificate as issuer and subject, and as the signer's issuer.
        founder.key.spki_der().len() + 2 * signature + 3 * founder.name.len() + FRAME_BYTES
    };
    if text.len() + founders.iter().map(each).sum::<usize>() > CHARTER_BYTES_MAX {
        return Err(value("founders", "there are too many with RSA keys: what they sign is too long"));
    }
    Ok(())
}

/// Whether a list has at least one, none twice, and each is one to choose.
fn chosen<T: Ord>(list: &[T], is_one: impl Fn(&T) -> bool) -> bool {
    let distinct: BTreeSet<&T> = list.iter().collect();
    !list.is_empty() && distinct.len() == list.len() && list.iter().all(is_one)
}
