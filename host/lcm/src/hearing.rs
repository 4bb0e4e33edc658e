//! How a bus hears: plainly, or sealed.

use crate::Heard;
use crate::clock::since_1970;
use crate::membership::Backlog;
use bytes::Bytes;
use core::net::SocketAddrV4;
use core::ops::Range;
use core::time::Duration;
use folkmoot_base::{Instant, Mutant};
use folkmoot_pubsub::discovery::message::MESSAGE_BYTES_MAX;
use folkmoot_pubsub::secured::{Attribution, Opened, Opener, Refused, SenderId};
use folkmoot_pubsub::{Channel, Counters, Limits, MANAGEMENT_PREFIX, Message, Payload, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An opener that takes new keys while it hears.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Opener>>);

impl Shared {
    pub(crate) fn new(opener: Opener) -> Self {
        Self(Arc::new(Mutex::new(opener)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Opener> {
        // A panic under the lock would be one of ours; no rule depends on the call being whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes messages of datagrams.
#[derive(Debug)]
pub(crate) enum Hearing {
    Plain(Box<Receiver>),
    Secured(Shared, Option<Box<Management>>),
}

/// What members say about keys: plain, and for nobody but the [`crate::Membership`].
#[derive(Debug)]
pub(crate) struct Management {
    receiver: Receiver,
    backlog: Arc<Backlog>,
}

/// The longest message about keys, and how many at a time.
const MANAGEMENT: Limits = Limits {
    message_bytes: MESSAGE_BYTES_MAX,
    sender_messages: 4,
    sender_bytes: 2 * MESSAGE_BYTES_MAX,
    messages: 64,
    bytes: 16 * MESSAGE_BYTES_MAX,
    patience: Duration::from_secs(1),
    senders: 1_024,
    danger: Mutant::NONE,
};
impl Management {
    pub(crate) fn new() -> (Self, Arc<Backlog>) {
        let backlog = Arc::new(Backlog::new());
        (Self { receiver: Receiver::new(MANAGEMENT), backlog: Arc::clone(&backlog) }, backlog)
    }

    /// Whether a plain datagram may be about keys. The name is in the first fragment alone.
    fn is(datagram: &[u8]) -> bool {
        let named = |at| datagram.get(at..).is_some_and(|rest: &[u8]| rest.starts_with(MANAGEMENT_PREFIX));
        datagram.starts_with(b"LC03") || (datagram.starts_with(b"LC02") && named(8))
    }

    fn take(&mut self, now: Instant, from: SocketAddrV4, datagram: &[u8]) {
        match self.receiver.receive(now, from, datagram) {
            Ok(Some(message)) if message.channel.as_bytes().starts_with(MANAGEMENT_PREFIX) => {
                let Message { channel, sequence, missing, payload } = message;
                let (sender, attribution) = (None, None);
                let came = Came { channel, from, sequence, missing, payload, sender, attribution };
                self.backlog.put(from, &channel, || came.heard(since_1970()));
            }
            // A long message of a plain program.
            Ok(_) => {}
            Err(error) => tracing::trace!(%from, %error, "refused"),
        }
    }
}

/// A message that came, whichever way.
pub(crate) struct Came<'a> {
    pub(crate) channel: Channel,
    from: SocketAddrV4,
    sequence: u32,
    missing: u32,
    payload: Payload<'a>,
    sender: Option<SenderId>,
    attribution: Option<Attribution>,
}

impl Hearing {
    /// Takes a datagram; the message that it has or completes.
    pub(crate) fn take<'a>(
        &mut self,
        now: Instant,
        from: SocketAddrV4,
        datagram: &'a mut [u8],
    ) -> Option<Came<'a>> {
        let refused = |error: &dyn core::fmt::Display| tracing::trace!(%from, %error, "refused");
        match self {
            Self::Plain(receiver) => {
                let taken = receiver.receive(now, from, datagram);
                let Message { channel, sequence, missing, payload } =
                    taken.inspect_err(|error| refused(error)).ok()??;
                Some(Came { channel, from, sequence, missing, payload, sender: None, attribution: None })
            }
            Self::Secured(_, Some(management)) if Management::is(datagram) => {
                management.take(now, from, datagram);
                None
            }
            Self::Secured(opener, _) => {
                let taken = opener.lock().receive(now, from, datagram);
                let Opened { channel, sequence, missing, payload, sender, attribution } =
                    taken.inspect_err(|error| refused(error)).ok()??;
                Some(Came { channel, from, sequence, missing, payload, sender, attribution })
            }
        }
    }

    pub(crate) fn counters(&self) -> (Counters, Refused) {
        match self {
            Self::Plain(receiver) => (receiver.counters(), Refused::default()),
            Self::Secured(opener, _) => {
                let opener = opener.lock();
                (opener.counters(), opener.refused())
            }
        }
    }
}

impl Came<'_> {
    /// As a subscription keeps it.
    pub(crate) fn heard(self, time: i64) -> Heard {
        let payload = match self.payload {
            Payload::Within(bytes) => Bytes::copy_from_slice(bytes),
            Payload::Joined(bytes) => bytes.into(),
        };
        let Self { channel, from, sequence, missing, sender, attribution, .. } = self;
        Heard { channel, payload, time, from, sequence, missing, sender, attribution }
    }

    /// The same. If the payload lies in the datagram, which begins at this address, it is not there
    /// yet: only its place in the datagram.
    pub(crate) fn heard_at(self, begins: usize, time: i64) -> (Heard, Option<Range<usize>>) {
        let place = match &self.payload {
            Payload::Within(bytes) => {
                let start = bytes.as_ptr().addr().saturating_sub(begins);
                Some(start..start.saturating_add(bytes.len()))
            }
            Payload::Joined(_) => None,
        };
        let payload = if place.is_some() { Payload::Within(&[]) } else { self.payload };
        (Came { payload, ..self }.heard(time), place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    fn short(sequence: u32, name: &[u8], payload: &[u8]) -> Vec<u8> {
        [b"LC02", &sequence.to_be_bytes()[..], name, &[0], payload].concat()
    }

    #[test]
    fn what_plain_programs_say_is_not_about_keys() {
        let (mut management, backlog) = Management::new();
        let from = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        assert!(
            !Management::is(&short(0, b"POSE", b"1")) && !Management::is(b"LC04") && !Management::is(b"")
        );
        // A long one of theirs is known by its name only when it is whole.
        let long = [b"LC03", &[0; 4][..], &[0, 0, 0, 1], &[0; 4], &[0, 0], &[0, 1], b"POSE\0", b"1"].concat();
        assert!(Management::is(&long));
        management.take(Instant(0), from, &long);
        assert!(backlog.is_empty());
    }
}
