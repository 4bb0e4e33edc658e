//! Sealing under the ring key: AES-256-GCM, once for all members. A packet's number is its nonce.
//!
//! ```text
//! version 1 | kind 1 | header of the packet: class 1, sender 1, ring 4, number 4 | sealed rest | tag 16
//! nonce: 7 zero bytes, class, number
//! ```
//! All that stands before the sealed rest is authenticated. A key belongs to one sender in one
//! configuration, and its sender numbers no two packets of a class alike.

use crate::message::{RING_DATA, TAG_BYTES};
use crate::ring_header::{RING_HEADER_BYTES, RingHeader};
use crate::seal::open_in_place;
use crate::{RingKeys, Spent};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use bytes::{BufMut as _, BytesMut};
use core::fmt;
use folkmoot_base::codec::WIRE_VERSION;
use folkmoot_base::{Digest, NodeId, Secret, hmac_sha256};

/// Version and kind.
pub(crate) const PREFIX_BYTES: usize = 2;
/// What is authenticated in the clear.
const CLEAR_BYTES: usize = PREFIX_BYTES + RING_HEADER_BYTES;
/// What sealing adds to a packet.
pub(crate) const ADDED_BYTES: usize = PREFIX_BYTES + TAG_BYTES;

/// Under which number something was sealed, for checkers of LINK-29.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    /// Names the key, and says nothing of it.
    pub key: Digest,
    /// The nonce.
    pub nonce: [u8; 12],
}

/// One member, and its key.
struct Sender {
    node: NodeId,
    key: LessSafeKey,
    /// Names the key.
    name: Digest,
}

/// The keys of one ring at this node.
pub(crate) struct RingSeal {
    ring: [u8; 4],
    mine: u8,
    /// By index.
    senders: Vec<Sender>,
    /// The highest number that was sealed, by class.
    sealed: Vec<(u8, u32)>,
}

impl fmt::Debug for RingSeal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RingSeal({:02x?}, {} senders, sealed {:?})", self.ring, self.senders.len(), self.sealed)
    }
}

impl Sender {
    fn new((node, secret): &(NodeId, Secret<[u8; 32]>)) -> Option<Self> {
        let key = UnboundKey::new(&AES_256_GCM, secret.expose()).ok().map(LessSafeKey::new)?;
        let name = hmac_sha256(secret.expose(), &[b"folkmoot link v1 name of a ring key"]);
        Some(Self { node: *node, key, name })
    }
}

impl RingSeal {
    /// `None` if `me` is not among the senders, or the provider refuses a key.
    pub(crate) fn new(me: NodeId, keys: &RingKeys) -> Option<Self> {
        let place = keys.senders.iter().position(|(node, _)| *node == me)?;
        let senders = keys.senders.iter().map(Sender::new).collect::<Option<_>>()?;
        Some(Self { ring: keys.ring, mine: u8::try_from(place).ok()?, senders, sealed: Vec::new() })
    }

    pub(crate) fn ring(&self) -> [u8; 4] {
        self.ring
    }

    /// The header of a packet of ours.
    pub(crate) fn header(&self, class: u8, number: u32) -> RingHeader {
        RingHeader { class, sender: self.mine, ring: self.ring, number }
    }

    /// LINK-29: whether this node may seal the packet, which it may once. From then on it may not.
    /// The numbers of a class only rise.
    pub(crate) fn take_number(&mut self, header: &RingHeader) -> bool {
        if header.ring != self.ring || header.sender != self.mine {
            return false;
        }
        match self.sealed.iter_mut().find(|(class, _)| *class == header.class) {
            Some((_, highest)) if header.number <= *highest => return false,
            Some((_, highest)) => *highest = header.number,
            None => self.sealed.push((header.class, header.number)),
        }
        true
    }

    /// Puts `packet`, whose header this is, into `out`, which is empty, and seals it there.
    pub(crate) fn seal(
        &self,
        header: &RingHeader,
        packet: &[u8],
        out: &mut BytesMut,
    ) -> Result<Numbered, Spent> {
        let Sender { key, name, .. } = self.senders.get(usize::from(header.sender)).ok_or(Spent)?;
        out.put_slice(&[WIRE_VERSION, RING_DATA]);
        out.put_slice(packet);
        let nonce = header.nonce();
        let (clear, rest) = out.split_first_chunk_mut::<CLEAR_BYTES>().ok_or(Spent)?;
        let tag = key
            .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(*clear), rest)
            .map_err(|_| Spent)?;
        out.put_slice(tag.as_ref());
        Ok(Numbered { key: *name, nonce })
    }

    /// Opens a datagram in place: the packet is what stands within [`PREFIX_BYTES`] and
    /// [`TAG_BYTES`] then. Returns who numbered it; `None` if it is not sealed under the key of
    /// another member of this ring.
    pub(crate) fn open(&self, header: &RingHeader, datagram: &mut [u8]) -> Option<NodeId> {
        let sender = self.senders.get(usize::from(header.sender)).filter(|_| header.sender != self.mine)?;
        let (clear, rest) = datagram.split_first_chunk_mut::<CLEAR_BYTES>()?;
        let nonce = Nonce::assume_unique_for_key(header.nonce());
        open_in_place(&sender.key, nonce, Aad::from(*clear), rest)?;
        Some(sender.node)
    }
}
