//! What things are called in Rust.
//!
//! Fields and constants keep their names. A type has its name in Rust's manner: `pose_t` becomes
//! `PoseT`. A package becomes a module.

use crate::tree::Name;

/// Words that Rust keeps for itself, and allows as `r#word`.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Words that it does not allow at all.
const NEVER: &[&str] = &["_", "crate", "self", "super", "Self"];
/// What a generated module names without a path.
const TYPES: &[&str] = &[
    "Clone",
    "Debug",
    "Default",
    "Err",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Self",
    "Some",
    "String",
    "Vec",
];
const MODULES: &[&str] =
    &["bool", "f32", "f64", "i16", "i32", "i64", "i8", "str", "u8", "usize", "core", "std", "alloc"];

/// A field or a constant.
pub(crate) fn value(name: &str) -> String {
    if NEVER.contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// A package.
pub(crate) fn module(name: &str) -> String {
    if MODULES.contains(&name) { format!("{name}_") } else { value(name) }
}

/// A type.
pub(crate) fn structure(name: &str) -> String {
    let upper = |part: &str| {
        let mut rest = part.chars();
        rest.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(rest).collect::<String>()
    };
    let joined: String = name.split('_').map(upper).collect();
    match joined.chars().next() {
        Some(first) if first.is_ascii_alphabetic() && TYPES.contains(&joined.as_str()) => {
            format!("{joined}_")
        }
        Some(first) if first.is_ascii_alphabetic() => joined,
        _ => format!("T{joined}"),
    }
}

/// The type `to`, as a module `depth` packages deep names it, which is that of `from`.
pub(crate) fn path(from: &Name, to: &Name) -> String {
    let own = structure(&to.short);
    if from.package == to.package {
        return own;
    }
    let up = from.package.iter().map(|_| String::from("super"));
    let down = to.package.iter().map(|part| module(part));
    up.chain(down).chain([own]).collect::<Vec<_>>().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_rusts() {
        assert_eq!(structure("pose_t"), "PoseT");
        assert_eq!(structure("Dutta_Barua_JOIN"), "DuttaBaruaJOIN");
        assert_eq!(structure("vec"), "Vec_");
        assert_eq!((structure("_"), structure("_1")), ("T".into(), "T1".into()));
        assert_eq!(
            (value("type"), value("self"), value("_")),
            ("r#type".into(), "self_".into(), "__".into())
        );
        assert_eq!((module("u8"), module("mod")), ("u8_".into(), "r#mod".into()));
        let name = |whole: &str| {
            let mut package: Vec<String> = whole.split('.').map(str::to_owned).collect();
            let short = package.pop().unwrap();
            Name { package, short }
        };
        assert_eq!(path(&name("a.b.c"), &name("d.e")), "super::super::d::E");
        assert_eq!(path(&name("a.b.c"), &name("a.b.e")), "E");
        assert_eq!(path(&name("c"), &name("a.e")), "a::E");
        assert_eq!(path(&name("a.c"), &name("e")), "super::E");
    }
}
