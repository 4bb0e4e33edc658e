//! One program in one group.

use crate::hub::Hub;
use crate::queue::Queue;
use crate::sockets::{Mouth, hear, receive_buffer};
use crate::{Capacity, Heard, Pattern, Subscription};
use bytes::Bytes;
use core::net::{SocketAddr, SocketAddrV4};
use core::time::Duration;
use folkmoot_base::Instant;
use folkmoot_pubsub::{
    Address, Channel, Counters, Limits, Message, Packets, Payload, Receiver, SELF_TEST_CHANNEL,
    SELF_TEST_PAYLOAD, Sizes, TooLong,
};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// Longest datagram of UDP, and one byte more.
const DATAGRAM_BYTES_MAX: usize = 65_536;
/// After so many datagrams the reader lets others have a turn.
const BATCH_MAX: usize = 64;
/// How long a program tries to hear itself, and how often it speaks meanwhile. As liblcm.
const SELF_TEST_PATIENCE: Duration = Duration::from_secs(10);
const SELF_TEST_PAUSE: Duration = Duration::from_millis(100);
/// How a message is cut: what others of this system do.
const SIZES: Sizes = if cfg!(target_vendor = "apple") { Sizes::SMALL } else { Sizes::LARGE };

/// Why a program cannot take part in a group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// The system does not let it.
    #[error("the system does not let this program speak on {address}: {error}")]
    LocalSockets {
        /// Where the group meets.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// A message is too long.
    #[error(transparent)]
    LocalTooLong(#[from] TooLong),
    /// What it says does not come back to it.
    #[error("this program does not hear itself on {0}: a firewall or the routes of this host stop multicast")]
    LocalDeaf(Address),
}

/// One program's place in a group. As in liblcm it hears nothing before it subscribes to something;
/// from then on it hears until this is dropped.
#[derive(Debug)]
pub struct Bus {
    address: Address,
    mouth: Mouth,
    hub: Arc<Mutex<Hub>>,
    /// The number of the next message. Held while its datagrams leave, so that they stay together.
    sequence: tokio::sync::Mutex<u32>,
    ear: Mutex<Option<Ear>>,
}

#[derive(Debug)]
struct Ear {
    reader: JoinHandle<()>,
    /// Of the socket's receive buffer.
    bytes: usize,
}

impl Bus {
    /// Joins the group. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`BusError::LocalSockets`].
    pub fn join(address: Address) -> Result<Self, BusError> {
        let mouth = Mouth::open(&address).map_err(|error| BusError::LocalSockets { address, error })?;
        let (hub, sequence) = (Arc::new(Mutex::new(Hub::default())), tokio::sync::Mutex::new(0));
        Ok(Self { address, mouth, hub, sequence, ear: Mutex::new(None) })
    }

    /// Says something on a channel. Done when the system has taken it. If the future is dropped
    /// before that, the rest of a long message is not sent, and nobody hears it.
    ///
    /// # Errors
    /// The message is too long, or the system refuses it.
    pub async fn publish(&self, channel: Channel, payload: &[u8]) -> Result<(), BusError> {
        let mut sequence = self.sequence.lock().await;
        let packets = Packets::new(channel, payload, *sequence, SIZES)?;
        *sequence = sequence.wrapping_add(1);
        for packet in packets {
            let sent = self.mouth.send(&packet).await;
            sent.map_err(|error| self.refused(error))?;
        }
        Ok(())
    }

    /// Hears the channels of this pattern from now on. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// The system does not let this program hear the group.
    pub fn subscribe(&self, pattern: Pattern, capacity: Capacity) -> Result<Subscription, BusError> {
        let mut ear = self.ear.lock().unwrap_or_else(PoisonError::into_inner);
        if ear.is_none() {
            let hears = hear(&self.address).map_err(|error| self.refused(error))?;
            let bytes = receive_buffer(&hears).unwrap_or_default();
            *ear = Some(Ear { reader: tokio::spawn(read(hears, Arc::clone(&self.hub))), bytes });
        }
        drop(ear);
        let queue = Arc::new(Queue::new(capacity));
        let number = lock(&self.hub).subscribe(pattern, Arc::clone(&queue));
        Ok(Subscription::new(Arc::clone(&self.hub), number, queue))
    }

    fn refused(&self, error: io::Error) -> BusError {
        BusError::LocalSockets { address: self.address, error }
    }

    /// Tries whether this program hears itself, as liblcm does: it speaks on [`SELF_TEST_CHANNEL`]
    /// ten times a second, for ten seconds at most. Others hear that, too, and ignore it.
    ///
    /// # Errors
    /// It does not, or cannot speak.
    pub async fn self_test(&self) -> Result<(), BusError> {
        let port = self.mouth.port().map_err(|error| self.refused(error))?;
        let (Ok(channel), Ok(pattern)) = (Channel::new(SELF_TEST_CHANNEL), Pattern::new(SELF_TEST_CHANNEL))
        else {
            return Err(BusError::LocalDeaf(self.address));
        };
        let mut heard = self.subscribe(pattern, Capacity::default())?;
        let end = tokio::time::Instant::now() + SELF_TEST_PATIENCE;
        while tokio::time::Instant::now() < end {
            self.publish(channel, SELF_TEST_PAYLOAD).await?;
            let own = async {
                while let Some(heard) = heard.next().await {
                    if heard.from.port() == port && heard.payload == SELF_TEST_PAYLOAD {
                        return true;
                    }
                }
                false
            };
            match tokio::time::timeout(SELF_TEST_PAUSE, own).await {
                Ok(true) => return Ok(()),
                Ok(false) => break,
                Err(_) => {}
            }
        }
        Err(BusError::LocalDeaf(self.address))
    }

    /// What was heard, refused and lost so far.
    pub fn counters(&self) -> Counters {
        lock(&self.hub).counters()
    }

    /// How large the system's buffer of what was received is, in bytes as it counts them; 0 before
    /// the first subscription.
    pub fn receive_buffer(&self) -> usize {
        self.ear.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |ear| ear.bytes)
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        if let Some(ear) = self.ear.lock().unwrap_or_else(PoisonError::into_inner).take() {
            ear.reader.abort();
        }
        lock(&self.hub).close();
    }
}

