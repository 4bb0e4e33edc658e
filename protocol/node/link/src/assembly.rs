//! Putting together what came in parts: handshake messages and long frames.

use crate::limits::{PARTS_MAX, fragment_bytes};
use crate::message::Lane;
use bytes::{Bytes, BytesMut};
use folkmoot_base::Instant;
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, LONG_FRAME_BYTES_MAX};
use std::collections::BTreeMap;

/// A part that does not fit the parts before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Misfit;

/// Parts of equal length, except the last; they come in any order. At most [`PARTS_MAX`] of them.
#[derive(Debug)]
pub(crate) struct Assembly {
    parts: u8,
    chunk: usize,
    came: u128,
    length: usize,
    bytes: BytesMut,
}

impl Assembly {
    /// Room for `parts` of `chunk` bytes each; the last may be shorter. `None` if that number is
    /// not legal.
    pub(crate) fn new(parts: u8, chunk: usize) -> Option<Self> {
        if parts == 0 || parts > PARTS_MAX {
            return None;
        }
        let room = usize::from(parts).saturating_mul(chunk);
        Some(Self { parts, chunk, came: 0, length: room, bytes: BytesMut::zeroed(room) })
    }

    /// Takes one part. Returns the whole once all parts have come (LINK-13). A part that came
    /// before changes nothing.
    pub(crate) fn insert(&mut self, part: u8, parts: u8, bytes: &[u8]) -> Result<Option<Bytes>, Misfit> {
        let last = part.saturating_add(1) == self.parts;
        let fits = if last { (1..=self.chunk).contains(&bytes.len()) } else { bytes.len() == self.chunk };
        if parts != self.parts || part >= parts || !fits {
            return Err(Misfit);
        }
        let bit = 1_u128 << part;
        if self.came & bit != 0 {
            return Ok(None);
        }
        let start = usize::from(part).saturating_mul(self.chunk);
        let place = self.bytes.get_mut(start..start.saturating_add(bytes.len())).ok_or(Misfit)?;
        place.copy_from_slice(bytes);
        self.came |= bit;
        if last {
            self.length = start.saturating_add(bytes.len());
        }
        if self.came.count_ones() < u32::from(self.parts) {
            return Ok(None);
        }
        self.bytes.truncate(self.length);
        Ok(Some(core::mem::take(&mut self.bytes).freeze()))
    }
}

/// A long frame on its way. How long its fragments are, all but the last say: their sender cuts
/// them to what its path carries.
#[derive(Debug)]
enum Frame {
    /// Only the last fragment came, of so many.
    Tail(u8, Bytes),
    Open(Assembly),
}

impl Frame {
    /// One of which this fragment came first.
    fn new((part, parts): (u8, u8), bytes: &Bytes) -> Result<Self, Misfit> {
        if parts > PARTS_MAX || bytes.len() > fragment_bytes(DATAGRAM_BYTES_MAX) {
            return Err(Misfit);
        }
        if part.saturating_add(1) == parts {
            return Ok(Self::Tail(parts, bytes.clone()));
        }
        let others = usize::from(parts.saturating_sub(1));
        if others.saturating_mul(bytes.len()) > LONG_FRAME_BYTES_MAX {
            return Err(Misfit);
        }
        Assembly::new(parts, bytes.len()).map(Self::Open).ok_or(Misfit)
    }

    /// Takes one fragment. Returns the whole once all have come.
    fn insert(&mut self, part: u8, parts: u8, bytes: &Bytes) -> Result<Option<Bytes>, Misfit> {
        if let Self::Tail(known, tail) = self {
            if part.saturating_add(1) == *known && parts == *known {
                return Ok(None);
            }
            let Self::Open(mut assembly) = Self::new((part, parts), bytes)? else { return Err(Misfit) };
            let last = parts.saturating_sub(1);
            let _ = assembly.insert(last, *known, tail)?;
            *self = Self::Open(assembly);
        }
        match self {
            Self::Open(assembly) => assembly.insert(part, parts, bytes),
            Self::Tail(..) => Err(Misfit),
        }
    }
}

/// The long frames of one peer that are not complete yet. When there is no room, the oldest is
/// forgotten.
#[derive(Debug, Default)]
pub(crate) struct Assemblies {
    open: BTreeMap<u32, (Instant, Lane, Frame)>,
}

impl Assemblies {
    /// Takes one fragment. Returns the whole frame once it is complete, and how many incomplete
    /// frames were forgotten to make room.
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        lane: Lane,
        (id, part, parts): (u32, u8, u8),
        bytes: &Bytes,
        most: usize,
    ) -> Result<(Option<Bytes>, u64), Misfit> {
        let mut lost = 0;
        if !self.open.contains_key(&id) {
            let frame = Frame::new((part, parts), bytes)?;
            while self.open.len() >= most {
                let oldest = self.open.iter().min_by_key(|(_, (at, ..))| *at).map(|(id, _)| *id);
                lost += u64::from(oldest.and_then(|id| self.open.remove(&id)).is_some());
            }
            self.open.insert(id, (now, lane, frame));
        }
        let (_, known, frame) = self.open.get_mut(&id).ok_or(Misfit)?;
        if *known != lane {
            return Err(Misfit);
        }
        let whole = frame.insert(part, parts, bytes)?;
        if whole.is_some() {
            self.open.remove(&id);
        }
        Ok((whole, lost))
    }

    /// Forgets frames that are too old, and returns how many.
    pub(crate) fn expire(&mut self, now: Instant) -> u64 {
        let before = self.open.len();
        self.open.retain(|_, (at, ..)| now.since(*at) < crate::limits::ASSEMBLY_LIFE);
        u64::try_from(before.saturating_sub(self.open.len())).unwrap_or(0)
    }

    /// When the oldest becomes too old.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.open.values().map(|(at, ..)| *at + crate::limits::ASSEMBLY_LIFE).min()
    }
}
