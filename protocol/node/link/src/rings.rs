//! The ring's keys at this node: of the configuration that is installed, and of the attempt at the
//! next. There are no others (LINK-30).

use crate::call::{Around, Me};
use crate::message::{RING_PROBE, TAG_BYTES, is_ring_data, ring_header};
use crate::ring_header::{RING_HEADER_BYTES, RingHeader};
use crate::ring_seal::{ADDED_BYTES, Numbered, PREFIX_BYTES, RingSeal};
use crate::{LinkError, RingKeys};
use bytes::{Buf as _, Bytes, BytesMut};
use core::ops::Range;
use folkmoot_base::codec::WIRE_VERSION;
use folkmoot_base::{Danger, DecodeError, Locator, NodeId, Train};

/// The keys.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    installed: Option<RingSeal>,
    attempt: Option<RingSeal>,
}

impl Rings {
    /// All contributions to an attempt are known: its packets can be opened from now on.
    pub(crate) fn attempt(&mut self, own: &Me<'_>, keys: &RingKeys) {
        self.attempt = RingSeal::new(own.node(), keys);
    }

    /// The attempt has failed.
    pub(crate) fn fail(&mut self) {
        self.attempt = None;
    }

    /// The attempt is installed. The keys of the configuration before are erased.
    pub(crate) fn install(&mut self, own: &Me<'_>) {
        let before = core::mem::replace(&mut self.installed, self.attempt.take());
        if own.is(Danger::LinkKeepsRingKey) {
            self.attempt = before;
        }
    }

    /// The ring that is installed, if it has keys.
    pub(crate) fn installed(&self) -> Option<[u8; 4]> {
        self.installed.as_ref().map(RingSeal::ring)
    }

    pub(crate) fn len(&self) -> usize {
        usize::from(self.installed.is_some()).saturating_add(self.attempt.is_some().into())
    }

    /// A probe of ours that makes a datagram of so many bytes.
    pub(crate) fn probe(&mut self, number: u32, bytes: usize, around: &mut Around<'_>) -> Option<Bytes> {
        let mut packet = BytesMut::with_capacity(bytes);
        self.installed.as_ref()?.header(RING_PROBE, number).write(&mut packet);
        packet.resize(bytes.saturating_sub(ADDED_BYTES).max(RING_HEADER_BYTES), 0);
        self.put(&packet, around).map(|(datagram, _)| datagram)
    }

    /// Seals a packet once for all, if that is ours to do: if it is numbered here, in the
    /// configuration that is installed, and for the first time (LINK-29).
    pub(crate) fn seal(&mut self, packet: &[u8], around: &mut Around<'_>) -> Option<(Bytes, Numbered)> {
        if packet.first() == Some(&RING_PROBE) {
            return None;
        }
        self.put(packet, around)
    }

    fn put(&mut self, packet: &[u8], around: &mut Around<'_>) -> Option<(Bytes, Numbered)> {
        let header = RingHeader::read(packet)?;
        let anew = around.own.is(Danger::RingSealsRepeats);
        let seal = self.installed.as_mut().filter(|seal| seal.ring() == header.ring)?;
        if !seal.take_number(&header) && !anew {
            return None;
        }
        let mut datagram = around.out.buffer(packet.len().saturating_add(ADDED_BYTES));
        let numbered = seal.seal(&header, packet, &mut datagram).ok()?;
        around.out.count_copied(packet.len());
        around.out.count_sealed();
        Some((datagram.freeze(), numbered))
    }

    /// LINK-28: opens a datagram under the key of the member that it names. Who really sent it, and
    /// from where, is not known: anybody can send it again.
    pub(crate) fn open(
        &self,
        from: &Locator,
        mut datagram: BytesMut,
        around: &mut Around<'_>,
    ) -> Result<(NodeId, RingHeader, Bytes), LinkError> {
        let (node, header) = self.open_in_place(from, &mut datagram)?;
        around.out.count_opened();
        datagram.truncate(datagram.len().saturating_sub(TAG_BYTES));
        datagram.advance(PREFIX_BYTES);
        Ok((node, header, datagram.freeze()))
    }

    /// LINK-28, for the packets at the front of a train: appends who numbered each, and where in
    /// the train it is now. Ends before anything else, and before the first that does not open.
    pub(crate) fn open_train(
        &self,
        from: &Locator,
        train: &mut Train,
        opened: &mut Vec<(NodeId, Range<usize>)>,
        around: &mut Around<'_>,
    ) {
        while let Some(place) = train.place(opened.len()) {
            let datagram = train.at(place.clone());
            if !is_ring_data(datagram) || datagram.get(PREFIX_BYTES) == Some(&RING_PROBE) {
                return;
            }
            let Ok((node, _)) = self.open_in_place(from, datagram) else { return };
            around.out.count_opened();
            let start = place.start.saturating_add(PREFIX_BYTES);
            opened.push((node, start..place.end.saturating_sub(TAG_BYTES)));
        }
    }

    fn open_in_place(&self, from: &Locator, datagram: &mut [u8]) -> Result<(NodeId, RingHeader), LinkError> {
        let malformed = |error| LinkError::WireMalformed(from.clone(), error);
        let header = ring_header(datagram).map_err(malformed)?;
        match datagram.first() {
            Some(&WIRE_VERSION) => {}
            version => return Err(malformed(DecodeError::Version(version.copied().unwrap_or_default()))),
        }
        let mut seals = [&self.installed, &self.attempt].into_iter().flatten();
        let seal = seals.find(|seal| seal.ring() == header.ring);
        let seal = seal.ok_or_else(|| LinkError::WireOtherRing(from.clone()))?;
        let node = seal.open(&header, datagram).ok_or_else(|| LinkError::WireForged(from.clone()))?;
        Ok((node, header))
    }
}
