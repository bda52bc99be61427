// SPDX-License-Identifier: MIT OR Apache-2.0
//! Client context of an ORB, shared by all its calls: connections, configuration and numbers.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_cdr::Owner;
use orbium_channel::peer_memory::Budget;
use orbium_channel::{BidirectionalConnections, Channel};
use orbium_giop::SystemException;
use orbium_invocation::exceptions::already_shut_down;
use orbium_invocation::{ConnectionSharing, RealTime};
use orbium_metrics::{Instruments, Measurements};
use orbium_sync::Versions;
use orbium_sync::lock::Mutex;
use orbium_sys::fork::PerProcess;

use crate::call::notice;
use crate::policy::client_policies::ClientPolicies;
use orbium_connection::ClientConfig;
use orbium_connection::FlowControl;
use orbium_connection::Pools;
use orbium_connection::counts::Counts;
use orbium_invocation::Decoding;

/// The client of an ORB: its connections to servers, and the settings of calls.
pub struct ClientContext {
    /// The checks before each call: flags of [`notice`].
    notice: AtomicU8,
    config: Arc<ClientConfig>,
    /// The settings of new connections, since the ORB was reconfigured.
    latest: OnceLock<Versions<Arc<ClientConfig>>>,
    /// The number of reconfigurations.
    generation: AtomicU32,
    /// Identifies the ORB within the process.
    number: usize,
    decoding: Decoding,
    instruments: Arc<Instruments>,
    pools: PerProcess<Pools>,
    real_time: OnceLock<Arc<dyn RealTime>>,
    /// The policies set on the ORB after its construction.
    overrides: OnceLock<Mutex<ClientPolicies>>,
}

impl ClientContext {
    /// The client of an ORB with that number; `owner` binds the references in replies to it.
    pub fn new(
        config: ClientConfig,
        number: usize,
        owner: Owner,
        instruments: Arc<Instruments>,
    ) -> Arc<Self> {
        Arc::new(Self {
            notice: AtomicU8::new(if config.interceptors.intercepts_calls() {
                notice::INTERCEPTED
            } else {
                0
            }),
            number,
            decoding: Decoding {
                owner,
                nesting: config.limits.nesting,
            },
            config: Arc::new(config),
            latest: OnceLock::new(),
            generation: AtomicU32::new(0),
            instruments,
            pools: PerProcess::new(),
            real_time: OnceLock::new(),
            overrides: OnceLock::new(),
        })
    }

    /// The settings of calls with which the ORB was built.
    #[inline]
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    /// The present settings of new connections.
    pub fn latest_config(&self) -> &Arc<ClientConfig> {
        let latest = self.latest.get().map(Versions::current);
        latest.unwrap_or(&self.config)
    }

    /// Opens connections with these settings from now on: strategy, socket properties and limits.
    /// References bind again with their next call; calls in progress keep their connections.
    ///
    /// # Errors
    /// The limit of 65,535 reconfigurations is reached.
    pub fn reconfigure(&self, config: ClientConfig) -> Result<(), Arc<ClientConfig>> {
        let config = Arc::new(config);
        let latest = self
            .latest
            .get_or_init(|| Versions::new(Arc::clone(&self.config)));
        latest.replace(Arc::clone(&config))?;
        self.pools().reconfigure(config);
        // Release: a reference that sees the new generation (Acquire) binds by the new
        // choices.
        self.generation.fetch_add(1, Ordering::Release);
        self.set_notice(notice::THREAD_POLICY);
        Ok(())
    }

    /// The number of reconfigurations.
    pub(crate) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// The bidirectional connections, if there may be any.
    pub fn bidirectional(&self) -> Option<&Arc<dyn BidirectionalConnections>> {
        self.config.bidirectional.as_ref()
    }

    /// Identifies the ORB within the process.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The parameters of reading results.
    #[inline]
    pub fn decoding(&self) -> &Decoding {
        &self.decoding
    }

    /// The budget that connections are charged to.
    pub(crate) fn budget(&self) -> &Budget {
        self.config.protocols.budget()
    }

    /// The book of connections, and the metrics.
    pub(crate) fn instruments(&self) -> &Instruments {
        &self.instruments
    }

    /// The measurements, if metrics are on.
    pub fn measurements(&self) -> Option<&Arc<Measurements>> {
        self.instruments.measurements()
    }

