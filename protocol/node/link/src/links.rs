//! The state machine: inputs to handlers, outputs in order, timers.

use crate::answers::{Cookies, HalfOpen, Hello, Shares};
use crate::dials::Dial;
use crate::formers::Former;
use crate::handshake::Own;
use crate::limits::{DIAL_LIFE, HALF_OPEN_LIFE};
use crate::message::{Control, Datagram};
use crate::noise::Static;
use crate::peers::{Company, Peer};
use crate::{Channel, Config, Counters, Credentials, DownCause, Exchange, Input, LinkError, Output};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Entropy, Instant, Locator, NodeId, Pool, digest, draw};
use std::collections::{BTreeMap, VecDeque};

/// What an index of ours belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Dial,
    HalfOpen,
    Peer(NodeId),
    /// Of a process of this node that another one has superseded.
    Former(NodeId),
}

/// All links of one node.
#[derive(Debug)]
pub struct Links<C> {
    pub(crate) config: Config,
    pub(crate) credentials: C,
    pub(crate) certificate: Bytes,
    pub(crate) own: Static,
    pub(crate) cookies: Cookies,
    pub(crate) answers: Shares,
    pub(crate) company: Company,
    pub(crate) routes: BTreeMap<u32, Route>,
    pub(crate) dials: BTreeMap<u32, Dial>,
    pub(crate) half: BTreeMap<u32, HalfOpen>,
    pub(crate) peers: BTreeMap<NodeId, Peer>,
    pub(crate) formers: BTreeMap<NodeId, Former>,
    pub(crate) out: VecDeque<Output>,
    pub(crate) dirty: VecDeque<NodeId>,
    pub(crate) pool: Pool,
    pub(crate) counters: Counters,
    pub(crate) guests_grew: bool,
    wake: Option<Instant>,
}

impl<C: Credentials> Links<C> {
    /// No link yet. Draws this process's own static key and cookie secret.
    pub fn new(mut config: Config, credentials: C, entropy: &mut dyn Entropy) -> Self {
        config.silence = config.silence.max(Duration::from_millis(10));
        Self {
            certificate: credentials.certificate(),
            config,
            credentials,
            own: Static::new(draw(entropy)),
            cookies: Cookies::new(draw(entropy)),
            answers: Shares::default(),
            company: Company::default(),
            routes: BTreeMap::new(),
            dials: BTreeMap::new(),
            half: BTreeMap::new(),
            peers: BTreeMap::new(),
            formers: BTreeMap::new(),
            out: VecDeque::new(),
            dirty: VecDeque::new(),
            pool: Pool::default(),
            counters: Counters::default(),
            guests_grew: false,
            wake: None,
        }
    }

