// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time CORBA for an ORB, choice by choice.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use orbium_core::{Completion, ConnectionSharing, ExceptionKind, Orb, SystemException};
use orbium_giop::real_time::PriorityBand;
use orbium_sys::{Scheduling, SchedulingClass, prefault_heap};

use crate::error::bad_param;
use crate::memory_lock::{LockedMemory, lock_memory};
use crate::policy::validation::check_bands_alone;
use crate::priority::host::Host;
use crate::priority::mapping::{Confined, legal};
use crate::rt_orb::RtOrb;
use crate::rt_state::Shared;
use crate::{
    IdentityTransform, LinearMapping, NativePriority, NetworkPriorityMapping, PriorityMapping,
    PriorityTransform, RtError, RtPolicies,
};

/// Configures Real-time CORBA for an ORB; see [`RtOrb::builder`].
#[must_use]
pub struct RtOrbBuilder {
    mapping: Arc<dyn PriorityMapping>,
    transform: Arc<dyn PriorityTransform>,
    network: Option<Arc<dyn NetworkPriorityMapping>>,
    class: SchedulingClass,
    soft: bool,
    range: Option<RangeInclusive<NativePriority>>,
    policies: RtPolicies,
    bands: Option<Vec<PriorityBand>>,
    private: bool,
    memory: Option<LockedMemory>,
    heap: usize,
}

impl fmt::Debug for RtOrbBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtOrbBuilder")
            .field("class", &self.class)
            .field("soft", &self.soft)
            .field("range", &self.range)
            .finish_non_exhaustive()
    }
}

impl Default for RtOrbBuilder {
    fn default() -> Self {
        Self {
            mapping: Arc::new(LinearMapping::default()),
            transform: Arc::new(IdentityTransform),
            network: None,
            class: SchedulingClass::Fifo,
            soft: false,
            range: None,
            policies: RtPolicies::default(),
            bands: None,
            private: false,
            memory: None,
            heap: 0,
        }
    }
}

impl RtOrb {
    /// Configures Real-time CORBA; see [`RtOrbBuilder`].
    pub fn builder() -> RtOrbBuilder {
        RtOrbBuilder::default()
    }
}

impl RtOrbBuilder {
    /// Sets the mapping of CORBA priorities to native ones. Default: [`LinearMapping`]
    /// over all native priorities of SCHED_FIFO.
    pub fn mapping(mut self, mapping: impl PriorityMapping) -> Self {
        self.mapping = Arc::new(mapping);
        self
    }

    /// Sets the transform of priorities of incoming and outgoing calls. Default: the identity.
    pub fn transform(mut self, transform: impl PriorityTransform) -> Self {
        self.transform = Arc::new(transform);
        self
    }

    /// Sets the network marks of requests. Default: those of the protocol properties, for every
    /// priority.
    pub fn network_priorities(mut self, mapping: impl NetworkPriorityMapping) -> Self {
        self.network = Some(Arc::new(mapping));
        self
    }

    /// The scheduling class of native priorities. Default: SCHED_FIFO.
    pub fn class(mut self, class: SchedulingClass) -> Self {
        self.class = class;
        self
    }

    /// Leaves scheduling as it is: everything works but native priorities. For
    /// hosts that do not permit them.
    pub fn soft(mut self) -> Self {
        self.soft = true;
        self
    }

    /// Restricts native priorities (`-ORBRTpriorityrange`).
    pub fn native_range(mut self, range: RangeInclusive<NativePriority>) -> Self {
        self.range = Some(range);
        self
    }

    /// Policies of adapters that do not set them.
    pub fn policies(mut self, policies: RtPolicies) -> Self {
        self.policies = policies;
        self
    }

    /// Sets connections for bands of priorities, for all references without their own.
    pub fn client_bands(mut self, bands: &[PriorityBand]) -> Self {
        self.bands = Some(bands.to_vec());
        self
    }

    /// Gives each reference separate connections.
    pub fn private_connections(mut self) -> Self {
        self.private = true;
        self
    }

    /// Locks memory, so that requests cause no major page faults.
    pub fn lock_memory(mut self, which: LockedMemory) -> Self {
        self.memory = Some(which);
        self
    }

    /// Octets of the heap that are touched before the first request.
    pub fn prefault_heap(mut self, octets: usize) -> Self {
        self.heap = octets;
        self
    }

    /// Installs it in an ORB. References that were called before keep their resolved settings.
    ///
    /// # Errors
    /// [`RtError`]: BAD_PARAM for a range that the platform does not support, and for invalid
    /// bands; INITIALIZE 1 for a range of one priority; a refusal by the host; an ORB in which it
    /// is installed already.
    pub fn install(self, orb: &Orb) -> Result<RtOrb, RtError> {
        let class = (!self.soft).then_some(self.class);
        let mapping = match &self.range {
            None => self.mapping,
            Some(range) => {
                check_range(range, self.class)?;
                Arc::new(Confined {
                    mapping: self.mapping,
                    range: range.clone(),
                })
            }
        };
        if let Some(bands) = &self.bands {
            check_bands_alone(bands).map_err(|_| bad_param())?;
        }
        if let Some(class) = class {
            let range = self.range.unwrap_or_else(|| legal(class));
            for native in [*range.end(), *range.start()] {
                let scheduling = Scheduling {
                    class,
                    priority: native.into(),
                };
                scheduling.try_out()?;
            }
        }
        if let Some(which) = self.memory {
            lock_memory(which)?;
        }
        prefault_heap(self.heap);
        let shared = Shared::new(
            Arc::new(Host { mapping, class }),
            self.transform,
            self.network,
            ConnectionSharing {
                bands: self.bands.map(Into::into),
                private: self.private,
            },
            self.policies,
        );
        RtOrb::install(orb, shared)
    }
}

fn check_range(
    range: &RangeInclusive<NativePriority>,
    class: SchedulingClass,
) -> Result<(), SystemException> {
    let legal = legal(class);
    if range.is_empty() || !legal.contains(range.start()) || !legal.contains(range.end()) {
        return Err(bad_param());
    }
    // A single native priority would make all CORBA priorities equal.
    if range.start() == range.end() {
        return Err(SystemException::omg(
            ExceptionKind::Initialize,
            1,
            Completion::No,
        ));
    }
    Ok(())
}
