// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: everything needed to serve at one priority, and nothing shared that
//! could block.

mod config;
mod handle;
mod main_thread;
mod queue_bounds;
mod route;
pub(crate) mod thread;
mod together;

pub use config::LaneConfig;
pub use handle::Lane;
pub(crate) use handle::{LaneFacts, ServingLane};
pub use main_thread::MainThread;
pub use queue_bounds::QueueBounds;
pub(crate) use queue_bounds::QueuePermit;
pub use route::{ASKED, Decided, OWN, OWN_INTERCEPTED, Route, SETTLED, lane_for};
pub use thread::lane_name;
pub use together::check_lanes;
