//! A packet of the reference: messages, or a part of one, sealed twice.
//!
//! ```text
//!   kind u8 ‖ sender u8 ‖ messages that end here u16 ‖ number u64 ‖ body ‖ tag of the first pass ‖ tag of the second
//! ```
//! Small messages share a packet, and a large one is cut into parts of one size: what a bundle
//! does. The keys are fixed, because only time counts here.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use folkmoot_cli::exit::Failure;

pub(crate) const HEADER_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
/// Most bytes of messages in a packet: what fits 1,472 bytes with everything else.
pub(crate) const BODY_BYTES_MAX: usize = 1_400;
pub(crate) const DATA: u8 = 1;
pub(crate) const ACK: u8 = 2;

/// How messages of one size are put into packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of the body of each packet.
    pub(crate) body: usize,
    /// Packets of each message; one if messages share packets.
    pub(crate) parts: u64,
    /// Messages in each packet, if it has whole ones.
    pub(crate) shared: u16,
}

impl Shape {
    pub(crate) fn of(bytes: usize) -> Self {
        let bytes = bytes.max(1);
        let shared = BODY_BYTES_MAX / bytes;
        if shared > 0 {
            return Self {
                body: shared * bytes,
                parts: 1,
                shared: u16::try_from(shared).unwrap_or(u16::MAX),
            };
        }
        let parts = bytes.div_ceil(BODY_BYTES_MAX);
        Self { body: bytes.div_ceil(parts), parts: u64::try_from(parts).unwrap_or(1), shared: 1 }
    }

    /// One message in each packet.
    pub(crate) fn lone(bytes: usize) -> Self {
        Self { body: bytes.min(BODY_BYTES_MAX), parts: 1, shared: 1 }
    }

    /// How many messages end in the packet with this number.
    pub(crate) fn ending(&self, number: u64) -> u16 {
        if (number + 1).is_multiple_of(self.parts) { self.shared } else { 0 }
    }

    pub(crate) fn packet_bytes(&self) -> usize {
        HEADER_BYTES + self.body + 2 * TAG_BYTES
    }
}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u8,
    pub(crate) sender: u8,
    pub(crate) messages: u16,
    pub(crate) number: u64,
}

impl Header {
    pub(crate) fn bytes(self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let all = [self.kind, self.sender].into_iter().chain(self.messages.to_be_bytes());
        out.iter_mut().zip(all.chain(self.number.to_be_bytes())).for_each(|(to, from)| *to = from);
        out
    }

    pub(crate) fn read(packet: &[u8]) -> Option<Self> {
        let [kind, sender, high, low, number @ ..] = *packet.first_chunk::<HEADER_BYTES>()?;
        let (messages, number) = (u16::from_be_bytes([high, low]), u64::from_be_bytes(number));
        Some(Self { kind, sender, messages, number })
    }
}

/// Both keys.
pub(crate) struct Seals([LessSafeKey; 2]);

impl Seals {
    pub(crate) fn new() -> Result<Self, Failure> {
        let key =
            |byte| UnboundKey::new(&AES_256_GCM, &[byte; 32]).map(LessSafeKey::new).map_err(Failure::bug);
        Ok(Self([key(1)?, key(2)?]))
    }

    /// Appends a sealed packet with this body.
    pub(crate) fn seal(&self, header: Header, body: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        let head = header.bytes();
        let start = out.len() + HEADER_BYTES;
        out.extend_from_slice(&head);
        out.extend_from_slice(body);
        for key in &self.0 {
            let plain = out.get_mut(start..).unwrap_or_default();
            let tag = key.seal_in_place_separate_tag(nonce(header), Aad::from(head), plain);
            out.extend_from_slice(tag.map_err(Failure::bug)?.as_ref());
        }
        Ok(())
    }

    /// Opens a packet in place: its body.
    pub(crate) fn open<'a>(&self, header: Header, packet: &'a mut [u8]) -> Option<&'a mut [u8]> {
        let mut sealed = packet.get_mut(HEADER_BYTES..)?;
        for key in self.0.iter().rev() {
            sealed = key.open_in_place(nonce(header), Aad::from(header.bytes()), sealed).ok()?;
        }
        Some(sealed)
    }
}

fn nonce(header: Header) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    let all = [header.sender].into_iter().chain(header.number.to_be_bytes());
    nonce.iter_mut().zip(all).for_each(|(to, from)| *to = from);
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use super::{BODY_BYTES_MAX, DATA, Header, Seals, Shape};

    #[test]
    fn messages_share_packets_or_are_cut_into_parts_of_one_size() {
        assert_eq!(Shape::of(100), Shape { body: 1_400, parts: 1, shared: 14 });
        assert_eq!(Shape::of(1_350), Shape { body: 1_350, parts: 1, shared: 1 });
        assert_eq!(Shape::of(8_192), Shape { body: 1_366, parts: 6, shared: 1 });
        for bytes in 1..20_000 {
            let shape = Shape::of(bytes);
            let parts = usize::try_from(shape.parts).unwrap();
            assert!(shape.body <= BODY_BYTES_MAX && shape.packet_bytes() <= 1_472);
            assert!(shape.body * parts >= bytes * usize::from(shape.shared), "{bytes}");
            let ended: u64 = (0..shape.parts * 3).map(|number| u64::from(shape.ending(number))).sum();
            assert_eq!(ended, 3 * u64::from(shape.shared), "{bytes}");
        }
    }

    #[test]
    fn what_was_sealed_twice_opens_and_nothing_else_does() {
        let seals = Seals::new().unwrap();
        let header = Header { kind: DATA, sender: 2, messages: 1, number: 77 };
        let mut packet = Vec::new();
        seals.seal(header, b"body", &mut packet).unwrap();
        assert_eq!(packet.len(), Shape { body: 4, parts: 1, shared: 1 }.packet_bytes());
        assert_eq!(Header::read(&packet), Some(header));
        assert_eq!(seals.open(header, &mut packet.clone()).as_deref(), Some(&b"body"[..]));
        for place in 0..packet.len() {
            let mut bad = packet.clone();
            bad[place] ^= 1;
            let header = Header::read(&bad).unwrap();
            assert_eq!(seals.open(header, &mut bad), None, "byte {place}");
        }
        assert_eq!(Header::read(&packet[..11]), None);
    }
}
