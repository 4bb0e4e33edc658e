//! Documents are read in a terminal and in a diff, so their lines have at most 100 columns
//! (docs/STYLE.md).

use super::Source;

/// Most columns of a line of prose.
const COLUMNS_MAX: usize = 100;

/// Lists lines of pages and of doc comments that are too long. Tables, code and links that stand
/// alone cannot be wrapped.
pub(super) fn check(rust: &[Source], pages: &[Source]) -> Vec<String> {
    let in_code = rust.iter().flat_map(|source| long(source, doc_comment));
    let in_pages = pages.iter().flat_map(|source| long(source, prose));
    in_code.chain(in_pages).collect()
}

fn long(source: &Source, text: fn(&str) -> Option<&str>) -> Vec<String> {
    let mut fenced = false;
    let mut breaches = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let Some(words) = text(line) else { continue };
        if words.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let columns = line.chars().count();
        if columns > COLUMNS_MAX && !fenced && can_be_wrapped(words) {
            breaches.push(format!(
                "{}:{}: {columns} columns; at most {COLUMNS_MAX}",
                source.path,
                number + 1
            ));
        }
    }
    breaches
}

fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

/// A page's line, unless it is indented code.
fn prose(line: &str) -> Option<&str> {
    (!line.starts_with("    ")).then_some(line)
}

fn can_be_wrapped(words: &str) -> bool {
    let words = words.trim();
    !words.starts_with('|') && words.trim_start_matches(['-', '*', '#', ' ']).contains(' ')
}
