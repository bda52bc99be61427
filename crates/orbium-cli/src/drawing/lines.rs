// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines through points.

use super::{Area, Axis, Drawing, escaped};

/// How a line is drawn, so that more can be told apart than there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Whole,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The attribute, if it needs one.
    pub(super) const fn attribute(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Dashed => " stroke-dasharray=\"6 4\"",
            Self::Dotted => " stroke-dasharray=\"2 3\"",
        }
    }
}

/// A line through points, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// What it stands for.
    pub(crate) name: String,
    pub(crate) colour: &'static str,
    pub(crate) stroke: Stroke,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Draws lines over an axis, with a label at each line of it, and names the
/// places below, which lie between the first and the last of them.
pub(crate) fn draw_lines(
    drawing: &mut Drawing,
    area: Area,
    (axis, label): (Axis, &dyn Fn(f64) -> String),
    places: &[f64],
    lines: &[Line],
) {
    area.grid(drawing, axis, label);
    let (Some(first), Some(last)) = (places.first().copied(), places.last().copied()) else {
        return;
    };
    let wide = (last - first).max(f64::MIN_POSITIVE);
    let x = |place: f64| area.left + (area.right - area.left) * (place - first) / wide;
    for place in places {
        drawing.text(
            x(*place),
            area.bottom + 18.0,
            "text-anchor=\"middle\" font-size=\"12\"",
            &place.to_string(),
        );
    }
    for line in lines {
        let dashes = line.stroke.attribute();
        let points = line.points.iter();
        let points = points.map(|(at, value)| format!("{:.1},{:.1}", x(*at), area.y(axis, *value)));
        drawing.add(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dashes}/>",
            points.collect::<Vec<_>>().join(" "),
            line.colour
        ));
        for (at, value) in &line.points {
            drawing.add(format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{}\"><title>{}, {at}: {}</title></circle>",
                x(*at),
                area.y(axis, *value),
                line.colour,
                escaped(&line.name),
                label(*value),
            ));
        }
    }
}

/// The places at which lines have points, in their order.
pub(crate) fn places(lines: &[Line]) -> Vec<f64> {
    let points = lines.iter().flat_map(|line| line.points.iter());
    let mut places: Vec<f64> = points.map(|point| point.0).collect();
    places.sort_unstable_by(f64::total_cmp);
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_from_edge_to_edge() {
        let area = Area {
            left: 10.0,
            right: 110.0,
            top: 0.0,
            bottom: 50.0,
        };
        let line = Line {
            name: "a & b".to_owned(),
            colour: "#123",
            stroke: Stroke::Dashed,
            points: vec![(0.0, 0.0), (5.0, 10.0), (10.0, 5.0)],
        };
        assert_eq!(places(&[line.clone(), line.clone()]), [0.0, 5.0, 10.0]);
        let mut drawing = Drawing::new("", 1.0, 1.0);
        let label = |value: f64| format!("{value:.1}");
        let axis = (Axis::linear(10.0), &label as &dyn Fn(f64) -> String);
        draw_lines(&mut drawing, area, axis, &[0.0, 5.0, 10.0], &[line]);
        draw_lines(&mut drawing, area, axis, &[], &[]);
        let svg = drawing.finish();
        assert!(
            svg.contains("points=\"10.0,50.0 60.0,0.0 110.0,25.0\""),
            "{svg}"
        );
        assert!(svg.contains("a &amp; b, 5: 10.0"));
        assert!(!svg.contains("NaN"));
    }
}
