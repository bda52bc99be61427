// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes that are to end: which of them cannot.

use orbium_core::{Lane, Orb};

/// Why a lane cannot end together with others. `joins`: whether any takes their place.
pub(crate) fn why_it_stays(orb: &Orb, lane: &Lane, ending: &[Lane], joins: bool) -> Option<String> {
    if lane.is_of_this_thread() {
        return Some("by a thread of its own".into());
    }
    if !joins && orb.lane_list().are_all_in(ending) {
        return Some("the ORB has no other".into());
    }
    let path = adapter_left_without(orb, lane, ending)?;
    Some(format!("{path} has no other"))
}

/// The path of an adapter that names the lane in its policies, and none that stays.
fn adapter_left_without(orb: &Orb, lane: &Lane, ending: &[Lane]) -> Option<String> {
    let ends = |it: &Lane| ending.contains(it) || it.is_leaving();
    let left_without = orb.root_poa().subtree().find(|poa| {
        let lanes = poa.policies().lanes;
        lanes.contains(lane) && lanes.iter().all(ends)
    });
    left_without.map(|poa| poa.path_text())
}
