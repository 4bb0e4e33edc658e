//! Lines: one JSON object each way, read strictly and written so that any terminal may show them.

use crate::{Answer, By, Exit, No, Request};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Lists and objects in one another, at most.
const LEVELS_MAX: u8 = 32;
/// Longest name that a request may be given.
const ID_BYTES_MAX: usize = 64;
/// Greatest number that every reader of JSON takes as it is.
const NUMBER_MAX: u64 = 1 << 53;

/// What a member says first on each connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// `control`.
    pub folkmoot: String,
    /// The versions of this protocol that it speaks.
    pub versions: Vec<u32>,
}

impl Hello {
    /// What this release says.
    pub fn ours() -> Self {
        Self { folkmoot: "control".into(), versions: vec![1] }
    }

    /// Whether it speaks as this release does.
    pub fn is_ours(&self) -> bool {
        self.folkmoot == "control" && self.versions.contains(&1)
    }
}

/// What whoever asks calls a request: its answer carries it, and a subscription's events do, as
/// `subscription`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// At most 2^53.
    Number(u64),
    /// At most 64 bytes.
    Text(String),
}

/// A request as a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// What is asked.
    #[serde(flatten)]
    pub request: Request,
}

/// An answer as a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The request's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// What is answered.
    #[serde(flatten)]
    pub answer: Answer,
}

impl Ask {
    /// Reads a line.
    ///
    /// # Errors
    /// The answer to a line that is no request, with its id if that can be read. The codes:
    /// `malformed` for what is no object of JSON, has a key twice or more than 32 levels; `id` for
    /// a name that is none; `unknown-verb`; `bad-request` for unknown, missing and wrong fields,
    /// which are named.
    pub fn read(line: &str) -> Result<Self, Box<Reply>> {
        let refuse = |id: Option<Id>, code: &str, error: String| {
            Box::new(Reply { id, answer: Answer::No(no(code, error)) })
        };
        let mut fields = strict(line).map_err(|error| refuse(None, "malformed", error))?;
        let id = fields.remove("id").map(id).transpose().map_err(|error| refuse(None, "id", error))?;
        let verb = fields.get("op").and_then(Value::as_str).unwrap_or_default();
        if !Request::VERBS.contains(&verb) {
            let error = format!("there is no request {verb:?}. docs/control.md has them all");
            return Err(refuse(id, "unknown-verb", error));
        }
        match serde_json::from_value(Value::Object(fields)) {
            Ok(request) => Ok(Self { id, request }),
            Err(error) => Err(refuse(id, "bad-request", error.to_string())),
        }
    }
}

fn no(code: &str, error: String) -> No {
    let by = By { code: code.into(), rule: None, fault: "order".into(), forcible: false };
    No { error, exit: Exit::Usage, by: Some(Box::new(by)) }
}

fn id(value: Value) -> Result<Id, String> {
    match serde_json::from_value(value) {
        Ok(Id::Number(number)) if number > NUMBER_MAX => Err("an id is a number up to 2^53".into()),
        Ok(Id::Text(text)) if text.len() > ID_BYTES_MAX => Err("an id has at most 64 bytes".into()),
        Ok(id) => Ok(id),
        Err(_) => Err("an id is a number that is not negative, or a text".into()),
    }
}

/// The object in this line: no key twice, and not too deep.
fn strict(line: &str) -> Result<Map<String, Value>, String> {
    let mut reader = serde_json::Deserializer::from_str(line);
    let value = Strict(0).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    match value.map_err(|error| format!("the line is not JSON as it is read here: {error}"))? {
        Value::Object(fields) => Ok(fields),
        _ => Err("a request is an object".into()),
    }
}

/// Reads a value that lies so deep.
struct Strict(u8);

impl Strict {
    fn inner<E: serde::de::Error>(&self) -> Result<Self, E> {
        if self.0 >= LEVELS_MAX { Err(E::custom("more than 32 levels")) } else { Ok(Self(self.0 + 1)) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self.inner()?)? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value_seed(self.inner()?)?;
            if fields.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
        }
        Ok(fields.into())
    }
}

/// A value as a line, without its end. What would do something to a terminal that shows it
/// (control characters beyond those that JSON escapes, and marks that turn the direction of
/// writing) is escaped: a reader of JSON gets the same text.
///
/// # Errors
/// A value that JSON has no form for.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let line = serde_json::to_string(value)?;
    if !line.chars().any(does_something) {
        return Ok(line);
    }
    let mut safe = String::with_capacity(line.len());
    for one in line.chars() {
        match does_something(one) {
            true => safe.push_str(&format!("\\u{:04x}", u32::from(one))),
            false => safe.push(one),
        }
    }
    Ok(safe)
}

