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
    ("struct a.b {}", "1:8: \"a.b\" is no name: it has letters, digits and _, and begins with no digit"),
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
    ("struct a { byte x[n]; }", "1:19: no field n stands before this array, so it cannot be its length"),
    (
        "struct a { float n; byte x[n]; }",
        "1:28: n cannot be the length of an array: only int8_t, int16_t, \
      int32_t and int64_t can",
    ),
    (
        "struct a { int8_t n[2]; byte x[n]; }",
        "1:32: n cannot be the length of an array: only int8_t, \
      int16_t, int32_t and int64_t can",
    ),
    ("struct a { byte x[0]; }", "1:19: \"0\" is no length of an array: a number from 1 on is"),
    (
        "struct a { byte x[3000000000]; }",
        "1:19: \"3000000000\" is no length of an array: a number from 1 on is",
    ),
    (
        "struct a { byte x[-1]; }",
        "1:19: \"-1\" is no name: it has letters, digits and _, and begins with no digit",
    ),
    ("struct a { byte x[20000][20000]; }", "1:26: the array is longer than any message"),
    ("struct a { byte x[1][1][1][1][1][1][1][1][1]; }", "1:43: an array has at most 8 dimensions"),
    ("struct a { byte x[]; }", "1:19: ] stands here, and the length of the array is missing"),
    (
        "struct a { const string x = 1; }",
        "1:18: \"string\" is no type of a constant: int8_t, int16_t, int32_t, \
      int64_t, float and double are",
    ),
    ("struct a { const int8_t x = 128; }", "1:29: \"128\" is no int8_t, or does not fit in it"),
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
