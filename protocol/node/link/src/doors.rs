//! Dials out and handshakes in: which peer gets a link, and which guest is dropped to make room.

use crate::handshake::{Dial, HalfOpen, Hello, Progress, Proved, Stage};
use crate::limits::{
    DIAL_LIFE, DIALS_MAX, GUEST_STAY, HALF_OPEN_LIFE, HALF_OPEN_MAX, HALF_OPEN_STAY, LINKS_MAX, REPEAT_MIN,
};
use crate::links::Route;
use crate::message::{Control, Cookie, Datagram, Part};
use crate::peer::{Association, Peer};
use crate::{Credentials, DownCause, Exchange, LinkError, Links, Output};
use bytes::Bytes;
use core::cmp::Reverse;
use folkmoot_base::limits::GUESTS_MAX;
use folkmoot_base::{Danger, DecodeError, Entropy, Host, Instant, Locator, Mutant, NodeId, draw};

impl<C: Credentials> Links<C> {
    /// A dial does nothing if its locator or node has a link already, or is being dialled
    /// (LINK-20).
    pub(crate) fn dial(
        &mut self,
        now: Instant,
        at: &Locator,
        node: Option<NodeId>,
        rekey: bool,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        if node == Some(self.credentials.node()) {
            return Err(LinkError::LocalSelf(at.clone()));
        }
        let same =
            |dial: &Dial| dial.at == *at && (dial.node == node || node.is_none()) && dial.rekey == rekey;
        if self.dials.values().any(same) || (!rekey && self.reached(at, node)) {
            return Ok(());
        }
        if self.dials.len() >= DIALS_MAX {
            return Err(LinkError::LocalDials);
        }
        let index = self.new_index(entropy);
        let deadline = now + DIAL_LIFE;
        let mut dial = Dial::new(now, &self.common(), (at.clone(), node), index, deadline, draw(entropy))?;
        dial.rekey = rekey;
        self.routes.insert(index, Route::Dial);
        self.dials.insert(index, dial);
        self.send_dial(now, index);
        Ok(())
    }

    fn reached(&mut self, at: &Locator, node: Option<NodeId>) -> bool {
        let peer = match node {
            Some(node) => self.peers.get_mut(&node),
            None => self.peers.values_mut().find(|peer| peer.at == *at),
        };
        match peer {
            Some(peer) => {
                peer.dialled = true;
                true
            }
            None => false,
        }
    }

    pub(crate) fn send_dial(&mut self, now: Instant, index: u32) {
        let Some(dial) = self.dials.get_mut(&index) else { return };
        let to = dial.at.clone();
        let datagrams = dial.send(now);
        let resend = dial.resend;
        self.transmit(&to, datagrams);
        self.note(resend);
    }

    fn transmit(&mut self, to: &Locator, datagrams: impl IntoIterator<Item = Bytes>) {
        self.out.extend(datagrams.into_iter().map(|datagram| Output::Transmit { to: to.clone(), datagram }));
    }

    /// A dial has ended without a link.
    pub(crate) fn end_dial(&mut self, index: u32) {
        let Some(dial) = self.dials.remove(&index) else { return };
        self.routes.remove(&index);
        if !dial.rekey {
            let why = dial.refused.map_or("", |asks| in_words(asks));
            self.out.push_back(Output::Unreached { at: dial.at.clone(), node: dial.node });
            self.trace(format!("nobody reached at {}{why}", dial.at));
        }
    }

