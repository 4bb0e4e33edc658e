//! A change of members: notices go to flush, views to keying, keys to the session, and their
//! messages to the other members.

use crate::api::Event;
use crate::credentials::Who;
use crate::group_stack::{GroupStack, Installed, Parts};
use crate::returns::News;
use crate::{Member, SendError};
use base::{
    Buffer, Cause, Danger, Entropy, GroupId, Instant, Join, Party, Says, Secret, Service, ViewId, draw,
};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_flush::{self as flush, message::For};
use folkmoot_identity::Minority;
use folkmoot_keying as keying;
use folkmoot_session::{Content, Message, Opened};

/// The content of a notice.
pub(crate) struct Notice {
    pub(crate) view: ViewId,
    pub(crate) members: Vec<Party>,
    pub(crate) removed: Vec<Party>,
    pub(crate) cause: Cause,
}

impl Member {
    /// This member wants to be in a group from now on, and asks for it as soon as the node can join
    /// groups.
    pub(crate) fn join(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        self.wanted.insert(group);
        self.take_stack(now, group, entropy);
        self.ask_again(now);
    }

    fn take_stack(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        if self.stacks.contains_key(&group) {
            return;
        }
        let stored = self.instances.get(&group).cloned();
        let parts = Parts {
            me: self.party(),
            group,
            heads: self.transcript.digest(),
            signatures: self.signatures.clone(),
            secret: Secret::new(draw(entropy)),
            stored_instance: stored.as_deref(),
            step_deadline: self.config.step_deadline,
            patience: self.patience,
            danger: self.config.danger,
            seals_per_epoch_max: self.config.seals_per_epoch_max,
        };
        match GroupStack::new(&parts, now) {
            Ok(stack) => {
                self.stacks.insert(group, stack);
            }
            Err(error) => self.trace("keying", error.to_string()),
        }
    }

    /// Asks for every wanted group whose join has not taken effect, at most once a second each.
    pub(crate) fn ask_again(&mut self, now: Instant) {
        if self.configuration.is_none() || !self.is_in() {
            return;
        }
        let due: Vec<GroupId> =
            self.stacks.iter_mut().filter_map(|(group, stack)| stack.asks(now).then_some(*group)).collect();
        let Some(configuration) = self.configuration else { return };
        for group in due {
            self.speak(Says::Join(Join { group, node: self.config.node, configuration }));
        }
    }

    pub(crate) fn leave(&mut self, group: GroupId) {
        self.wanted.remove(&group);
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        stack.flush.leave();
        stack.session.stop();
        // A join that is under way takes effect before the leave that follows it.
        let (joined, asked) = (stack.joined, stack.asked);
        if !joined {
            self.drop_stack(group);
        }
        if joined || asked {
            self.speak(Says::Leave { group });
        }
    }

    /// This member is out of the group: keys are erased, held messages are reported, and if the
    /// group is still wanted, the member asks again.
    pub(crate) fn removed(&mut self, now: Instant, group: GroupId, cause: Cause, entropy: &mut dyn Entropy) {
        let known = self.stacks.contains_key(&group);
        self.drop_stack(group);
        // Our transcript may have told us before our node did: once is enough.
        if known || cause == Cause::Leave {
            self.event(Event::Removed { group, cause });
        }
        // Not for a leave: `leave` has done this already, and a join asked for since then stands.
        let over = match cause {
            Cause::Expelled => true,
            // It comes back by itself, and wants to be in the groups that it was in.
            Cause::Expired | Cause::Late => !self.wants_in,
            _ => false,
        };
        if over {
            self.wanted.remove(&group);
        }
        if self.wanted.contains(&group) {
            self.take_stack(now, group, entropy);
            if let Some(stack) = self.stacks.get_mut(&group) {
                stack.asks(now);
            }
        }
    }

    fn drop_stack(&mut self, group: GroupId) {
        let Some(mut stack) = self.stacks.remove(&group) else { return };
        stack.session.close();
        for _ in stack.session.drop_held() {
            self.event(Event::SendFailed { error: SendError::LocalLeft });
        }
    }

