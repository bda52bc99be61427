// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of a running ORB.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_client::ClientPolicies;
use orbium_connection::ClientConfig;
use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{Config, Endpoint, Lane, Limits, Orb, OrbError, Protocols};
use orbium_settings::Configure as _;
use orbium_trace::log;

use crate::begun::{Begun, Replaced, log_failed};
use crate::plan::{Plan, turns_tls_on};
use crate::{Change, ReconfigureError, lanes};

/// Changes the configuration of an ORB while it runs. Clones are for the same ORB. It keeps the ORB
/// alive.
#[derive(Clone, Debug)]
pub struct Configurator {
    inner: Arc<Inner>,
    drain_time: Duration,
}

#[derive(Debug)]
struct Inner {
    orb: Orb,
    current: Mutex<Config>,
    /// The configuration with which the ORB was built.
    built_with: Config,
}

/// Default time for which accepted requests of an ending lane are served.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// The limits of the client's connections.
fn of_client(limits: &Limits) -> [usize; 6] {
    [
        limits.message_size,
        limits.messages_in_assembly,
        limits.connections_per_server,
        limits.idle_connections,
        limits.calls_per_connection,
        limits.buffered_oneways,
    ]
}

impl Configurator {
    /// For an ORB that was built with that configuration.
    #[must_use]
    pub fn new(orb: &Orb, built_with: Config) -> Self {
        Self {
            inner: Arc::new(Inner {
                orb: orb.clone(),
                current: Mutex::new(built_with.clone()),
                built_with,
            }),
            drain_time: DRAIN_TIME,
        }
    }

    /// Sets the maximum time for which accepted requests of an ending lane are served. Default: 10
    /// s; at most a day.
    #[must_use]
    pub fn with_drain_time(mut self, time: Duration) -> Self {
        self.drain_time = time;
        self
    }

