//! What varies from run to run, in place of which a record says what it is.

use serde_json::{Map, Number, Value};
use std::collections::HashSet;
use std::str::FromStr as _;
use std::sync::LazyLock;

/// Fields whose numbers vary, each with the beginning of the lines that print it.
const VARYING: [(&str, &str); 18] = [
    ("", "rtt_us"),
    ("", "rtt_variance_us"),
    ("", "mtu"),
    ("", "heard_seconds_ago"),
    ("", "seconds_ago"),
    ("proof", "number"),
    ("receive", "number"),
    ("retime", "seconds"),
    ("status", "number"),
    ("verify owes.cms", "number"),
    // The matter is over, and forgotten a moment later.
    ("vote reject gina", "need"),
    // The same log is played by one process after another, and ports come again.
    ("lcm ", "repeated"),
    ("lcm ", "late"),
    ("lcm ", "missing"),
    ("lcm spy", "messages"),
    ("lcm spy", "bytes"),
    ("lcm spy", "messages_per_second"),
    ("lcm spy", "bytes_per_second"),
];
/// Whoever was quick enough is in this list.
const QUICK: &str = "committed_by";
/// Seconds since 1970 are between these.
const SECONDS: std::ops::Range<u64> = 1_700_000_000..4_000_000_000;
/// Behind it stands who could be meant, by the order of ids.
const KNOWN: &str = "Known here: ";
/// Longer texts without a space are keys, tickets and the like.
const LONG: usize = 200;

static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| bip39::Language::English.word_list().iter().copied().collect());

/// How the output of one line is masked.
pub(super) struct Mask<'a> {
    /// The folder where all of it happens.
    pub(super) place: &'a str,
    pub(super) line: &'a str,
}

