//! Reads messages by the types of `.lcm` files.
//!
//! The rules are those of types that are compiled in, PUB-56 to PUB-62, and `typed::Reader` holds
//! them. Of each message a bounded part is kept ([`Room`]); the rest is checked all the same.

use super::value::{Value, beginning};
use crate::exit::{Exit, Failure};
use folkmoot_lcm_gen::BuildError;
use folkmoot_lcm_gen::model::{Element, Field, Length, Model, Structure};
use folkmoot_pubsub::typed::{DecodeError, Fixed, Reader, decode_by};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How much is kept of a message.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Fields, arrays, and elements of arrays.
    values: usize,
    /// Bytes of strings.
    text: usize,
    shortened: bool,
}

const ROOM: Room = Room { values: 2_000, text: 16 << 10, shortened: false };

/// How many numbers are read at once.
const PIECE: usize = 1_024;

/// Types that the user knows.
#[derive(Debug)]
pub(super) struct Types {
    model: Model,
    /// By fingerprint: the first type, and the names of all that have it.
    known: BTreeMap<u64, (usize, String)>,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen<'m> {
    /// Of no type that is known. `None`: it is too short for a fingerprint.
    Unknown(Option<u64>),
    Damaged {
        name: &'m str,
        why: DecodeError,
    },
    Fields {
        name: &'m str,
        fields: Value<'m>,
        /// Whether that is not all.
        shortened: bool,
    },
}

impl Types {
    pub(super) fn read(files: &[PathBuf]) -> Result<Self, Failure> {
        Model::read(files).map(Self::new).map_err(|error| match error {
            BuildError::LocalFile { file, error } => Failure::file(&file, &error),
            other => Failure::new(Exit::Configuration, other.to_string()),
        })
    }

    fn new(model: Model) -> Self {
        let mut known: BTreeMap<u64, (usize, String)> = BTreeMap::new();
        for (place, one) in model.types.iter().enumerate() {
            // What tells types apart is their fields, not their names.
            let names = known.entry(one.fingerprint).or_insert_with(|| (place, String::new()));
            names.1.push_str(if names.1.is_empty() { "" } else { " or " });
            names.1.push_str(&one.name);
        }
        Self { model, known }
    }

    /// What this message is.
    pub(super) fn see(&self, payload: &[u8]) -> Seen<'_> {
        let fingerprint = payload.first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
        let Some((wanted, (place, name))) = fingerprint.and_then(|got| self.known.get_key_value(&got)) else {
            return Seen::Unknown(fingerprint);
        };
        let mut room = ROOM;
        let read = decode_by(payload, *wanted, |from| self.message(*place, from, &mut room));
        match read {
            Ok(fields) => {
                let fields = fields.unwrap_or(Value::Fields { begin: Vec::new(), length: 0 });
                Seen::Fields { name, fields, shortened: room.shortened }
            }
            Err(why) => Seen::Damaged { name, why },
        }
    }

    fn message<'m>(
        &'m self,
        place: usize,
        from: &mut Reader<'_>,
        room: &mut Room,
    ) -> Result<Option<Value<'m>>, DecodeError> {
        let fields = self.model.types.get(place).map(|Structure { fields, .. }| fields.as_slice());
        let fields = fields.unwrap_or_default();
        from.message_by(|from| {
            let (keeps, mut begin, mut integers) = (room.value(), Vec::new(), Vec::new());
            for field in fields {
                let lengths = lengths(field, &integers);
                let integer = integer(field, from).transpose()?;
                integers.push(integer.unwrap_or(0));
                let value = match integer {
                    Some(integer) => room.value().then_some(Value::Whole(integer)),
                    None => self.array(field.element, &lengths, from, room)?,
                };
                begin.extend(value.map(|value| (field.name.as_str(), value)));
            }
            Ok(keeps.then_some(Value::Fields { begin, length: fields.len() }))
        })
    }

    /// An array with these lengths, or an element without any.
    fn array<'m>(
        &'m self,
        element: Element,
        lengths: &[i64],
        from: &mut Reader<'_>,
        room: &mut Room,
    ) -> Result<Option<Value<'m>>, DecodeError> {
        match (lengths, element) {
            ([], Element::Message(place)) => self.message(place, from, room),
            ([], Element::Text) => Ok(room.text(from.str()?)),
            ([], element) => numbers(element, None, from, room),
            ([last], element) if !matches!(element, Element::Message(_) | Element::Text) => {
                numbers(element, Some(*last), from, room)
            }
            ([first, inner @ ..], element) => {
                let (keeps, mut begin, mut length) = (room.value(), Vec::new(), 0_usize);
                from.list(*first, |from| {
                    length = length.saturating_add(1);
                    begin.extend(self.array(element, inner, from, room)?);
                    Ok(())
                })?;
                Ok(keeps.then_some(Value::List { begin, length }))
            }
        }
    }
}

