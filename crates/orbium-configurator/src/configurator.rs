// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of a running ORB.

use std::path::Path;
use std::sync::Arc;

use orbium_client::ClientPolicies;
use orbium_connection::ClientConfig;
use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{Config, Endpoint, Lane, LaneSizes, Limits, Orb, OrbError, Protocols};
use orbium_settings::Configure as _;
use orbium_trace::log;

use crate::plan::{Plan, turns_tls_on};
use crate::{Change, ReconfigureError};

/// Changes the configuration of one ORB while it runs. Clones are for the same ORB. It keeps
/// the ORB alive.
#[derive(Clone, Debug)]
pub struct Configurator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    orb: Orb,
    current: Mutex<Config>,
    /// The lanes that the ORB was built with.
    lanes: Vec<String>,
    /// Those, and what else it was built with.
    built_with: Config,
}

/// The bounds of connections that the client makes.
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

/// What was begun and is undone if the rest fails.
#[derive(Default)]
struct Begun {
    opened: Vec<(Lane, Endpoint)>,
    added: Vec<Lane>,
    resized: Vec<(Lane, LaneSizes)>,
}

impl Begun {
    fn undo(self) {
        for (lane, endpoint) in self.opened {
            lane.stop_listening(&endpoint);
        }
        for lane in self.added {
            let _ = lane.stop();
        }
        for (lane, before) in self.resized {
            log_failed(&lane, lane.resize(&before));
        }
    }
}

