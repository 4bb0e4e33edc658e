//! Datagrams in, opened messages out.

use super::epochs::Epochs;
use super::key::TAG_BYTES;
use super::keys::Keys;
use super::opening::{Content, Senders};
use super::sealer::{check, next_end};
use super::{
    Attested, Attribution, Cause, Domain, DomainKey, Header, InstallError, Mode, OpenError, Part, Refused,
    SIGNATURE_BYTES, SenderId, Times,
};
use crate::assembly::{Assembly, Extra};
use crate::counters::add;
use crate::sequence::Sequences;
use crate::{
    Channel, Counters, Datagram, Fragment, Limits, Payload, SELF_TEST_CHANNEL, SELF_TEST_PAYLOAD, WireError,
};
use core::net::SocketAddrV4;
use folkmoot_base::Instant;
use std::collections::VecDeque;

/// A message that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened<'a> {
    /// On which channel.
    pub channel: Channel,
    /// Who says that it sent it: one of those with the channel's key. `None` for the self test,
    /// which is never sealed.
    pub sender: Option<SenderId>,
    /// The sender's number for it.
    pub sequence: u32,
    /// How many numbers of this sender were skipped right before it. Those of messages on channels
    /// whose keys are not here are among them.
    pub missing: u32,
    /// What it says.
    pub payload: Payload<'a>,
    /// Who said it, to be shown to others, where messages are signed.
    pub attribution: Option<Attribution>,
}

/// Opens what comes in one multicast group.
#[derive(Debug)]
pub struct Opener {
    pub(super) mode: Mode,
    /// The multicast group.
    domain: Domain,
    limits: Limits,
    pub(super) times: Times,
    pub(super) group: Epochs<()>,
    pub(super) channels: Keys<Senders>,
    /// When the next key ends.
    ends: Option<Instant>,
    assembly: Assembly,
    sequences: Sequences<SenderId>,
    counters: Counters,
    pub(super) refused: Refused,
    /// What [`Self::attested`] hands out.
    pub(super) attested: VecDeque<Attested>,
    /// Where something is opened that may be under either of two keys.
    pub(super) room: Vec<u8>,
}

impl Opener {
    /// One for the multicast group of `domain`, which holds no more than `limits`.
    pub fn new(mode: Mode, domain: Domain, limits: Limits, times: Times) -> Self {
        // The limit is of contents, and what travels is longer.
        let message_bytes = limits.message_bytes.saturating_add(TAG_BYTES + SIGNATURE_BYTES);
        let limits = Limits { message_bytes, ..limits };
        Self {
            mode,
            domain: domain.of_group(),
            limits,
            times,
            group: Epochs::default(),
            channels: Keys::default(),
            ends: None,
            assembly: Assembly::default(),
            sequences: Sequences::default(),
            counters: Counters::default(),
            refused: Refused::default(),
            attested: VecDeque::new(),
            room: Vec::new(),
        }
    }

