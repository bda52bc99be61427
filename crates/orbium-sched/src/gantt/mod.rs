// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gantt charts of the threads' use of the processor, as text and as a drawing.

mod chart;
mod svg;
mod text;

pub use chart::{Bar, Chart, Row};
