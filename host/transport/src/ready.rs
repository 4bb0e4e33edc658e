//! What the runtime tells of a socket: when datagrams have come, and, while something waits to be
//! sent, when there is room for it.
//!
//! A socket says that it has room after each datagram that has left, and to hear that would wake an
//! idle member once for each. So where the runtime lets us, we listen for room through a second
//! descriptor of the socket, which exists only while something waits.

pub(crate) use system::Ready;

#[cfg(unix)]
mod system {
    use core::time::Duration;
    use std::io;
    use std::net::UdpSocket;
    use tokio::io::{Interest, unix::AsyncFd};

    /// If the system gives no second descriptor, we look so often whether there is room.
    const LOOK: Duration = Duration::from_millis(1);

    /// A socket that does not block.
    pub(crate) struct Ready {
        socket: AsyncFd<UdpSocket>,
        room: Option<AsyncFd<UdpSocket>>,
    }

    impl Ready {
        pub(crate) fn new(socket: UdpSocket) -> io::Result<Self> {
            Ok(Self { socket: listen(socket, Interest::READABLE)?, room: None })
        }

        pub(crate) fn socket(&self) -> &UdpSocket {
            self.socket.get_ref()
        }

        /// Waits until datagrams may have come.
        pub(crate) async fn readable(&self) -> io::Result<()> {
            self.socket.readable().await?.retain_ready();
            Ok(())
        }

        /// Calls `recv` if datagrams may have come. Once it says `WouldBlock`, there are none until
        /// the runtime hears of more.
        pub(crate) fn try_recv<R>(&self, recv: impl FnOnce(&UdpSocket) -> io::Result<R>) -> io::Result<R> {
            self.socket.try_io(Interest::READABLE, recv)
        }

        /// The system says that there is no room for what waits; or nothing waits.
        pub(crate) fn await_room(&mut self, waits: bool) {
            let again = || listen(self.socket().try_clone()?, Interest::WRITABLE);
            self.room = if waits { again().ok() } else { None };
        }

        /// Waits until there may be room.
        pub(crate) async fn has_room(&self) -> io::Result<()> {
            match &self.room {
                Some(room) => room.writable().await?.retain_ready(),
                None => tokio::time::sleep(LOOK).await,
            }
            Ok(())
        }
    }

    #[expect(deprecated, reason = "its successor is unsafe; a socket of std keeps its descriptor open")]
    fn listen(socket: UdpSocket, interest: Interest) -> io::Result<AsyncFd<UdpSocket>> {
        AsyncFd::with_interest(socket, interest)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use tokio::io::Interest;
    use tokio::net::UdpSocket;

    /// A socket that does not block.
    pub(crate) struct Ready(UdpSocket);

    impl Ready {
        pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
            Ok(Self(UdpSocket::from_std(socket)?))
        }

        pub(crate) fn socket(&self) -> &UdpSocket {
            &self.0
        }

        pub(crate) async fn readable(&self) -> io::Result<()> {
            self.0.readable().await
        }

        pub(crate) fn try_recv<R>(&self, recv: impl FnOnce(&UdpSocket) -> io::Result<R>) -> io::Result<R> {
            self.0.try_io(Interest::READABLE, || recv(&self.0))
        }

        /// The runtime asks the system anew only after it was told that there is no room.
        pub(crate) fn await_room(&mut self, waits: bool) {
            if waits {
                let full = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
                // What comes back is what was just said.
                let _ = self.0.try_io(Interest::WRITABLE, full);
            }
        }

        pub(crate) async fn has_room(&self) -> io::Result<()> {
            self.0.writable().await
        }
    }
}
