//! What is wrong in a file is told with its place.

use crate::types;
use folkmoot_lcm_gen::{LIBRARY, Source, generate};

/// A file, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    ("structure a {}", "1:1: \"structure\" stands here, and package or struct is missing"),
    ("enum a { B }", "1:1: enum is not read: LCM does not document it. Use const in a struct instead"),
    ("package a", "1:9: the file ends behind this, and ; is missing"),
    ("package 1a;", "1:9: \"1a\" is no name: it has letters, digits and _, and begins with no digit"),
    ("package a..b;", "1:9: \"\" is no name: it has letters, digits and _, and begins with no digit"),
    ("struct 1.b {}", "1:8: \"1\" is no name: it has letters, digits and _, and begins with no digit"),
    (
        "package p; struct int8_t {}",
        "1:19: int8_t is a type that LCM has of itself. Call the struct something else",
    ),
    ("struct a {", "1:10: the file ends behind this, and a field or } is missing"),
    ("struct a {\n  int8_t\n}", "3:1: } stands here, and the name of a field is missing"),
    ("struct a { int8_t x }", "1:21: } stands here, and ; is missing"),
    ("struct a { int8_t x; int8_t x; }", "1:29: x was there before, at a.lcm:1:19"),
    ("struct a { int8_t x; const int8_t x = 1; }", "1:35: x was there before, at a.lcm:1:19"),
    ("struct a { struct b { } }", "1:12: a struct in a struct is not LCM. Define it before this struct"),
    ("struct a {} struct a {}", "1:20: a was there before, at a.lcm:1:8"),
    (
        "struct a { int x; }",
        "1:16: no file defines int, the type of this field. LCM's own types are \
      int8_t, int16_t, int32_t, int64_t, float, double, string, boolean and byte",
    ),
    (
        "package p; struct a { b x; }",
        "1:25: no file defines p.b, the type of this field. LCM's own types \
      are int8_t, int16_t, int32_t, int64_t, float, double, string, boolean and byte",
    ),
    (
        "struct a { const string x = 1; }",
        "1:18: \"string\" is no type of a constant: int8_t, int16_t, int32_t, \
      int64_t, float and double are",
    ),
    ("struct a { const int8_t x = 128; }", "1:29: \"128\" is no int8_t, or does not fit in it"),
    (
        "struct a { const int64_t x = 0xffffffffffffffff; }",
        "1:30: \"0xffffffffffffffff\" is no int64_t, or does not fit in it",
    ),
    ("struct a { const double x = inf; }", "1:29: \"inf\" is no double, or does not fit in it"),
    ("struct a { const float x = 1e39; }", "1:28: \"1e39\" is no float, or does not fit in it"),
    ("struct a { const int8_t x; }", "1:26: ; stands here, and = is missing"),
    (
        "struct a { a x; }",
        "1:14: a is in itself, or more than 32 types are in one another. Only an array of \
      variable length can end that",
    ),
    (
        "struct a { b x[2]; } struct b { a y; }",
        "1:14: b is in itself, or more than 32 types are in one another. \
      Only an array of variable length can end that",
    ),
    (
        "struct pose_t {} struct PoseT {}",
        "1:8: pose_t and PoseT (at a.lcm:1:25) would both be called PoseT in Rust",
    ),
    (
        "struct A {} package A; struct b {}",
        "1:31: the package A and A (at a.lcm:1:8) would both be called A in Rust",
    ),
    (
        "struct a { byte self, self_; }",
        "1:23: self_ and self (at a.lcm:1:17) would both be called self_ in Rust",
    ),
    ("struct a { /* x", "1:12: this comment does not end: */ is missing"),
    ("struct a { byte x: }", "1:18: the character ':' has no meaning here"),
    ("struct a { byte \u{f6}; }", "1:17: the character '\u{f6}' has no meaning here"),
];

