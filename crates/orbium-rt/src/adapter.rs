// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Real-time CORBA adds to an adapter.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orbium_core::{
    AdapterExtension, Call, Completion, DetachedRequest, DispatchError, ExceptionKind, Priority,
    SystemException,
};
use orbium_giop::component::{HostPort, PriorityEndpoint};
use orbium_giop::real_time::{
    ClientProtocolsValue, PriorityBand, PriorityBandsValue, PriorityModel, read_priority_context,
};
use orbium_giop::{TaggedComponent, service_context};

use crate::PriorityModelPolicy;
use crate::error::bad_param;
use crate::pool::{Reader, Threadpool};
use crate::rt_orb::Shared;

thread_local! {
    /// Whether this thread runs a servant.
    static IN_UPCALL: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread runs a servant of a real-time adapter.
pub(crate) fn in_upcall() -> bool {
    IN_UPCALL.get()
}

/// The policies of an adapter, checked, and what follows from them.
pub(crate) struct Adapter {
    pub(crate) shared: Arc<Shared>,
    pub(crate) model: Option<PriorityModelPolicy>,
    /// The server's priority of the model.
    pub(crate) server_priority: Priority,
    pub(crate) pool: Option<Arc<Threadpool>>,
    pub(crate) bands: Vec<PriorityBand>,
    pub(crate) client_protocols: Option<ClientProtocolsValue>,
    /// Objects that were given priorities, in references or as they became
    /// active.
    pub(crate) settled: Mutex<HashMap<Box<[u8]>, Priority>>,
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("model", &self.model)
            .field("pool", &self.pool)
            .field("bands", &self.bands)
            .finish_non_exhaustive()
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.detach();
        }
    }
}

/// Where and at which priority a request is served.
struct Target {
    priority: Priority,
    lane: usize,
}

/// The client asks for what the server does not offer.
fn not_offered() -> SystemException {
    SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No)
}

pub(crate) fn holds(band: &PriorityBand, priority: Priority) -> bool {
    (band.low..=band.high).contains(&priority.number())
}

