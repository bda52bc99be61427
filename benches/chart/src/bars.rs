// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of bars, side by side, each of stacked parts.

use plotters::coord::CoordTranslate;
use plotters::prelude::{
    ChartBuilder, Color, FontTransform, IntoFont, IntoTextStyle, RGBColor, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::canvas::{Canvas, Drawn, FONT};

/// A group of bars.
#[derive(Debug)]
pub struct Group {
    /// The text below them.
    pub label: String,
    /// The bars from left to right; `None` leaves a gap.
    pub bars: Vec<Option<Bar>>,
}

/// A bar.
#[derive(Debug)]
pub struct Bar {
    /// The parts from the bottom up: a value and its colour.
    pub parts: Vec<(f64, RGBColor)>,
    /// The text above it; may be empty.
    pub label: String,
}

impl Bar {
    /// A bar of one part.
    pub fn single(value: f64, colour: RGBColor, label: String) -> Self {
        Self {
            parts: vec![(value, colour)],
            label,
        }
    }

    fn value(&self) -> f64 {
        self.parts.iter().map(|part| part.0).sum()
    }
}

/// The fraction of a group's width that its bars fill.
const FILLED: f64 = 0.86;
/// The same for a single bar of a group.
const LONE: f64 = 0.6;
/// The fraction of its width that a bar fills.
const BAR: f64 = 0.92;

/// The height of horizontal labels below the bars.
const FLAT_LABELS: u32 = 28;

/// The height of vertical labels below the bars, the longest of which has that many characters.
pub fn upright_labels(characters: usize) -> u32 {
    FLAT_LABELS + 5 * u32::try_from(characters).unwrap_or(u32::MAX / 8)
}

/// Draws groups of bars over a linear axis, with `label` at each grid line.
pub(crate) fn draw(canvas: &Canvas<'_>, groups: &[Group], label: &dyn Fn(f64) -> String) -> Drawn {
    let all = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let high = all.map(Bar::value).fold(1.0, f64::max) * 1.08;
    let (width, _) = canvas.dim_in_pixel();
    let room = f64::from(width) / groups.len().max(1) as f64;
    let lengths = groups.iter().map(|group| group.label.chars().count());
    let longest = lengths.max().unwrap_or(0);
    let is_upright = 7.0 * longest as f64 <= room;
    let below = if is_upright {
        FLAT_LABELS
    } else {
        upright_labels(longest)
    };
    let mut chart = ChartBuilder::on(canvas)
        .margin(8)
        .x_label_area_size(below)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..groups.len().max(1) as f64, 0.0..high)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .y_label_formatter(&|value| label(*value))
        .label_style((FONT, 12))
        .draw()?;
    let small = (FONT, 10)
        .into_text_style(canvas)
        .pos(Pos::new(HPos::Center, VPos::Bottom));
    for (index, group) in groups.iter().enumerate() {
        for (from, to, bar) in places(index, group) {
            let mut bottom = 0.0;
            for (value, colour) in &bar.parts {
                let corners = [(from, bottom), (to, bottom + value)];
                chart.draw_series([Rectangle::new(corners, colour.filled())])?;
                bottom += value;
            }
            let above = (f64::midpoint(from, to), bottom);
            chart.draw_series([Text::new(bar.label.clone(), above, small.clone())])?;
        }
    }
    let font = (FONT, 12).into_font();
    let style = if is_upright {
        font.into_text_style(canvas)
            .pos(Pos::new(HPos::Center, VPos::Top))
    } else {
        let turned = font.transform(FontTransform::Rotate90);
        turned
            .into_text_style(canvas)
            .pos(Pos::new(HPos::Left, VPos::Center))
    };
    let plane = chart.as_coord_spec();
    let (left, top) = canvas.get_base_pixel();
    for (index, group) in groups.iter().enumerate() {
        let (x, y) = plane.translate(&(index as f64 + 0.5, 0.0));
        canvas.draw(&Text::new(
            group.label.clone(),
            (x - left, y - top + 8),
            style.clone(),
        ))?;
    }
    Ok(())
}

/// The bars of a group from left to right, each with its extent on the axis.
fn places(index: usize, group: &Group) -> impl Iterator<Item = (f64, f64, &Bar)> {
    let filled = if group.bars.len() > 1 { FILLED } else { LONE };
    let width = filled / group.bars.len().max(1) as f64;
    let first = index as f64 + (1.0 - filled) / 2.0;
    let bars = group.bars.iter().enumerate();
    bars.filter_map(move |(place, bar)| {
        let from = first + width * place as f64;
        Some((from, from + BAR * width, bar.as_ref()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stay_within_their_group_and_leave_gaps() {
        let bar = || Some(Bar::single(1.0, RGBColor(0, 0, 0), String::new()));
        let group = |bars| Group {
            label: String::new(),
            bars,
        };
        let all = group(vec![bar(), None, bar()]);
        let places: Vec<_> = places(3, &all).map(|(from, to, _)| (from, to)).collect();
        assert_eq!(places.len(), 2);
        assert!(places[0].0 >= 3.0 && places[1].1 <= 4.0, "{places:?}");
        let width = places[0].1 - places[0].0;
        assert!(places[1].0 - places[0].1 > width, "{places:?}");
    }
}
