// SPDX-License-Identifier: MIT OR Apache-2.0
//! The supplier side: publications, and the receipt of pushes.

pub(crate) mod operations;
pub(crate) mod publication;
pub(crate) mod publisher;
pub(crate) mod pulling;
pub(crate) mod receive;
pub(crate) mod supplier;
