// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listening lanes of a configuration.

use crate::Config;

impl Config {
    /// Whether the ORB's own lane serves the adapters without lanes: unless only lanes of the
    /// configuration have endpoints.
    pub(crate) fn has_own_lane(&self) -> bool {
        !self.endpoints.is_empty() || self.lanes.iter().all(|it| it.endpoints.is_empty())
    }

    /// Whether lanes of the configuration have endpoints.
    pub(crate) fn lanes_listen(&self) -> bool {
        self.lanes.iter().any(|it| !it.endpoints.is_empty())
    }
}
