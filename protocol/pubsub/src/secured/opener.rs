//! Datagrams in, opened messages out.

use super::epochs::{Epochs, Held};
use super::key::{Lax, TAG_BYTES};
use super::sealer::{check, room_for};
use super::signature::read;
use super::window::Window;
use super::{
    Attribution, Cause, Danger, Domain, DomainKey, Header, InstallError, Mode, OpenError, Part, Refused,
    SenderId, Signing, Times,
};
use crate::assembly::{Assembly, Extra};
use crate::counters::add;
use crate::sequence::Sequences;
use crate::{
    Channel, Counters, Datagram, Fragment, Limits, Payload, SELF_TEST_CHANNEL, SELF_TEST_PAYLOAD, WireError,
};
use core::net::SocketAddrV4;
use folkmoot_base::Instant;
use std::collections::BTreeMap;

type Windows = BTreeMap<SenderId, Window>;

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
    mode: Mode,
    /// The multicast group.
    domain: Domain,
    limits: Limits,
    times: Times,
    group: Epochs<()>,
    channels: BTreeMap<Channel, Epochs<Windows>>,
    assembly: Assembly,
    sequences: Sequences<SenderId>,
    counters: Counters,
    refused: Refused,
    /// Where something is opened that may be under either of two keys.
    room: Vec<u8>,
}

/// What was opened, in its place.
struct Content {
    length: usize,
    attribution: Option<Attribution>,
}

impl Opener {
    /// One for the multicast group of `domain`, which holds no more than `limits`.
    pub fn new(mode: Mode, domain: Domain, limits: Limits, times: Times) -> Self {
        Self {
            mode,
            domain: domain.of_group(),
            limits,
            times,
            group: Epochs::default(),
            channels: BTreeMap::new(),
            assembly: Assembly::default(),
            sequences: Sequences::default(),
            counters: Counters::default(),
            refused: Refused::default(),
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
        match domain.channel() {
            None => self.group.install(now, key, (), cause, &self.times),
            Some(channel) => {
                let epochs = room_for(&mut self.channels, *channel, &domain)?;
                epochs.install(now, key, Windows::new(), cause, &self.times)
            }
        }
    }

    /// Forgets the keys of a channel, and erases them here.
    pub fn forget(&mut self, channel: &Channel) {
        self.channels.remove(channel);
    }

    /// Erases what has had its time (PUB-21). [`Self::receive`] does that, too.
    pub fn expire(&mut self, now: Instant) {
        self.group.expire(now, &self.times);
        self.channels.values_mut().for_each(|epochs| epochs.expire(now, &self.times));
    }

    /// When [`Self::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let channels = self.channels.values().filter_map(Epochs::deadline);
        channels.chain(self.group.deadline()).min()
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
                let payload = Payload::Within(sealed.get(..content.length).unwrap_or_default());
                Ok(Some(self.opened(&header, channel, payload, content.attribution)))
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
        sealed.truncate(content.length);
        Ok(Some(self.opened(header, channel, Payload::Joined(sealed), content.attribution)))
    }

