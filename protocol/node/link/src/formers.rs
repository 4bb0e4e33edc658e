//! Two processes with one identity, as when a copied folder runs twice: the one that started later
//! keeps its links, and the earlier one is told so with proof (LINK-25, LINK-26).
//!
//! ```text
//! earlier process            peer                          later process
//!         link up <--------->
//!                             <--- handshake, Proof(started: higher) ---
//!    Superseded(start) <-----                        link up
//! ```
//! What a handshake signs says when the process started. The peer keeps it as long as that link is
//! up, and shows it to the earlier process, which knows its own key's signature.

use crate::association::Association;
use crate::call::Around;
use crate::limits::{FORMER_LIFE, REPEAT_MIN};
use crate::message::{Control, Lane, begin_data, put_frame};
use crate::out::Out;
use crate::routes::{Route, Routes};
use crate::start::SignedStart;
use crate::{LinkError, Output};
use bytes::BytesMut;
use folkmoot_base::limits::DATAGRAM_BYTES_MAX;
use folkmoot_base::{Danger, Instant, Locator, NodeId};
use std::collections::BTreeMap;

/// A process that was superseded: it is told again while it still sends.
#[derive(Debug)]
struct Former {
    at: Locator,
    association: Association,
    told: Option<Instant>,
    /// Our side was told that it runs.
    named: bool,
    until: Instant,
}

/// The processes that were superseded lately. Whatever shows one of them the later one's start is
/// handed that start, `later`; there is none if the later one's link is down.
#[derive(Debug, Default)]
pub(crate) struct Formers(BTreeMap<NodeId, Former>);

impl Formers {
    /// Tells a process that a later one has its link now.
    pub(crate) fn supersede(
        &mut self,
        now: Instant,
        node: NodeId,
        (at, association): (Locator, Association),
        later: Option<&SignedStart>,
        around: &mut Around<'_>,
    ) {
        if around.own.is(Danger::LinkAnyProcess) {
            return;
        }
        let (index, until) = (association.index(), now + FORMER_LIFE);
        let former = Former { at, association, told: None, named: false, until };
        if let Some(before) = self.0.insert(node, former) {
            around.routes.remove(before.association.index());
        }
        around.routes.set(index, Route::Former(node));
        around.out.note(until);
        self.show(now, node, later, around.out);
    }

    /// Shows the former process the later one's start.
    pub(crate) fn show(&mut self, now: Instant, node: NodeId, later: Option<&SignedStart>, out: &mut Out) {
        let Some(later) = later else { return };
        let Some(former) = self.0.get_mut(&node) else { return };
        if former.told.is_some_and(|told| now.since(told) < REPEAT_MIN) {
            return;
        }
        former.told = Some(now);
        let message = Control::Superseded(later.clone()).encode();
        let mut packet = out.buffer(DATAGRAM_BYTES_MAX);
        begin_data(&mut packet);
        put_frame(&mut packet, Lane::Control, &[&message], message.len());
        let version = former.association.common().version;
        if former.association.seal(version, &mut packet).is_ok() {
            out.count_sealed();
            out.say(Output::Transmit { to: former.at.clone(), datagram: packet.freeze() });
        }
    }

    /// The former process still sends: it runs at the same time as the later one.
    pub(crate) fn hear(
        &mut self,
        now: Instant,
        (from, node): (&Locator, NodeId),
        datagram: BytesMut,
        later: Option<&SignedStart>,
        out: &mut Out,
    ) -> LinkError {
        let Some(former) = self.0.get_mut(&node) else { return LinkError::WireUnknown(from.clone()) };
        if let Err(error) = former.association.open(now, from, datagram) {
            return error;
        }
        self.show(now, node, later, out);
        self.name(node, from, out);
        LinkError::PeerEarlier(node)
    }

    /// Says, once, that a node runs twice.
    pub(crate) fn name(&mut self, node: NodeId, at: &Locator, out: &mut Out) {
        let Some(former) = self.0.get_mut(&node) else { return };
        if core::mem::replace(&mut former.named, true) {
            return;
        }
        out.trace(format!("{node} runs twice: the process at {at} started earlier, and is told to stop"));
        out.say(Output::Twice { node, at: at.clone() });
    }

    /// Forgets the processes that were told for long enough.
    pub(crate) fn expire(&mut self, now: Instant, routes: &mut Routes) {
        let over = self.0.extract_if(.., |_, former| former.until <= now);
        over.for_each(|(_, former)| routes.remove(former.association.index()));
    }

    /// When to call [`Self::expire`].
    pub(crate) fn due(&self) -> Option<Instant> {
        self.0.values().map(|former| former.until).min()
    }
}
