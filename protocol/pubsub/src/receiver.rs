//! Datagrams in, whole messages out.

use crate::assembly::{Assembly, PLAIN};
use crate::counters::add;
use crate::sequence::Sequences;
use crate::{Channel, Counters, Datagram, Limits, WireError};
use core::net::SocketAddrV4;
use core::ops::Deref;
use folkmoot_base::Instant;

/// A message that came whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// On which channel.
    pub channel: Channel,
    /// The sender's number for it.
    pub sequence: u32,
    /// How many messages of this sender, on any channel, are missing right before it.
    pub missing: u32,
    /// What it says.
    pub payload: Payload<'a>,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload<'a> {
    /// It lies in the datagram.
    Within(&'a [u8]),
    /// It was joined from fragments.
    Joined(Vec<u8>),
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Within(bytes) => bytes,
            Self::Joined(bytes) => bytes,
        }
    }
}

/// Reads the datagrams of one group.
#[derive(Debug, Default)]
pub struct Receiver {
    limits: Limits,
    assembly: Assembly,
    sequences: Sequences<SocketAddrV4>,
    counters: Counters,
}

impl Receiver {
    /// One that holds no more than `limits`.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Takes a datagram; the message that it has or completes.
    ///
    /// # Errors
    /// [`WireError`]; it is counted.
    pub fn receive<'a>(
        &mut self,
        now: Instant,
        from: SocketAddrV4,
        datagram: &'a [u8],
    ) -> Result<Option<Message<'a>>, WireError> {
        let taken = self.take(now, from, datagram);
        match &taken {
            Ok(Some(message)) => {
                add(&mut self.counters.messages, 1);
                add(&mut self.counters.bytes, u64::try_from(message.payload.len()).unwrap_or(u64::MAX));
            }
            Ok(None) => {}
            Err(WireError::PeerSecured) => add(&mut self.counters.secured, 1),
            Err(_) => add(&mut self.counters.bad, 1),
        }
        taken
    }

    fn take<'a>(
        &mut self,
        now: Instant,
        from: SocketAddrV4,
        datagram: &'a [u8],
    ) -> Result<Option<Message<'a>>, WireError> {
        let Self { limits, assembly, sequences, counters } = self;
        // With every datagram, so that nothing is kept until the next fragment of somebody.
        assembly.drop_stale(now, limits, counters);
        let (channel, sequence, payload) = match Datagram::decode(datagram)? {
            Datagram::Short(short) => (short.channel, short.sequence, Payload::Within(short.payload)),
            Datagram::Fragment(fragment) => {
                let Some(whole) = assembly.take(now, (from, PLAIN), &fragment, limits, counters)? else {
                    return Ok(None);
                };
                (whole.channel, fragment.sequence, Payload::Joined(whole.payload))
            }
        };
        let missing = sequences.note(from, sequence, limits.senders, counters);
        Ok(Some(Message { channel, sequence, missing, payload }))
    }

    /// What it did so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many messages are incomplete, the bytes that they use, and how many senders are
    /// followed.
    pub fn held(&self) -> (usize, usize, usize) {
        let (messages, bytes) = self.assembly.held();
        (messages, bytes, self.sequences.len())
    }
}
