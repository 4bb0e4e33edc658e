//! How two members of a group wrap their messages to each other, on top of the order that their
//! nodes give.
//!
//! ```text
//! payload = 0xB0 ‖ admission message      any member -> all members, outside views, not sealed, signed inside
//!         | flush frame                   any member -> all members; its data is for keying or for session
//! ```

use bytes::Bytes;
use folkmoot_base::Buffer;
use folkmoot_base::limits::ORDERED_BYTES_MAX;
use folkmoot_flush::EARLY_HEADER_BYTES;
use folkmoot_session::SEALED_BYTES_MAX;

/// No flush frame begins so.
const OPEN: u8 = 0xB0;

// The longest sealed message fits, and the group layer has a kilobyte for its own head.
const _: () = assert!(SEALED_BYTES_MAX + EARLY_HEADER_BYTES + 1024 <= ORDERED_BYTES_MAX);

/// A payload of the group layer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// An admission message.
    Open(Bytes),
    /// A frame of the flush layer.
    Flush(Buffer),
}

impl Payload {
    /// Reads a payload without copying it (rule MEM-01). Flush refuses what is no frame of its own.
    pub(crate) fn decode(mut bytes: Buffer) -> Self {
        if bytes.first() != Some(&OPEN) {
            return Self::Flush(bytes);
        }
        bytes.skip(1);
        Self::Open(bytes.freeze())
    }
}

/// An admission message as a payload.
pub(crate) fn open(message: &[u8]) -> Bytes {
    [&[OPEN], message].concat().into()
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Bytes, Payload};
    use folkmoot_base::Service;
    use folkmoot_base::{Blob, Proof, SignatureBytes};
    use folkmoot_flush::message::{Control, FlushOk, For, Signed, ViewTag, data_header, encode};

    #[test]
    fn mem_01_what_is_open_is_told_from_flush_frames() {
        assert_eq!(Payload::decode(super::open(b"a").into()), Payload::Open(Bytes::from_static(b"a")));
        let view = folkmoot_base::ViewId {
            configuration: folkmoot_base::ConfigurationId {
                ring_seq: 1,
                representative: folkmoot_base::NodeId([1; 32]),
                nonce: [2; 16],
            },
            order: 3,
            group: folkmoot_base::GroupId([4; 32]),
        };
        let proof = Proof { key: Blob::default(), signature: SignatureBytes::NONE };
        let (heads, brings, commitment) = ([5; 32], Blob::default(), [6; 32]);
        let ok = FlushOk { view, number: 7, heads, brings, reached: None, commitment };
        let ok = Control::FlushOk(Box::new(Signed { ok, proof }));
        let received = Control::FlushReceived { view, receipt: [8; 32] };
        let mut frames = vec![Bytes::new(), encode(&ok), encode(&received)];
        for (service, to) in
            [(Service::Agreed, For::Keying), (Service::Safe, For::Session), (Service::Fifo, For::Session)]
        {
            frames.push(Bytes::copy_from_slice(data_header(&ViewTag::of(&view), service, to, 1).as_slice()));
        }
        for frame in frames {
            let frame = Buffer::from(frame);
            assert_eq!(Payload::decode(frame.clone()), Payload::Flush(frame));
        }
    }
}
