//! One conversation: seals under the current epoch, opens under the current and the previous one,
//! and holds messages while there is none.
//!
//! ```text
//!  plaintext ─ seal ─> header ‖ ciphertext ‖ tag ─ (ordered multicast) ─ open ─> plaintext
//!      └─ no epoch ─ hold ─> waits ─ open_epoch ─ take_held ─> seal       └─ epoch not open yet: waits ─> poll_received
//!
//!  epochs:   current (seals, opens)  ──open_epoch──>  previous (opens)  ──close_previous──>  gone, erased
//! ```
//! Promise: no nonce is used twice under one key. Nothing opens except what a party of the view
//! sealed in it, and that once, under its own number. A signature in a message is by the key of its
//! sender's member, over exactly this message of this party. After [`Session::stop`] nothing is
//! sealed until the next epoch. Each message costs at most one copy.
//! Relies on: keying for a key that exactly the parties hold. Does not rely on order, or on
//! delivery only once.

mod attempt;
mod epoch;
mod error;
mod held;
mod message;
mod window;

#[doc(hidden)]
pub use attempt::{Attempt, KeptKey, danger_attempt};
pub use error::{HoldError, OpenError, SealError, SessionError};
pub use message::{
    Body, Bundle, Content, HEADER_BYTES, LENGTH_BYTES, Origin, PLAIN_BYTES, SEALED_BYTES_MAX, TAG_BYTES,
    Texts,
};
pub use window::WINDOW;

use base::limits::MESSAGE_BYTES_MAX;
use base::{Buffer, Cipher, Danger, GroupId, Mutant, Party, Pool, Secret, Service, ViewId};
use bytes::Bytes;
use epoch::Epoch;
use folkmoot_base as base;
use folkmoot_identity as identity;
use held::Held;
use identity::{Signature, Stamp};
use message::{EpochTag, Header};
use std::collections::VecDeque;

/// How many tags of past epochs a session remembers, to tell them from those of future epochs.
const CLOSED_MAX: usize = 256;

/// The settings of a session.
#[derive(Debug, Clone)]
pub struct Config {
    /// Messages after which an epoch must end.
    pub seals_per_epoch_max: u64,
    /// Most bytes of messages that wait for an epoch, for each direction.
    pub held_bytes_max: usize,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seals_per_epoch_max: base::limits::SEALS_PER_EPOCH_MAX,
            held_bytes_max: base::limits::HELD_BYTES_MAX,
            danger: Mutant::NONE,
        }
    }
}

/// Answers whether the key of the member in the stamp's sender signed this text under this stamp.
/// The caller knows the members' keys.
pub type Verify<'a> = &'a dyn Fn(&Stamp, &[u8], &Signature) -> bool;

/// An opened message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The plaintext; if it has several texts, see [`Self::texts`].
    pub payload: Bytes,
    /// Which of its sender's messages it is, and the sender's signature if it gave one.
    pub origin: Origin,
    /// The layer that the plaintext belongs to: the application or letters.
    pub content: Content,
}

impl Message {
    /// Its texts, one or more, each with its own number.
    pub fn texts(self) -> Texts {
        Texts::of(self.payload, self.content, self.origin)
    }
}

/// What the key to which strangers write is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LettersSeed<'a> {
    /// In which view.
    pub view: ViewId,
    /// The public tag of its epoch.
    pub epoch: [u8; 8],
    /// The seed: every holder of the group key has it. It is never sent.
    pub seed: &'a Secret<[u8; 32]>,
}

/// The result of [`Session::open`].
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    /// The plaintext; if it came with a signature, the signature has been verified.
    Message(Message),
    /// The message is of an epoch that is not open yet. It is kept; [`Session::poll_received`]
    /// returns it once the epoch opens.
    Held,
}

/// What a session did since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Messages sealed.
    pub sealed: u64,
    /// Messages opened; own ones that come back are not.
    pub opened: u64,
    /// Bytes of messages copied, in sealing them and in opening them.
    pub copied: u64,
}

impl Counters {
    /// Opens a message, and counts it.
    fn opening(
        &mut self,
        epoch: &mut Epoch,
        from: (Party, Service),
        header: Header,
        (sealed, pool): (Buffer, &mut Pool),
        verify: Verify<'_>,
    ) -> Result<Message, OpenError> {
        let (message, cost) = epoch.open(from, header, sealed, pool, verify)?;
        self.opened = self.opened.saturating_add(cost.openings);
        self.copied = self.copied.saturating_add(as_u64(cost.copied));
        Ok(message)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sealed: self.sealed.saturating_add(other.sealed),
            opened: self.opened.saturating_add(other.opened),
            copied: self.copied.saturating_add(other.copied),
        }
    }
}

