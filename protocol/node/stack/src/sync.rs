//! Transcripts kept in step. Two nodes tell each other where their transcripts stand when their
//! link comes up and at every change, and fetch what they lack, before either treats the other as a
//! peer that may gather. What a node learns here it does not take here. It goes through the ring
//! (`items.rs`), so that the transcripts of one configuration change at one place in the order.

use crate::message::{ITEMS_BATCH_BYTES, Sync};
use crate::parts::{Answer, Mark, Piece};
use crate::{Node, Place};
use base::codec;
use base::{Blob, Digest, Instant, NodeId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_link::Channel;
use folkmoot_transcript::{Have, is_package};

impl Node {
    pub(crate) fn send_mark(&mut self, now: Instant, to: NodeId) {
        let (head, set) = self.records.mark();
        self.send_sync(now, to, &Sync::Mark { head, set });
    }

    /// Our own transcript changed: every peer is told, and what a peer has that we could not take
    /// before is asked for again.
    pub(crate) fn announce_mark(&mut self, now: Instant) {
        let peers = self.peers.all();
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

    /// Whether a question is answered: a member's always is.
    fn may_ask(&mut self, now: Instant, from: &NodeId) -> bool {
        self.records.has_standing(from) || self.syncing.may_ask(now, from)
    }

    fn mark_came(&mut self, now: Instant, from: NodeId, mark: Mark) {
        if self.syncing.mark_came(&from, mark) {
            self.look_at_line(now, from);
            self.judge(now, from);
            self.fetch_if_behind(now, from);
        }
    }

    /// Begins to compare sets with a peer whose transcript is another than ours.
    pub(crate) fn fetch_if_behind(&mut self, now: Instant, from: NodeId) {
        let with_us = self.peers.is_with_us(&from);
        let question = self.syncing.begin(now, &from, with_us, &self.records);
        self.fetch(now, from, question);
    }

    /// Some answer may have been lost: asks for the same again. With `anew` also where all of it
    /// came and was not taken.
    pub(crate) fn fetch_again(&mut self, now: Instant, from: NodeId, anew: bool) {
        if let Some(want) = self.pieces.want_again(now, &from) {
            return self.send_sync(now, from, &want);
        }
        self.ask_side(now, from);
        let with_us = self.peers.is_with_us(&from);
        let question = self.syncing.again(now, &from, with_us, anew, &self.records);
        self.fetch(now, from, question);
    }

    /// Asks for whatever we lack of the part that a comparison has come to.
    pub(crate) fn fetch(&mut self, now: Instant, from: NodeId, question: Option<Have>) {
        if let Some(have) = question {
            self.send_sync(now, from, &Sync::Fetch(have));
        }
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

    /// Shows a long item to a peer, which asks for the rest.
    pub(crate) fn offer(&mut self, now: Instant, to: NodeId, item: &Bytes) {
        if let Some(piece) = self.pieces.offer(item) {
            self.send_sync(now, to, &piece);
        }
    }

    fn want_came(&mut self, now: Instant, from: NodeId, name: &Digest, index: u16) {
        if let Some(piece) = self.pieces.piece(name, index) {
            self.send_sync(now, from, &piece);
        }
    }

    /// A piece of a long item, or of a package.
    fn piece_came(&mut self, now: Instant, from: NodeId, piece: (Digest, u16, u16), bytes: &[u8]) {
        if !self.peers.is_linked(&from) || self.way.knows(now, &piece.0) {
            return;
        }
        match self.pieces.came(now, from, piece, bytes, (&self.records, &mut self.out)) {
            Piece::Idle => {}
            Piece::Next(want) => self.send_sync(now, from, &want),
            Piece::Whole(package) if is_package(&package) => self.package_came(now, from, package),
            Piece::Whole(item) => self.items_came(now, from, &[Blob(item)]),
        }
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
