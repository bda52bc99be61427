// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTCORBA::Current`: the priority of the calling thread (RT-CORBA 1.2, clause
//! 5.6).

use std::fmt;
use std::sync::Arc;

use orbium_core::{Completion, ExceptionKind, Priority, SystemException, priority};

use crate::error::bad_param;
use crate::priority::host::Host;

/// The priority of the calling thread.
#[derive(Clone)]
pub struct RtCurrent {
    host: Arc<Host>,
}

impl fmt::Debug for RtCurrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtCurrent")
            .field("the_priority", &priority::current())
            .finish()
    }
}

impl RtCurrent {
    pub(crate) const fn new(host: Arc<Host>) -> Self {
        Self { host }
    }

    /// The CORBA priority of this thread: the last one set or, within a request, that of the
    /// request.
    ///
    /// # Errors
    /// INITIALIZE if none was set.
    pub fn the_priority(&self) -> Result<Priority, SystemException> {
        let none = || SystemException::new(ExceptionKind::Initialize, 0, Completion::No);
        priority::current().ok_or_else(none)
    }

    /// Sets the CORBA priority of this thread and the corresponding native one. Within a request it
    /// applies until the request ends.
    ///
    /// # Errors
    /// BAD_PARAM below 0; DATA_CONVERSION 2 without a native priority; NO_PERMISSION if the host no
    /// longer permits it. The priority of the thread is then unchanged.
    pub fn set_the_priority(&self, priority: i16) -> Result<(), SystemException> {
        let priority = Priority::new(priority).ok_or_else(bad_param)?;
        self.host.give(priority)
    }
}