    /// Takes one input. Before the next one, poll the outputs until `None`, then the timeout.
    ///
    /// # Errors
    /// [`LinkError`]; an input that is refused changes nothing except [`Counters`].
    pub fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) -> Result<(), LinkError> {
        match input {
            Input::Datagram { from, bytes } => {
                self.make_room(now);
                let result = self.datagram(now, &from, &bytes, entropy);
                self.count(&result);
                result
            }
            Input::Dial { at, node } => self.dial(now, &at, node, false, entropy),
            Input::Hangup { node } => self.hang_up(now, node, DownCause::HungUp),
            Input::Standing { node, member } => {
                self.standing(node, member);
                Ok(())
            }
            Input::Company { nodes } => {
                self.keep_company(now, nodes);
                Ok(())
            }
            Input::Certificate(certificate) => self.recertify(now, certificate),
            Input::Timeout => {
                self.make_room(now);
                self.timeout(now, entropy);
                Ok(())
            }
        }
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            if let Some(output) = self.out.pop_front() {
                return Some(output);
            }
            let node = self.dirty.pop_front()?;
            if let Some(peer) = self.peers.get_mut(&node) {
                peer.queued = false;
            }
            self.flush(node);
        }
    }

    /// When to hand in [`Input::Timeout`], if nothing else happens first. May be earlier than
    /// needed, never later.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wake
    }

    /// Where this node was last heard from, if its link is up.
    pub fn locator(&self, node: &NodeId) -> Option<Locator> {
        self.peers.get(node).map(|peer| peer.at.clone())
    }

    /// Nodes whose link is up, and whether each is a member's node.
    pub fn peers(&self) -> impl Iterator<Item = (NodeId, bool)> + '_ {
        self.peers.iter().map(|(node, peer)| (*node, peer.member))
    }

    /// Counts of what was sealed, opened, copied, refused or dropped so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn datagram(
        &mut self,
        now: Instant,
        from: &Locator,
        bytes: &Bytes,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        match Datagram::decode(bytes).map_err(|error| LinkError::WireMalformed(from.clone(), error))? {
            Datagram::Data { to, .. } => self.data(now, from, to, bytes),
            Datagram::Hello { from: index, cookie, noise } => {
                let hello = Hello { from: from.clone(), index, noise: Bytes::copy_from_slice(&noise) };
                self.hello(now, Exchange::Classical, hello, &cookie, entropy)
            }
            Datagram::HybridHello { from: index, cookie, noise } => self.hello(
                now,
                Exchange::Hybrid,
                Hello { from: from.clone(), index, noise },
                &cookie,
                entropy,
            ),
            Datagram::Refusal { to, asks } => self.refusal(from, to, asks),
            Datagram::Retry { to, cookie } => self.retry(now, from, to, cookie),
            Datagram::Reply(part) => self.reply(now, from, &part),
            Datagram::Finish(part) => self.finish(now, from, &part),
        }
    }

    fn count(&mut self, result: &Result<(), LinkError>) {
        let counter = match result {
            Ok(()) => return,
            Err(LinkError::PeerOutOfTurn { .. } | LinkError::PeerTooMuch(_)) => return,
            Err(LinkError::WireReplayed(_)) => &mut self.counters.replayed,
            Err(LinkError::WireOtherForm { .. }) => &mut self.counters.other_form,
            Err(LinkError::WireBusy(_) | LinkError::PeerNoRoom(_)) => &mut self.counters.busy,
            Err(_) => &mut self.counters.refused,
        };
        *counter = counter.saturating_add(1);
    }

    fn standing(&mut self, node: NodeId, member: bool) {
        let Some(peer) = self.peers.get_mut(&node) else { return };
        if peer.member != member {
            peer.member = member;
            self.guests_grew |= !member;
            let word = if member { "a member" } else { "a guest" };
            self.trace(format!("{node} is {word} now"));
        }
    }

    fn recertify(&mut self, now: Instant, certificate: Bytes) -> Result<(), LinkError> {
        let most = crate::limits::CERTIFICATE_BYTES_MAX;
        if certificate.len() > most {
            return Err(LinkError::LocalTooLong { excess_bytes: certificate.len().saturating_sub(most) });
        }
        let told = digest(&[&certificate]);
        self.certificate = certificate;
        let nodes: Vec<NodeId> = self.peers.keys().copied().collect();
        for node in nodes {
            if let Some(peer) = self.peers.get_mut(&node) {
                peer.untold = Some(told);
            }
            self.tell_certificate(now, node);
        }
        Ok(())
    }

    /// Repeated, independently of pings, until the peer says that it has the certificate.
    fn tell_certificate(&mut self, now: Instant, node: NodeId) {
        let again = now + self.config.silence / 3;
        let Some(peer) = self.peers.get_mut(&node).filter(|peer| peer.untold.is_some()) else { return };
        peer.tell = again;
        let message = Control::Certificate(self.certificate.clone().into());
        self.control_out(now, node, &message);
        self.note(again);
    }

    pub(crate) fn hang_up(&mut self, now: Instant, node: NodeId, cause: DownCause) -> Result<(), LinkError> {
        if !self.peers.contains_key(&node) {
            return Err(LinkError::LocalNoLink(node));
        }
        self.control_out(now, node, &Control::Bye);
        self.flush(node);
        self.down(node, cause);
        Ok(())
    }

    pub(crate) fn down(&mut self, node: NodeId, cause: DownCause) {
        self.take_down(node, cause);
    }

    /// The same, and what was known of the peer.
    pub(crate) fn take_down(&mut self, node: NodeId, cause: DownCause) -> Option<Peer> {
        let peer = self.peers.remove(&node)?;
        for index in peer.indices() {
            self.routes.remove(&index);
        }
        self.out.push_back(Output::Down { node, cause });
        self.trace(format!("link to {node} at {} is down: {cause:?}", peer.at));
        Some(peer)
    }

    pub(crate) fn trace(&mut self, text: String) {
        self.out.push_back(Output::Trace(text));
    }

    pub(crate) fn common(&self) -> Own<'_, C> {
        Own {
            group: self.config.group,
            exchange: self.config.exchange,
            versions: self.config.versions,
            capabilities: self.config.capabilities,
            credentials: &self.credentials,
            certificate: &self.certificate,
            own: &self.own,
            started: self.config.started,
            seals_max: self.config.rekey_after.saturating_mul(2),
            danger: self.config.danger,
        }
    }

    /// An index that is not in use.
    pub(crate) fn new_index(&self, entropy: &mut dyn Entropy) -> u32 {
        loop {
            let index = u32::from_be_bytes(draw(entropy));
            if !self.routes.contains_key(&index) {
                return index;
            }
        }
    }

    /// Sets the timer to `at` or earlier.
    pub(crate) fn note(&mut self, at: Instant) {
        if self.wake.is_none_or(|wake| at < wake) {
            self.wake = Some(at);
        }
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.wake.is_none_or(|at| at > now) {
            return;
        }
        self.redial(now);
        let old = self.half.extract_if(.., |_, half| now.since(half.started) >= HALF_OPEN_LIFE);
        for (index, _) in old {
            self.routes.remove(&index);
        }
        self.forget_formers(now);
        let nodes: Vec<NodeId> = self.peers.keys().copied().collect();
        for node in nodes {
            self.watch(now, node, entropy);
        }
        self.wake = self.next_wake();
    }

    /// Sends again what was not answered; gives up what was not answered for too long.
    fn redial(&mut self, now: Instant) {
        let due: Vec<u32> =
            self.dials.iter().filter(|(_, dial)| dial.resend <= now).map(|(index, _)| *index).collect();
        for index in due {
            if self.dials.get(&index).is_some_and(|dial| dial.deadline <= now) {
                self.end_dial(index);
            } else {
                self.send_dial(now, index);
            }
        }
    }

    /// What time does to one peer: silence, pings, forgotten fragments, retired associations, new
    /// keys.
    fn watch(&mut self, now: Instant, node: NodeId, entropy: &mut dyn Entropy) {
        let silence = self.config.silence;
        let Some((ping, gone)) = self.peers.get(&node).map(|peer| self.watch_times(&node, peer)) else {
            return;
        };
        if gone <= now {
            return self.down(node, DownCause::Silent);
        }
        let Some(peer) = self.peers.get_mut(&node) else { return };
        if ping <= now {
            peer.asked = now;
            peer.current.asked.get_or_insert(now);
        }
        let lost = peer.assemblies.expire(now);
        let retired = peer.retire(silence);
        let tell = peer.untold.is_some() && peer.tell <= now;
        let rekey = peer.rekey.filter(|at| *at <= now).map(|_| peer.at.clone());
        self.counters.fragments_lost = self.counters.fragments_lost.saturating_add(lost);
        if let Some(index) = retired {
            self.routes.remove(&index);
        }
        if let Some(at) = rekey {
            if let Some(peer) = self.peers.get_mut(&node) {
                peer.rekey = Some(now + DIAL_LIFE);
            }
            let _ = self.dial(now, &at, Some(node), true, entropy);
        }
        if ping <= now {
            self.control_out(now, node, &Control::Ping(now.0));
        }
        if tell {
            self.tell_certificate(now, node);
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let dials = self.dials.values().map(|dial| dial.resend);
        let half = self.half.values().map(|half| half.started + HALF_OPEN_LIFE);
        let peers = self.peers.iter().flat_map(|(node, peer)| {
            let (ping, gone) = self.watch_times(node, peer);
            [Some(ping.min(gone)), peer.assemblies.deadline(), peer.rekey, peer.untold.map(|_| peer.tell)]
        });
        let formers = self.formers.values().map(|former| former.until);
        dials.chain(half).chain(formers).chain(peers.flatten()).min()
    }

    /// Sends a frame on a link that is up. The frame is made of `parts`, one after another. Small
    /// frames share a datagram, which is sealed when it is full, or when all outputs have been
    /// polled.
    ///
    /// # Errors
    /// [`LinkError::LocalNoLink`], [`LinkError::LocalToGuest`], [`LinkError::LocalTooLong`].
    pub fn send(
        &mut self,
        now: Instant,
        to: NodeId,
        channel: Channel,
        parts: &[&[u8]],
    ) -> Result<(), LinkError> {
        let peer = self.peers.get_mut(&to).ok_or(LinkError::LocalNoLink(to))?;
        if channel == Channel::Ring && !peer.member {
            return Err(LinkError::LocalToGuest(to, channel));
        }
        let lane = crate::message::Lane::Channel(channel);
        if let Some(copied) = peer.pack(now, lane, parts) {
            self.counters.copied = self.counters.copied.saturating_add(copied);
            return Ok(());
        }
        self.put(now, to, lane, parts)
    }
}
