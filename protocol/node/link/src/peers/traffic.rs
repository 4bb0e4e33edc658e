//! The data path: frames are packed, sealed and sent; datagrams are opened and taken apart.
//! Performance matters here.

use super::{Peer, check_version};
use crate::limits::{
    ASSEMBLIES_MAX, FRAGMENT_BYTES, GUEST_ADMISSION_BYTES_MAX, GUEST_ASSEMBLIES_MAX, GUEST_FRAME_COST,
};
use crate::links::Route;
use crate::message::{
    Control, DATA_HEADER_BYTES, FRAGMENT_HEADER_BYTES, FRAME_HEADER_BYTES, Lane, Piece, TAG_BYTES,
    address_data, begin_data, next_piece, put_fragment, put_frame, well_formed,
};
use crate::{Channel, Credentials, DownCause, LinkError, Links, OpenError, Output};
use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, FRAME_BYTES_MAX, LONG_FRAME_BYTES_MAX};
use folkmoot_base::{Danger, Instant, Locator, NodeId, digest};

/// The channels that guests may use.
const GUEST_CHANNELS: &[Channel] = &[Channel::Transcript, Channel::Admission];

impl<C: Credentials> Links<C> {
    /// Sends a frame: puts it into the datagram that is being filled, or cuts it into fragments.
    pub(crate) fn put(
        &mut self,
        now: Instant,
        to: NodeId,
        lane: Lane,
        parts: &[&[u8]],
    ) -> Result<(), LinkError> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        if length > LONG_FRAME_BYTES_MAX {
            return Err(LinkError::LocalTooLong {
                excess_bytes: length.saturating_sub(LONG_FRAME_BYTES_MAX),
            });
        }
        let fits = length <= FRAME_BYTES_MAX;
        // In fragments: first to one piece, then into the datagrams.
        self.copied(if fits { length } else { length.saturating_mul(2) });
        if fits {
            let packet = self.packet(now, to, length.saturating_add(FRAME_HEADER_BYTES))?;
            put_frame(packet, lane, parts, length);
            return Ok(());
        }
        let peer = self.peers.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        let id = peer.next_fragment;
        peer.next_fragment = id.wrapping_add(1);
        let whole = parts.concat();
        let chunks = whole.chunks(FRAGMENT_BYTES);
        let count = u8::try_from(chunks.len()).unwrap_or(u8::MAX);
        for (chunk, part) in chunks.zip(0_u8..) {
            let header = FRAME_HEADER_BYTES.saturating_add(FRAGMENT_HEADER_BYTES);
            let packet = self.packet(now, to, chunk.len().saturating_add(header))?;
            put_fragment(packet, lane, (id, part, count), chunk);
        }
        Ok(())
    }

    /// The datagram being filled for `to`, with room for `bytes` more.
    fn packet(&mut self, now: Instant, to: NodeId, bytes: usize) -> Result<&mut BytesMut, LinkError> {
        let peer = self.peers.get(&to).ok_or(LinkError::LocalNoLink(to))?;
        let filled = peer.packet.as_ref().map_or(0, |packet| packet.len());
        if filled.saturating_add(bytes).saturating_add(TAG_BYTES) > DATAGRAM_BYTES_MAX {
            self.flush(to);
        }
        let peer = self.peers.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        peer.sent = now;
        if !peer.queued {
            peer.queued = true;
            self.dirty.push_back(to);
        }
        let pool = &mut self.pool;
        Ok(peer.packet.get_or_insert_with(|| {
            let mut packet = pool.buffer(DATAGRAM_BYTES_MAX);
            begin_data(&mut packet);
            packet
        }))
    }

    pub(crate) fn control_out(&mut self, now: Instant, to: NodeId, message: &Control) {
        let result = self.put(now, to, Lane::Control, &[&message.encode()]);
        debug_assert!(
            matches!(result, Ok(()) | Err(LinkError::LocalNoLink(_))),
            "control messages fit: {result:?}"
        );
    }

    /// Seals what waits for `node`, and puts it out.
    pub(crate) fn flush(&mut self, node: NodeId) {
        let Some(peer) = self.peers.get_mut(&node) else { return };
        let Some(mut packet) = peer.packet.take() else { return };
        let association = &mut peer.current;
        let agreed = association.common.version;
        let version = if self.config.danger.is(Danger::LinkAnyVersion) { agreed ^ 0x40 } else { agreed };
        address_data(&mut packet, version, association.remote);
        let sealed = association.seal.seal(&mut packet);
        let to = peer.at.clone();
        match sealed {
            Ok(counter) => {
                self.counters.sealed = self.counters.sealed.saturating_add(1);
                self.rekey_due(node, counter);
                self.out.push_back(Output::Transmit { to, datagram: packet.freeze() });
            }
            Err(_) => self.down(node, DownCause::Spent),
        }
    }

    /// LINK-16: the node with the lower id dials for new keys, whichever node used the keys up.
    fn rekey_due(&mut self, node: NodeId, counter: u64) {
        if counter < self.config.rekey_after || self.credentials.node() > node {
            return;
        }
        if let Some(peer) = self.peers.get_mut(&node).filter(|peer| peer.rekey.is_none()) {
            let at = peer.sent.max(peer.heard);
            peer.rekey = Some(at);
            self.note(at);
        }
    }

    /// Sealed data: finds the association by its index, whatever the address (LINK-11).
    pub(crate) fn data(
        &mut self,
        now: Instant,
        from: &Locator,
        to: u32,
        bytes: &Bytes,
    ) -> Result<(), LinkError> {
        let (node, plaintext) = match self.routes.get(&to) {
            Some(Route::Peer(node)) => {
                let node = *node;
                (node, self.open(now, from, to, node, bytes)?)
            }
            Some(Route::Former(node)) => return self.former(now, from, *node, bytes),
            Some(Route::Dial) => self.confirm(now, from, to, bytes)?,
            Some(Route::HalfOpen) | None => return Err(LinkError::WireUnknown(from.clone())),
        };
        if !well_formed(&plaintext) {
            return Err(LinkError::PeerMalformed(node));
        }
        self.pieces(now, node, plaintext)
    }

    fn open(
        &mut self,
        now: Instant,
        from: &Locator,
        index: u32,
        node: NodeId,
        bytes: &Bytes,
    ) -> Result<Bytes, LinkError> {
        let peer = self.peers.get_mut(&node).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let association = peer.association(index).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        check_version(association, from, bytes, self.config.danger)?;
        let mut plaintext = self.pool.buffer(bytes.len());
        let (counter, newest) =
            association.seal.open(bytes, &mut plaintext).map_err(|error| match error {
                OpenError::Forged => LinkError::WireForged(from.clone()),
                OpenError::Replayed => LinkError::WireReplayed(from.clone()),
            })?;
        association.heard = now;
        association.asked = None;
        peer.heard = now;
        self.counters.opened = self.counters.opened.saturating_add(1);
        if newest {
            peer.at.clone_from(from);
            peer.settle(index);
        }
        self.rekey_due(node, counter);
        self.copied(plaintext.len());
        Ok(plaintext.freeze())
    }

    fn copied(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.counters.copied = self.counters.copied.saturating_add(bytes);
    }

    /// Takes every piece, even after one is refused; returns the first refusal.
    fn pieces(&mut self, now: Instant, node: NodeId, mut rest: Bytes) -> Result<(), LinkError> {
        let mut result = Ok(());
        while let Ok(Some(piece)) = next_piece(&mut rest) {
            let taken = self.piece(now, node, piece);
            result = result.and(taken);
        }
        result
    }

    fn piece(&mut self, now: Instant, node: NodeId, piece: Piece) -> Result<(), LinkError> {
        // The link went down in the middle of its own datagram: the peer hung up.
        let Some(peer) = self.peers.get_mut(&node) else { return Ok(()) };
        if !peer.member {
            guest_may(now, node, peer, &piece).inspect_err(|error| match error {
                LinkError::PeerOutOfTurn { .. } => {
                    self.counters.out_of_turn = self.counters.out_of_turn.saturating_add(1);
                }
                _ => self.counters.too_much = self.counters.too_much.saturating_add(1),
            })?;
        }
        if peer.rests && piece.lane == Lane::Channel(Channel::Ring) {
            self.company.heard = now;
        }
        let frame = match piece.fragment {
            None => piece.bytes,
            Some(place) => match self.fragment(now, node, piece.lane, place, &piece.bytes)? {
                Some(frame) => frame,
                None => return Ok(()),
            },
        };
        match piece.lane {
            Lane::Channel(channel) => {
                self.out.push_back(Output::Frame { from: node, channel, frame });
                Ok(())
            }
            Lane::Control => self.control_in(now, node, &frame),
        }
    }

    fn fragment(
        &mut self,
        now: Instant,
        node: NodeId,
        lane: Lane,
        place: (u32, u8, u8),
        bytes: &[u8],
    ) -> Result<Option<Bytes>, LinkError> {
        let Some(peer) = self.peers.get_mut(&node) else { return Ok(None) };
        let most = if peer.member { ASSEMBLIES_MAX } else { GUEST_ASSEMBLIES_MAX };
        let (whole, lost) = peer
            .assemblies
            .insert(now, lane, place, bytes, most)
            .map_err(|_| LinkError::PeerMalformed(node))?;
        self.counters.fragments_lost = self.counters.fragments_lost.saturating_add(lost);
        self.copied(bytes.len());
        self.note(now + crate::limits::ASSEMBLY_LIFE);
        Ok(whole)
    }

    fn control_in(&mut self, now: Instant, node: NodeId, frame: &[u8]) -> Result<(), LinkError> {
        match Control::decode(frame).map_err(|_| LinkError::PeerMalformed(node))? {
            Control::Ping(number) => self.control_out(now, node, &Control::Pong(number)),
            Control::Pong(_) => {}
            Control::Bye => self.down(node, DownCause::PeerHungUp),
            Control::Superseded(start) => return self.superseded(now, node, &start),
            Control::Certificate(certificate) => {
                let claim = self.credentials.claim(certificate.as_ref());
                let claim = claim
                    .filter(|claim| claim.node == node)
                    .ok_or(LinkError::PeerForeignCertificate(node))?;
                let told = digest(&[certificate.as_ref()]);
                self.new_certificate(node, claim.rostered, certificate.0);
                self.control_out(now, node, &Control::Certified(told));
            }
            Control::Certified(told) => {
                if let Some(peer) = self.peers.get_mut(&node).filter(|peer| peer.untold == Some(told)) {
                    peer.untold = None;
                }
            }
        }
        Ok(())
    }
}

