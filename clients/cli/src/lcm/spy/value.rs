//! What a message says, as far as it is shown.

use crate::show::harmless;
use serde_json::{Map, Number, Value as Json, json};
use std::fmt::Write;

/// Longest text of a message in the table, in bytes.
const CELL_MAX: usize = 200;
/// Longest array that the table shows whole, and how many elements it shows of longer ones.
const LIST: (usize, usize) = (8, 3);
/// How many characters of a string the table shows.
const TEXT_MAX: usize = 40;

/// A field, or an element of an array. Of what is too long it is the beginning.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'m> {
    Flag(bool),
    Whole(i64),
    Short(f32),
    Real(f64),
    Text { begin: String, bytes: usize },
    List { begin: Vec<Self>, length: usize },
    Fields { begin: Vec<(&'m str, Self)>, length: usize },
}

impl Value<'_> {
    /// For programs: all that was kept.
    pub(super) fn json(&self) -> Json {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Whole(number) => json!(number),
            // The shortest text that means this number: 0.1, not 0.10000000149011612.
            Self::Short(number) => real(number.to_string().parse().unwrap_or(f64::from(*number))),
            Self::Real(number) => real(*number),
            Self::Text { begin, bytes } if begin.len() == *bytes => json!(begin),
            Self::Text { begin, bytes } => json!({ "begin": begin, "bytes": bytes }),
            Self::List { begin, length } => {
                let all: Vec<Json> = begin.iter().map(Self::json).collect();
                if all.len() == *length {
                    Json::Array(all)
                } else {
                    json!({ "begin": all, "length": length })
                }
            }
            Self::Fields { begin, .. } => {
                let fields = begin.iter().map(|(name, value)| ((*name).to_owned(), value.json()));
                Json::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// For people: a line.
    pub(super) fn words(&self) -> String {
        let mut line = String::new();
        match self {
            Self::Fields { begin, length } => fields(begin, *length, &mut line),
            other => other.put(&mut line),
        }
        if line.len() > CELL_MAX {
            line = beginning(&line, CELL_MAX).to_owned() + "...";
        }
        line
    }

    fn put(&self, line: &mut String) {
        // Nobody sees what is behind that.
        if line.len() > CELL_MAX {
            return;
        }
        match self {
            Self::Flag(flag) => put(line, flag),
            Self::Whole(number) => put(line, number),
            // 1e300, not 300 zeros.
            Self::Short(number) => put(line, format_args!("{number:?}")),
            Self::Real(number) => put(line, format_args!("{number:?}")),
            Self::Text { begin, bytes } => text(begin, *bytes, line),
            Self::List { begin, length } => list(begin, *length, line),
            Self::Fields { begin, length } => {
                line.push('{');
                fields(begin, *length, line);
                line.push('}');
            }
        }
    }
}

/// JSON has no word for these.
fn real(number: f64) -> Json {
    Number::from_f64(number).map_or_else(|| json!(number.to_string()), Json::Number)
}

fn put(line: &mut String, value: impl std::fmt::Display) {
    // A string takes all that is written to it.
    let _ = write!(line, "{value}");
}

fn fields(begin: &[(&str, Value<'_>)], length: usize, line: &mut String) {
    for (number, (name, value)) in begin.iter().enumerate() {
        line.push_str(if number == 0 { "" } else { ", " });
        line.push_str(name);
        line.push('=');
        value.put(line);
    }
    if begin.len() < length {
        line.push_str(if begin.is_empty() { "..." } else { ", ..." });
    }
}

fn list(begin: &[Value<'_>], length: usize, line: &mut String) {
    let shown = if length <= LIST.0 { LIST.0 } else { LIST.1 }.min(begin.len());
    line.push('[');
    for (number, value) in begin.iter().take(shown).enumerate() {
        line.push_str(if number == 0 { "" } else { ", " });
        value.put(line);
    }
    if shown < length {
        put(line, format_args!("{}... {length} in all", if shown == 0 { "" } else { ", " }));
    }
    line.push(']');
}

fn text(begin: &str, bytes: usize, line: &mut String) {
    let shown = beginning(begin, TEXT_MAX);
    put(line, format_args!("{:?}", harmless(shown)));
    if shown.len() < bytes {
        put(line, format_args!("... {bytes} bytes in all"));
    }
}

/// The longest beginning of at most so many bytes.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: i64, length: usize) -> Value<'static> {
        Value::List { begin: (0..count).map(Value::Whole).collect(), length }
    }

    #[test]
    fn what_is_long_is_shortened_and_says_so() {
        let text = |text: &str, bytes| Value::Text { begin: text.into(), bytes };
        let begin = vec![
            ("utime", Value::Whole(i64::MIN)),
            ("on", Value::Flag(true)),
            ("tenth", Value::Short(0.1)),
            ("nan", Value::Real(f64::NAN)),
            ("whole", numbers(8, 8)),
            ("long", numbers(9, 9)),
            ("cut", numbers(2, 70_000)),
            ("name", text("an\u{1b}na\u{202e}", 8)),
        ];
        let all = Value::Fields { length: begin.len(), begin };
        assert_eq!(
            all.words(),
            "utime=-9223372036854775808, on=true, tenth=0.1, nan=NaN, whole=[0, 1, 2, 3, 4, 5, 6, 7], \
             long=[0, 1, 2, ... 9 in all], cut=[0, 1, ... 70000 in all], name=\"an\u{fffd}na\u{fffd}\""
        );
        let json = all.json();
        assert_eq!((&json["tenth"], &json["nan"]), (&json!(0.1), &json!("NaN")));
        assert_eq!((&json["long"][8], &json["utime"]), (&json!(8), &json!(i64::MIN)));
        assert_eq!(json["cut"], json!({ "begin": [0, 1], "length": 70_000 }));
        assert_eq!(text("ab", 5).json(), json!({ "begin": "ab", "bytes": 5 }));
        let long = "ä".repeat(30);
        let shown = format!("{:?}... 60 bytes in all", "ä".repeat(20));
        assert_eq!(text(&long, 60).words(), shown);
        let deep = Value::List { begin: vec![text(&"x".repeat(40), 40); 8], length: 8 };
        assert_eq!(deep.words().len(), CELL_MAX + 3);
    }
}
