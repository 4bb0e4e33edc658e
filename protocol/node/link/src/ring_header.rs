//! The header of a packet of the ring, as far as a link has to know it.

use bytes::{BufMut as _, BytesMut};

/// Length of the header of a packet: it stays in the clear.
pub const RING_HEADER_BYTES: usize = 10;

/// The header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingHeader {
    /// What kind of packet.
    pub class: u8,
    /// The index of whoever numbered it.
    pub sender: u8,
    /// Which ring.
    pub ring: [u8; 4],
    /// Its number.
    pub number: u32,
}

impl RingHeader {
    /// Reads the header of a packet.
    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let [class, sender, a, b, c, d, number @ ..] = *packet.first_chunk::<RING_HEADER_BYTES>()?;
        Some(Self { class, sender, ring: [a, b, c, d], number: u32::from_be_bytes(number) })
    }

    /// Writes it.
    pub(crate) fn write(&self, out: &mut BytesMut) {
        out.put_slice(&[self.class, self.sender]);
        out.put_slice(&self.ring);
        out.put_u32(self.number);
    }

    /// The nonce under which the packet is sealed.
    pub(crate) fn nonce(&self) -> [u8; 12] {
        let [a, b, c, d] = self.number.to_be_bytes();
        [0, 0, 0, 0, 0, 0, 0, self.class, a, b, c, d]
    }
}
