//! What goes to a socket: neighbours of one size and to one address go as a train (GSO), and trains
//! of one size go in one call (sendmmsg). What the socket has no room for waits until it has.
//!
//! ```text
//!   send(batch) --by address--> train, train, ... --socket is full--> [ waiting ] --flush--> socket
//!                              '---- one call ----'
//! ```
//! In one call a lone message leaves for everybody before the system lets the first of them run: on
//! a host with few processors that would otherwise come before the message to the others.
//!
//! What goes to one address keeps its order, and the addresses take turns, a train each: so a lone
//! message is with everybody before the token that follows it goes to one of them. Bound:
//! [`WAITING_BYTES_MAX`]; more is dropped and counted, the newest first.

use crate::{Counters, as_u64};
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use folkmoot_base::Locator;
use std::collections::VecDeque;
use std::io;

/// Most bytes in one train: the largest IP packet less its headers.
const TRAIN_BYTES_MAX: usize = 65_000;
/// Bytes of datagrams that wait for room in the socket.
pub(crate) const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most that is kept of what the system would not send because of its length.
const TOO_LONG_MAX: usize = 64;

/// Trains in one call.
const TOGETHER_MAX: usize = 32;

/// Datagrams to one address, of one size but for a shorter last.
pub(crate) type Train<'a> = &'a [(Locator, Bytes)];

/// What one call to the system did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sent {
    /// It took so many trains, from the first on.
    pub(crate) trains: usize,
    /// So many bytes were copied for that.
    pub(crate) copied: usize,
}

