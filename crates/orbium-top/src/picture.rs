// SPDX-License-Identifier: MIT OR Apache-2.0
//! The screen as a picture: SVG, for documents.

use std::fmt::Write;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use crate::error::TopError;
use crate::keys::{Choice, Page};
use crate::screen;
use crate::view::View;

/// Width of one character, in the units of the picture.
const WIDTH: f32 = 8.4;
const HEIGHT: u16 = 18;
const MARGIN: u16 = 12;

fn colour(of: Color) -> &'static str {
    match of {
        Color::Red => "#f47067",
        Color::Yellow => "#daaa3f",
        Color::Cyan => "#56d4dd",
        Color::DarkGray => "#8b949e",
        _ => "#e6edf3",
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// The screen of so many columns and lines.
pub(crate) fn drawn(
    view: &View,
    choice: &Choice,
    columns: u16,
    lines: u16,
) -> Result<Buffer, TopError> {
    let failed = |error: &dyn std::fmt::Display| {
        TopError::because(format!("the screen cannot be drawn: {error}"))
    };
    let mut terminal =
        Terminal::new(TestBackend::new(columns, lines)).map_err(|error| failed(&error))?;
    let done = terminal.draw(|frame| screen::draw(frame, view, choice));
    done.map(|frame| frame.buffer.clone())
        .map_err(|error| failed(&error))
}

/// A picture of the screen of so many columns and lines, with the page of operations, as SVG.
///
/// # Errors
///
/// The screen cannot be drawn.
pub fn picture_of(view: &View, columns: u16, lines: u16) -> Result<String, TopError> {
    let buffer = drawn(view, &Choice::at(Page::Operations), columns, lines)?;
    Ok(svg(&buffer))
}

/// A picture of the screen.
pub(crate) fn svg(buffer: &Buffer) -> String {
    let area = buffer.area;
    let width = f32::from(area.width) * WIDTH + 2.0 * f32::from(MARGIN);
    let height = area.height * HEIGHT + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height}\" \
         font-family=\"monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#0d1117\"/>\n"
    );
    for line in 0..area.height {
        let mut column = 0;
        while column < area.width {
            let first = &buffer[(column, line)];
            let style = (first.fg, first.modifier);
            let (start, mut text) = (column, String::new());
            while column < area.width {
                let cell = &buffer[(column, line)];
                if (cell.fg, cell.modifier) != style {
                    break;
                }
                text.push_str(cell.symbol());
                column += 1;
            }
            run(&mut out, (start, line), &text, style);
        }
    }
    out + "</svg>\n"
}

/// Characters of one style.
fn run(out: &mut String, (column, line): (u16, u16), text: &str, style: (Color, Modifier)) {
    let is_reversed = style.1.contains(Modifier::REVERSED);
    if text.trim().is_empty() && !is_reversed {
        return;
    }
    let x = f32::from(MARGIN) + f32::from(column) * WIDTH;
    let y = MARGIN + line * HEIGHT;
    let width = text.chars().count() as f32 * WIDTH;
    let mut fill = colour(style.0);
    if is_reversed {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"{fill}\"/>"
        );
        fill = "#0d1117";
    }
    let weight = if style.1.contains(Modifier::BOLD) {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{}\" textLength=\"{width:.1}\" xml:space=\"preserve\" \
         fill=\"{fill}\"{weight}>{}</text>",
        y + 13,
        escaped(text)
    );
}
