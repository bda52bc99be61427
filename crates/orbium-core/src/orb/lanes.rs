// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of an ORB: start of configured and added lanes, and their look-up.

use orbium_channel::accepting::Accepting;
use orbium_giop::SystemException;

use super::OrbError;
use crate::{Call, Channel, Lane, LaneConfig, Orb, Priority, Protocols};
use orbium_lane::{Lanes, OWN, published_channels};
use orbium_server::start_lane;

impl Orb {
    /// Starts the lanes of the configuration, the least urgent first; `own` is the ORB's own lane,
    /// if it listens.
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
        self.core().adapters.lanes.begin_shared(lanes);
        Ok(())
    }

    /// As [`add_lane`](Self::add_lane), for endpoints with these protocols.
    #[doc(hidden)]
    pub fn start_lane(&self, config: &LaneConfig, protocols: &Protocols) -> Result<Lane, OrbError> {
        let config = self.complete(config)?;
        let (accepting, published) = Accepting::listen_with_short_headers(
            &config.endpoints,
            protocols,
            &self.config().channel_options(),
        )?;
        let accepting = self
            .accepting_both_ways(accepting, &published)
            .map_err(|error| OrbError::Threads(config.name.clone(), error))?;
        self.start_listening(&config, accepting, published)
    }

    /// Starts a lane that will [take over](Lane::take_over) the endpoints of another.
    #[doc(hidden)]
    pub fn start_successor(&self, config: &LaneConfig) -> Result<Lane, OrbError> {
        let accepting = if config.endpoints.is_empty() {
            Accepting::default()
        } else {
            Accepting::awaiting()
        };
        let config = LaneConfig {
            endpoints: Vec::new(),
            ..config.clone()
        };
        let config = self.complete(&config)?;
        self.start_listening(&config, accepting, Vec::new())
    }

    /// The configuration of a lane, checked, with the lanes that it borrows from.
    fn complete(&self, config: &LaneConfig) -> Result<LaneConfig, OrbError> {
        let config = self.with_lenders(config)?;
        config
            .check(&self.config().limits)
            .map_err(OrbError::Config)?;
        if !self.is_running() {
            return Err(OrbError::Config("the ORB was shut down"));
        }
        if self.is_left_behind() {
            return Err(OrbError::Config(
                "this process was forked from one that serves with this ORB",
            ));
        }
        Ok(config)
    }

    fn start_listening(
        &self,
        config: &LaneConfig,
        accepting: Accepting,
        published: Vec<Channel>,
    ) -> Result<Lane, OrbError> {
        let core = self.core();
        core.serving.route();
        let number = core.adapters.lanes.next_number();
        let lane = start_lane(&self.host(), number, config, accepting, published)?;
        core.adapters.lanes.add(lane.clone());
        // The ORB may have been shut down in between.
        if !self.is_running() {
            let _ = lane.stop();
            return Err(OrbError::Config("the ORB was shut down"));
        }
        Ok(lane)
    }

    /// The lanes that were added.
    #[doc(hidden)]
    #[must_use]
    pub fn lane_list(&self) -> &Lanes {
        &self.core().adapters.lanes
    }

    /// Changes the lanes of adapters without lanes of their own: `joining` lanes serve them from
    /// now on, `ending` lanes no longer; call [`Lane::drain`] on these next.
    #[doc(hidden)]
    pub fn change_lanes(&self, joining: &[Lane], ending: &[Lane]) {
        let adapters = &self.core().adapters;
        adapters
            .lanes
            .change_shared(joining, ending, self.started_lane());
        // The joining lanes already serve: a request that meets a leaving lane finds them.
        ending.iter().for_each(Lane::begin_leaving);
        adapters.follow_lanes();
    }

    /// The configuration of a lane, with the lanes that it borrows from.
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

    /// The channels in references to objects of these lanes; those of the ORB itself if the lanes
    /// have none.
    pub(crate) fn channels_of(
        &self,
        lanes: &[Lane],
        priority: Option<Priority>,
    ) -> Result<Vec<Channel>, SystemException> {
        let channels = published_channels(lanes, priority);
        if channels.is_empty() {
            Ok(self.published()?.channels().to_vec())
        } else {
            Ok(channels)
        }
    }
}

impl Orb {
    /// Adds a lane, which serves at once: its static threads have been started, at their priority,
    /// when this returns.
    ///
    /// ```
    /// use orbium_core::{LaneConfig, Orb, Policies, Priority};
    ///
    /// let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    /// let mut lanes = Vec::new();
    /// for (name, priority) in [("routine", 10), ("urgent", 100)] {
    ///     lanes.push(orb.add_lane(&LaneConfig {
    ///         name: name.into(),
    ///         priority: Priority::new(priority),
    ///         endpoints: vec!["iiop://127.0.0.1:0".parse()?],
    ///         ..LaneConfig::default()
    ///     })?);
    /// }
    /// let policies = Policies {
    ///     lanes,
    ///     ..Policies::default()
    /// };
    /// let adapter = orb.root_poa().create_poa("devices", None, policies)?;
    /// # drop(adapter);
    /// orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OrbError::Config`] for inconsistent settings, [`OrbError::RealTime`] if the host refuses
    /// the scheduling or the processors, [`OrbError::Listen`], [`OrbError::Threads`]; nothing
    /// remains of the lane then.
    pub fn add_lane(&self, config: &LaneConfig) -> Result<Lane, OrbError> {
        self.start_lane(config, self.protocols())
    }

    /// The lane of that name, from the configuration or added later.
    #[must_use]
    #[inline]
    pub fn lane(&self, name: &str) -> Option<Lane> {
        self.core().adapters.lanes.named(name)
    }

    /// The added lanes that were not stopped.
    #[must_use]
    #[inline]
    pub fn lanes(&self) -> Vec<Lane> {
        self.core().adapters.lanes.all()
    }

    /// The ORB's own lane, described by its configuration; it listens at a free port if no endpoint
    /// was given.
    ///
    /// # Errors
    /// The ORB cannot listen, or was shut down.
    pub fn own_lane(&self) -> Result<Lane, SystemException> {
        self.published().cloned()
    }
}

impl Call<'_> {
    /// The lane of the connection of the request; `None` for a collocated call, and for a
    /// connection with a dedicated thread.
    #[must_use]
    #[inline]
    pub fn lane(&self) -> Option<Lane> {
        let number = self.incoming.peer?.lane();
        match number {
            OWN => self.orb().own_lane().ok(),
            _ => self.orb().core().adapters.lanes.numbered(number),
        }
    }
}
