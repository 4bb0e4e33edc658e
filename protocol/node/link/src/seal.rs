//! Sealing of datagrams: AES-256-GCM with explicit counters as nonces, and a replay window.
//!
//! [`PairSeal`] implements [`FrameSeal`] with the two keys from a handshake, one for each
//! direction. What goes under a ring key is sealed by `ring_seal.rs`.

use crate::limits::REPLAY_WINDOW;
use crate::message::{DATA_HEADER_BYTES, TAG_BYTES};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use bytes::{Buf as _, BufMut, BytesMut};
use core::fmt;
use folkmoot_base::{Secret, hmac_sha256};

const COUNTER_AT: usize = 6;

/// Why a datagram does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenError {
    /// Its tag is not right.
    Forged,
    /// Its counter came before, or is older than the window.
    Replayed,
}

/// The keys were used as often as is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent;

/// Seals and opens whole datagrams. The header is in the clear and authenticated.
pub trait FrameSeal: fmt::Debug + Send {
    /// Fills in the counter of `datagram` (header, then plaintext), encrypts in place, appends the
    /// tag. Returns the counter.
    ///
    /// # Errors
    /// [`Spent`]; the datagram must be dropped.
    fn seal(&mut self, datagram: &mut BytesMut) -> Result<u64, Spent>;

    /// Opens `datagram` in place: its plaintext is left. Returns the counter, and whether it is the
    /// highest so far.
    ///
    /// # Errors
    /// [`OpenError`]; nothing changes then but the bytes of the datagram, which are of no more use.
    fn open(&mut self, datagram: &mut BytesMut) -> Result<(u64, bool), OpenError>;
}

/// The two keys of a handshake.
pub struct PairSeal {
    seal: LessSafeKey,
    open: LessSafeKey,
    next: u64,
    most: u64,
    window: ReplayWindow,
}

impl fmt::Debug for PairSeal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PairSeal(next {}, highest {})", self.next, self.window.highest)
    }
}

impl PairSeal {
    /// Seals under a key from `seal`, at most `most` times, and opens under one from `open`. `None`
    /// if the provider refuses the keys.
    pub(crate) fn new(seal: &Secret<[u8; 32]>, open: &Secret<[u8; 32]>, most: u64) -> Option<Self> {
        Some(Self {
            seal: data_key(seal)?,
            open: data_key(open)?,
            next: 0,
            most,
            window: ReplayWindow::default(),
        })
    }
}

fn data_key(split: &Secret<[u8; 32]>) -> Option<LessSafeKey> {
    let key = Secret::new(hmac_sha256(split.expose(), &[b"folkmoot link v1 data"]));
    UnboundKey::new(&AES_256_GCM, key.expose()).ok().map(LessSafeKey::new)
}

/// The nonce of Noise for AES-GCM.
pub(crate) fn nonce(counter: u64) -> Nonce {
    let mut nonce = [0_u8; 12];
    for (to, from) in nonce.iter_mut().skip(4).zip(counter.to_be_bytes()) {
        *to = from;
    }
    Nonce::assume_unique_for_key(nonce)
}

/// Opens what ends with its tag. `LessSafeKey::open_in_place` would copy the whole text onto itself
/// (aws-lc-rs 1.18).
pub(crate) fn open_in_place<A: AsRef<[u8]>>(
    key: &LessSafeKey,
    nonce: Nonce,
    header: Aad<A>,
    sealed: &mut [u8],
) -> Option<()> {
    let (text, tag) = sealed.split_at_mut_checked(sealed.len().checked_sub(TAG_BYTES)?)?;
    key.open_in_place_separate_tag(nonce, header, tag, text).ok().map(drop)
}

impl FrameSeal for PairSeal {
    fn seal(&mut self, datagram: &mut BytesMut) -> Result<u64, Spent> {
        let counter = self.next;
        if counter >= self.most {
            return Err(Spent);
        }
        self.next = counter.saturating_add(1);
        let (header, plaintext) = datagram.split_first_chunk_mut::<DATA_HEADER_BYTES>().ok_or(Spent)?;
        for (to, from) in header.iter_mut().skip(COUNTER_AT).zip(counter.to_be_bytes()) {
            *to = from;
        }
        let tag = self
            .seal
            .seal_in_place_separate_tag(nonce(counter), Aad::from(*header), plaintext)
            .map_err(|_| Spent)?;
        datagram.put_slice(tag.as_ref());
        Ok(counter)
    }

