//! How a bus hears: plainly, or sealed.

use crate::Heard;
use bytes::Bytes;
use core::net::SocketAddrV4;
use folkmoot_base::Instant;
use folkmoot_pubsub::secured::{Attribution, Opened, Opener, Refused, SenderId};
use folkmoot_pubsub::{Channel, Counters, Message, Payload, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

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
    Secured(Shared),
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
            Self::Secured(opener) => {
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
            Self::Secured(opener) => {
                let opener = opener.lock();
                (opener.counters(), opener.refused())
            }
        }
    }
}

impl Came<'_> {
    pub(crate) fn heard(self) -> Heard {
        let payload = match self.payload {
            Payload::Within(bytes) => Bytes::copy_from_slice(bytes),
            Payload::Joined(bytes) => bytes.into(),
        };
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        let Self { channel, from, sequence, missing, sender, attribution, .. } = self;
        Heard { channel, payload, time, from, sequence, missing, sender, attribution }
    }
}
