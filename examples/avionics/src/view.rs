// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates, latencies and misses while the program runs.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Row as Cells, Table};

use crate::Failure;
use crate::flight::Flight;
use crate::measured::Row;
use crate::process::Process;

const REFRESH: Duration = Duration::from_millis(500);

/// Shows what happens until `end`, or until `q` ends the view and the wait: the operations of the
/// flight, and those of the callers.
pub(crate) fn show(
    flight: &Flight,
    mut callers: Vec<&mut Process>,
    end: Instant,
) -> Result<(), Failure> {
    let mut terminal = ratatui::try_init()?;
    let shown = refresh(flight, &mut callers, end, &mut |picture| {
        terminal.draw(|frame| draw(frame, picture)).map(drop)
    });
    ratatui::restore();
    shown
}

/// What is on the screen.
struct Picture {
    head: String,
    is_degraded: bool,
    /// The rows, with the runs of a second.
    rows: Vec<(Row, f64)>,
}

fn refresh(
    flight: &Flight,
    callers: &mut [&mut Process],
    end: Instant,
    draw: &mut dyn FnMut(&Picture) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut measure = || -> Vec<Row> {
        let of_callers = callers.iter_mut().filter_map(|it| it.row());
        flight.rows().into_iter().chain(of_callers).collect()
    };
    let mut before = measure();
    let mut last = Instant::now();
    while last < end && !is_quit(REFRESH.min(end - last))? {
        let (now, rows) = (Instant::now(), measure());
        let seconds = (now - last).as_secs_f64();
        let rates = rows.iter().map(|row| {
            let before = before.iter().find(|it| it.name == row.name);
            (row.runs - before.map_or(0, |it| it.runs)) as f64 / seconds
        });
        let mode = flight.mode();
        draw(&Picture {
            head: format!("{mode:?}, {} frames   q quit", flight.frames()),
            is_degraded: mode == crate::avionics::Mode::Degraded,
            rows: rows.iter().cloned().zip(rates).collect(),
        })?;
        (before, last) = (rows, now);
    }
    Ok(())
}

/// Waits for that long; whether `q` was pressed.
fn is_quit(time: Duration) -> std::io::Result<bool> {
    let until = Instant::now() + time;
    while event::poll(until.saturating_duration_since(Instant::now()))? {
        if let Event::Key(key) = event::read()?
            && key.kind == KeyEventKind::Press
            && key.code == KeyCode::Char('q')
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn draw(frame: &mut Frame<'_>, picture: &Picture) {
    let parts = [Constraint::Length(2), Constraint::Min(4)];
    let [head, table] = Layout::vertical(parts).areas(frame.area());
    let colour = if picture.is_degraded {
        Color::Red
    } else {
        Color::Green
    };
    let style = Style::new().fg(colour).add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(picture.head.as_str(), style), head);
    let titles = ["", "rate Hz", "p50 us", "p99 us", "max us", "misses"];
    let heading = Cells::new(titles).style(Style::new().add_modifier(Modifier::BOLD));
    let rows = picture.rows.iter().map(cells);
    let widths = [12, 9, 10, 10, 10, 8].map(Constraint::Length);
    frame.render_widget(Table::new(rows, widths).header(heading), table);
}

fn cells((row, rate): &(Row, f64)) -> Cells<'_> {
    let misses = Cell::from(row.misses().to_string());
    Cells::new([
        Cell::from(row.name.as_str()),
        Cell::from(format!("{rate:.1}")),
        Cell::from(row.median.to_string()),
        Cell::from(row.p99.to_string()),
        Cell::from(row.longest.to_string()),
        match row.misses() {
            0 => misses,
            _ => misses.style(Style::new().fg(Color::Red)),
        },
    ])
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    #[test]
    fn rates_latencies_and_misses_are_on_the_screen() {
        let flight = Flight::new();
        let mut rows = flight.rows().to_vec();
        (rows[0].late, rows[0].skipped, rows[0].failed) = (3, 2, 1);
        rows.push("HUD 9 0 0 0 10 11 12".parse().unwrap());
        let picture = Picture {
            head: "Degraded, 7 frames".to_owned(),
            is_degraded: true,
            rows: rows.into_iter().map(|row| (row, 20.0)).collect(),
        };
        let mut terminal = Terminal::new(TestBackend::new(70, 8)).unwrap();
        terminal.draw(|frame| draw(frame, &picture)).unwrap();
        let screen = terminal.backend().to_string();
        for expected in [
            "Degraded, 7 frames",
            "rate Hz",
            "steer",
            "20.0",
            "navigate",
            "HUD",
        ] {
            assert!(screen.contains(expected), "{screen}");
        }
        let steer = screen.lines().find(|it| it.contains("steer")).unwrap();
        assert!(
            steer.trim_end_matches(['"', ' ']).ends_with('6'),
            "{screen}"
        );
    }
}
