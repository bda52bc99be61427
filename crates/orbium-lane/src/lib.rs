// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes of an ORB: threads at one priority with their own endpoints, connections and queue,
//! without shared blocking state.
//!
//! It is independent of connections, requests, servants and the strategies by which lanes serve: a
//! serving lane is a [`ServingLane`], which `orbium-server` implements. The crate has the
//! configuration of a lane ([`LaneConfig`]), the setup of its threads ([`thread`]), the choice of
//! the lane of a request ([`Route`], [`lane_for`]), and the handles for the rest of the ORB
//! ([`Lane`], [`Lanes`]).
//!
//! ```
//! use orbium_config::{Limits, ServerStrategy};
//! use orbium_invocation::Priority;
//! use orbium_lane::{LaneConfig, check_lanes};
//!
//! let lanes = [("routine", 1), ("urgent", 9)].map(|(name, priority)| LaneConfig {
//!     name: name.into(),
//!     priority: Priority::new(priority),
//!     strategy: ServerStrategy::LeaderFollowers { threads: 2 },
//!     ..LaneConfig::default()
//! });
//! assert_eq!(check_lanes(&lanes, &Limits::default()), Ok(()));
//! ```
#![forbid(unsafe_code)]

mod handle;
mod lane_config;
mod lane_sizes;
mod lanes;
mod main_thread;
mod main_thread_call;
mod orb_error;
mod order;
mod published;
mod queue_bounds;
mod route;
mod start_error;
pub mod thread;
mod together;

pub use handle::{Lane, LaneFacts, ServingLane};
pub use lane_config::LaneConfig;
pub use lane_sizes::LaneSizes;
pub use lanes::Lanes;
pub use main_thread::MainThread;
pub use orb_error::OrbError;
pub use order::{Order, OrderError};
pub use published::{lane_endpoints, published_channels};
pub use queue_bounds::{QueueBounds, QueuePermit};
pub use route::{
    ASKED, Decided, OWN, OWN_INTERCEPTED, RequestTiming, Route, SETTLED, lane_for, lowest_lane,
};
pub use start_error::StartError;
pub use thread::lane_name;
pub use together::check_lanes;
