//! The keys of one link: two associations at most, and when to dial for new ones.

use crate::association::Association;
use crate::limits::DIAL_LIFE;
use core::time::Duration;
use folkmoot_base::Instant;

/// The association to send under, and at most one more that still opens datagrams.
#[derive(Debug)]
pub(super) struct Keys {
    current: Association,
    other: Option<Association>,
    /// When to dial for new keys.
    renewal: Option<Instant>,
}

impl Keys {
    pub(super) fn new(association: Association) -> Self {
        Self { current: association, other: None, renewal: None }
    }

    /// The association to send under.
    pub(super) fn current(&mut self) -> &mut Association {
        &mut self.current
    }

    pub(super) fn into_current(self) -> Association {
        self.current
    }

    /// The association with our index `index`.
    pub(super) fn get(&mut self, index: u32) -> Option<&mut Association> {
        if self.current.index() == index {
            return Some(&mut self.current);
        }
        self.other.as_mut().filter(|association| association.index() == index)
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = u32> + use<> {
        [Some(self.current.index()), self.other.as_ref().map(Association::index)].into_iter().flatten()
    }

    /// Sends under `association` from now on. Returns the index of the association that was dropped
    /// to make room, if there was one.
    pub(super) fn renew(&mut self, association: Association) -> Option<u32> {
        let dropped = self.other.take().map(|association| association.index());
        self.other = Some(core::mem::replace(&mut self.current, association));
        self.renewal = None;
        dropped
    }

    /// Both sides dialled at once: once the peer is heard on the association that the lower node
    /// dialled, send there (LINK-07).
    pub(super) fn settle(&mut self, heard_on: u32) {
        let low = self.other.as_ref().is_some_and(|other| other.index() == heard_on && other.is_low());
        if low && !self.current.is_low() {
            self.swap();
        }
    }

    /// Drops the association that was silent for `silence` when the peer was last heard on the
    /// other, and returns its index (LINK-08). The one to send under is not silent until it was
    /// asked something: the peer may have had nothing to say.
    pub(super) fn retire(&mut self, silence: Duration) -> Option<u32> {
        let other = self.other.as_ref()?;
        let gave_up = |asked: Instant| other.heard() >= asked + silence;
        if self.current.asked().is_some_and(gave_up) {
            self.swap();
        } else if self.current.heard() < other.heard() + silence {
            return None;
        }
        self.other.take().map(|association| association.index())
    }

    fn swap(&mut self) {
        if let Some(other) = &mut self.other {
            core::mem::swap(&mut self.current, other);
        }
    }

    /// The keys are used up: new ones are dialled for at `at`, unless that is arranged already.
    /// Returns whether it was not.
    pub(super) fn renew_at(&mut self, at: Instant) -> bool {
        let first = self.renewal.is_none();
        self.renewal.get_or_insert(at);
        first
    }

    /// When to dial for new keys.
    pub(super) fn renewal(&self) -> Option<Instant> {
        self.renewal
    }

    /// Whether to dial for new keys now. If that dial fails, it is time again.
    pub(super) fn take_renewal(&mut self, now: Instant) -> bool {
        let due = self.renewal.is_some_and(|at| at <= now);
        if due {
            self.renewal = Some(now + DIAL_LIFE);
        }
        due
    }
}
