//! The README's picture: runs `folkmoot demo` and draws what it prints as docs/demo.svg.
//!
//! ```text
//! plain output -> shortened lines -> coloured words -> SVG
//! ```
//! The colours are the ones that the demo uses on a terminal. Only lines are left out, each gap is
//! marked with an ellipsis, and the text comes from the run.

use crate::run::{capture_apart, root};
use std::fmt::Write;

/// Where the picture goes, from the root of the workspace.
const PICTURE: &str = "docs/demo.svg";
/// A longer line is cut off.
const COLUMNS: usize = 100;
/// What stands for text that was left out.
const ELLIPSIS: &str = "…";

/// Sizes in pixels: text, the width of a column, a line, the gap above a chapter, the margin, the
/// title bar.
const FONT: f32 = 13.0;
const COLUMN: f32 = 7.85;
const LINE: f32 = 18.0;
const GAP: f32 = 9.0;
const MARGIN: f32 = 20.0;
const BAR: f32 = 34.0;

/// Runs the demo with `program`, or with a release build of this checkout, and writes the picture.
pub(crate) fn picture(program: Option<&str>) -> Result<(), String> {
    let line = format!("{} demo", program.unwrap_or("cargo run --quiet --release --"));
    eprintln!("$ {line}");
    let (success, told, complaints) = capture_apart(&line)?;
    if !success {
        return Err(format!("`{line}` failed:\n{told}{complaints}"));
    }
    let rows = shorten(&told);
    if rows.len() < 2 {
        return Err(format!("`{line}` told no story:\n{told}"));
    }
    std::fs::write(root().join(PICTURE), draw(&rows)).map_err(|error| format!("{PICTURE}: {error}"))?;
    eprintln!("{PICTURE}: {} lines", rows.len());
    Ok(())
}

/// One line of the picture.
#[derive(Debug, PartialEq)]
enum Row {
    Prompt(String),
    Chapter(String),
    Event { clock: String, text: String },
    Check { clock: String, what: String, detail: String },
    Omission,
    Sum(String),
}

/// The story without its closing table. Of three events or more in a row, the first stands for all.
fn shorten(told: &str) -> Vec<Row> {
    let mut rows = vec![Row::Prompt("folkmoot demo".to_owned())];
    for line in told.lines().take_while(|line| !line.starts_with("STEP ")).filter(|line| !line.is_empty()) {
        match (read(line), rows.as_mut_slice()) {
            (Row::Event { .. }, [.., Row::Omission]) => {}
            (Row::Event { .. }, [.., Row::Event { .. }, second @ Row::Event { .. }]) => {
                *second = Row::Omission
            }
            (row, _) => rows.push(row),
        }
    }
    rows.extend(told.lines().last().map(|sum| Row::Sum(sum.to_owned())));
    rows
}

fn read(line: &str) -> Row {
    if !line.starts_with(' ') {
        return Row::Chapter(line.to_owned());
    }
    let (clock, rest) = line.trim_start().split_once(' ').unwrap_or((line, ""));
    let clock = format!("{clock:>7}");
    let Some(check) = rest.strip_prefix("ok ") else {
        return Row::Event { clock, text: rest.to_owned() };
    };
    let (what, detail) = check.split_once("  ").unwrap_or((check, ""));
    Row::Check { clock, what: what.to_owned(), detail: detail.to_owned() }
}

/// The words of a row with the class of each; the classes are in the style sheet below.
fn words(row: &Row) -> Vec<(&'static str, String)> {
    match row {
        Row::Prompt(command) => vec![("dim", "$ ".to_owned()), ("bold", command.clone())],
        Row::Chapter(title) => vec![("bold", title.clone())],
        Row::Event { clock, text } => vec![("dim", format!("{clock} ")), ("text", text.clone())],
        Row::Check { clock, what, detail } => vec![
            ("dim", format!("{clock} ")),
            ("good", "ok ".to_owned()),
            ("text", what.clone()),
            ("dim", format!("  {detail}")),
        ],
        Row::Omission => vec![("dim", format!("{:8}{ELLIPSIS}", ""))],
        Row::Sum(sum) => vec![("bold", sum.clone())],
    }
}

fn draw(rows: &[Row]) -> String {
    let mut y = BAR + MARGIN;
    let mut body = String::new();
    for (place, row) in rows.iter().enumerate() {
        if place > 0 && matches!(row, Row::Chapter(_) | Row::Sum(_)) {
            y += GAP;
        }
        let _ = write!(body, "<text x=\"{MARGIN}\" y=\"{y}\">");
        for (class, text) in cut(words(row)) {
            let _ = write!(body, "<tspan class=\"{class}\">{}</tspan>", escape(&text));
        }
        body.push_str("</text>\n");
        y += LINE;
    }
    let width = (COLUMNS as f32).mul_add(COLUMN, 2.0 * MARGIN);
    let height = y + MARGIN - LINE / 2.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>folkmoot demo, in a terminal</title>\n\
         <style>\n\
         text {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; \
         white-space: pre; fill: #d6dbe3 }}\n\
         .bold {{ font-weight: bold; fill: #ffffff }}\n\
         .dim {{ fill: #8b95a5 }}\n\
         .good {{ fill: #5fd38d; font-weight: bold }}\n\
         </style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#161b22\" stroke=\"#3a4250\"/>\n\
         <circle cx=\"20\" cy=\"18\" r=\"5.5\" fill=\"#ff5f57\"/>\
         <circle cx=\"39\" cy=\"18\" r=\"5.5\" fill=\"#febc2e\"/>\
         <circle cx=\"58\" cy=\"18\" r=\"5.5\" fill=\"#28c840\"/>\n\
         <g xml:space=\"preserve\">\n{body}</g>\n</svg>\n",
        width - 1.0,
        height - 1.0,
    )
}

/// Cuts a row off where the panel ends.
fn cut(words: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let mut room = COLUMNS;
    let mut kept = Vec::new();
    for (class, text) in words {
        let length = text.chars().count();
        if length > room {
            let start: String = text.chars().take(room.saturating_sub(1)).collect();
            kept.push((class, format!("{}{ELLIPSIS}", start.trim_end())));
            break;
        }
        room -= length;
        kept.push((class, text));
    }
    kept
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_in_a_row_are_told_by_the_first_and_checks_all_stay() {
        let told = "\nOne\n  0.10s anna signs\n  0.11s ben signs\n  0.12s cleo signs\n  0.12s ok signed  by a < b\n\n\
                    STEP  CHECK\nOne   signed\n1 checks, 0 failed, 0.1 s\n";
        let rows = shorten(told);
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[3], Row::Omission);
        assert_eq!(rows[5], Row::Sum("1 checks, 0 failed, 0.1 s".to_owned()));
        let picture = draw(&rows);
        assert!(picture.contains("anna signs") && !picture.contains("ben signs"));
        assert!(picture.contains("by a &lt; b"));
    }

    #[test]
    fn a_line_that_is_too_long_ends_in_an_ellipsis() {
        let kept = cut(vec![("text", "x".repeat(90)), ("dim", "y".repeat(20))]);
        let whole: String = kept.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(whole.chars().count(), COLUMNS);
        assert!(whole.ends_with(ELLIPSIS));
    }
}
