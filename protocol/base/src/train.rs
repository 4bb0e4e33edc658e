//! Datagrams that came together from one place, in the memory in which they came.
//!
//! ```text
//!   system --writes--> memory --Train: a, b, c, d--> opened in place --one Bytes--> slices of it
//! ```
//! So what is long is copied nowhere on its way in. Whoever keeps a few bytes of it for long should
//! copy them: they keep all of it.

use bytes::{Bytes, BytesMut};
use core::fmt;
use core::ops::Range;

/// Memory for a train. Its owner may use it again when it is dropped.
pub trait Room: AsRef<[u8]> + AsMut<[u8]> + Send + Sync + 'static {}

impl<T: AsRef<[u8]> + AsMut<[u8]> + Send + Sync + 'static> Room for T {}

struct Owner(Box<dyn Room>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

/// Datagrams of one size, of which the last may be shorter. They are taken from the front.
pub struct Train {
    /// Gone once all is taken.
    room: Option<Box<dyn Room>>,
    /// What is left of the room's bytes.
    left: Range<usize>,
    size: usize,
}

impl fmt::Debug for Train {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Train({} datagrams of {} bytes)", self.count(), self.size)
    }
}

impl Train {
    /// What the first `length` bytes of a room hold: datagrams of `size` bytes.
    pub fn new(room: impl Room, length: usize, size: usize) -> Self {
        let length = length.min(room.as_ref().len());
        Self { room: Some(Box::new(room)), left: 0..length, size: size.max(1) }
    }

    /// How many are left.
    pub fn count(&self) -> usize {
        self.left.len().div_ceil(self.size)
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Where the datagram after `before` others stands, if there is one.
    pub fn place(&self, before: usize) -> Option<Range<usize>> {
        let start = self.left.start.saturating_add(before.saturating_mul(self.size));
        let end = start.saturating_add(self.size).min(self.left.end);
        (start < end).then_some(start..end)
    }

    /// The bytes at a place.
    pub fn at(&mut self, place: Range<usize>) -> &mut [u8] {
        let bytes = self.room.as_mut().map(|room| (**room).as_mut()).unwrap_or_default();
        bytes.get_mut(place).unwrap_or_default()
    }

    /// The next datagram, copied.
    pub fn next_copied(&mut self) -> Option<BytesMut> {
        let place = self.place(0)?;
        self.left.start = place.end;
        (**self.room.as_ref()?).as_ref().get(place).map(BytesMut::from)
    }

    /// Takes the first `count` datagrams, as they are now. What [`Self::place`] said of them names
    /// the same bytes here. What comes behind them is copied.
    pub fn take(&mut self, count: usize) -> Bytes {
        let end = self.left.start.saturating_add(count.saturating_mul(self.size)).min(self.left.end);
        let Some(room) = self.room.take().map(Owner) else { return Bytes::new() };
        let behind = room.as_ref().get(end..self.left.end).unwrap_or_default().to_vec();
        self.left = 0..behind.len();
        if !behind.is_empty() {
            self.room = Some(Box::new(behind));
        }
        Bytes::from_owner(room)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_taken_apart_from_the_front() {
        let mut train = Train::new(b"aaabbbccdd, and no more".to_vec(), 10, 3);
        assert_eq!((train.count(), train.place(3), train.place(4)), (4, Some(9..10), None));
        assert_eq!(train.next_copied().as_deref(), Some(&b"aaa"[..]));
        let [first, second] = [0, 1].map(|before| train.place(before).unwrap());
        train.at(first.clone()).make_ascii_uppercase();
        let taken = train.take(2);
        assert_eq!((&taken[first], &taken[second]), (&b"BBB"[..], &b"ccd"[..]));
        assert_eq!((train.count(), train.next_copied().as_deref()), (1, Some(&b"d"[..])));
        assert!(train.is_empty() && train.next_copied().is_none());
    }

    #[test]
    fn sizes_that_cannot_be_do_no_harm() {
        assert_eq!(Train::new(vec![0; 70], usize::MAX, 0).count(), 70);
        let mut train = Train::new(vec![0; 70], 10, usize::MAX);
        assert_eq!((train.count(), train.place(usize::MAX), train.at(9..71).len()), (1, None, 0));
        assert_eq!(train.take(usize::MAX).len(), 70);
        assert!(train.is_empty() && train.take(1).is_empty() && train.at(0..1).is_empty());
    }
}
