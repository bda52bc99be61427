// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of measured values.

pub(crate) mod callgrind;
pub(crate) mod category;
pub(crate) mod ratios;
pub(crate) mod recorder;
pub(crate) mod samples;
pub(crate) mod summary;
