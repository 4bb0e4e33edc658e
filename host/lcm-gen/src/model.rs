//! The types of `.lcm` files as data, for programs that learn at run time which types there are.

use crate::build::{BuildError, read};
use crate::check::{Type, check};
use crate::tree::{Kind, Member, Name, Primitive, Size};
use crate::{Error, Source, parse};
use std::collections::BTreeMap;
use std::path::Path;

/// Types, each of which may have others of them in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// All types.
    pub types: Vec<Structure>,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// Its name in the file, with the package.
    pub name: String,
    /// Which type it is: the first eight bytes of its messages.
    pub fingerprint: u64,
    /// Its fields, in the order in which messages have them.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What each of its elements is.
    pub element: Element,
    /// The lengths of an array, outermost first; none if it is no array.
    pub lengths: Vec<Length>,
}

/// What a field is, or each element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `int8_t`
    I8,
    /// `int16_t`
    I16,
    /// `int32_t`
    I32,
    /// `int64_t`
    I64,
    /// `byte`
    Byte,
    /// `float`
    F32,
    /// `double`
    F64,
    /// `string`
    Text,
    /// `boolean`
    Flag,
    /// The type with this place in [`Model::types`].
    Message(usize),
}

/// How long an array is in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Always so long.
    Fixed(u32),
    /// As long as the field with this place says. It comes before the array, and is an integer.
    Field(usize),
}

impl Model {
    /// The types of these files together: a type of one may be used in another.
    ///
    /// # Errors
    /// A file cannot be read, or something in it is wrong.
    pub fn read(files: &[impl AsRef<Path>]) -> Result<Self, BuildError> {
        let sources: Result<Vec<Source>, BuildError> = files.iter().map(|file| read(file.as_ref())).collect();
        Ok(Self::new(&sources?)?)
    }

    /// The same of what was read already.
    ///
    /// # Errors
    /// Something in a file is wrong.
    pub fn new(sources: &[Source]) -> Result<Self, Error> {
        let types = check(parse::parse(sources)?)?;
        let places = types.iter().zip(0_usize..);
        let places: BTreeMap<&Name, usize> =
            places.map(|(one, place)| (&one.structure.name, place)).collect();
        let types: Result<Vec<Structure>, Error> = types.iter().map(|one| structure(one, &places)).collect();
        Ok(Self { types: types? })
    }
}

fn structure(one: &Type, places: &BTreeMap<&Name, usize>) -> Result<Structure, Error> {
    let members = &one.structure.members;
    let fields: Result<Vec<Field>, Error> =
        members.iter().map(|member| field(member, members, places)).collect();
    Ok(Structure { name: one.structure.name.whole(), fingerprint: one.fingerprint, fields: fields? })
}

fn field(member: &Member, all: &[Member], places: &BTreeMap<&Name, usize>) -> Result<Field, Error> {
    let element = match &member.kind {
        Kind::Primitive(primitive) => primitive_element(*primitive),
        Kind::Named(name) => match places.get(name) {
            Some(place) => Element::Message(*place),
            // `check` has seen that it is there.
            None => return member.place.wrong(format!("no file defines {}", name.whole())),
        },
    };
    let mut lengths = Vec::new();
    for dimension in &member.dimensions {
        lengths.push(match &dimension.size {
            Size::Fixed(length) => Length::Fixed(*length),
            Size::Field(name) => match all.iter().position(|other| other.name == *name) {
                Some(place) => Length::Field(place),
                // The parser has seen that it is there.
                None => return member.place.wrong(format!("there is no field {name}")),
            },
        });
    }
    Ok(Field { name: member.name.clone(), element, lengths })
}

fn primitive_element(primitive: Primitive) -> Element {
    match primitive {
        Primitive::I8 => Element::I8,
        Primitive::I16 => Element::I16,
        Primitive::I32 => Element::I32,
        Primitive::I64 => Element::I64,
        Primitive::Byte => Element::Byte,
        Primitive::F32 => Element::F32,
        Primitive::F64 => Element::F64,
        Primitive::Text => Element::Text,
        Primitive::Flag => Element::Flag,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> Result<Model, Error> {
        Model::new(&[Source { name: "a.lcm".into(), text: text.into() }])
    }

    #[test]
    fn types_are_told_with_their_fields() {
        let told = model("package p; struct b { a one; int8_t n; double m[n][3]; } struct a { b more; }");
        assert!(told.is_err(), "a type that is in itself has no end");
        let model =
            model("package p; struct b { a one; int8_t n; double m[n][3]; } struct a { byte x; }").unwrap();
        let [a, b] = model.types.as_slice() else { panic!("{model:?}") };
        assert_eq!((a.name.as_str(), b.name.as_str()), ("p.a", "p.b"));
        assert_ne!(a.fingerprint, b.fingerprint);
        let [one, _, m] = b.fields.as_slice() else { panic!("{b:?}") };
        assert_eq!((one.element, one.lengths.as_slice()), (Element::Message(0), &[][..]));
        assert_eq!(
            (m.element, m.lengths.as_slice()),
            (Element::F64, &[Length::Field(1), Length::Fixed(3)][..])
        );
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let wrong = model("struct a {\n  b_t x; }").unwrap_err().to_string();
        assert!(wrong.starts_with("a.lcm:2:7: no file defines b_t"), "{wrong}");
    }
}
