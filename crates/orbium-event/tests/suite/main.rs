// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event channels: filters, a channel within a process, and one that other ORBs call.

mod cos;
mod failing;
mod filters;
mod local;
mod observers;
mod parsing;
mod served;
