//! Datagrams in: they are opened and taken apart. Performance matters here.

use super::Peers;
use crate::call::Around;
use crate::handshake::Shown;
use crate::limits::REPEAT_MIN;
use crate::message::{Control, Lane, Piece, next_piece, well_formed};
use crate::start::SignedStart;
use crate::{Channel, DownCause, LinkError, Output};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{Blob, Entropy, Instant, Locator, NodeId, digest};

impl Peers {
    /// Opens a datagram for the association with our index `index`, whatever the address (LINK-11).
    pub(crate) fn open(
        &mut self,
        now: Instant,
        (node, index): (NodeId, u32),
        from: &Locator,
        datagram: BytesMut,
        (entropy, around): (&mut dyn Entropy, &mut Around<'_>),
    ) -> Result<Bytes, LinkError> {
        let peer = self.all.get_mut(&node).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        peer.open(now, (node, index), from, datagram, (entropy, around))
    }

    /// Takes every piece of a datagram that came from `from`, even after one is refused; returns
    /// the first refusal.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        (node, from): (NodeId, &Locator),
        mut plaintext: Bytes,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        if !well_formed(&plaintext) {
            return Err(LinkError::PeerMalformed(node));
        }
        let mut result = Ok(());
        while let Ok(Some(piece)) = next_piece(&mut plaintext) {
            let taken = self.piece(now, (node, from), piece, around);
            result = result.and(taken);
        }
        result
    }

    /// The next answer to a probe by multicast, of those that just came.
    pub(crate) fn take_heard(&mut self) -> Option<(NodeId, ([u8; 4], u32))> {
        self.heard_all.pop()
    }

    fn piece(
        &mut self,
        now: Instant,
        (node, from): (NodeId, &Locator),
        piece: Piece,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        // The link went down in the middle of its own datagram: the peer hung up.
        let Some(peer) = self.all.get_mut(&node) else { return Ok(()) };
        let lane = piece.lane;
        peer.may_send(now, node, &piece).inspect_err(|error| around.out.count_piece(error))?;
        if peer.pulse.rests() && lane == Lane::Channel(Channel::Ring) {
            self.company.hear(now);
        }
        let Some(frame) = peer.whole(now, node, piece, around.out)? else { return Ok(()) };
        match lane {
            Lane::Channel(channel) => {
                around.out.say(Output::Frame { from: node, channel, frame });
                Ok(())
            }
            Lane::Control => self.hear_control(now, (node, from), &frame, around),
        }
    }

    fn hear_control(
        &mut self,
        now: Instant,
        (node, from): (NodeId, &Locator),
        frame: &[u8],
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        match Control::decode(frame).map_err(|_| LinkError::PeerMalformed(node))? {
            Control::Ping(number) => self.control(now, node, &Control::Pong(number), around),
            Control::Pong(number) => {
                let Some(peer) = self.all.get_mut(&node) else { return Ok(()) };
                let again = peer.path.pong(now, number);
                peer.answered_at(now, from, number, around.out);
                peer.path.due().into_iter().for_each(|due| around.out.note(due));
                if again {
                    self.ping(now, node, around);
                }
                self.tell_path(node, around);
            }
            Control::Probe(probe) => self.hear_probe(now, node, &probe, around),
            Control::Probed { number, size } => self.hear_probed(now, node, (number, size), around),
            Control::Heard { ring, number } => {
                if self.company.has(&node) {
                    self.heard_all.push((node, (ring, number)));
                }
            }
            Control::Bye => drop(self.down(node, DownCause::PeerHungUp, around)),
            Control::Superseded(start) => return self.hear_superseded(now, node, &start, around),
            Control::Certificate(certificate) => {
                return self.hear_certificate(now, node, certificate, around);
            }
            Control::Certified(told) => {
                if let Some(peer) = self.all.get_mut(&node) {
                    peer.telling.has(told);
                }
            }
        }
        Ok(())
    }

    fn hear_certificate(
        &mut self,
        now: Instant,
        node: NodeId,
        certificate: Blob,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let claim = around.own.credentials.claim(certificate.as_ref());
        let claim =
            claim.filter(|claim| claim.node == node).ok_or(LinkError::PeerForeignCertificate(node))?;
        let told = digest(&[certificate.as_ref()]);
        self.certify(node, claim.rostered, certificate.0, around.out);
        self.control(now, node, &Control::Certified(told), around);
        Ok(())
    }

    /// LINK-26. An earlier start is an old story; a forged one ends the link to whoever shows it.
    fn hear_superseded(
        &mut self,
        now: Instant,
        node: NodeId,
        shown: &SignedStart,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        match around.own.judge(shown) {
            Shown::Later => {
                around.out.say(Output::Superseded { started: shown.start.started });
                return Ok(());
            }
            Shown::Old => {}
            Shown::Forged => self.hang_up(now, node, DownCause::HungUp, around)?,
        }
        Err(LinkError::PeerFalseStart(node))
    }

    /// A Finish came again: our confirmation was lost. One ping repeats it.
    pub(crate) fn confirm(&mut self, now: Instant, node: NodeId, around: &mut Around<'_>) {
        if self.all.get(&node).is_some_and(|peer| now.since(peer.pulse.sent()) >= REPEAT_MIN) {
            self.ping(now, node, around);
        }
    }
}
