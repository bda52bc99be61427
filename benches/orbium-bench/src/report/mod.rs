// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures with their bounds, tables, drawings and JSON.

pub(crate) mod bound;
pub(crate) mod drawing;
pub(crate) mod figures;
pub(crate) mod file;
pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod results;
pub(crate) mod row;
