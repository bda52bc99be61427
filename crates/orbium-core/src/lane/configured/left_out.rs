// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes in a program without the feature `strategies`: the ORB's own alone.

use orbium_giop::{SystemException, TaggedComponent};

use crate::orb::OrbError;
use crate::{Channel, Config, Lane, LaneConfig, Orb, Policies, Priority};

impl Config {
    pub(crate) fn check_lanes(&self) -> Result<(), &'static str> {
        Ok(())
    }

    pub(crate) fn lanes_listen(&self) -> bool {
        false
    }
}

impl Orb {
    pub(crate) fn start_lanes(&self, _own: Option<&Lane>) -> Result<(), OrbError> {
        Ok(())
    }

    pub(super) fn start_lane(&self, config: &LaneConfig) -> Result<Lane, OrbError> {
        Err(config.left_out())
    }

    /// Adapters can name the ORB's own lane alone, which serves them anyway.
    pub(crate) fn lanes_of<'a>(&'a self, _policies: &'a Policies) -> &'a [Lane] {
        &[]
    }

    pub(crate) fn channels_of(
        &self,
        _lanes: &[Lane],
        _priority: Option<Priority>,
    ) -> Result<Vec<Channel>, SystemException> {
        self.channels()
    }
}

pub(crate) fn lane_endpoints(_lanes: &[Lane]) -> Option<TaggedComponent> {
    None
}
