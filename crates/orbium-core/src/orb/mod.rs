// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB itself.

mod bidirectional;
mod builder;
mod collocation;
mod dedication;
mod dispatching;
mod ending;
mod handle;
mod lanes;
mod main_thread;
mod policies;
mod references;
mod short_forms;
pub(crate) mod state;
mod tls;

pub use builder::OrbBuilder;
pub use handle::Orb;
pub use orbium_lane::OrbError;
pub(crate) use state::OrbCore;
