//! One peer: its security associations, its standing, and the frames that wait for its next
//! datagram.

use super::Association;
use crate::assembly::Assemblies;
use crate::limits::{
    GUEST_ADMISSION_BURST, GUEST_ADMISSION_PER_SECOND, GUEST_TRANSCRIPT_BURST, GUEST_TRANSCRIPT_PER_SECOND,
};
use crate::message::{FRAME_HEADER_BYTES, Lane, TAG_BYTES, put_frame};
use crate::start::SignedStart;
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, FRAME_BYTES_MAX};
use folkmoot_base::{Bucket, Digest, Host, Instant, Locator};

/// A peer whose link is up.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) at: Locator,
    /// Where it proved that it hears, when the link came up.
    pub(crate) host: Host,
    pub(crate) certificate: Bytes,
    /// Its process, and the proof that it started.
    pub(crate) start: SignedStart,
    pub(crate) member: bool,
    /// We dialled it at some time, so it is not counted or limited as a guest.
    pub(crate) dialled: bool,
    pub(crate) up: Instant,
    pub(crate) heard: Instant,
    pub(crate) sent: Instant,
    /// When it was last asked whether it is there.
    pub(crate) asked: Instant,
    /// It is in our configuration (LINK-24).
    pub(crate) rests: bool,
    /// When the ring was last heard in which it rested.
    pub(crate) vouched: Instant,
    /// The association to send under, and at most one more that still opens datagrams.
    pub(crate) current: Association,
    pub(crate) other: Option<Association>,
    /// When to dial for new keys.
    pub(crate) rekey: Option<Instant>,
    /// The digest of our certificate, until the peer says that it has the certificate.
    pub(crate) untold: Option<Digest>,
    /// When to tell it again.
    pub(crate) tell: Instant,
    pub(crate) packet: Option<BytesMut>,
    /// Already in the list of peers to flush.
    pub(crate) queued: bool,
    pub(crate) next_fragment: u32,
    pub(crate) assemblies: Assemblies,
    pub(crate) admission: Bucket,
    pub(crate) transcript: Bucket,
}

impl Peer {
    pub(crate) fn new(
        now: Instant,
        at: Locator,
        certificate: Bytes,
        start: SignedStart,
        dialled: bool,
        association: Association,
    ) -> Self {
        Self {
            host: at.host(),
            at,
            certificate,
            start,
            member: false,
            dialled,
            up: now,
            heard: now,
            sent: now,
            asked: now,
            rests: false,
            vouched: now,
            current: association,
            other: None,
            rekey: None,
            untold: None,
            tell: now,
            packet: None,
            queued: false,
            next_fragment: 0,
            assemblies: Assemblies::default(),
            admission: Bucket::new(GUEST_ADMISSION_BURST, GUEST_ADMISSION_PER_SECOND, now),
            transcript: Bucket::new(GUEST_TRANSCRIPT_BURST, GUEST_TRANSCRIPT_PER_SECOND, now),
        }
    }

    /// A guest that came by itself.
    pub(crate) fn is_inbound_guest(&self) -> bool {
        !self.member && !self.dialled
    }

    /// Puts a short frame into the datagram that is being filled, if there is one with room.
    /// Returns how many bytes it has copied.
    pub(crate) fn pack(&mut self, now: Instant, lane: Lane, parts: &[&[u8]]) -> Option<u64> {
        let packet = self.packet.as_mut().filter(|_| self.queued)?;
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let full = packet.len().saturating_add(length).saturating_add(FRAME_HEADER_BYTES + TAG_BYTES);
        if length > FRAME_BYTES_MAX || full > DATAGRAM_BYTES_MAX {
            return None;
        }
        self.sent = now;
        put_frame(packet, lane, parts, length);
        Some(u64::try_from(length).unwrap_or(u64::MAX))
    }

    /// The association with our index `index`.
    pub(crate) fn association(&mut self, index: u32) -> Option<&mut Association> {
        if self.current.index == index {
            return Some(&mut self.current);
        }
        self.other.as_mut().filter(|association| association.index == index)
    }

    /// Sends under `association` from now on. Returns the index of the association that was dropped
    /// to make room, if there was one.
    pub(crate) fn renew(&mut self, association: Association) -> Option<u32> {
        let dropped = self.other.take().map(|association| association.index);
        self.other = Some(core::mem::replace(&mut self.current, association));
        self.rekey = None;
        dropped
    }

    /// Both sides dialled at once: once the peer is heard on the association that the lower node
    /// dialled, send there (LINK-07).
    pub(crate) fn settle(&mut self, heard_on: u32) {
        let low = self.other.as_ref().is_some_and(|other| other.index == heard_on && other.low);
        if low && !self.current.low {
            self.swap();
        }
    }

    /// Drops the association that was silent for `silence` when the peer was last heard on the
    /// other, and returns its index (LINK-08). The one to send under is not silent until it was
    /// asked something: the peer may have had nothing to say.
    pub(crate) fn retire(&mut self, silence: Duration) -> Option<u32> {
        let other = self.other.as_ref()?;
        let gave_up = |asked: Instant| other.heard >= asked + silence;
        if self.current.asked.is_some_and(gave_up) {
            self.swap();
        } else if self.current.heard < other.heard + silence {
            return None;
        }
        self.other.take().map(|association| association.index)
    }

    fn swap(&mut self) {
        if let Some(other) = &mut self.other {
            core::mem::swap(&mut self.current, other);
        }
    }

    /// When to ping: after `rest` without a message from here; again and again if the peer is quiet
    /// for so long (LINK-15).
    pub(crate) fn ping_at(&self, rest: Duration, silence: Duration) -> Instant {
        let idle = self.sent + rest;
        let doubt = (self.heard + rest).max(self.asked + silence / 8);
        idle.min(doubt)
    }

    pub(crate) fn indices(&self) -> impl Iterator<Item = u32> + use<> {
        [Some(self.current.index), self.other.as_ref().map(|association| association.index)]
            .into_iter()
            .flatten()
    }
}