    /// Takes a new key.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn install(&mut self, now: Instant, key: DomainKey, cause: Cause) -> Result<(), InstallError> {
        let domain = *key.domain();
        check(&key, self.mode, &self.domain)?;
        if domain.is_of_names() {
            self.group.install(now, key, (), cause, &self.times)?;
        } else {
            self.channels.of_domain(&domain)?.install(now, key, Senders::new(), cause, &self.times)?;
        }
        self.ends = next_end(&self.group, &self.channels);
        Ok(())
    }

    /// There will be a key for this domain. What comes on its channels is not opened under a
    /// pattern's key that names them, too.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn expect(&mut self, domain: &Domain) -> Result<(), InstallError> {
        self.channels.expect(domain)
    }

    /// Erases the keys of a domain: nothing on it is opened any more.
    pub fn forget(&mut self, domain: &Domain) {
        self.channels.forget(domain);
    }

    /// Erases what has had its time (PUB-21). [`Self::receive`] does that, too.
    pub fn expire(&mut self, now: Instant) {
        // With every message, of which few find something to erase.
        if self.ends.is_some_and(|ends| ends <= now) {
            self.group.expire(now, &self.times);
            self.channels.all_mut().for_each(|epochs| epochs.expire(now, &self.times));
            self.ends = next_end(&self.group, &self.channels);
        }
    }

    /// When [`Self::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.ends
    }

    /// Takes a datagram, which it may open in place; the message that it has or completes.
    ///
    /// # Errors
    /// [`OpenError`]; it is counted.
    pub fn receive<'a>(
        &mut self,
        now: Instant,
        from: SocketAddrV4,
        datagram: &'a mut [u8],
    ) -> Result<Option<Opened<'a>>, OpenError> {
        let taken = self.take(now, from, datagram);
        match &taken {
            Ok(Some(opened)) => {
                add(&mut self.counters.messages, 1);
                add(&mut self.counters.bytes, u64::try_from(opened.payload.len()).unwrap_or(u64::MAX));
            }
            Ok(None) => {}
            Err(error) => add(self.counter(error), 1),
        }
        taken
    }

    fn counter(&mut self, error: &OpenError) -> &mut u64 {
        let Self { counters, refused, .. } = self;
        match error {
            OpenError::Wire(WireError::PeerPlain) => &mut refused.plain,
            OpenError::Wire(_) => &mut counters.bad,
            OpenError::PeerEpoch => &mut refused.epochs,
            OpenError::PeerName => &mut refused.names,
            OpenError::LocalUnreadable(_) => &mut refused.unreadable,
            OpenError::PeerStranger(_) => &mut refused.strangers,
            OpenError::PeerReplayed(..) => &mut refused.replayed,
            OpenError::PeerForged => &mut refused.forged,
            OpenError::PeerUnsigned(_) => &mut refused.unsigned,
        }
    }

    fn take<'a>(
        &mut self,
        now: Instant,
        from: SocketAddrV4,
        datagram: &'a mut [u8],
    ) -> Result<Option<Opened<'a>>, OpenError> {
        self.expire(now);
        self.assembly.drop_stale(now, &self.limits, &mut self.counters);
        let length = datagram.len();
        let (header, rest) = match Header::decode(datagram) {
            Err(WireError::PeerPlain) => return self_test(datagram).map(Some),
            decoded => decoded?,
        };
        let at = length.saturating_sub(rest.len());
        match header.part {
            Part::Whole => {
                let (channel, named) = self.name(&header, rest)?;
                let sealed = datagram.get_mut(at.saturating_add(named)..).unwrap_or_default();
                let content = self.open(&header, &channel, sealed)?;
                Ok(self.opened(&header, channel, content, |length| {
                    Payload::Within(sealed.get(..length).unwrap_or_default())
                }))
            }
            Part::Fragment { size, offset, number, count } => {
                let (channel, data) = match number {
                    0 => {
                        let (channel, named) = self.name(&header, rest)?;
                        (Some(channel), rest.get(named..).unwrap_or_default())
                    }
                    _ => {
                        self.is_of_group(&header)?;
                        (None, rest)
                    }
                };
                let fragment =
                    Fragment { sequence: header.sequence, size, offset, number, count, channel, data };
                self.join(now, (from, &header), &fragment)
            }
        }
    }

    /// Takes a fragment; the message that it completes.
    fn join(
        &mut self,
        now: Instant,
        (from, header): (SocketAddrV4, &Header),
        fragment: &Fragment<'_>,
    ) -> Result<Option<Opened<'static>>, OpenError> {
        if !fragment.is_sound() {
            return Err(WireError::PeerContradicts.into());
        }
        let Self { assembly, limits, counters, .. } = self;
        let Some(whole) = assembly.take(now, (from, extra(self.mode, header)), fragment, limits, counters)?
        else {
            return Ok(None);
        };
        let (channel, mut sealed) = (whole.channel, whole.payload);
        let content = self.open(header, &channel, &mut sealed)?;
        Ok(self.opened(header, channel, content, |length| {
            sealed.truncate(length);
            Payload::Joined(sealed)
        }))
    }

    /// Hands up what was opened, if it is a message; `within` gives its first bytes.
    fn opened<'a>(
        &mut self,
        header: &Header,
        channel: Channel,
        content: Content,
        within: impl FnOnce(usize) -> Payload<'a>,
    ) -> Option<Opened<'a>> {
        let Self { sequences, limits, counters, .. } = self;
        let missing = sequences.note(header.sender, header.sequence, limits.senders, counters);
        let (sender, sequence) = (Some(header.sender), header.sequence);
        match content {
            Content::Message { length, attribution } => {
                Some(Opened { channel, sender, sequence, missing, payload: within(length), attribution })
            }
            Content::Batch(batch) => {
                self.attest(channel, batch);
                None
            }
        }
    }

    /// What it did so far: whole messages, and what a plain receiver counts, too.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What it refused so far.
    pub fn refused(&self) -> Refused {
        self.refused
    }

    /// How many messages are incomplete, the bytes that they use, and how many senders are
    /// followed.
    pub fn held(&self) -> (usize, usize, usize) {
        let (messages, bytes) = self.assembly.held();
        (messages, bytes, self.sequences.len())
    }
}

/// What must be the same in all fragments of a message. The reference does not say what stands
/// where the tags are.
fn extra(mode: Mode, header: &Header) -> Extra {
    let tags = if mode == Mode::Own { header.tags } else { [0; 2] };
    Header::extra(header.sender, tags)
}

/// The one thing that is heard without a seal.
fn self_test(datagram: &[u8]) -> Result<Opened<'_>, OpenError> {
    match Datagram::decode(datagram) {
        Ok(Datagram::Short(short))
            if short.channel.as_bytes() == SELF_TEST_CHANNEL.as_bytes()
                && short.payload == SELF_TEST_PAYLOAD =>
        {
            let payload = Payload::Within(short.payload);
            let (channel, sequence) = (short.channel, short.sequence);
            Ok(Opened { channel, sender: None, sequence, missing: 0, payload, attribution: None })
        }
        _ => Err(WireError::PeerPlain.into()),
    }
}
