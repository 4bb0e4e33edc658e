//! Files of at most 500 lines, and functions of at most 70 outside tests, unless an exception with
//! its reason is listed (DECISIONS C2).

use super::Source;

/// Most lines of a file.
const FILE_LINES_MAX: usize = 500;
/// Most lines of a function outside tests.
const FUNCTION_LINES_MAX: usize = 70;

/// (path, reason): files and functions that may be larger.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Lists what is too large.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let counted = |source: &&Source| !EXCEPTIONS.iter().any(|(path, _)| *path == source.path);
    sources.iter().filter(counted).flat_map(of).collect()
}

fn of(source: &Source) -> Vec<String> {
    let mut breaches = Vec::new();
    let lines: Vec<&str> = source.text.lines().collect();
    if lines.len() > FILE_LINES_MAX {
        breaches.push(format!("{}: {} lines; at most {FILE_LINES_MAX}", source.path, lines.len()));
    }
    if source.is_test() {
        return breaches;
    }
    for (start, line) in lines.iter().enumerate() {
        if let Some(name) = function(line).filter(|_| has_body(&lines, start)) {
            let indent = line.len() - line.trim_start().len();
            let end = format!("{}}}", " ".repeat(indent));
            let span = lines.iter().skip(start).position(|line| *line == end).unwrap_or(0);
            if span >= FUNCTION_LINES_MAX {
                breaches.push(format!(
                    "{}:{}: fn {name} has {} lines; at most {FUNCTION_LINES_MAX}",
                    source.path,
                    start + 1,
                    span + 1
                ));
            }
        }
    }
    breaches
}

/// Whether the head that starts on this line ends in a body, not in a semicolon as in a trait.
fn has_body(lines: &[&str], start: usize) -> bool {
    let ends = |line: &&&str| line.ends_with('{') || line.ends_with(';') || line.ends_with('}');
    lines.iter().skip(start).find(ends).is_some_and(|line| line.ends_with('{'))
}

/// The name of the function whose head starts on this line.
fn function(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for word in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.strip_prefix("fn ")?.split(['(', '<']).next()
}
