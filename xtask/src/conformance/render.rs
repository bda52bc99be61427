// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rendering of the page.

use std::fmt::Write as _;

use super::frame::{Frame, Kind, Part, Table};
use super::marks::Mark;
use super::rows::{Row, Rows};

pub(super) fn page(frame: &Frame, rows: &Rows) -> String {
    let mut page = String::new();
    for part in &frame.parts {
        match part {
            Part::Text(text) => page.push_str(text),
            Part::Table(table) => page.push_str(&written(table, rows)),
        }
    }
    page
}

fn written(table: &Table, rows: &Rows) -> String {
    let mut text = line(&table.columns);
    text.push_str(&"|---".repeat(table.columns.len()));
    text.push_str("|\n");
    match &table.kind {
        Kind::Rows { clause } => {
            for row in rows.by_clause(table) {
                let mut cells = vec![cell(&row.behaviour), shown_by(row)];
                if let Some(place) = clause {
                    cells.insert(*place, row.clause.clone());
                }
                text.push_str(&line(&cells));
            }
        }
        Kind::Grid { peers } => text.push_str(&grid(peers, &rows.in_order(table))),
    }
    text
}

/// A line for each behaviour, a cell for each peer.
fn grid(peers: &[String], rows: &[&Row]) -> String {
    let mut behaviours: Vec<&str> = Vec::new();
    for row in rows {
        if !behaviours.contains(&row.behaviour.as_str()) {
            behaviours.push(&row.behaviour);
        }
    }
    let mut text = String::new();
    for behaviour in behaviours {
        let mut cells = vec![cell(behaviour)];
        for peer in peers {
            let of_peer = |it: &&&Row| it.behaviour == behaviour && it.clause == *peer;
            cells.push(
                rows.iter()
                    .find(of_peer)
                    .map_or(String::new(), |it| runs(it)),
            );
        }
        text.push_str(&line(&cells));
    }
    text
}

fn line(cells: &[String]) -> String {
    let mut text = String::new();
    for cell in cells {
        text.push_str("| ");
        text.push_str(cell);
        text.push_str(if cell.is_empty() { "" } else { " " });
    }
    text.push_str("|\n");
    text
}

/// Text within a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// In a grid: the runs by note.
fn runs(row: &Row) -> String {
    let link = |it: &Mark| format!("[`{}`](../{})", it.test, it.file);
    let written = |marks: &[&Mark]| {
        let links: Vec<_> = marks.iter().map(|it| link(it)).collect();
        links.join(", ")
    };
    parts(row, written)
}

/// The tests by note and file, and remarks.
fn shown_by(row: &Row) -> String {
    let text = parts(row, tests);
    match &row.answer {
        Some(answer) => format!("{}: {text}", cell(answer)),
        None => text,
    }
}

/// The tests of a row by note, those without one first, and the text behind them.
fn parts(row: &Row, written: impl Fn(&[&Mark]) -> String) -> String {
    let mut notes: Vec<&str> = Vec::new();
    for mark in &row.marks {
        if !notes.contains(&mark.note.as_str()) {
            notes.push(&mark.note);
        }
    }
    notes.sort_by_key(|note| !note.is_empty());
    let of_note = |note: &&str| {
        let marks: Vec<_> = row.marks.iter().filter(|it| it.note == *note).collect();
        match *note {
            "" => written(&marks),
            note => format!("{}: {}", cell(note), written(&marks)),
        }
    };
    let mut parts: Vec<_> = notes.iter().map(of_note).collect();
    parts.extend(row.reason.iter().chain(&row.remark).map(|it| cell(it)));
    parts.join("; ")
}

/// Tests by file.
fn tests(marks: &[&Mark]) -> String {
    let mut text = String::new();
    let mut file = "";
    for mark in marks {
        if mark.file == file {
            let _ = write!(text, ", `{}`", mark.test);
            continue;
        }
        file = &mark.file;
        let separator = if text.is_empty() { "" } else { "; " };
        let label = label(file);
        let _ = write!(text, "{separator}[{label}](../{file}) `{}`", mark.test);
    }
    text
}

/// A file as its crate and module.
fn label(file: &str) -> String {
    let within = file.strip_suffix(".rs").unwrap_or(file);
    let within = ["crates/orbium-", "crates/", "examples/"]
        .iter()
        .find_map(|prefix| within.strip_prefix(prefix))
        .unwrap_or(within);
    let split = ["/tests/suite/", "/tests/"]
        .iter()
        .find_map(|middle| within.split_once(middle));
    match split {
        Some((package, module)) => format!("{package}: {module}"),
        None => match within.split_once("/src/") {
            Some((package, module)) => format!("{package}: src/{module}"),
            None => within.to_owned(),
        },
    }
}
