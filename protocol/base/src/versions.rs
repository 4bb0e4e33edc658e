//! The versions that two sides of a protocol speak, and the one that they agree on.

use crate::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize, WIRE_VERSION};
use core::fmt;

/// A set of wire versions from 1 to 64; on the wire, version *n* is bit *n* − 1 of a u64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Versions(u64);

impl Versions {
    /// What this release speaks between nodes.
    pub const OURS: Self = Self::of(&[WIRE_VERSION]);

    /// These versions; numbers outside of 1 to 64 are left out.
    pub const fn of(versions: &[u8]) -> Self {
        let mut bits = 0;
        let mut rest = versions;
        while let [version, more @ ..] = rest {
            if *version >= 1 && *version <= 64 {
                bits |= 1 << (*version - 1);
            }
            rest = more;
        }
        Self(bits)
    }

    /// The versions, ascending.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (1..=64_u8).filter(move |version| self.has(*version))
    }

    /// Whether it has this one.
    pub fn has(self, version: u8) -> bool {
        self.0 & Self::of(&[version]).0 != 0
    }

    /// The highest version that both have; none if they share none.
    pub fn common(self, other: Self) -> Option<u8> {
        Self(self.0 & other.0).iter().last()
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.iter().map(|version| version.to_string()).collect();
        if all.is_empty() { out.write_str("none") } else { out.write_str(&all.join(", ")) }
    }
}
