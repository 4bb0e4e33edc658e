//! What hears the group, for as long as a bus is there.
//!
//! ```text
//!   socket ==one call==> rooms: |datagram| |train of datagrams (GRO)| ... --> Hearing --> Hub
//! ```
//! What is short is copied out of its room, so that a payload of a few bytes does not keep 64 KiB
//! from being used again. What fills half a room or more is handed on where it lies: its queue
//! counts at least half of what it keeps (PUB-14).

use crate::clock::{Clock, since_1970};
use crate::hearing::Hearing;
use crate::hub::{Hub, lock};
use crate::presence::Presence;
use bytes::Bytes;
use core::net::{SocketAddr, SocketAddrV4};
use folkmoot_base::Instant;
use folkmoot_transport::{Filled, Inbox, ROOM_BYTES};
use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// How many rooms one call fills at most.
const ROOMS: usize = 16;
/// How many it is given at first. A lone datagram does not fill them, which says that no more came,
/// and rooms that stay empty cost the call time.
const ROOMS_FIRST: usize = 2;
/// After so many datagrams the reader lets others have a turn: those who read what came.
const TURN_MAX: usize = 96;
/// What is longer stays in its room.
const KEPT_MIN: usize = ROOM_BYTES / 2;

/// Hears a group.
pub(crate) struct Reader {
    pub(crate) hears: UdpSocket,
    pub(crate) hearing: Hearing,
    pub(crate) hub: Arc<Mutex<Hub>>,
    /// The port of this program, if it does not want to hear itself.
    pub(crate) ignored: Arc<OnceLock<u16>>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) clock: Clock,
}

impl Reader {
    /// Hears until the socket is gone.
    pub(crate) async fn read(mut self) {
        let ended = self.go_on().await;
        tracing::warn!(error = ?ended.err(), "the group is not heard any more");
        lock(&self.hub).close();
    }

    async fn go_on(&mut self) -> io::Result<()> {
        let mut inbox = Inbox::new(&self.hears, ROOMS)?;
        let (mut rooms, mut turn) = (ROOMS_FIRST, 0_usize);
        loop {
            self.hears.readable().await?;
            let count = self.receive(&mut inbox, rooms);
            rooms = if count < rooms { ROOMS_FIRST } else { ROOMS };
            let (now, time) = (self.clock.now(), since_1970());
            for filled in inbox.filled(count) {
                if self.ignored.get().is_some_and(|port| self.is_own(*port, filled.from)) {
                    continue;
                }
                turn = turn.saturating_add(self.take(filled, now, time));
                if turn >= TURN_MAX {
                    turn = 0;
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Whether the socket with this port said it. What a program says comes back to it, because
    /// others on its host shall hear it, too; and one on another host may have the same port.
    fn is_own(&self, port: u16, from: SocketAddr) -> bool {
        let SocketAddr::V4(from) = from else { return false };
        from.port() == port && self.presence.is_own(*from.ip())
    }

    /// One call to the system; how many rooms it filled.
    fn receive(&self, inbox: &mut Inbox, rooms: usize) -> usize {
        let mut count = 0;
        let received = self.hears.try_io(Interest::READABLE, || {
            count = inbox.receive(&self.hears, rooms)?;
            // This is how the runtime learns that it has to ask the system anew.
            if count < rooms { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match received {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                // Of one datagram, not of the socket.
                tracing::debug!(%error, "a datagram was not received");
                0
            }
            _ => count,
        }
    }

    /// Takes what is in a room; how many datagrams that was.
    fn take(&mut self, mut filled: Filled<'_>, now: Instant, time: i64) -> usize {
        let SocketAddr::V4(from) = filled.from else { return 0 };
        let (length, size) = (filled.length, filled.size);
        if length >= KEPT_MIN && length <= size {
            self.take_kept(filled, from, now, time);
            return 1;
        }
        let Self { hearing, hub, .. } = self;
        let mut hub = lock(hub);
        let mut take = |datagram: &mut [u8]| {
            if let Some(came) = hearing.take(now, from, datagram) {
                let channel = came.channel;
                hub.deliver(&channel, || came.heard(time));
            }
        };
        if length == 0 {
            // That is a datagram, too, and counts as a bad one.
            take(&mut []);
        }
        filled.bytes().chunks_mut(size).for_each(take);
        hub.count(hearing.counters());
        length.div_ceil(size).max(1)
    }

    fn take_kept(&mut self, filled: Filled<'_>, from: SocketAddrV4, now: Instant, time: i64) {
        let length = filled.length;
        let mut room = filled.keep();
        let datagram = room.as_mut().get_mut(..length).unwrap_or_default();
        let begins = datagram.as_ptr().addr();
        let came = self.hearing.take(now, from, datagram).map(|came| came.heard_at(begins, time));
        let mut hub = lock(&self.hub);
        if let Some((mut heard, place)) = came {
            if let Some(place) = place {
                heard.payload = Bytes::from_owner(room).slice(place);
            }
            let channel = heard.channel;
            hub.deliver(&channel, || heard);
        }
        hub.count(self.hearing.counters());
    }
}
