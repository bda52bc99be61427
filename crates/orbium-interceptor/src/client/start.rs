// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of an attempt at a call.

use orbium_invocation::Operation;

use super::target::CallTarget;
use crate::request::slots::{OrbSlots, SlotTable};

/// Parameters of an attempt at a call: no more than references, as most interceptors ask for little.
#[derive(Clone, Copy)]
pub struct CallStart<'i> {
    /// What is called.
    pub operation: &'static Operation,
    /// Where the request goes, and what else it depends on.
    pub target: &'i dyn CallTarget,
    /// The slots of the ORB.
    pub orb: OrbSlots<'i>,
    /// The slots that the calling thread had when it made the call.
    pub slots: &'i SlotTable,
}
