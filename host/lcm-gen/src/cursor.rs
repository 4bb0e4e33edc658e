//! Where a parser stands among the words of a file.

use crate::error::{Error, Place};
use crate::tokens::{Placed, Token};

/// The words, and how many of them were taken.
pub(crate) struct Cursor {
    words: Vec<Placed>,
    taken: usize,
    /// Where the last word stood.
    last: Place,
}

impl Cursor {
    pub(crate) fn new(words: Vec<Placed>, begin: Place) -> Self {
        Self { words, taken: 0, last: begin }
    }

    fn take(&mut self) -> Option<Placed> {
        let next = self.words.get(self.taken)?.clone();
        self.taken = self.taken.saturating_add(1);
        Some(next)
    }

    fn comment_if(&mut self, belongs: impl Fn(&Place) -> bool) -> Option<Vec<String>> {
        match self.words.get(self.taken) {
            Some(Placed { token: Token::Comment(lines), place }) if belongs(place) => {
                self.taken = self.taken.saturating_add(1);
                Some(lines.clone())
            }
            _ => None,
        }
    }

    /// The comments that stand here, as one.
    pub(crate) fn comments(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.comment_if(|_| true)).flatten().collect()
    }

    /// A comment that begins on the line of the last word: it belongs to what stands before it.
    pub(crate) fn trailing(&mut self) -> Vec<String> {
        let line = self.last.line;
        self.comment_if(|place| place.line == line).unwrap_or_default()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.taken >= self.words.len()
    }

    /// The next word that is no comment.
    fn next(&mut self, wanted: &str) -> Result<Placed, Error> {
        self.comments();
        match self.take() {
            Some(next) => {
                self.last = next.place.clone();
                Ok(next)
            }
            None => self.last.wrong(format!("the file ends behind this, and {wanted} is missing")),
        }
    }

    /// A name or a number, and where it stands.
    pub(crate) fn word(&mut self, wanted: &str) -> Result<(String, Place), Error> {
        let Placed { token, place } = self.next(wanted)?;
        match token {
            Token::Word(word) => Ok((word, place)),
            other => place.wrong(format!("{} stands here, and {wanted} is missing", told(&other))),
        }
    }

    /// This sign and no other.
    pub(crate) fn sign(&mut self, wanted: char) -> Result<(), Error> {
        let Placed { token, place } = self.next(&wanted.to_string())?;
        match token {
            Token::Sign(sign) if sign == wanted => Ok(()),
            other => place.wrong(format!("{} stands here, and {wanted} is missing", told(&other))),
        }
    }

    /// Whether this sign is next, behind comments or not; if so, it is taken with them.
    pub(crate) fn takes(&mut self, wanted: char) -> bool {
        let ahead = self.words.iter().skip(self.taken);
        let next = ahead.into_iter().find(|next| !matches!(next.token, Token::Comment(_)));
        next.is_some_and(|next| next.token == Token::Sign(wanted)) && self.sign(wanted).is_ok()
    }
}

fn told(token: &Token) -> String {
    match token {
        Token::Word(word) => format!("{word:?}"),
        Token::Sign(sign) => sign.to_string(),
        Token::Comment(_) => String::from("a comment"),
    }
}
