// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame of the page: text, and a line for each table.
//!
//! `{{rows CHAPTER | what | clause | shown by}}` has a row for each behaviour;
//! `{{grid CHAPTER | | omniORB's server = omniORB | …}}` a row for each behaviour and a
//! column for each peer. The clause of a mark in a grid is its column.

use xtask::outcome::Outcome;

pub(super) struct Frame {
    pub(super) parts: Vec<Part>,
}

pub(super) enum Part {
    /// Unchanged lines.
    Text(String),
    Table(Table),
}

/// A table, with the marks of one chapter.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) chapter: String,
    /// The headings.
    pub(super) columns: Vec<String>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    /// The column of the clause, if there is one.
    Rows { clause: Option<usize> },
    /// The names of the columns beyond the first in marks.
    Grid { peers: Vec<String> },
}

/// The headings of a column of clauses.
const CLAUSE: [&str; 2] = ["clause", "#"];

impl Frame {
    /// # Errors
    /// A malformed or duplicate table.
    pub(super) fn read(text: &str) -> Outcome<Self> {
        let mut parts = Vec::new();
        let mut chapters: Vec<&str> = Vec::new();
        let mut lines = String::new();
        for line in text.lines() {
            let Some(inner) = directive(line) else {
                lines.push_str(line);
                lines.push('\n');
                continue;
            };
            let table = Table::read(inner).ok_or_else(|| format!("frame.md: {line:?}"))?;
            parts.push(Part::Text(std::mem::take(&mut lines)));
            parts.push(Part::Table(table));
        }
        parts.push(Part::Text(lines));
        let frame = Self { parts };
        for table in frame.tables() {
            if chapters.contains(&table.chapter.as_str()) {
                return Err(format!("frame.md: {:?} stands twice", table.chapter));
            } else {
                chapters.push(&table.chapter);
            }
        }
        Ok(frame)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Table(table) => Some(table),
        })
    }

    /// The table at the beginning of a mark, and the clause behind its name.
    pub(super) fn table_of<'a>(&self, head: &'a str) -> Option<(&Table, &'a str)> {
        let named = self.tables().filter_map(|table| {
            let rest = head.strip_prefix(table.chapter.as_str())?;
            (rest.is_empty() || rest.starts_with(' ')).then_some((table, rest.trim()))
        });
        named.max_by_key(|(table, _)| table.chapter.len())
    }
}

fn directive(line: &str) -> Option<&str> {
    line.strip_prefix("{{")?.strip_suffix("}}")
}

impl Table {
    fn read(directive: &str) -> Option<Self> {
        let mut cells = directive.split('|').map(str::trim);
        let (kind, chapter) = cells.next()?.split_once(' ')?;
        let cells: Vec<_> = cells.collect();
        let (columns, kind) = match kind {
            "rows" if cells.len() > 1 => {
                let clause = cells.iter().position(|it| CLAUSE.contains(it));
                (cells, Kind::Rows { clause })
            }
            "grid" if cells.len() > 1 => {
                let (mut columns, mut peers) = (vec![cells[0]], Vec::new());
                for cell in &cells[1..] {
                    let (column, peer) = cell.split_once('=')?;
                    columns.push(column.trim());
                    peers.push(peer.trim().to_owned());
                }
                (columns, Kind::Grid { peers })
            }
            _ => return None,
        };
        Some(Self {
            chapter: chapter.trim().to_owned(),
            columns: columns.into_iter().map(str::to_owned).collect(),
            kind,
        })
    }

    /// Checks the clause of a mark or a remark of this chapter.
    ///
    /// # Errors
    /// The chapter has no clauses, or no such column.
    pub(super) fn check_clause(&self, clause: &str) -> Outcome<()> {
        let chapter = &self.chapter;
        match &self.kind {
            Kind::Rows { clause: None } if !clause.is_empty() => {
                Err(format!("{chapter} has no clauses, and no {clause:?}"))
            }
            Kind::Grid { peers } if !peers.iter().any(|it| it == clause) => Err(format!(
                "{chapter} has no column {clause:?}, but {}",
                peers.join(", ")
            )),
            _ => Ok(()),
        }
    }
}
