// SPDX-License-Identifier: MIT OR Apache-2.0
//! The distributable threads of an ORB.

use std::fmt;
use std::sync::Arc;

use orbium::interceptor::{DuplicateName, Interceptors};
use orbium::{
    Orb,
    poa::{Poa, PoaError},
};

use crate::error::SegmentError;
use crate::objects::{ObjectSegment, object_id};
use crate::propagation::client_interceptor::Sending;
use crate::propagation::control::{CONTROL_KEY, Canceller};
use crate::propagation::server_interceptor::Receiving;
use crate::resource::ResourceManager;
use crate::resource::resource_error::ResourceError;
use crate::scheduling::parameter::SchedulingParameter;
use crate::scheduling::scheduler::Scheduler;
use crate::shared::Shared;
use crate::thread::DistributableThread;
use crate::thread::current::Current;
use crate::thread::id::ThreadId;
use crate::thread_control::Control;

/// The distributable threads of an ORB, and their scheduler. A clone is another handle.
#[derive(Clone)]
pub struct DistributableThreads(Arc<Shared>);

impl DistributableThreads {
    /// Distributable threads with that scheduler.
    #[must_use]
    pub fn new(scheduler: impl Scheduler) -> Self {
        Self(Arc::new(Shared::new(scheduler)))
    }

    /// Adds the interceptors that propagate threads in requests, for an ORB that is built later.
    ///
    /// # Errors
    /// [`DuplicateName`]: it was added already.
    pub fn install(&self, interceptors: &mut Interceptors) -> Result<(), DuplicateName> {
        interceptors.add_client(Sending(Arc::clone(&self.0)))?;
        interceptors.add_server(Receiving(Arc::clone(&self.0)))
    }

    /// Serves the object that receives cancellations from other processes. An ORB without it is not
    /// notified: its threads raise THREAD_CANCELLED when they have returned.
    ///
    /// # Errors
    /// As [`Orb::serve`].
    pub fn serve(&self, orb: &Orb) -> Result<(), PoaError> {
        let servant = Canceller(Arc::clone(&self.0));
        let _: Control = orb.serve(CONTROL_KEY, servant)?;
        Ok(())
    }

    /// The calling thread (`RTScheduler_Current`).
    #[must_use]
    pub fn current(&self) -> Current {
        Current(Arc::clone(&self.0))
    }

    /// The thread of that id, if it runs here.
    #[must_use]
    pub fn lookup(&self, id: ThreadId) -> Option<DistributableThread> {
        self.0.registry.find(id)
    }

    /// Creates a resource (`create_resource_manager`), a mutex that distributable threads own. With
    /// a parameter its owner is scheduled at least by that one, its ceiling; in any case by that of
    /// the most urgent waiter. Its notices are sent by `orb`, the one in which these threads were
    /// installed.
    ///
    /// ```
    /// # use orbium::Orb;
    /// # use orbium::interceptor::Interceptors;
    /// # use orbium_distributable::{DistributableThreads, FixedPriority, SchedulingParameter};
    /// # let threads = DistributableThreads::new(FixedPriority::default());
    /// # let mut interceptors = Interceptors::new();
    /// # threads.install(&mut interceptors)?;
    /// # let orb = Orb::builder().interceptors(interceptors).build()?;
    /// let ceiling = SchedulingParameter::FixedPriority { priority: 20 };
    /// let display = threads.create_resource_manager(&orb, "display", ceiling)?;
    /// let current = threads.current();
    /// current.begin_scheduling_segment("draw", None, None)?;
    /// display.lock()?;
    /// // Here, and in the servers that are called from here, the thread runs at priority 20 or above.
    /// display.unlock()?;
    /// current.end_scheduling_segment("draw")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ResourceError::NameTaken`]; [`ResourceError::Segment`] for a ceiling of another discipline.
    pub fn create_resource_manager(
        &self,
        orb: &Orb,
        name: &str,
        ceiling: impl Into<Option<SchedulingParameter>>,
    ) -> Result<ResourceManager, ResourceError> {
        ResourceManager::create(&self.0, orb, name, ceiling.into())
    }

    /// The resource of that name, while a handle of it exists.
    #[must_use]
    pub fn resource_manager(&self, name: &str) -> Option<ResourceManager> {
        ResourceManager::named(&self.0, name)
    }

    /// Sets the scheduling parameter of an object (`set_scheduling_parameter`, of its servant
    /// there); `None` removes it. Each upcall of the object runs in a segment of that name, within
    /// that of its caller: at this parameter or the caller's, whichever is more urgent. A request
    /// without a distributable thread becomes one until its upcall ends. Upcalls in progress are
    /// not affected.
    ///
    /// ```
    /// # use orbium::Orb;
    /// # use orbium::interceptor::Interceptors;
    /// # use orbium_distributable::{DistributableThreads, FixedPriority, SchedulingParameter};
    /// # let threads = DistributableThreads::new(FixedPriority::default());
    /// # let mut interceptors = Interceptors::new();
    /// # threads.install(&mut interceptors)?;
    /// # let orb = Orb::builder().interceptors(interceptors).build()?;
    /// let ceiling = SchedulingParameter::FixedPriority { priority: 20 };
    /// let poa = orb.root_poa();
    /// let id = poa.next_object_id()?;
    /// threads.set_scheduling_parameter((&poa, &id), "display", ceiling)?;
    /// // … poa.activate_with_id(&id, servant)
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SegmentError::UnsupportedDiscipline`].
    pub fn set_scheduling_parameter(
        &self,
        (poa, object): (&Poa, &[u8]),
        name: &str,
        parameter: impl Into<Option<SchedulingParameter>>,
    ) -> Result<(), SegmentError> {
        let parameter = parameter.into();
        self.0.check(parameter)?;
        let segment = parameter.map(|parameter| ObjectSegment {
            name: name.to_owned(),
            parameter,
        });
        self.0.objects.set(object_id(poa, object), segment);
        Ok(())
    }

    /// The number of times that the host has refused a native priority that the scheduler
    /// assigned.
    #[must_use]
    pub fn refused_schedulings(&self) -> u64 {
        self.0.scheduler.refused()
    }
}

impl fmt::Debug for DistributableThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributableThreads")
            .field("discipline", &self.0.scheduler.discipline())
            .finish_non_exhaustive()
    }
}
