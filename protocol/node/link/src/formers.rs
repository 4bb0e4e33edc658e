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

use crate::limits::{FORMER_LIFE, REPEAT_MIN};
use crate::links::Route;
use crate::message::{Control, Lane, address_data, begin_data, put_frame};
use crate::peers::Association;
use crate::start::{LABEL, SignedStart, Start};
use crate::{Credentials, DownCause, LinkError, Links, OpenError, Output};
use bytes::Bytes;
use folkmoot_base::limits::DATAGRAM_BYTES_MAX;
use folkmoot_base::{Danger, Instant, Locator, NodeId};

/// The association with a process that was superseded: it is told again while it still sends.
#[derive(Debug)]
pub(crate) struct Former {
    at: Locator,
    association: Association,
    told: Option<Instant>,
    /// Our side was told that it runs.
    named: bool,
    pub(crate) until: Instant,
}

impl<C: Credentials> Links<C> {
    /// LINK-25.
    pub(crate) fn is_earlier(&self, new: &Start, known: &Start) -> bool {
        new.rank() < known.rank() && !self.config.danger.is(Danger::LinkAnyProcess)
    }

    /// An earlier process has proved itself while a later one is linked. It is told, unless the
    /// later one has not been heard for so long that it may be gone: then that one is asked first.
    pub(crate) fn refuse_earlier(
        &mut self,
        now: Instant,
        node: NodeId,
        at: &Locator,
        association: Association,
    ) -> LinkError {
        let silence = self.config.silence;
        if self.peers.get(&node).is_some_and(|later| now.since(later.heard) < silence) {
            self.supersede(now, node, at, association);
            self.runs_twice(node, at);
        } else {
            self.control_out(now, node, &Control::Ping(now.0));
        }
        LinkError::PeerEarlier(node)
    }

    /// Tells a process that a later one has its link now.
    pub(crate) fn supersede(&mut self, now: Instant, node: NodeId, at: &Locator, association: Association) {
        if self.config.danger.is(Danger::LinkAnyProcess) {
            return;
        }
        let (index, until) = (association.index, now + FORMER_LIFE);
        self.forget_former(node);
        self.formers.insert(node, Former { at: at.clone(), association, told: None, named: false, until });
        self.routes.insert(index, Route::Former(node));
        self.note(until);
        self.show_start(now, node);
    }

    /// Shows the former process the later one's start.
    pub(crate) fn show_start(&mut self, now: Instant, node: NodeId) {
        let Some(later) = self.peers.get(&node) else { return };
        let Some(former) = self.formers.get_mut(&node) else { return };
        if former.told.is_some_and(|told| now.since(told) < REPEAT_MIN) {
            return;
        }
        former.told = Some(now);
        let message = Control::Superseded(later.start.clone()).encode();
        let mut packet = self.pool.buffer(DATAGRAM_BYTES_MAX);
        begin_data(&mut packet);
        put_frame(&mut packet, Lane::Control, &[&message], message.len());
        address_data(&mut packet, former.association.common.version, former.association.remote);
        if former.association.seal.seal(&mut packet).is_ok() {
            self.counters.sealed = self.counters.sealed.saturating_add(1);
            self.out.push_back(Output::Transmit { to: former.at.clone(), datagram: packet.freeze() });
        }
    }

    /// The former process still sends: it runs at the same time as the later one.
    pub(crate) fn former(
        &mut self,
        now: Instant,
        from: &Locator,
        node: NodeId,
        bytes: &Bytes,
    ) -> Result<(), LinkError> {
        let former = self.formers.get_mut(&node).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let mut plaintext = self.pool.buffer(bytes.len());
        former.association.seal.open(bytes, &mut plaintext).map_err(|error| match error {
            OpenError::Forged => LinkError::WireForged(from.clone()),
            OpenError::Replayed => LinkError::WireReplayed(from.clone()),
        })?;
        self.show_start(now, node);
        self.runs_twice(node, from);
        Err(LinkError::PeerEarlier(node))
    }

    fn runs_twice(&mut self, node: NodeId, at: &Locator) {
        let Some(former) = self.formers.get_mut(&node) else { return };
        if core::mem::replace(&mut former.named, true) {
            return;
        }
        self.trace(format!("{node} runs twice: the process at {at} started earlier, and is told to stop"));
        self.out.push_back(Output::Twice { node, at: at.clone() });
    }

    fn forget_former(&mut self, node: NodeId) {
        if let Some(former) = self.formers.remove(&node) {
            self.routes.remove(&former.association.index);
        }
    }

    pub(crate) fn forget_formers(&mut self, now: Instant) {
        let over = self.formers.extract_if(.., |_, former| former.until <= now);
        for (_, former) in over {
            self.routes.remove(&former.association.index);
        }
    }

    /// LINK-26: believed only with our own key's signature over a later start of another process.
    /// An earlier start is an old story; a forged one ends the link to whoever shows it.
    pub(crate) fn superseded(
        &mut self,
        now: Instant,
        node: NodeId,
        shown: &SignedStart,
    ) -> Result<(), LinkError> {
        let SignedStart { start, signature } = shown;
        let believes_all = self.config.danger.is(Danger::LinkBelievesStarts);
        let own = (self.config.started, self.own.public);
        if start.key == own.1 || (start.rank() < own && !believes_all) {
            return Err(LinkError::PeerFalseStart(node));
        }
        let statement = start.statement(&self.config.group, self.credentials.node());
        let signer = self.credentials.verify(&self.certificate, LABEL, &statement, signature);
        if signer.is_none() && !believes_all {
            self.hang_up(now, node, DownCause::HungUp)?;
            return Err(LinkError::PeerFalseStart(node));
        }
        self.out.push_back(Output::Superseded { started: start.started });
        Ok(())
    }

    /// Says whatever it likes to a peer, as a liar does.
    #[doc(hidden)]
    pub fn danger_say(&mut self, now: Instant, to: NodeId, message: &Control) {
        self.control_out(now, to, message);
    }

    /// The start that a peer has proved.
    #[doc(hidden)]
    pub fn danger_start(&self, of: &NodeId) -> Option<SignedStart> {
        self.peers.get(of).map(|peer| peer.start.clone())
    }
}
