// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of an attempt at a call.

use orbium_invocation::Operation;

use super::target::CallTarget;
use crate::processing_mode::Locality;
use crate::request::context_list::ContextList;
use crate::request::slots::{PiCurrent, SlotTable};

/// Parameters of an attempt at a call.
#[derive(Clone, Copy)]
pub struct CallStart<'i> {
    /// What is called.
    pub operation: &'static Operation,
    /// Where the request goes.
    pub target: &'i dyn CallTarget,
    /// Whether that is an object of the caller's ORB.
    pub locality: Locality,
    /// The slots of the ORB, as allocated so far.
    pub current: PiCurrent,
    /// The slots that the calling thread had when it made the call.
    pub slots: &'i SlotTable,
    /// Service contexts that the caller added by hand.
    pub contexts: &'i ContextList,
}
