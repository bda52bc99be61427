// SPDX-License-Identifier: MIT OR Apache-2.0
//! Canvas of bar and line charts: an SVG document of plotters, with its typeface and colours.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, RGBColor, SVGBackend};

/// A part of the document.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The outcome of drawing.
pub type Drawn = Result<(), DrawError>;

/// Error of drawing.
pub type DrawError = DrawingAreaErrorKind<io::Error>;

/// The typeface of all text.
pub const FONT: &str = "sans-serif";

/// The number of different colours.
pub const COLOURS: usize = COLOUR.len();

/// Colours of series; most remain distinct for colour-blind readers.
const COLOUR: [RGBColor; 12] = [
    RGBColor(0x7c, 0x2d, 0x12),
    RGBColor(0xea, 0x58, 0x0c),
    RGBColor(0x1e, 0x3a, 0x8a),
    RGBColor(0x60, 0xa5, 0xfa),
    RGBColor(0x14, 0x53, 0x2d),
    RGBColor(0x4a, 0xde, 0x80),
    RGBColor(0x58, 0x1c, 0x87),
    RGBColor(0xa8, 0xa2, 0x9e),
    RGBColor(0xfa, 0xcc, 0x15),
    RGBColor(0xbe, 0x18, 0x5d),
    RGBColor(0x0f, 0x76, 0x6e),
    RGBColor(0x47, 0x55, 0x69),
];

/// The colour of the series with that number; colours repeat after [`COLOURS`].
pub fn colour(index: usize) -> RGBColor {
    COLOUR[index % COLOURS]
}

/// Nanoseconds at a line of an axis.
pub fn microseconds(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e6 => format!("{} µs", nanoseconds / 1e3),
        ..1e9 => format!("{} ms", nanoseconds / 1e6),
        _ => format!("{} s", nanoseconds / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_labelled_in_their_unit() {
        assert_eq!(microseconds(1e4), "10 µs");
        assert_eq!(microseconds(1e7), "10 ms");
        assert_eq!(microseconds(2.5e9), "2.5 s");
    }
}
