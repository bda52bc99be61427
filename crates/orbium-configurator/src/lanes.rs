// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that lanes can end or be replaced.

use orbium_core::{Lane, Orb};

/// Checks that a lane can end together with others. `joins`: whether other lanes join.
///
/// # Errors
/// The reason why not.
pub(crate) fn may_end(
    orb: &Orb,
    lane: Option<&Lane>,
    ending: &[Lane],
    joins: bool,
) -> Result<(), String> {
    let lane = stoppable(lane)?;
    if !joins && orb.lane_list().are_all_in(ending) {
        return Err("the ORB has no other".into());
    }
    let ends = |it: &Lane| ending.contains(it) || it.is_leaving();
    match adapter_with(orb, &|lanes| lanes.contains(lane) && lanes.iter().all(ends)) {
        Some(path) => Err(format!("{path} has no other")),
        None => Ok(()),
    }
}

/// Checks that a lane can be replaced by another.
///
/// # Errors
/// The reason why not.
pub(crate) fn may_be_replaced(orb: &Orb, lane: Option<&Lane>) -> Result<(), String> {
    let lane = stoppable(lane)?;
    match adapter_with(orb, &|lanes| lanes.contains(lane)) {
        Some(path) => Err(format!("the policies of {path} name it")),
        None => Ok(()),
    }
}

/// A serving lane that does not own the calling thread.
fn stoppable(lane: Option<&Lane>) -> Result<&Lane, &'static str> {
    let lane = lane.ok_or("it begins with the first object")?;
    if lane.is_of_this_thread() {
        Err("by a thread of its own")
    } else {
        Ok(lane)
    }
}

/// The path of an adapter with matching lanes in its policies.
fn adapter_with(orb: &Orb, are_such: &dyn Fn(&[Lane]) -> bool) -> Option<String> {
    let mut all = orb.root_poa().subtree();
    let found = all.find(|poa| are_such(&poa.policies().lanes));
    found.map(|poa| poa.path_text())
}
