//! One peer whose link is up: who it is, and what its link does with a datagram.

use super::allowance::Allowance;
use super::filling::Filling;
use super::keys::Keys;
use super::moving::Moving;
use super::path::Path;
use super::pulse::Pulse;
use super::telling::Telling;
use crate::assembly::Assemblies;
use crate::association::Association;
use crate::call::Around;
use crate::limits::{ASSEMBLIES_MAX, ASSEMBLY_LIFE, GUEST_ASSEMBLIES_MAX, SEALED_OVERHEAD};
use crate::message::{Control, Lane, Piece, begin_data, put_frame};
use crate::out::Out;
use crate::start::SignedStart;
use crate::{LinkError, Output, Spent};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{Danger, Entropy, Host, Instant, Locator, NodeId};

/// A peer whose link is up.
#[derive(Debug)]
pub(super) struct Peer {
    at: Locator,
    moving: Moving,
    /// Where it proved that it hears, when the link came up.
    host: Host,
    certificate: Bytes,
    /// Its process, and the proof that it started.
    start: SignedStart,
    member: bool,
    /// We dialled it at some time, so it is not counted or limited as a guest.
    dialled: bool,
    up: Instant,
    keys: Keys,
    assemblies: Assemblies,
    allowance: Allowance,
    pub(super) pulse: Pulse,
    pub(super) path: Path,
    pub(super) filling: Filling,
    pub(super) telling: Telling,
}

/// Who it is.
impl Peer {
    /// `dialled` says whether we dialled it, now or before; `rests` whether it is in our
    /// configuration.
    pub(super) fn new(
        now: Instant,
        at: Locator,
        (certificate, start): (Bytes, SignedStart),
        (dialled, rests): (bool, bool),
        association: Association,
    ) -> Self {
        Self {
            host: at.host(),
            at,
            moving: Moving::default(),
            certificate,
            start,
            member: false,
            dialled,
            up: now,
            keys: Keys::new(association),
            assemblies: Assemblies::default(),
            allowance: Allowance::new(now),
            pulse: Pulse::new(now, rests),
            path: Path::new(now),
            filling: Filling::default(),
            telling: Telling::new(now),
        }
    }

    pub(super) fn at(&self) -> &Locator {
        &self.at
    }

    pub(super) fn host(&self) -> Host {
        self.host
    }

    /// Since when the link is up.
    pub(super) fn up(&self) -> Instant {
        self.up
    }

    pub(super) fn start(&self) -> &SignedStart {
        &self.start
    }

    pub(super) fn is_member(&self) -> bool {
        self.member
    }

    /// Returns whether that is news.
    pub(super) fn set_member(&mut self, member: bool) -> bool {
        core::mem::replace(&mut self.member, member) != member
    }

    pub(super) fn is_dialled(&self) -> bool {
        self.dialled
    }

    /// We dial it, now or before.
    pub(super) fn dial(&mut self) {
        self.dialled = true;
    }

    /// A guest that came by itself.
    pub(super) fn is_inbound_guest(&self) -> bool {
        !self.member && !self.dialled
    }

    /// It shows this certificate. Returns whether that is another one.
    pub(super) fn certify(&mut self, certificate: &Bytes) -> bool {
        let new = self.certificate != *certificate;
        if new {
            self.certificate = certificate.clone();
        }
        new
    }
}

/// Its keys.
impl Peer {
    /// Sends under `association` from now on.
    pub(super) fn renew(&mut self, now: Instant, association: Association, around: &mut Around<'_>) {
        self.pulse.hear(now);
        if let Some(dropped) = self.keys.renew(association) {
            around.routes.remove(dropped);
        }
    }

    /// LINK-16: the node with the lower id dials for new keys, whichever node used the keys up.
    fn wear(&mut self, node: NodeId, counter: u64, around: &mut Around<'_>) {
        if counter < around.own.config.rekey_after || around.own.node() > node {
            return;
        }
        let at = self.pulse.last();
        if self.keys.renew_at(at) {
            around.out.note(at);
        }
    }

    /// Where to dial for new keys, if it is time.
    pub(super) fn take_renewal(&mut self, now: Instant) -> Option<Locator> {
        self.keys.take_renewal(now).then(|| self.at.clone())
    }

    /// It is asked whether it is there.
    pub(super) fn ask(&mut self, now: Instant) {
        self.pulse.ask(now);
        self.keys.current().ask(now);
    }

    /// Forgets incomplete frames and keys whose time is over.
    pub(super) fn expire(&mut self, now: Instant, silence: Duration, around: &mut Around<'_>) {
        around.out.count_lost(self.assemblies.expire(now));
        if let Some(retired) = self.keys.retire(silence) {
            around.routes.remove(retired);
        }
    }

    /// When to dial for new keys, and when an incomplete frame, a certificate or a probe is due.
    pub(super) fn due(&self) -> [Option<Instant>; 4] {
        [self.assemblies.deadline(), self.keys.renewal(), self.telling.due(), self.path.due()]
    }

    /// The link is down: nothing is for it any more.
    pub(super) fn leave(&self, around: &mut Around<'_>) {
        self.keys.indices().for_each(|index| around.routes.remove(index));
    }

    /// What is left of it when it is down: where it was, and what we sent under.
    pub(super) fn into_former(self) -> (Locator, Association) {
        (self.at, self.keys.into_current())
    }
}

