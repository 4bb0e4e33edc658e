//! The charts show a time or a rate against a number: a panel for each event, and in it a line for
//! each module, scheme or system. Both axes are logarithmic.

use folkmoot_agreement::ModuleName;
use folkmoot_cli::exit::Failure;
use plotters::coord::Shift;
use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::{
    ChartBuilder, Color, DrawingArea, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, PathElement,
    RGBColor, SVGBackend, Text, WHITE,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Panels in a row.
const COLUMNS: usize = 3;
const PANEL_WIDTH: u32 = 300;
const PANEL_HEIGHT: u32 = 292;
/// Left of a panel, for times and rates.
const MARGIN: u32 = 52;
/// Below it, for the sizes.
const FOOT: u32 = 24;
/// Sizes closer than this share a label.
const LABELS_APART: f64 = 16.0;
const FONT: (&str, u32) = ("sans-serif", 11);
const TITLE: (&str, u32) = ("sans-serif", 13);
const GREY: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const COLOURS: [RGBColor; 9] = [
    RGBColor(0x1b, 0x6c, 0xa8),
    RGBColor(0xc0, 0x39, 0x2b),
    RGBColor(0x2e, 0x8b, 0x57),
    RGBColor(0x8e, 0x44, 0xad),
    RGBColor(0xd6, 0x89, 0x10),
    RGBColor(0x16, 0xa0, 0x85),
    RGBColor(0x34, 0x49, 0x5e),
    RGBColor(0xe3, 0x77, 0xc2),
    RGBColor(0x7f, 0x7f, 0x7f),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub(crate) line: &'static str,
    pub(crate) event: String,
    pub(crate) size: u32,
    /// In the unit of the chart.
    pub(crate) value: f64,
}

/// What the values of a chart are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Millis,
    PerSecond,
}

/// What a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) what: &'static str,
    pub(crate) unit: Unit,
}

impl Point {
    /// A point of a chart of times.
    pub(crate) fn timed(line: &'static str, event: &str, size: u16, time: Duration) -> Self {
        Self { line, event: event.to_owned(), size: size.into(), value: time.as_secs_f64() * 1_000.0 }
    }

    /// Of a row of `bench keying` as `--json` prints it.
    pub(crate) fn of_keying(row: &Value) -> Option<Self> {
        let module = row.get("module")?.as_str()?;
        let module = ModuleName::ALL.iter().find(|known| known.as_str() == module)?;
        let size = u16::try_from(row.get("members")?.as_u64()?).ok()?;
        let time = Duration::try_from_secs_f64(row.get("cpu_ms")?.as_f64()? / 1_000.0).ok()?;
        Some(Self::timed(module.as_str(), row.get("event")?.as_str()?, size, time))
    }
}

/// Draws the chart to a file.
pub(crate) fn save(file: &Path, title: &Title, points: &[Point]) -> Result<(), Failure> {
    std::fs::write(file, draw(title, points)?).map_err(|error| Failure::file(file, &error))?;
    eprintln!("wrote {}", file.display());
    Ok(())
}

/// The picture as text. Panels and lines are in the order in which they come.
fn draw(title: &Title, points: &[Point]) -> Result<String, Failure> {
    let events = different(points.iter().map(|point| point.event.as_str()));
    let lines = different(points.iter().map(|point| point.line));
    let (least, most) = span(points.iter().map(height));
    let powers = (least.log10().floor(), most.log10().ceil());
    let powers = (powers.0, powers.1.max(powers.0 + 1.0));
    // The last panel is the legend's.
    let rows = (events.len() + 1).div_ceil(COLUMNS);
    let height = PANEL_HEIGHT.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX));
    let mut out = String::new();
    {
        let whole = SVGBackend::with_string(&mut out, (PANEL_WIDTH * 3, height)).into_drawing_area();
        whole.fill(&WHITE).map_err(Failure::bug)?;
        let areas = whole.split_evenly((rows, COLUMNS));
        let mut areas = areas.iter();
        for (event, area) in events.iter().zip(areas.by_ref()) {
            let here: Vec<&Point> = points.iter().filter(|point| point.event == *event).collect();
            panel(area, (event, title.unit), powers, &here, &lines)?;
        }
        areas.next().map_or(Ok(()), |area| legend(area, title.what, &lines))?;
        whole.present().map_err(Failure::bug)?;
    }
    Ok(out)
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

/// What a logarithmic axis can show of it.
fn height(point: &Point) -> f64 {
    point.value.max(0.001)
}