impl Adapter {
    pub(crate) fn settled(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Priority>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_server_declared(&self) -> bool {
        self.model
            .is_some_and(|it| it.priority_model == PriorityModel::ServerDeclared)
    }

    /// The internet addresses of the pool's lanes, as TAO tells of them.
    fn endpoints(&self) -> Vec<PriorityEndpoint> {
        let readers = self.pool.as_ref().map(|pool| pool.readers.as_slice());
        let of_reader = |reader: &Reader| {
            let plain = reader.lane.channels().iter();
            let plain = plain.filter(|it| it.scheme == "iiop" && it.messaging.is_empty());
            let addresses = plain.filter_map(|it| it.address.parse::<orbium_core::HostPort>().ok());
            let priority = reader.priority.number();
            addresses
                .map(|at| PriorityEndpoint {
                    address: HostPort {
                        host: at.host,
                        port: at.port,
                    },
                    priority,
                })
                .collect::<Vec<_>>()
        };
        let readers = readers.unwrap_or_default().iter();
        readers.flat_map(of_reader).collect()
    }

    /// `None` for an adapter that says nothing of priorities.
    fn target(&self, call: &Call<'_>) -> Result<Option<Target>, SystemException> {
        let Some(priority) = self.priority(call)? else {
            return Ok(None);
        };
        let inbound = self.shared.transform.inbound(priority, call.object_id());
        let refused = || SystemException::new(ExceptionKind::Unknown, 0, Completion::No);
        let priority = inbound.ok_or_else(refused)?;
        let Some(pool) = &self.pool else {
            return Ok(Some(Target { priority, lane: 0 }));
        };
        let band = self.bands.iter().find(|band| holds(band, priority));
        let suits = |lane| band.is_none_or(|band| holds(band, lane));
        let (lane, priority) = match pool.lane_for(priority, suits) {
            Some(found) => found,
            // Every band has a lane: the lowest of them.
            None => band
                .and_then(|band| {
                    let mut lanes = pool.priorities().enumerate();
                    lanes.find(|(_, it)| holds(band, *it))
                })
                .ok_or_else(not_offered)?,
        };
        Ok(Some(Target { priority, lane }))
    }

    /// The priority that the model gives a request.
    fn priority(&self, call: &Call<'_>) -> Result<Option<Priority>, SystemException> {
        let Some(model) = self.model else {
            return Ok(self.pool.as_ref().and_then(|pool| pool.default_priority()));
        };
        if model.priority_model == PriorityModel::ServerDeclared {
            return Ok(Some(call.object_priority().unwrap_or(self.server_priority)));
        }
        let priority = match call.peer() {
            // Within the process the caller's priority needs no context.
            None => self.shared.outgoing(call.object_id())?,
            Some(_) => match asked(call)? {
                Some(priority) => priority,
                None => return Ok(Some(self.server_priority)),
            },
        };
        let outside = !self.bands.is_empty() && !self.bands.iter().any(|it| holds(it, priority));
        if outside {
            return Err(not_offered());
        }
        Ok(Some(priority))
    }
}

/// The priority that a request carries.
fn asked(call: &Call<'_>) -> Result<Option<Priority>, SystemException> {
    let contexts = call.service_contexts();
    let Some(data) = contexts.find(service_context::RT_CORBA_PRIORITY) else {
        return Ok(None);
    };
    let malformed = |error| SystemException::from_cdr(error, Completion::No);
    let number = read_priority_context(data).map_err(malformed)?;
    Priority::new(number).ok_or_else(bad_param).map(Some)
}

impl AdapterExtension for Adapter {
    fn components(&self, priority: Option<Priority>) -> Vec<TaggedComponent> {
        let mut policies = Vec::new();
        if let Some(model) = self.model {
            let priority = priority.unwrap_or(self.server_priority);
            policies.push(model.value(priority.number()).to_policy());
        }
        policies.extend(
            self.client_protocols
                .as_ref()
                .map(ClientProtocolsValue::to_policy),
        );
        if !self.bands.is_empty() {
            policies.push(PriorityBandsValue(self.bands.clone()).to_policy());
        }
        let mut components = Vec::new();
        if !policies.is_empty() {
            components.push(TaggedComponent::policies(&policies));
        }
        let endpoints = self.endpoints();
        if !endpoints.is_empty() {
            components.push(TaggedComponent::tao_endpoints(&endpoints));
        }
        components
    }

    fn settled_priority(&self, object_id: &[u8]) -> Option<Priority> {
        self.settled().get(object_id).copied()
    }

    fn hand_over(
        &self,
        call: &Call<'_>,
        detach: &mut dyn FnMut() -> Option<DetachedRequest>,
    ) -> Result<bool, SystemException> {
        let Some(pool) = &self.pool else {
            return Ok(false);
        };
        let Some(Target { priority, lane }) = self.target(call)? else {
            return Ok(false);
        };
        let Some(request) = detach() else {
            return Ok(false);
        };
        pool.put(&self.shared.host, lane, priority, request);
        Ok(true)
    }

    fn upcall(
        &self,
        call: &Call<'_>,
        serve: &mut dyn FnMut() -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError> {
        struct Restore(bool);
        impl Drop for Restore {
            fn drop(&mut self) {
                IN_UPCALL.set(self.0);
            }
        }
        let target = self.target(call)?;
        let _restore = Restore(IN_UPCALL.replace(true));
        match target {
            Some(target) => self.shared.host.at(target.priority, serve),
            None => serve(),
        }
    }

    fn bind_band(&self, band: PriorityBand) -> Result<(), SystemException> {
        if band.low < 0 || band.low > band.high {
            return Err(bad_param());
        }
        let has_lanes = self.pool.as_ref().filter(|pool| pool.has_lanes);
        let suits = self.model.is_some()
            && (self.bands.is_empty() || self.bands.contains(&band))
            && has_lanes.is_none_or(|pool| pool.priorities().any(|it| holds(&band, it)));
        if suits { Ok(()) } else { Err(not_offered()) }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