    /// LINK-21: a Hello of the other form is refused. LINK-02: a Hello without a good cookie gets a
    /// cookie, and leaves no trace. LINK-04: a Hello with a good cookie gets a half-open handshake,
    /// at a bounded rate.
    pub(crate) fn hello(
        &mut self,
        now: Instant,
        theirs: Exchange,
        hello: Hello,
        cookie: &Cookie,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        let (from, their_index) = (&hello.from.clone(), hello.index);
        let asks = self.config.exchange;
        if theirs != asks {
            self.transmit(from, [Datagram::Refusal { to: their_index, asks }.encode()]);
            return Err(LinkError::WireOtherForm { at: from.clone(), theirs });
        }
        if hello.noise.is_empty() || !self.cookies.holds(now, from, their_index, cookie) {
            let cookie = self.cookies.make(now, from, their_index);
            self.counters.cookies = self.counters.cookies.saturating_add(1);
            self.transmit(from, [Datagram::Retry { to: their_index, cookie }.encode()]);
            return Ok(());
        }
        let known = self.half.iter_mut().find(|(_, half)| half.hello.from == *from);
        if let Some((index, half)) = known {
            if half.hello == hello {
                if now.since(half.repeated) >= REPEAT_MIN {
                    half.repeated = now;
                    let reply = half.reply.clone();
                    self.transmit(from, reply);
                }
                return Ok(());
            }
            let replaced = Some(*index);
            return self.answer(now, hello, replaced, entropy);
        }
        self.answer(now, hello, None, entropy)
    }

    /// If no half-open handshake more can be kept: the oldest of the host that has the most makes
    /// room, at once for a host that has two fewer, else once it is old enough.
    fn room_for_half(&self, now: Instant, from: &Locator) -> Result<Option<u32>, LinkError> {
        if self.half.len() < HALF_OPEN_MAX {
            return Ok(None);
        }
        let count = |host: Host| self.half.values().filter(|half| half.hello.from.host() == host).count();
        let counted = self.half.iter().map(|(index, half)| (count(half.hello.from.host()), half, *index));
        let heaviest = counted.min_by_key(|(count, half, _)| (Reverse(*count), half.started));
        let own = count(from.host());
        heaviest
            .filter(|(most, half, _)| {
                *most >= own.saturating_add(2) || now.since(half.started) >= HALF_OPEN_STAY
            })
            .map(|(_, _, index)| Some(index))
            .ok_or_else(|| LinkError::WireBusy(from.clone()))
    }

    fn answer(
        &mut self,
        now: Instant,
        hello: Hello,
        replaced: Option<u32>,
        entropy: &mut dyn Entropy,
    ) -> Result<(), LinkError> {
        let from = &hello.from.clone();
        if !self.answers.take(now, from.host()) {
            return Err(LinkError::WireBusy(from.clone()));
        }
        let makes_room = if replaced.is_some() { replaced } else { self.room_for_half(now, from)? };
        let index = self.new_index(entropy);
        let half = HalfOpen::new(now, &self.common(), hello, index, draw(entropy))?;
        makes_room.into_iter().for_each(|index| self.forget_half(index));
        let reply = half.reply.clone();
        self.routes.insert(index, Route::HalfOpen);
        self.half.insert(index, half);
        self.transmit(from, reply);
        self.note(now + HALF_OPEN_LIFE);
        Ok(())
    }

    fn forget_half(&mut self, index: u32) {
        if self.half.remove(&index).is_some() {
            self.routes.remove(&index);
        }
    }

    /// LINK-03: only for a dial of ours, and answered at once only a few times.
    pub(crate) fn retry(
        &mut self,
        now: Instant,
        from: &Locator,
        to: u32,
        cookie: Cookie,
    ) -> Result<(), LinkError> {
        let dial = self.dials.get_mut(&to).filter(|dial| dial.at == *from);
        if dial.ok_or_else(|| LinkError::WireUnknown(from.clone()))?.retry(cookie) {
            self.send_dial(now, to);
        }
        Ok(())
    }

    /// LINK-22: heard only from the locator that was dialled, and only for a dial of ours that
    /// nobody has answered yet. It is noted and reported once for each dial, and the dial goes on.
    /// Otherwise anyone who can write datagrams could end the dial, or talk it into a weaker form.
    pub(crate) fn refusal(&mut self, from: &Locator, to: u32, asks: Exchange) -> Result<(), LinkError> {
        let known = |dial: &&mut Dial| dial.at == *from && matches!(dial.stage, Stage::Hello(..));
        let dial = self.dials.get_mut(&to).filter(known).filter(|_| asks != self.config.exchange);
        let dial = dial.ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        if dial.refused.replace(asks).is_none() {
            let (at, node) = (dial.at.clone(), dial.node);
            self.trace(format!("the node at {at} refuses the handshake{}", in_words(asks)));
            self.out.push_back(Output::Refused { at, node, asks });
        }
        Ok(())
    }

