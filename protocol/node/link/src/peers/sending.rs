//! Frames out: they are packed into datagrams, sealed and sent. Performance matters here. The crate
//! that uses `Links` compiles it, because it is generic. So what it calls for every frame is
//! inlined.

use super::Peers;
use crate::call::Around;
use crate::limits::{fragment_bytes, frame_bytes};
use crate::message::{Control, FRAGMENT_HEADER_BYTES, FRAME_HEADER_BYTES, Lane, put_fragment, put_frame};
use crate::{Channel, DownCause, LinkError, Output};
use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::LONG_FRAME_BYTES_MAX;
use folkmoot_base::{Instant, NodeId};

impl Peers {
    /// Sends a frame, given in parts.
    #[inline]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        to: NodeId,
        channel: Channel,
        parts: &[&[u8]],
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let peer = self.all.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        if channel == Channel::Ring && !peer.is_member() {
            return Err(LinkError::LocalToGuest(to, channel));
        }
        let lane = Lane::Channel(channel);
        if let Some(copied) = peer.pack(now, lane, parts) {
            around.out.count_copied(copied);
            return Ok(());
        }
        self.put(now, to, lane, parts, around)
    }

    /// Sends the same datagram, sealed for all of them, to each of these that is a member's node.
    /// None of their links counts as used by it (LINK-28). If a path does not carry it, the packet
    /// that it holds goes there as [`Self::send`] sends it.
    pub(crate) fn spread(
        &mut self,
        now: Instant,
        to: &[NodeId],
        (datagram, packet): (&Bytes, &[u8]),
        around: &mut Around<'_>,
    ) {
        for node in to {
            let Some(peer) = self.all.get_mut(node).filter(|peer| peer.is_member()) else { continue };
            if datagram.len() > peer.path.mtu() {
                let _ = self.send(now, *node, Channel::Ring, &[packet], around);
                continue;
            }
            around.out.say(Output::Transmit { to: peer.at().clone(), datagram: datagram.clone() });
            if peer.path.carried(now, datagram.len()) {
                self.probe(now, *node, around);
            }
        }
    }

    /// Puts a frame into the datagram that is being filled, or cuts it into fragments.
    fn put(
        &mut self,
        now: Instant,
        to: NodeId,
        lane: Lane,
        parts: &[&[u8]],
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let excess_bytes = length.saturating_sub(LONG_FRAME_BYTES_MAX);
        if excess_bytes > 0 {
            return Err(LinkError::LocalTooLong { excess_bytes });
        }
        let mtu = self.all.get(&to).ok_or(LinkError::LocalNoLink(to))?.path.mtu();
        if length > frame_bytes(mtu) {
            // First to one piece, then into the datagrams.
            around.out.count_copied(length.saturating_mul(2));
            return self.cut(now, to, lane, parts, around);
        }
        around.out.count_copied(length);
        let packet = self.packet(now, to, length.saturating_add(FRAME_HEADER_BYTES), around)?;
        put_frame(packet, lane, parts, length);
        Ok(())
    }

    /// Cuts a frame that no datagram of this path carries into fragments.
    fn cut(
        &mut self,
        now: Instant,
        to: NodeId,
        lane: Lane,
        parts: &[&[u8]],
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let peer = self.all.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        let id = peer.filling.next_fragment();
        let whole = parts.concat();
        let chunks = whole.chunks(fragment_bytes(peer.path.mtu()).max(1));
        let count = u8::try_from(chunks.len()).unwrap_or(u8::MAX);
        for (chunk, part) in chunks.zip(0_u8..) {
            let header = FRAME_HEADER_BYTES.saturating_add(FRAGMENT_HEADER_BYTES);
            let packet = self.packet(now, to, chunk.len().saturating_add(header), around)?;
            put_fragment(packet, lane, (id, part, count), chunk);
        }
        Ok(())
    }

    /// The datagram being filled for `to`, with room for `bytes` more.
    fn packet(
        &mut self,
        now: Instant,
        to: NodeId,
        bytes: usize,
        around: &mut Around<'_>,
    ) -> Result<&mut BytesMut, LinkError> {
        let peer = self.all.get(&to).ok_or(LinkError::LocalNoLink(to))?;
        if !peer.filling.has_room(peer.path.mtu(), bytes) {
            self.flush(to, around);
        }
        let peer = self.all.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        peer.pulse.send(now);
        if peer.filling.queue() {
            self.dirty.push_back(to);
        }
        Ok(peer.filling.packet(around.out))
    }

    pub(crate) fn control(&mut self, now: Instant, to: NodeId, message: &Control, around: &mut Around<'_>) {
        let result = self.put(now, to, Lane::Control, &[&message.encode()], around);
        debug_assert!(
            matches!(result, Ok(()) | Err(LinkError::LocalNoLink(_))),
            "control messages fit: {result:?}"
        );
    }

    pub(crate) fn ping(&mut self, now: Instant, to: NodeId, around: &mut Around<'_>) {
        if let Some(peer) = self.all.get_mut(&to) {
            peer.path.ping(now.0);
        }
        self.control(now, to, &Control::Ping(now.0), around);
    }

    /// Seals what waits for the next peer in the list. Returns whether there was one.
    #[inline]
    pub(crate) fn flush_next(&mut self, around: &mut Around<'_>) -> bool {
        let Some(node) = self.dirty.pop_front() else { return false };
        if let Some(peer) = self.all.get_mut(&node) {
            peer.filling.unqueue();
        }
        self.flush(node, around);
        true
    }

    /// Seals what waits for `node`, and puts it out.
    pub(super) fn flush(&mut self, node: NodeId, around: &mut Around<'_>) {
        let Some(peer) = self.all.get_mut(&node) else { return };
        match peer.flush(node, around) {
            Ok(bytes) => {
                let now = peer.pulse.sent();
                if peer.path.carried(now, bytes) {
                    self.probe(now, node, around);
                }
            }
            Err(_) => drop(self.down(node, DownCause::Spent, around)),
        }
    }
}
