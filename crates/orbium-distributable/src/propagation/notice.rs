// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inheritance notices: a process forwards the parameter that a distributable thread inherits.

use std::time::Duration;

use orbium::giop::Ior;
use orbium::{Interface, Orb};

use crate::propagation::wire_parameter::to_wire;
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::id::ThreadId;
use crate::thread_control::Control;

/// Time-out of sending a notice: a peer that does not read delays a waiter no longer.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The inheritance of a thread's call. Notices of a call are numbered, as they may overtake each
/// other and the request: the greatest number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    pub(crate) call: u64,
    pub(crate) sequence: u64,
    pub(crate) parameter: Option<SchedulingParameter>,
}

/// The inheritance, and its destination.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) control: Ior,
    pub(crate) thread: ThreadId,
    pub(crate) inherited: Inherited,
}

impl Notice {
    /// Errors are ignored: a peer that has ended does not serve the thread any more, and one
    /// without the object has no resources.
    pub(crate) fn send(&self, orb: &Orb) {
        if let Ok(control) = orb.resolve::<Control>(&self.control.to_string()) {
            let Inherited {
                call,
                sequence,
                parameter,
            } = self.inherited;
            let parameter = to_wire(parameter);
            let control = control.with_timeout(TIME_LIMIT);
            let _ = control.inherit(self.thread.as_bytes(), call, sequence, &parameter);
        }
    }
}
