//! What a call brings to each part of the desk, and where the parts put what they say.

use crate::message::OpenMessage;
use crate::{Config, Event, Output};
use bytes::Bytes;
use folkmoot_base::codec::{self, Wire};
use folkmoot_base::{Instant, MemberId, NodeId, Persist, UnixTime};
use folkmoot_identity::Identity;
use folkmoot_transcript::{LIFE_SECONDS, Transcript};
use std::collections::{BTreeSet, VecDeque};

/// What one call works with: everything outside the parts.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) now: Instant,
    /// The wall clock, once it is known.
    pub(crate) clock: Option<UnixTime>,
    pub(crate) transcript: &'a Transcript,
    pub(crate) identity: &'a Identity,
    /// The members in the group's view now.
    pub(crate) present: &'a BTreeSet<MemberId>,
    pub(crate) config: &'a Config,
}

impl Call<'_> {
    /// This member.
    pub(crate) fn me(&self) -> MemberId {
        self.identity.member()
    }

    /// The time that a decision made now would have: our clock's, and the line's at least.
    pub(crate) fn time(&self) -> UnixTime {
        self.clock.unwrap_or_default().max(self.transcript.state().time())
    }

    /// The longest that an approval may last that is signed now: over the head, whose time may be
    /// long past (LINE-13).
    pub(crate) fn longest(&self) -> UnixTime {
        UnixTime(self.time().0.saturating_add(LIFE_SECONDS))
    }

    /// The wall clock less what clocks may differ by: what ended before this has ended everywhere.
    pub(crate) fn early(&self) -> UnixTime {
        UnixTime(self.clock.unwrap_or_default().0.saturating_sub(self.config.skew_seconds))
    }
}

/// What all parts say, in order.
#[derive(Debug, Default)]
pub(crate) struct Out {
    said: VecDeque<Output>,
    soon: bool,
}

impl Out {
    /// Kept before anything later takes effect.
    pub(crate) fn persist(&mut self, persist: Persist) {
        self.said.push_back(Output::Persist(persist));
    }

    pub(crate) fn multicast(&mut self, message: &OpenMessage) {
        self.said.push_back(Output::Multicast(Bytes::from(codec::encode(message))));
    }

    /// To a guest or a node of the authority.
    pub(crate) fn tell(&mut self, to: NodeId, message: &impl Wire) {
        self.said.push_back(Output::Guest { to, payload: Bytes::from(codec::encode(message)) });
    }

    pub(crate) fn item(&mut self, item: impl Into<Bytes>) {
        self.said.push_back(Output::Item(item.into()));
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.said.push_back(Output::Event(event));
    }

    pub(crate) fn trace(&mut self, text: impl Into<String>) {
        self.said.push_back(Output::Trace(text.into()));
    }

    /// What is unfinished is to be sent again after the shortest pause.
    pub(crate) fn soon(&mut self) {
        self.soon = true;
    }

    pub(crate) fn take_soon(&mut self) -> bool {
        core::mem::take(&mut self.soon)
    }

    pub(crate) fn poll(&mut self) -> Option<Output> {
        self.said.pop_front()
    }
}
