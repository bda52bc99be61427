// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of bars, side by side, each of parts on top of one another.

use super::{Area, Axis, Drawing, escaped};

/// Bars that belong together.
#[derive(Debug)]
pub(crate) struct Group {
    /// What stands below them.
    pub(crate) label: String,
    /// From left to right; `None` leaves a gap.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar.
#[derive(Debug)]
pub(crate) struct Bar {
    /// From the bottom up.
    pub(crate) parts: Vec<Part>,
    /// What stands above it.
    pub(crate) label: Option<String>,
}

/// A part of a bar.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) value: f64,
    pub(crate) colour: &'static str,
    /// What is told of it when it is pointed at.
    pub(crate) hint: String,
}

impl Bar {
    /// A bar of one part.
    pub(crate) fn single(value: f64, colour: &'static str, hint: String) -> Self {
        Self {
            parts: vec![Part {
                value,
                colour,
                hint,
            }],
            label: None,
        }
    }

    /// The same with a text above it.
    #[cfg(feature = "counted")]
    pub(crate) fn labelled(self, label: String) -> Self {
        Self {
            label: Some(label),
            ..self
        }
    }

    fn value(&self) -> f64 {
        self.parts.iter().map(|part| part.value).sum()
    }
}

/// Part of the room of a group that its bars fill.
const FILLED: f64 = 0.86;
/// Room of the bar of a group that has but one.
const LONE: f64 = 0.6;

/// Draws groups of bars over a linear axis, with a label at each line of it.
pub(crate) fn draw_bars(
    drawing: &mut Drawing,
    area: Area,
    groups: &[Group],
    label: &dyn Fn(f64) -> String,
) {
    let all = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let axis = Axis::linear(all.map(Bar::value).fold(1.0, f64::max));
    area.grid(drawing, axis, label);
    let room = (area.right - area.left) / groups.len().max(1) as f64;
    let is_wide = |group: &Group| 6.5 * group.label.chars().count() as f64 > room;
    let aslant = groups.iter().any(is_wide);
    for (index, group) in groups.iter().enumerate() {
        let middle = area.left + room * (index as f64 + 0.5);
        let filled = room * if group.bars.len() > 1 { FILLED } else { LONE };
        let width = filled / group.bars.len().max(1) as f64;
        for (place, bar) in group.bars.iter().enumerate() {
            let left = middle - filled / 2.0 + width * place as f64;
            if let Some(bar) = bar {
                draw_bar(drawing, area, axis, bar, (left, width));
            }
        }
        label_below(drawing, (middle, area.bottom + 18.0), aslant, &group.label);
    }
}

/// A label, aslant where there is too little room for one of them.
fn label_below(drawing: &mut Drawing, (x, y): (f64, f64), aslant: bool, label: &str) {
    if !aslant {
        drawing.text(x, y, "text-anchor=\"middle\" font-size=\"12\"", label);
    } else {
        let turned =
            format!("text-anchor=\"end\" font-size=\"11\" transform=\"rotate(-25 {x:.1} {y:.1})\"");
        drawing.text(x + 10.0, y - 4.0, &turned, label);
    }
}

fn draw_bar(drawing: &mut Drawing, area: Area, axis: Axis, bar: &Bar, (left, width): (f64, f64)) {
    let mut below = 0.0;
    for part in &bar.parts {
        let (low, high) = (area.y(axis, below), area.y(axis, below + part.value));
        below += part.value;
        drawing.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{high:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             fill=\"{}\"><title>{}</title></rect>",
            width * 0.92,
            low - high,
            part.colour,
            escaped(&part.hint)
        ));
    }
    if let Some(label) = &bar.label {
        drawing.text(
            left + width * 0.46,
            area.y(axis, below) - 3.0,
            "text-anchor=\"middle\" font-size=\"10\"",
            label,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_on_one_another_and_gaps_stay_empty() {
        let part = |value, colour| Part {
            value,
            colour,
            hint: format!("<{value}>"),
        };
        let stacked = Bar {
            parts: vec![part(40.0, "#111"), part(60.0, "#222")],
            label: Some("all".to_owned()),
        };
        let groups = [Group {
            label: "both".to_owned(),
            bars: vec![Some(stacked), None],
        }];
        let area = Area {
            left: 0.0,
            right: 100.0,
            top: 0.0,
            bottom: 100.0,
        };
        let mut drawing = Drawing::new("", 1.0, 1.0);
        draw_bars(&mut drawing, area, &groups, &|value| format!("{value}"));
        let svg = drawing.finish();
        assert!(svg.contains("y=\"60.0\" width=\"39.6\" height=\"40.0\" fill=\"#111\""));
        assert!(svg.contains("y=\"0.0\" width=\"39.6\" height=\"60.0\" fill=\"#222\""));
        assert!(svg.contains("<title>&lt;60&gt;</title>"));
        assert!(svg.contains(">all</text>"));
        assert_eq!(svg.matches("<rect x=").count(), 2, "{svg}");
    }
}