    /// The connections to servers. A forked child begins without any.
    pub(crate) fn pools(&self) -> &Pools {
        let new = || Pools::new(Arc::clone(self.latest_config()), self.instruments.book());
        self.pools.get_or_renew(new, Pools::leave)
    }

    /// The counts over the connections to servers.
    pub fn counts(&self) -> &Arc<Counts> {
        self.pools().counts()
    }

    /// Installs an observer of the begin and end of flow control of buffered oneways; `false` if
    /// there is one already.
    pub fn observe_flow_control(
        &self,
        observer: impl FnMut(&Channel, FlowControl) + Send + 'static,
    ) -> bool {
        self.pools().counts().observe_flow_control(observer)
    }

    /// Installs the real-time extension; `false` if there is one.
    pub fn install_real_time(&self, real_time: Arc<dyn RealTime>) -> bool {
        self.real_time.set(real_time).is_ok()
    }

    /// The real-time extension, if one is installed.
    #[inline]
    pub fn real_time(&self) -> Option<&Arc<dyn RealTime>> {
        self.real_time.get()
    }

    /// The connection sharing of calls, unless a reference or a thread overrides it.
    pub(crate) fn connection_sharing(&self) -> ConnectionSharing {
        let of_orb = self.real_time().map(|it| it.connections());
        of_orb.unwrap_or_default()
    }

    /// Makes calls check that notice before they begin.
    pub fn set_notice(&self, notice: u8) {
        // Release: a call that sees the flag (Acquire in `notice`) sees what was installed
        // before.
        self.notice.fetch_or(notice, Ordering::Release);
    }

    /// Flags of the checks before a call; almost always zero.
    #[inline]
    pub(crate) fn notice(&self) -> u8 {
        self.notice.load(Ordering::Acquire)
    }

    /// Checks that the ORB has not ended.
    ///
    /// # Errors
    /// BAD_INV_ORDER 4.
    pub fn check_running(&self) -> Result<(), SystemException> {
        match self.notice() & notice::ENDED {
            0 => Ok(()),
            _ => Err(already_shut_down()),
        }
    }

    /// Checks that the ORB has not ended; returns the policies of this thread, completed by those
    /// set on the ORB.
    ///
    /// # Errors
    /// BAD_INV_ORDER 4.
    #[cold]
    pub(crate) fn check_thread_policies(
        &self,
        notice: u8,
    ) -> Result<ClientPolicies, SystemException> {
        if notice & notice::ENDED != 0 {
            return Err(already_shut_down());
        }
        Ok(self.wider_policies())
    }

    /// The policies of this thread, completed by those set on the ORB.
    pub(crate) fn wider_policies(&self) -> ClientPolicies {
        let of_thread = ClientPolicies::of_this_thread(self.number);
        match self.overrides.get() {
            Some(_) => of_thread.or(&self.orb_overrides()),
            None => of_thread,
        }
    }

    /// The policies set on the ORB after its construction.
    pub fn orb_overrides(&self) -> ClientPolicies {
        let overrides = self.overrides.get().map(Mutex::lock);
        overrides.map_or_else(ClientPolicies::default, |it| it.clone())
    }

    /// Changes the policies set on the ORB.
    pub fn set_orb_overrides(&self, change: impl FnOnce(&mut ClientPolicies)) {
        change(&mut self.overrides.get_or_init(Mutex::default).lock());
        self.set_notice(notice::THREAD_POLICY);
    }

    /// The policies of this thread for its calls through the ORB.
    pub fn thread_policies(&self) -> ClientPolicies {
        ClientPolicies::of_this_thread(self.number)
    }

    /// The policies of all calls through the ORB: overrides, or else those of its configuration.
    pub fn orb_policies(&self) -> ClientPolicies {
        self.orb_overrides().or(&ClientPolicies {
            protocols: self.config.client_protocols.clone(),
            times: self.config.times,
            defined: self.config.interceptors.policies().to_vec(),
            ..ClientPolicies::default()
        })
    }

    /// Changes the policies of this thread for its calls through the ORB.
    pub fn set_thread_policies(&self, change: impl FnOnce(&mut ClientPolicies)) {
        ClientPolicies::change(self.number, change);
        self.set_notice(notice::THREAD_POLICY);
    }

    /// Closes the connections.
    pub fn close_connections(&self) {
        if let Some(pools) = self.pools.get() {
            pools.close();
        }
    }
}