impl Mask<'_> {
    /// A value as it is the same at each run.
    pub(super) fn value(&self, value: &Value) -> Value {
        self.field("", value)
    }

    fn field(&self, field: &str, value: &Value) -> Value {
        match value {
            Value::String(_) if field == QUICK => "<name>".into(),
            Value::String(text) => self.text(text).into(),
            Value::Number(number) if self.varies(field, number) => "<number>".into(),
            Value::Array(items) => self.list(field, items).into(),
            Value::Object(fields) => {
                let within = |name: &str| {
                    if field == QUICK && name == "name" { QUICK.to_owned() } else { name.to_owned() }
                };
                let fields =
                    fields.iter().map(|(name, value)| (self.text(name), self.field(&within(name), value)));
                fields.collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    fn varies(&self, field: &str, number: &Number) -> bool {
        let named = VARYING.iter().any(|(line, name)| self.line.starts_with(line) && *name == field);
        named || number.as_u64().is_some_and(|number| SECONDS.contains(&number))
    }

    /// People and open matters stand in the order of ids, which is another one at each run.
    fn list(&self, field: &str, items: &[Value]) -> Vec<Value> {
        let mut items: Vec<Value> = items.iter().map(|item| self.field(field, item)).collect();
        let has_id = |item: &Value| item.get("member").or(item.get("subject")).is_some();
        if !items.is_empty() && items.iter().all(|item| has_id(item) && item.get("name").is_some()) {
            items.sort_by_key(|item| item["name"].to_string());
        }
        if field == QUICK {
            items.dedup();
        }
        items
    }

    /// The same for a text.
    pub(super) fn text(&self, text: &str) -> String {
        masked_text(text, self.place)
    }
}

fn masked_text(text: &str, place: &str) -> String {
    let text = in_order(&text.replace(place, "<path>"));
    if text.contains('█') {
        return "<QR code>".to_owned();
    }
    if text.len() > LONG && !text.contains(' ') {
        return "<long text>".to_owned();
    }
    let (mut rest, mut told, mut fresh) = (text.as_str(), String::new(), true);
    while let Some(sign) = rest.chars().next() {
        let found = if fresh { what_varies(rest) } else { None };
        let (mask, length) = found.unwrap_or_else(|| (sign.to_string(), sign.len_utf8()));
        fresh = !rest[..length].ends_with(char::is_alphanumeric);
        told.push_str(&mask);
        rest = &rest[length..];
    }
    told
}

/// Those who could be meant, by the order of their names.
fn in_order(text: &str) -> String {
    let Some((before, known)) = text.split_once(KNOWN) else { return text.to_owned() };
    let mut known: Vec<&str> = known.split(", ").collect();
    known.sort_unstable();
    format!("{before}{KNOWN}{}", known.join(", "))
}

/// At the beginning of a word: what stands in its place, and its length.
fn what_varies(rest: &str) -> Option<(String, usize)> {
    pem(rest)
        .or_else(|| date(rest))
        .or_else(|| locator(rest))
        .or_else(|| view(rest))
        .or_else(|| hex(rest))
        .or_else(|| words(rest))
        .or_else(|| duration(rest))
        .or_else(|| share(rest))
}

/// How many bytes at the beginning are so.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|sign| !is(sign)).unwrap_or(text.len())
}

fn digits(text: &str) -> usize {
    run(text, |sign| sign.is_ascii_digit())
}

fn pem(rest: &str) -> Option<(String, usize)> {
    let kind = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?.0;
    let end = format!("-----END {kind}-----");
    Some((format!("<PEM {kind}>"), rest.find(&end)? + end.len()))
}

/// As in `2026-11-21T08:44:39Z`.
fn date(rest: &str) -> Option<(String, usize)> {
    let part = &rest[..run(rest, |sign| sign.is_ascii_digit() || "-:.TZ".contains(sign))];
    let part = part.trim_end_matches('.');
    let is = part.ends_with('Z') && jiff::Timestamp::from_str(part).is_ok();
    is.then(|| ("<date>".to_owned(), part.len()))
}

/// As in `udp/127.0.0.1:4811`, `127.0.0.1:4811` and `udpm://239.255.76.67:7667?ttl=0`.
fn locator(rest: &str) -> Option<(String, usize)> {
    let start = ["udp/", "udpm://"].into_iter().find(|start| rest.starts_with(start)).unwrap_or_default();
    let address = &rest[start.len()..];
    let host = run(address, |sign| sign.is_ascii_digit() || sign == '.');
    let port = digits(address[host..].strip_prefix(':')?);
    let length = host + 1 + port;
    std::net::SocketAddrV4::from_str(&address[..length]).ok()?;
    Some((format!("{start}<locator>"), start.len() + length))
}

/// As in `6.8192.69bab57a`, a view's name, with the group behind it or without.
fn view(rest: &str) -> Option<(String, usize)> {
    let first = digits(rest);
    let second = digits(rest.get(first..)?.strip_prefix('.')?);
    let begin = first + 1 + second;
    let mut end = begin;
    while let Some(more) = rest[end..].strip_prefix('.') {
        match run(more, |sign| sign.is_ascii_hexdigit()) {
            length @ 8.. => end += 1 + length,
            _ => break,
        }
    }
    let goes_on = rest[end..].starts_with(|sign: char| sign.is_ascii_alphanumeric());
    // Alone it must not look like a decision's number and the first digits of its head.
    let is = if end > begin { second > 0 } else { (3..8).contains(&second) };
    (first > 0 && is && !goes_on).then(|| ("<view>".to_owned(), end))
}

/// The beginning of an id, or the whole of it; of what is long, the length varies.
fn hex(rest: &str) -> Option<(String, usize)> {
    let length = run(rest, |sign| sign.is_ascii_digit() || ('a'..='f').contains(&sign));
    let ends = !rest[length..].starts_with(char::is_alphanumeric);
    let mask = match length {
        8 | 16..=128 => format!("<hex {length}>"),
        129.. => "<hex>".to_owned(),
        _ => return None,
    };
    // As in a message's id: the key that sealed it, and its number.
    let behind = rest[length..].strip_prefix('.').unwrap_or_default();
    let number = digits(behind);
    let number = if behind[number..].starts_with(char::is_alphanumeric) { 0 } else { number };
    match number {
        _ if !ends => None,
        0 => Some((mask, length)),
        _ => Some((format!("{mask}.<number>"), length + 1 + number)),
    }
}

/// Eight words of the list in a row.
fn words(rest: &str) -> Option<(String, usize)> {
    let mut length = 0;
    for number in 0..8 {
        let gap = usize::from(number > 0);
        let (sign, more) = rest[length..].split_at_checked(gap)?;
        let word = &more[..run(more, |sign| sign.is_ascii_lowercase())];
        if !["", " ", "-"].contains(&sign) || !WORDS.contains(word) {
            return None;
        }
        length += gap + word.len();
    }
    Some(("<words>".to_owned(), length))
}

/// As in `10 s` and `0.13 ms`.
fn duration(rest: &str) -> Option<(String, usize)> {
    let number = run(rest, |sign| sign.is_ascii_digit() || sign == '.');
    let unit = rest[number..].strip_prefix(' ')?;
    let unit = &unit[..run(unit, char::is_alphanumeric)];
    let is = number > 0 && ["s", "ms", "us"].contains(&unit);
    is.then(|| (format!("<number> {unit}"), number + 1 + unit.len()))
}

/// As in `share 1 of 2`: whose it is depends on the ids.
fn share(rest: &str) -> Option<(String, usize)> {
    let number = digits(rest.strip_prefix("share ")?);
    (number > 0).then(|| ("share <number>".to_owned(), "share ".len() + number))
}

#[test]
fn what_varies_is_masked_and_the_rest_stays() {
    let told = |text: &str| masked_text(text, "/tmp/here");
    let id = "c7836d03ffd19b211c7a8cf3ab80984a6d660aaab58864dfeaa3c1de9004ac31";
    let said = "shy bread domain zero boost mountain impose face";
    for (text, mask) in [
        ("anna (c7836d03) votes, and 2 votes admit".to_owned(), "anna (<hex 8>) votes, and 2 votes admit"),
        (format!("{id}.17836d03ffd19b21.0"), "<hex 64>.<hex 16>.<number>"),
        ("share 1 of 2".to_owned(), "share <number> of 2"),
        ("x. Known here: b, a".to_owned(), "x. Known here: a, b"),
        (format!("17.{id}"), "17.<hex 64>"),
        (format!("1 {said}; of 3"), "1 <words>; of 3"),
        ("silent since 2026-11-21T08:44:39Z (10 s ago).".to_owned(), "silent since <date> (<number> s ago)."),
        ("at udp/127.0.0.1:4811, 127.0.0.1:4811".to_owned(), "at udp/<locator>, <locator>"),
        ("urn:g:239.255.76.68:7668:4".to_owned(), "urn:g:<locator>:4"),
        ("udpm://239.255.76.67:7667?ttl=0; x".to_owned(), "udpm://<locator>?ttl=0; x"),
        ("view 6.8192.69bab57a.533bc32c043ec827c27edd8a9153a445".to_owned(), "view <view>"),
        ("view 6.42.69bab57a, 3.12345678".to_owned(), "view <view>, 3.<hex 8>"),
        ("/tmp/here/anna/identity.pem".to_owned(), "<path>/anna/identity.pem"),
        ("set threshold = 3; version 1.2".to_owned(), "set threshold = 3; version 1.2"),
    ] {
        assert_eq!(told(&text), mask);
    }
}
