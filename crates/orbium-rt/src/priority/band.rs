// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bands of priorities.

use orbium_core::Priority;
use orbium_giop::real_time::PriorityBand;

/// Whether a priority is within a band.
pub(crate) fn holds(band: &PriorityBand, priority: Priority) -> bool {
    (band.low..=band.high).contains(&priority.number())
}