/// The session of one party in one group.
pub struct Session {
    me: Party,
    group: GroupId,
    config: Config,
    current: Option<Epoch>,
    previous: Option<Epoch>,
    closed: VecDeque<EpochTag>,
    stopped: bool,
    refresh_asked: bool,
    counters: Counters,
    pool: Pool,
    sends: Held<()>,
    received: Held<(Party, Service)>,
}

impl Session {
    /// A session without an epoch.
    pub fn new(me: Party, group: GroupId, config: Config) -> Self {
        Self {
            me,
            group,
            current: None,
            previous: None,
            closed: VecDeque::new(),
            stopped: false,
            refresh_asked: false,
            counters: Counters::default(),
            pool: Pool::default(),
            sends: Held::new(config.held_bytes_max),
            received: Held::new(config.held_bytes_max),
            config,
        }
    }

    /// Opens an epoch: messages are sealed under its key from now on, and the epoch before it still
    /// opens messages until [`Self::close_previous`]. Call with the view and parties of keying's
    /// `SecureView` or `Refreshed`, and key and cipher of its epoch. Then drain
    /// [`Self::poll_received`], then [`Self::take_held`].
    ///
    /// # Errors
    /// [`SessionError`]: the list does not fit, the view is of another group, or this epoch was
    /// opened before (SES-05).
    pub fn open_epoch(
        &mut self,
        view: ViewId,
        members: &[Party],
        key: &Secret<[u8; 32]>,
        cipher: Cipher,
    ) -> Result<(), SessionError> {
        if view.group != self.group {
            return Err(SessionError::LocalOtherGroup);
        }
        let epoch = Epoch::new(&self.me, &view, members, (key, cipher), self.config.danger)?;
        let tag = epoch.tag;
        let open = [&self.current, &self.previous].into_iter().flatten().any(|known| known.tag == tag);
        if open || self.closed.contains(&tag) {
            return Err(SessionError::LocalReused);
        }
        self.close_previous();
        self.previous = self.current.replace(epoch);
        self.stopped = false;
        self.refresh_asked = false;
        self.received.retain(|sealed| Header::decode(sealed).is_ok_and(|header| header.epoch == tag));
        Ok(())
    }

    /// Seals a message, or several texts together, under the current epoch.
    ///
    /// Returns the bytes of `before`, then header, ciphertext and 16-byte tag. Each text uses one
    /// counter, which is never used again in this epoch.
    ///
    /// # Errors
    /// [`SealError::LocalTooLong`]; [`SealError::NoEpoch`] while there is no key or sealing is
    /// stopped: hand it to [`Self::hold`]; [`SealError::EpochSpent`] after `seals_per_epoch_max`
    /// messages: hold it, and ask for a new key.
    ///
    /// # Source
    /// docs/protocol/session.md, rules SES-01 to SES-08.
    pub fn seal(&mut self, before: &[u8], body: Body) -> Result<Bytes, SealError> {
        let (epoch, pool) = self.sealing(&body)?;
        epoch.seal(before, body, None, pool)
    }

