//! Strangers' letters as this process heard them, so that a person can see and answer them. Nothing
//! goes to disk.

use super::find::Choice;
use super::names::{self, Names};
use bytes::Bytes;
use folkmoot::{Digest, LetterEvent};
use folkmoot_base::hex;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Letters kept; the oldest go.
const LETTERS_MAX: usize = 128;
/// Answers kept of each: no letter has more.
const ANSWERS_MAX: usize = 8;

struct Letter {
    id: Digest,
    writer: String,
    name: String,
    text: Bytes,
    /// By whom, with what.
    answers: Vec<(String, Bytes)>,
}

/// Newest last.
#[derive(Default)]
pub(super) struct Letters(VecDeque<Letter>);

impl Letters {
    /// Takes note of a letter or an answer to one.
    pub(super) fn note(&mut self, event: &LetterEvent, names: &Names) {
        match event {
            LetterEvent::Came { letter, writer, name, text, .. } => {
                if self.0.len() >= LETTERS_MAX {
                    self.0.pop_front();
                }
                let label = names::stranger(names, writer, name);
                let (writer, text) = (writer.hex(), text.clone());
                self.0.push_back(Letter { id: *letter, writer, name: label, text, answers: Vec::new() });
            }
            LetterEvent::Answered { letter, by, text, .. } => {
                let has_room = |known: &&mut Letter| known.id == *letter && known.answers.len() < ANSWERS_MAX;
                if let Some(known) = self.0.iter_mut().find(has_room) {
                    known.answers.push((names::party_name(names, by), text.clone()));
                }
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let words = |text: &Bytes| std::str::from_utf8(text).ok().map(str::to_owned);
        let answer = |(by, text): &(String, Bytes)| json!({ "by": by, "text": words(text) });
        let letter = |letter: &Letter| {
            json!({
                "letter": hex(&letter.id), "writer": letter.writer, "name": letter.name, "text": words(&letter.text),
                "payload": hex(&letter.text),
                "answers": letter.answers.iter().map(answer).collect::<Vec<_>>(),
            })
        };
        self.0.iter().map(letter).collect::<Vec<_>>().into()
    }

    /// By id, or by its writer's name: then the newest of that name.
    pub(super) fn choices(&self) -> Vec<Choice<Digest>> {
        let newest = |at: usize, name: &str| self.0.iter().skip(at + 1).all(|later| later.name != name);
        let all = self.0.iter().enumerate().map(|(at, letter)| Choice {
            kind: "letter".into(),
            name: if newest(at, &letter.name) { letter.name.clone() } else { String::new() },
            id: hex(&letter.id),
            value: letter.id,
        });
        all.collect()
    }
}
