// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawing of the measurements: responses of each operation against its deadline, over the ORB and
//! without.

use std::path::Path;
use std::time::Duration;

use plotters::prelude::{
    BLACK, Color, IntoDrawingArea, IntoFont, PathElement, RGBColor, Rectangle, SVGBackend, Text,
    WHITE,
};

use crate::Failure;
use crate::measured::Row;

const WIDTH: i32 = 900;
const NAMES: i32 = 130;
const TIMES: f64 = 560.0;
const STEP: i32 = 56;
const HEAD: i32 = 64;

const ORB: RGBColor = RGBColor(0x2f, 0x6f, 0x9f);
const BARE: RGBColor = RGBColor(0x9a, 0x9a, 0x9a);
const DEADLINE: RGBColor = RGBColor(0xc0, 0x39, 0x2b);

/// An operation with its period, over the ORB and without.
pub(crate) struct Compared<'a> {
    pub(crate) period: Duration,
    pub(crate) orb: &'a Row,
    pub(crate) bare: Option<&'a Row>,
}

/// Writes the drawing. Each bar goes from zero over the median, drawn dark, to the longest response;
/// all are parts of the period, which ends at the red line.
pub(crate) fn write(path: &Path, operations: &[Compared<'_>]) -> Result<(), Failure> {
    let height = HEAD + STEP * i32::try_from(operations.len())? + 10;
    let size = (WIDTH.try_into()?, height.try_into()?);
    let area = SVGBackend::new(path, size).into_drawing_area();
    area.fill(&WHITE)?;
    let font = |size: i32| ("sans-serif", size).into_font().color(&BLACK);
    let title = "Responses as a part of the period: median (dark), longest (light)";
    area.draw(&Text::new(title, (10, 10), font(16)))?;
    let legend = "blue: over the ORB, grey: threads without an ORB, red: the deadline";
    area.draw(&Text::new(legend, (10, 34), font(13)))?;
    for (number, operation) in operations.iter().enumerate() {
        let y = HEAD + STEP * i32::try_from(number)?;
        let period = u64::try_from(operation.period.as_micros())?;
        let name = operation.orb.name.clone();
        area.draw(&Text::new(name, (10, y + 12), font(14)))?;
        let rows = [
            Some((operation.orb, ORB)),
            operation.bare.map(|it| (it, BARE)),
        ];
        for (part, (row, colour)) in rows.into_iter().flatten().enumerate() {
            let y = y + 20 * i32::try_from(part)?;
            for (time, opacity) in [(row.longest, 0.35), (row.median, 1.0)] {
                let corners = [(NAMES, y + 2), (x(time, period), y + 18)];
                area.draw(&Rectangle::new(corners, colour.mix(opacity).filled()))?;
            }
            let text = format!("{} us, {} missed", row.longest, row.misses());
            let end = x(row.longest, period).max(NAMES) + 6;
            area.draw(&Text::new(text, (end, y + 4), font(12)))?;
        }
        let at = x(period, period);
        area.draw(&PathElement::new([(at, y), (at, y + 42)], DEADLINE))?;
    }
    Ok(area.present()?)
}

/// Where a time is drawn; what exceeds the period by far, at the edge.
fn x(time: u64, period: u64) -> i32 {
    let part = time as f64 / period.max(1) as f64;
    NAMES + (part.min(1.1) * TIMES) as i32
}
