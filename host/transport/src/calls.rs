//! One call to the system that sends: a datagram, or a train of them (GSO).
//!
//! On Linux the datagrams of a train stay where they are, each a part of the message. Elsewhere
//! they are copied behind one another first.

pub(crate) use system::Calls;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use crate::trains::Train;
    use core::net::SocketAddr;
    use quinn_udp::UdpSocketState;
    use socket2::{MsgHdr, SockAddr, SockRef};
    use std::io::{self, IoSlice};
    use std::net::UdpSocket;

    /// Most datagrams in one call.
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
        /// Most datagrams that go in one call.
        pub(crate) fn most(&self, state: &UdpSocketState) -> usize {
            if self.takes_none { 1 } else { state.max_gso_segments().min(PARTS_MAX) }
        }

        /// Sends `train` in one call. `size`: of its datagrams but the last, if there are several.
        /// Returns how many bytes were copied for that.
        pub(crate) fn call(
            &mut self,
            (socket, _): (&UdpSocket, &UdpSocketState),
            to: SocketAddr,
            train: Train<'_>,
            size: Option<usize>,
        ) -> io::Result<usize> {
            let mut parts = [IoSlice::new(&[]); PARTS_MAX];
            let filled =
                parts.iter_mut().zip(train).map(|(part, (_, datagram))| *part = IoSlice::new(datagram));
            let count = filled.count();
            let parts = parts.get(..count).unwrap_or_default();
            let (to, control) = (SockAddr::from(to), size.map(control));
            let mut message = MsgHdr::new().with_addr(&to).with_buffers(parts);
            if let Some(control) = &control {
                message = message.with_control(control);
            }
            loop {
                match SockRef::from(socket).sendmsg(&message, 0) {
                    Ok(_) => return Ok(0),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        let refused = error.raw_os_error().is_some_and(|code| TAKES_NONE.contains(&code));
                        self.takes_none |= refused && size.is_some();
                        return Err(error);
                    }
                }
            }
        }
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
    use crate::trains::Train;
    use core::net::SocketAddr;
    use quinn_udp::{Transmit, UdpSockRef, UdpSocketState};
    use std::io;

    /// How this socket sends.
    #[derive(Debug, Default)]
    pub(crate) struct Calls {
        /// The bytes of a train; kept for its room.
        room: Vec<u8>,
    }

    impl Calls {
        /// Most datagrams that go in one call.
        pub(crate) fn most(&self, state: &UdpSocketState) -> usize {
            state.max_gso_segments()
        }

        /// Sends `train` in one call. `size`: of its datagrams but the last, if there are several.
        /// Returns how many bytes were copied for that.
        pub(crate) fn call<'a, S>(
            &mut self,
            (socket, state): (&'a S, &UdpSocketState),
            destination: SocketAddr,
            train: Train<'_>,
            segment_size: Option<usize>,
        ) -> io::Result<usize>
        where
            UdpSockRef<'a>: From<&'a S>,
        {
            self.room.clear();
            let (contents, copied) = match train {
                [(_, one)] => (one.as_ref(), 0),
                all => {
                    all.iter().for_each(|(_, datagram)| self.room.extend_from_slice(datagram));
                    (self.room.as_slice(), self.room.len())
                }
            };
            let transmit = Transmit { destination, ecn: None, contents, segment_size, src_ip: None };
            state.try_send(socket.into(), &transmit).map(|()| copied)
        }
    }
}
