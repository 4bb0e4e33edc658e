//! The table as a picture, in the shape of LCMsec's Figure 9: responses against joiners.

use super::table::Row;
use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, IntoFont, LineSeries, PathElement, RGBColor, SVGBackend,
    ShapeStyle, WHITE,
};
use plotters::style::{BLACK, Palette as _, Palette99};

const PANELS: usize = 4;
const SIZE: (u32, u32) = (1_040, 780);
const GREY: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// Draws it.
pub(super) fn draw(rows: &[Row]) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    {
        let whole = SVGBackend::with_string(&mut out, SIZE).into_drawing_area();
        whole.fill(&WHITE)?;
        let areas = whole.split_evenly((2, PANELS / 2));
        let panels = [(false, 0), (false, 10), (true, 0), (true, 10)];
        for ((slow, old), area) in panels.into_iter().zip(&areas) {
            let here: Vec<&Row> = rows.iter().filter(|row| row.slow == slow && row.old == old).collect();
            let most = here.iter().map(|row| row.sheet.max(row.mean)).fold(1.0, f64::max);
            let widest = here.iter().map(|row| row.new).max().unwrap_or(1);
            let timers = if slow { "timers 1000, 300±200 ms" } else { "timers 125, 50±20 ms" };
            let mut chart = ChartBuilder::on(area)
                .caption(format!("|P| = {old}, {timers}"), ("sans-serif", 14).into_font())
                .margin(8)
                .x_label_area_size(32)
                .y_label_area_size(40)
                .build_cartesian_2d(0.0..widest as f64, 0.0..most * 1.05)?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .bold_line_style(GREY)
                .x_desc("|J|")
                .y_desc("JOIN_Responses, mean")
                .draw()?;
            let mut delays: Vec<u64> = here.iter().map(|row| row.delay).collect();
            delays.dedup();
            for (place, delay) in delays.into_iter().enumerate() {
                let colour = Palette99::pick(place).to_rgba();
                let of = || here.iter().filter(move |row| row.delay == delay);
                let ours = of().map(|row| (row.new as f64, row.mean));
                let style = ShapeStyle { color: colour, filled: false, stroke_width: 2 };
                let label = format!("{} ms", delay as f64 / 1_000.0);
                chart
                    .draw_series(LineSeries::new(ours, style))?
                    .label(label)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
                let sheet = of().map(|row| (row.new as f64, row.sheet));
                chart.draw_series(LineSeries::new(sheet, colour.mix(0.3)))?;
            }
            chart
                .configure_series_labels()
                .position(plotters::chart::SeriesLabelPosition::UpperLeft)
                .border_style(BLACK.mix(0.2))
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        whole.present()?;
    }
    Ok(out)
}
