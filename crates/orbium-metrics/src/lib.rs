// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of an ORB: latency histograms of operations, exceptions, retries and refusals, and
//! the book of its connections.
//!
//! It is independent of calls, servants and lanes, and of the presentation of counts: an ORB counts
//! into [`Measurements`] and adds its connections to a [`ConnectionBook`]; `orbium-exposition`
//! reads both. Programs use `orbium::metrics`.
#![forbid(unsafe_code)]

mod connection_snapshot;
mod connections;
mod counted;
mod histogram;
mod instruments;
mod lane;
mod listing;
mod measured;
mod measurements;
pub mod published;
mod quality;
mod role;
mod series;
mod traffic;

pub use connection_snapshot::OpenConnection;
pub use connections::{Closing, ConnectionBook, Tracked};
pub use instruments::Instruments;
pub use lane::LaneSnapshot;
pub use listing::Listing;
pub use measured::Measured;
pub use measurements::{Measurements, Refusal, Retry, scoped};
pub use orbium_budget::{BudgetUse, OperationBudget};
pub use published::*;
pub use series::{End, Label, Series, Side, Sums};
