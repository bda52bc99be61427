// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of lanes published in references.

use orbium_channel::Channel;
use orbium_giop::TaggedComponent;
use orbium_giop::component::{self, PriorityEndpoint};
use orbium_invocation::Priority;
use orbium_transport::HostPort;

use crate::{Lane, lane_for};

/// The published channels of objects of these lanes: the lane for the object's priority first, then
/// the one without a priority, then from the most urgent one.
#[must_use]
pub fn published_channels(lanes: &[Lane], priority: Option<Priority>) -> Vec<Channel> {
    let own = priority.and_then(|it| lane_for(lanes, it));
    // A lane without priority sorts first: it serves requests without one.
    let before = |other: &Lane, lane: &Lane| match (other.priority(), lane.priority()) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(other), Some(lane)) => other >= lane,
    };
    let mut sorted: Vec<&Lane> = Vec::with_capacity(lanes.len());
    for lane in lanes.iter().filter(|lane| Some(*lane) != own) {
        let place = sorted.partition_point(|other| before(other, lane));
        sorted.insert(place, lane);
    }
    if let Some(own) = own {
        sorted.insert(0, own);
    }
    let mut channels = Vec::new();
    for lane in sorted {
        channels.extend_from_slice(&lane.channels());
    }
    channels
}

/// The component with the priority of each endpoint, if there are several; a lane without a
/// priority has the lowest.
#[must_use]
pub fn lane_endpoints(lanes: &[Lane]) -> Option<TaggedComponent> {
    let mut endpoints = Vec::new();
    for lane in lanes {
        let priority = lane.priority().map_or(0, Priority::number);
        for channel in lane.channels().iter() {
            let Some(HostPort { host, port }) = channel.host_port_over("iiop") else {
                continue;
            };
            endpoints.push(PriorityEndpoint {
                address: component::HostPort { host, port },
                priority,
            });
        }
    }
    (endpoints.len() > 1).then(|| TaggedComponent::tao_endpoints(&endpoints))
}