/// Its datagrams. Performance matters here.
impl Peer {
    /// Puts a short frame into the datagram that is being filled, if there is one with room.
    /// Returns how many bytes it has copied.
    pub(super) fn pack(&mut self, now: Instant, lane: Lane, parts: &[&[u8]]) -> Option<usize> {
        let copied = self.filling.pack(self.path.mtu(), lane, parts)?;
        self.pulse.send(now);
        Some(copied)
    }

    /// Seals what waits, and puts it out. Returns how many bytes that was.
    pub(super) fn flush(&mut self, node: NodeId, around: &mut Around<'_>) -> Result<usize, Spent> {
        let Some(packet) = self.filling.take() else { return Ok(0) };
        self.transmit(node, packet, around)
    }

    /// Seals a datagram that has room for its header, and puts it out.
    pub(super) fn transmit(
        &mut self,
        node: NodeId,
        packet: BytesMut,
        around: &mut Around<'_>,
    ) -> Result<usize, Spent> {
        let datagram = self.seal(node, packet, around)?;
        let bytes = datagram.len();
        around.out.say(Output::Transmit { to: self.at.clone(), datagram });
        Ok(bytes)
    }

    /// The same of a probe, which leaves by itself.
    pub(super) fn transmit_probe(
        &mut self,
        node: NodeId,
        packet: BytesMut,
        around: &mut Around<'_>,
    ) -> Result<(), Spent> {
        let datagram = self.seal(node, packet, around)?;
        around.out.say(Output::Probe { to: self.at.clone(), datagram });
        Ok(())
    }

    fn seal(&mut self, node: NodeId, mut packet: BytesMut, around: &mut Around<'_>) -> Result<Bytes, Spent> {
        let association = self.keys.current();
        let agreed = association.common().version;
        let version = if around.own.is(Danger::LinkAnyVersion) { agreed ^ 0x40 } else { agreed };
        let counter = association.seal(version, &mut packet)?;
        around.out.count_sealed();
        self.wear(node, counter, around);
        Ok(packet.freeze())
    }

    /// Opens a datagram that names our index `index`.
    pub(super) fn open(
        &mut self,
        now: Instant,
        (node, index): (NodeId, u32),
        from: &Locator,
        datagram: BytesMut,
        (entropy, around): (&mut dyn Entropy, &mut Around<'_>),
    ) -> Result<Bytes, LinkError> {
        let association = self.keys.get(index).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        association.check_version(around.own, from, &datagram)?;
        let opened = association.open(now, from, datagram)?;
        self.pulse.hear(now);
        around.out.count_opened();
        if opened.newest {
            self.hear_at(now, (node, from), entropy, around);
            self.keys.settle(index);
        }
        self.wear(node, opened.counter, around);
        Ok(opened.plaintext)
    }

    /// LINK-34: it is heard there now. If that is elsewhere than before, it is asked there.
    fn hear_at(
        &mut self,
        now: Instant,
        (node, from): (NodeId, &Locator),
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) {
        if self.at == *from {
            return self.moving.forget();
        }
        if around.own.is(Danger::LinkBelievesAddresses) {
            return self.move_to(now, from, around.out);
        }
        let Some(number) = self.moving.hear(now, from, entropy) else { return };
        let frame = Control::Ping(number).encode();
        let mut packet = around.out.buffer(SEALED_OVERHEAD + frame.len());
        begin_data(&mut packet);
        put_frame(&mut packet, Lane::Control, &[&frame], frame.len());
        // Keys that are used up end the link as soon as anything else is said.
        if let Ok(datagram) = self.seal(node, packet, around) {
            around.out.say(Output::Transmit { to: from.clone(), datagram });
        }
    }

    /// LINK-11: it has moved, if that is the answer to what it was asked there.
    pub(super) fn answered_at(&mut self, now: Instant, from: &Locator, number: u64, out: &mut Out) {
        if self.moving.answered(from, number) {
            self.move_to(now, from, out);
        }
    }

    /// It is there. The path is another.
    fn move_to(&mut self, now: Instant, at: &Locator, out: &mut Out) {
        self.at.clone_from(at);
        self.path.doubt(now);
        out.note(now);
    }

    /// LINK-14: whether it may send this.
    pub(super) fn may_send(&mut self, now: Instant, node: NodeId, piece: &Piece) -> Result<(), LinkError> {
        if self.member { Ok(()) } else { self.allowance.take(now, node, self.dialled, piece) }
    }

    /// The frame of a piece. If the piece is a fragment: the frame, once all fragments are there.
    pub(super) fn whole(
        &mut self,
        now: Instant,
        node: NodeId,
        piece: Piece,
        out: &mut Out,
    ) -> Result<Option<Bytes>, LinkError> {
        let Piece { lane, fragment, bytes } = piece;
        let Some(place) = fragment else { return Ok(Some(bytes)) };
        let most = if self.member { ASSEMBLIES_MAX } else { GUEST_ASSEMBLIES_MAX };
        let taken = self.assemblies.insert(now, lane, place, &bytes, most);
        let (whole, lost) = taken.map_err(|_| LinkError::PeerMalformed(node))?;
        out.count_lost(lost);
        out.count_copied(bytes.len());
        out.note(now + ASSEMBLY_LIFE);
        Ok(whole)
    }
}
