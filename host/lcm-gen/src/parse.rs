//! The grammar, by recursive descent. It is lcm-gen's, without `enum`, which LCM does not
//! document.
//!
//! ```text
//! file      = { "package" NAME ";" | "struct" NAME "{" { constant | field } "}" }
//! constant  = "const" TYPE NAME "=" NUMBER { "," NAME "=" NUMBER } ";"
//! field     = TYPE NAME { "[" NUMBER | NAME "]" } { "," NAME { "[" ... "]" } } ";"
//! ```

use crate::Source;
use crate::cursor::Cursor;
use crate::error::{Error, Place};
use crate::tokens::tokens;
use crate::tree::{Constant, Dimension, Kind, Member, Name, Primitive, Size, Struct};
use std::sync::Arc;

/// Longest file, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// Most dimensions of an array.
const DIMENSIONS_MAX: usize = 8;
/// Longest message of LCM, in bytes: no array of fixed length has more elements.
const ELEMENTS_MAX: u32 = 1 << 28;

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
        let (short, place) = self.cursor.word("the name of the struct")?;
        is_name(&short, &place)?;
        let name = Name { package: self.package.clone(), short };
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
        let mut package = parts(word, place)?;
        let short = package.pop().unwrap_or_default();
        if package.is_empty() {
            package.clone_from(&self.package);
        }
        Ok(Kind::Named(Name { package, short }))
    }

    fn dimensions(&mut self, all: &Struct) -> Result<Vec<Dimension>, Error> {
        let mut dimensions = Vec::new();
        let mut elements = 1_u32;
        while self.cursor.takes('[') {
            let (text, place) = self.cursor.word("the length of the array")?;
            if dimensions.len() >= DIMENSIONS_MAX {
                return place.wrong(format!("an array has at most {DIMENSIONS_MAX} dimensions"));
            }
            let size = if text.starts_with(|c: char| c.is_ascii_digit()) {
                let size =
                    integer(&text, 32).and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0);
                let Some(size) = size else {
                    return place.wrong(format!("{text:?} is no length of an array: a number from 1 on is"));
                };
                match elements.checked_mul(size).filter(|elements| *elements <= ELEMENTS_MAX) {
                    Some(product) => elements = product,
                    None => return place.wrong("the array is longer than any message"),
                }
                Size::Fixed(size)
            } else {
                is_length(all, &text, &place)?;
                Size::Field(text.clone())
            };
            self.cursor.sign(']')?;
            dimensions.push(Dimension { text, size });
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
            let value = value(primitive, &text, &at)?;
            all.constants.push(Constant { primitive, name, place, about: about.clone(), value });
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

/// Whether a field before this one can be the length of an array.
fn is_length(all: &Struct, name: &str, place: &Place) -> Result<(), Error> {
    is_name(name, place)?;
    let Some(member) = all.members.iter().find(|member| member.name == name) else {
        return place.wrong(format!("no field {name} stands before this array, so it cannot be its length"));
    };
    let is_integer = matches!(member.kind, Kind::Primitive(primitive) if primitive.is_integer());
    if is_integer && member.dimensions.is_empty() {
        return Ok(());
    }
    place.wrong(format!(
        "{name} cannot be the length of an array: only int8_t, int16_t, int32_t and int64_t can"
    ))
}

fn is_name(name: &str, place: &Place) -> Result<(), Error> {
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

/// An integer as C writes it: decimal, 0x and 0 for octal.
fn integer(text: &str, bits: u32) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (digits, radix) = match (hex, digits.strip_prefix('0')) {
        (Some(hex), _) => (hex, 16),
        (None, Some(octal)) if !octal.is_empty() => (octal, 8),
        _ => (digits, 10),
    };
    // The sign was taken already.
    let number =
        if digits.starts_with(['+', '-']) { None } else { i128::from_str_radix(digits, radix).ok() }?;
    let number = if negative { number.checked_neg()? } else { number };
    let bound = 1_i128.checked_shl(bits.saturating_sub(1))?;
    if (-bound..bound).contains(&number) { i64::try_from(number).ok() } else { None }
}

fn value(primitive: Primitive, text: &str, place: &Place) -> Result<String, Error> {
    let value = match primitive.bits() {
        Some(bits) => integer(text, bits).map(|number| number.to_string()),
        None => real(primitive, text),
    };
    match value {
        Some(value) => Ok(value),
        None => place.wrong(format!("{text:?} is no {}, or does not fit in it", primitive.name())),
    }
}

fn real(primitive: Primitive, text: &str) -> Option<String> {
    // Words for infinity are numbers to Rust as well.
    let is_number = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | 'e' | 'E'));
    let number: f64 = text.parse().ok().filter(|number: &f64| is_number && number.is_finite())?;
    if primitive == Primitive::F64 {
        return Some(format!("{number:?}"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "as the C compiler does with a float")]
    let short = number as f32;
    short.is_finite().then(|| format!("{short:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_c() {
        let told = |text| integer(text, 8);
        assert_eq!(told("127"), Some(127));
        assert_eq!(told("-128"), Some(-128));
        assert_eq!(told("0x7f"), Some(127));
        assert_eq!(told("-0x80"), Some(-128));
        assert_eq!(told("010"), Some(8));
        assert_eq!(told("0"), Some(0));
        assert_eq!(told("+5"), Some(5));
        for wrong in ["128", "-129", "08", "0x", "--1", "-", "", "1.0", "1e3", "0x-1", "+-1", "x"] {
            assert_eq!(told(wrong), None, "{wrong}");
        }
        assert_eq!(integer("-0x8000000000000000", 64), Some(i64::MIN));
        assert_eq!(integer("9223372036854775808", 64), None);
    }

    #[test]
    fn reals_are_exact() {
        let told = |primitive, text| real(primitive, text).unwrap_or_default();
        assert_eq!(told(Primitive::F64, "3.141592653589793"), "3.141592653589793");
        assert_eq!(told(Primitive::F64, "5"), "5.0");
        assert_eq!(told(Primitive::F64, "-1e300"), "-1e300");
        assert_eq!(told(Primitive::F32, "0.1"), "0.1");
        for (primitive, wrong) in [(Primitive::F32, "1e39"), (Primitive::F64, "inf"), (Primitive::F64, "nan")]
        {
            assert_eq!(told(primitive, wrong), "");
        }
    }
}