impl Room {
    /// Whether there is room for a value more.
    fn value(&mut self) -> bool {
        let left = self.values.checked_sub(1);
        self.shortened |= left.is_none();
        self.values = left.unwrap_or(0);
        left.is_some()
    }

    fn text<'m>(&mut self, text: &str) -> Option<Value<'m>> {
        self.value().then(|| {
            let begin = beginning(text, self.text).to_owned();
            self.shortened |= begin.len() < text.len();
            self.text = self.text.saturating_sub(begin.len());
            Value::Text { begin, bytes: text.len() }
        })
    }
}

/// The lengths of an array, in this message.
fn lengths(field: &Field, integers: &[i64]) -> Vec<i64> {
    let length = |length: &Length| match length {
        Length::Fixed(length) => i64::from(*length),
        Length::Field(place) => integers.get(*place).copied().unwrap_or(0),
    };
    field.lengths.iter().map(length).collect()
}

/// What may be the length of an array.
fn integer(field: &Field, from: &mut Reader<'_>) -> Option<Result<i64, DecodeError>> {
    match (field.lengths.as_slice(), field.element) {
        ([], Element::I8) => Some(from.value::<i8>().map(i64::from)),
        ([], Element::I16) => Some(from.value::<i16>().map(i64::from)),
        ([], Element::I32) => Some(from.value::<i32>().map(i64::from)),
        ([], Element::I64) => Some(from.value::<i64>()),
        _ => None,
    }
}

/// So many numbers or booleans, or one that is in no array.
fn numbers<'m>(
    element: Element,
    count: Option<i64>,
    from: &mut Reader<'_>,
    room: &mut Room,
) -> Result<Option<Value<'m>>, DecodeError> {
    match element {
        Element::I8 => take::<i8>(count, from, room, |number| Value::Whole(number.into())),
        Element::I16 => take::<i16>(count, from, room, |number| Value::Whole(number.into())),
        Element::I32 => take::<i32>(count, from, room, |number| Value::Whole(number.into())),
        Element::I64 => take::<i64>(count, from, room, Value::Whole),
        Element::Byte => take::<u8>(count, from, room, |number| Value::Whole(number.into())),
        Element::F32 => take::<f32>(count, from, room, Value::Short),
        Element::F64 => take::<f64>(count, from, room, Value::Real),
        Element::Flag => take::<bool>(count, from, room, Value::Flag),
        Element::Text | Element::Message(_) => Ok(None),
    }
}

fn take<'m, T: Fixed>(
    count: Option<i64>,
    from: &mut Reader<'_>,
    room: &mut Room,
    value: fn(T) -> Value<'m>,
) -> Result<Option<Value<'m>>, DecodeError> {
    let Some(count) = count else {
        let one = from.value()?;
        return Ok(room.value().then(|| value(one)));
    };
    let bytes = from.bytes_of::<T>(count)?;
    let (keeps, mut begin, mut length) = (room.value(), Vec::new(), 0_usize);
    // What is not kept is read too, in pieces: not every byte is a boolean.
    for piece in bytes.chunks(T::BYTES.saturating_mul(PIECE)) {
        for one in T::all(piece)? {
            length = length.saturating_add(1);
            begin.extend(room.value().then(|| value(one)));
        }
    }
    Ok(keeps.then_some(Value::List { begin, length }))
}

#[cfg(test)]
mod tests;
