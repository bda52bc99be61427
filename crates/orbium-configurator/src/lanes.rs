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
    let root = orb.root_poa();
    let mut todo = vec![(root.name().to_owned(), root)];
    while let Some((path, poa)) = todo.pop() {
        let lanes = poa.policies().lanes;
        let ends = |it: &Lane| ending.contains(it) || it.is_leaving();
        if lanes.contains(lane) && lanes.iter().all(ends) {
            return Some(path);
        }
        for child in poa.the_children() {
            todo.push((format!("{path}/{}", child.name()), child));
        }
    }
    None
}
