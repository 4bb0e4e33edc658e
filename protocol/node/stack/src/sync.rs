//! Transcripts kept in step. Two nodes tell each other where their transcripts stand when their
//! link comes up and at every change, and fetch what they lack, before either treats the other as a
//! peer that may gather. What a node learns here it does not take here. It goes through the ring
//! (`parts/records/stage.rs`), so that the transcripts of one configuration change at one place in the order.
//!
//! ```text
//! marks differ --> ask for the first part --> something new came: the same part again
//!                      ^                      nothing new: the next part
//!                      '-- after the last part, if anything new came on the way; else rest until either mark changes
//! ```
//! A peer on our own ring is not asked: the ring brings the same.

use crate::message::{ITEMS_BATCH_BYTES, Sync};
use crate::parts::{Answer, Mark};
use crate::{Node, Place};
use base::codec;
use base::{Blob, Instant, NodeId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_link::Channel;
use folkmoot_transcript::Have;

impl Node {
    pub(crate) fn send_mark(&mut self, now: Instant, to: NodeId) {
        let (head, set) = self.records.mark();
        self.send_sync(now, to, &Sync::Mark { head, set });
    }

    /// Our own transcript changed: every peer is told, and what a peer has that we could not take
    /// before is asked for again.
    pub(crate) fn announce_mark(&mut self, now: Instant) {
        let peers: Vec<NodeId> = self.peers.keys().copied().collect();
        for peer in &peers {
            self.send_mark(now, *peer);
            self.look_at_line(now, *peer);
        }
        self.judge_all(now);
        for peer in peers {
            self.fetch_if_behind(now, peer);
        }
    }

    /// Tells the group layer where our transcript stands. Names matter only while tables are not
    /// merged; `whole` asks for them in any case.
    pub(crate) fn tell_mark(&mut self, whole: bool) {
        let whole = whole || !self.group.is_settled();
        self.group.mark(self.records.mark_for_group(whole));
    }

    pub(crate) fn transcript_frame(&mut self, now: Instant, from: NodeId, frame: &[u8]) {
        let message: Sync = match codec::decode(frame) {
            Ok(message) => message,
            Err(error) => {
                return self
                    .out
                    .refuse("node", &format!("{from} sent a malformed message (NODE-01): {error}"));
            }
        };
        if !message.within_bounds() {
            return self.out.refuse("node", &format!("{from} sent more than a message may have (NODE-02)"));
        }
        match message {
            Sync::Mark { head, set } => self.mark_came(now, from, (head, set)),
            Sync::Fetch(_) | Sync::Want { .. } | Sync::Side { .. } if !self.may_ask(now, &from) => {
                self.out.refuse("node", &format!("{from} asks for more than a guest may (NODE-12)"));
            }
            Sync::Fetch(have) => self.fetch_came(now, from, &have),
            Sync::Items(items) => self.items_came(now, from, &items),
            Sync::Locators(places) => self.locators_came(now, from, &places),
            Sync::Seek(nodes) => self.seek_came(now, from, &nodes),
            Sync::Piece { name, of, index, bytes } => {
                self.piece_came(now, from, (name, of, index), &bytes.0);
            }
            Sync::Want { name, index } => self.want_came(now, from, &name, index),
            Sync::Side { first } => self.side_asked(now, from, &first),
        }
    }

    fn may_ask(&mut self, now: Instant, from: &NodeId) -> bool {
        self.records.has_standing(from) || self.peers.get_mut(from).is_none_or(|peer| peer.may_ask(now))
    }

    fn mark_came(&mut self, now: Instant, from: NodeId, mark: Mark) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        peer.mark = Some(mark);
        self.look_at_line(now, from);
        self.judge(now, from);
        self.fetch_if_behind(now, from);
    }

    /// Begins to compare sets with a peer whose transcript is another than ours, unless that is
    /// going on, with it or with one that has the same, or brought nothing and neither has changed
    /// since.
    pub(crate) fn fetch_if_behind(&mut self, now: Instant, from: NodeId) {
        let ours = self.records.known().mark();
        let with_us = self.members.contains(&from);
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let Some(theirs) = peer.mark else { return };
        if theirs == ours {
            return peer.is_even_now();
        }
        if self.records.is_founding(&theirs) {
            return; // It has nothing yet.
        }
        let busy = peer.pass.is_some() || peer.tried == Some((ours, theirs));
        if busy || peer.other_line.is_some() || (peer.eligible && with_us) {
            return;
        }
        if !self.peers.values().any(|other| other.compares(&theirs, now)) {
            self.begin_pass(now, from);
        }
    }

    fn begin_pass(&mut self, now: Instant, from: NodeId) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.begin_pass(now);
            self.ask(now, from);
        }
    }

    /// Some answer may have been lost: asks for the same again. With `anew` also where all of it
    /// came and was not taken.
    pub(crate) fn fetch_again(&mut self, now: Instant, from: NodeId, anew: bool) {
        if self.want_again(now, from) {
            return;
        }
        self.ask_side(now, from);
        let Some(peer) = self.peers.get_mut(&from) else { return };
        if peer.pass.is_some() {
            return self.ask(now, from);
        }
        if anew {
            peer.tried = None;
        }
        self.fetch_if_behind(now, from);
    }

    /// Asks for whatever we lack of the part that the comparison has come to.
    fn ask(&mut self, now: Instant, from: NodeId) {
        let known = self.records.known();
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let Some(begin) = peer.pass.map(|pass| pass.from) else { return };
        let have = known.part_besides(begin, peer.shown());
        if let Some(pass) = &mut peer.pass {
            pass.until = have.until;
        }
        self.send_sync(now, from, &Sync::Fetch(have));
    }

    fn fetch_came(&mut self, now: Instant, from: NodeId, have: &Have) {
        match self.records.answer(have) {
            Answer::Package(package) => self.offer(now, from, &package),
            Answer::TooFar => {
                let text = format!("{from} is too far behind to be led on (NODE-14)");
                self.out.refuse("transcript", &text);
            }
            Answer::Items(items) => {
                let nothing = items.is_empty();
                self.send_items(now, from, items);
                if nothing {
                    self.send_mark(now, from);
                }
            }
        }
    }

    /// Sends items that fit one answer, or shows the first piece of a single long one.
    pub(crate) fn send_items(&mut self, now: Instant, to: NodeId, items: Vec<Bytes>) {
        match items.as_slice() {
            [long] if long.len() > ITEMS_BATCH_BYTES => self.offer(now, to, long),
            _ => {
                let items = items.into_iter().map(Blob).collect();
                self.send_sync(now, to, &Sync::Items(items));
            }
        }
    }

    /// An answer came, and brought something new or not: goes on with the comparison.
    pub(crate) fn go_on(&mut self, now: Instant, from: NodeId, news: bool) {
        let ours = self.records.known().mark();
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let Some(mut pass) = peer.pass.take() else { return };
        if peer.mark == Some(ours) {
            return peer.is_even_now();
        }
        pass.fruitful |= news;
        pass.at = now;
        if news || pass.advance() {
            peer.pass = Some(pass);
        } else if pass.fruitful {
            peer.begin_pass(now);
        } else {
            peer.tried = peer.mark.map(|theirs| (ours, theirs));
            return;
        }
        self.ask(now, from);
    }

    pub(crate) fn send_sync(&mut self, now: Instant, to: NodeId, message: &Sync) {
        // The next change of marks, or the look-up timer, makes up for a lost message.
        let _ = self.links.send(now, to, Channel::Transcript, &[&codec::encode(message)]);
    }

    pub(crate) fn send_places(&mut self, now: Instant, to: NodeId, places: Vec<Place>) {
        if !places.is_empty() {
            self.send_sync(now, to, &Sync::Locators(places));
        }
    }
}
