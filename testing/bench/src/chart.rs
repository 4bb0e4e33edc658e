//! The charts of `folkmoot bench`: time against a number, one panel for each event, one line for each module or scheme, both
//! axes logarithmic. SVG, by hand: a few lines and words.

use folkmoot_agreement::ModuleName;
use folkmoot_cli::exit::Failure;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 240.0;
const MARGIN: f64 = 52.0;
/// Sizes closer than this share a label.
const LABELS_APART: f64 = 16.0;
const COLOURS: [&str; 9] =
    ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#16a085", "#34495e", "#e377c2", "#7f7f7f"];

/// One point of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) line: &'static str,
    pub(crate) event: String,
    pub(crate) size: u16,
    pub(crate) time: Duration,
}

impl Point {
    /// Of a row of `bench keying` as `--json` prints it.
    pub(crate) fn of_keying(row: &Value) -> Option<Self> {
        let module = row.get("module")?.as_str()?;
        let module = ModuleName::ALL.iter().find(|known| known.as_str() == module)?;
        let size = u16::try_from(row.get("members")?.as_u64()?).ok()?;
        let time = Duration::try_from_secs_f64(row.get("cpu_ms")?.as_f64()? / 1_000.0).ok()?;
        Some(Self { line: module.as_str(), event: row.get("event")?.as_str()?.to_owned(), size, time })
    }
}

/// The points that are in a file of values as `--json` prints them, one a line: of each value's `rows`, each by `point`.
pub(crate) fn read(
    file: &Path,
    rows: &str,
    point: fn(&Value) -> Option<Point>,
) -> Result<Vec<Point>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    let broken = || {
        let other = std::io::Error::other("it holds something other than what this bench prints with --json");
        Failure::file(file, &other)
    };
    let mut points = Vec::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).map_err(|_| broken())?;
        let rows = value.get(rows).and_then(Value::as_array).ok_or_else(broken)?;
        let read: Option<Vec<Point>> = rows.iter().map(point).collect();
        points.extend(read.ok_or_else(broken)?);
    }
    Ok(points)
}

/// Draws the chart to a file; `what` says which time it is.
pub(crate) fn save(file: &Path, what: &str, points: &[Point]) -> Result<(), Failure> {
    std::fs::write(file, draw(what, points)).map_err(|error| Failure::file(file, &error))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}

/// The picture as text. Panels and lines are in the order in which they come.
fn draw(what: &str, rows: &[Point]) -> String {
    let events = different(rows.iter().map(|row| row.event.as_str()));
    let lines = different(rows.iter().map(|row| row.line));
    let mut rows: Vec<&Point> = rows.iter().collect();
    rows.sort_by_key(|row| row.size);
    let (width, height) = (PANEL_WIDTH * 3.0, (PANEL_HEIGHT + MARGIN) * 2.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let millis = span(rows.iter().map(|row| log_millis(row)));
    let millis = (millis.0.floor(), millis.1.ceil().max(millis.0.floor() + 1.0));
    for (place, event) in events.iter().enumerate() {
        let of_panel: Vec<&Point> = rows.iter().copied().filter(|row| row.event == *event).collect();
        panel(&mut out, millis, corner(place), event, &of_panel, &lines);
    }
    legend(&mut out, corner(events.len()), what, &lines);
    out.push_str("</svg>\n");
    out
}

fn different<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    words.for_each(|word| {
        if !all.contains(&word) {
            all.push(word);
        }
    });
    all
}

/// The least and the greatest.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// Top left of a panel: three in a row.
fn corner(place: usize) -> (f64, f64) {
    let (column, row) = (place % 3, place / 3);
    (PANEL_WIDTH * column as f64, (PANEL_HEIGHT + MARGIN) * row as f64)
}

/// Powers of two across, powers of ten up.
struct Scale {
    sizes: (f64, f64),
    millis: (f64, f64),
}

impl Scale {
    fn of(rows: &[&Point], millis: (f64, f64)) -> Self {
        let sizes = span(rows.iter().map(|row| f64::from(row.size).log2()));
        Self { sizes: (sizes.0, sizes.1.max(sizes.0 + 1.0)), millis }
    }

    fn x(&self, size: u16) -> f64 {
        let (low, high) = self.sizes;
        MARGIN + (f64::from(size).log2() - low) / (high - low) * (PANEL_WIDTH - MARGIN - 12.0)
    }

