// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds of figures.

use std::fmt;

use serde_json::{Value, json};

/// The upper or lower bound of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    /// Whether a value meets the bound.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    /// The limiting value.
    pub(crate) fn limit(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }

    /// The bound in the files of the experiments.
    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::AtMost(most) => json!({ "at_most": most }),
            Self::AtLeast(least) => json!({ "at_least": least }),
        }
    }

    /// Reads the JSON of [`Self::to_json`]; `None` for anything else.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let most = value["at_most"].as_f64().map(Self::AtMost);
        most.or_else(|| value["at_least"].as_f64().map(Self::AtLeast))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "≤ {}", Number(*most)),
            Self::AtLeast(least) => write!(f, "≥ {}", Number(*least)),
        }
    }
}

/// A number in the format of tables: large ones whole, small ones with two decimals.
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = if self.0.abs() < 100.0 { 2 } else { 0 };
        write!(f, "{:.places$}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_survive_json() {
        for bound in [Bound::AtMost(1.5), Bound::AtLeast(0.75)] {
            assert_eq!(Bound::from_json(&bound.to_json()), Some(bound));
        }
        assert_eq!(Bound::from_json(&Value::Null), None);
    }
}