    /// The letters' seed of the epoch that may seal now: no removed party has it.
    pub fn letters(&self) -> Option<LettersSeed<'_>> {
        self.current.as_ref().filter(|_| !self.stopped).map(Epoch::letters)
    }

    /// [`Self::seal`], with the sender's signature sealed in, 67 bytes more. `sign` is called once
    /// to sign the plaintext under the stamp that it is given ([`Stamp::sign`]). `service` is the
    /// one with which the message will be delivered.
    ///
    /// # Errors
    /// As [`Self::seal`].
    ///
    /// # Source
    /// docs/protocol/session.md, rules SES-12 to SES-15.
    pub fn seal_signed(
        &mut self,
        before: &[u8],
        service: Service,
        text: Bytes,
        sign: impl FnOnce(&Stamp, &[u8]) -> Signature,
    ) -> Result<Bytes, SealError> {
        let body = Body::text(text);
        let (epoch, pool) = self.sealing(&body)?;
        let signature = sign(&epoch.next_stamp(service), &body.bytes);
        epoch.seal(before, body, Some(signature), pool)
    }

    /// The epoch that may seal this now, and where its bytes come from.
    fn sealing(&mut self, body: &Body) -> Result<(&mut Epoch, &mut Pool), SealError> {
        if let Some(excess_bytes) = excess(body.bytes.len()) {
            return Err(SealError::LocalTooLong { excess_bytes });
        }
        if self.stopped {
            return Err(SealError::NoEpoch);
        }
        let epoch = self.current.as_mut().ok_or(SealError::NoEpoch)?;
        if epoch.sealed.saturating_add(body.count.into()) > self.config.seals_per_epoch_max {
            return Err(SealError::EpochSpent);
        }
        self.counters.sealed = self.counters.sealed.saturating_add(1);
        self.counters.copied = self.counters.copied.saturating_add(as_u64(body.bytes.len()));
        Ok((epoch, &mut self.pool))
    }

    /// Keeps a message until there is an epoch.
    ///
    /// # Errors
    /// [`HoldError`]: nothing is kept; push back to the caller.
    pub fn hold(&mut self, plaintext: Bytes) -> Result<(), HoldError> {
        if let Some(excess_bytes) = excess(plaintext.len()) {
            return Err(HoldError::LocalTooLong { excess_bytes });
        }
        if self.sends.push((), plaintext) { Ok(()) } else { Err(HoldError::Full) }
    }

    /// The oldest message held for sending, once this session may seal; seal it next.
    pub fn take_held(&mut self) -> Option<Bytes> {
        if self.can_seal() { self.sends.pop().map(|(_, message)| message) } else { None }
    }

    /// Empties the queue of held sends. The party leaves; each of them is to be reported as
    /// dropped (K5).
    pub fn drop_held(&mut self) -> Vec<Bytes> {
        core::iter::from_fn(|| self.sends.pop()).map(|(_, message)| message).collect()
    }

    /// Opens one sealed message that `sender` multicast with `service`, including our own. If there
    /// is a signature in it, `verify` judges it.
    ///
    /// # Errors
    /// [`OpenError`]; nothing changes, except as the error says.
    pub fn open(
        &mut self,
        sender: Party,
        service: Service,
        sealed: impl Into<Buffer>,
        verify: Verify<'_>,
    ) -> Result<Opened, OpenError> {
        let sealed = sealed.into();
        let header = Header::decode(&sealed)?;
        let epochs = [self.current.as_mut(), self.previous.as_mut()];
        if let Some(epoch) = epochs.into_iter().flatten().find(|epoch| epoch.tag == header.epoch) {
            let from = (sender, service);
            let sealed = (sealed, &mut self.pool);
            return self.counters.opening(epoch, from, header, sealed, verify).map(Opened::Message);
        }
        if self.closed.contains(&header.epoch) {
            return Err(OpenError::WireClosedEpoch);
        }
        // What may be lost leaves room for what may not.
        let most = self.config.held_bytes_max / if service == Service::Unreliable { 2 } else { 1 };
        if self.received.push_within(most, (sender, service), sealed.freeze()) {
            Ok(Opened::Held)
        } else {
            Err(OpenError::WireHeldFull)
        }
    }

    /// The next message that was held for the epoch that is open now, with its sender and its
    /// service.
    pub fn poll_received(
        &mut self,
        verify: Verify<'_>,
    ) -> Option<((Party, Service), Result<Message, OpenError>)> {
        let epoch = self.current.as_mut()?;
        let (sender, sealed) = self.received.pop()?;
        let header = match Header::decode(&sealed) {
            Ok(header) if header.epoch == epoch.tag => header,
            Ok(_) => {
                // The message is of yet another epoch: it came after this one opened. Keep it, and
                // end this round.
                self.received.push(sender, sealed);
                return None;
            }
            Err(error) => return Some((sender, Err(error))),
        };
        Some((sender, self.counters.opening(epoch, sender, header, (sealed.into(), &mut self.pool), verify)))
    }

    /// Stops sealing at once (K3), because a notice removed a party. Opening goes on. Lasts until
    /// the next [`Self::open_epoch`].
    pub fn stop(&mut self) {
        self.stopped = !self.config.danger.is(Danger::SessionSealsAfterRemoval);
    }

    /// Forgets the previous epoch and erases its keys: its last message has been delivered.
    pub fn close_previous(&mut self) {
        if let Some(epoch) = self.previous.take() {
            if self.closed.len() >= CLOSED_MAX {
                self.closed.pop_front();
            }
            self.closed.push_back(epoch.tag);
        }
    }

    /// Forgets all keys, and the messages that wait to be opened: the party has left.
    pub fn close(&mut self) {
        self.close_previous();
        self.previous = self.current.take();
        self.close_previous();
        self.received.retain(|_| false);
    }

    /// What it did so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Whether this session may seal now.
    pub fn can_seal(&self) -> bool {
        let spent = |epoch: &Epoch| epoch.sealed >= self.config.seals_per_epoch_max;
        !self.stopped && self.current.as_ref().is_some_and(|epoch| !spent(epoch))
    }

    /// `true` once for each epoch of which three quarters are used up: ask keying for a refresh.
    pub fn poll_refresh(&mut self) -> bool {
        let most = self.config.seals_per_epoch_max;
        let due = self.current.as_ref().is_some_and(|epoch| epoch.sealed >= most.saturating_sub(most / 4));
        let first = due && !self.refresh_asked;
        self.refresh_asked |= due;
        first
    }
}

fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn excess(length: usize) -> Option<usize> {
    length.checked_sub(MESSAGE_BYTES_MAX).filter(|excess| *excess > 0)
}
