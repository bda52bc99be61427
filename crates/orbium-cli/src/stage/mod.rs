// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processes that serve and call, on chosen processors and over chosen transports,
//! and the timing of their calls: `orbium demo` and the benches are built of it.

pub mod carrier;
pub mod child;
pub mod contest;
pub mod pin;
pub mod progress;
pub mod realm;
pub mod scratch;
pub mod timing;
pub mod together;
