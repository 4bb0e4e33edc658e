//! Datagrams in, many at a time: one call to the system fills several rooms (recvmmsg), and each
//! may hold up to 64 datagrams from one place that the system joined (GRO).

use crate::rooms::{Room, Rooms};
use core::net::SocketAddr;
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};
use std::io::{self, IoSliceMut};

/// Where the system writes what came to one socket.
pub struct Inbox {
    state: UdpSocketState,
    rooms: Vec<Room>,
    /// Where rooms come from.
    spare: Rooms,
    metas: [RecvMeta; BATCH_SIZE],
}

/// A room with something in it.
pub struct Filled<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// How many bytes there are.
    pub length: usize,
    /// How long each datagram is, but for the last.
    pub size: usize,
    room: &'a mut Room,
    spare: &'a Rooms,
}

impl core::fmt::Debug for Inbox {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Inbox({} rooms)", self.rooms.len())
    }
}

impl Inbox {
    /// Prepares a socket to receive here, with so many rooms.
    ///
    /// # Errors
    /// The system's.
    pub fn new<'s, S>(socket: &'s S, rooms: usize) -> io::Result<Self>
    where
        UdpSockRef<'s>: From<&'s S>,
    {
        let state = UdpSocketState::new(socket.into())?;
        let spare = Rooms::default();
        let rooms = (0..rooms.clamp(1, BATCH_SIZE)).map(|_| spare.room()).collect();
        Ok(Self { state, rooms, spare, metas: [RecvMeta::default(); BATCH_SIZE] })
    }

    /// What is known of the socket.
    pub(crate) fn state(&self) -> &UdpSocketState {
        &self.state
    }

    /// One call to the system; how many rooms it filled, of at most `most`. It fills them while it
    /// can: if fewer are filled, there is no more, and to ask again would be in vain.
    ///
    /// # Errors
    /// The system's.
    pub fn receive<'s, S>(&mut self, socket: &'s S, most: usize) -> io::Result<usize>
    where
        UdpSockRef<'s>: From<&'s S>,
    {
        let rooms = self.rooms.iter_mut().take(most);
        let mut slices: Vec<IoSliceMut<'_>> = rooms.map(|room| IoSliceMut::new(room.as_mut())).collect();
        self.state.recv(socket.into(), &mut slices, &mut self.metas)
    }

    /// The rooms that the last call filled.
    pub fn filled(&mut self, count: usize) -> impl Iterator<Item = Filled<'_>> {
        let Self { rooms, spare, metas, .. } = self;
        rooms.iter_mut().zip(metas).take(count).map(|(room, meta)| Filled {
            from: meta.addr,
            length: meta.len,
            size: meta.stride.max(1),
            room,
            spare,
        })
    }
}

impl Filled<'_> {
    /// What came.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.room.as_mut().get_mut(..self.length).unwrap_or_default()
    }

    /// Takes the room itself. Another takes its place.
    pub fn keep(self) -> Room {
        core::mem::replace(self.room, self.spare.room())
    }
}
