// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time policies of an adapter, checked.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use orbium_core::lock::{Mutex, MutexGuard};
use orbium_core::{
    AdapterExtension, Call, Completion, Dispatch, DispatchError, ExceptionKind, Priority,
    RequestInfo, SystemException,
};
use orbium_giop::real_time::{
    ClientProtocolsValue, PriorityBand, PriorityBandsValue, PriorityModel, read_priority_context,
};
use orbium_giop::{TaggedComponent, service_context};

use crate::PriorityModelPolicy;
use crate::error::bad_param;
use crate::pool::Attached;
use crate::priority::band::holds;
use crate::rt_state::Shared;
use crate::upcall::while_in_upcall;

/// The validated policies of an adapter, and derived data.
pub(crate) struct Adapter {
    pub(crate) shared: Arc<Shared>,
    pub(crate) model: Option<PriorityModelPolicy>,
    /// The server's priority of the model.
    pub(crate) server_priority: Priority,
    pub(crate) pool: Option<Attached>,
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

/// The client requests a policy that the server does not offer.
fn not_offered() -> SystemException {
    SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No)
}

impl Adapter {
    pub(crate) fn settled(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Priority>> {
        self.settled.lock()
    }

    pub(crate) fn is_server_declared(&self) -> bool {
        self.model
            .is_some_and(|it| it.priority_model == PriorityModel::ServerDeclared)
    }

    /// The lane and the priority that serve a request; `Here` for an adapter without a priority
    /// model.
    fn target(&self, request: &RequestInfo<'_>) -> Result<Dispatch, SystemException> {
        let Some(priority) = self.priority(request)? else {
            return Ok(Dispatch::Here);
        };
        let inbound = self.shared.transform.inbound(priority, request.object_id());
        let refused = || SystemException::new(ExceptionKind::Unknown, 0, Completion::No);
        let priority = inbound.ok_or_else(refused)?;
        // Other calls within the process are served by the caller's thread.
        let queued = request.may_be_queued();
        let pool = self.pool.as_ref();
        if let Some(pool) = pool.filter(|it| it.has_lanes) {
            let band = self.bands.iter().find(|band| holds(band, priority));
            let (priority, lane) = pool.lane_for(priority, band).ok_or_else(not_offered)?;
            return Ok(if queued {
                Dispatch::In(lane.clone())
            } else {
                Dispatch::At(*priority, self.shared.host.scheduling(*priority)?)
            });
        }
        let scheduling = self.shared.host.scheduling(priority)?;
        Ok(match pool.and_then(|pool| pool.only_lane()) {
            Some(lane) if queued => Dispatch::InAt(lane.clone(), priority, scheduling),
            _ => Dispatch::At(priority, scheduling),
        })
    }

    /// The priority of a request according to the model.
    fn priority(&self, request: &RequestInfo<'_>) -> Result<Option<Priority>, SystemException> {
        let Some(model) = self.model else {
            return Ok(self.pool.as_ref().and_then(|pool| pool.default_priority()));
        };
        if model.priority_model == PriorityModel::ServerDeclared {
            return Ok(Some(
                request.object_priority().unwrap_or(self.server_priority),
            ));
        }
        let priority = match request.peer() {
            // Within the process the caller's priority needs no service context.
            None => self.shared.outgoing(request.object_id())?,
            Some(_) => match asked(request)? {
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
fn asked(request: &RequestInfo<'_>) -> Result<Option<Priority>, SystemException> {
    let contexts = request.service_contexts();
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
        components
    }

    fn settled_priority(&self, object_id: &[u8]) -> Option<Priority> {
        self.settled().get(object_id).copied()
    }

    fn place(&self, request: &RequestInfo<'_>) -> Dispatch {
        self.target(request).unwrap_or_else(Dispatch::Refuse)
    }

    fn upcall(
        &self,
        _: &Call<'_>,
        serve: &mut dyn FnMut() -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError> {
        while_in_upcall(serve)
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
