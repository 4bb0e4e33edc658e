//! The keys of all channels of a multicast group: of single ones, and of those that a pattern
//! names.
//!
//! A channel may be in several domains: its own, and patterns that name it. Whoever seals takes the
//! first of them: the channel's own, then the longest pattern. What is said there is for those of
//! that domain, so it is never sealed for the next one, also while there is no key yet. Whoever
//! opens tries all that have the key's tag, because the other side may be in fewer.

use super::epochs::{Epochs, Held};
use super::{Domain, InstallError};
use crate::{Channel, Pattern};
use core::cmp::Reverse;
use std::collections::BTreeMap;

/// Most channels that one program has keys for.
const CHANNELS_MAX: usize = 1_024;
/// Most channels of which it is remembered which patterns name them.
const KNOWN_MAX: usize = 4_096;

/// The keys under one pattern.
#[derive(Debug)]
struct Family<S> {
    domain: Domain,
    pattern: Pattern,
    epochs: Epochs<S>,
}

#[derive(Debug)]
pub(crate) struct Keys<S> {
    single: BTreeMap<Channel, Epochs<S>>,
    /// Longer patterns come first, and those of one length by their bytes.
    families: Vec<Family<S>>,
    /// Which of the families name a channel.
    known: BTreeMap<Channel, Vec<usize>>,
}

impl<S> Default for Keys<S> {
    fn default() -> Self {
        Self { single: BTreeMap::new(), families: Vec::new(), known: BTreeMap::new() }
    }
}

impl<S> Keys<S> {
    /// The keys of a domain that is not the multicast group's own, of which there are not too many.
    pub(crate) fn of_domain(&mut self, domain: &Domain) -> Result<&mut Epochs<S>, InstallError> {
        let crowded = InstallError::LocalCrowded(*domain, CHANNELS_MAX);
        let full = self.single.len().saturating_add(self.families.len()) >= CHANNELS_MAX;
        if let Some(channel) = domain.channel() {
            if full && !self.single.contains_key(channel) {
                return Err(crowded);
            }
            return Ok(self.single.entry(*channel).or_default());
        }
        let is = |family: &Family<S>| family.domain == *domain;
        if !self.families.iter().any(is) {
            let pattern = domain.pattern().filter(|_| !full).ok_or(crowded)?;
            self.families.push(Family { domain: *domain, pattern, epochs: Epochs::default() });
            self.families.sort_by_key(|family| (Reverse(family.domain.to_string().len()), family.domain));
            self.known.clear();
        }
        self.families.iter_mut().find(|family| is(family)).map(|family| &mut family.epochs).ok_or(crowded)
    }

    /// Whether there are keys for this channel.
    pub(crate) fn has(&self, channel: &Channel) -> bool {
        self.single.contains_key(channel) || self.families.iter().any(|one| one.pattern.covers(channel))
    }

    /// All keys for this channel, in the order in which whoever seals takes them.
    pub(crate) fn of_mut(&mut self, channel: &Channel) -> impl Iterator<Item = &mut Epochs<S>> {
        self.note(channel);
        let Self { single, families, known } = self;
        let named = known.get(channel).map(Vec::as_slice).unwrap_or_default();
        let of_families = families.iter_mut().enumerate().filter(|(place, _)| named.contains(place));
        single.get_mut(channel).into_iter().chain(of_families.map(|(_, family)| &mut family.epochs))
    }

    /// The key that seals on this channel: of the first domain that it is in, and of no other one
    /// while that has none.
    pub(crate) fn sealing<'a>(
        &'a mut self,
        channel: &Channel,
        find: impl Fn(&'a Epochs<S>) -> Option<&'a Held<S>>,
    ) -> Option<&'a Held<S>> {
        self.note(channel);
        let named = self.known.get(channel).map(Vec::as_slice).unwrap_or_default();
        let families =
            named.iter().filter_map(|place| self.families.get(*place)).map(|family| &family.epochs);
        self.single.get(channel).into_iter().chain(families).next().and_then(find)
    }

    /// Erases the keys of a domain.
    pub(crate) fn forget(&mut self, domain: &Domain) {
        if let Some(channel) = domain.channel() {
            self.single.remove(channel);
        }
        self.families.retain(|family| family.domain != *domain);
        self.known.clear();
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Epochs<S>> {
        self.single.values().chain(self.families.iter().map(|family| &family.epochs))
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Epochs<S>> {
        self.single.values_mut().chain(self.families.iter_mut().map(|family| &mut family.epochs))
    }

    /// Looks at the patterns once for each channel, not with each message.
    fn note(&mut self, channel: &Channel) {
        if self.families.is_empty() || self.known.contains_key(channel) {
            return;
        }
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        let all = self.families.iter().enumerate();
        let named = all.filter(|(_, family)| family.pattern.covers(channel)).map(|(place, _)| place);
        self.known.insert(*channel, named.collect());
    }
}
