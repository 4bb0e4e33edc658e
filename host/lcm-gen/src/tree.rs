//! What a file defines.

use crate::error::Place;
use std::fmt;

/// A name in a file: `pose`, or `robot.pose` with its package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// The packages, outermost first; none if there is no package.
    pub(crate) package: Vec<String>,
    pub(crate) short: String,
}

impl Name {
    /// The whole name, as the file has it.
    pub(crate) fn whole(&self) -> String {
        let packages = self.package.iter().map(String::as_str);
        packages.chain([self.short.as_str()]).collect::<Vec<_>>().join(".")
    }
}

/// A type that LCM has of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    I8,
    I16,
    I32,
    I64,
    Byte,
    F32,
    F64,
    Text,
    Flag,
}

impl Primitive {
    const ALL: [(&'static str, Self); 9] = [
        ("int8_t", Self::I8),
        ("int16_t", Self::I16),
        ("int32_t", Self::I32),
        ("int64_t", Self::I64),
        ("byte", Self::Byte),
        ("float", Self::F32),
        ("double", Self::F64),
        ("string", Self::Text),
        ("boolean", Self::Flag),
    ];

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, primitive)| *primitive)
    }

    /// Its name in `.lcm` files; the fingerprint depends on it.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, primitive)| *primitive == self).map_or("", |(name, _)| name)
    }

    /// What it is in Rust.
    pub(crate) fn rust(self) -> &'static str {
        match self {
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Byte => "u8",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Text => "String",
            Self::Flag => "bool",
        }
    }

    /// Whether it may be the length of an array.
    pub(crate) fn is_integer(self) -> bool {
        self.bits().is_some()
    }

    /// How long an integer is.
    pub(crate) fn bits(self) -> Option<u32> {
        match self {
            Self::I8 => Some(8),
            Self::I16 => Some(16),
            Self::I32 => Some(32),
            Self::I64 => Some(64),
            _ => None,
        }
    }
}

/// The type of a field, without its dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Primitive(Primitive),
    Named(Name),
}

/// How long an array is in one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Size {
    Fixed(u32),
    /// As long as this field says.
    Field(String),
}

/// One dimension of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dimension {
    /// As the file writes it, or as it writes the constant; the fingerprint depends on it.
    pub(crate) text: String,
    pub(crate) size: Size,
}

/// A field.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) about: Vec<String>,
    /// Outermost first.
    pub(crate) dimensions: Vec<Dimension>,
}

/// What a constant is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i64),
    /// As Rust writes it.
    Real(String),
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(out, "{number}"),
            Self::Real(number) => out.write_str(number),
        }
    }
}

/// A constant.
#[derive(Debug, Clone)]
pub(crate) struct Constant {
    pub(crate) primitive: Primitive,
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) about: Vec<String>,
    /// As the file writes it.
    pub(crate) text: String,
    pub(crate) value: Value,
}

/// A type.
#[derive(Debug, Clone)]
pub(crate) struct Struct {
    pub(crate) name: Name,
    pub(crate) place: Place,
    pub(crate) about: Vec<String>,
    pub(crate) members: Vec<Member>,
    pub(crate) constants: Vec<Constant>,
}
