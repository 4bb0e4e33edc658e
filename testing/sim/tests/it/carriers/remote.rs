//! A carrier in a process of its own, driven step by step over a socket, so that its memory has
//! nothing but what a carrier's has.
//!
//! ```text
//! here  -> there   kind(1) now(8) from(4) length(4) bytes     1: a datagram  2: the time has come  3: the clock  4: keep these bytes
//! there -> here    [1 to(4) length(4) bytes] ...  0 timeout(8)
//! ```

use super::net::{self, Stack};
use bytes::{Bytes, BytesMut};
use folkmoot_attach::{Input, Output};
use folkmoot_base::{Instant, Party, UnixTime};
use folkmoot_member::Command as Asked;
use folkmoot_sim::rng::Rng;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command};

/// Says to this program that it is a carrier, and where to listen.
const SOCKET: &str = "FOLKMOOT_CARRIER_SOCKET";

/// The other end.
pub(super) struct Remote {
    child: Child,
    stream: UnixStream,
    timeout: Option<Instant>,
}

fn write_bytes(stream: &mut UnixStream, bytes: &[u8]) {
    stream.write_all(&u32::try_from(bytes.len()).unwrap().to_be_bytes()).unwrap();
    stream.write_all(bytes).unwrap();
}

fn read_exact<const N: usize>(stream: &mut UnixStream) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).ok().map(|()| bytes)
}

fn read_bytes(stream: &mut UnixStream) -> Vec<u8> {
    let length = u32::from_be_bytes(read_exact(stream).unwrap());
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

impl Remote {
    pub(super) fn start(seed: u64, carrier: usize, ring: &Bytes, charters: &[Bytes]) -> Self {
        let place = std::env::temp_dir().join(format!("folkmoot-carrier-{}-{seed}", std::process::id()));
        let _ = std::fs::remove_file(&place);
        let listener = UnixListener::bind(&place).unwrap();
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "carriers::remote::a_process_that_carries", "--nocapture"]);
        let child = program.env(SOCKET, &place).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        std::fs::remove_file(&place).unwrap();
        stream.write_all(&seed.to_be_bytes()).unwrap();
        stream.write_all(&[u8::try_from(carrier).unwrap(), u8::try_from(charters.len()).unwrap()]).unwrap();
        [ring].into_iter().chain(charters).for_each(|charter| write_bytes(&mut stream, charter));
        let mut remote = Self { child, stream, timeout: None };
        assert!(remote.answer().is_empty());
        remote
    }

    /// The process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    pub(super) fn handle(&mut self, now: Instant, input: Input<(Party, Asked)>) -> Vec<(usize, Bytes)> {
        match input {
            Input::Datagram(from, bytes) => self.ask(1, now.0, from.as_memory().unwrap(), &bytes),
            Input::Timeout => self.ask(2, now.0, 0, &[]),
            Input::Clock(time) => self.ask(3, now.0, 0, &time.0.to_be_bytes()),
            other => panic!("nobody there to hear {other:?}"),
        }
        self.answer()
    }

    /// Has it keep these bytes somewhere: a carrier that has a key.
    pub(super) fn plant(&mut self, bytes: &[u8]) {
        self.ask(4, 0, 0, bytes);
        assert!(self.answer().is_empty());
    }

    fn ask(&mut self, kind: u8, now: u64, from: u32, bytes: &[u8]) {
        self.stream.write_all(&[kind]).unwrap();
        self.stream.write_all(&now.to_be_bytes()).unwrap();
        self.stream.write_all(&from.to_be_bytes()).unwrap();
        write_bytes(&mut self.stream, bytes);
    }

    fn answer(&mut self) -> Vec<(usize, Bytes)> {
        let mut sent = Vec::new();
        while read_exact(&mut self.stream) == Some([1]) {
            let to = u32::from_be_bytes(read_exact(&mut self.stream).unwrap());
            sent.push((usize::try_from(to).unwrap() - 1, read_bytes(&mut self.stream).into()));
        }
        let timeout = u64::from_be_bytes(read_exact(&mut self.stream).expect("the carrier lives"));
        self.timeout = (timeout < u64::MAX).then_some(Instant(timeout));
        sent
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Not a test by itself: [`Remote::start`] runs this program with it alone, as the other process.
#[test]
fn a_process_that_carries() {
    let Ok(place) = std::env::var(SOCKET) else { return };
    let mut stream = UnixStream::connect(place).unwrap();
    let seed = u64::from_be_bytes(read_exact(&mut stream).unwrap());
    let [carrier, count]: [u8; 2] = read_exact(&mut stream).unwrap();
    let ring = Bytes::from(read_bytes(&mut stream));
    let charters: Vec<Bytes> = (0..count).map(|_| read_bytes(&mut stream).into()).collect();
    let mut rng = Rng::new(seed, "carrier", carrier.into());
    let mut stack = net::stack(carrier.into(), &ring, &charters, &[], &mut rng);
    let mut kept: Vec<Vec<u8>> = Vec::new();
    answer(&mut stream, &mut stack);
    while let Some([kind]) = read_exact(&mut stream) {
        let now = Instant(u64::from_be_bytes(read_exact(&mut stream).unwrap()));
        let from = u32::from_be_bytes(read_exact(&mut stream).unwrap());
        let bytes = read_bytes(&mut stream);
        let input = match kind {
            1 => Input::Datagram(folkmoot_base::Locator::memory(from), BytesMut::from(&bytes[..])),
            2 => Input::Timeout,
            3 => Input::Clock(UnixTime(u64::from_be_bytes(bytes.try_into().unwrap()))),
            _ => {
                kept.push(bytes);
                answer(&mut stream, &mut stack);
                continue;
            }
        };
        stack.handle(now, input, &mut rng);
        answer(&mut stream, &mut stack);
    }
}

fn answer(stream: &mut UnixStream, stack: &mut Stack) {
    while let Some(output) = stack.poll_output() {
        if let Output::Transmit(to, bytes) | Output::Probe(to, bytes) = output {
            stream.write_all(&[1]).unwrap();
            stream.write_all(&to.as_memory().unwrap().to_be_bytes()).unwrap();
            write_bytes(stream, &bytes);
        }
    }
    stream.write_all(&[0]).unwrap();
    let timeout = stack.poll_timeout().map_or(u64::MAX, |at| at.0);
    stream.write_all(&timeout.to_be_bytes()).unwrap();
}
