// SPDX-License-Identifier: MIT OR Apache-2.0
//! Public interface of this crate for programs, as `orbium::metrics`.

pub use crate::connection_snapshot::ConnectionSnapshot;
pub use crate::counted::{ConnectionMetrics, NamedCount, TrafficMetrics};
pub use crate::histogram::Histogram;
pub use crate::quality::Quality;
pub use crate::role::Role;
