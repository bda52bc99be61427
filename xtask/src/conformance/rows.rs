// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks and remarks, grouped by behaviour.

use std::cmp::Ordering;

use super::frame::{Frame, Table};
use super::marks::Mark;
use super::remarks::Remark;

/// A behaviour.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) chapter: String,
    /// Empty if there is none.
    pub(super) clause: String,
    pub(super) behaviour: String,
    /// In the order of files and lines.
    pub(super) marks: Vec<Mark>,
    /// The reason why there are none.
    pub(super) reason: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) remark: Option<String>,
}

pub(super) struct Rows(Vec<Row>);

impl Rows {
    /// # Errors
    /// Every duplicate mark, every remark without a chapter, and every contradictory or empty row.
    pub(super) fn of(
        frame: &Frame,
        marks: Vec<Mark>,
        remarks: Vec<Remark>,
    ) -> Result<Self, Vec<String>> {
        let mut rows = Self(Vec::new());
        let mut faults = Vec::new();
        for mark in marks {
            let row = rows.row(&mark.chapter, &mark.clause, &mark.behaviour);
            let same = |it: &Mark| it.file == mark.file && it.test == mark.test;
            if row.marks.iter().any(same) {
                faults.push(format!("{}: {} says it twice", mark.file, mark.test));
            } else {
                row.marks.push(mark);
            }
        }
        for remark in remarks {
            match frame.tables().find(|it| it.chapter == remark.chapter) {
                None => faults.push(format!("not-yet.toml: no chapter {:?}", remark.chapter)),
                Some(table) => {
                    if let Err(fault) = table.check_clause(&remark.clause) {
                        faults.push(format!("not-yet.toml: {fault}"));
                    }
                }
            }
            let row = rows.row(&remark.chapter, &remark.clause, &remark.behaviour);
            row.reason = remark.reason;
            row.answer = remark.answer;
            row.remark = remark.remark;
        }
        faults.extend(rows.0.iter().filter_map(Row::fault));
        if faults.is_empty() {
            Ok(rows)
        } else {
            Err(faults)
        }
    }

    /// The row of a behaviour, created if it is new.
    fn row(&mut self, chapter: &str, clause: &str, behaviour: &str) -> &mut Row {
        let same =
            |it: &Row| it.chapter == chapter && it.clause == clause && it.behaviour == behaviour;
        let index = self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(Row {
                chapter: chapter.to_owned(),
                clause: clause.to_owned(),
                behaviour: behaviour.to_owned(),
                ..Row::default()
            });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    /// The rows of a table by clause, those without one last; those with the same subject together;
    /// then in the order of files.
    pub(super) fn by_clause(&self, table: &Table) -> Vec<&Row> {
        let found = self.in_order(table);
        let place = |row: &Row| found.iter().position(|it| it.subject() == row.subject());
        let of_subject = |row: &Row| (place(row), row.subject() != row.behaviour);
        let mut rows = found.clone();
        rows.sort_by(|one, other| {
            by_clause(&one.clause, &other.clause)
                .then_with(|| of_subject(one).cmp(&of_subject(other)))
        });
        rows
    }

    /// The rows of a table in the order of files and lines, those without tests last.
    pub(super) fn in_order(&self, table: &Table) -> Vec<&Row> {
        let rows = self.0.iter().filter(|it| it.chapter == table.chapter);
        rows.collect()
    }
}

impl Row {
    /// The words before the first colon.
    fn subject(&self) -> &str {
        let behaviour = self.behaviour.as_str();
        behaviour.split_once(": ").map_or(behaviour, |(it, _)| it)
    }

    fn fault(&self) -> Option<String> {
        let what = format!("{} {} - {}", self.chapter, self.clause, self.behaviour);
        match (self.marks.first(), &self.reason) {
            (Some(mark), Some(_)) => Some(format!(
                "not-yet.toml: {what}: {} of {} proves it: its reason can go",
                mark.test, mark.file
            )),
            (None, None) => Some(format!("not-yet.toml: {what}: no test has a mark for it")),
            _ => None,
        }
    }
}

/// Compares clauses with numbers by their value, and without a clause last.
fn by_clause(one: &str, other: &str) -> Ordering {
    let keys = |clause| (str::is_empty(clause), chunks(clause));
    keys(one).cmp(&keys(other))
}

/// Numbers and the text between them.
fn chunks(clause: &str) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, String)> = Vec::new();
    let mut digits = false;
    for letter in clause.chars() {
        match letter.to_digit(10) {
            Some(digit) => {
                if !digits {
                    found.push((0, String::new()));
                }
                if let Some((number, _)) = found.last_mut() {
                    *number = number.saturating_mul(10).saturating_add(digit.into());
                }
            }
            None => {
                if found.is_empty() {
                    // Words follow all numbers.
                    found.push((u64::MAX, String::new()));
                }
                if let Some((_, text)) = found.last_mut() {
                    text.push(letter);
                }
            }
        }
        digits = letter.is_ascii_digit();
    }
    found
}