    fn lock(&self) -> MutexGuard<'_, Config> {
        self.inner.current.lock()
    }

    /// The ORB.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.inner.orb
    }

    /// The present configuration.
    #[must_use]
    pub fn config(&self) -> Config {
        self.lock().clone()
    }

    /// Changes the ORB to that configuration; returns the changes. Requests in progress are
    /// completed. New limits apply at once; connections keep the limits of messages and times with
    /// which they were accepted. An endpoint that is removed accepts the connections in its backlog
    /// first, and its connections stay open; later references contain the new endpoints. References
    /// bind again, by the client's new settings, with their next call.
    ///
    /// A lane that is removed serves its accepted requests, for at most the [drain
    /// time](Self::with_drain_time); this returns when its threads have ended, or after that time.
    /// Later requests of its clients are sent to the remaining lanes. A lane with another kind of
    /// strategy, other processors or scheduling is replaced: a new one takes over its name and its
    /// endpoints, with the connections in the backlog, before the old one ends.
    ///
    /// # Errors
    /// [`ReconfigureError`]; nothing is changed then.
    pub fn reconfigure(&self, config: Config) -> Result<Vec<Change>, ReconfigureError> {
        self.change(self.lock(), config)
    }

    /// As [`reconfigure`](Self::reconfigure), starting from the locked configuration.
    fn change(
        &self,
        mut current: MutexGuard<'_, Config>,
        config: Config,
    ) -> Result<Vec<Change>, ReconfigureError> {
        if !self.inner.orb.is_running() {
            return Err(ReconfigureError::Ended);
        }
        config.check().map_err(ReconfigureError::Contradictory)?;
        let plan = Plan::new(&current, &config)?;
        let ending = self.ending(&plan)?;
        let mut begun = Begun::default();
        let protocols = self.protocols(&current, &config)?;
        let started = self.begin(&plan, &config, &protocols, &mut begun);
        let started = started.and_then(|()| self.change_engines(&current, &config, &protocols));
        if let Err(error) = started {
            begun.undo();
            return Err(error);
        }
        self.end(&plan);
        self.change_lanes(&begun, &ending);
        *current = config;
        // The configuration can be read while lanes end.
        drop(current);
        self.drain(&ending);
        for change in &plan.changes {
            log::info!(target: "orbium::config", %change, "reconfigured");
        }
        Ok(plan.changes)
    }

    /// Registers transports and messaging protocols with the running ORB, for endpoints and
    /// connections from now on. References received before bind again with their next call. A
    /// protocol stays registered.
    ///
    /// ```
    /// # use orbium_configurator::Configurator;
    /// # use orbium_core::{Config, Orb, Protocols};
    /// let all = Protocols::default();
    /// let config = Config {
    ///     protocols: all.only(["iiop"])?,
    ///     ..Config::default()
    /// };
    /// let orb = Orb::new(config.clone())?;
    /// let configurator = Configurator::new(&orb, config);
    /// configurator.register(all.only(["uiop"])?)?;
    /// assert!(orb.protocols().transport("uiop").is_some());
    /// # orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReconfigureError::Fixed`]: the ORB already has a protocol with one of these names.
    pub fn register(&self, protocols: Protocols) -> Result<Vec<Change>, ReconfigureError> {
        let current = self.lock();
        let mut config = current.clone();
        config.protocols.add(protocols);
        self.change(current, config)
    }

    /// As [`reconfigure`](Self::reconfigure), from a file. Interceptors, hooks and transports that
    /// the program has registered are kept.
    ///
    /// # Errors
    /// [`ReconfigureError`]; nothing is changed then.
    pub fn reconfigure_from(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Vec<Change>, ReconfigureError> {
        let config = Config::from_file(path)?;
        self.reconfigure_read(config, &Protocols::default())
    }

    /// As [`reconfigure`](Self::reconfigure), to a configuration that was read again. Interceptors
    /// and hooks are kept, and so are the protocols if it has the `unregistered` ones: those read
    /// when the ORB was built, before the program changed them.
    ///
    /// ```
    /// # use std::error::Error;
    /// # use orbium_configurator::Configurator;
    /// # use orbium_core::{Config, Orb};
    /// # use orbium_settings::Configure as _;
    /// let read = |connections| -> Result<Config, Box<dyn Error>> {
    ///     let mut config = Config::default();
    ///     config.set("endpoint", "iiop://127.0.0.1:0")?;
    ///     config.set("limits.connections", connections)?;
    ///     Ok(config)
    /// };
    /// let first = read("64")?;
    /// let mut config = first.clone();
    /// config.protocols = first.protocols.only(["iiop"])?;
    /// let orb = Orb::new(config.clone())?;
    /// let configurator = Configurator::new(&orb, config);
    ///
    /// let changes = configurator.reconfigure_read(read("128")?, &first.protocols)?;
    /// assert_eq!(changes[0].to_string(), "limits.connections: 64 → 128");
    /// assert!(configurator.config().protocols.transport("uiop").is_none());
    /// orb.shutdown(true)?;
    /// # Ok::<(), Box<dyn Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReconfigureError`]; nothing is changed then.
    pub fn reconfigure_read(
        &self,
        mut config: Config,
        unregistered: &Protocols,
    ) -> Result<Vec<Change>, ReconfigureError> {
        let current = self.lock();
        config.interceptors = current.interceptors.clone();
        config.dispatch = current.dispatch.clone();
        if config.protocols == *unregistered {
            config.protocols = current.protocols.clone();
        } else {
            let registered = current.protocols.added_to(unregistered);
            config.protocols.add(registered);
        }
        self.change(current, config)
    }

    /// The lanes that have to end, if all can.
    fn ending(&self, plan: &Plan) -> Result<Vec<Lane>, ReconfigureError> {
        let orb = &self.inner.orb;
        if plan.changes_lanes() && orb.lane_list().are_final() {
            return Err(ReconfigureError::TooOften);
        }
        let found = |name| (name, orb.lane(name));
        let stopped = plan.stop_lanes.iter().map(String::as_str).map(found);
        let stopped: Vec<_> = stopped.collect();
        let replaced = plan.replace_lanes.iter().map(|it| found(&it.name));
        let replaced: Vec<_> = replaced.collect();
        let ending = stopped.iter().chain(&replaced);
        let ending: Vec<Lane> = ending.filter_map(|(_, lane)| lane.clone()).collect();
        let joins = plan.has_joining_lanes();
        let stays = stopped.iter().filter_map(|(name, lane)| {
            let why = lanes::may_end(orb, lane.as_ref(), &ending, joins).err()?;
            Some(format!("lane.{name} (to end: {why})"))
        });
        let stays = stays.chain(replaced.iter().filter_map(|(name, lane)| {
            let why = lanes::may_be_replaced(orb, lane.as_ref()).err()?;
            Some(format!("lane.{name} (to be replaced: {why})"))
        }));
        let stays: Vec<String> = stays.collect();
        if stays.is_empty() {
            Ok(ending)
        } else {
            Err(ReconfigureError::Fixed(stays))
        }
    }

    /// Adds joining lanes to the serving ones, and removes ending ones.
    fn change_lanes(&self, begun: &Begun, ending: &[Lane]) {
        let joining = begun.joining();
        if joining.is_empty() && ending.is_empty() {
            return;
        }
        // References contain the announced endpoints, and lead to the previous lanes until the
        // endpoints are taken over.
        for Replaced { before, after } in &begun.replaced {
            after.announce(before);
        }
        self.inner.orb.change_lanes(&joining, ending);
        for Replaced { before, after } in &begun.replaced {
            after.take_over(before);
        }
    }

    /// Serves the accepted requests of ending lanes, all within the same time.
    fn drain(&self, ending: &[Lane]) {
        let time = self.drain_time;
        let Some((first, others)) = ending.split_first() else {
            return;
        };
        thread::scope(|scope| {
            let mut left = vec![first];
            for lane in others {
                let drain = thread::Builder::new().name("orbium-drain".into());
                if drain.spawn_scoped(scope, || lane.drain(time)).is_err() {
                    // One after the other, without another thread.
                    left.push(lane);
                }
            }
            for lane in left {
                lane.drain(time);
            }
        });
    }

    /// The future protocols of the ORB, already initialized: TLS reads its files.
    fn protocols(&self, before: &Config, after: &Config) -> Result<Protocols, ReconfigureError> {
        let mut all = self.inner.orb.protocols().clone();
        let added = after.protocols.added_to(&before.protocols);
        let names: Vec<_> = added
            .schemes()
            .filter(|it| all.transport(it).is_some())
            .collect();
        if !names.is_empty() {
            return Err(ReconfigureError::Fixed(registered(&names)));
        }
        all.add(added);
        if turns_tls_on(before, after) {
            if all.transport("ssliop").is_some() {
                return Err(ReconfigureError::Fixed(registered(&["ssliop"])));
            }
            let mut config = Config {
                tls: after.tls.clone(),
                protocols: all,
                ..Config::default()
            };
            config.register_tls()?;
            all = config.protocols;
            let of_lanes = after.lanes.iter().flat_map(|lane| &lane.endpoints);
            for endpoint in after.endpoints.iter().chain(of_lanes) {
                all.check_protection(endpoint).map_err(OrbError::from)?;
            }
            self.check_own_endpoints(&all)?;
        }
        Ok(all)
    }

    /// Checks that the ORB does not listen at endpoints of its own choice without the required
    /// protection.
    fn check_own_endpoints(&self, protocols: &Protocols) -> Result<(), ReconfigureError> {
        if !self.inner.orb.config().endpoints.is_empty() {
            return Ok(());
        }
        for lane in self.inner.orb.lane_snapshots().entries {
            for at in &lane.endpoints {
                let endpoint: Endpoint = at.parse().map_err(OrbError::from)?;
                protocols
                    .check_protection(&endpoint)
                    .map_err(OrbError::from)?;
            }
        }
        Ok(())
    }

    /// The steps that may fail.
    fn begin(
        &self,
        plan: &Plan,
        config: &Config,
        protocols: &Protocols,
        begun: &mut Begun,
    ) -> Result<(), ReconfigureError> {
        let options = config.channel_options();
        for resizing in &plan.resizing {
            self.lane(resizing.lane.as_deref())?;
        }
        for listening in &plan.listening {
            let lane = self.lane(listening.lane.as_deref())?;
            for endpoint in &listening.open {
                lane.listen(endpoint, protocols, &options)?;
                begun.opened.push((lane.clone(), endpoint.clone()));
            }
        }
        for resizing in plan.resizing.iter().filter(|it| it.grows()) {
            let lane = self.lane(resizing.lane.as_deref())?;
            lane.resize(&resizing.after)?;
            begun.resized.push((lane, resizing.before));
        }
        for lane in &plan.add_lanes {
            begun
                .added
                .push(self.inner.orb.start_lane(lane, protocols)?);
        }
        for lane in &plan.replace_lanes {
            begun.replaced.push(Replaced {
                before: self.lane(Some(&lane.name))?,
                after: self.inner.orb.start_successor(lane)?,
            });
        }
        Ok(())
    }

    /// The lane with that name, or the ORB's own.
    fn lane(&self, name: Option<&str>) -> Result<Lane, ReconfigureError> {
        let orb = &self.inner.orb;
        match name {
            Some(name) => orb.lane(name).ok_or_else(|| {
                let why = "to change: it does not serve yet, or has ended";
                ReconfigureError::Fixed(vec![format!("lane.{name} ({why})")])
            }),
            None => orb.own_lane().map_err(|_| ReconfigureError::Ended),
        }
    }

    /// Changes the settings of the client and the server.
    fn change_engines(
        &self,
        before: &Config,
        after: &Config,
        protocols: &Protocols,
    ) -> Result<(), ReconfigureError> {
        let (client, server) = self.inner.orb.engines();
        let too_often = |_| ReconfigureError::TooOften;
        if before.limits != after.limits {
            server.set_limits(after.limits.clone()).map_err(too_often)?;
        }
        let connects_otherwise = of_client(&before.limits) != of_client(&after.limits)
            || before.client_strategy != after.client_strategy
            || before.properties != after.properties
            || before.connect_timeout != after.connect_timeout
            || self.inner.orb.protocols() != protocols;
        if connects_otherwise {
            let latest = ClientConfig::clone(client.latest_config());
            let config = ClientConfig {
                client_strategy: after.client_strategy,
                limits: after.limits.clone(),
                protocols: protocols.clone(),
                properties: after.properties,
                connect_timeout: after.connect_timeout,
                ..latest
            };
            client
                .reconfigure(config)
                .map_err(|_| ReconfigureError::TooOften)?;
        }
        if self.policies_differ(before, after) {
            client.set_orb_overrides(|policies| self.set_policies(policies, after));
        }
        Ok(())
    }

    fn policies_differ(&self, before: &Config, after: &Config) -> bool {
        before.client_protocols != after.client_protocols
            || before.call_timeout != after.call_timeout
            || before.request_timeout != after.request_timeout
    }

    /// Settings with which the ORB was built need no policy.
    fn set_policies(&self, policies: &mut ClientPolicies, after: &Config) {
        let built = &self.inner.built_with;
        let protocols = after.client_protocols.clone();
        policies.protocols = protocols.filter(|it| Some(it) != built.client_protocols.as_ref());
        let differs = |now, then| Some(now).filter(|now| *now != then).flatten();
        policies.times.roundtrip_timeout = differs(after.call_timeout, built.call_timeout);
        policies.times.request_timeout = differs(after.request_timeout, built.request_timeout);
    }

    /// The steps that end endpoints and lanes.
    fn end(&self, plan: &Plan) {
        for listening in &plan.listening {
            // It exists, or `begin` would have failed.
            if let Ok(lane) = self.lane(listening.lane.as_deref()) {
                for endpoint in &listening.close {
                    lane.stop_listening(endpoint);
                }
            }
        }
        for resizing in plan.resizing.iter().filter(|it| !it.grows()) {
            if let Ok(lane) = self.lane(resizing.lane.as_deref()) {
                log_failed(&lane, lane.resize(&resizing.after));
            }
        }
    }
}

/// The errors for existing protocols, which are not replaced.
fn registered(names: &[&str]) -> Vec<String> {
    let names = names.iter();
    names
        .map(|name| format!("protocols (another {name})"))
        .collect()
}
