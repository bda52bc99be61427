// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of a configuration: which make sense together, how they come to be, and
//! where they are found.

use std::sync::atomic::Ordering;

use orbium_channel::accepting::Accepting;
use orbium_giop::component::{self, PriorityEndpoint};
use orbium_giop::{SystemException, TaggedComponent};
use orbium_transport::HostPort;

use super::route::lane_for;
use crate::orb::OrbError;
use crate::server::LaneCore;
use crate::{Channel, Config, Lane, LaneConfig, Orb, Policies, Priority, ServerStrategy};

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
    fn has_own_lane(&self) -> bool {
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

impl Orb {
    /// Starts the lanes of the configuration, the least urgent first; `own` is
    /// the ORB's own, if it listens.
    pub(crate) fn start_lanes(&self, own: Option<&Lane>) -> Result<(), OrbError> {
        let config = self.config();
        if config.lanes.is_empty() {
            return Ok(());
        }
        let mut wanted: Vec<&LaneConfig> = Vec::with_capacity(config.lanes.len());
        for lane in &config.lanes {
            let place = wanted.partition_point(|other| other.priority <= lane.priority);
            wanted.insert(place, lane);
        }
        let mut lanes = Vec::with_capacity(wanted.len() + 1);
        if config.has_own_lane() {
            lanes.extend(own.cloned());
        }
        for lane in wanted {
            lanes.push(self.add_lane(lane)?);
        }
        let _ = self.core().lanes.configured.set(lanes);
        Ok(())
    }

    /// The lanes that serve an adapter; none for the ORB's own alone.
    pub(crate) fn lanes_of<'a>(&'a self, policies: &'a Policies) -> &'a [Lane] {
        if !policies.lanes.is_empty() || self.config().lanes.is_empty() {
            return &policies.lanes;
        }
        let configured = &self.core().lanes.configured;
        if configured.get().is_none() {
            // They begin when the ORB does. If it cannot, others will say so.
            let _ = self.published();
        }
        configured.get().map_or(&[], Vec::as_slice)
    }

    /// Starts a lane in addition to the ORB's own.
    pub(super) fn start_lane(&self, config: &LaneConfig) -> Result<Lane, OrbError> {
        let core = self.core();
        let named;
        let config = match config.borrows_from_named.is_empty() {
            true => config,
            false => {
                named = self.with_lenders(config)?;
                &named
            }
        };
        config
            .check(&core.config.limits)
            .map_err(OrbError::Config)?;
        if !self.is_running() {
            return Err(OrbError::Config("the ORB was shut down"));
        }
        if self.is_left_behind() {
            return Err(OrbError::Config(
                "this process was forked from one that serves with this ORB",
            ));
        }
        let (accepting, published) = Accepting::listen(
            &config.endpoints,
            &core.config.protocols,
            &core.config.channel_options(),
        )?;
        core.lanes.route();
        let number = 1 + core.lanes.last.fetch_add(1, Ordering::Relaxed);
        let lane = Lane(LaneCore::start(self, number, config, accepting, published)?);
        core.lanes.lock().push(lane.clone());
        // The ORB may have shut down in between.
        if !self.is_running() {
            let _ = lane.stop();
            return Err(OrbError::Config("the ORB was shut down"));
        }
        Ok(lane)
    }

    /// A lane's configuration, with those it names.
    fn with_lenders(&self, config: &LaneConfig) -> Result<LaneConfig, OrbError> {
        let mut config = config.clone();
        for name in std::mem::take(&mut config.borrows_from_named) {
            let lender = self.lane(&name).ok_or(OrbError::Config(
                "a lane borrows threads from one that is not there",
            ))?;
            config.borrows_from.push(lender);
        }
        Ok(config)
    }

    /// Where objects are found that these lanes serve: the lane of the object's
    /// own priority first, then that without a priority, then from the most urgent
    /// on.
    pub(crate) fn channels_of(
        &self,
        lanes: &[Lane],
        priority: Option<Priority>,
    ) -> Result<Vec<Channel>, SystemException> {
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
            channels.extend_from_slice(lane.channels());
        }
        match channels.is_empty() {
            true => Ok(self.published()?.channels().to_vec()),
            false => Ok(channels),
        }
    }
}

/// Says which endpoint serves which priority, if there are several; a lane
/// without one serves the lowest.
pub(crate) fn lane_endpoints(lanes: &[Lane]) -> Option<TaggedComponent> {
    let mut endpoints = Vec::new();
    for lane in lanes {
        let priority = lane.priority().map_or(0, Priority::number);
        for channel in lane.channels() {
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