/// LINK-14: guests may use two channels, at a bounded rate unless we dialled them, and only to us.
fn guest_may(now: Instant, node: NodeId, peer: &mut Peer, piece: &Piece) -> Result<(), LinkError> {
    let Lane::Channel(channel) = piece.lane else {
        let cost = u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX);
        let free = peer.dialled || cost <= GUEST_FRAME_COST;
        return if free || peer.transcript.take(now, cost) {
            Ok(())
        } else {
            Err(LinkError::PeerTooMuch(node))
        };
    };
    let cost = u64::try_from(piece.bytes.len()).unwrap_or(u64::MAX).max(GUEST_FRAME_COST);
    let parts = piece.fragment.map_or(1, |(_, _, parts)| usize::from(parts));
    let may = match channel {
        Channel::Ring => {
            return Err(LinkError::PeerOutOfTurn { peer: node, allowed: GUEST_CHANNELS, got: channel });
        }
        Channel::Transcript => peer.dialled || peer.transcript.take(now, cost),
        Channel::Admission => {
            parts.saturating_mul(FRAGMENT_BYTES) <= GUEST_ADMISSION_BYTES_MAX.next_multiple_of(FRAGMENT_BYTES)
                && (peer.dialled || peer.admission.take(now, cost))
        }
    };
    if may { Ok(()) } else { Err(LinkError::PeerTooMuch(node)) }
}

const _: () =
    assert!(DATA_HEADER_BYTES + FRAME_HEADER_BYTES + FRAME_BYTES_MAX + TAG_BYTES <= DATAGRAM_BYTES_MAX);
