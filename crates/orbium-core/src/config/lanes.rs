// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of a configuration: which make sense together.

use crate::{Config, LaneConfig, ServerStrategy};

impl Config {
    /// Whether the lanes make sense together; the sentence that says why not.
    pub(crate) fn check_lanes(&self) -> Result<(), &'static str> {
        for (place, lane) in self.lanes.iter().enumerate() {
            lane.check(&self.limits)?;
            if lane.priority.is_none() {
                return Err("nobody could tell when a lane serves: each needs a priority");
            }
            for other in self.lanes.iter().take(place) {
                check_two(lane, other)?;
            }
            for lender in &lane.borrows_from_named {
                self.check_lender(lane, lender)?;
            }
        }
        Ok(())
    }

    fn check_lender(&self, lane: &LaneConfig, lender: &str) -> Result<(), &'static str> {
        let lender = self.lanes.iter().find(|it| it.name == lender);
        let lender = lender.ok_or(
            "a lane borrows threads from one that is not there: borrows_from takes names of lanes",
        )?;
        let pools = |it: &LaneConfig| matches!(it.strategy, ServerStrategy::WorkerPool { .. });
        if !pools(lane) || !pools(lender) {
            return Err("threads are lent between worker pools alone");
        }
        if lender.priority >= lane.priority {
            return Err("a lane borrows threads from lanes of lower priority alone");
        }
        Ok(())
    }

    /// Whether the ORB's own lane is one of those that serve adapters which name
    /// none: unless only the others are to be found.
    pub(crate) fn has_own_lane(&self) -> bool {
        !self.endpoints.is_empty() || self.lanes.iter().all(|it| it.endpoints.is_empty())
    }

    /// Whether lanes of the configuration are to be found.
    pub(crate) fn lanes_listen(&self) -> bool {
        self.lanes.iter().any(|it| !it.endpoints.is_empty())
    }
}

fn check_two(lane: &LaneConfig, other: &LaneConfig) -> Result<(), &'static str> {
    if lane.name == other.name {
        return Err("two lanes have the same name");
    }
    if lane.priority == other.priority {
        return Err("two lanes have the same priority: one of them would never serve");
    }
    let (high, low) = match lane.priority > other.priority {
        true => (lane, other),
        false => (other, lane),
    };
    let native = |it: &LaneConfig| it.scheduling.map(|it| it.priority);
    if let (Some(high), Some(low)) = (native(high), native(low))
        && high < low
    {
        return Err(
            "the system would have a less urgent lane go first: native priorities must be in the order of the lanes' priorities",
        );
    }
    let fixed = |text: &str| !text.ends_with(":0");
    let same = lane.endpoints.iter().any(|it| other.endpoints.contains(it));
    if same && lane.endpoints.iter().all(|it| fixed(&it.address)) {
        return Err("two lanes listen at the same endpoint");
    }
    Ok(())
}
