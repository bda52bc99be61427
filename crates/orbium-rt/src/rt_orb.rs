// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTCORBA::RTORB` (RT-CORBA 1.2, clause 5.4).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use orbium_core::lock::Mutex;
use orbium_core::{
    Completion, ConnectionSharing, ExceptionKind, Extension, NetworkMark, Orb, Poa, PoaManager,
    Policies, Priority, RealTime, SystemException,
};

use orbium_giop::real_time::PriorityBand;

use crate::binding::{self, Admission, Bindings, ServeError};
use crate::error::bad_param;
use crate::policy::adapter::Adapter;
use crate::policy::validation::{check, check_bands_alone};
use crate::pool::{Attached, Threadpool};
use crate::rt_state::Shared;
use crate::upcall::{in_upcall, while_in_upcall};
use crate::{
    InvalidPolicy, InvalidThreadpool, MutexNotFound, PolicyType, RtCurrent, RtError, RtMutex,
    RtPoa, RtPoaError, RtPolicies, ThreadpoolConfig, ThreadpoolId, ThreadpoolLane, Why,
};

/// The extension of the ORB.
struct Installed(Arc<Shared>);

/// Real-time CORBA of an ORB. Cheap to clone.
#[derive(Clone)]
pub struct RtOrb {
    orb: Orb,
    shared: Arc<Shared>,
}

impl fmt::Debug for RtOrb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtOrb")
            .field("class", &self.shared.host.class)
            .finish_non_exhaustive()
    }
}

impl RealTime for Installed {
    fn outgoing(&self, object_key: &[u8]) -> Result<Option<Priority>, SystemException> {
        self.0.outgoing(object_key).map(Some)
    }

    fn is_serving(&self) -> bool {
        in_upcall()
    }

    fn while_serving(&self, work: &mut dyn FnMut()) {
        while_in_upcall(work);
    }

    fn network_mark(&self, priority: Priority) -> Option<NetworkMark> {
        self.0.network.as_ref()?.to_network(priority)
    }

    fn connections(&self) -> ConnectionSharing {
        self.0.connections.clone()
    }

    fn begin_thread(&self, priority: Priority) -> Result<(), SystemException> {
        self.0.host.give(priority)
    }