/// Powers of two across; up to these powers of ten.
fn panel(
    area: &Area<'_>,
    (event, unit): (&str, Unit),
    (lowest, highest): (f64, f64),
    points: &[&Point],
    lines: &[&str],
) -> Result<(), Failure> {
    let sizes: BTreeSet<u32> = points.iter().map(|point| point.size).collect();
    let (low, high) = span(sizes.iter().map(|size| f64::from(*size)));
    let high = high.max(low * 2.0);
    let powers = std::iter::successors(Some(lowest), |power| Some(power + 1.0));
    let powers = powers.take_while(|power| *power <= highest).map(|power| 10_f64.powf(power));
    let across = (low..high).log_scale().base(2.0).with_key_points(labelled(&sizes, (high / low).log2()));
    let up = (10_f64.powf(lowest)..10_f64.powf(highest)).log_scale().with_key_points(powers.collect());
    let mut chart = ChartBuilder::on(area)
        .caption(event, TITLE)
        .margin_right(12)
        .x_label_area_size(FOOT)
        .y_label_area_size(MARGIN)
        .build_cartesian_2d(across, up)
        .map_err(Failure::bug)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(GREY)
        .bold_line_style(GREY)
        .label_style(FONT)
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&|value| in_words(unit, *value))
        .draw()
        .map_err(Failure::bug)?;
    for (line, colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let mut here: Vec<&&Point> = points.iter().filter(|point| point.line == *line).collect();
        here.sort_by_key(|point| point.size);
        let here = here.into_iter().map(|point| (f64::from(point.size), height(point)));
        chart.draw_series(LineSeries::new(here, colour.stroke_width(2))).map_err(Failure::bug)?;
    }
    Ok(())
}

/// Where there is room for a label on an axis of so many powers of two.
fn labelled(sizes: &BTreeSet<u32>, powers: f64) -> Vec<f64> {
    let mut all: Vec<f64> = Vec::new();
    let apart = LABELS_APART / f64::from(PANEL_WIDTH - MARGIN) * powers;
    for size in sizes.iter().map(|size| f64::from(*size)) {
        if all.last().is_none_or(|last| (size / last).log2() >= apart) {
            all.push(size);
        }
    }
    all
}

/// Short enough for the margin.
fn in_words(unit: Unit, value: f64) -> String {
    // Powers of ten below one are not exact.
    let round = |number: f64| (number * 1_000.0).round() / 1_000.0;
    match unit {
        Unit::PerSecond => format!("{}", round(value)),
        Unit::Millis if value < 1_000.0 => format!("{} ms", round(value)),
        Unit::Millis => format!("{} s", round(value / 1_000.0)),
    }
}

fn legend(area: &Area<'_>, what: &str, lines: &[&str]) -> Result<(), Failure> {
    let left = i32::try_from(MARGIN).unwrap_or_default();
    area.draw(&Text::new(what, (left, 8), TITLE.into_font())).map_err(Failure::bug)?;
    for ((line, colour), y) in lines.iter().zip(COLOURS.iter().cycle()).zip((34..).step_by(18)) {
        let stroke = PathElement::new(vec![(left, y), (left + 24, y)], colour.stroke_width(2));
        area.draw(&stroke).map_err(Failure::bug)?;
        area.draw(&Text::new(*line, (left + 32, y - 6), FONT.into_font())).map_err(Failure::bug)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Duration, Point, Title, Unit, draw};
    use serde_json::json;

    #[test]
    fn rows_are_read_as_they_are_printed() {
        let row = json!({ "module": "tgdh", "event": "join", "members": 512, "cpu_ms": 12.5, "more": 1 });
        let time = Duration::from_micros(12_500);
        let point = Point::timed("tgdh", "join", 512, time);
        assert_eq!(Point::of_keying(&row), Some(point));
        for wrong in [json!({}), json!({ "module": "x", "event": "join", "members": 2, "cpu_ms": 1 })] {
            assert_eq!(Point::of_keying(&wrong), None);
        }
        let negative = json!({ "module": "tgdh", "event": "join", "members": 2, "cpu_ms": -1.0 });
        assert_eq!(Point::of_keying(&negative), None);
    }

    #[test]
    fn panels_and_lines_come_in_their_order_each_with_its_own_sizes() {
        let point = |line, event: &str, size| Point::timed(line, event, size, Duration::from_millis(3));
        let points = [point("plain", "votes", 5), point("plain", "votes", 1), point("frost", "members", 20)];
        let picture = draw(&Title { what: "time of a join", unit: Unit::Millis }, &points).unwrap();
        let at = |text: &str| picture.find(&format!("\n{text}\n")).unwrap();
        assert!(at("votes") < at("members") && at("plain") < at("frost"));
        assert_eq!(picture.matches("\n20\n").count(), 1, "20 is no number of votes");
        assert!(at("1") < at("5") && at("1 ms") < at("10 ms"));
        assert!(picture.contains("time of a join"));
    }

    #[test]
    fn rates_are_shown_as_numbers() {
        let point = |size, value| Point { line: "reference", event: "throughput".into(), size, value };
        let title = Title { what: "messages a second", unit: Unit::PerSecond };
        let picture = draw(&title, &[point(100, 5_000_000.0), point(65_536, 20_000.0)]).unwrap();
        for label in ["10000", "10000000", "100", "65536", "reference"] {
            assert!(picture.contains(&format!("\n{label}\n")), "{label}");
        }
        assert!(!picture.contains(" ms"));
    }
}
