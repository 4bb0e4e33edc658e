//! LCM's datagrams, what a receiver makes of them, and LCM's log files.

use folkmoot_base::{Instant, Mutant};
use folkmoot_pubsub::log::{Event, Step, step};
use folkmoot_pubsub::{Address, Channel, Datagram, Limits, Packets, Receiver, Sizes};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// Small, so that few steps reach each of them.
const LIMITS: Limits = Limits {
    message_bytes: 8_192,
    sender_messages: 2,
    sender_bytes: 12_000,
    messages: 4,
    bytes: 20_000,
    patience: Duration::from_millis(100),
    senders: 3,
    danger: Mutant::NONE,
};

/// One datagram. What is read is written as it came.
pub fn lcm_datagram(data: &[u8]) {
    match Datagram::decode(data) {
        Ok(Datagram::Short(short)) => {
            let mut packets =
                Packets::new(short.channel, short.payload, short.sequence, Sizes::LARGE).unwrap();
            let packet = packets.next().unwrap();
            if packets.next().is_none() {
                assert_eq!([packet.head(), packet.data].concat(), data);
            }
        }
        Ok(Datagram::Fragment(fragment)) => {
            let end = u64::from(fragment.offset) + u64::try_from(fragment.data.len()).unwrap();
            assert!(end <= u64::from(fragment.size) && fragment.number < fragment.count);
            assert_eq!(fragment.channel.is_some(), fragment.number == 0);
        }
        Err(_) => {}
    }
}

/// A receiver that is told datagrams: each behind a byte for the time since the last, a byte for
/// the sender and two for the length. What it holds stays within the limits.
pub fn lcm_receiver(data: &[u8]) {
    let mut receiver = Receiver::new(LIMITS);
    let (mut now, mut rest, mut heard) = (Instant(0), data, 0_u64);
    while let Some(([pause, from, high, low], after)) = rest.split_first_chunk() {
        now = now + Duration::from_millis(u64::from(*pause));
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (datagram, after) = after.split_at(length);
        rest = after;
        let sender = SocketAddrV4::new(Ipv4Addr::LOCALHOST, u16::from(*from) % 8);
        if let Ok(Some(message)) = receiver.receive(now, sender, datagram) {
            heard += 1;
            assert!(message.payload.len() <= 65_535.max(LIMITS.message_bytes));
        }
        let (messages, bytes, senders) = receiver.held();
        assert!(messages <= LIMITS.messages && bytes <= LIMITS.bytes && senders <= LIMITS.senders);
        assert!(messages > 0 || bytes == 0);
    }
    assert_eq!(receiver.counters().messages, heard);
}

/// A log file, read at once and byte by byte: both find the same events, and each is written as it
/// came.
pub fn lcm_log(data: &[u8]) {
    assert_eq!(events(data, usize::MAX), events(data, 1));
}

fn events(file: &[u8], piece: usize) -> Vec<(i64, usize)> {
    let (mut found, mut from, mut to) = (Vec::new(), 0, 0);
    loop {
        match step(&file[from..to], to == file.len()) {
            Step::Event { event, bytes } => {
                let mut again = Vec::new();
                event.encode(&mut again).unwrap();
                assert_eq!(again, file[from..from + bytes]);
                found.push((event.number, from));
                from += bytes;
            }
            Step::Skip(bytes) => {
                assert!(bytes > 0);
                from += bytes;
            }
            Step::More(bytes) => {
                assert!(to < file.len() && from + bytes > to);
                to = to.saturating_add(piece).max(from + bytes).min(file.len());
            }
            Step::End => break,
        }
    }
    assert_eq!(from, file.len());
    found
}

/// LCM's URLs.
pub fn lcm_address(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(address) = text.parse::<Address>() {
        assert_eq!(address.to_string().parse(), Ok(address));
    }
}

fn datagrams(name: &str, length: usize, sequence: u32) -> Vec<Vec<u8>> {
    let payload: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
    let packets = Packets::new(Channel::new(name).unwrap(), &payload, sequence, Sizes::SMALL).unwrap();
    packets.map(|packet| [packet.head(), packet.data].concat()).collect()
}

/// Steps of a receiver: pause, sender, datagram.
pub(crate) fn told(steps: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let step = |(pause, from, datagram): &(u8, u8, &[u8])| {
        let [high, low] = u16::try_from(datagram.len()).unwrap().to_be_bytes();
        [&[*pause, *from, high, low], *datagram].concat()
    };
    steps.iter().flat_map(step).collect()
}

/// Seeds of datagrams, receivers, logs and addresses.
pub(crate) fn lcm_seeds() -> [Vec<Vec<u8>>; 4] {
    let short = &datagrams("channel1", 5, 7)[0];
    let long = datagrams("POSE", 4_000, 8);
    let other = datagrams("POSE", 4_001, 8);
    let whole: Vec<(u8, u8, &[u8])> = long.iter().map(|one| (1, 1, one.as_slice())).collect();
    let mixed = [(1, 1, &long[0][..]), (1, 2, &other[0][..]), (1, 1, &other[1][..]), (1, 1, &long[1][..])];
    let late = [(1, 1, &long[0][..]), (101, 1, &long[1][..]), (1, 1, &long[2][..]), (1, 1, short.as_slice())];
    let crowd: Vec<(u8, u8, &[u8])> = (0..8).map(|from| (0, from, long[0].as_slice())).collect();
    let receivers = vec![told(&whole), told(&mixed), told(&late), told(&crowd)];
    let log = |payloads: &[&[u8]]| {
        let mut out = Vec::new();
        for (number, payload) in (0..).zip(payloads) {
            let channel = Channel::new("POSE").unwrap();
            Event { number, time: 1_000 * number, channel, payload }.encode(&mut out).unwrap();
        }
        out
    };
    let plain = log(&[b"one", b"", b"three"]);
    let within = log(&[b"one", &plain, b"three"]);
    let cut = [&plain[..40], &plain[..], &plain[..50]].concat();
    let addresses = ["udpm://239.255.76.67:7667?ttl=0", "udpm://?recv_buf_size=4194304&ttl=1"];
    [
        vec![short.clone(), long[0].clone(), long[2].clone()],
        receivers,
        vec![plain, within, cut],
        addresses.map(|address| address.as_bytes().to_vec()).to_vec(),
    ]
}
