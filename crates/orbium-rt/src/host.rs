// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of threads.

use std::cell::Cell;
use std::sync::Arc;

use orbium_core::{Completion, ExceptionKind, Priority, SystemException, priority};
use orbium_giop::minor;
use orbium_sys::{RealTimeError, Scheduling, SchedulingClass};

use crate::error::not_mapped;
use crate::{NativePriority, PriorityMapping};

thread_local! {
    /// The native priority that this thread was given last; in a soft ORB that
    /// it would have been given.
    static GIVEN: Cell<Option<NativePriority>> = const { Cell::new(None) };
}

/// How threads get their priorities.
pub(crate) struct Host {
    pub(crate) mapping: Arc<dyn PriorityMapping>,
    /// The class of native priorities; `None` leaves scheduling as it is.
    pub(crate) class: Option<SchedulingClass>,
}

/// What a thread had before.
struct Before {
    corba: Option<Priority>,
    given: Option<NativePriority>,
    /// Its scheduling, if nothing was given.
    own: Option<Scheduling>,
    class: Option<SchedulingClass>,
}

impl Drop for Before {
    fn drop(&mut self) {
        priority::set_current(self.corba);
        if GIVEN.get() == self.given {
            return;
        }
        GIVEN.set(self.given);
        let given = self
            .given
            .zip(self.class)
            .map(|(native, class)| Scheduling {
                class,
                priority: native.into(),
            });
        if let Some(scheduling) = given.or(self.own)
            && let Err(error) = scheduling.apply_to_this_thread()
        {
            tracing::error!(%error, "a thread keeps the priority of a request");
        }
    }
}

impl Host {
    pub(crate) fn to_native(&self, corba: Priority) -> Result<NativePriority, SystemException> {
        self.mapping.to_native(corba).ok_or_else(not_mapped)
    }

    /// The scheduling of threads at a priority; `None` where scheduling is left
    /// alone.
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

    /// Gives the calling thread a priority, until it is given another.
    pub(crate) fn give(&self, corba: Priority) -> Result<(), SystemException> {
        self.give_native(self.to_native(corba)?)?;
        priority::set_current(Some(corba));
        Ok(())
    }

    fn give_native(&self, native: NativePriority) -> Result<(), SystemException> {
        if let Some(class) = self.class {
            let scheduling = Scheduling {
                class,
                priority: native.into(),
            };
            let applied = scheduling.apply_to_this_thread();
            applied.map_err(|error| refused(&error))?;
        }
        GIVEN.set(Some(native));
        Ok(())
    }

    /// Runs `work` at a priority; afterwards the thread has what it had before.
    /// No system call if its native priority is the same.
    pub(crate) fn at<R, E: From<SystemException>>(
        &self,
        corba: Priority,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let native = self.to_native(corba)?;
        let given = GIVEN.get();
        let own = match (given, self.class) {
            (None, Some(_)) => Scheduling::of_this_thread().ok(),
            _ => None,
        };
        let _before = Before {
            corba: priority::current(),
            given,
            own,
            class: self.class,
        };
        if given != Some(native) {
            self.give_native(native)?;
        }
        priority::set_current(Some(corba));
        work()
    }

    /// The CORBA priority that the native one of the calling thread means.
    pub(crate) fn derived(&self) -> Result<Priority, SystemException> {
        let native = match (GIVEN.get(), self.class) {
            (Some(native), _) => native,
            (None, None) => 0,
            (None, Some(_)) => Scheduling::of_this_thread()
                .ok()
                .and_then(|it| NativePriority::try_from(it.priority).ok())
                .ok_or_else(not_mapped)?,
        };
        self.mapping.to_corba(native).ok_or_else(not_mapped)
    }
}

/// What a caller is told of a priority that the host refuses.
fn refused(error: &RealTimeError) -> SystemException {
    tracing::warn!(%error, "no native priority");
    match error {
        RealTimeError::NoSuchPriority(_) => not_mapped(),
        _ => SystemException::orbium(
            ExceptionKind::NoPermission,
            minor::NOT_ALLOWED,
            Completion::No,
        ),
    }
}