/// The same of lengths of arrays: files that have them in their second line.
const LENGTHS: &[(&str, &str)] = &[
    ("byte x[0];", "2:8: \"0\" is no length of an array: a number from 1 on is"),
    ("byte x[08];", "2:8: \"08\" is no length of an array: a number from 1 on is"),
    ("byte x[3q];", "2:8: \"3q\" is no length of an array: a number from 1 on is"),
    ("byte x[-1];", "2:8: \"-1\" is no name: it has letters, digits and _, and begins with no digit"),
    ("byte x[b.N];", "2:8: \"b.N\" is no name: it has letters, digits and _, and begins with no digit"),
    ("byte x[];", "2:8: ] stands here, and the length of the array is missing"),
    ("byte x[1][1][1][1][1][1][1][1][1];", "2:32: an array has at most 8 dimensions"),
    ("byte x[268435457];", "2:8: the array is longer than any message"),
    ("byte x[5000000000];", "2:8: the array is longer than any message"),
    ("byte x[20000][20000];", "2:15: the array is longer than any message"),
    ("const int64_t N = 5000000000; byte x[N];", "2:38: the array is longer than any message"),
    ("const int32_t N = 20000; byte x[2][N][N];", "2:39: the array is longer than any message"),
    (
        "const int8_t N = 0; byte x[N];",
        "2:28: the constant N is 0, which is no length of an array: a number from 1 on is",
    ),
    (
        "const int8_t N = 2, M = -0x3; byte x[N][M];",
        "2:41: the constant M is -3, which is no length of an array: a number from 1 on is",
    ),
    ("const double N = 3; byte x[N];", NO_INTEGER),
    ("const  float N = 3; byte x[N];", NO_INTEGER),
    ("/*         */ float n; byte x[n];", "2:31: n cannot be the length of an array: "),
    ("byte n[2]; byte x[n];", "2:19: n cannot be the length of an array: "),
    ("byte x[N]; const int8_t N = 3;", UNKNOWN),
    ("byte x[N]; int8_t N;", UNKNOWN),
    ("byte x[N];", UNKNOWN),
    ("byte x[N]; } struct c { const int8_t N = 3;", UNKNOWN),
];
const NO_INTEGER: &str =
    "2:28: N cannot be the length of an array: only int8_t, int16_t, int32_t and int64_t can";
const UNKNOWN: &str =
    "2:8: no field or constant N stands before this array in its struct, so it cannot be its length";

#[test]
fn what_is_no_length_is_told_with_its_place() {
    for (text, wanted) in LENGTHS {
        let text = format!("struct b {{ const int8_t N = 3; }} struct a {{\n{text} }}");
        let told = types(&text).expect_err(&text).to_string();
        assert!(told.starts_with(&format!("a.lcm:{wanted}")), "{text}: {told}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, wanted) in WRONG {
        let told = types(text).expect_err(text).to_string();
        assert_eq!(told, format!("a.lcm:{wanted}"), "{text}");
    }
}

#[test]
fn a_type_is_defined_in_one_file() {
    let source = |name: &str, text: &str| Source { name: name.into(), text: text.into() };
    let files = [source("a.lcm", "package p; struct x {}"), source("b.lcm", "package p;\nstruct x {}")];
    let told = generate(&files, LIBRARY).unwrap_err().to_string();
    assert_eq!(told, "b.lcm:2:8: p.x was there before, at a.lcm:1:19");
    // The package of one file does not reach into the next.
    let files = [source("a.lcm", "package p; struct x {}"), source("b.lcm", "struct x { p.x y; }")];
    assert!(generate(&files, LIBRARY).is_ok());
}

#[test]
fn files_that_take_too_long_are_refused() {
    let long = format!("// {}", "x".repeat(1 << 20));
    assert!(types(&long).unwrap_err().to_string().contains("more than 1048576 bytes"));
    // Each is in all others: there are more ways through them than anyone can go.
    let members: String = (0..30).map(|other| format!("t{other} x{other}[n]; ")).collect();
    let all: String = (0..30).map(|own| format!("struct t{own} {{ int8_t n; {members} }} ")).collect();
    assert!(types(&all).unwrap_err().to_string().ends_with("too many types are in one another here"));
    let chain: String = (0..40).map(|own| format!("struct t{own} {{ t{} x; }} ", own + 1)).collect();
    let told = types(&format!("{chain} struct t40 {{}}")).unwrap_err().to_string();
    assert!(told.contains("more than 32 types are in one another"), "{told}");
}
