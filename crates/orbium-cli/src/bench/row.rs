// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that are held to a bound.

use std::fmt::{self, Write};

use serde_json::{Value, json};

/// What a figure must not exceed, or must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::AtLeast(least) => write!(f, "≥ {least}"),
        }
    }
}

impl Bound {
    fn to_json(self) -> Value {
        match self {
            Self::AtMost(most) => json!({ "at_most": most }),
            Self::AtLeast(least) => json!({ "at_least": least }),
        }
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }
}

/// A line of the table at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) figure: String,
    /// Of whom.
    pub(crate) whose: String,
    /// `None` if it could not be measured.
    pub(crate) value: Option<f64>,
    /// For orbium; the others are there for comparison.
    pub(crate) bound: Option<Bound>,
}

impl Row {
    pub(crate) fn new(figure: &str, whose: &str, value: Option<f64>) -> Self {
        Self {
            figure: figure.to_owned(),
            whose: whose.to_owned(),
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
            "whose": self.whose,
            "value": self.value,
            "bound": self.bound.map(Bound::to_json),
            "met": met.map(|(value, bound)| bound.holds(value)),
        })
    }
}

/// The table.
pub(crate) fn to_text(rows: &[Row]) -> String {
    let mut text = String::new();
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max();
    let figures = width(|row| &row.figure).unwrap_or(0);
    let names = width(|row| &row.whose).unwrap_or(0);
    for row in rows {
        let value = row
            .value
            .map_or("–".to_owned(), |value| format!("{value:.2}"));
        let _ = write!(
            text,
            "{:figures$}  {:names$}  {value:>10}",
            row.figure, row.whose
        );
        if let Some(bound) = row.bound {
            let verdict = match row.value {
                Some(value) if bound.holds(value) => "met",
                Some(_) => "MISSED",
                None => "not measured",
            };
            let _ = write!(text, "  {bound}: {verdict}");
        }
        text.push('\n');
    }
    text
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
        assert!(lines[0].ends_with("1.20  ≤ 1.5: met"), "{text}");
        assert!(lines[1].ends_with("9.00"), "{text}");
        assert!(lines[2].ends_with("≥ 0.75: MISSED"), "{text}");
        assert!(lines[3].ends_with("not measured"), "{text}");
        assert_eq!(rows[2].to_json()["met"], false);
        assert!(rows[3].to_json()["met"].is_null());
    }
}
