// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures with bounds.

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use super::bound::Bound;

/// A line of the final table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The measured figure.
    pub(crate) figure: String,
    /// The peer.
    pub(crate) peer: String,
    /// `None` if it could not be measured.
    pub(crate) value: Option<f64>,
    /// The bound for orbium; the others are for comparison.
    pub(crate) bound: Option<Bound>,
}

impl Row {
    pub(crate) fn new(figure: &str, peer: &str, value: Option<f64>) -> Self {
        Self {
            figure: figure.to_owned(),
            peer: peer.to_owned(),
            value,
            bound: None,
        }
    }

    pub(crate) fn bounded(self, bound: Bound) -> Self {
        Self {
            bound: Some(bound),
            ..self
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let met = self.value.zip(self.bound);
        json!({
            "figure": self.figure,
            "whose": self.peer,
            "value": self.value,
            "bound": self.bound.map(Bound::to_json),
            "met": met.map(|(value, bound)| bound.holds(value)),
        })
    }
}

/// The table.
pub(crate) fn to_text(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.add_rows(rows.iter().map(Row::cells));
    table.column_iter_mut().for_each(|column| {
        column.set_padding((0, 2));
    });
    if let Some(value) = table.column_mut(2) {
        value.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n", table.trim_fmt())
}

impl Row {
    fn cells(&self) -> [String; 4] {
        let value = self
            .value
            .map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
        let verdict = self.bound.map(|bound| {
            let verdict = match self.value {
                Some(value) if bound.holds(value) => "met",
                Some(_) => "MISSED",
                None => "not measured",
            };
            format!("{bound}: {verdict}")
        });
        [
            self.figure.clone(),
            self.peer.clone(),
            value,
            verdict.unwrap_or_default(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_or_missed() {
        let rows = [
            Row::new("ratio", "orbium", Some(1.2)).bounded(Bound::AtMost(1.5)),
            Row::new("ratio", "omniORB", Some(9.0)),
            Row::new("fraction", "orbium", Some(0.7)).bounded(Bound::AtLeast(0.75)),
            Row::new("fraction", "x", None).bounded(Bound::AtLeast(0.75)),
        ];
        let text = to_text(&rows);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].ends_with("1.20  ≤ 1.50: met"), "{text}");
        assert!(lines[1].ends_with("9.00"), "{text}");
        assert!(lines[2].ends_with("≥ 0.75: MISSED"), "{text}");
        assert!(lines[3].ends_with("not measured"), "{text}");
        assert_eq!(rows[2].to_json()["met"], false);
        assert!(rows[3].to_json()["met"].is_null());
    }
}
