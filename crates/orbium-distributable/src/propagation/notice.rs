// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inheritance notices: a process sends on the parameter that a distributable thread inherits.

use std::time::Duration;

use orbium::giop::Ior;
use orbium::{Interface, Orb};

use crate::propagation::wire_parameter::to_wire;
use crate::scheduling::parameter::SchedulingParameter;
use crate::thread::id::ThreadId;
use crate::thread_control::Control;

/// Time to send a notice: a peer that does not read costs a waiter no more.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// What a call of a thread inherits. Notices of a call are numbered, as they may overtake each other and
/// the request: the greatest number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    pub(crate) call: u64,
    pub(crate) sequence: u64,
    pub(crate) parameter: Option<SchedulingParameter>,
}

/// That, and where it is sent.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) control: Ior,
    pub(crate) thread: ThreadId,
    pub(crate) inherited: Inherited,
}

impl Notice {
    /// A peer that is gone serves the thread no more, and one without the object has no resources.
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
