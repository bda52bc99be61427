// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an ORB counts: latency histograms of operations, exceptions, retries and
//! refusals, and the book of its connections; as data, as Prometheus text and, with the
//! feature `recorder`, for the recorder of the crate `metrics`.
//!
//! It does not know calls, servants or lanes: an ORB counts into [`Measurements`], enters
//! its connections in a [`ConnectionBook`], and implements [`MeasuredOrb`] for what only
//! it knows. Programs use `orbium::metrics`.
#![forbid(unsafe_code)]

mod connections;
mod handle;
mod histogram;
mod instruments;
mod lane;
mod measured;
mod measurements;
mod prometheus;
pub mod published;
mod role;
mod series;
mod snapshot;
mod traffic;
pub mod watch_folder;

pub use connections::{Closing, ConnectionBook, OpenConnection, Tracked};
pub use handle::MeasuredOrb;
pub use instruments::Instruments;
pub use lane::LaneSnapshot;
pub use measured::Measured;
pub use measurements::{Measurements, Refusal, Retry, scoped};
pub use published::*;
pub use series::{End, Label, Series};
