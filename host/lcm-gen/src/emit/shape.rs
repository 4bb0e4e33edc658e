//! A field in Rust: its type, and how it is written and read.
//!
//! Numbers and booleans in fixed arrays of at most 64 in all are arrays in Rust; every other
//! dimension is a `Vec`. A dimension of fixed length that is a `Vec` is checked when it is written.

use crate::names;
use crate::tree::{Dimension, Kind, Member, Name, Primitive, Size};

/// Most numbers that lie in one array. What decodes deep in one another fits a stack by that.
const IN_PLACE_MAX: u32 = 64;
/// Longest array that has `Default`.
const DEFAULT_MAX: u32 = 32;

/// What a field is in Rust.
pub(super) struct Shape<'a> {
    name: &'a str,
    /// The type without dimensions.
    rust: String,
    leaf: Leaf,
    /// Dimensions that are a `Vec`, outermost first.
    vectors: &'a [Dimension],
    /// The lengths of those that are arrays.
    arrays: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaf {
    Fixed,
    Text,
    Message,
}

impl<'a> Shape<'a> {
    pub(super) fn of(within: &Name, member: &'a Member) -> Self {
        let (leaf, rust) = match &member.kind {
            Kind::Primitive(Primitive::Text) => (Leaf::Text, String::from("String")),
            Kind::Primitive(primitive) => (Leaf::Fixed, primitive.rust().to_owned()),
            Kind::Named(name) => (Leaf::Message, names::path(within, name)),
        };
        let mut vectors = member.dimensions.as_slice();
        let (mut arrays, mut elements) = (Vec::new(), 1_u32);
        while let Some((Dimension { size: Size::Fixed(length), .. }, outer)) = vectors.split_last() {
            elements = elements.saturating_mul(*length);
            if leaf != Leaf::Fixed || elements > IN_PLACE_MAX {
                break;
            }
            arrays.insert(0, *length);
            vectors = outer;
        }
        Self { name: &member.name, rust, leaf, vectors, arrays }
    }

    /// Its type.
    pub(super) fn rust(&self) -> String {
        let arrays = self.arrays.iter().rev();
        let inner = arrays.fold(self.rust.clone(), |inner, length| format!("[{inner}; {length}]"));
        self.vectors.iter().fold(inner, |inner, _| format!("Vec<{inner}>"))
    }

    pub(super) fn derives_default(&self) -> bool {
        let is_fixed = |dimension: &Dimension| matches!(dimension.size, Size::Fixed(_));
        !self.vectors.first().is_some_and(is_fixed) && self.arrays.iter().all(|length| *length <= DEFAULT_MAX)
    }

    pub(super) fn default(&self, library: &str) -> String {
        let inner = match self.arrays.is_empty() {
            true => String::from("::core::default::Default::default()"),
            false => format!("{library}::Fixed::ZERO"),
        };
        self.vectors.iter().rev().fold(inner, |inner, dimension| match dimension.size {
            Size::Fixed(length) => format!("::std::vec![{inner}; {length}]"),
            Size::Field(_) => String::from("Vec::new()"),
        })
    }

    /// A statement that writes it.
    pub(super) fn write(&self) -> String {
        let whole = format!("&self.{}", names::value(self.name));
        match (self.leaf, self.vectors) {
            (Leaf::Fixed, []) => format!("to.value({whole});"),
            (_, vectors) => format!("{}?;", self.written(vectors, &whole)),
        }
    }

    fn written(&self, vectors: &[Dimension], value: &str) -> String {
        let name = self.name;
        match (vectors, self.leaf) {
            ([], Leaf::Message) => format!("to.message({value})"),
            ([], _) => format!("to.text({name:?}, {value})"),
            ([last], Leaf::Fixed) => {
                format!("to.values({name:?}, {}, {value})", length(last, "self.", names::value))
            }
            ([first, rest @ ..], _) => {
                let (length, inner) = (length(first, "self.", names::value), self.written(rest, "x"));
                format!("to.list({name:?}, {length}, {value}, |to, x| {inner})")
            }
        }
    }

    /// An expression that reads it.
    pub(super) fn read(&self) -> String {
        self.come(self.vectors)
    }

    fn come(&self, vectors: &[Dimension]) -> String {
        match (vectors, self.leaf) {
            ([], Leaf::Message) => String::from("from.message()"),
            ([], Leaf::Text) => String::from("from.text()"),
            ([], Leaf::Fixed) => String::from("from.value()"),
            ([last], Leaf::Fixed) => format!("from.values({})", length(last, "v_", str::to_owned)),
            ([first, rest @ ..], _) => {
                format!("from.list({}, |from| {})", length(first, "v_", str::to_owned), self.come(rest))
            }
        }
    }
}

fn length(dimension: &Dimension, before: &str, called: impl Fn(&str) -> String) -> String {
    match &dimension.size {
        Size::Fixed(length) => format!("{length}_i64"),
        Size::Field(name) => format!("{before}{}", called(name)),
    }
}
