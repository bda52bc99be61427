// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines through points.

use std::ops::Range;

use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    ChartBuilder, ChartContext, Circle, Color, DashedLineSeries, IntoLogRange, LineSeries,
    PathElement, RGBColor, SVGBackend,
};

use crate::canvas::{Canvas, Drawn, FONT};

/// The stroke of a line, as there are more lines than colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Continuous.
    Whole,
    /// With gaps shorter than its dashes.
    Dashed,
    /// With gaps longer than its dashes.
    Dotted,
}

impl Stroke {
    /// The lengths of a dash and of a gap; `None` for a continuous line.
    const fn dashes(self) -> Option<(u32, u32)> {
        match self {
            Self::Whole => None,
            Self::Dashed => Some((8, 5)),
            Self::Dotted => Some((2, 4)),
        }
    }
}

/// A line through points, from left to right.
#[derive(Clone, Debug)]
pub struct Line {
    /// The series.
    pub name: String,
    /// The colour of its stroke and its points.
    pub colour: RGBColor,
    /// The stroke between its points.
    pub stroke: Stroke,
    /// The points: horizontal positions and values.
    pub points: Vec<(f64, f64)>,
}

/// A vertical axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    /// From 0 to this value.
    Linear(f64),
    /// Between these powers of ten.
    Logarithmic(i32, i32),
}

impl Axis {
    /// An axis from zero for all these values.
    pub fn linear(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        Self::Linear(finite.fold(0.1, f64::max) * 1.05)
    }

    /// An axis of whole decades for all these values, except those that are not positive.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter();
        let logarithms = values.map(f64::log10).filter(|value| value.is_finite());
        let ends = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match ends {
            (low, high) if low > high => Self::Logarithmic(0, 3),
            (low, high) => {
                let low = low.floor() as i32;
                Self::Logarithmic(low, (high.ceil() as i32).max(low + 1))
            }
        }
    }
}

/// Draws lines over an axis, with `label` at each grid line.
pub(crate) fn draw(
    canvas: &Canvas<'_>,
    axis: Axis,
    lines: &[Line],
    label: &dyn Fn(f64) -> String,
) -> Drawn {
    let Some(across) = across(lines) else {
        return Ok(());
    };
    let mut builder = ChartBuilder::on(canvas);
    builder
        .margin(8)
        .x_label_area_size(28)
        .y_label_area_size(72);
    match axis {
        Axis::Linear(high) => draw_on(builder.build_cartesian_2d(across, 0.0..high)?, lines, label),
        Axis::Logarithmic(low, high) => {
            let decades = (10_f64.powi(low)..10_f64.powi(high)).log_scale();
            draw_on(builder.build_cartesian_2d(across, decades)?, lines, label)
        }
    }
}

/// The horizontal range of all points, with a minimum width.
fn across(lines: &[Line]) -> Option<Range<f64>> {
    let places = lines.iter().flat_map(|line| line.points.iter());
    let places = places.map(|point| point.0);
    let first = places.clone().min_by(f64::total_cmp)?;
    let last = places.max_by(f64::total_cmp)?;
    Some(if first < last {
        first..last
    } else {
        first - 0.5..last + 0.5
    })
}

fn draw_on<Y>(
    mut chart: ChartContext<'_, SVGBackend<'_>, Cartesian2d<RangedCoordf64, Y>>,
    lines: &[Line],
    label: &dyn Fn(f64) -> String,
) -> Drawn
where
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(11)
        .y_labels(8)
        .x_label_formatter(&|value| value.to_string())
        .y_label_formatter(&|value| label(*value))
        .label_style((FONT, 12))
        .draw()?;
    for line in lines {
        let style = line.colour.stroke_width(2);
        let points = || line.points.iter().copied();
        match line.stroke.dashes() {
            None => chart.draw_series(LineSeries::new(points(), style))?,
            Some((dash, gap)) => {
                chart.draw_series(DashedLineSeries::new(points(), dash, gap, style))?
            }
        };
        let dots = points().map(|point| Circle::new(point, 3, line.colour.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}

/// Draws the mark of a line in a legend.
pub(crate) fn mark(
    canvas: &Canvas<'_>,
    (x, y): (i32, i32),
    colour: RGBColor,
    stroke: Stroke,
) -> Drawn {
    let style = colour.stroke_width(3);
    let (dash, gap) = stroke.dashes().unwrap_or((MARK, 1));
    let step = (dash + gap) as usize;
    let ends = (0..MARK).step_by(step);
    for start in ends {
        let end = (start + dash).min(MARK);
        let (from, to) = (x + start as i32, x + end as i32);
        canvas.draw(&PathElement::new(vec![(from, y), (to, y)], style))?;
    }
    Ok(())
}

/// The width of a mark in a legend.
pub(super) const MARK: u32 = 28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_hold_all_values() {
        let axis = Axis::logarithmic([0.0, 20_000.0, 3e6]);
        assert_eq!(axis, Axis::Logarithmic(4, 7));
        assert_eq!(Axis::logarithmic([]), Axis::Logarithmic(0, 3));
        assert_eq!(Axis::logarithmic([10.0]), Axis::Logarithmic(1, 2));
    }

    #[test]
    fn a_linear_axis_has_room_above_the_greatest_value() {
        for values in [vec![], vec![0.0], vec![5.0, 480.0], vec![f64::NAN, 3.0]] {
            let Axis::Linear(high) = Axis::linear(values.iter().copied()) else {
                panic!("not linear");
            };
            assert!(high > 0.0 && high.is_finite());
            assert!(values.iter().all(|value| value.is_nan() || *value < high));
        }
    }

    #[test]
    fn a_single_place_has_some_width() {
        let line = |points| Line {
            name: String::new(),
            colour: RGBColor(0, 0, 0),
            stroke: Stroke::Whole,
            points,
        };
        assert_eq!(across(&[line(vec![(2.0, 1.0)])]), Some(1.5..2.5));
        assert_eq!(
            across(&[line(vec![(0.0, 1.0), (50.0, 1.0)]), line(vec![])]),
            Some(0.0..50.0)
        );
        assert_eq!(across(&[]), None);
    }
}
