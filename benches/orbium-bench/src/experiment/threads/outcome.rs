// SPDX-License-Identifier: MIT OR Apache-2.0
//! Result of one part of the experiment: table, JSON and figures.

use serde_json::Value;

use crate::report::row::Row;

/// The findings of a part: its table, its JSON, its figures and notes.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) json: Value,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
}
