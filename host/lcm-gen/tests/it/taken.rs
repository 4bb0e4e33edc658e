//! What is generated is Rust, whatever things are called.

use crate::types;
use proptest::prelude::*;

/// Names that would get in the way of what is generated, if they could.
const HARD: &str = include_str!("../../../../testing/types/hard.lcm");

#[test]
fn names_of_rusts_own_are_no_hindrance() {
    let text = types(HARD).unwrap();
    syn::parse_file(&text).unwrap();
    for part in ["pub mod core_ {", "pub mod std_ {", "pub mod u8_ {", "pub mod self_ {", "pub mod crate_ {"]
    {
        assert!(text.contains(part), "{part}");
    }
    for part in [
        "pub struct Vec_ {",
        "pub struct String_ {",
        "pub struct Self_ {",
        "pub self_: String",
        "pub __: String",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains("pub const r#type: i8 = 2;") && text.contains("pub r#gen: String,"));
}

#[test]
fn comments_stay_where_they_belong() {
    let text = types(
        "// a licence\n\npackage p;\n/* What it is.\n * And more. */ struct a {\n  // one\n  // more of one\n  int8_t x; // of x\n\
         /* of y and z */ int8_t y, z;\n  const int8_t C = 1; // of C\n  int8_t none;\n}",
    )
    .unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    for part in [
        "/// What it is. /// And more. #[derive",
        "/// one /// more of one /// of x pub x: i8, /// of y and z pub y: i8, /// of y and z pub z: i8, pub none: i8,",
        "/// of C pub const C: i8 = 1;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("licence"));
}

/// lcm-gen's manual has these, and its own tests.
#[test]
fn what_lcm_gen_takes_is_taken() {
    for text in [
        "",
        "// nothing",
        "package p;",
        "struct a{}",
        "struct a { };",
        "struct a { int8_t a [ 2 ] [ 0x3 ], b , c[010] ; }",
        "package a; struct x { } package b.c; struct x { a.x one; x2 two; } struct x2 { }",
        "struct a { const int32_t B=0x10,C=-5; const double D = -.5e-3, E = 5.; }",
        "struct a { /* in */ int8_t /* between */ x /* them */ ; /* all */ }",
        "struct a { int32_t n; a x[n]; a y[n][2]; }",
        "struct a { const double A = 0x10, B = 010; const float C = -0xF; }",
        "package p; struct q.r { int8_t x; s y; } struct s { int8_t z; }",
    ] {
        let types = types(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        syn::parse_file(&types).unwrap();
    }
}

/// `N` and 3 are the same length to lcm-gen, and make the same type.
#[test]
fn a_constant_is_a_length() {
    for (constants, lengths) in [
        ("const int8_t N = 3;", ["[N]", "[N][2]", "[n][N]", "[N][n]", "[N][N][N]"]),
        (
            "const int64_t M = 1, N = 3; const int16_t n2 = 70;",
            ["[N]", "[N][M]", "[n2]", "[N][n2][n]", "[M]"],
        ),
    ] {
        for kind in ["double", "byte", "string", "boolean", "b"] {
            let numbers = lengths.map(|text| text.replace("n2", "70").replace('N', "3").replace('M', "1"));
            let of = |lengths: [&str; 5]| {
                let field = |(number, length)| format!("{kind} x{number}{length}; ");
                let fields: String = lengths.into_iter().enumerate().map(field).collect();
                types(&format!("struct b {{ }} struct a {{ int8_t n; {constants} {fields} }}"))
            };
            let (named, written) =
                (of(lengths).unwrap(), of(numbers.each_ref().map(String::as_str)).unwrap());
            assert_eq!(named, written, "{kind} {lengths:?}");
            syn::parse_file(&named).unwrap();
        }
    }
}

#[test]
fn a_struct_may_say_its_package() {
    let text = types("package p; struct q.r { int8_t x; s y; } struct s { int8_t z; }").unwrap();
    assert!(text.contains("pub mod q {") && text.contains("const NAME: &'static str = \"q.r\";"), "{text}");
    assert!(text.contains("pub y: super::p::S,"), "{text}");
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "struct", "package", "const", "int8_t", "string", "double", "a", "b", "n", "N", "a.b", "{", "}", "[",
        "]", ";", ",", "=", "1", "-5", "0x1f", "1e5", "n", "// x\n", "/* y */", "\n", "self", "type",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

const CONSTANTS: &str = "const int32_t N = 0x7, L = 65;";

/// Files that are right: structs of which each may be in arrays of those before it and of its own.
fn files() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "int8_t", "byte", "float", "double", "string", "boolean", "t0", "t1", "own",
    ]);
    let length = prop::sample::select(vec!["[n]", "[m]", "[1]", "[33]", "[70]", "[N]", "[L]"]);
    let field = (kind, prop::collection::vec(length, 0..4));
    let structs = prop::collection::vec(prop::collection::vec(field, 0..6), 1..5);
    structs.prop_map(|structs| {
        let written = structs.iter().enumerate().map(|(own, fields)| {
            let fields = fields.iter().enumerate().map(|(number, (kind, lengths))| {
                let lengths = lengths.concat();
                let variable = lengths.contains(['n', 'm']);
                match *kind {
                    "own" if variable => format!("t{own} f{number}{lengths}; "),
                    "own" => String::new(),
                    named @ ("t0" | "t1") if !variable && named[1..].parse::<usize>().unwrap() >= own => {
                        String::new()
                    }
                    named @ ("t0" | "t1") if named[1..].parse::<usize>().unwrap() >= structs.len() => {
                        String::new()
                    }
                    kind => format!("{kind} f{number}{lengths}; "),
                }
            });
            format!("struct t{own} {{ int16_t n, m; {CONSTANTS} {} }}\n", fields.collect::<String>())
        });
        written.collect()
    })
}

proptest! {
    #[test]
    fn files_that_are_right_make_rust(text in files()) {
        let types = types(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        prop_assert!(syn::parse_file(&types).is_ok(), "{}", types);
    }

    #[test]
    fn words_in_any_order_make_rust_or_an_error(text in words()) {
        if let Ok(types) = types(&text) {
            prop_assert!(syn::parse_file(&types).is_ok(), "{}", types);
        }
    }

    #[test]
    fn anything_is_read_to_its_end(text: String) {
        if let Ok(types) = types(&text) {
            prop_assert!(syn::parse_file(&types).is_ok(), "{}", types);
        }
    }

    #[test]
    fn comments_are_never_more_than_comments(comment: String) {
        let comment = comment.replace("*/", "");
        let types = types(&format!("/*{comment}*/ struct a {{ }}")).unwrap();
        let file = syn::parse_file(&types).unwrap();
        prop_assert_eq!(file.items.len(), 2);
    }
}
