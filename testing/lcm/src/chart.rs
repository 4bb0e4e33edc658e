//! A chart like the paper's Figure 8: box plots over the size, both axes logarithmic.

use crate::echo::Row;
use crate::statistics::Summary;
use std::fmt::Write as _;

const WIDTH: f64 = 1_000.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 60.0;
const NAMES: [(&str, &str); 3] = [("liblcm", "#777777"), ("plain", "#1f77b4"), ("secured", "#d62728")];

/// The axes.
struct Axes {
    low: f64,
    high: f64,
    least: f64,
    most: f64,
}

impl Axes {
    fn of(rows: &[Row]) -> Self {
        let all = || rows.iter().flat_map(|row| &row.summaries).filter(|summary| summary.count > 0);
        let low = all().map(|summary| summary.lowest).fold(f64::INFINITY, f64::min);
        let high = all().map(whisker).fold(0.0, f64::max);
        let sizes = || rows.iter().map(|row| row.size as f64);
        Self {
            low: low * 0.9,
            high: high * 1.1,
            least: sizes().fold(f64::INFINITY, f64::min) * 0.85,
            most: sizes().fold(0.0, f64::max) * 1.2,
        }
    }

    fn x(&self, size: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (size / self.least).ln() / (self.most / self.least).ln()
    }

    fn y(&self, time: f64) -> f64 {
        let time = time.clamp(self.low, self.high);
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (time / self.low).ln() / (self.high / self.low).ln()
    }
}

/// Where the upper whisker ends: outliers are hidden, as in the paper.
fn whisker(summary: &Summary) -> f64 {
    (summary.p75 + 1.5 * (summary.p75 - summary.p25)).min(summary.p99.max(summary.p75))
}

/// The chart as an SVG.
pub(crate) fn boxes(rows: &[Row], net: &str) -> String {
    let axes = Axes::of(rows);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\">Round trip by size ({net}); boxes: quartiles, whiskers: 1.5 times their distance</text>\n"
    );
    scales(&mut out, &axes);
    for (place, (name, colour)) in NAMES.into_iter().enumerate() {
        let x = LEFT + 110.0 * place as f64;
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"30\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"41\">{name}</text>",
            x + 18.0
        );
    }
    for row in rows {
        let middle = axes.x(row.size as f64);
        for (place, (summary, (_, colour))) in row.summaries.iter().zip(NAMES).enumerate() {
            if summary.count > 0 {
                one(&mut out, &axes, middle + 9.0 * (place as f64 - 1.0), summary, colour);
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

fn one(out: &mut String, axes: &Axes, x: f64, summary: &Summary, colour: &str) {
    let [low, p25, middle, p75, high] = [
        summary.lowest.max(summary.p25 - 1.5 * (summary.p75 - summary.p25)),
        summary.p25,
        summary.median,
        summary.p75,
        whisker(summary),
    ]
    .map(|time| axes.y(time));
    let _ = writeln!(
        out,
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\" stroke=\"{colour}\"/>\
         <rect x=\"{:.1}\" y=\"{p75:.1}\" width=\"7\" height=\"{:.1}\" fill=\"white\" stroke=\"{colour}\"/>\
         <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"{colour}\" stroke-width=\"2\"/>",
        x - 3.5,
        (p25 - p75).max(0.5),
        x - 3.5,
        x + 3.5
    );
}

fn scales(out: &mut String, axes: &Axes) {
    let (floor, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for time in [10, 12, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1_000, 2_000].map(f64::from) {
        if (axes.low..axes.high).contains(&time) {
            let y = axes.y(time);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{time}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
    }
    for size in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let x = axes.x(size * 1e3);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{floor}\" y2=\"{}\" stroke=\"black\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{size}</text>",
            floor + 5.0,
            floor + 20.0
        );
    }
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">payload, kB</text>\
         <text x=\"18\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {})\">round trip, us</text>",
        right - LEFT,
        floor - TOP,
        (LEFT + right) / 2.0,
        HEIGHT - 18.0,
        (TOP + floor) / 2.0,
        (TOP + floor) / 2.0
    );
}
