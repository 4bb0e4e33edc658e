//! A line as tokens: words that must be the same everywhere, and what is of one run only (ids,
//! times, durations, views), which has a shape.

use std::str::FromStr as _;
use std::sync::LazyLock;

static WORDS: LazyLock<std::collections::HashSet<&str>> =
    LazyLock::new(|| bip39::Language::English.word_list().iter().copied().collect());

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Token {
    /// The same at each run.
    Plain(String),
    /// Hexadecimal digits, at least eight: the name of something.
    Id(String),
    /// Eight words for digits.
    Words(String),
    /// A time of the calendar.
    Time,
    /// A time in seconds since 1970.
    Stamp,
    /// How long something took.
    Duration,
    /// The name of a view.
    View,
    /// `0cd3…`: digits of an id that are left out.
    CutId,
    /// `…` or `...`: anything.
    Any,
}

/// The tokens of a line; of spaces it matters only whether there are any.
pub(super) fn tokens(line: &str) -> Vec<Token> {
    let (mut rest, mut found) = (line.trim(), Vec::new());
    while !rest.is_empty() {
        let (token, length) = next(rest, &found);
        found.push(token);
        rest = &rest[length..];
    }
    found
}

fn next(rest: &str, before: &[Token]) -> (Token, usize) {
    let special = any(rest)
        .or_else(|| time(rest))
        .or_else(|| clock(rest, before))
        .or_else(|| view(rest))
        .or_else(|| duration(rest))
        .or_else(|| words(rest, before));
    special.unwrap_or_else(|| plain(rest))
}

fn any(rest: &str) -> Option<(Token, usize)> {
    let sign = ["…", "..."].into_iter().find(|sign| rest.starts_with(sign))?;
    Some((Token::Any, sign.len()))
}

/// How many bytes at the beginning are so.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

fn digits(text: &str) -> usize {
    run(text, |c| c.is_ascii_digit())
}

/// As in `2026-11-21T08:44:39Z`.
fn time(rest: &str) -> Option<(Token, usize)> {
    let part = rest.get(..20)?;
    let is = jiff::Timestamp::from_str(part).is_ok() && part.ends_with('Z');
    is.then_some((Token::Time, 20))
}

/// As in `08:44 `, in front of what is said in a chat.
fn clock(rest: &str, before: &[Token]) -> Option<(Token, usize)> {
    let (hour, minute) = rest.get(..5)?.split_once(':')?;
    let is = before.is_empty() && [hour, minute].iter().all(|part| part.len() == 2 && digits(part) == 2);
    (is && rest[5..].starts_with(' ')).then_some((Token::Time, 5))
}

/// As in `6.8192.69bab57a`, a view's name: its number, a drawn one, and whose it is; or its
/// beginning.
fn view(rest: &str) -> Option<(Token, usize)> {
    let first = digits(rest);
    let second = digits(rest.get(first..)?.strip_prefix('.')?);
    let mut end = first + 1 + second;
    while let Some(more) = rest[end..].strip_prefix('.') {
        match run(more, |c| c.is_ascii_hexdigit()) {
            length @ 8.. => end += 1 + length,
            0 if more.starts_with('…') => end += 1 + '…'.len_utf8(),
            _ => break,
        }
    }
    let goes_on = rest[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    (first > 0 && second >= 3 && !goes_on).then_some((Token::View, end))
}

/// As in `10 s`, `0.13s` and `77 ms`.
fn duration(rest: &str) -> Option<(Token, usize)> {
    let number = run(rest, |c| c.is_ascii_digit() || c == '.');
    let unit = rest[number..].trim_start_matches(' ');
    let end = rest.len() - unit.len();
    let unit = &unit[..run(unit, |c| c.is_ascii_alphanumeric())];
    let is = rest.starts_with(|c: char| c.is_ascii_digit()) && ["s", "ms", "us"].contains(&unit);
    is.then_some((Token::Duration, end + unit.len()))
}

/// Eight words of the list in a row; or, behind `words:`, as many as stand before `...`.
fn words(rest: &str, before: &[Token]) -> Option<(Token, usize)> {
    let (mut all, mut length) = (Vec::new(), 0);
    while all.len() < 8 {
        let gap = usize::from(!all.is_empty());
        let (sign, more) = rest[length..].split_at_checked(gap)?;
        let word = &more[..run(more, |c| c.is_ascii_lowercase())];
        if !["", " ", "-"].contains(&sign) || !WORDS.contains(word) {
            break;
        }
        all.push(word);
        length += gap + word.len();
    }
    if all.len() == 8 {
        return Some((Token::Words(all.join(" ")), length));
    }
    let behind = before.iter().rev().find_map(|token| match token {
        Token::Plain(text) if text.trim().is_empty() || text.parse::<u32>().is_ok() => None,
        Token::Plain(text) => Some(text == ":"),
        _ => Some(false),
    });
    let cut = rest[length..].trim_start_matches(' ');
    let sign = any(cut).filter(|_| !all.is_empty() && behind == Some(true))?;
    Some((Token::Any, rest.len() - cut.len() + sign.1))
}

fn plain(rest: &str) -> (Token, usize) {
    let spaces = run(rest, char::is_whitespace);
    if spaces > 0 {
        return (Token::Plain(" ".to_owned()), spaces);
    }
    let length = run(rest, char::is_alphanumeric);
    if length == 0 {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        return (Token::Plain(rest[..first].to_owned()), first);
    }
    let (word, behind) = rest.split_at(length);
    let is_hex = word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if let (true, true, Some(sign)) = (is_hex, length >= 3, behind.strip_prefix('…')) {
        return (Token::CutId, rest.len() - sign.len());
    }
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let token = match length {
        10 if is_number && (word.starts_with('1') || word.starts_with('2')) => Token::Stamp,
        8.. if is_hex => Token::Id(word.to_owned()),
        _ => Token::Plain(word.to_owned()),
    };
    (token, length)
}

#[test]
fn what_is_of_one_run_has_a_shape() {
    let shape = |line: &str| tokens(line).into_iter().filter(|token| !matches!(token, Token::Plain(_)));
    let shape = |line: &str| shape(line).collect::<Vec<_>>();
    let id = |text: &str| Token::Id(text.to_owned());
    assert_eq!(shape("anna  c7836d03  2 of 3 voters"), [id("c7836d03")]);
    assert_eq!(shape("view 6.8192.69bab57a at 2026-11-21T08:44:39Z"), [Token::View, Token::Time]);
    assert_eq!(shape("  0.48s ok, 77 ms after, 10 s ago, 3 sheep"), vec![Token::Duration; 3]);
    assert_eq!(shape(r#""group":"0cd3…","keys":[…]"#), [Token::CutId, Token::Any]);
    let said = "shy bread domain zero boost mountain impose face";
    assert_eq!(shape(&format!("in words: {said}")), [Token::Words(said.to_owned())]);
    assert_eq!(shape(&format!(r#""2 votes admit","words":"{said}"}}"#)), [Token::Words(said.to_owned())]);
    assert_eq!(shape("(in words: 7 cycle …)"), [Token::Any]);
    assert_eq!(shape("at the contacts, or ..."), [Token::Any]);
    assert_eq!(shape("from 1795238030"), [Token::Stamp]);
    assert_eq!(tokens("a   b"), tokens(" a b "));
    assert_ne!(tokens("a b"), tokens("ab"));
}
