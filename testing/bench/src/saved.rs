//! `folkmoot bench chart`: draws results that earlier runs printed with --json, one value a line.

use crate::admission;
use crate::args::BenchChart;
use crate::chart::{Point, Title, save};
use crate::{compare, live};
use folkmoot_cli::exit::{Exit, Failure};
use serde_json::Value;
use std::path::Path;

/// A kind of result: the name of its bench, the title of its chart, the field that holds its rows,
/// and how to read a row.
type Kind = (&'static str, Title, &'static str, fn(&Value) -> Option<Point>);

const KINDS: [Kind; 3] = [
    ("keying", live::CHARTED, "rows", Point::of_keying),
    ("admission", admission::CHARTED, "joins", admission::point_of),
    ("compare", compare::CHARTED, "rows", compare::point_of),
];

/// Draws all points of these files, which one bench has printed.
pub(crate) fn chart(options: &BenchChart) -> Result<(), Failure> {
    let (mut title, mut points) = (None, Vec::new());
    for file in &options.files {
        let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
        for line in text.lines() {
            let (what, read) = read(line).ok_or_else(|| broken(file))?;
            if title.is_some_and(|title| title != what) {
                return Err(Failure::new(
                    Exit::Usage,
                    "these files hold results of different benches. Draw each bench by itself",
                ));
            }
            title = Some(what);
            points.extend(read);
        }
    }
    let points = admission::charted(points);
    match title.filter(|_| !points.is_empty()) {
        Some(title) => save(&options.out, &title, &points),
        None => Err(Failure::new(Exit::Usage, "these results hold nothing that can be drawn")),
    }
}

/// What the chart of one value shows, and its points.
fn read(line: &str) -> Option<(Title, Vec<Point>)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let bench = value.get("bench")?.as_str()?;
    let (_, what, rows, point) = KINDS.into_iter().find(|(name, ..)| *name == bench)?;
    let points = value.get(rows)?.as_array()?.iter().map(point).collect::<Option<Vec<Point>>>()?;
    Some((what, points))
}

fn broken(file: &Path) -> Failure {
    let other = "it holds something other than what `keying`, `admission` or `compare` prints with --json";
    Failure::file(file, &std::io::Error::other(other))
}
