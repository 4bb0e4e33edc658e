//! The way down: what the application sends is sealed, tagged with the view, and handed to the
//! node.

use crate::SendError;
use crate::api::{Command, Event};
use crate::group_stack::{GroupStack, Manner};
use crate::order::Accepted;
use crate::{Member, message};
use base::limits::{MESSAGE_BYTES_MAX, UNRELIABLE_BYTES_MAX};
use base::{Entropy, GroupId, Instant, Refused, Service};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_attach::credit::{CreditError, Grant, Purse};
use folkmoot_base as base;
use folkmoot_flush::{DATA_HEADER_BYTES, EARLY_HEADER_BYTES};
use folkmoot_identity::Minority;
use folkmoot_session::{Bundle, Content, LENGTH_BYTES, SealError};

/// The most bytes of texts, with their lengths, that are sealed together: the packet is full then,
/// and no longer.
const BUNDLE_BYTES_MAX: usize = 1_350;

impl Member {
    /// Messages are answered for by [`Event::SendFailed`]: one order may have sent many.
    pub(crate) fn obey(
        &mut self,
        now: Instant,
        command: Command,
        entropy: &mut dyn Entropy,
    ) -> Result<Accepted, Refused> {
        match command {
            Command::Join { group } => self.join(now, group, entropy),
            Command::Leave { group } => self.leave(group),
            Command::Send { group, service, payload, signed } => {
                self.send(now, group, Manner { service, signed, content: Content::Text }, payload, entropy);
            }
            Command::SendMany { group, service, payloads } => {
                self.send_many(now, group, service, &payloads, entropy);
            }
            Command::Refresh { group } => self.refresh(now, group, entropy),
            Command::Write { group, text } => return self.write_letter(now, group, text, entropy),
            Command::Answer { letter, text } => return self.answer_letter(now, letter, text, entropy),
            Command::Dial(at) => self.tell_node(ToNode::Dial(at)),
            Command::Logged(record) => self.ask_door(now, folkmoot_admission::Input::Logged(record), entropy),
            other => return self.order(now, other, entropy),
        }
        Ok(Accepted::default())
    }

    fn send(
        &mut self,
        now: Instant,
        group: GroupId,
        manner: Manner,
        payload: Bytes,
        entropy: &mut dyn Entropy,
    ) {
        if let Err(error) = self.try_send(group, manner, payload) {
            self.event(Event::SendFailed { error });
        }
        self.settle(now, group, entropy);
    }

    /// Sends texts in this order, as many in one seal as fit a packet. After the first that is
    /// refused none is sent: an event says so for each of those that are not.
    fn send_many(
        &mut self,
        now: Instant,
        group: GroupId,
        service: Service,
        texts: &[Bytes],
        entropy: &mut dyn Entropy,
    ) {
        let manner = Manner { service, signed: false, content: Content::Text };
        let begun = self.has_credit(group);
        let mut rest = texts;
        while !rest.is_empty() {
            let credit = begun && self.purses.get(&group).is_some_and(Purse::may_go_on);
            let (bundle, after) = rest.split_at(together(rest, service));
            rest = after;
            if self.try_bundle(group, manner, bundle, credit) {
                continue;
            }
            // One by one they are sent, held, or refused with the reason.
            for (place, text) in bundle.iter().enumerate() {
                if let Err(error) = self.try_text(group, manner, text.clone(), credit) {
                    let left = bundle.len().saturating_sub(place).saturating_add(after.len());
                    (0..left).for_each(|_| self.event(Event::SendFailed { error: error.clone() }));
                    rest = &[];
                    break;
                }
            }
        }
        self.settle(now, group, entropy);
    }

    /// Seals two texts or more together and sends them, if that can be done now.
    fn try_bundle(&mut self, group: GroupId, manner: Manner, texts: &[Bytes], credit: bool) -> bool {
        let may = credit && texts.len() > 1;
        let Some(stack) = self.stacks.get_mut(&group).filter(|_| may) else { return false };
        if stack.minority != Minority::Continue || !stack.can_send() {
            return false;
        }
        let mut bundle = Bundle::with_room(BUNDLE_BYTES_MAX, &mut self.pool);
        texts.iter().for_each(|text| bundle.push(text));
        let sealed = stack.seal_body(manner.service, bundle.body());
        sealed.map(|(service, sealed)| self.multicast(group, service, sealed)).is_ok()
    }

    pub(crate) fn try_send(
        &mut self,
        group: GroupId,
        manner: Manner,
        payload: Bytes,
    ) -> Result<(), SendError> {
        self.try_text(group, manner, payload, self.has_credit(group))
    }

