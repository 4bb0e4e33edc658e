//! The keys of one domain: the present one, and for a while the one before.
//!
//! ```text
//!            install                 switch             overlap
//!   old  ----- seals ------------------|--- opens only ----|  erased
//!   new          |--- opens only ------|--- seals ------------------
//! ```
//! After an exclusion nothing of the old one remains: it is erased when the new one is there.

use super::error::InstallError;
use super::{Danger, DomainKey, Times};
use folkmoot_base::{Digest, Instant};
use std::collections::VecDeque;

/// How many keys that were replaced are known by name, so that none of them comes again.
const KNOWN_MAX: usize = 64;

/// Why there is a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Somebody came, or the old key was used up. If somebody who had the old one lacks the new one
    /// all the same, it counts as [`Self::Excluded`].
    Joined,
    /// Somebody left, ran out of time or was excluded, and is not to be heard.
    Excluded,
}

/// A key with what is known under it.
#[derive(Debug)]
pub(crate) struct Held<S> {
    pub(crate) key: DomainKey,
    pub(crate) state: S,
    /// From when on it seals.
    seals: Instant,
    /// When it is erased.
    ends: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Epochs<S> {
    present: Option<Held<S>>,
    before: Option<Held<S>>,
    known: VecDeque<Digest>,
}

impl<S> Default for Epochs<S> {
    fn default() -> Self {
        Self { present: None, before: None, known: VecDeque::new() }
    }
}

impl<S> Epochs<S> {
    /// Takes a new key (PUB-21).
    pub(crate) fn install(
        &mut self,
        now: Instant,
        key: DomainKey,
        state: S,
        cause: Cause,
        times: &Times,
    ) -> Result<(), InstallError> {
        if self.known.contains(key.print()) {
            return Err(InstallError::LocalRepeated(*key.domain()));
        }
        if self.known.len() >= KNOWN_MAX {
            self.known.pop_front();
        }
        self.known.push_back(*key.print());
        let stays = |old: &Held<S>| old.key.members().iter().all(|one| key.member(one.sender) == Some(one));
        let keeps =
            |old: &Held<S>| (cause == Cause::Joined && stays(old)) || times.danger.is(Danger::KeepsOldKeys);
        let old = self.present.take().filter(keeps);
        let seals = if old.is_some() { now + times.switch } else { now };
        self.before = old.map(|old| Held { ends: Some(seals + times.overlap), ..old });
        self.present = Some(Held { key, state, seals, ends: None });
        Ok(())
    }

    /// Erases what has had its time.
    pub(crate) fn expire(&mut self, now: Instant, times: &Times) {
        let ended = self.before.as_ref().and_then(|held| held.ends).is_some_and(|ends| ends <= now);
        if ended && !times.danger.is(Danger::KeepsOldKeys) {
            self.before = None;
        }
    }

    /// When something is to be erased.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.before.as_ref().and_then(|held| held.ends)
    }

    /// The key that seals now: the one before for a while, if it still can.
    pub(crate) fn sealing(&self, now: Instant, can: impl Fn(&Held<S>) -> bool) -> Option<&Held<S>> {
        let present = self.present.as_ref()?;
        let before = self.before.as_ref().filter(|before| present.seals > now && can(before));
        Some(before.unwrap_or(present))
    }

    /// Those which have this tag, the present one first; all of them if there is none.
    pub(crate) fn tagged(&self, tag: Option<u8>) -> impl Iterator<Item = &Held<S>> + Clone {
        let all = self.present.iter().chain(&self.before);
        all.filter(move |held| tag.is_none_or(|tag| held.key.tag() == tag))
    }

    /// The same, to be changed.
    pub(crate) fn tagged_mut(&mut self, tag: Option<u8>) -> impl Iterator<Item = &mut Held<S>> {
        let all = self.present.iter_mut().chain(&mut self.before);
        all.filter(move |held| tag.is_none_or(|tag| held.key.tag() == tag))
    }

    /// The present key.
    pub(crate) fn present(&self) -> Option<&Held<S>> {
        self.present.as_ref()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{Domain, Material, Member, Mode, SenderId, Suite};
    use super::*;

    fn of(seed: u8, numbers: &[u16]) -> DomainKey {
        let domain: Domain = "239.255.76.67:7667".parse().unwrap();
        let material = Material::derive(Suite::Aes128, &domain, &[seed]);
        let members = numbers.iter().map(|number| Member::from(SenderId::new(*number).unwrap()));
        DomainKey::new(Mode::Own, domain, &material, members).unwrap()
    }

    fn key(seed: u8) -> DomainKey {
        of(seed, &[1])
    }

    #[test]
    fn pub_21_who_lacks_the_new_key_is_excluded_whatever_the_caller_says() {
        for (before, after, kept) in [(&[1, 2], &[1, 2, 3][..], 2), (&[1, 2], &[1, 3, 4], 1)] {
            let (times, mut epochs) = (Times::default(), Epochs::default());
            epochs.install(Instant(0), of(0, before), (), Cause::Joined, &times).unwrap();
            epochs.install(Instant(0), of(1, after), (), Cause::Joined, &times).unwrap();
            assert_eq!(epochs.tagged(None).count(), kept);
        }
    }

    #[test]
    fn pub_21_a_key_whose_time_is_over_is_held_by_nobody() {
        let (times, mut epochs) = (Times::default(), Epochs::default());
        let keys = [key(0), key(1), key(2), key(3)];
        let held = || keys.iter().map(|key| key.holds() - 1).collect::<Vec<_>>();
        let take = |epochs: &mut Epochs<()>, now, place: usize, cause| {
            epochs.install(now, keys.get(place).unwrap().clone(), (), cause, &times).unwrap();
        };
        take(&mut epochs, Instant(0), 0, Cause::Joined);
        take(&mut epochs, Instant(0), 1, Cause::Joined);
        assert_eq!(held(), [1, 1, 0, 0]);
        let ends = Instant(0) + times.switch + times.overlap;
        epochs.expire(Instant(ends.0 - 1), &times);
        assert_eq!((held(), epochs.deadline()), (vec![1, 1, 0, 0], Some(ends)));
        epochs.expire(ends, &times);
        assert_eq!((held(), epochs.deadline()), (vec![0, 1, 0, 0], None));
        // The one before the last gives way at once, and after an exclusion both do.
        take(&mut epochs, ends, 2, Cause::Joined);
        take(&mut epochs, ends, 3, Cause::Joined);
        assert_eq!(held(), [0, 0, 1, 1]);
        let mut epochs = Epochs::default();
        take(&mut epochs, ends, 0, Cause::Joined);
        take(&mut epochs, ends, 1, Cause::Joined);
        take(&mut epochs, ends, 2, Cause::Excluded);
        assert_eq!(epochs.tagged(None).count(), 1);
    }
}