/// All of these have four hexadecimal digits or fewer.
fn does_something(one: char) -> bool {
    matches!(one, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faulty, Line, Ordering};

    #[track_caller]
    fn refused(line: &str) -> (Option<Id>, String, String) {
        let Reply { id, answer } = *Ask::read(line).unwrap_err();
        let Answer::No(no) = answer else { panic!("{answer:?}") };
        assert_eq!(no.exit, Exit::Usage);
        (id, no.by.unwrap().code, no.error)
    }

    #[test]
    fn requests_read_as_they_are_written() {
        let requests = [
            Request::Status,
            Request::Vote { subject: "ab".into(), approve: true, wait: None },
            Request::Fault(Faulty { heal: true, ..Faulty::default() }),
            Request::Lines {
                lines: vec![Line { payload: "00".into(), sign: true }],
                service: Ordering::Safe,
            },
            Request::Burst { count: 1, bytes: 2, service: Ordering::Fifo, seconds: 0.5, window: 3 },
        ];
        for (number, request) in (0..).zip(requests) {
            for id in [None, Some(Id::Number(number)), Some(Id::Text(format!("ä{number}")))] {
                let ask = Ask { id, request: request.clone() };
                let text = line(&ask).unwrap();
                assert_eq!(Ask::read(&text), Ok(ask), "{text}");
            }
        }
        let text = line(&Ask { id: Some(Id::Number(7)), request: Request::Status }).unwrap();
        assert_eq!(text, r#"{"id":7,"op":"status"}"#);
    }

    #[test]
    fn what_is_no_request_is_refused_by_name() {
        let twice = r#"{"op":"status","op":"stop"}"#;
        let deep = format!(r#"{{"id":1,"op":{}1{}}}"#, "[".repeat(40), "]".repeat(40));
        for malformed in ["", "{", "[]", "7", twice, &deep, "{\"op\":\"status\"} {}"] {
            assert_eq!(refused(malformed).1, "malformed", "{malformed}");
        }
        assert!(refused(twice).2.contains("\"op\" is there twice"));
        assert!(refused(&deep).2.contains("32 levels"));
        let (id, code, error) = refused(r#"{"id":"x","op":"nothing"}"#);
        assert_eq!((id, code.as_str()), (Some(Id::Text("x".into())), "unknown-verb"));
        assert!(error.contains("\"nothing\""), "{error}");
        let (id, code, error) = refused(r#"{"id":3,"op":"dial","at":"x","more":1}"#);
        assert_eq!((id, code.as_str()), (Some(Id::Number(3)), "bad-request"));
        assert!(error.contains("more"), "{error}");
        assert!(refused(r#"{"op":"vote"}"#).2.contains("subject"));
        for wrong in ["-1", "[]", "18446744073709551615", &format!("\"{}\"", "x".repeat(65))] {
            assert_eq!(refused(&format!(r#"{{"id":{wrong},"op":"status"}}"#)).1, "id", "{wrong}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_goes_out_escaped_and_comes_in_the_same() {
        let said = "plain \u{1b}[2J \u{9b}31m \u{202e}olleh\u{2069} ä 漢 \u{feff}\u{7f}";
        let text = line(&said).unwrap();
        assert!(!text.chars().any(|one| one.is_control() || does_something(one)), "{text:?}");
        assert!(text.contains("ä 漢"));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), said);
    }

    #[test]
    fn each_verb_is_one_of_a_request() {
        for verb in Request::VERBS {
            let empty = serde_json::from_value::<Request>(serde_json::json!({ "op": verb }));
            // It lacks fields, or needs none: but nobody says that there is no such verb.
            assert!(!empty.is_err_and(|error| error.to_string().contains("unknown variant")), "{verb}");
        }
        let unknown =
            serde_json::from_value::<Request>(serde_json::json!({ "op": "" })).unwrap_err().to_string();
        for verb in Request::VERBS {
            assert!(unknown.contains(&format!("`{verb}`")), "{verb}");
        }
        assert_eq!(unknown.matches('`').count() / 2, Request::VERBS.len() + 1, "{unknown}");
    }
}
