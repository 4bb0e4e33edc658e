//! Memory that the system writes to, and that is used again.

use std::sync::{Arc, Mutex, PoisonError};

/// Size of a room, in bytes: the longest message that a system hands over.
pub const ROOM_BYTES: usize = 65_536;
/// Most rooms that are kept so as to use them again; more are freed.
const ROOMS_MAX: usize = 64;

/// Rooms that nobody uses. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Rooms(Arc<Mutex<Vec<Box<[u8]>>>>);

impl Rooms {
    /// A room, whatever is in it: the one that was given back last, because it may still be in a
    /// cache.
    pub(crate) fn room(&self) -> Room {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bytes = used.unwrap_or_else(|| vec![0; ROOM_BYTES].into_boxed_slice());
        Room { bytes, home: self.clone() }
    }
}

/// Memory for one message of the system. When it is dropped, it can be had again.
pub struct Room {
    bytes: Box<[u8]>,
    home: Rooms,
}

impl core::fmt::Debug for Room {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Room({} bytes)", self.bytes.len())
    }
}

impl AsRef<[u8]> for Room {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsMut<[u8]> for Room {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut rooms = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rooms.len() < ROOMS_MAX {
            rooms.push(core::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use folkmoot_base::Train;

    #[test]
    fn a_room_is_used_again_once_nobody_has_any_of_it() {
        let rooms = Rooms::default();
        let free = || rooms.0.lock().unwrap().len();
        let mut room = rooms.room();
        room.as_mut().fill(7);
        let kept = Train::new(room, 1_000, 100).take(10).slice(100..200);
        assert_eq!(free(), 0);
        rooms.room().as_mut().fill(8);
        assert!(kept.iter().all(|byte| *byte == 7));
        assert_eq!(free(), 1);
        drop(kept);
        assert_eq!(free(), 2);
        drop(Train::new(rooms.room(), 1_000, 100));
        assert_eq!(free(), 2);
        let many: Vec<_> = (0..ROOMS_MAX * 2).map(|_| rooms.room()).collect();
        drop(many);
        assert_eq!(free(), ROOMS_MAX);
    }
}