    fn try_text(
        &mut self,
        group: GroupId,
        manner: Manner,
        payload: Bytes,
        credit: bool,
    ) -> Result<(), SendError> {
        if payload.len() > MESSAGE_BYTES_MAX {
            return Err(SendError::LocalTooLong(payload.len()));
        }
        let unreliable = manner.service == Service::Unreliable;
        if unreliable && payload.len() > UNRELIABLE_BYTES_MAX {
            return Err(SendError::LocalTooLongUnreliable(payload.len()));
        }
        let stack = self.stacks.get_mut(&group).ok_or(SendError::LocalNotJoined)?;
        if stack.minority != Minority::Continue {
            return Err(SendError::LocalMinority);
        }
        // ORD-16: what is unreliable waits for no other message.
        let now = if unreliable { stack.may_seal() } else { credit && stack.can_send() };
        if !now {
            return hold(stack, manner, payload);
        }
        match stack.seal(manner, payload.clone(), self.config.identity.key()) {
            Ok((service, sealed)) => self.multicast(group, service, sealed),
            Err(SealError::LocalTooLong { .. }) => return Err(SendError::LocalTooLong(payload.len())),
            Err(_) => return hold(stack, manner, payload),
        }
        Ok(())
    }

    /// Sends held messages, as far as key, flush and credit allow. Returns whether any went
    /// out.
    pub(crate) fn release_held(&mut self, group: GroupId) -> bool {
        let mut any = false;
        while self.has_credit(group) {
            let Some(stack) = self.stacks.get_mut(&group) else { break };
            if !stack.may_seal() || stack.minority != Minority::Continue {
                break;
            }
            let Some(plaintext) = stack.session.take_held() else { break };
            any = true;
            let manner = stack.held.pop_front().unwrap_or(Manner {
                service: Service::Agreed,
                signed: false,
                content: Content::Text,
            });
            match stack.seal(manner, plaintext, self.config.identity.key()) {
                Ok((service, sealed)) => self.multicast(group, service, sealed),
                Err(error) => self.trace("session", format!("a held message was not sealed: {error}")),
            }
        }
        any
    }

    pub(crate) fn release_all(&mut self) {
        let mut next = self.group_after(None);
        while let Some(group) = next {
            self.release_held(group);
            next = self.group_after(Some(group));
        }
    }

    /// Asks for a new key for the same view, agreed while the present one is in use.
    fn refresh(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        self.ask_keying(now, group, folkmoot_keying::Input::Refresh, entropy);
        self.settle(now, group, entropy);
    }

    /// ATT-10: whether a text may go to this group.
    pub(crate) fn has_credit(&self, group: GroupId) -> bool {
        self.purses.get(&group).is_some_and(Purse::may_send)
    }

    /// To the parties of a group, at the cost of its credit; texts go only if there is some. What
    /// the stack itself says, and what is unreliable, may use the reserve. Before the first notice
    /// nothing costs anything: the node knows us in no account yet.
    pub(crate) fn multicast(&mut self, group: GroupId, service: Service, payload: Bytes) {
        if let Some(purse) = self.purses.get_mut(&group)
            && let Err(error) = purse.spend(payload.len())
        {
            return self.refuse("attach", &error);
        }
        self.tell_node(ToNode::Send { party: self.party(), group, service, payload });
    }

    /// The node takes more for this group.
    pub(crate) fn credited(&mut self, now: Instant, group: GroupId, grant: Grant, entropy: &mut dyn Entropy) {
        let had = self.has_credit(group);
        let purse = self.purses.get_mut(&group).ok_or(CreditError::PeerNoAccount);
        if let Err(error) = purse.and_then(|purse| purse.add(grant)) {
            return self.refuse("attach", &error);
        }
        if !had && self.release_held(group) {
            self.settle(now, group, entropy);
        }
    }

    /// An admission message to all members: outside views, signed inside.
    pub(crate) fn multicast_open(&mut self, bytes: &[u8]) {
        self.multicast(self.home, Service::Agreed, message::open(bytes));
    }
}

fn hold(stack: &mut GroupStack, manner: Manner, payload: Bytes) -> Result<(), SendError> {
    stack.session.hold(payload).map_err(|_| SendError::LocalHeldFull)?;
    stack.held.push_back(manner);
    Ok(())
}

/// How many of `texts` are sealed together: those that fit one packet with all seals. At least one.
fn together(texts: &[Bytes], service: Service) -> usize {
    let mut bytes = if service < Service::Agreed { EARLY_HEADER_BYTES - DATA_HEADER_BYTES } else { 0 };
    let fits = texts.iter().take_while(|text| {
        bytes = bytes.saturating_add(text.len()).saturating_add(LENGTH_BYTES);
        bytes <= BUNDLE_BYTES_MAX
    });
    fits.count().max(1)
}