impl Configurator {
    /// For an ORB that was built with that configuration.
    #[must_use]
    pub fn new(orb: &Orb, built_with: Config) -> Self {
        Self(Arc::new(Inner {
            orb: orb.clone(),
            lanes: built_with.lanes.iter().map(|it| it.name.clone()).collect(),
            current: Mutex::new(built_with.clone()),
            built_with,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Config> {
        self.0.current.lock()
    }

    /// The ORB.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// The configuration as it is now.
    #[must_use]
    pub fn config(&self) -> Config {
        self.lock().clone()
    }

    /// Changes the ORB to that configuration; what was changed. Requests under way finish. New
    /// limits hold at once; connections keep the bounds of messages and times that they were
    /// accepted under. An endpoint that goes accepts what waits there first, and its connections
    /// stay; references that are made from now on say where the ORB listens then. References
    /// bind anew, by the client's new choices, with their next call.
    ///
    /// # Errors
    /// [`ReconfigureError`]; nothing is changed then.
    pub fn reconfigure(&self, config: Config) -> Result<Vec<Change>, ReconfigureError> {
        let mut current = self.lock();
        if !self.0.orb.is_running() {
            return Err(ReconfigureError::Ended);
        }
        config.check().map_err(ReconfigureError::Senseless)?;
        let plan = Plan::new(&current, &config, &self.0.lanes)?;
        let mut begun = Begun::default();
        let protocols = self.protocols(&current, &config)?;
        let started = self.begin(&plan, &config, &protocols, &mut begun);
        let started = started.and_then(|()| self.change_engines(&current, &config, &protocols));
        if let Err(error) = started {
            begun.undo();
            return Err(error);
        }
        self.end(&plan);
        *current = config;
        for change in &plan.changes {
            log::info!(target: "orbium::config", %change, "reconfigured");
        }
        Ok(plan.changes)
    }

    /// Registers transports and messaging protocols with the running ORB: endpoints and
    /// connections can have them from now on. References that were received before bind anew with
    /// their next call. A protocol stays registered.
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
    /// [`ReconfigureError::Fixed`]: the ORB has a protocol of one of these names.
    pub fn register(&self, protocols: Protocols) -> Result<Vec<Change>, ReconfigureError> {
        let mut config = self.config();
        config.protocols.add(protocols);
        self.reconfigure(config)
    }

    /// As [`reconfigure`](Self::reconfigure), from a file. Interceptors, hooks and transports
    /// that the program has registered stay.
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

    /// As [`reconfigure`](Self::reconfigure), to a configuration that has been read again.
    /// Interceptors and hooks stay, and the protocols too if it names the `unregistered` ones:
    /// those that had been read when the ORB was built, before the program changed them.
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
        let current = self.config();
        config.interceptors = current.interceptors;
        config.dispatch = current.dispatch;
        if config.protocols == *unregistered {
            config.protocols = current.protocols;
        } else {
            let registered = current.protocols.added_to(unregistered);
            config.protocols.add(registered);
        }
        self.reconfigure(config)
    }

    /// The protocols that the ORB is to have, which have begun to be: TLS reads its files.
    fn protocols(&self, before: &Config, after: &Config) -> Result<Protocols, ReconfigureError> {
        let mut all = self.0.orb.protocols().clone();
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

    /// Checks that the ORB does not listen where it has chosen without the protection that is
    /// required.
    fn check_own_endpoints(&self, protocols: &Protocols) -> Result<(), ReconfigureError> {
        if !self.0.orb.config().endpoints.is_empty() {
            return Ok(());
        }
        for lane in self.0.orb.lane_snapshots().entries {
            for at in &lane.endpoints {
                let endpoint: Endpoint = at.parse().map_err(OrbError::from)?;
                protocols
                    .check_protection(&endpoint)
                    .map_err(OrbError::from)?;
            }
        }
        Ok(())
    }

    /// What may fail.
    fn begin(
        &self,
        plan: &Plan,
        config: &Config,
        protocols: &Protocols,
        begun: &mut Begun,
    ) -> Result<(), ReconfigureError> {
        let options = config.channel_options();
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
            begun.added.push(self.0.orb.start_lane(lane, protocols)?);
        }
        Ok(())
    }

    /// The lane of that name, or the ORB's own.
    fn lane(&self, name: Option<&str>) -> Result<Lane, ReconfigureError> {
        let orb = &self.0.orb;
        let lane = match name {
            Some(name) => orb.lane(name),
            None => orb.own_lane().ok(),
        };
        lane.ok_or(ReconfigureError::Ended)
    }

    /// The client and the server.
    fn change_engines(
        &self,
        before: &Config,
        after: &Config,
        protocols: &Protocols,
    ) -> Result<(), ReconfigureError> {
        let (client, server) = self.0.orb.engines();
        let too_often = |_| ReconfigureError::TooOften;
        if before.limits != after.limits {
            server.set_limits(after.limits.clone()).map_err(too_often)?;
        }
        let connects_otherwise = of_client(&before.limits) != of_client(&after.limits)
            || before.client_strategy != after.client_strategy
            || before.properties != after.properties
            || before.connect_timeout != after.connect_timeout
            || self.0.orb.protocols() != protocols;
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

    /// What is as the ORB was built needs no policy.
    fn set_policies(&self, policies: &mut ClientPolicies, after: &Config) {
        let built = &self.0.built_with;
        let protocols = after.client_protocols.clone();
        policies.protocols = protocols.filter(|it| Some(it) != built.client_protocols.as_ref());
        let differs = |now, then| Some(now).filter(|now| *now != then).flatten();
        policies.times.roundtrip_timeout = differs(after.call_timeout, built.call_timeout);
        policies.times.request_timeout = differs(after.request_timeout, built.request_timeout);
    }

    /// What ends.
    fn end(&self, plan: &Plan) {
        for listening in &plan.listening {
            // There, or `begin` had failed.
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
        for name in &plan.stop_lanes {
            if let Some(lane) = self.0.orb.lane(name)
                && let Err(error) = lane.stop()
            {
                log::error!(target: "orbium::config", lane = name, %error, "a lane does not end");
            }
        }
    }
}

/// Protocols that an ORB has are not replaced.
fn registered(names: &[&str]) -> Vec<String> {
    let names = names.iter();
    names
        .map(|name| format!("protocols (another {name})"))
        .collect()
}

/// Fewer threads and another queue are never refused.
fn log_failed(lane: &Lane, resized: Result<(), OrbError>) {
    if let Err(error) = resized {
        log::error!(target: "orbium::config", lane = lane.name(), %error, "a lane keeps its threads");
    }
}
