// SPDX-License-Identifier: MIT OR Apache-2.0
//! Result of one part of the experiment: table, JSON and figures.

use serde_json::Value;

use crate::report::row::Row;

/// What a part found: its table, its JSON, its figures and what has to be said of them.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) json: Value,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
}
