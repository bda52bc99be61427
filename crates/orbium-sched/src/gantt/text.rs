// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts as text.

use super::chart::{Bar, Chart, Row};
use crate::time::Time;

impl Chart {
    /// The chart as text, `columns` wide without the names: `#` where a thread runs, `-` where it
    /// is ready, `!` at missed deadlines. All columns represent the same length of time, and show
    /// the first of `!`, `#`, `-` that occurs in it.
    #[must_use]
    pub fn to_text(&self, columns: usize) -> String {
        let columns = columns.clamp(1, 1_000);
        if self.rows.is_empty() || self.end.is_zero() {
            return String::new();
        }
        let names = self.rows.iter().map(|row| row.name.chars().count());
        let width = names.max().unwrap_or(0);
        let mut text = String::new();
        for row in &self.rows {
            let cells = self.cells(row, columns);
            text.push_str(&format!("{:width$} |{cells}|\n", row.name));
        }
        let end = self.end.to_string();
        let blanks = (columns + 1).saturating_sub(end.chars().count());
        text.push_str(&format!("{:width$} 0{:blanks$}{end}\n", "", ""));
        if !self.is_complete {
            text.push_str("shown in part: the schedule repeats later\n");
        }
        text
    }

    fn cells(&self, row: &Row, columns: usize) -> String {
        let mut cells = vec![' '; columns];
        for (bars, mark) in [(&row.ready, '-'), (&row.runs, '#')] {
            for bar in bars {
                cells[self.covered(*bar, columns)].fill(mark);
            }
        }
        for miss in &row.misses {
            let at = self.column(*miss, columns).min(columns - 1);
            cells[at] = '!';
        }
        cells.into_iter().collect()
    }

    /// The columns that a bar overlaps.
    fn covered(&self, bar: Bar, columns: usize) -> std::ops::Range<usize> {
        let first = self.column(bar.start, columns);
        let end = u128::from(bar.end.ticks()) * columns as u128;
        let end = end.div_ceil(u128::from(self.end.ticks()));
        let end = usize::try_from(end).unwrap_or(columns).min(columns);
        first.min(end)..end
    }

    /// The column of a time.
    fn column(&self, time: Time, columns: usize) -> usize {
        let place = u128::from(time.ticks()) * columns as u128 / u128::from(self.end.ticks());
        usize::try_from(place).unwrap_or(columns)
    }
}
