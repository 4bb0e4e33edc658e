//! How long an array is: a number, a constant, or a field before it.

use crate::error::{Error, Place};
use crate::number::integer;
use crate::parse::is_name;
use crate::tree::{Constant, Dimension, Kind, Size, Struct, Value};

/// Most dimensions of an array.
const DIMENSIONS_MAX: usize = 8;
/// Longest message of LCM, in bytes: no array of fixed length has more elements.
const ELEMENTS_MAX: u32 = 1 << 28;

/// The dimension that the word in the brackets says. `all` has what stands before the array.
pub(crate) fn dimension(all: &Struct, word: &str, place: &Place) -> Result<Dimension, Error> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        let wrong = || format!("{word:?} is no length of an array: a number from 1 on is");
        return fixed(word, integer(word, 64), place, wrong);
    }
    is_name(word, place)?;
    match all.constants.iter().find(|constant| constant.name == word) {
        Some(constant) => of_constant(constant, place),
        None => of_field(all, word, place),
    }
}

fn fixed(
    text: &str,
    number: Option<i64>,
    place: &Place,
    wrong: impl FnOnce() -> String,
) -> Result<Dimension, Error> {
    match number.filter(|number| *number > 0).map(u32::try_from) {
        Some(Ok(size)) => Ok(Dimension { text: text.to_owned(), size: Size::Fixed(size) }),
        Some(Err(_)) => too_long(place),
        None => place.wrong(wrong()),
    }
}

/// lcm-gen puts what the constant is in the place of its name, and so does the fingerprint.
fn of_constant(constant: &Constant, place: &Place) -> Result<Dimension, Error> {
    let Constant { name, text, value, .. } = constant;
    let Value::Integer(number) = *value else { return no_integer(name, place) };
    let wrong =
        || format!("the constant {name} is {number}, which is no length of an array: a number from 1 on is");
    fixed(text, Some(number), place, wrong)
}

fn of_field(all: &Struct, name: &str, place: &Place) -> Result<Dimension, Error> {
    let Some(member) = all.members.iter().find(|member| member.name == name) else {
        return place.wrong(format!(
            "no field or constant {name} stands before this array in its struct, so it cannot be its length"
        ));
    };
    let is_integer = matches!(member.kind, Kind::Primitive(primitive) if primitive.is_integer());
    if is_integer && member.dimensions.is_empty() {
        return Ok(Dimension { text: name.to_owned(), size: Size::Field(name.to_owned()) });
    }
    no_integer(name, place)
}

fn no_integer(name: &str, place: &Place) -> Result<Dimension, Error> {
    place.wrong(format!(
        "{name} cannot be the length of an array: only int8_t, int16_t, int32_t and int64_t can"
    ))
}

/// Whether an array of these dimensions fits in a message, if its fields are as short as can be.
pub(crate) fn is_short(dimensions: &[Dimension], last: &Place) -> Result<(), Error> {
    if dimensions.len() > DIMENSIONS_MAX {
        return last.wrong(format!("an array has at most {DIMENSIONS_MAX} dimensions"));
    }
    let elements = dimensions.iter().try_fold(1_u32, |elements, dimension| match dimension.size {
        Size::Fixed(size) => elements.checked_mul(size),
        Size::Field(_) => Some(elements),
    });
    if elements.is_some_and(|elements| elements <= ELEMENTS_MAX) { Ok(()) } else { too_long(last) }
}

fn too_long<T>(place: &Place) -> Result<T, Error> {
    place.wrong("the array is longer than any message")
}