    pub(crate) fn notice(&mut self, now: Instant, group: GroupId, notice: Notice, entropy: &mut dyn Entropy) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        let Notice { view, members, removed, cause } = notice;
        stack.joined = true;
        stack.noticed.clone_from(&members);
        if !removed.is_empty() {
            stack.session.stop();
        }
        if let Err(error) = stack.flush.notice(now, view, members, &removed, cause) {
            self.trace("flush", error.to_string());
        }
        self.settle(now, group, entropy);
    }

    /// Carries messages between the three machines of a group until they are quiet.
    pub(crate) fn settle(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        while let Some(stack) = self.stacks.get_mut(&group) {
            if let Some(output) = stack.flush.poll_output() {
                self.hear_flush(now, group, output, entropy);
            } else if let Some(output) = stack.keying.poll_output() {
                self.hear_keying(now, group, output, entropy);
            } else if stack.session.poll_refresh() {
                // MEM-06: the key is nearly used up.
                self.ask_keying(now, group, keying::Input::Refresh, entropy);
            } else {
                return self.watch_returns(now, group);
            }
        }
    }

    /// `MEM-07`: says that nothing comes back of what this member sends, or that it does again.
    fn watch_returns(&mut self, now: Instant, group: GroupId) {
        let news = self.stacks.get_mut(&group).and_then(|stack| stack.returns.watch(now));
        match news {
            Some(News::Late { messages }) => self.event(Event::Stalled { group, messages }),
            Some(News::Back) => self.event(Event::Resumed { group }),
            None => {}
        }
    }

    /// The same for every group.
    pub(crate) fn settle_all(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let mut next = self.group_after(None);
        while let Some(group) = next {
            self.settle(now, group, entropy);
            next = self.group_after(Some(group));
        }
    }

    pub(crate) fn wake_stack(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if stack.flush.poll_timeout().is_some_and(|at| at <= now) {
            stack.flush.timeout(now);
        }
        if stack.keying.poll_timeout().is_some_and(|at| at <= now) {
            self.ask_keying(now, group, keying::Input::Timeout, entropy);
        }
        self.renew(now, group, entropy);
        self.settle(now, group, entropy);
    }

    fn hear_flush(&mut self, now: Instant, group: GroupId, output: flush::Output, entropy: &mut dyn Entropy) {
        match output {
            flush::Output::Multicast { service, bytes } => self.multicast(group, service, bytes),
            flush::Output::FlushRequest => self.ask_keying(now, group, keying::Input::FlushRequest, entropy),
            flush::Output::TransitionalSignal => {
                self.ask_keying(now, group, keying::Input::TransitionalSignal, entropy);
            }
            flush::Output::Deliver { sender, to: For::Keying, payload: bytes, .. } => {
                let bytes = bytes.freeze();
                self.ask_keying(now, group, keying::Input::Message { sender, bytes }, entropy);
            }
            flush::Output::Deliver { sender, service, to: For::Session, payload, .. } => {
                self.sealed(now, (group, sender, service), payload, entropy);
            }
            flush::Output::View(view) => {
                let flush::View { id, members, transitional_set, brought, last, cause, .. } = *view;
                let view = keying::View { id, members, transitional_set, brought, last, cause };
                self.ask_keying(now, group, keying::Input::View(view), entropy);
            }
            flush::Output::Complain { view, suspects } => self.complain(view, &suspects),
            flush::Output::Trace(text) => self.trace("flush", text),
        }
    }

    fn sealed(
        &mut self,
        now: Instant,
        (group, sender, service): (GroupId, Party, Service),
        sealed: Buffer,
        entropy: &mut dyn Entropy,
    ) {
        let me = self.party();
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if sender == me {
            stack.returns.came(service);
        }
        let who = Who { identity: &self.config.identity, transcript: &self.transcript, group, far: self.far };
        match stack.session.open(sender, service, sealed, &|stamp, text, by| who.signed(stamp, text, by)) {
            Ok(Opened::Message(message)) => self.message(now, (group, sender, service), message, entropy),
            Ok(Opened::Held) => {}
            Err(error) => self.refuse("session", &error),
        }
    }

    fn message(
        &mut self,
        now: Instant,
        (group, sender, service): (GroupId, Party, Service),
        message: Message,
        entropy: &mut dyn Entropy,
    ) {
        let installed = self.stacks.get(&group).and_then(|stack| stack.installed.as_ref());
        let Some(view) = installed.map(|installed| installed.view) else { return };
        if self.stacks.get(&group).is_some_and(|stack| stack.minority == Minority::Stop) {
            return;
        }
        if message.content == Content::Letters {
            return self.member_word(now, (group, sender), message.payload, entropy);
        }
        for (origin, payload) in message.texts() {
            if self.config.danger.is(Danger::SessionLogsPlaintext) {
                self.trace("session", format!("opened {}", String::from_utf8_lossy(&payload)));
            }
            self.event(Event::Message { group, sender, view, service, payload, origin });
        }
    }

    pub(crate) fn ask_keying(
        &mut self,
        now: Instant,
        group: GroupId,
        input: keying::Input,
        entropy: &mut dyn Entropy,
    ) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        let who = Who { identity: &self.config.identity, transcript: &self.transcript, group, far: self.far };
        if let Err(error) = stack.keying(now, input, &who, entropy) {
            self.refuse("keying", &error);
        }
    }

    fn hear_keying(
        &mut self,
        now: Instant,
        group: GroupId,
        output: keying::Output,
        entropy: &mut dyn Entropy,
    ) {
        match output {
            keying::Output::FlushOk { brings } => self.flush_ok(now, group, brings),
            keying::Output::Send { service, bytes } => self.send_keying(group, service, &bytes),
            keying::Output::Complain { view, suspects } => self.complain(view, &suspects),
            keying::Output::Persist(persist) => {
                if let Some(value) = &persist.value {
                    self.instances.insert(group, value.clone());
                }
                self.persist(persist);
            }
            keying::Output::SecureFlushRequest => {
                self.event(Event::KeyPending { group });
                self.ask_keying(now, group, keying::Input::SecureFlushOk, entropy);
            }
            keying::Output::SecureTransitional => self.event(Event::Transitional { group }),
            keying::Output::SecureView(view) => {
                self.install(now, group, view, entropy);
                self.follow_charter(now, group, entropy);
            }
            keying::Output::Refreshed { view, epoch } => {
                self.refreshed(now, (group, view), &epoch, entropy);
                self.follow_charter(now, group, entropy);
            }
            keying::Output::Trace(text) => self.trace("keying", text),
        }
    }

    /// MEM-05: when a vote has changed the module or the cipher, the change takes effect with a new
    /// key in the present view.
    pub(crate) fn follow_charter(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        let charter = self.transcript.roster().charter();
        if self.stacks.get(&group).is_some_and(|stack| stack.is_behind(charter)) {
            self.ask_keying(now, group, keying::Input::Refresh, entropy);
        }
    }

    /// MEM-06: no key becomes older than the charter allows.
    fn renew(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        let me = self.party();
        let charter = self.transcript.roster().charter();
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if stack.renew_at(&me, charter).is_some_and(|at| at <= now) {
            stack.keyed_at = now;
            self.trace("keying", "the key has its age: another is asked for".to_owned());
            self.ask_keying(now, group, keying::Input::Refresh, entropy);
        }
    }

    fn flush_ok(&mut self, now: Instant, group: GroupId, brings: Bytes) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if let Err(error) = stack.flush.flush_ok(now, brings) {
            self.trace("flush", error.to_string());
        }
    }

    fn send_keying(&mut self, group: GroupId, service: Service, bytes: &[u8]) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if let Err(error) = stack.flush.send(service, For::Keying, bytes) {
            self.trace("flush", format!("a keying message was not sent: {error}"));
        }
    }

    fn complain(&mut self, view: ViewId, suspects: &[Party]) {
        for suspect in suspects {
            let Some(configuration) = self.configuration else { return };
            self.speak(Says::Complain { configuration, view, suspect: *suspect });
        }
    }

    /// A view and its key, together: from here on, messages may be sent and received in it.
    fn install(&mut self, now: Instant, group: GroupId, view: keying::SecureView, entropy: &mut dyn Entropy) {
        let keying::SecureView { id, members, transitional_set, cause, epoch } = view;
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        if let Err(error) = stack.session.open_epoch(id, &members, &epoch.key, epoch.cipher) {
            // Nothing may be sealed for this view under the key of another.
            stack.session.stop();
            return self.trace("session", format!("no epoch was opened: {error}"));
        }
        if self.config.danger_keeps_keys {
            self.spoils.keep(id, &members, &epoch);
        }
        // No message of the old view can come any more: flush has installed the new one.
        stack.session.close_previous();
        let suite = (epoch.module, epoch.cipher);
        let epoch = epoch.name.to_string();
        stack.keyed_at = now;
        stack.returns.restart();
        stack.installed = Some(Installed { view: id, members: members.clone(), epoch: epoch.clone(), suite });
        stack.follow(self.transcript.roster());
        let side = stack.side;
        self.event(Event::View { group, id, members, transitional: transitional_set, cause, epoch, side });
        self.held_received(now, group, entropy);
        self.release_held(group);
    }

    /// A new key in the same view. The previous key opens messages that were sealed before their
    /// sender had the new one.
    fn refreshed(
        &mut self,
        now: Instant,
        (group, view): (GroupId, ViewId),
        epoch: &keying::Epoch,
        entropy: &mut dyn Entropy,
    ) {
        let Some(stack) = self.stacks.get_mut(&group) else { return };
        let Some(installed) = &mut stack.installed else { return };
        stack.keyed_at = now;
        installed.epoch = epoch.name.to_string();
        installed.suite = (epoch.module, epoch.cipher);
        if let Err(error) = stack.session.open_epoch(view, &installed.members, &epoch.key, epoch.cipher) {
            return self.trace("session", format!("no epoch was opened: {error}"));
        }
        if self.config.danger_keeps_keys {
            self.spoils.keep(view, &installed.members, epoch);
        }
        stack.follow(self.transcript.roster());
        self.held_received(now, group, entropy);
        self.release_held(group);
    }

    fn held_received(&mut self, now: Instant, group: GroupId, entropy: &mut dyn Entropy) {
        while let Some(stack) = self.stacks.get_mut(&group) {
            let who =
                Who { identity: &self.config.identity, transcript: &self.transcript, group, far: self.far };
            match stack.session.poll_received(&|stamp, text, by| who.signed(stamp, text, by)) {
                Some(((sender, service), Ok(message))) => {
                    self.message(now, (group, sender, service), message, entropy);
                }
                Some((_, Err(error))) => self.refuse("session", &error),
                None => return,
            }
        }
    }
}
