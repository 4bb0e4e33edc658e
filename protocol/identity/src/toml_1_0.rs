//! `ID-31`: the text of a charter is TOML 1.0, which every reader of TOML reads. The reader here
//! takes 1.1 besides.
//!
//! ```text
//! threshold = { ratio = "30%", window = 5, }      refused: the comma; so is a line break between { and }
//! name = "\x61nna"                                refused: the escape; so is \e
//! ```
//! Of a time without seconds nothing is said: no charter has a time.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

const MARK: char = '\u{feff}';

/// What a text that is TOML 1.1 has and TOML 1.0 does not, with its line.
pub(crate) fn beyond(text: &str) -> Option<(usize, &'static str)> {
    if text.starts_with(MARK) {
        return Some((1, "a byte order mark"));
    }
    let (mut open, mut comma) = (Vec::new(), false);
    for token in Source::new(text).lex() {
        let (kind, span) = (token.kind(), token.span());
        let inline = open.last() == Some(&TokenKind::LeftCurlyBracket);
        let found = match kind {
            TokenKind::Newline if inline => Some("a line break in an inline table, between { and }"),
            TokenKind::RightCurlyBracket if comma => {
                Some("a comma behind the last value of an inline table, before }")
            }
            TokenKind::BasicString | TokenKind::MlBasicString
                if has_new_escape(text.get(span.start()..span.end()).unwrap_or_default()) =>
            {
                Some("the escape \\e or \\x in a text")
            }
            _ => None,
        };
        if let Some(what) = found {
            let before = text.get(..span.start()).unwrap_or_default();
            return Some((before.matches('\n').count().saturating_add(1), what));
        }
        match kind {
            TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket => open.push(kind),
            TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket => drop(open.pop()),
            _ => {}
        }
        if !matches!(kind, TokenKind::Whitespace | TokenKind::Newline | TokenKind::Comment) {
            comma = kind == TokenKind::Comma;
        }
    }
    None
}

/// Whether a text in double quotes has an escape that came with TOML 1.1.
fn has_new_escape(raw: &str) -> bool {
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && matches!(chars.next(), Some('e' | 'x')) {
            return true;
        }
    }
    false
}