fn lock(hub: &Mutex<Hub>) -> MutexGuard<'_, Hub> {
    // A panic under the lock would be one of ours in a list that stays whole.
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears until the socket is gone.
async fn read(hears: UdpSocket, hub: Arc<Mutex<Hub>>) {
    let mut receiver = Receiver::new(Limits::default());
    let mut room = vec![0; DATAGRAM_BYTES_MAX];
    let start = tokio::time::Instant::now();
    loop {
        if let Err(error) = hears.readable().await {
            tracing::warn!(%error, "the group is not heard any more");
            return lock(&hub).close();
        }
        for _ in 0..BATCH_MAX {
            let (length, from) = match hears.try_recv_from(&mut room) {
                Ok((length, SocketAddr::V4(from))) => (length, from),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // Of one datagram, not of the socket.
                Err(error) => {
                    tracing::debug!(%error, "a datagram was not received");
                    break;
                }
            };
            let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
            let datagram = room.get(..length).unwrap_or_default();
            let taken = receiver.receive(Instant(micros), from, datagram);
            let mut hub = lock(&hub);
            match taken {
                Ok(Some(message)) => {
                    let channel = message.channel;
                    hub.deliver(&channel, || heard(message, from));
                }
                Ok(None) => {}
                Err(error) => tracing::trace!(%from, %error, "refused"),
            }
            hub.count(receiver.counters());
        }
        tokio::task::yield_now().await;
    }
}

fn heard(message: Message<'_>, from: SocketAddrV4) -> Heard {
    let payload = match message.payload {
        Payload::Within(bytes) => Bytes::copy_from_slice(bytes),
        Payload::Joined(bytes) => bytes.into(),
    };
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    let time = i64::try_from(time).unwrap_or(i64::MAX);
    Heard { channel: message.channel, payload, time, from, missing: message.missing }
}
