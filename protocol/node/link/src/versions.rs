//! The wire versions and capabilities that two nodes tell each other in their handshake.
//!
//! The handshake itself is the same in all versions. Each [`Proof`](crate::Proof) lists what its
//! sender speaks, so both nodes work out the same result, and nothing is asked or answered. The
//! lists are sealed under the keys of the handshake, which the signatures bind: nobody between the
//! two can take a version away.

pub use folkmoot_base::Versions;

/// What both ends of a link can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Common {
    /// The wire version of everything that is sealed on this link: the highest that both speak.
    pub version: u8,
    /// The capabilities that both have, one bit each. None is defined yet; unknown ones are passed
    /// over.
    pub capabilities: u64,
}