    pub(crate) fn reply(&mut self, now: Instant, from: &Locator, part: &Part) -> Result<(), LinkError> {
        let mut dial = self.dials.remove(&part.to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let progress = dial.reply(now, from, &self.common(), part);
        let repeat = now.since(dial.repeated) >= REPEAT_MIN;
        self.dials.insert(part.to, dial);
        match progress? {
            Progress::Wait => {}
            Progress::Again if !repeat => {}
            Progress::Again | Progress::Done => self.send_dial(now, part.to),
            Progress::Failed(error, last) => {
                self.transmit(from, last);
                self.end_dial(part.to);
                return Err(error);
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, now: Instant, from: &Locator, part: &Part) -> Result<(), LinkError> {
        match self.routes.get(&part.to).copied() {
            Some(Route::Peer(node)) => {
                // Our confirmation was lost; one ping repeats it.
                if self.peers.get(&node).is_some_and(|peer| now.since(peer.sent) >= REPEAT_MIN) {
                    self.control_out(now, node, &Control::Ping(now.0));
                }
                return Ok(());
            }
            Some(Route::Former(node)) => {
                self.show_start(now, node);
                return Ok(());
            }
            Some(Route::HalfOpen) => {}
            _ => return Err(LinkError::WireUnknown(from.clone())),
        }
        let mut half = self.half.remove(&part.to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        match half.finish(now, from, &self.common(), part) {
            Ok(Some(proved)) => {
                self.establish(now, from, proved, false)?;
                Ok(())
            }
            Ok(None) => {
                self.half.insert(part.to, half);
                Ok(())
            }
            Err(error @ LinkError::WireForged(_)) => {
                self.half.insert(part.to, half);
                Err(error)
            }
            Err(error) => {
                self.routes.remove(&part.to);
                Err(error)
            }
        }
    }

    /// Data for a dial: if it opens, the peer has our Finish, and the link is up.
    pub(crate) fn confirm(
        &mut self,
        now: Instant,
        from: &Locator,
        to: u32,
        bytes: &Bytes,
    ) -> Result<(NodeId, Bytes), LinkError> {
        let dial = self.dials.get_mut(&to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let Stage::Finish(proved, _) = &mut dial.stage else {
            return Err(LinkError::WireUnknown(from.clone()));
        };
        check_version(&proved.association, from, bytes, self.config.danger)?;
        let mut plaintext = self.pool.buffer(bytes.len());
        proved
            .association
            .seal
            .open(bytes, &mut plaintext)
            .map_err(|_| LinkError::WireForged(from.clone()))?;
        let node = proved.claim.node;
        let dial = self.dials.remove(&to).ok_or_else(|| LinkError::WireUnknown(from.clone()))?;
        let Stage::Finish(mut proved, _) = dial.stage else {
            return Err(LinkError::WireUnknown(from.clone()));
        };
        proved.association.heard = now;
        self.establish(now, from, *proved, true)?;
        Ok((node, plaintext.freeze()))
    }

    /// An identity that was proved gets its link, or new keys for the link that it has (LINK-06,
    /// LINK-07).
    fn establish(
        &mut self,
        now: Instant,
        at: &Locator,
        proved: Proved,
        dialled: bool,
    ) -> Result<(), LinkError> {
        let Proved { claim, certificate, start, association } = proved;
        let (node, index, common) = (claim.node, association.index, association.common);
        self.routes.remove(&index);
        let dialled_before = self.peers.get(&node).is_some_and(|peer| peer.dialled);
        let mut former = None;
        let same = match self.peers.get(&node) {
            None if self.peers.len() >= LINKS_MAX => return Err(LinkError::PeerNoRoom(node)),
            None => false,
            Some(peer) if peer.start.start.key == start.start.key => true,
            Some(peer) if self.is_earlier(&start.start, &peer.start.start) => {
                return Err(self.refuse_earlier(now, node, at, association));
            }
            Some(_) => {
                former = self.take_down(node, DownCause::Restarted);
                false
            }
        };
        self.counters.handshakes = self.counters.handshakes.saturating_add(1);
        self.routes.insert(index, Route::Peer(node));
        if let Some(peer) = self.peers.get_mut(&node).filter(|_| same) {
            peer.heard = now;
            peer.dialled |= dialled;
            if let Some(old) = peer.renew(association) {
                self.routes.remove(&old);
            }
            self.new_certificate(node, claim.rostered, certificate);
        } else {
            let wanted = dialled || dialled_before;
            let mut peer = Peer::new(now, at.clone(), certificate.clone(), start, wanted, association);
            peer.rests = self.company.has(&node);
            self.peers.insert(node, peer);
            self.guests_grew |= !wanted;
            self.trace(format!("link to {node} at {at} is up"));
            self.out.push_back(Output::Up {
                node,
                at: at.clone(),
                certificate,
                rostered_claim: claim.rostered,
                common,
            });
        }
        // Two processes cannot have one locator: there, the former one has ended.
        if let Some(former) = former.filter(|former| former.at != *at) {
            self.supersede(now, node, &former.at, former.current);
        }
        if !dialled {
            self.control_out(now, node, &Control::Ping(now.0));
        }
        let silence = self.config.silence;
        self.note(now + silence / 8);
        Ok(())
    }

    /// The peer has another certificate for its key. The key is proved.
    pub(crate) fn new_certificate(&mut self, node: NodeId, rostered_claim: bool, certificate: Bytes) {
        let Some(peer) = self.peers.get_mut(&node) else { return };
        if peer.certificate != certificate {
            peer.certificate = certificate.clone();
            self.out.push_back(Output::Certificate { node, certificate, rostered_claim });
        }
    }

    /// LINK-09: at most [`GUESTS_MAX`] guests that came by themselves. If there are more, a guest
    /// of the host that has the most is dropped: the one that has stayed longest, if it has stayed
    /// for [`GUEST_STAY`]; otherwise the newest. This is checked before the next datagram, so that
    /// the stack can first say which of them is a member.
    pub(crate) fn make_room(&mut self, now: Instant) {
        if !core::mem::take(&mut self.guests_grew) {
            return;
        }
        loop {
            let guests = self.peers.iter().filter(|(_, peer)| peer.is_inbound_guest());
            let guests: Vec<(Host, Instant, NodeId)> =
                guests.map(|(node, peer)| (peer.host, peer.up, *node)).collect();
            if guests.len() <= GUESTS_MAX {
                return;
            }
            let Some(node) = self.leaver(now, &guests) else { return };
            let _ = self.hang_up(now, node, DownCause::Evicted);
        }
    }

    /// Which of these guests is dropped.
    fn leaver(&self, now: Instant, guests: &[(Host, Instant, NodeId)]) -> Option<NodeId> {
        let unshared = self.config.danger.is(Danger::LinkGuestsUnshared);
        let count = |host: Host| guests.iter().filter(|guest| unshared || guest.0 == host).count();
        let most = guests.iter().map(|guest| count(guest.0)).max()?;
        let heaviest = guests.iter().filter(|guest| count(guest.0) == most);
        let mut heaviest: Vec<(Instant, NodeId)> = heaviest.map(|(_, up, node)| (*up, *node)).collect();
        heaviest.sort_unstable();
        let old = heaviest.first().filter(|(up, _)| now.since(*up) >= GUEST_STAY);
        old.or(heaviest.last()).map(|(_, node)| *node)
    }
}

/// LINK-27: sealed data has the version of its association.
pub(crate) fn check_version(
    association: &Association,
    at: &Locator,
    bytes: &[u8],
    danger: Mutant,
) -> Result<(), LinkError> {
    match bytes.first() {
        Some(version) if *version != association.common.version && !danger.is(Danger::LinkAnyVersion) => {
            Err(LinkError::WireMalformed(at.clone(), DecodeError::Version(*version)))
        }
        _ => Ok(()),
    }
}

/// The form that a peer asks for, as the end of a sentence.
fn in_words(asks: Exchange) -> &'static str {
    match asks {
        Exchange::Classical => ": it says that it links without ML-KEM-768, which our charter asks for",
        Exchange::Hybrid => {
            ": it says that it links with ML-KEM-768 only, which our charter does not ask for"
        }
    }
}
