//! The grammar, by recursive descent. It is lcm-gen's, without `enum`, which LCM does not
//! document.
//!
//! ```text
//! file      = { "package" NAME ";" | "struct" NAME "{" { constant | field } "}" [ ";" ] }
//! constant  = "const" TYPE NAME "=" NUMBER { "," NAME "=" NUMBER } ";"
//! field     = TYPE NAME { "[" NUMBER | NAME "]" } { "," NAME { "[" ... "]" } } ";"
//! ```

use crate::Source;
use crate::cursor::Cursor;
use crate::error::{Error, Place};
use crate::tokens::tokens;
use crate::tree::{Constant, Dimension, Kind, Member, Name, Primitive, Struct};
use crate::{length, number};
use std::sync::Arc;

/// Longest file, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

/// The types of all files, in their order.
pub(crate) fn parse(sources: &[Source]) -> Result<Vec<Struct>, Error> {
    let mut structs = Vec::new();
    for source in sources {
        let file = Arc::from(source.name.as_str());
        let begin = Place { file: Arc::clone(&file), line: 1, column: 1 };
        if source.text.len() > FILE_BYTES_MAX {
            return begin.wrong(format!("the file has more than {FILE_BYTES_MAX} bytes"));
        }
        let words = tokens(&file, &source.text)?;
        let cursor = Cursor::new(words, begin);
        Parser { cursor, package: Vec::new() }.file(&mut structs)?;
    }
    Ok(structs)
}

struct Parser {
    cursor: Cursor,
    package: Vec<String>,
}

impl Parser {
    fn file(&mut self, structs: &mut Vec<Struct>) -> Result<(), Error> {
        loop {
            let about = self.cursor.comments();
            if self.cursor.is_at_end() {
                return Ok(());
            }
            let (word, place) = self.cursor.word("package or struct")?;
            match word.as_str() {
                "package" => self.package()?,
                "struct" => structs.push(self.structure(about)?),
                "enum" => {
                    return place
                        .wrong("enum is not read: LCM does not document it. Use const in a struct instead");
                }
                _ => return place.wrong(format!("{word:?} stands here, and package or struct is missing")),
            }
        }
    }

    fn package(&mut self) -> Result<(), Error> {
        let (name, place) = self.cursor.word("the name of the package")?;
        self.package = parts(&name, &place)?;
        self.cursor.sign(';')
    }

    fn structure(&mut self, about: Vec<String>) -> Result<Struct, Error> {
        let (word, place) = self.cursor.word("the name of the struct")?;
        if Primitive::of(&word).is_some() {
            return place
                .wrong(format!("{word} is a type that LCM has of itself. Call the struct something else"));
        }
        let name = self.name(&word, &place)?;
        let mut all = Struct { name, place, about, members: Vec::new(), constants: Vec::new() };
        self.cursor.sign('{')?;
        loop {
            let about = self.cursor.comments();
            if self.cursor.takes('}') {
                // Some write a semicolon here.
                self.cursor.takes(';');
                return Ok(all);
            }
            let (word, place) = self.cursor.word("a field or }")?;
            match word.as_str() {
                "const" => self.constants(&mut all, about)?,
                "struct" | "enum" => {
                    return place
                        .wrong(format!("a {word} in a struct is not LCM. Define it before this struct"));
                }
                _ => self.members(&mut all, &word, &place, about)?,
            }
        }
    }

    fn members(
        &mut self,
        all: &mut Struct,
        kind: &str,
        place: &Place,
        about: Vec<String>,
    ) -> Result<(), Error> {
        let kind = self.kind(kind, place)?;
        let first = all.members.len();
        loop {
            let (name, place) = self.cursor.word("the name of a field")?;
            is_free(all, &name, &place)?;
            let dimensions = self.dimensions(all)?;
            all.members.push(Member { kind: kind.clone(), name, place, about: about.clone(), dimensions });
            if !self.cursor.takes(',') {
                break;
            }
        }
        self.cursor.sign(';')?;
        let trailing = self.cursor.trailing();
        let new = all.members.iter_mut().skip(first);
        new.for_each(|member| member.about.extend(trailing.iter().cloned()));
        Ok(())
    }

    fn kind(&self, word: &str, place: &Place) -> Result<Kind, Error> {
        if let Some(primitive) = Primitive::of(word) {
            return Ok(Kind::Primitive(primitive));
        }
        Ok(Kind::Named(self.name(word, place)?))
    }

    /// A name with its package, which is the file's if the name says none.
    fn name(&self, word: &str, place: &Place) -> Result<Name, Error> {
        let mut package = parts(word, place)?;
        let short = package.pop().unwrap_or_default();
        if package.is_empty() {
            package.clone_from(&self.package);
        }
        Ok(Name { package, short })
    }

    fn dimensions(&mut self, all: &Struct) -> Result<Vec<Dimension>, Error> {
        let mut dimensions = Vec::new();
        while self.cursor.takes('[') {
            let (text, place) = self.cursor.word("the length of the array")?;
            dimensions.push(length::dimension(all, &text, &place)?);
            length::is_short(&dimensions, &place)?;
            self.cursor.sign(']')?;
        }
        Ok(dimensions)
    }

    fn constants(&mut self, all: &mut Struct, about: Vec<String>) -> Result<(), Error> {
        let (kind, place) = self.cursor.word("the type of the constant")?;
        let primitive = Primitive::of(&kind);
        let numbers = |one: &Primitive| one.is_integer() || matches!(one, Primitive::F32 | Primitive::F64);
        let Some(primitive) = primitive.filter(numbers) else {
            return place.wrong(format!(
                "{kind:?} is no type of a constant: int8_t, int16_t, int32_t, int64_t, float and double are"
            ));
        };
        let first = all.constants.len();
        loop {
            let (name, place) = self.cursor.word("the name of a constant")?;
            is_free(all, &name, &place)?;
            self.cursor.sign('=')?;
            let (text, at) = self.cursor.word("the value of the constant")?;
            let Some(value) = number::value(primitive, &text) else {
                return at.wrong(format!("{text:?} is no {}, or does not fit in it", primitive.name()));
            };
            all.constants.push(Constant { primitive, name, place, about: about.clone(), text, value });
            if !self.cursor.takes(',') {
                break;
            }
        }
        self.cursor.sign(';')?;
        let trailing = self.cursor.trailing();
        let new = all.constants.iter_mut().skip(first);
        new.for_each(|constant| constant.about.extend(trailing.iter().cloned()));
        Ok(())
    }
}

/// Whether nothing else in the struct has this name.
fn is_free(all: &Struct, name: &str, place: &Place) -> Result<(), Error> {
    is_name(name, place)?;
    let members = all.members.iter().map(|member| (&member.name, &member.place));
    let constants = all.constants.iter().map(|constant| (&constant.name, &constant.place));
    match members.chain(constants).find(|(taken, _)| *taken == name) {
        Some((_, at)) => place.wrong(format!("{name} was there before, at {at}")),
        None => Ok(()),
    }
}

pub(crate) fn is_name(name: &str, place: &Place) -> Result<(), Error> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(());
    }
    place.wrong(format!("{name:?} is no name: it has letters, digits and _, and begins with no digit"))
}

/// The parts of a name with dots.
fn parts(name: &str, place: &Place) -> Result<Vec<String>, Error> {
    let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
    parts.iter().try_for_each(|part| is_name(part, place))?;
    Ok(parts)
}
