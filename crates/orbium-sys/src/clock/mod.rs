// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points in time: deadlines, and stamps that are cheap to take.

pub(crate) mod deadline;
pub(crate) mod stamp;
