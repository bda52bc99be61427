// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts and their data: code sets, priorities, time.

pub mod codeset;
pub mod real_time;
pub mod riop;
pub mod service_context;
pub mod time;
