//! The letters that a member remembers, with their answers; the oldest goes first.

use crate::base::{Digest, GroupId, NodeId};
use crate::message::Answer;
use crate::{ANSWERS_MAX, LETTERS_MAX};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};

/// One letter, as far as it is needed to answer it. Its text is the application's.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) group: GroupId,
    /// Where the writer is, when it is linked.
    pub(crate) writer: NodeId,
    /// The key that answers are sealed to.
    pub(crate) reply: Bytes,
    /// In the group's order.
    pub(crate) answers: Vec<(Digest, Answer)>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<Digest, Entry>,
    order: VecDeque<Digest>,
}

impl Ledger {
    pub(crate) fn get(&self, letter: &Digest) -> Option<&Entry> {
        self.entries.get(letter)
    }

    /// Whether it is new.
    pub(crate) fn enter(&mut self, letter: Digest, entry: Entry) -> bool {
        if self.entries.contains_key(&letter) {
            return false;
        }
        if self.order.len() >= LETTERS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        self.order.push_back(letter);
        self.entries.insert(letter, entry);
        true
    }

    /// Notes an answer. Whether it is new, and there was room.
    pub(crate) fn answered(&mut self, id: Digest, answer: &Answer) -> bool {
        let Some(entry) = self.entries.get_mut(&answer.body.letter) else { return false };
        let known = entry.answers.iter().any(|(known, _)| *known == id);
        let room = !known && entry.answers.len() < ANSWERS_MAX;
        if room {
            entry.answers.push((id, answer.clone()));
        }
        room
    }
}
