// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consistency of the lanes of a configuration.

use crate::LaneConfig;
use orbium_config::{Limits, ServerStrategy};

/// Checks that lanes are consistent.
///
/// # Errors
/// A sentence with the reason.
pub fn check_lanes(lanes: &[LaneConfig], limits: &Limits) -> Result<(), &'static str> {
    for (place, lane) in lanes.iter().enumerate() {
        lane.check(limits)?;
        if lane.priority.is_none() {
            return Err("each lane needs a priority, by which requests are routed");
        }
        for other in lanes.iter().take(place) {
            check_two(lane, other)?;
        }
        for lender in &lane.borrows_from_named {
            check_lender(lanes, lane, lender)?;
        }
    }
    Ok(())
}

fn check_lender(lanes: &[LaneConfig], lane: &LaneConfig, lender: &str) -> Result<(), &'static str> {
    let lender = lanes.iter().find(|it| it.name == lender);
    let lender = lender.ok_or(
        "a lane borrows threads from one that is not there: borrows_from takes names of lanes",
    )?;
    let is_pool = |it: &LaneConfig| matches!(it.strategy, ServerStrategy::WorkerPool { .. });
    if !is_pool(lane) || !is_pool(lender) {
        return Err("threads are lent between worker pools alone");
    }
    if lender.priority >= lane.priority {
        return Err("a lane borrows threads from lanes of lower priority alone");
    }
    Ok(())
}

fn check_two(lane: &LaneConfig, other: &LaneConfig) -> Result<(), &'static str> {
    if lane.name == other.name {
        return Err("two lanes have the same name");
    }
    if lane.priority == other.priority {
        return Err("two lanes have the same priority: one of them would never serve");
    }
    let (high, low) = if lane.priority > other.priority {
        (lane, other)
    } else {
        (other, lane)
    };
    let native = |it: &LaneConfig| it.scheduling.map(|it| it.priority);
    if let (Some(high), Some(low)) = (native(high), native(low))
        && high < low
    {
        return Err(
            "the system would have a less urgent lane go first: native priorities must be in the order of the lanes' priorities",
        );
    }
    let fixed = |text: &str| !text.is_empty() && !text.ends_with(":0");
    let mut fixed = lane.endpoints.iter().filter(|it| fixed(&it.address));
    if fixed.any(|it| other.endpoints.contains(it)) {
        return Err("two lanes listen at the same endpoint");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use orbium_invocation::Priority;

    use super::*;

    /// Regression: with another endpoint at any port, the address was refused by the system alone.
    #[test]
    fn a_fixed_endpoint_is_that_of_one_lane() {
        let lane = |priority, endpoints: [&str; 2]| LaneConfig {
            name: format!("lane {priority}"),
            priority: Priority::new(priority),
            endpoints: endpoints.map(|it| it.parse().unwrap()).into(),
            ..LaneConfig::default()
        };
        let check = |lanes: [LaneConfig; 2]| check_lanes(&lanes, &Limits::default());
        let any = "iiop://127.0.0.1:0";
        let [first, second] = ["iiop://127.0.0.1:2809", "iiop://127.0.0.1:2810"];
        assert_eq!(
            check([lane(1, [any, first]), lane(2, [any, second])]),
            Ok(())
        );
        for endpoints in [[any, first], [second, first]] {
            let refused = check([lane(1, [any, first]), lane(2, endpoints)]).unwrap_err();
            assert!(refused.contains("the same endpoint"), "{refused}");
        }
    }
}
