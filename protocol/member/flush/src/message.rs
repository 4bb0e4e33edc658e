//! What this layer multicasts to its group. Its own words are agreed: they are in one order.
//!
//! | frame | from → to | means |
//! |---|---|---|
//! | FLUSH_OK | each party, for the newest notice → all | I send no more in the view before; my transcript's heads digest; what the layer above brings along; which view I leave, and how far I delivered early messages of parties removed from it; what I commit my receipt to |
//! | FLUSH_RECV | each party, once in a view → all | I have installed it: here is my receipt |
//! | Data | a party → all | a message of the layer above, in that view |
//!
//! Any node of the ring can make packets in another's name. So FLUSH_OK is signed by the sender's
//! member, and FLUSH_RECV shows a value that only its sender can know ([`commitment`]). What is in
//! Data is sealed or signed by the layers above.
//!
//! No frame names a party. The sender is the one that the group layer names, and the parties of a
//! view are those of its notice.
//!
//! Data has a fixed head, and its payload is a slice of what was delivered:
//! ```text
//!   kind 1 | view tag 4 | number 4, if reliable, FIFO or causal | payload ...
//!   kind   0xD0 agreed, 0xD1 safe, 0xD4 reliable, 0xD5 FIFO, 0xD8 unreliable, 0xD9 causal;
//!          2 more if the payload is for the session, and not for keying
//! ```
//! A party numbers its reliable messages of a view from 1 on, and apart from them its FIFO and
//! causal ones.

use crate::{DATA_HEADER_BYTES, EARLY_HEADER_BYTES};
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Blob, Buffer, DecodeError, Digest, Party, Proof, Service, Signatures, ViewId, digest};

/// The domain label of every [`FlushOk`].
const LABEL: &[u8] = b"folkmoot flush ok v1";
const DATA: u8 = 0xD0;
const SESSION_BIT: u8 = 2;
/// The highest four bits of the first byte of data.
const KIND: u8 = 0xF0;
const TAG_BYTES: usize = 4;
/// What the kind says of each service.
const CODES: [(Service, u8); 6] = [
    (Service::Agreed, 0),
    (Service::Safe, 1),
    (Service::Reliable, 4),
    (Service::Fifo, 5),
    (Service::Unreliable, 8),
    (Service::Causal, 9),
];
/// The most bytes that the layer above may bring along.
pub const BRINGS_BYTES_MAX: usize = 96;
/// What a FLUSH_RECV shows.
pub const RECEIPT_BYTES: usize = 32;

/// The layer above that a payload is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// Agrees on a key for the view.
    Keying,
    /// Seals under that key.
    Session,
}

/// A short name of a view: the first bytes of a digest of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct ViewTag(pub [u8; TAG_BYTES]);

impl ViewTag {
    /// The tag of `view`.
    pub fn of(view: &ViewId) -> Self {
        let whole = digest(&[b"folkmoot view tag v1", &codec::encode(view)]);
        let mut tag = [0; TAG_BYTES];
        for (to, from) in tag.iter_mut().zip(whole) {
            *to = from;
        }
        Self(tag)
    }
}

/// How far a party delivered the early messages of a removed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Reach {
    /// Whose: its place among the parties of the view, sorted.
    pub place: u16,
    /// The highest number among reliable messages.
    pub reliable: u32,
    /// The highest number among FIFO and causal messages.
    pub fifo: u32,
}

/// The view that a party leaves, and what it delivered early of removed parties in it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Reached {
    /// FLU-15: which view.
    pub tag: ViewTag,
    /// By place, ascending; none if nobody was removed.
    pub parties: Vec<Reach>,
}

/// What a party says when it sends no more in the view before this one.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct FlushOk {
    /// The view to come: the newest notice.
    pub view: ViewId,
    /// Grows with each that the sender says.
    pub number: u32,
    /// Digest of the heads of the sender's transcript.
    pub heads: Digest,
    /// What the sender's layer above brings into the view, up to [`BRINGS_BYTES_MAX`]; this layer
    /// does not look at it.
    pub brings: Blob,
    /// FLU-15: the view that the sender leaves, if it has one; FLU-11: if a notice removed parties
    /// of that view, how far the sender delivered their early messages.
    pub reached: Option<Reached>,
    /// The [`commitment`] to what the sender shows once it has installed the view.
    pub commitment: Digest,
}

/// A FLUSH_OK with the signature of its sender's member.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Signed {
    /// What it says.
    pub ok: FlushOk,
    /// By its sender's member.
    pub proof: Proof,
}

impl Signed {
    /// `sender` says this; these signatures are its member's.
    pub fn sign(ok: FlushOk, sender: &Party, signatures: &dyn Signatures) -> Self {
        let proof = signatures.sign(LABEL, &signed_bytes(&ok, sender));
        Self { ok, proof }
    }

