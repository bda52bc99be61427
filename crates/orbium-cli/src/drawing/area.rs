// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where values are drawn: a rectangle with a vertical axis.

use super::Drawing;

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A vertical axis.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// From zero, in so many steps of this round height.
    Linear(f64, u32),
    /// Whole decades, from one power of ten to another.
    Logarithmic(f64, f64),
}

impl Axis {
    /// An axis from zero for values up to `most`.
    pub(crate) fn linear(most: f64) -> Self {
        let step = step(most);
        Self::Linear(step, (most / step).ceil().max(1.0) as u32)
    }

    /// An axis of decades for all these values; those that are not positive do
    /// not count.
    pub(crate) fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.into_iter().filter(|value| *value > 0.0) {
            least = least.min(value);
            most = most.max(value);
        }
        if least.is_infinite() || most.is_infinite() {
            return Self::Logarithmic(0.0, 3.0);
        }
        let low = least.log10().floor();
        Self::Logarithmic(low, most.log10().ceil().max(low + 1.0))
    }

    /// How far up a value is: 0 at the bottom, 1 at the top. What does not fit
    /// is at the edge.
    fn position(self, value: f64) -> f64 {
        let position = match self {
            Self::Linear(step, lines) => value / (f64::from(lines) * step),
            Self::Logarithmic(low, high) => {
                (value.max(f64::MIN_POSITIVE).log10() - low) / (high - low)
            }
        };
        position.clamp(0.0, 1.0)
    }

    /// Where lines are drawn.
    fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(step, lines) => (0..=lines).map(|line| step * f64::from(line)).collect(),
            Self::Logarithmic(low, high) => {
                let decades = (low as i32)..=(high as i32);
                decades.map(|decade| 10_f64.powi(decade)).collect()
            }
        }
    }
}

impl Area {
    /// Where a value is drawn.
    pub(crate) fn y(&self, axis: Axis, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * axis.position(value)
    }

    /// The lines of the axis with what they stand for.
    pub(crate) fn grid(&self, drawing: &mut Drawing, axis: Axis, label: &dyn Fn(f64) -> String) {
        for value in axis.ticks() {
            let y = self.y(axis, value);
            drawing.line((self.left, y), (self.right, y), "#ddd");
            drawing.text(
                self.left - 8.0,
                y + 4.0,
                "text-anchor=\"end\" font-size=\"11\" fill=\"#666\"",
                &label(value),
            );
        }
    }
}

/// Nanoseconds at a line of an axis.
pub(crate) fn microseconds(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e6 => format!("{} µs", nanoseconds / 1e3),
        ..1e9 => format!("{} ms", nanoseconds / 1e6),
        _ => format!("{} s", nanoseconds / 1e9),
    }
}

/// A round fifth of an axis that reaches so far.
fn step(most: f64) -> f64 {
    let decade = 10_f64.powf((most / 5.0).max(0.1).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * decade);
    let enough = steps.into_iter().find(|step| step * 5.0 >= most);
    enough.unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_reaches_far_enough_in_round_steps() {
        for (most, expected) in [
            (1.0, 0.2),
            (480.0, 100.0),
            (501.0, 200.0),
            (260_000.0, 100_000.0),
        ] {
            assert_eq!(step(most), expected, "{most}");
            let ticks = Axis::linear(most).ticks();
            assert!(ticks[ticks.len() - 1] >= most, "{most}");
            assert!(ticks[ticks.len() - 2] < most, "{most}");
        }
    }

    #[test]
    fn decades_hold_all_values() {
        let axis = Axis::logarithmic([0.0, 20_000.0, 3e6]);
        assert_eq!(axis.ticks(), [1e4, 1e5, 1e6, 1e7]);
        assert_eq!(axis.position(1e4), 0.0);
        assert_eq!(axis.position(1e7), 1.0);
        assert_eq!(axis.position(0.0), 0.0);
        assert_eq!(Axis::logarithmic([]).ticks().len(), 4);
        assert_eq!(Axis::logarithmic([10.0]).ticks(), [10.0, 100.0]);
    }

    #[test]
    fn nothing_leaves_the_area() {
        let area = Area {
            left: 0.0,
            right: 10.0,
            top: 5.0,
            bottom: 25.0,
        };
        for value in [-1.0, 0.0, 1.0, 1e30, f64::INFINITY] {
            for axis in [Axis::linear(10.0), Axis::logarithmic([1.0, 10.0])] {
                let y = area.y(axis, value);
                assert!((5.0..=25.0).contains(&y), "{value}: {y}");
            }
        }
    }

    #[test]
    fn times_are_labelled_in_their_unit() {
        assert_eq!(microseconds(1e4), "10 µs");
        assert_eq!(microseconds(1e7), "10 ms");
        assert_eq!(microseconds(2.5e9), "2.5 s");
    }
}
