// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by all parts of Real-time CORBA of an ORB.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{
    Completion, ConnectionSharing, ExceptionKind, Priority, SystemException, priority,
};

use crate::pool::Threadpool;
use crate::priority::host::Host;
use crate::upcall::in_upcall;
use crate::{NetworkPriorityMapping, PriorityTransform, RtMutex, RtPolicies, ThreadpoolId};

/// The state of an ORB's Real-time CORBA.
pub(crate) struct Shared {
    pub(crate) host: Arc<Host>,
    pub(crate) transform: Arc<dyn PriorityTransform>,
    pub(crate) network: Option<Arc<dyn NetworkPriorityMapping>>,
    pub(crate) connections: ConnectionSharing,
    pub(crate) policies: RtPolicies,
    pub(crate) pools: Mutex<Pools>,
    pub(crate) mutexes: Mutex<HashMap<String, RtMutex>>,
}

#[derive(Default)]
pub(crate) struct Pools {
    pub(crate) all: BTreeMap<ThreadpoolId, Arc<Threadpool>>,
    pub(crate) last: u32,
    /// The ORB has ended.
    pub(crate) closed: bool,
}

impl Shared {
    pub(crate) fn new(
        host: Arc<Host>,
        transform: Arc<dyn PriorityTransform>,
        network: Option<Arc<dyn NetworkPriorityMapping>>,
        connections: ConnectionSharing,
        policies: RtPolicies,
    ) -> Arc<Self> {
        Arc::new(Self {
            host,
            transform,
            network,
            connections,
            policies,
            pools: Mutex::default(),
            mutexes: Mutex::default(),
        })
    }

    /// The priority of a call made by this thread.
    pub(crate) fn outgoing(&self, object: &[u8]) -> Result<Priority, SystemException> {
        let priority = match priority::current() {
            Some(priority) => priority,
            None => self.host.derived()?,
        };
        if !in_upcall() {
            return Ok(priority);
        }
        let outbound = self.transform.outbound(priority, object);
        outbound.ok_or_else(|| SystemException::new(ExceptionKind::Unknown, 0, Completion::No))
    }

    pub(crate) fn pools(&self) -> MutexGuard<'_, Pools> {
        self.pools.lock()
    }

    pub(crate) fn mutexes(&self) -> MutexGuard<'_, HashMap<String, RtMutex>> {
        self.mutexes.lock()
    }
}