    /// Whether the member of `sender` signed it.
    pub(crate) fn is_of(&self, sender: &Party, signatures: &dyn Signatures) -> bool {
        signatures.verify(&sender.member.0, LABEL, &signed_bytes(&self.ok, sender), &self.proof)
    }
}

/// A message from one party to all.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Control {
    /// FLUSH_OK.
    #[tls_codec(discriminant = 1)]
    FlushOk(Box<Signed>),
    /// FLUSH_RECV: the sender has installed this view.
    #[tls_codec(discriminant = 2)]
    FlushReceived {
        /// Which view.
        view: ViewId,
        /// What its FLUSH_OK committed to. Until it is shown, nobody else knows it.
        receipt: [u8; RECEIPT_BYTES],
    },
}

/// FLU-22: what a FLUSH_OK of `sender` for `view` holds, if its FLUSH_RECV will show `receipt`. It
/// names the party and the view, so it is of no use in another's FLUSH_OK, or for another view.
pub fn commitment(sender: &Party, view: &ViewId, receipt: &[u8; RECEIPT_BYTES]) -> Digest {
    digest(&[b"folkmoot flush receipt v1", &sender.to_bytes(), &codec::encode(view), receipt])
}

fn signed_bytes(ok: &FlushOk, sender: &Party) -> Vec<u8> {
    [&sender.to_bytes(), codec::encode(ok).as_slice()].concat()
}

/// Any frame of this layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// For this layer.
    Control(Control),
    /// For the layer above.
    Data {
        /// In which view it was sent.
        tag: ViewTag,
        /// Its number, if it is reliable, FIFO or causal; else 0.
        number: u32,
        /// The service that its sender asked for.
        service: Service,
        /// The layer above that it is for.
        to: For,
        /// The payload.
        payload: Buffer,
    },
}

/// Encodes a control message.
pub fn encode(control: &Control) -> Bytes {
    codec::encode(control).into()
}

/// The head of a message.
#[derive(Debug, Clone, Copy)]
pub struct DataHeader {
    bytes: [u8; EARLY_HEADER_BYTES],
    length: usize,
}

impl DataHeader {
    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Whether messages of this service are numbered.
pub(crate) fn is_numbered(service: Service) -> bool {
    matches!(service, Service::Reliable | Service::Fifo | Service::Causal)
}

/// The head of a message. `number` counts if its service is numbered.
pub fn data_header(tag: &ViewTag, service: Service, to: For, number: u32) -> DataHeader {
    let code = CODES.iter().find(|(of, _)| *of == service).map_or(0, |(_, code)| *code);
    let session = if to == For::Session { SESSION_BIT } else { 0 };
    let head = [DATA | code | session];
    let mut bytes = [0; EARLY_HEADER_BYTES];
    let parts = head.iter().chain(&tag.0).copied().chain(number.to_be_bytes());
    bytes.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
    let length = if is_numbered(service) { EARLY_HEADER_BYTES } else { DATA_HEADER_BYTES };
    DataHeader { bytes, length }
}

/// Decodes a frame.
///
/// # Errors
/// Any [`DecodeError`]: FLU-01.
pub fn decode(bytes: impl Into<Buffer>) -> Result<Frame, DecodeError> {
    let mut bytes = bytes.into();
    let kind = bytes.first().copied().unwrap_or_default();
    if kind & KIND != DATA {
        let control: Control = codec::decode(&bytes.freeze())?;
        return check(&control).map(|()| Frame::Control(control));
    }
    let code = kind & !KIND & !SESSION_BIT;
    let service = CODES.iter().find(|(_, of)| *of == code).map(|(service, _)| *service);
    let service = service.ok_or(DecodeError::Malformed)?;
    let (head, rest) = bytes.split_first_chunk::<DATA_HEADER_BYTES>().ok_or(DecodeError::Malformed)?;
    let [_, tag @ ..] = *head;
    let number = rest.first_chunk().copied().filter(|_| is_numbered(service));
    let (length, number) = match number {
        Some(number) => (EARLY_HEADER_BYTES, u32::from_be_bytes(number)),
        None if is_numbered(service) => return Err(DecodeError::Malformed),
        None => (DATA_HEADER_BYTES, 0),
    };
    let to = if kind & SESSION_BIT == 0 { For::Keying } else { For::Session };
    bytes.skip(length);
    Ok(Frame::Data { tag: ViewTag(tag), number, service, to, payload: bytes })
}

fn check(control: &Control) -> Result<(), DecodeError> {
    let Control::FlushOk(signed) = control else { return Ok(()) };
    let FlushOk { brings: Blob(brings), reached, .. } = &signed.ok;
    if brings.len() > BRINGS_BYTES_MAX {
        return Err(DecodeError::TooLong { got: brings.len(), most: BRINGS_BYTES_MAX });
    }
    let sorted = |reached: &Reached| reached.parties.is_sorted_by(|a, b| a.place < b.place);
    if reached.as_ref().is_none_or(sorted) { Ok(()) } else { Err(DecodeError::Malformed) }
}
