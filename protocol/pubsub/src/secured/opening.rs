//! Which key a datagram is under, and what is checked before its content is believed.

use super::batch::{ATTESTATION, Entry, MESSAGE, entry, wait};
use super::epochs::Held;
use super::key::{Lax, TAG_BYTES};
use super::signature::read;
use super::window::Window;
use super::{
    Attested, Attribution, Batch, Danger, Header, Mode, OpenError, Opener, Refused, SenderId, Signing, Times,
};
use crate::Channel;
use crate::counters::add;
use std::collections::{BTreeMap, VecDeque};

/// How many batches wait to be asked for.
const ATTESTED_MAX: usize = 64;

/// Of each sender that was heard under a key.
pub(super) type Senders = BTreeMap<SenderId, Sender>;

/// What is known of a sender under a key.
#[derive(Debug, Default)]
pub(super) struct Sender {
    window: Window,
    /// What was delivered, and is not attested yet.
    waiting: VecDeque<Entry>,
}

/// What was opened.
pub(super) enum Content {
    /// A message, in its place.
    Message { length: usize, attribution: Option<Attribution> },
    /// What a sender attests.
    Batch(Batch),
}

impl Opener {
    fn tags(&self, header: &Header) -> [Option<u8>; 2] {
        match self.mode {
            Mode::Own => header.tags.map(Some),
            Mode::Compatible => [None; 2],
        }
    }

    pub(super) fn is_of_group(&self, header: &Header) -> Result<(), OpenError> {
        let [tag, _] = self.tags(header);
        let mut under = self.group.tagged(tag).peekable();
        under.peek().ok_or(OpenError::PeerEpoch)?;
        let any = self.times.danger.is(Danger::AnySender);
        let member = any || under.any(|held| held.key.member(header.sender).is_some());
        if member { Ok(()) } else { Err(OpenError::PeerStranger(header.sender)) }
    }

    /// The name at the beginning of `bytes`, and its length with the NUL (PUB-20). If it may be
    /// under either of two keys, the right one shows a channel that has a key here.
    pub(super) fn name(&self, header: &Header, bytes: &[u8]) -> Result<(Channel, usize), OpenError> {
        self.is_of_group(header)?;
        let [tag, _] = self.tags(header);
        let shown = || {
            let under = self.group.tagged(tag);
            under.filter_map(|held| held.key.show(header.sender, header.sequence, bytes))
        };
        let mut all = shown();
        let first = all.next().ok_or(OpenError::PeerName)?;
        // Patterns are looked at only where two keys have one tag.
        let Some(second) = all.next() else { return Ok(first) };
        let known = |(channel, _): &(Channel, usize)| self.channels.has(channel);
        Ok(if known(&second) && !known(&first) { second } else { first })
    }

    /// Opens what was said on a channel, in place (PUB-18, PUB-19, PUB-21, PUB-23 to PUB-25).
    pub(super) fn open(
        &mut self,
        header: &Header,
        channel: &Channel,
        sealed: &mut [u8],
    ) -> Result<Content, OpenError> {
        let [_, tag] = self.tags(header);
        let Self { mode, channels, times, room, refused: counts, .. } = self;
        let epochs = channels.of_mut(channel).ok_or(OpenError::LocalUnreadable(*channel))?;
        let mut left = epochs.tagged(tag).count();
        let mut refused = OpenError::PeerEpoch;
        for held in epochs.tagged_mut(tag) {
            left = left.saturating_sub(1);
            refused = match may(*mode, held, header, times) {
                Err(refused) => refused,
                Ok(()) if left == 0 => match open(held, (header, channel), sealed, (times, counts)) {
                    Ok(content) => return Ok(content),
                    Err(refused) => refused,
                },
                // What fails spoils the bytes, and there is another key to try.
                Ok(()) => {
                    room.clear();
                    room.extend_from_slice(sealed);
                    match open(held, (header, channel), room, (times, counts)) {
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

    /// Notes what a sender attests, of the messages that came under any key that is still here.
    pub(super) fn attest(&mut self, channel: Channel, batch: Batch) {
        let Some(epochs) = self.channels.of_mut(&channel) else { return };
        let mut sequences = Vec::new();
        for held in epochs.tagged_mut(None) {
            if let Some(sender) = held.state.get_mut(&batch.sender) {
                sequences.extend(batch.claim(&mut sender.waiting));
            }
        }
        if sequences.is_empty() {
            return;
        }
        if self.attested.len() >= ATTESTED_MAX {
            self.attested.pop_front();
        }
        self.attested.push_back(Attested { channel, sequences, batch });
    }

    /// The next messages of which it is known now who said them. At most 64 such batches wait to be
    /// asked for; the oldest gives way.
    pub fn attested(&mut self) -> Option<Attested> {
        self.attested.pop_front()
    }
}

/// Whether something with this header may be opened under a key at all.
fn may(mode: Mode, held: &Held<Senders>, header: &Header, times: &Times) -> Result<(), OpenError> {
    let Header { sender, sequence, .. } = *header;
    if held.key.member(sender).is_none() && !times.danger.is(Danger::AnySender) {
        return Err(OpenError::PeerStranger(sender));
    }
    let replays = mode == Mode::Compatible || times.danger.is(Danger::Replays);
    let new = held.state.get(&sender).is_none_or(|one| one.window.is_new(sequence));
    if new || replays { Ok(()) } else { Err(OpenError::PeerReplayed(sender, sequence)) }
}

/// Opens under one key. Only what is believed counts as come.
fn open(
    held: &mut Held<Senders>,
    (header, channel): (&Header, &Channel),
    sealed: &mut [u8],
    (times, refused): (&Times, &mut Refused),
) -> Result<Content, OpenError> {
    let Header { sender, sequence, .. } = *header;
    let danger = times.danger;
    let lax =
        Lax { anything: danger.is(Danger::BelievesAnything), any_channel: danger.is(Danger::AnyChannel) };
    let length = held.key.open((sender, sequence, channel), sealed, lax).ok_or(OpenError::PeerForged)?;
    debug_assert!(length.saturating_add(TAG_BYTES) == sealed.len(), "one tag for each message");
    let (opened, unsigned) = (sealed.get(..length).unwrap_or_default(), OpenError::PeerUnsigned(sender));
    let unverified = danger.is(Danger::AnySignature);
    let content = match held.key.signing() {
        Signing::Nobody => Content::Message { length, attribution: None },
        Signing::Each => {
            let read = read(&held.key, (sender, sequence, channel), opened, unverified);
            let (length, attribution) = read.ok_or(unsigned)?;
            Content::Message { length, attribution: Some(attribution) }
        }
        Signing::Batches => match opened.split_last() {
            Some((&MESSAGE, content)) => {
                let entry = entry(&held.key, sequence, content);
                let waiting = &mut held.state.entry(sender).or_default().waiting;
                add(&mut refused.unattested, wait(waiting, entry).into());
                Content::Message { length: content.len(), attribution: None }
            }
            Some((&ATTESTATION, said)) => {
                Content::Batch(Batch::read(&held.key, sender, said, unverified).ok_or(unsigned)?)
            }
            _ => return Err(unsigned),
        },
    };
    held.state.entry(sender).or_default().window.mark(sequence);
    Ok(content)
}
