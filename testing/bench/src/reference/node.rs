//! One node of the reference: a process with one socket. It sends while its window lets it, opens
//! what comes, and tells each sender now and then how far that has come.

use super::packet::{ACK, DATA, Header, Seals, Shape};
use crate::meter::process_worked;
use crate::ring::{Gaps, dropped_by_system, now, percentiles, say};
use folkmoot_cli::exit::{Exit, Failure};
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use serde::{Deserialize, Serialize};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Where the packets go.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 77, 0, 1);
const PORT: u16 = 4_804;
const SOCKET_BYTES: usize = 8 * 1024 * 1024;
/// Room for one received message: up to 64 packets that the system joined.
const MESSAGE_BYTES: usize = 65_536;
/// Packets of one sender that not all receivers are known to have.
const WINDOW: u64 = 256;
/// A receiver tells after so many packets of a sender.
const ACK_EVERY: u64 = 32;
/// Packets in one call at most, and bytes.
const TRAIN: (usize, usize) = (32, 60_000);
/// If nobody tells anything new for so long, packets or words were lost: the sender goes on.
const GIVE_UP: Duration = Duration::from_millis(20);

/// How a node begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) number: u8,
    /// Of all nodes, by number.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) sends: bool,
    /// It sends one message every 5 to 15 ms, which says when it was sent.
    pub(crate) lone: bool,
    pub(crate) bytes: u32,
    /// When to send and to measure, by the monotonic clock.
    pub(crate) send: (u64, u64),
    pub(crate) measure: (u64, u64),
}

/// What a node tells at its end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Messages delivered in the measured time, its own included.
    pub(crate) timed: u64,
    pub(crate) cpu_ns: u64,
    /// Packets that others numbered and that did not come.
    pub(crate) lost: u64,
    /// How often the sender went on without an answer.
    pub(crate) given_up: u64,
    pub(crate) dropped_by_system: u64,
    /// How long lone messages took.
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

/// What is known of another node.
#[derive(Debug, Clone, Copy, Default)]
struct Other {
    /// How far its packets came here, and how far it was told so.
    heard: u64,
    told: u64,
    /// How far it says that ours came there.
    has: u64,
}

struct Node {
    start: Start,
    shape: Shape,
    seals: Seals,
    socket: UdpSocket,
    state: UdpSocketState,
    others: Vec<Other>,
    /// The number of our next packet.
    next: u64,
    /// Up to here we do not wait for answers.
    forgiven: u64,
    progress: u64,
    train: Vec<u8>,
    room: Vec<u8>,
    /// When the next lone message goes.
    due: u64,
    gaps: Gaps,
    micros: Vec<f32>,
    told: Told,
}

/// Runs a node to its end.
pub(crate) async fn node(start: Start) -> Result<(), Failure> {
    let mut node =
        Node::new(start).map_err(|error| Failure::new(Exit::Configuration, error.to_string()))??;
    node.run().await?;
    say(&node.told)
}

