//! The words of a file.

use crate::error::{Error, Place};
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

/// A word of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a number: letters, digits, and `_ . + -`.
    Word(String),
    /// One of `{ } [ ] ; , =`.
    Sign(char),
    /// The lines of a comment, without what marks it as one.
    Comment(Vec<String>),
}

/// A word, and where it begins.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) token: Token,
    pub(crate) place: Place,
}

struct Scanner<'a> {
    rest: Peekable<Chars<'a>>,
    place: Place,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        if next == '\n' {
            self.place.line = self.place.line.saturating_add(1);
            self.place.column = 1;
        } else {
            self.place.column = self.place.column.saturating_add(1);
        }
        Some(next)
    }

    fn while_so(&mut self, is_so: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(next) = self.rest.peek().copied().filter(|next| is_so(*next)) {
            text.push(next);
            self.next();
        }
        text
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-')
}

/// The words of a file, comments among them.
pub(crate) fn tokens(file: &Arc<str>, text: &str) -> Result<Vec<Placed>, Error> {
    let place = Place { file: Arc::clone(file), line: 1, column: 1 };
    let mut scanner = Scanner { rest: text.chars().peekable(), place };
    let mut found = Vec::new();
    while let Some(next) = scanner.rest.peek().copied() {
        let place = scanner.place.clone();
        let token = match next {
            c if c.is_whitespace() => {
                scanner.next();
                continue;
            }
            '{' | '}' | '[' | ']' | ';' | ',' | '=' => {
                scanner.next();
                Token::Sign(next)
            }
            '/' => comment(&mut scanner, &place)?,
            c if is_of_word(c) => Token::Word(scanner.while_so(is_of_word)),
            c => return place.wrong(format!("the character {c:?} has no meaning here")),
        };
        found.push(Placed { token, place });
    }
    Ok(found)
}

fn comment(scanner: &mut Scanner<'_>, place: &Place) -> Result<Token, Error> {
    scanner.next();
    match scanner.next() {
        Some('/') => Ok(Token::Comment(vec![line(&scanner.while_so(|c| c != '\n'), '/')])),
        Some('*') => {
            let mut text = String::new();
            while let Some(next) = scanner.next() {
                if next == '*' && scanner.rest.peek() == Some(&'/') {
                    scanner.next();
                    return Ok(Token::Comment(lines(&text)));
                }
                text.push(next);
            }
            place.wrong("this comment does not end: */ is missing")
        }
        _ => place.wrong("a comment begins with // or /*"),
    }
}

/// A line of a comment, as documentation: what marks it and what would not be text is left out.
fn line(text: &str, mark: char) -> String {
    let text = text.trim().trim_start_matches(mark).trim();
    // Characters that reorder text are refused by the compiler in comments.
    let is_text =
        |c: &char| !c.is_control() && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Nothing in a comment is to be compiled as an example.
    text.chars().filter(is_text).collect::<String>().replace("```", "'''").replace("~~~", "'''")
}

fn lines(text: &str) -> Vec<String> {
    let lines: Vec<String> = text.lines().map(|text| line(text, '*')).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(first, |last| last.saturating_add(1));
    lines.into_iter().take(last).skip(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(text: &str) -> Vec<Vec<String>> {
        let all = tokens(&Arc::from("a"), text).unwrap().into_iter();
        let comments = all.filter_map(|placed| match placed.token {
            Token::Comment(lines) => Some(lines),
            _ => None,
        });
        comments.collect()
    }

    #[test]
    fn comments_lose_their_marks() {
        assert_eq!(comments("/// one \n// two"), [["one"], ["two"]]);
        assert_eq!(comments("/** one\n  * two\n  *\n *   three */"), [["one", "two", "", "three"]]);
        assert_eq!(comments("/**/"), [Vec::<String>::new()]);
        assert_eq!(comments("// ```\u{202e}x\u{1}"), [["'''x"]]);
    }

    #[test]
    fn words_have_their_places() {
        let all = tokens(&Arc::from("a"), "one\n  two[3]; -5 0x1f").unwrap();
        let told: Vec<String> = all.iter().map(|one| format!("{}:{:?}", one.place, one.token)).collect();
        assert_eq!(told[1], "a:2:3:Word(\"two\")");
        assert_eq!(told[2], "a:2:6:Sign('[')");
        assert_eq!(told.last().unwrap(), "a:2:14:Word(\"0x1f\")");
        for (text, wrong) in [("a\n b$", "a:2:3: "), ("/x", "a:1:1: "), (" /* x", "a:1:2: ")] {
            let told = tokens(&Arc::from("a"), text).unwrap_err().to_string();
            assert!(told.starts_with(wrong), "{told}");
        }
    }
}
