// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of an attempt at a call.

use orbium_invocation::Operation;

use super::target::CallTarget;
use crate::request::slots::{OrbSlots, SlotTable};

/// Parameters of an attempt at a call: only references, as most interceptors use few of them.
#[derive(Clone, Copy)]
pub struct CallStart<'i> {
    /// The operation of the call.
    pub operation: &'static Operation,
    /// The target of the request, and its further properties.
    pub target: &'i dyn CallTarget,
    /// The slots of the ORB.
    pub orb: OrbSlots<'i>,
    /// The slots of the calling thread at the time of the call.
    pub slots: &'i SlotTable,
}
