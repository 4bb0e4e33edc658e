//! The keys of all channels of a multicast group: of single ones, and of those that a pattern
//! names.
//!
//! A channel may be in several domains: its own, and patterns that name it. It is sealed and opened
//! under the first of them alone: the channel's own, then the longest pattern. So what is said
//! there is for those of that domain, also while there is no key yet, and nobody who has but a
//! pattern speaks on it without the signatures that it has.

use super::epochs::Epochs;
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
    /// Which of the families is the first that names a channel.
    known: BTreeMap<Channel, Option<usize>>,
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

    /// There will be keys of this domain.
    pub(crate) fn expect(&mut self, domain: &Domain) -> Result<(), InstallError> {
        if domain.is_of_names() { Ok(()) } else { self.of_domain(domain).map(drop) }
    }

    /// Whether there are keys for this channel.
    pub(crate) fn has(&self, channel: &Channel) -> bool {
        let named = || self.families.iter().any(|one| one.pattern.covers(channel));
        self.single.contains_key(channel) || self.known.get(channel).map_or_else(named, Option::is_some)
    }

    /// The keys of the first domain that this channel is in, and of no other one, also while that
    /// has none.
    pub(crate) fn of_mut(&mut self, channel: &Channel) -> Option<&mut Epochs<S>> {
        self.note(channel);
        let Self { single, families, known } = self;
        if let Some(epochs) = single.get_mut(channel) {
            return Some(epochs);
        }
        let family = known.get(channel).copied().flatten().and_then(|place| families.get_mut(place));
        family.map(|family| &mut family.epochs)
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
        let first = self.families.iter().position(|family| family.pattern.covers(channel));
        self.known.insert(*channel, first);
    }
}