/// One call to the system: trains, and the size of a segment if one of them is more than a
/// datagram. An error is that of the first train.
pub(crate) trait Call: FnMut(&[(SocketAddr, Train<'_>)], Option<usize>) -> io::Result<Sent> {}
impl<F: FnMut(&[(SocketAddr, Train<'_>)], Option<usize>) -> io::Result<Sent>> Call for F {}

/// Datagrams on their way to a socket.
#[derive(Debug)]
pub(crate) struct Trains {
    /// The address that the socket is bound to.
    local: SocketAddr,
    waiting: VecDeque<(Locator, Bytes)>,
    waiting_bytes: usize,
    /// What the system would not send because of its length, until that is told.
    too_long: VecDeque<(Locator, usize)>,
}

impl Trains {
    pub(crate) fn new(local: SocketAddr) -> Self {
        Self { local, waiting: VecDeque::new(), waiting_bytes: 0, too_long: VecDeque::new() }
    }

    /// Whether anything waits for room.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The next locator to which the system would not send a datagram of so many bytes.
    pub(crate) fn too_long(&mut self) -> Option<(Locator, usize)> {
        self.too_long.pop_front()
    }

    /// Sends each, or lets it wait, a train to each address in turn. `most`: datagrams in a train.
    pub(crate) fn send(
        &mut self,
        batch: &mut [(Locator, Bytes)],
        most: usize,
        counters: &mut Counters,
        mut call: impl Call,
    ) {
        self.flush(most, counters, &mut call);
        take_turns(batch, most);
        let settled = if self.waits() {
            0
        } else {
            run(&mut self.too_long, self.local, batch, most, counters, &mut call)
        };
        for (to, datagram) in batch.get(settled..).unwrap_or_default() {
            self.wait(to.clone(), datagram, counters);
        }
    }

    /// Sends what waits, as far as there is room.
    pub(crate) fn flush(&mut self, most: usize, counters: &mut Counters, mut call: impl Call) {
        let waiting = self.waiting.make_contiguous();
        let settled = run(&mut self.too_long, self.local, waiting, most, counters, &mut call);
        let gone = self.waiting.drain(..settled).map(|(_, datagram)| datagram.len());
        self.waiting_bytes = self.waiting_bytes.saturating_sub(gone.sum());
    }

    fn wait(&mut self, to: Locator, datagram: &Bytes, counters: &mut Counters) {
        let bytes = self.waiting_bytes.saturating_add(datagram.len());
        if bytes > WAITING_BYTES_MAX {
            counters.dropped = counters.dropped.saturating_add(1);
        } else {
            self.waiting_bytes = bytes;
            self.waiting.push_back((to, datagram.clone()));
        }
    }
}

/// Sorts by address, and then by train: the first ones of all addresses, then the second ones.
fn take_turns(batch: &mut [(Locator, Bytes)], most: usize) {
    batch.sort_by(|(one, _), (other, _)| one.cmp(other));
    if batch.first().map(|(to, _)| to) == batch.last().map(|(to, _)| to) {
        return; // One address alone has all turns.
    }
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(batch.len());
    let (mut turn, mut latest) = (0_usize, 0);
    let mut rest = &*batch;
    while let Some((to, _)) = rest.first() {
        let (_, after) = rest.split_at(train_length(rest, most).max(1));
        let train = rest.len().saturating_sub(after.len());
        let first = places.len();
        places.extend((first..).take(train).map(|place| (turn, place)));
        latest = latest.max(turn);
        turn = if after.first().is_some_and(|(next, _)| next == to) { turn.saturating_add(1) } else { 0 };
        rest = after;
    }
    if latest > 0 {
        places.sort_unstable();
        arrange(batch, &places);
    }
}

/// Puts what is at the second number of each of `places` where that stands in it.
fn arrange<T>(things: &mut [T], places: &[(usize, usize)]) {
    for to in 0..places.len() {
        let mut from = to;
        // What was there may have been swapped away, to where its own successor was taken from.
        while let Some((_, next)) = places.get(from) {
            from = *next;
            if from >= to {
                break;
            }
        }
        things.swap(to, from);
    }
}

/// Sends from the front until all is sent or the socket is full. How many are settled.
fn run(
    too_long: &mut VecDeque<(Locator, usize)>,
    local: SocketAddr,
    batch: &[(Locator, Bytes)],
    mut most: usize,
    counters: &mut Counters,
    call: &mut impl Call,
) -> usize {
    let mut settled = 0_usize;
    while let Some((to, first)) = batch.get(settled) {
        let rest = batch.get(settled..).unwrap_or_default();
        let mut room = [(local, Train::default()); TOGETHER_MAX];
        let (trains, size) = together(local, rest, most, &mut room);
        let [(address, train), ..] = trains else {
            counters.dropped = counters.dropped.saturating_add(1);
            settled = settled.saturating_add(1);
            continue;
        };
        counters.calls = counters.calls.saturating_add(1);
        match call(trains, size) {
            Ok(sent) => {
                let gone = trains.iter().take(sent.trains.max(1)).map(|(_, train)| train.len()).sum();
                settled = settled.saturating_add(gone);
                counters.sent = counters.sent.saturating_add(as_u64(gone));
                counters.copied = counters.copied.saturating_add(as_u64(sent.copied));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                counters.full = counters.full.saturating_add(1);
                return settled;
            }
            Err(error) if train.len() > 1 => {
                tracing::debug!(%error, "a train of datagrams was refused; sending one by one");
                most = 1;
            }
            Err(error) => {
                tracing::trace!(%error, %address, "a datagram was not sent");
                if is_too_long(&error) && too_long.len() < TOO_LONG_MAX {
                    too_long.push_back((to.clone(), first.len()));
                }
                counters.dropped = counters.dropped.saturating_add(1);
                settled = settled.saturating_add(1);
            }
        }
    }
    settled
}

/// The trains from the front of `batch` that can go in one call, and the size of a segment. That
/// holds for all: a datagram that goes alone is no longer, and comes first only if all go alone.
/// There are none if the first cannot be reached from here.
fn together<'a, 'b>(
    local: SocketAddr,
    batch: &'b [(Locator, Bytes)],
    most: usize,
    room: &'a mut [(SocketAddr, Train<'b>)],
) -> (&'a [(SocketAddr, Train<'b>)], Option<usize>) {
    let (mut rest, mut count, mut segment) = (batch, 0_usize, None);
    for slot in room.iter_mut() {
        let Some((to, first)) = rest.first() else { break };
        let Some(address) = address_for(local, to) else { break };
        let (train, after) = rest.split_at_checked(train_length(rest, most)).unwrap_or_default();
        let size = (train.len() > 1).then_some(first.len());
        let fits = match (segment, size) {
            (Some(segment), None) => first.len() <= segment,
            (segment, size) => segment == size,
        };
        if count > 0 && !fits {
            break;
        }
        segment = segment.or(size);
        *slot = (address, train);
        (rest, count) = (after, count.saturating_add(1));
    }
    (room.get(..count).unwrap_or_default(), segment)
}

/// The address that a socket bound to `local` gives the system to reach a locator. A socket of IPv6
/// reaches IPv4 by mapped addresses, if it is bound to all addresses or to such a one. `None`: it
/// cannot be reached from there.
pub(crate) fn address_for(local: SocketAddr, to: &Locator) -> Option<SocketAddr> {
    let to = to.as_udp().filter(|_| to.leads_somewhere())?;
    match (local, local.ip().to_canonical(), to) {
        (SocketAddr::V4(_), _, SocketAddr::V4(_)) | (_, IpAddr::V6(_), SocketAddr::V6(_)) => Some(to),
        (SocketAddr::V6(_), own, SocketAddr::V4(to)) if own.is_ipv4() || own.is_unspecified() => {
            Some(SocketAddr::new(to.ip().to_ipv6_mapped().into(), to.port()))
        }
        _ => None,
    }
}

/// EMSGSIZE: the datagram is too long for its interface.
#[cfg(windows)]
const TOO_LONG: i32 = 10_040;
#[cfg(any(target_os = "linux", target_os = "android"))]
const TOO_LONG: i32 = 90;
#[cfg(not(any(windows, target_os = "linux", target_os = "android")))]
const TOO_LONG: i32 = 40;

fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(TOO_LONG)
}

/// How many datagrams from the front of `batch` can go as one: one address, one size but for a
/// shorter last.
fn train_length(batch: &[(Locator, Bytes)], most: usize) -> usize {
    let Some((to, first)) = batch.first() else { return 0 };
    let mut bytes = 0_usize;
    let mut length = 0_usize;
    for (other, datagram) in batch.iter().take(most.max(1)) {
        let more = bytes.saturating_add(datagram.len());
        let fits = other == to && datagram.len() <= first.len() && !datagram.is_empty();
        if length > 0 && (!fits || more > TRAIN_BYTES_MAX) {
            break;
        }
        bytes = more;
        length = length.saturating_add(1);
        if datagram.len() < first.len() {
            break;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::{Sent, TOGETHER_MAX, TOO_LONG, Train, Trains, WAITING_BYTES_MAX, address_for};
    use crate::Counters;
    use bytes::Bytes;
    use core::net::SocketAddr;
    use folkmoot_base::Locator;
    use std::collections::BTreeMap;
    use std::io;

    /// A socket that takes so many bytes; what it took, by address, in single datagrams.
    #[derive(Default)]
    struct Narrow {
        room: usize,
        trains: bool,
        took: BTreeMap<SocketAddr, Vec<Bytes>>,
    }

    impl Narrow {
        /// Takes one after the other, as the system does: an error is told only of the first.
        fn call(&mut self, trains: &[(SocketAddr, Train<'_>)], size: Option<usize>) -> io::Result<Sent> {
            let mut sent = Sent::default();
            for (to, train) in trains {
                match self.take(*to, train, size) {
                    Err(error) if sent.trains == 0 => return Err(error),
                    Err(_) => break,
                    Ok(()) => sent.trains += 1,
                }
            }
            Ok(sent)
        }

        fn take(&mut self, to: SocketAddr, train: Train<'_>, size: Option<usize>) -> io::Result<()> {
            if size.is_some() && !self.trains {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let bytes: usize = train.iter().map(|(_, one)| one.len()).sum();
            if bytes > self.room {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.room -= bytes;
            let (last, others) = train.split_last().unwrap();
            let size = size.unwrap_or(last.1.len());
            assert!(others.is_empty() || size == train[0].1.len());
            assert!(others.iter().all(|(_, one)| one.len() == size) && last.1.len() <= size);
            self.took.entry(to).or_default().extend(train.iter().map(|(_, one)| one.clone()));
            Ok(())
        }
    }

    fn datagram(port: u16, number: u8) -> (Locator, Bytes) {
        let length = if number % 16 == 15 { 700 } else { 1_000 };
        (Locator::udp(([127, 0, 0, 1], port).into()), vec![number; length].into())
    }

    /// Of 200 datagrams to two addresses, in turn, the socket takes 20,000 bytes, and 50,000 more
    /// each time that it is asked again.
    #[test]
    fn what_a_full_socket_does_not_take_waits_and_keeps_its_order() {
        for trains in [true, false] {
            let mut socket = Narrow { room: 20_000, trains, ..Narrow::default() };
            let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
            let mut batch: Vec<_> =
                (0..100).flat_map(|number| [datagram(1, number), datagram(2, number)]).collect();
            let (now, later) = batch.split_at_mut(120);
            out.send(now, 64, &mut counters, |trains: &[_], size| socket.call(trains, size));
            assert!(out.waits() && counters.sent < 30, "{counters:?}");
            out.send(later, 64, &mut counters, |trains: &[_], size| socket.call(trains, size));
            for _ in 0..20 {
                socket.room += 50_000;
                out.flush(64, &mut counters, |trains: &[_], size| socket.call(trains, size));
            }
            assert!(!out.waits());
            assert_eq!((counters.sent, counters.dropped), (200, 0));
            for took in socket.took.values() {
                assert!(took.iter().map(|one| one[0]).eq(0..100), "trains: {trains}");
                assert!(took.iter().all(|one| one.len() == if one[0] % 16 == 15 { 700 } else { 1_000 }));
            }
        }
    }

    #[test]
    fn addresses_take_turns_and_keep_their_order() {
        let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
        let data = [1, 2, 3].map(|port| datagram(port, 0));
        let more = [1, 2, 3].map(|port| datagram(port, 15));
        let token =
            [(data[0].0.clone(), Bytes::from(vec![9; 800])), (data[0].0.clone(), Bytes::from(vec![8; 900]))];
        let mut batch: Vec<_> = data.into_iter().chain(token).chain(more).collect();
        let mut calls = Vec::new();
        out.send(&mut batch, 64, &mut counters, |trains: &[(SocketAddr, Train<'_>)], size| {
            let lengths = |train: Train<'_>| train.iter().map(|(_, one)| one.len()).collect::<Vec<_>>();
            let told = trains.iter().map(|(to, train)| (to.port(), lengths(train)));
            calls.push((size, told.collect::<Vec<_>>()));
            Ok(Sent { trains: trains.len(), copied: 0 })
        });
        let first = vec![(1, vec![1_000, 800]), (2, vec![1_000, 700]), (3, vec![1_000, 700])];
        assert_eq!(calls, [(Some(1_000), first), (Some(900), vec![(1, vec![900, 700])])]);
        assert_eq!((counters.sent, counters.calls), (8, 2));
    }

    /// A lone message and its record to each of two, and the token to one: one call. What is longer
    /// than a segment would be cut, so it goes in a call of its own; so does a train behind what
    /// goes alone. No call has more than so many trains.
    #[test]
    fn trains_of_one_size_go_in_one_call() {
        let of = |port: u16, length: usize| {
            (Locator::udp(([127, 0, 0, 1], port).into()), Bytes::from(vec![0; length]))
        };
        let called = |mut batch: Vec<(Locator, Bytes)>, most: usize| {
            let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
            let mut calls = Vec::new();
            out.send(&mut batch, most, &mut counters, |trains: &[(SocketAddr, Train<'_>)], size| {
                calls.push((trains.len(), size));
                Ok(Sent { trains: trains.len(), copied: 0 })
            });
            assert_eq!(counters.sent, batch.len() as u64);
            calls
        };
        let lone = |token: usize| vec![of(1, 148), of(2, 148), of(1, 63), of(2, 63), of(1, token)];
        assert_eq!(called(lone(122), 64), [(3, Some(148))]);
        assert_eq!(called(lone(149), 64), [(2, Some(148)), (1, None)]);
        assert_eq!(called(lone(122), 1), [(5, None)], "no trains");
        assert_eq!(called(vec![of(1, 100), of(2, 148), of(2, 63)], 64), [(1, None), (1, Some(148))]);
        let all = (0..40).map(|port| of(port + 1, 100)).collect();
        assert_eq!(called(all, 64), [(TOGETHER_MAX, None), (40 - TOGETHER_MAX, None)]);
    }

    /// The system takes the first of three trains, and says why it does not take the second only
    /// when that comes first.
    #[test]
    fn what_the_system_did_not_take_comes_first_in_the_next_call() {
        let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
        let mut batch: Vec<_> = [1, 2, 3].map(|port| datagram(port, 0)).into();
        let mut calls = Vec::new();
        out.send(&mut batch, 64, &mut counters, |trains: &[(SocketAddr, Train<'_>)], _| {
            calls.push(trains.len());
            match trains[0].0.port() {
                2 => Err(io::ErrorKind::PermissionDenied.into()),
                _ => Ok(Sent { trains: 1, copied: 0 }),
            }
        });
        assert_eq!(calls, [3, 2, 1]);
        assert_eq!((counters.sent, counters.dropped), (2, 1));
    }

    /// The interface carries 800 bytes: what is longer is lost and told, also out of a train.
    #[test]
    fn what_the_interface_does_not_carry_is_told() {
        let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
        let mut batch = vec![datagram(1, 0), datagram(1, 1), datagram(1, 15), datagram(2, 15)];
        out.send(&mut batch, 64, &mut counters, |trains: &[(SocketAddr, Train<'_>)], _| {
            let long = |(_, train): &&(_, Train<'_>)| train.iter().any(|(_, one)| one.len() > 800);
            match trains.iter().position(|train| long(&train)) {
                Some(0) => Err(io::Error::from_raw_os_error(TOO_LONG)),
                first => Ok(Sent { trains: first.unwrap_or(trains.len()), copied: 0 }),
            }
        });
        assert_eq!((counters.sent, counters.dropped), (2, 2));
        let at = |port: u16| Locator::udp(([127, 0, 0, 1], port).into());
        let told: Vec<_> = std::iter::from_fn(|| out.too_long()).collect();
        assert_eq!(told, [(at(1), 1_000), (at(1), 1_000)]);
    }

    #[test]
    fn no_more_than_the_bound_waits() {
        let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
        let count = WAITING_BYTES_MAX / 1_000 + 500;
        let mut batch = vec![datagram(1, 0); count];
        out.send(&mut batch, 64, &mut counters, |_: &[_], _| Err(io::ErrorKind::WouldBlock.into()));
        assert_eq!(counters.dropped, (count - WAITING_BYTES_MAX / 1_000) as u64);
        let mut socket = Narrow { room: usize::MAX, trains: true, ..Narrow::default() };
        out.flush(64, &mut counters, |trains: &[_], size| socket.call(trains, size));
        assert_eq!(counters.sent + counters.dropped, count as u64);
        assert!(!out.waits() && out.waiting_bytes == 0);
    }

    #[test]
    fn a_socket_reaches_the_families_that_it_has() {
        let reached = |local: &str, to: &str| {
            let local = format!("{local}:1").parse().unwrap();
            address_for(local, &format!("udp/{to}").parse().unwrap()).map(|address| address.to_string())
        };
        let (four, six) = ("192.0.2.7:9", "[2001:db8::7]:9");
        let mapped = Some("[::ffff:192.0.2.7]:9".to_owned());
        for (local, to_four, to_six) in [
            ("0.0.0.0", Some(four.to_owned()), None),
            ("127.0.0.1", Some(four.to_owned()), None),
            ("[::]", mapped.clone(), Some(six.to_owned())),
            ("[::ffff:127.0.0.1]", mapped, None),
            ("[::1]", None, Some(six.to_owned())),
        ] {
            assert_eq!((reached(local, four), reached(local, six)), (to_four, to_six), "{local}");
            for nowhere in ["0.0.0.0:9", "[::]:9", "192.0.2.7:0", "[2001:db8::7]:0"] {
                assert_eq!(reached(local, nowhere), None);
            }
        }
        assert_eq!(address_for(([0; 4], 1).into(), &Locator::memory(1)), None);
        assert_eq!(address_for(([0; 4], 1).into(), &"tcp/192.0.2.7:9".parse().unwrap()), None);
    }
}