impl Node {
    fn new(start: Start) -> io::Result<Result<Self, Failure>> {
        let own = start.addresses.get(usize::from(start.number)).copied();
        let Some(IpAddr::V4(own)) = own else { return Err(io::ErrorKind::InvalidInput.into()) };
        let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
        socket.set_nonblocking(true)?;
        socket.join_multicast_v4(&GROUP, &own)?;
        socket.set_multicast_loop_v4(false)?;
        let socket = UdpSocket::from_std(socket)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        // The system may give less.
        let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), SOCKET_BYTES);
        let bytes = usize::try_from(start.bytes).unwrap_or(usize::MAX);
        let node = |seals| Self {
            shape: if start.lone { Shape::lone(bytes) } else { Shape::of(bytes) },
            due: start.send.0,
            gaps: Gaps::of(start.number.into()),
            micros: Vec::new(),
            seals,
            socket,
            state,
            others: vec![Other::default(); start.addresses.len()],
            next: 0,
            forgiven: 0,
            progress: 0,
            train: Vec::new(),
            room: vec![0; BATCH_SIZE * MESSAGE_BYTES],
            told: Told::default(),
            start,
        };
        Ok(Seals::new().map(node))
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let (from, to) = self.start.send;
        let sends = self.start.sends;
        let (mut before, mut after) = (None, None);
        loop {
            let time = now();
            if before.is_none() && time >= self.start.measure.0 {
                before = Some((process_worked(), dropped_by_system()));
            }
            if after.is_none() && time >= self.start.measure.1 {
                after = Some((process_worked(), dropped_by_system()));
            }
            let came = self.receive()?;
            if time >= to + 100_000_000 {
                break;
            }
            let sent = sends && (from..to).contains(&time) && self.send(time)?;
            if !came && !sent {
                // Nothing to do until something comes, or until the time for it has come.
                let _ = tokio::time::timeout(Duration::from_millis(1), self.socket.readable()).await;
            }
        }
        if let (Some(before), Some(after)) = (before, after) {
            self.told.cpu_ns = u64::try_from((after.0 - before.0).as_nanos()).unwrap_or(u64::MAX);
            self.told.dropped_by_system = after.1.saturating_sub(before.1);
        }
        let micros = std::mem::take(&mut self.micros);
        [self.told.p50_us, self.told.p99_us, _] = percentiles(micros);
        Ok(())
    }

    fn deliver(&mut self, time: u64, messages: u16) {
        let (from, to) = self.start.measure;
        if (from..to).contains(&time) {
            self.told.timed += u64::from(messages);
        }
    }

    /// Sends a train, if the window lets it.
    fn send(&mut self, time: u64) -> Result<bool, Failure> {
        let own = usize::from(self.start.number);
        let others = self.others.iter().enumerate().filter(|(number, _)| *number != own);
        let held = others.map(|(_, other)| other.has).min().unwrap_or(self.next).max(self.forgiven);
        let late = time.saturating_sub(self.progress) > GIVE_UP.as_nanos() as u64;
        let most = (TRAIN.1 / self.shape.packet_bytes()).min(TRAIN.0).min(self.state.max_gso_segments());
        let most = u64::try_from(most.max(1)).unwrap_or(1);
        if self.next - held.min(self.next) + most > WINDOW {
            if late {
                (self.forgiven, self.progress) = (self.next, time);
                self.told.given_up += 1;
            }
            return Ok(false);
        }
        let mut body = vec![0x5a; self.shape.body];
        let most = if self.start.lone { 1 } else { most };
        if self.start.lone {
            if time < self.due {
                return Ok(false);
            }
            self.due = time.saturating_add(u64::try_from(self.gaps.draw().as_nanos()).unwrap_or(u64::MAX));
            body.iter_mut().zip(now().to_be_bytes()).for_each(|(to, from)| *to = from);
        }
        self.train.clear();
        for number in self.next..self.next + most {
            let messages = self.shape.ending(number);
            let header = Header { kind: DATA, sender: self.start.number, messages, number };
            self.seals.seal(header, &body, &mut self.train)?;
        }
        let size = self.shape.packet_bytes();
        let segment_size = (self.train.len() > size).then_some(size);
        if !self.transmit((GROUP, PORT).into(), &self.train, segment_size)? {
            return Ok(false);
        }
        (self.next..self.next + most).for_each(|number| self.deliver(time, self.shape.ending(number)));
        self.next += most;
        Ok(true)
    }

    /// Whether the socket has taken it.
    fn transmit(&self, to: SocketAddr, bytes: &[u8], segment_size: Option<usize>) -> Result<bool, Failure> {
        let transmit = Transmit { destination: to, ecn: None, contents: bytes, segment_size, src_ip: None };
        match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(Failure::new(Exit::Configuration, format!("cannot send to {to}: {error}"))),
        }
    }

    /// Takes what has come; whether there was anything.
    fn receive(&mut self) -> Result<bool, Failure> {
        let mut room = std::mem::take(&mut self.room);
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let count = {
            let mut slices: Vec<IoSliceMut<'_>> =
                room.chunks_exact_mut(MESSAGE_BYTES).map(IoSliceMut::new).collect();
            let (socket, state) = (&self.socket, &self.state);
            let mut take = || state.recv(UdpSockRef::from(socket), &mut slices, &mut metas);
            match socket.try_io(Interest::READABLE, &mut take) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(Failure::new(Exit::Configuration, error.to_string())),
            }
        };
        let time = now();
        for (meta, message) in metas.iter().zip(room.chunks_exact_mut(MESSAGE_BYTES)).take(count) {
            let message = message.get_mut(..meta.len).unwrap_or_default();
            message.chunks_mut(meta.stride.max(1)).for_each(|packet| self.packet(time, packet));
        }
        self.room = room;
        self.answer(count == 0)?;
        Ok(count > 0)
    }

    fn packet(&mut self, time: u64, packet: &mut [u8]) {
        let Some(header) = Header::read(packet) else { return };
        let sender = usize::from(header.sender);
        match header.kind {
            DATA if sender != usize::from(self.start.number) => {
                let Some(body) = self.seals.open(header, packet) else { return };
                let sent = body.first_chunk().map(|sent| u64::from_be_bytes(*sent)).unwrap_or_default();
                self.deliver(time, header.messages);
                let (from, to) = self.start.measure;
                if self.start.lone && (from..to).contains(&time) {
                    self.micros.push(now().saturating_sub(sent) as f32 / 1_000.0);
                }
                if let Some(other) = self.others.get_mut(sender) {
                    self.told.lost += header.number.saturating_sub(other.heard);
                    other.heard = other.heard.max(header.number + 1);
                }
            }
            ACK => {
                if let Some(other) = self.others.get_mut(sender).filter(|other| other.has < header.number) {
                    other.has = header.number;
                    self.progress = time;
                }
            }
            _ => {}
        }
    }

    /// Tells each sender how far it has come: now and then, and if nothing more is there.
    fn answer(&mut self, idle: bool) -> Result<(), Failure> {
        for number in 0..self.others.len() {
            let (Some(other), Some(at)) = (self.others.get(number), self.start.addresses.get(number)) else {
                continue;
            };
            let news = other.heard - other.told;
            if news == 0 || (news < ACK_EVERY && !idle) {
                continue;
            }
            let header = Header { kind: ACK, sender: self.start.number, messages: 0, number: other.heard };
            self.transmit((*at, PORT).into(), &header.bytes(), None)?;
            self.others.iter_mut().skip(number).take(1).for_each(|other| other.told = other.heard);
        }
        Ok(())
    }
}