    fn open(&mut self, datagram: &mut BytesMut) -> Result<(u64, bool), OpenError> {
        let (header, sealed) =
            datagram.split_first_chunk_mut::<DATA_HEADER_BYTES>().ok_or(OpenError::Forged)?;
        let counter = counter_in(header)?;
        if !self.window.is_fresh(counter) {
            return Err(OpenError::Replayed);
        }
        open_in_place(&self.open, nonce(counter), Aad::from(*header), sealed).ok_or(OpenError::Forged)?;
        strip(datagram);
        Ok((counter, self.window.mark(counter)))
    }
}

/// Seals nothing and checks nothing: `Danger::LinkPlain`.
#[derive(Debug, Default)]
pub(crate) struct NoSeal {
    next: u64,
    highest: u64,
}

impl FrameSeal for NoSeal {
    fn seal(&mut self, datagram: &mut BytesMut) -> Result<u64, Spent> {
        let counter = self.next;
        self.next = counter.saturating_add(1);
        let header = datagram.first_chunk_mut::<DATA_HEADER_BYTES>().ok_or(Spent)?;
        for (to, from) in header.iter_mut().skip(COUNTER_AT).zip(counter.to_be_bytes()) {
            *to = from;
        }
        datagram.put_bytes(0, TAG_BYTES);
        Ok(counter)
    }

    fn open(&mut self, datagram: &mut BytesMut) -> Result<(u64, bool), OpenError> {
        let header = datagram.first_chunk::<DATA_HEADER_BYTES>().ok_or(OpenError::Forged)?;
        let counter = counter_in(header)?;
        strip(datagram);
        let newest = counter >= self.highest;
        self.highest = self.highest.max(counter);
        Ok((counter, newest))
    }
}

/// The counter in the header of a datagram.
fn counter_in(header: &[u8; DATA_HEADER_BYTES]) -> Result<u64, OpenError> {
    let (_, counter) = header.split_last_chunk::<8>().ok_or(OpenError::Forged)?;
    Ok(u64::from_be_bytes(*counter))
}

/// Leaves what stands between the header and the tag.
fn strip(datagram: &mut BytesMut) {
    datagram.truncate(datagram.len().saturating_sub(TAG_BYTES));
    datagram.advance(DATA_HEADER_BYTES.min(datagram.len()));
}

const WORDS: usize = 16;
const _: () = assert!(WORDS as u64 * 64 == REPLAY_WINDOW);

/// Which of the last [`REPLAY_WINDOW`] counters came.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplayWindow {
    /// One above the highest counter that came.
    highest: u64,
    bits: [u64; WORDS],
}

impl ReplayWindow {
    /// Whether `counter` is new and not too old (LINK-10).
    pub(crate) fn is_fresh(&self, counter: u64) -> bool {
        if counter >= self.highest {
            return counter < u64::MAX;
        }
        let (word, bit) = place(counter);
        self.highest.saturating_sub(counter) <= REPLAY_WINDOW
            && self.bits.get(word).is_some_and(|bits| bits & bit == 0)
    }

    /// Notes a counter that is fresh and authentic. Returns whether it is the highest so far.
    pub(crate) fn mark(&mut self, counter: u64) -> bool {
        let newest = counter >= self.highest;
        if newest {
            self.slide(counter);
        }
        let (word, bit) = place(counter);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits |= bit;
        }
        newest
    }

    fn slide(&mut self, counter: u64) {
        if counter.saturating_sub(self.highest) >= REPLAY_WINDOW {
            self.bits = [0; WORDS];
        } else {
            for passed in self.highest..=counter {
                let (word, bit) = place(passed);
                if let Some(bits) = self.bits.get_mut(word) {
                    *bits &= !bit;
                }
            }
        }
        self.highest = counter.saturating_add(1);
    }
}

fn place(counter: u64) -> (usize, u64) {
    let slot = counter % REPLAY_WINDOW;
    (usize::try_from(slot / 64).unwrap_or(0), 1 << (slot % 64))
}

#[cfg(test)]
mod tests {
    use super::ReplayWindow;

    #[test]
    fn the_window_agrees_with_a_list() {
        let mut window = ReplayWindow::default();
        let mut seen = std::collections::BTreeSet::new();
        let mut state = 7_u64;
        let mut base = 0_u64;
        for step in 0..20_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            base += (state >> 60) * u64::from(step % 97 == 0) * 300 + 1;
            let counter = base.saturating_sub((state >> 33) % 1_500);
            let highest = seen.last().map_or(0, |last| last + 1);
            let fresh = !seen.contains(&counter) && (counter >= highest || highest - counter <= 1_024);
            assert_eq!(window.is_fresh(counter), fresh, "counter {counter} at highest {highest}");
            if fresh {
                assert_eq!(window.mark(counter), counter >= highest);
                seen.insert(counter);
            }
        }
    }
}