    fn y(&self, log_millis: f64) -> f64 {
        let (low, high) = self.millis;
        24.0 + (high - log_millis) / (high - low) * (PANEL_HEIGHT - 24.0)
    }
}

fn log_millis(row: &Point) -> f64 {
    (row.time.as_secs_f64() * 1_000.0).max(0.001).log10()
}

fn panel(
    out: &mut String,
    millis: (f64, f64),
    (left, top): (f64, f64),
    event: &str,
    rows: &[&Point],
    lines: &[&str],
) {
    let scale = Scale::of(rows, millis);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<g transform=\"translate({left:.0} {top:.0})\"><text x=\"{MARGIN}\" y=\"14\" font-weight=\"bold\">{event}</text>"
    );
    let sizes: BTreeSet<u16> = rows.iter().map(|row| row.size).collect();
    let mut last = f64::NEG_INFINITY;
    for size in sizes {
        let x = scale.x(size);
        if x - last < LABELS_APART {
            continue;
        }
        last = x;
        let foot = PANEL_HEIGHT + 14.0;
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{foot:.0}\" text-anchor=\"middle\">{size}</text>");
    }
    let (low, high) = scale.millis;
    let mut power = low;
    while power <= high {
        let (y, right) = (scale.y(power), PANEL_WIDTH - 12.0);
        // Short enough for the margin.
        let label = if power < 3.0 {
            format!("{} ms", 10_f64.powf(power))
        } else {
            format!("{} s", 10_f64.powf(power - 3.0))
        };
        let _ = writeln!(
            out,
            "<path d=\"M{MARGIN} {y:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{y:.1}\" text-anchor=\"end\">{label}</text>",
            MARGIN - 4.0
        );
        power += 1.0;
    }
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let of_line = rows.iter().filter(|row| row.line == *line);
        let points: Vec<String> =
            of_line.map(|row| format!("{:.1},{:.1}", scale.x(row.size), scale.y(log_millis(row)))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
            points.join(" ")
        );
    }
    out.push_str("</g>\n");
}

fn legend(out: &mut String, (left, top): (f64, f64), what: &str, lines: &[&str]) {
    let _ = writeln!(
        out,
        "<g transform=\"translate({left:.0} {top:.0})\"><text x=\"{MARGIN}\" y=\"14\">{what}</text>"
    );
    for (place, (line, colour)) in lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = 34.0 + 18.0 * place as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{MARGIN} {y}h24\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{}\" y=\"{}\">{line}</text>",
            MARGIN + 32.0,
            y + 4.0,
        );
    }
    out.push_str("</g>\n");
}

#[cfg(test)]
mod tests {
    use super::{Duration, Point, draw};
    use serde_json::json;

    #[test]
    fn rows_are_read_as_they_are_printed() {
        let row = json!({ "module": "tgdh", "event": "join", "members": 512, "cpu_ms": 12.5, "more": 1 });
        let time = Duration::from_micros(12_500);
        let point = Point { line: "tgdh", event: "join".into(), size: 512, time };
        assert_eq!(Point::of_keying(&row), Some(point));
        for wrong in [json!({}), json!({ "module": "x", "event": "join", "members": 2, "cpu_ms": 1 })] {
            assert_eq!(Point::of_keying(&wrong), None);
        }
        let negative = json!({ "module": "tgdh", "event": "join", "members": 2, "cpu_ms": -1.0 });
        assert_eq!(Point::of_keying(&negative), None);
    }

    #[test]
    fn panels_and_lines_come_in_their_order_each_with_its_own_sizes() {
        let point = |line, event: &str, size| Point {
            line,
            event: event.to_owned(),
            size,
            time: Duration::from_millis(3),
        };
        let points = [point("plain", "votes", 5), point("plain", "votes", 1), point("frost", "members", 20)];
        let picture = draw("time of a join", &points);
        let at = |text: &str| picture.find(text).unwrap();
        assert!(at(">votes<") < at(">members<") && at(">plain</text>") < at(">frost</text>"));
        assert_eq!(picture.matches("text-anchor=\"middle\">20<").count(), 1, "20 is no number of votes");
        assert!(at("text-anchor=\"middle\">1<") < at("text-anchor=\"middle\">5<"));
        assert!(picture.contains("time of a join"));
    }
}
