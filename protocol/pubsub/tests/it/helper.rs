//! Messages and their datagrams, for the tests.

use folkmoot_base::Instant;
use folkmoot_pubsub::{Channel, Counters, Limits, Packets, Receiver, Sizes, WireError};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The `number`-th sender.
pub(crate) fn sender(number: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), number)
}

pub(crate) fn channel(name: &str) -> Channel {
    Channel::new(name).unwrap()
}

/// Bytes that differ from place to place.
pub(crate) fn payload(length: usize, seed: u8) -> Vec<u8> {
    (0..length).map(|place| (place / 251) as u8 ^ (place as u8).wrapping_mul(31) ^ seed).collect()
}

pub(crate) fn datagrams(name: &str, payload: &[u8], sequence: u32, sizes: Sizes) -> Vec<Vec<u8>> {
    let packets = Packets::new(channel(name), payload, sequence, sizes).unwrap();
    packets.map(|packet| [packet.head(), packet.data].concat()).collect()
}

/// A message in `count` fragments.
pub(crate) fn fragments(name: &str, count: usize, seed: u8, sequence: u32) -> (Vec<u8>, Vec<Vec<u8>>) {
    let payload = payload(1_423 * count - name.len() - 1 - 400, seed);
    let datagrams = datagrams(name, &payload, sequence, Sizes::SMALL);
    assert_eq!(datagrams.len(), count);
    (payload, datagrams)
}

/// Changes the fields of a fragment: length of the message, offset, number, count.
pub(crate) fn forged(
    datagram: &[u8],
    size: Option<u32>,
    offset: Option<u32>,
    number: Option<u16>,
    count: Option<u16>,
) -> Vec<u8> {
    let mut forged = datagram.to_vec();
    size.into_iter().for_each(|size| forged[8..12].copy_from_slice(&size.to_be_bytes()));
    offset.into_iter().for_each(|offset| forged[12..16].copy_from_slice(&offset.to_be_bytes()));
    number.into_iter().for_each(|number| forged[16..18].copy_from_slice(&number.to_be_bytes()));
    count.into_iter().for_each(|count| forged[18..20].copy_from_slice(&count.to_be_bytes()));
    forged
}

/// A receiver whose messages are easy to compare.
pub(crate) struct Ear {
    receiver: Receiver,
    pub(crate) now: Instant,
}

impl Ear {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self { receiver: Receiver::new(limits), now: Instant(0) }
    }

    /// The message that this datagram completes: its channel, payload, and how many are missing.
    pub(crate) fn hear(
        &mut self,
        from: u16,
        datagram: &[u8],
    ) -> Result<Option<(String, Vec<u8>, u32)>, WireError> {
        let heard = self.receiver.receive(self.now, sender(from), datagram)?;
        Ok(heard.map(|message| (message.channel.text(), message.payload.to_vec(), message.missing)))
    }

    /// All messages that come of these datagrams.
    pub(crate) fn hear_all<'a>(
        &mut self,
        from: u16,
        datagrams: impl IntoIterator<Item = &'a Vec<u8>>,
    ) -> Vec<Vec<u8>> {
        datagrams
            .into_iter()
            .filter_map(|datagram| self.hear(from, datagram).unwrap())
            .map(|heard| heard.1)
            .collect()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.receiver.counters()
    }

    /// Incomplete messages, bytes set aside, senders.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        self.receiver.held()
    }
}
