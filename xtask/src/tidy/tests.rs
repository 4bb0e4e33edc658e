//! Each check finds the breach that it is for, and finds nothing in sources that are in order.

use super::{Source, callers, circles, columns, parsed, programs, sizes};

fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

fn house(files: &[(&str, &str)]) -> Vec<parsed::Parsed> {
    let sources: Vec<Source> = files.iter().map(|(path, text)| source(path, text)).collect();
    let (parsed, unparsed) = parsed::parse(&sources, &["protocol/"]);
    assert_eq!(unparsed, Vec::<String>::new());
    parsed
}

/// Four modules, each of which takes a name from the next; the last takes `back`.
fn ring(back: &str) -> Vec<parsed::Parsed> {
    house(&[
        ("protocol/x/src/lib.rs", "mod a; mod b; mod c; mod d; pub use b::B; pub struct Root;"),
        ("protocol/x/src/a.rs", "use crate::B; pub struct A;"),
        ("protocol/x/src/b.rs", "use super::c; pub struct B;"),
        ("protocol/x/src/c.rs", "fn f() { crate::d::g() }"),
        ("protocol/x/src/d.rs", back),
    ])
}

#[test]
fn a_circle_of_four_files_is_found_and_one_of_three_is_not() {
    let found = circles::check(&ring("use crate::a::A; pub fn g() {}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a circle of 4 files") && found[0].contains("a.rs -> protocol/x/src/b.rs"));
    assert_eq!(circles::check(&ring("use crate::b::B; pub fn g() {}")), Vec::<String>::new());
}

#[test]
fn what_the_modules_around_define_makes_no_circle() {
    assert_eq!(circles::check(&ring("use crate::Root; use core::fmt; pub fn g() {}")), Vec::<String>::new());
}

#[test]
fn what_tests_alone_import_makes_no_circle() {
    let text = "pub fn g() {} #[cfg(test)] mod tests { use crate::a::A; } #[cfg(test)] use crate::a::A;";
    assert_eq!(circles::check(&ring(text)), Vec::<String>::new());
}

#[test]
fn a_public_item_without_a_caller_is_found() {
    let found = callers::check(&house(&[(
        "protocol/x/src/lib.rs",
        "pub struct Used; pub struct Alone; impl Alone { pub fn unheard(&self) {} }
         pub fn main() { let _ = Used; main() } #[cfg(test)] fn t(a: Alone) { a.unheard() }",
    )]));
    let names: Vec<&str> = found.iter().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(names, ["Alone", "unheard"], "{found:?}");
}

#[test]
fn an_import_is_no_call() {
    let found = callers::check(&house(&[
        ("protocol/x/src/lib.rs", "mod a; pub use a::imported;"),
        ("protocol/x/src/a.rs", "pub fn imported() {}"),
    ]));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_second_test_program_is_found() {
    let sources =
        ["tests/it/main.rs", "tests/it/rules.rs", "tests/more.rs", "tests/old/main.rs", "tests/it/a/b.rs"]
            .map(|path| source(&format!("protocol/x/{path}"), ""));
    let found = programs::check(&sources);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("more.rs") && found[1].contains("old/main.rs"));
}

#[test]
fn a_long_line_is_found_in_pages_and_doc_comments_only_where_it_can_be_wrapped() {
    let words = "word ".repeat(25);
    let rust = format!("//! {words}\n/// {words}\n// {words}\nlet x = 1; // {words}\n");
    assert_eq!(columns::check(&[source("a.rs", &rust)], &[]).len(), 2);
    let page = format!("{words}\n| {words} |\n    {words}\n```\n{words}\n```\n- {}\n", "x".repeat(120));
    assert_eq!(columns::check(&[], &[source("a.md", &page)]).len(), 1);
}

#[test]
fn a_long_file_is_found_also_if_it_is_a_test() {
    let long = "\n".repeat(501);
    let found = sizes::check(&[source("x/src/a.rs", &long), source("x/tests/it/a.rs", &long)]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(sizes::check(&[source("x/src/a.rs", &"\n".repeat(500))]), Vec::<String>::new());
}
