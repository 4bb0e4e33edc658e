//! Dials out: Hello after Hello, until somebody proves an identity or nobody answers.

mod dial;

pub(crate) use dial::{Dial, Progress, Stage};

use crate::limits::{DIAL_LIFE, DIALS_MAX, REPEAT_MIN};
use crate::links::Route;
use crate::message::{Cookie, Part};
use crate::peers::check_version;
use crate::{Credentials, Exchange, LinkError, Links, Output};
use bytes::Bytes;
use folkmoot_base::{Entropy, Instant, Locator, NodeId, draw};

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

    pub(crate) fn transmit(&mut self, to: &Locator, datagrams: impl IntoIterator<Item = Bytes>) {
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
