// SPDX-License-Identifier: MIT OR Apache-2.0
//! The screen.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::error::TopError;
use crate::keys::{Choice, Page};
use crate::pages::{self, Table};
use crate::source::{Look, Source};
use crate::view::View;

const HELP: &str = "q quit   ? help   1-7 page   s sort   r reverse   / filter   p freeze   \
                    arrows scroll";

/// Shows the activity on the terminal until a key ends it. `first` is an earlier snapshot.
///
/// # Errors
///
/// The terminal cannot be used, or the source does not reply.
pub fn run_screen(source: &Source, interval: Duration, first: Look) -> Result<(), TopError> {
    let mut terminal = ratatui::try_init()
        .map_err(|error| TopError::because(format!("the terminal cannot be used: {error}")))?;
    let mut drawn = |view: &View, choice: &Choice| {
        let done = terminal.draw(|frame| draw(frame, view, choice));
        done.map(drop)
            .map_err(|error| TopError::because(format!("the terminal is gone: {error}")))
    };
    let shown = show(source, interval, first, &mut drawn);
    ratatui::restore();
    shown
}

fn show(
    source: &Source,
    interval: Duration,
    first: Look,
    draw: &mut dyn FnMut(&View, &Choice) -> Result<(), TopError>,
) -> Result<(), TopError> {
    let mut view = View::between(&first, &first);
    let mut before = first;
    let mut choice = Choice::at(Page::Operations);
    let mut next = Instant::now() + interval;
    loop {
        draw(&view, &choice)?;
        let left = next.saturating_duration_since(Instant::now());
        if let Some(event) = key_within(left)? {
            let table = pages::table(&view, &choice);
            let size = (table.columns.len(), table.rows.len());
            if let Event::Key(key) = event
                && key.kind == KeyEventKind::Press
                && !choice.press(key, size)
            {
                return Ok(());
            }
            continue;
        }
        next = Instant::now() + interval;
        if !choice.is_frozen {
            let now = source.look()?;
            view = View::between(&before, &now);
            before = now;
        }
    }
}

fn key_within(left: Duration) -> Result<Option<Event>, TopError> {
    let failed = |error| TopError::because(format!("no keys can be read: {error}"));
    if event::poll(left).map_err(failed)? {
        event::read().map(Some).map_err(failed)
    } else {
        Ok(None)
    }
}

/// Draws the whole screen.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, choice: &Choice) {
    let rows = [
        Constraint::Length(3),
        Constraint::Min(1),
        Constraint::Length(1),
    ];
    let [top, middle, bottom] = Layout::vertical(rows).areas(frame.area());
    let [first, second] = pages::header(view);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let tabs = tabs(choice, usize::from(top.width));
    let lines = vec![Line::styled(first, bold), Line::raw(second), tabs];
    frame.render_widget(Paragraph::new(lines), top);
    let table = pages::table(view, choice);
    let lines = lines_of(&table, choice, middle);
    frame.render_widget(Paragraph::new(lines), middle);
    let foot = match (choice.is_typing, choice.filter.as_str()) {
        (true, filter) => format!("filter: {filter}_"),
        (false, "") => HELP.to_owned(),
        (false, filter) => format!("filter: {filter}   (/ to change it)"),
    };
    let grey = Style::new().fg(Color::DarkGray);
    frame.render_widget(Paragraph::new(Line::styled(foot, grey)), bottom);
}

/// The pages by number and title; by number alone, except for the shown one, if not all titles fit.
fn tabs(choice: &Choice, width: usize) -> Line<'static> {
    let tab = |(place, page): (usize, Page)| format!(" {} {} ", place + 1, page.title());
    let all = Page::ALL.into_iter().enumerate();
    let needed: usize = all.clone().map(|it| tab(it).len() + 1).sum();
    let mut tabs = Vec::new();
    for (place, page) in all {
        let style = if page == choice.page {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new().fg(Color::DarkGray)
        };
        let text = if needed <= width || page == choice.page {
            tab((place, page))
        } else {
            format!(" {} ", place + 1)
        };
        tabs.push(Span::styled(text, style));
        tabs.push(Span::raw(" "));
    }
    if choice.is_frozen {
        tabs.push(Span::styled("frozen", Style::new().fg(Color::Yellow)));
    }
    Line::from(tabs)
}

/// The lines of a table that fit an area.
fn lines_of(table: &Table, choice: &Choice, area: Rect) -> Vec<Line<'static>> {
    let mut widths = pages::widths(table);
    let others: usize = widths[1..].iter().map(|width| width + 2).sum();
    widths[0] = usize::from(area.width).saturating_sub(others).max(10);
    let cell = |column: usize, text: &str| {
        let width = widths[column];
        match column {
            0 => {
                let cut: String = text.chars().take(width).collect();
                format!("{cut:width$}")
            }
            _ => format!("  {text:>width$}"),
        }
    };
    let mut head = Vec::new();
    for (column, title) in table.columns.iter().enumerate() {
        let style = Style::new().fg(Color::Cyan);
        let style = if column == choice.sort {
            style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        } else {
            style
        };
        head.push(Span::styled(cell(column, title), style));
    }
    let mut lines = vec![Line::from(head)];
    if choice.shows_help {
        for what in HELP.split("   ") {
            lines.push(Line::raw(format!("  {what}")));
        }
        return lines;
    }
    if table.rows.is_empty() {
        lines.push(Line::raw(table.empty.clone()));
    }
    let room = usize::from(area.height).saturating_sub(1);
    let first = choice.first.min(table.rows.len().saturating_sub(1));
    for row in table.rows.iter().skip(first).take(room) {
        let cells = row.cells.iter().enumerate();
        let text: String = cells.map(|(column, it)| cell(column, &it.text)).collect();
        let style = if row.bad {
            Style::new().fg(Color::Red)
        } else {
            Style::new()
        };
        lines.push(Line::styled(text, style));
    }
    lines
}

#[cfg(test)]
mod tests;
