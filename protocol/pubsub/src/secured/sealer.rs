//! Messages in, sealed datagrams out.

use super::batch::{ATTESTATION, BATCH_MAX, Entry, MESSAGE, attestation, entry};
use super::epochs::{Epochs, Held};
use super::key::{Lax, TAG_BYTES};
use super::keys::Keys;
use super::signature::sign;
use super::{
    Cause, Danger, Domain, DomainKey, Header, InstallError, Mode, SealError, SenderId, Signing, Times,
};
use crate::{Channel, MESSAGE_BYTES_MAX, Packets, Sizes, TooLong};
use folkmoot_base::Instant;
use folkmoot_signing::plain::SigningKey;
use std::collections::BTreeMap;

/// Seals what one sender says in one multicast group.
#[derive(Debug)]
pub struct Sealer {
    mode: Mode,
    /// The multicast group.
    domain: Domain,
    me: SenderId,
    sizes: Sizes,
    times: Times,
    signs: Option<SigningKey>,
    /// The number of the next message. The wire has its lower half.
    next: u64,
    /// With the first number under each key.
    group: Epochs<u64>,
    channels: Keys<u64>,
    /// Where batches are signed.
    unattested: BTreeMap<Channel, Vec<Entry>>,
    /// When the next key ends.
    ends: Option<Instant>,
    /// What was sealed last; it only grows.
    room: Vec<u8>,
}

impl Sealer {
    /// One that says everything as `me` in the multicast group of `domain`.
    pub fn new(mode: Mode, domain: Domain, me: SenderId, sizes: Sizes, times: Times) -> Self {
        Self {
            mode,
            domain: domain.of_group(),
            me,
            sizes,
            times,
            signs: None,
            next: 0,
            group: Epochs::default(),
            channels: Keys::default(),
            unattested: BTreeMap::new(),
            ends: None,
            room: Vec::new(),
        }
    }

    /// The same, which signs where a channel asks for it.
    #[must_use]
    pub fn with_signatures(self, key: SigningKey) -> Self {
        Self { signs: Some(key), ..self }
    }

