//! A security association: the keys and indices that one handshake produced.

use crate::call::Me;
use crate::message::address_data;
use crate::{Common, FrameSeal, LinkError, OpenError, Spent};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{Danger, DecodeError, Instant, Locator};

#[derive(Debug)]
pub(crate) struct Association {
    /// What both ends can do.
    common: Common,
    /// Our index: datagrams to us name it.
    index: u32,
    /// The peer's.
    remote: u32,
    /// Whether the node with the lower id was the dialler.
    low: bool,
    /// When something authentic last came under these keys.
    heard: Instant,
    /// Since when the peer has been asked under these keys and said nothing under them.
    asked: Option<Instant>,
    seal: Box<dyn FrameSeal>,
}

/// What was in a datagram.
pub(crate) struct Opened {
    pub(crate) plaintext: Bytes,
    pub(crate) counter: u64,
    /// No datagram with a higher counter came before.
    pub(crate) newest: bool,
}

impl Association {
    /// `index` is ours, `remote` the peer's; `low` says whether the node with the lower id dialled.
    pub(crate) fn new(
        now: Instant,
        common: Common,
        (index, remote): (u32, u32),
        low: bool,
        seal: Box<dyn FrameSeal>,
    ) -> Self {
        Self { common, index, remote, low, heard: now, asked: None, seal }
    }

    pub(crate) fn common(&self) -> Common {
        self.common
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn is_low(&self) -> bool {
        self.low
    }

    pub(crate) fn heard(&self) -> Instant {
        self.heard
    }

    pub(crate) fn asked(&self) -> Option<Instant> {
        self.asked
    }

    /// The peer is asked under these keys.
    pub(crate) fn ask(&mut self, now: Instant) {
        self.asked.get_or_insert(now);
    }

    /// Addresses and seals a datagram that has room for its header. Returns its counter.
    pub(crate) fn seal(&mut self, version: u8, packet: &mut BytesMut) -> Result<u64, Spent> {
        address_data(packet, version, self.remote);
        self.seal.seal(packet)
    }

    /// Opens a datagram. The peer is heard now.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        from: &Locator,
        mut datagram: BytesMut,
    ) -> Result<Opened, LinkError> {
        let (counter, newest) = self.seal.open(&mut datagram).map_err(|error| match error {
            OpenError::Forged => LinkError::WireForged(from.clone()),
            OpenError::Replayed => LinkError::WireReplayed(from.clone()),
        })?;
        self.heard = now;
        self.asked = None;
        Ok(Opened { plaintext: datagram.freeze(), counter, newest })
    }

    /// LINK-27: sealed data has the version of its association.
    pub(crate) fn check_version(&self, own: &Me<'_>, from: &Locator, bytes: &[u8]) -> Result<(), LinkError> {
        match bytes.first() {
            Some(version) if *version != self.common.version && !own.is(Danger::LinkAnyVersion) => {
                Err(LinkError::WireMalformed(from.clone(), DecodeError::Version(*version)))
            }
            _ => Ok(()),
        }
    }
}
