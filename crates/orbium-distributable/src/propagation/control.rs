// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object that receives cancellations and notices.

use std::sync::Arc;

use orbium::{Call, SystemException};

use crate::propagation::notice::Inherited;
use crate::propagation::wire_parameter::from_wire;
use crate::shared::Shared;
use crate::thread::id::ThreadId;
use crate::thread_control::{ControlServant, Parameter};

/// The key of the object that receives cancellations.
pub const CONTROL_KEY: &str = "orbium.DistributableThreads";

/// Cancels threads with upcalls in this process, applies inheritance notices to them, and forwards
/// both.
pub(crate) struct Canceller(pub(crate) Arc<Shared>);

impl ControlServant for Canceller {
    fn cancel(&self, call: &Call<'_>, id: &[u8]) -> Result<(), SystemException> {
        let id = ThreadId::from_bytes(id);
        if let Some(thread) = id.and_then(|id| self.0.registry.find_or_remember(id)) {
            thread.cancel(&call.orb());
        }
        Ok(())
    }

    fn inherit(
        &self,
        call: &Call<'_>,
        id: &[u8],
        number: u64,
        sequence: u64,
        at_least: &Parameter,
    ) -> Result<(), SystemException> {
        if let Some(id) = ThreadId::from_bytes(id) {
            let notice = Inherited {
                call: number,
                sequence,
                parameter: from_wire(at_least),
            };
            self.0.inherit(&call.orb(), id, notice);
        }
        Ok(())
    }
}
