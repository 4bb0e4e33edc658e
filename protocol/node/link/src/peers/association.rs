//! A security association: what one handshake produced.

use crate::seal::FrameSeal;
use crate::{Common, LinkError};
use folkmoot_base::{Danger, DecodeError, Instant, Locator, Mutant};

/// A security association: the keys and indices that one handshake produced.
#[derive(Debug)]
pub(crate) struct Association {
    /// What both ends can do.
    pub(crate) common: Common,
    /// Our index: datagrams to us name it.
    pub(crate) index: u32,
    /// The peer's.
    pub(crate) remote: u32,
    /// Whether the node with the lower id was the dialler.
    pub(crate) low: bool,
    /// When something authentic last came under these keys.
    pub(crate) heard: Instant,
    /// Since when the peer has been asked under these keys and said nothing under them.
    pub(crate) asked: Option<Instant>,
    pub(crate) seal: Box<dyn FrameSeal>,
}

/// LINK-27: sealed data has the version of its association.
pub(crate) fn check_version(
    association: &Association,
    at: &Locator,
    bytes: &[u8],
    danger: Mutant,
) -> Result<(), LinkError> {
    match bytes.first() {
        Some(version) if *version != association.common.version && !danger.is(Danger::LinkAnyVersion) => {
            Err(LinkError::WireMalformed(at.clone(), DecodeError::Version(*version)))
        }
        _ => Ok(()),
    }
}
