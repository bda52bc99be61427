// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes that are to end or to be replaced: which of them cannot.

use orbium_core::{Lane, Orb};

const NOT_BEGUN: &str = "it begins with the first object";
const OWN_THREAD: &str = "by a thread of its own";

/// Why a lane cannot end together with others. `joins`: whether any takes their place.
pub(crate) fn why_it_stays(
    orb: &Orb,
    lane: Option<&Lane>,
    ending: &[Lane],
    joins: bool,
) -> Option<String> {
    let Some(lane) = lane else {
        return Some(NOT_BEGUN.into());
    };
    if lane.is_of_this_thread() {
        return Some(OWN_THREAD.into());
    }
    if !joins && orb.lane_list().are_all_in(ending) {
        return Some("the ORB has no other".into());
    }
    let ends = |it: &Lane| ending.contains(it) || it.is_leaving();
    let path = adapter_with(orb, &|lanes| lanes.contains(lane) && lanes.iter().all(ends))?;
    Some(format!("{path} has no other"))
}

/// Why no other lane can take the place of one.
pub(crate) fn why_it_is_not_replaced(orb: &Orb, lane: Option<&Lane>) -> Option<String> {
    let Some(lane) = lane else {
        return Some(NOT_BEGUN.into());
    };
    if lane.is_of_this_thread() {
        return Some(OWN_THREAD.into());
    }
    let path = adapter_with(orb, &|lanes| lanes.contains(lane))?;
    Some(format!("the policies of {path} name it"))
}

/// The path of an adapter with such lanes in its policies.
fn adapter_with(orb: &Orb, are_such: &dyn Fn(&[Lane]) -> bool) -> Option<String> {
    let mut all = orb.root_poa().subtree();
    let found = all.find(|poa| are_such(&poa.policies().lanes));
    found.map(|poa| poa.path_text())
}