    /// Takes a new key. It must come from an agreement to which this process gave randomness of its
    /// own, or whose secret it made with the key before: so that no other process, and no earlier
    /// run of this one, has used numbers under it.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn install(&mut self, now: Instant, key: DomainKey, cause: Cause) -> Result<(), InstallError> {
        let domain = *key.domain();
        check(&key, self.mode, &self.domain)?;
        if key.member(self.me).is_none() {
            return Err(InstallError::LocalNotMember(domain, self.me));
        }
        let epochs = if domain.is_of_names() { &mut self.group } else { self.channels.of_domain(&domain)? };
        epochs.install(now, key, self.next, cause, &self.times)?;
        self.ends = next_end(&self.group, &self.channels);
        Ok(())
    }

    /// There will be a key for this domain. What is said on its channels waits for that, and is not
    /// sealed for a pattern that names them, too.
    ///
    /// # Errors
    /// [`InstallError`].
    pub fn expect(&mut self, domain: &Domain) -> Result<(), InstallError> {
        self.channels.expect(domain)
    }

    /// Erases the keys of a domain: nothing is sealed for it any more.
    pub fn forget(&mut self, domain: &Domain) {
        self.channels.forget(domain);
        if let Some(channel) = domain.channel() {
            self.unattested.remove(channel);
        }
    }

    /// Erases what has had its time (PUB-21). [`Self::seal`] does that, too.
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

    /// Seals a message and cuts it into datagrams. Whatever becomes of them, its number is used.
    ///
    /// # Errors
    /// [`SealError`].
    pub fn seal(&mut self, now: Instant, channel: Channel, content: &[u8]) -> Result<Packets<'_>, SealError> {
        self.put(now, channel, content, MESSAGE)
    }

    /// Attests the messages on a channel that wait for that, where batches are signed; `None` if
    /// none do. Call it before [`BATCH_MAX`] wait, and when nothing was said for a while.
    ///
    /// # Errors
    /// [`SealError`]; they go on waiting.
    pub fn attest(&mut self, now: Instant, channel: Channel) -> Result<Option<Packets<'_>>, SealError> {
        let domain = self.domain.with_channel(channel);
        let Some(waiting) = self.unattested.get(&channel) else { return Ok(None) };
        let key = self.signs.as_ref().ok_or(SealError::LocalNoSignature(domain))?;
        let said = attestation(key, &domain, self.me, waiting);
        self.put(now, channel, &said, ATTESTATION).map(Some)
    }

    /// How many messages on a channel wait to be attested.
    pub fn unattested(&self, channel: &Channel) -> usize {
        self.unattested.get(channel).map_or(0, Vec::len)
    }

    /// `kind` counts where batches are signed.
    fn put(
        &mut self,
        now: Instant,
        channel: Channel,
        content: &[u8],
        kind: u8,
    ) -> Result<Packets<'_>, SealError> {
        self.expire(now);
        let domain = self.domain.with_channel(channel);
        let none = SealError::LocalNoKey(domain);
        let wraps = self.times.danger.is(Danger::NumbersWrap);
        let can = |held: &Held<u64>| wraps || used(held, self.next) < self.times.most();
        let over = self.channels.of_mut(&channel).and_then(|epochs| epochs.sealing(now, can)).ok_or(none)?;
        let group = self.group.sealing(now, can).ok_or(SealError::LocalNoKey(self.domain))?;
        if let Some(spent) = [over, group].into_iter().find(|held| !can(held)) {
            return Err(SealError::LocalSpent(*spent.key.domain()));
        }
        let signing = over.key.signing();
        let misplaced = kind == ATTESTATION && signing != Signing::Batches;
        if misplaced || (signing != Signing::Nobody && self.signs.is_none()) {
            return Err(SealError::LocalNoSignature(domain));
        }
        let waits = signing == Signing::Batches && kind == MESSAGE;
        if waits && self.unattested.get(&channel).is_some_and(|waiting| waiting.len() >= BATCH_MAX) {
            return Err(SealError::LocalUnattested(domain));
        }
        let length = content.len().saturating_add(signing.bytes()).saturating_add(TAG_BYTES);
        if length > MESSAGE_BYTES_MAX {
            return Err(TooLong(content.len()).into());
        }
        let sequence = number(if wraps { self.next % self.times.most().max(1) } else { self.next });
        // Used up before it is used: whatever happens next, it never comes again.
        self.next = self.next.saturating_add(1);
        if self.room.len() < length {
            self.room.resize(length, 0);
        }
        let sealed = self.room.get_mut(..length).ok_or(SealError::LocalCipher)?;
        let signs = self.signs.as_ref().filter(|_| signing == Signing::Each);
        let signature = signs.map(|key| sign(key, &over.key, (self.me, sequence, &channel), content));
        let more = match (&signature, signing) {
            (Some(signature), _) => &signature[..],
            (None, Signing::Batches) => &[kind],
            (None, _) => &[],
        };
        let lax = Lax { any_channel: self.times.danger.is(Danger::AnyChannel), ..Lax::default() };
        over.key
            .seal((self.me, sequence, &channel), (content, more), sealed, lax)
            .ok_or(SealError::LocalCipher)?;
        let mut name = channel.with_nul();
        let hidden = name.0.get_mut(..name.1).ok_or(SealError::LocalCipher)?;
        group.key.hide(self.me, sequence, hidden).ok_or(SealError::LocalCipher)?;
        let extra = Header::extra(self.me, [group.key.tag(), over.key.tag()]);
        if waits {
            self.unattested.entry(channel).or_default().push(entry(&over.key, sequence, content));
        } else if kind == ATTESTATION {
            self.unattested.remove(&channel);
        }
        Ok(Packets::secured(extra, &name, sealed, sequence, self.sizes)?)
    }

    /// The domains whose keys have used three quarters of their numbers (PUB-22): time for an
    /// agreement.
    pub fn worn(&self) -> Vec<Domain> {
        let most = self.times.most() / 4 * 3;
        let all = self.channels.all().chain([&self.group]).filter_map(Epochs::present);
        all.filter(|held| used(held, self.next) >= most).map(|held| *held.key.domain()).collect()
    }

    /// As which sender.
    pub fn sender(&self) -> SenderId {
        self.me
    }
}

impl Signing {
    /// By how much it makes a content longer.
    const fn bytes(self) -> usize {
        match self {
            Self::Nobody => 0,
            Self::Each => super::SIGNATURE_BYTES,
            Self::Batches => 1,
        }
    }
}

/// How many numbers are used under a key, at most.
fn used(held: &Held<u64>, next: u64) -> u64 {
    next.saturating_sub(held.state)
}

/// The number as the wire has it.
fn number(next: u64) -> u32 {
    let [_, _, _, _, low @ ..] = next.to_be_bytes();
    u32::from_be_bytes(low)
}

/// When the next of these keys ends.
pub(crate) fn next_end<G, C>(group: &Epochs<G>, channels: &Keys<C>) -> Option<Instant> {
    channels.all().filter_map(Epochs::deadline).chain(group.deadline()).min()
}

/// Whether the key is for this mode and multicast group.
pub(crate) fn check(key: &DomainKey, mode: Mode, group: &Domain) -> Result<(), InstallError> {
    let domain = *key.domain();
    if key.mode() != mode {
        return Err(InstallError::LocalMode(domain));
    }
    if domain.of_group() != *group {
        return Err(InstallError::LocalGroup(domain));
    }
    Ok(())
}
