//! What people see: colours if wanted, tables, short ids. Data goes to the standard output, the
//! rest elsewhere.

use crate::exit::Failure;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::Path;
use tabled::builder::Builder;
use tabled::settings::{Padding, Style};

/// How a word is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Bold,
    Dim,
    Green,
    Red,
    Cyan,
}

/// Whether colours are wanted: on a terminal, unless NO_COLOR holds anything (no-color.org).
fn coloured() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stdout().is_terminal()
}

/// `text`, painted if colours are wanted.
pub(crate) fn paint(paint: Paint, text: &str) -> String {
    if !coloured() {
        return text.to_owned();
    }
    let code = match paint {
        Paint::Bold => 1,
        Paint::Dim => 2,
        Paint::Red => 31,
        Paint::Green => 32,
        Paint::Cyan => 36,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// One line of data. A reader that has gone away is no error of ours. Any other reason ends the
/// program: whoever reads the rest must not take a part of it for the whole.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush()) {
        std::process::exit(match unwritten(&error) {
            None => 0,
            Some(failure) => {
                eprintln!("folkmoot: {failure}");
                failure.exit as i32
            }
        });
    }
}

/// The standard output does not take what is said; nothing, if only its reader has gone.
pub(crate) fn unwritten(error: &std::io::Error) -> Option<Failure> {
    let gone = error.kind() == std::io::ErrorKind::BrokenPipe;
    let why = folkmoot::tools::in_words(error);
    let text = format!(
        "the output cannot be written: {why}. Not all of it is there. Make room, or send it elsewhere, and run the \
         command again"
    );
    (!gone).then(|| Failure::new(crate::exit::mended(folkmoot::tools::is_passing(error)), text))
}

/// The value as JSON, or `text` for people.
pub fn data(json: bool, value: &Value, text: impl FnOnce() -> String) {
    line(&if json { value.to_string() } else { text() });
}

/// Columns under a heading, as wide as they need to be.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut all = Builder::new();
    all.push_record(heading.iter().copied());
    rows.iter().for_each(|row| all.push_record(row));
    let laid = all.build().with(Style::empty()).with(Padding::new(0, 2, 0, 0)).to_string();
    let mut lines = laid.lines().map(str::trim_end);
    let heading = lines.next().map(|line| paint(Paint::Bold, line));
    heading.into_iter().chain(lines.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

/// Text from others, made harmless for a terminal: control characters (escape sequences, line ends)
/// are replaced, and so are the marks that turn the direction of writing.
pub(crate) fn harmless(text: &str) -> String {
    let hides =
        |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    text.chars().map(|c| if c.is_control() || hides(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a person can read it: no bytes of a picture, say, that happen to be UTF-8.
fn is_text(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || c.is_whitespace() || c == '\u{1b}')
}

/// What others have said as text in JSON: nothing if it is not UTF-8, or if more than an eighth of
/// it are characters for which JSON needs six bytes each. So it takes two and a half times its
/// length at most.
pub(crate) fn words(bytes: &[u8]) -> Option<&str> {
    let long = |c: &&u8| **c < b' ' && !matches!(**c, b'\n' | b'\t' | b'\r' | 0x08 | 0x0c);
    let few = bytes.iter().filter(long).count() <= bytes.len() / 8;
    std::str::from_utf8(bytes).ok().filter(|_| few)
}

/// What others have said, for people: of what is no text, only how long it is. A text of several
/// lines has a mark before each but the first, so that nobody's words look like another's.
pub(crate) fn said(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text(text) => text
            .split('\n')
            .map(|line| harmless(line.trim_end_matches('\r')))
            .collect::<Vec<_>>()
            .join("\n  | "),
        _ => format!("({}, not text)", many(bytes.len(), "byte")),
    }
}

/// As [`harmless`], for what comes from a file that anybody may have made: what cannot be seen is
/// replaced too, since two names that differ by it look alike.
pub(crate) fn visible(text: &str) -> String {
    folkmoot_identity::names::visible(text)
}

/// A path in JSON, which has text alone: what is not UTF-8 in it is replaced.
pub(crate) fn path(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// `1 vote`, `2 votes`.
pub fn many(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// As [`many`], for a count that comes from a field of a JSON value.
pub(crate) fn many_of(count: u64, what: &str) -> String {
    many(usize::try_from(count).unwrap_or(usize::MAX), what)
}

/// The first eight digits of an id.
pub fn short(hex: &str) -> &str {
    hex.get(..8).unwrap_or(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_cannot_move_the_cursor() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc\u{202e}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
        assert_eq!(harmless("grüß dich 👋"), "grüß dich 👋");
    }

    #[test]
    fn text_in_json_takes_two_and_a_half_times_its_length_at_most() {
        for text in ["a\"\\\n\u{1}\u{1b}", "\n\t\r", "\0\0\0\0\0\0\0\0", "\"", "grüß dich 👋"] {
            let text = text.repeat(1_000);
            let line = serde_json::to_string(&words(text.as_bytes())).unwrap();
            assert!(line.len() <= text.len() * 5 / 2 + 2, "{}", line.len());
        }
        assert_eq!(words(b"12345678\x1b"), Some("12345678\u{1b}"));
        assert_eq!(words(b"1234567\x1b"), Some("1234567\u{1b}"));
        assert_eq!((words(b"123456\x1b"), words(b"\xff")), (None, None));
    }

    #[test]
    fn what_is_no_text_is_shown_by_its_length() {
        assert_eq!(said(&[0xff, 0xd8, 0xff]), "(3 bytes, not text)");
        assert_eq!(said(b"\0"), "(1 byte, not text)");
        assert_eq!(said(b"\x7fELF\x02\x01\x01"), "(7 bytes, not text)");
        assert_eq!(said("one\r\nanna:\ttwo\u{1b}[2J".as_bytes()), "one\n  | anna:\u{fffd}two\u{fffd}[2J");
        assert_eq!(said("zoë 👋".as_bytes()), "zoë 👋");
        assert_eq!(said(b""), "");
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for hidden in
            ["\u{200b}", "\u{feff}", "\u{ad}", "\u{61c}", "\u{e0041}", "\u{2028}", "\u{fe0f}", "\u{202e}"]
        {
            assert_eq!(visible(&format!("a{hidden}b")), "a\u{fffd}b", "{hidden:?}");
        }
        assert_eq!(visible("grüß dich 日本"), "grüß dich 日本");
    }

    #[test]
    fn columns_are_as_wide_as_what_is_seen() {
        let rows = [["日本", "\u{1b}[32mgood\u{1b}[0m", "x"], ["anna", "bad", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let seen = table(&["NAME", "", "WHY"], &rows);
        assert_eq!(seen, "NAME        WHY\n日本  \u{1b}[32mgood\u{1b}[0m  x\nanna  bad");
        assert_eq!(table(&["A", "B"], &[vec!["1".into()]]), "A  B\n1", "a row may be short");
        assert_eq!(table(&["A"], &[]), "A");
    }
}
