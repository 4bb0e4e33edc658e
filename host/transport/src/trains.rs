//! What goes to a socket: neighbours of one size and to one address go as a train, in one call
//! (GSO); what the socket has no room for waits until it has.
//!
//! ```text
//!   send(batch) --by address--> train, train, ... --socket is full--> [ waiting ] --flush--> socket
//! ```
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

/// Datagrams that go in one call.
pub(crate) type Train<'a> = &'a [(Locator, Bytes)];

/// One call to the system: to whom, what, and the size of a segment if these are several. Returns
/// how many bytes were copied for that.
pub(crate) trait Call: FnMut(SocketAddr, Train<'_>, Option<usize>) -> io::Result<usize> {}
impl<F: FnMut(SocketAddr, Train<'_>, Option<usize>) -> io::Result<usize>> Call for F {}

/// What became of a train.
enum Settled {
    /// It is sent, or lost.
    Yes,
    /// The socket has no room.
    Full,
    /// The interface carries nothing so long. It is lost.
    TooLong,
}

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
        let length = train_length(rest, most);
        let Some(address) = address_for(local, to) else {
            counters.dropped = counters.dropped.saturating_add(1);
            settled = settled.saturating_add(1);
            continue;
        };
        let train = rest.get(..length).unwrap_or(rest);
        let done = match train {
            [_] => match send_one(address, train, counters, call) {
                Settled::TooLong => {
                    if too_long.len() < TOO_LONG_MAX {
                        too_long.push_back((to.clone(), first.len()));
                    }
                    Settled::Yes
                }
                settled => settled,
            },
            _ => match send_train(address, first.len(), train, counters, call) {
                Some(done) => done,
                None => {
                    most = 1; // One by one.
                    continue;
                }
            },
        };
        if matches!(done, Settled::Full) {
            counters.full = counters.full.saturating_add(1);
            return settled;
        }
        settled = settled.saturating_add(train.len());
    }
    settled
}

/// The address that a socket bound to `local` gives the system to reach a locator. A socket of IPv6
/// reaches IPv4 by mapped addresses, if it is bound to all addresses or to such a one. `None`: it
/// cannot be reached from there.
fn address_for(local: SocketAddr, to: &Locator) -> Option<SocketAddr> {
    let to = to.as_udp().filter(|_| to.leads_somewhere())?;
    match (local, local.ip().to_canonical(), to) {
        (SocketAddr::V4(_), _, SocketAddr::V4(_)) | (_, IpAddr::V6(_), SocketAddr::V6(_)) => Some(to),
        (SocketAddr::V6(_), own, SocketAddr::V4(to)) if own.is_ipv4() || own.is_unspecified() => {
            Some(SocketAddr::new(to.ip().to_ipv6_mapped().into(), to.port()))
        }
        _ => None,
    }
}

/// Sends equal-sized datagrams in one call. `None`: the system takes no trains.
fn send_train(
    address: SocketAddr,
    size: usize,
    train: Train<'_>,
    counters: &mut Counters,
    call: &mut impl Call,
) -> Option<Settled> {
    counters.calls = counters.calls.saturating_add(1);
    match call(address, train, Some(size)) {
        Ok(copied) => {
            counters.copied = counters.copied.saturating_add(as_u64(copied));
            counters.sent = counters.sent.saturating_add(as_u64(train.len()));
            Some(Settled::Yes)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Settled::Full),
        Err(error) => {
            tracing::debug!(%error, "a train of datagrams was refused; sending one by one");
            None
        }
    }
}

fn send_one(address: SocketAddr, one: Train<'_>, counters: &mut Counters, call: &mut impl Call) -> Settled {
    counters.calls = counters.calls.saturating_add(1);
    match call(address, one, None) {
        Ok(_) => counters.sent = counters.sent.saturating_add(1),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Settled::Full,
        Err(error) => {
            counters.dropped = counters.dropped.saturating_add(1);
            tracing::trace!(%error, %address, "a datagram was not sent");
            if is_too_long(&error) {
                return Settled::TooLong;
            }
        }
    }
    Settled::Yes
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
    use super::{TOO_LONG, Train, Trains, WAITING_BYTES_MAX, address_for};
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
        fn call(&mut self, to: SocketAddr, train: Train<'_>, size: Option<usize>) -> io::Result<usize> {
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
            assert!(others.iter().all(|(_, one)| one.len() == size) && last.1.len() <= size);
            self.took.entry(to).or_default().extend(train.iter().map(|(_, one)| one.clone()));
            Ok(0)
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
            out.send(now, 64, &mut counters, |to, train: Train<'_>, size| socket.call(to, train, size));
            assert!(out.waits() && counters.sent < 30, "{counters:?}");
            out.send(later, 64, &mut counters, |to, train: Train<'_>, size| socket.call(to, train, size));
            for _ in 0..20 {
                socket.room += 50_000;
                out.flush(64, &mut counters, |to, train: Train<'_>, size| socket.call(to, train, size));
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
        out.send(&mut batch, 64, &mut counters, |to, train: Train<'_>, _| {
            calls.push((to.port(), train.iter().map(|(_, one)| one.len()).collect::<Vec<_>>()));
            Ok(0)
        });
        let first = [(1, vec![1_000, 800]), (2, vec![1_000, 700]), (3, vec![1_000, 700])];
        assert_eq!(calls, first.into_iter().chain([(1, vec![900, 700])]).collect::<Vec<_>>());
    }

    /// The interface carries 800 bytes: what is longer is lost and told, also out of a train.
    #[test]
    fn what_the_interface_does_not_carry_is_told() {
        let (mut out, mut counters) = (Trains::new(([0; 4], 0).into()), Counters::default());
        let mut batch = vec![datagram(1, 0), datagram(1, 1), datagram(1, 15), datagram(2, 15)];
        out.send(&mut batch, 64, &mut counters, |_, train: Train<'_>, _| {
            let long = train.iter().any(|(_, one)| one.len() > 800);
            if long { Err(io::Error::from_raw_os_error(TOO_LONG)) } else { Ok(0) }
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
        out.send(&mut batch, 64, &mut counters, |_, _: Train<'_>, _| Err(io::ErrorKind::WouldBlock.into()));
        assert_eq!(counters.dropped, (count - WAITING_BYTES_MAX / 1_000) as u64);
        let mut socket = Narrow { room: usize::MAX, trains: true, ..Narrow::default() };
        out.flush(64, &mut counters, |to, train: Train<'_>, size| socket.call(to, train, size));
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
