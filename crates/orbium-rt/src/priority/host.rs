// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of threads.

use std::sync::Arc;

use orbium_core::{Priority, SystemException, priority, set_thread_scheduling};
use orbium_sys::{Scheduling, SchedulingClass};

use crate::error::{not_mapped, refused};
use crate::{NativePriority, PriorityMapping};

/// The setting of native priorities.
pub(crate) struct Host {
    pub(crate) mapping: Arc<dyn PriorityMapping>,
    /// The class of native priorities; `None` leaves scheduling unchanged.
    pub(crate) class: Option<SchedulingClass>,
}

impl Host {
    pub(crate) fn to_native(&self, corba: Priority) -> Result<NativePriority, SystemException> {
        self.mapping.to_native(corba).ok_or_else(not_mapped)
    }

    /// The scheduling of threads at a priority; `None` if scheduling is not changed.
    pub(crate) fn scheduling(
        &self,
        corba: Priority,
    ) -> Result<Option<Scheduling>, SystemException> {
        let native = self.to_native(corba)?;
        Ok(self.class.map(|class| Scheduling {
            class,
            priority: native.into(),
        }))
    }

    /// Sets the priority of the calling thread.
    pub(crate) fn give(&self, corba: Priority) -> Result<(), SystemException> {
        if let Some(scheduling) = self.scheduling(corba)? {
            set_thread_scheduling(scheduling).map_err(|error| refused(&error))?;
        }
        priority::set_current(Some(corba));
        Ok(())
    }

    /// The CORBA priority that corresponds to the native one of the calling thread.
    pub(crate) fn derived(&self) -> Result<Priority, SystemException> {
        let native = match self.class {
            None => 0,
            Some(_) => Scheduling::of_this_thread()
                .ok()
                .and_then(|it| NativePriority::try_from(it.priority).ok())
                .ok_or_else(not_mapped)?,
        };
        self.mapping.to_corba(native).ok_or_else(not_mapped)
    }
}