    fn end(&self) {
        let pools = {
            let mut pools = self.0.pools();
            pools.closed = true;
            std::mem::take(&mut pools.all)
        };
        // Their lanes have ended with the ORB.
        drop(pools);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl RtOrb {
    pub(crate) fn install(orb: &Orb, shared: Arc<Shared>) -> Result<Self, RtError> {
        let installed = Arc::new(Installed(Arc::clone(&shared)));
        if !orb.install_real_time(installed) {
            return Err(RtError::AlreadyInstalled);
        }
        Ok(Self {
            orb: orb.clone(),
            shared,
        })
    }

    /// The real-time ORB of an ORB (the initial reference `RTORB`); `None` if it is not installed.
    #[must_use]
    pub fn of(orb: &Orb) -> Option<Self> {
        let installed: &Installed = orb.real_time()?.as_any().downcast_ref()?;
        Some(Self {
            orb: orb.clone(),
            shared: Arc::clone(&installed.0),
        })
    }

    /// The priority of threads (the initial reference `RTCurrent`).
    #[must_use]
    pub fn current(&self) -> RtCurrent {
        RtCurrent::new(Arc::clone(&self.shared.host))
    }

    /// Sets how the calls of this thread share connections, unless the reference or the ORB sets
    /// it: bands of priorities, and whether each reference has private connections.
    ///
    /// # Errors
    /// BAD_PARAM for invalid bands.
    pub fn set_thread_connections(
        &self,
        bands: Option<&[PriorityBand]>,
        private: bool,
    ) -> Result<(), SystemException> {
        if let Some(bands) = bands {
            check_bands_alone(bands).map_err(|_| bad_param())?;
        }
        self.orb.set_thread_connections(ConnectionSharing {
            bands: bands.map(Into::into),
            private,
        });
        Ok(())
    }

    /// Enables bindings: the ORB answers markers and negotiates; see the module
    /// [`binding`](crate::binding). It begins to listen if it does not yet.
    ///
    /// # Errors
    /// [`ServeError`]: bindings are enabled already, or the ORB cannot listen.
    pub fn serve_bindings(&self, admission: impl Admission) -> Result<Bindings, ServeError> {
        binding::serve(&self.orb, &self.shared.host, admission)
    }

    /// A mutex with priority inheritance.
    #[must_use]
    pub fn create_mutex(&self) -> RtMutex {
        RtMutex::new()
    }

    /// Destroys a mutex. Its holder and its waiters are not affected; a named one can no longer be
    /// found.
    pub fn destroy_mutex(&self, mutex: &RtMutex) {
        self.shared.mutexes().retain(|_, known| known != mutex);
    }

    /// The mutex of that name, created if there was none, and whether it was created.
    #[must_use]
    pub fn create_named_mutex(&self, name: &str) -> (RtMutex, bool) {
        let mut mutexes = self.shared.mutexes();
        if let Some(mutex) = mutexes.get(name) {
            return (mutex.clone(), false);
        }
        let mutex = RtMutex::new();
        mutexes.insert(name.to_owned(), mutex.clone());
        (mutex, true)
    }

    /// The mutex of that name.
    ///
    /// # Errors
    /// [`MutexNotFound`].
    pub fn open_named_mutex(&self, name: &str) -> Result<RtMutex, MutexNotFound> {
        let mutexes = self.shared.mutexes();
        let found = mutexes.get(name).cloned();
        found.ok_or_else(|| MutexNotFound(name.to_owned()))
    }

    /// Creates a thread pool without lanes: `threads.lane_priority` is the priority of requests to
    /// adapters without a priority model.
    ///
    /// # Errors
    /// BAD_PARAM for a priority out of range and for no static threads; DATA_CONVERSION 2 for a
    /// priority without a native one; NO_RESOURCES if the system refuses threads, with the minor
    /// code NOT_RESERVED if it refuses their reservation; NO_PERMISSION if it refuses their
    /// priority; BAD_INV_ORDER 4 if the ORB has ended.
    pub fn create_threadpool(
        &self,
        threads: ThreadpoolLane,
        config: ThreadpoolConfig,
    ) -> Result<ThreadpoolId, SystemException> {
        self.start_pool(&[threads], false, config)
    }

    /// Creates a thread pool with one lane for each of several priorities.
    ///
    /// # Errors
    /// As [`create_threadpool`](Self::create_threadpool); BAD_PARAM for no lanes and for several of
    /// the same priority.
    pub fn create_threadpool_with_lanes(
        &self,
        lanes: &[ThreadpoolLane],
        config: ThreadpoolConfig,
    ) -> Result<ThreadpoolId, SystemException> {
        self.start_pool(lanes, true, config)
    }

    fn start_pool(
        &self,
        lanes: &[ThreadpoolLane],
        has_lanes: bool,
        config: ThreadpoolConfig,
    ) -> Result<ThreadpoolId, SystemException> {
        let id = {
            let mut pools = self.shared.pools();
            pools.last = pools.last.wrapping_add(1);
            ThreadpoolId(pools.last)
        };
        let host = &self.shared.host;
        let pool = Threadpool::start(id, host, &self.orb, lanes, has_lanes, config)?;
        let mut pools = self.shared.pools();
        if pools.closed {
            drop(pools);
            pool.end();
            return Err(SystemException::omg(
                ExceptionKind::BadInvOrder,
                4,
                Completion::No,
            ));
        }
        pools.all.insert(id, pool);
        Ok(id)
    }

    /// Destroys a thread pool: requests in progress are completed, queued ones raise TRANSIENT 1.
    ///
    /// # Errors
    /// [`InvalidThreadpool`]; BAD_INV_ORDER, without any effect, while it serves an adapter, and on
    /// one of its own threads.
    pub fn destroy_threadpool(
        &self,
        id: ThreadpoolId,
    ) -> Result<Result<(), SystemException>, InvalidThreadpool> {
        let pool = {
            let mut pools = self.shared.pools();
            let pool = pools.all.get(&id).ok_or(InvalidThreadpool(id))?;
            if pool.is_attached() || pool.is_of_this_thread() {
                let in_use = SystemException::new(ExceptionKind::BadInvOrder, 0, Completion::No);
                return Ok(Err(in_use));
            }
            pools.all.remove(&id)
        };
        if let Some(pool) = pool {
            pool.end();
        }
        Ok(Ok(()))
    }

    /// Creates an adapter with real-time policies as a child of another one.
    ///
    /// # Errors
    /// [`RtPoaError::InvalidPolicy`] with the policy at fault;
    /// [`RtPoaError::Poa`] as [`Poa::create_poa`].
    pub fn create_poa(
        &self,
        parent: &Poa,
        name: &str,
        manager: Option<PoaManager>,
        policies: Policies,
        real_time: &RtPolicies,
    ) -> Result<RtPoa, RtPoaError> {
        let asked = real_time.or(&self.shared.policies);
        let pool = match asked.threadpool {
            None => None,
            Some(id) => {
                // Under the lock under which `destroy_threadpool` checks for users.
                let found = self.shared.pools().all.get(&id).map(Attached::to);
                let unknown = InvalidPolicy {
                    policy: PolicyType::Threadpool,
                    why: Why::NoSuchThreadpool,
                };
                Some(found.ok_or(unknown)?)
            }
        };
        let server_priority = check(&asked, pool.as_deref(), &self.shared.host, &self.orb)?;
        let lanes = pool.as_ref().map(|it| it.listening());
        let lanes = lanes.filter(|it| !it.is_empty());
        let adapter = Adapter {
            shared: Arc::clone(&self.shared),
            model: asked.priority_model,
            server_priority,
            pool,
            bands: asked.bands.unwrap_or_default(),
            client_protocols: asked.client_protocols.map(|it| it.exposed()),
            settled: Mutex::default(),
        };
        let protocols = asked.server_protocols.map(|it| it.policy());
        let policies = Policies {
            protocols: protocols.or(policies.protocols),
            lanes: lanes.unwrap_or(policies.lanes),
            extension: Some(Extension(Arc::new(adapter))),
            ..policies
        };
        Ok(parent.create_poa(name, manager, policies)?.into())
    }
}
