//! Measurements as a chart: one bar a program, its parts the phases.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use crate::measure::Phase;
use crate::samples::Row;

const ROW_HEIGHT: u32 = 22;
const WIDTH: u32 = 1000;

/// The parts of a bar, from left to right.
const PARTS: [(&str, RGBColor); 5] = [
    ("Chalice", RGBColor(0x4e, 0x79, 0xa7)),
    ("to SIL", RGBColor(0xf2, 0x8e, 0x2b)),
    ("read SIL", RGBColor(0x59, 0xa1, 0x4f)),
    ("execute", RGBColor(0xb0, 0x7a, 0xa1)),
    ("prover", RGBColor(0xe1, 0x57, 0x59)),
];

/// The lengths of the parts. With several threads the prover's time is cut to that of verification.
fn parts(row: &Row) -> [f64; PARTS.len()] {
    let prover = row.phase(Phase::Prover).min(row.phase(Phase::Verify));
    [
        row.sum(&[Phase::ChaliceParse, Phase::ChaliceResolve]),
        row.sum(&[Phase::Translate, Phase::Print]),
        row.sum(&[Phase::Parse, Phase::Resolve]),
        row.phase(Phase::Verify) - prover,
        prover,
    ]
}

/// The chart as SVG.
pub fn svg(rows: &[Row]) -> Result<String> {
    let mut text = String::new();
    let longest = rows.iter().map(|row| parts(row).iter().sum::<f64>()).fold(1.0, f64::max);
    let count = rows.len().max(1);
    let size = (WIDTH, ROW_HEIGHT * count as u32 + 100);
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let problem = |what: &dyn std::fmt::Display| anyhow!("cannot draw: {what}");
        area.fill(&WHITE).map_err(|error| problem(&error))?;
        let name = |at: &f64| {
            let index = (count as f64 - 1.0 - at.floor()).max(0.0) as usize;
            rows.get(index).map_or(String::new(), |row| row.name.clone())
        };
        let mut chart = ChartBuilder::on(&area)
            .caption("Time to a verdict, by phase (ms)", ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(10)
            .build_cartesian_2d(0.0..longest * 1.35, 0.0..count as f64)
            .map_err(|error| problem(&error))?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .x_desc("ms")
            .draw()
            .map_err(|error| problem(&error))?;
        for (index, (label, colour)) in PARTS.into_iter().enumerate() {
            let bars = rows.iter().enumerate().map(|(place, row)| {
                let parts = parts(row);
                let start: f64 = parts[..index].iter().sum();
                let bottom = (count - 1 - place) as f64;
                let corners = [(start, bottom + 0.15), (start + parts[index], bottom + 0.85)];
                Rectangle::new(corners, colour.filled())
            });
            chart.draw_series(bars).map_err(|error| problem(&error))?.label(label).legend(
                move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], colour.filled()),
            );
        }
        let labels = rows.iter().enumerate().map(|(place, row)| {
            let end: f64 = parts(row).iter().sum();
            let middle = (count - 1 - place) as f64 + 0.75;
            Text::new(name(&(middle.floor())), (end + longest * 0.01, middle), ("sans-serif", 12))
        });
        chart.draw_series(labels).map_err(|error| problem(&error))?;
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .border_style(BLACK)
            .background_style(WHITE)
            .draw()
            .map_err(|error| problem(&error))?;
        area.present().map_err(|error| problem(&error))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Mean;

    #[test]
    fn a_chart_names_its_programs() {
        let mut row = Row { name: "counter".into(), ..Row::default() };
        row.phases[Phase::Verify as usize] = Mean { mean: 20.0, deviation: 0.0 };
        let text = svg(&[row]).expect("drawn");
        assert!(text.starts_with("<svg") && text.contains("counter") && text.contains("prover"));
        assert!(svg(&[]).is_ok());
    }
}
