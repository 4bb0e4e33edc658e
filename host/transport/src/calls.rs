//! One call to the system that sends: a datagram, a train of them (GSO), or several trains
//! (sendmmsg).
//!
//! On Linux the datagrams of a train stay where they are, each a part of the message. Elsewhere
//! they are copied behind one another first, and each train takes a call.

pub(crate) use system::Calls;
pub use system::{send_several, send_train, takes_no_trains};

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use crate::trains::{Sent, Train};
    use core::net::SocketAddr;
    use nix::cmsg_space;
    use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
    use quinn_udp::UdpSocketState;
    use socket2::{MsgHdr, SockAddr, SockRef};
    use std::io::{self, IoSlice};
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd as _;

    /// Whether the system, or a device, takes no trains.
    pub fn takes_no_trains(error: &io::Error) -> bool {
        error.raw_os_error().is_some_and(|code| TAKES_NONE.contains(&code))
    }

    /// Most datagrams in one train.
    const PARTS_MAX: usize = 64;
    /// SOL_UDP and UDP_SEGMENT (udp(7)).
    const UDP: i32 = 17;
    const SEGMENT: i32 = 103;
    /// EIO and EINVAL: how the system says that it, or a device, takes no trains.
    const TAKES_NONE: [i32; 2] = [5, 22];
    /// A control message's length, level and kind (cmsg(3)).
    const HEAD_BYTES: usize = size_of::<usize>() + 2 * size_of::<i32>();
    /// With the size of a segment, and what fills it up.
    const CONTROL_BYTES: usize = HEAD_BYTES + size_of::<usize>();

    /// How this socket sends.
    #[derive(Debug, Default)]
    pub(crate) struct Calls {
        takes_none: bool,
    }

    impl Calls {
        /// Most datagrams that go in one train.
        pub(crate) fn most(&self, state: &UdpSocketState) -> usize {
            if self.takes_none { 1 } else { state.max_gso_segments().min(PARTS_MAX) }
        }

        /// Sends trains in one call. `size`: of all datagrams but the last of each train, if there
        /// are such trains. An error is that of the first train.
        pub(crate) fn call(
            &mut self,
            (socket, _): (&UdpSocket, &UdpSocketState),
            trains: &[(SocketAddr, Train<'_>)],
            size: Option<usize>,
        ) -> io::Result<Sent> {
            loop {
                let sent = match trains {
                    [(to, train)] => one(socket, *to, train, size),
                    all => several(socket, all, size),
                };
                match sent {
                    Ok(trains) => return Ok(Sent { trains, copied: 0 }),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        self.takes_none |= takes_no_trains(&error) && size.is_some();
                        return Err(error);
                    }
                }
            }
        }
    }

    fn one(socket: &UdpSocket, to: SocketAddr, train: Train<'_>, size: Option<usize>) -> io::Result<usize> {
        let mut parts = [IoSlice::new(&[]); PARTS_MAX];
        let filled = parts.iter_mut().zip(train).map(|(part, (_, datagram))| *part = IoSlice::new(datagram));
        let count = filled.count();
        let parts = parts.get(..count).unwrap_or_default();
        send_train(&SockRef::from(socket), &SockAddr::from(to), parts, size).map(|()| 1)
    }

    /// Sends what these parts hold, one behind the other: one datagram, or datagrams of this size
    /// and a last one that may be shorter.
    ///
    /// # Errors
    /// The system's; [`takes_no_trains`] knows one that says that they have to go one by one.
    pub fn send_train(
        socket: &SockRef<'_>,
        to: &SockAddr,
        parts: &[IoSlice<'_>],
        size: Option<usize>,
    ) -> io::Result<()> {
        let control = size.map(control);
        let mut message = MsgHdr::new().with_addr(to).with_buffers(parts);
        if let Some(control) = &control {
            message = message.with_control(control);
        }
        socket.sendmsg(&message, 0).map(drop)
    }

    /// Returns how many of the trains the system took, from the first on.
    fn several(
        socket: &UdpSocket,
        trains: &[(SocketAddr, Train<'_>)],
        size: Option<usize>,
    ) -> io::Result<usize> {
        let datagrams = trains.iter().flat_map(|(_, train)| train.iter());
        let parts: Vec<IoSlice<'_>> = datagrams.map(|(_, datagram)| IoSlice::new(datagram)).collect();
        let mut rest = parts.as_slice();
        let mut next = |count: usize| {
            let (first, after) = rest.split_at_checked(count).unwrap_or_default();
            rest = after;
            first
        };
        let messages: Vec<&[IoSlice<'_>]> = trains.iter().map(|(_, train)| next(train.len())).collect();
        let to: Vec<SocketAddr> = trains.iter().map(|(to, _)| *to).collect();
        send_several(&SockRef::from(socket), &to, &messages, size)
    }

    /// Sends several messages in one call, each to its own address. All are trains of this size, if
    /// there is one. Returns how many of them the system took, from the first on.
    ///
    /// # Errors
    /// The system's, about the first one.
    pub fn send_several(
        socket: &SockRef<'_>,
        to: &[SocketAddr],
        messages: &[&[IoSlice<'_>]],
        size: Option<usize>,
    ) -> io::Result<usize> {
        let to: Vec<_> = to.iter().map(|to| Some(SockaddrStorage::from(*to))).collect();
        let size = size.map(|size| u16::try_from(size).unwrap_or(u16::MAX));
        let control: Vec<_> = size.iter().map(ControlMessage::UdpGsoSegments).collect();
        let room = size.map(|_| cmsg_space!(u16));
        let mut headers = MultiHeaders::preallocate(messages.len(), room);
        let (descriptor, flags) = (socket.as_raw_fd(), MsgFlags::empty());
        let sent = sendmmsg(descriptor, &mut headers, messages, to, control, flags)?;
        Ok(sent.count())
    }

    /// Says how long each datagram of a train is.
    fn control(size: usize) -> [u8; CONTROL_BYTES] {
        let size = u16::try_from(size).unwrap_or(u16::MAX).to_ne_bytes();
        let length = HEAD_BYTES.saturating_add(size.len()).to_ne_bytes();
        let fields = length.into_iter().chain(UDP.to_ne_bytes()).chain(SEGMENT.to_ne_bytes()).chain(size);
        let mut control = [0; CONTROL_BYTES];
        control.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        control
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use crate::trains::{Sent, Train};
    use core::net::SocketAddr;
    use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};
    use socket2::{SockAddr, SockRef};
    use std::io::{self, IoSlice};

    /// Whether the system takes no trains: here it does not.
    pub fn takes_no_trains(_: &io::Error) -> bool {
        true
    }

    /// Sends one datagram.
    ///
    /// # Errors
    /// The system's, also if it is asked for a train.
    pub fn send_train(
        socket: &SockRef<'_>,
        to: &SockAddr,
        parts: &[IoSlice<'_>],
        size: Option<usize>,
    ) -> io::Result<()> {
        if size.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        socket.send_to_vectored(parts, to).map(drop)
    }

    /// Sends the first of these messages, and says so.
    ///
    /// # Errors
    /// The system's.
    pub fn send_several(
        socket: &SockRef<'_>,
        to: &[SocketAddr],
        messages: &[&[IoSlice<'_>]],
        size: Option<usize>,
    ) -> io::Result<usize> {
        let (Some(to), Some(parts)) = (to.first(), messages.first()) else { return Ok(0) };
        send_train(socket, &SockAddr::from(*to), parts, size).map(|()| 1)
    }

    /// How this socket sends.
    #[derive(Debug, Default)]
    pub(crate) struct Calls {
        /// The bytes of a train; kept for its room.
        room: Vec<u8>,
    }

    impl Calls {
        /// Most datagrams that go in one train.
        pub(crate) fn most(&self, state: &UdpSocketState) -> usize {
            state.max_gso_segments()
        }

        /// Sends the first of these trains. `size`: of all datagrams but the last of each train,
        /// if there are such trains.
        pub(crate) fn call<'a, S>(
            &mut self,
            (socket, state): (&'a S, &UdpSocketState),
            trains: &[(SocketAddr, Train<'_>)],
            size: Option<usize>,
        ) -> io::Result<Sent>
        where
            UdpSockRef<'a>: From<&'a S>,
        {
            let Some((destination, train)) = trains.first().copied() else { return Ok(Sent::default()) };
            self.room.clear();
            let segment_size = size.filter(|_| train.len() > 1);
            let (contents, copied) = match train {
                [(_, one)] => (one.as_ref(), 0),
                all => {
                    all.iter().for_each(|(_, datagram)| self.room.extend_from_slice(datagram));
                    (self.room.as_slice(), self.room.len())
                }
            };
            let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
            state.try_send(socket.into(), &transmit).map(|()| Sent { trains: 1, copied })
        }
    }
}
