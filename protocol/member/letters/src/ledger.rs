//! The letters that a member remembers, with their answers; the oldest is forgotten first.

use crate::base::{Digest, GroupId, NodeId};
use crate::message::Answer;
use crate::{ANSWERS_MAX, LETTERS_MAX};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};

/// One letter, as far as it is needed to answer it. The application keeps its text.
#[derive(Debug)]
pub(crate) struct HeldLetter {
    pub(crate) group: GroupId,
    /// The writer's node, if it is linked.
    pub(crate) writer: NodeId,
    /// The key to which answers are sealed.
    pub(crate) reply: Bytes,
    /// The answers, in the group's order.
    pub(crate) answers: Vec<(Digest, Answer)>,
}

/// All letters.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    letters: BTreeMap<Digest, HeldLetter>,
    order: VecDeque<Digest>,
}

impl Ledger {
    pub(crate) fn get(&self, letter: &Digest) -> Option<&HeldLetter> {
        self.letters.get(letter)
    }

    /// Notes a letter. Returns whether it is new.
    pub(crate) fn enter(&mut self, letter: Digest, held: HeldLetter) -> bool {
        if self.letters.contains_key(&letter) {
            return false;
        }
        if self.order.len() >= LETTERS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.letters.remove(&oldest);
        }
        self.order.push_back(letter);
        self.letters.insert(letter, held);
        true
    }

    /// Notes an answer. Returns whether it is new and there was room.
    pub(crate) fn answered(&mut self, id: Digest, answer: &Answer) -> bool {
        let Some(held) = self.letters.get_mut(&answer.body.letter) else { return false };
        let known = held.answers.iter().any(|(known, _)| *known == id);
        let room = !known && held.answers.len() < ANSWERS_MAX;
        if room {
            held.answers.push((id, answer.clone()));
        }
        room
    }
}
