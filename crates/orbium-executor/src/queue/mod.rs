// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ready tasks, in the order of a policy.

mod levels;
pub(crate) mod policy;
pub(crate) mod ready;
mod runs;