    fn opened<'a>(
        &mut self,
        header: &Header,
        channel: Channel,
        payload: Payload<'a>,
        attribution: Option<Attribution>,
    ) -> Opened<'a> {
        let Self { sequences, limits, counters, .. } = self;
        let missing = sequences.note(header.sender, header.sequence, limits.senders, counters);
        let (sender, sequence) = (Some(header.sender), header.sequence);
        Opened { channel, sender, sequence, missing, payload, attribution }
    }

    fn tags(&self, header: &Header) -> [Option<u8>; 2] {
        match self.mode {
            Mode::Own => header.tags.map(Some),
            Mode::Compatible => [None; 2],
        }
    }

    fn is_of_group(&self, header: &Header) -> Result<(), OpenError> {
        let [tag, _] = self.tags(header);
        let mut under = self.group.tagged(tag).peekable();
        under.peek().ok_or(OpenError::PeerEpoch)?;
        let any = self.times.danger.is(Danger::AnySender);
        let member = any || under.any(|held| held.key.member(header.sender).is_some());
        if member { Ok(()) } else { Err(OpenError::PeerStranger(header.sender)) }
    }

    /// The name at the beginning of `bytes`, and its length with the NUL (PUB-20). If it may be
    /// under either of two keys, the right one shows a channel that has a key here.
    fn name(&self, header: &Header, bytes: &[u8]) -> Result<(Channel, usize), OpenError> {
        self.is_of_group(header)?;
        let [tag, _] = self.tags(header);
        let shown = || {
            let under = self.group.tagged(tag);
            under.filter_map(|held| held.key.show(header.sender, header.sequence, bytes))
        };
        let known = shown().find(|(channel, _)| self.channels.contains_key(channel));
        known.or_else(|| shown().next()).ok_or(OpenError::PeerName)
    }

    /// Opens what was said on a channel, in place (PUB-18, PUB-19, PUB-21, PUB-23 to PUB-25).
    fn open(&mut self, header: &Header, channel: &Channel, sealed: &mut [u8]) -> Result<Content, OpenError> {
        let [_, tag] = self.tags(header);
        let Self { mode, channels, times, room, .. } = self;
        let epochs = channels.get_mut(channel).ok_or(OpenError::LocalUnreadable(*channel))?;
        let mut left = epochs.tagged(tag).count();
        let mut refused = OpenError::PeerEpoch;
        for held in epochs.tagged_mut(tag) {
            left = left.saturating_sub(1);
            refused = match may(*mode, held, header, times) {
                Err(refused) => refused,
                Ok(()) if left == 0 => match open(held, header, sealed, times) {
                    Ok(content) => return Ok(content),
                    Err(refused) => refused,
                },
                // What fails spoils the bytes, and there is another key to try.
                Ok(()) => {
                    room.clear();
                    room.extend_from_slice(sealed);
                    match open(held, header, room, times) {
                        Ok(content) => {
                            sealed.copy_from_slice(room);
                            return Ok(content);
                        }
                        Err(refused) => refused,
                    }
                }
            };
        }
        Err(refused)
    }

    /// What it did so far: whole messages, and what a plain receiver counts, too.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What it refused so far.
    pub fn refused(&self) -> Refused {
        self.refused
    }

    /// How many messages are incomplete, the bytes set aside for them, and how many senders are
    /// followed.
    pub fn held(&self) -> (usize, usize, usize) {
        let (messages, bytes) = self.assembly.held();
        (messages, bytes, self.sequences.len())
    }
}

/// Whether something with this header may be opened under a key at all.
fn may(mode: Mode, held: &Held<Windows>, header: &Header, times: &Times) -> Result<(), OpenError> {
    let Header { sender, sequence, .. } = *header;
    if held.key.member(sender).is_none() && !times.danger.is(Danger::AnySender) {
        return Err(OpenError::PeerStranger(sender));
    }
    let replays = mode == Mode::Compatible || times.danger.is(Danger::Replays);
    let new = held.state.get(&sender).is_none_or(|window| window.is_new(sequence));
    if new || replays { Ok(()) } else { Err(OpenError::PeerReplayed(sender, sequence)) }
}

/// Opens under one key. Only what is believed counts as come.
fn open(
    held: &mut Held<Windows>,
    header: &Header,
    sealed: &mut [u8],
    times: &Times,
) -> Result<Content, OpenError> {
    let Header { sender, sequence, .. } = *header;
    let danger = times.danger;
    let lax =
        Lax { anything: danger.is(Danger::BelievesAnything), any_channel: danger.is(Danger::AnyChannel) };
    let length = held.key.open(sender, sequence, sealed, lax).ok_or(OpenError::PeerForged)?;
    debug_assert!(length.saturating_add(TAG_BYTES) == sealed.len(), "one tag for each message");
    let content = match held.key.signing() {
        Signing::Nobody => Content { length, attribution: None },
        Signing::Each => {
            let opened = sealed.get(..length).unwrap_or_default();
            let unverified = danger.is(Danger::AnySignature);
            let read = read(&held.key, sender, sequence, opened, unverified);
            let (length, attribution) = read.ok_or(OpenError::PeerUnsigned(sender))?;
            Content { length, attribution: Some(attribution) }
        }
    };
    held.state.entry(sender).or_default().mark(sequence);
    Ok(content)
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
