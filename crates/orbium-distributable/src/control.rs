// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object by which cancellation arrives.

use std::sync::Arc;

use orbium::{Call, SystemException};

use crate::id::ThreadId;
use crate::shared::Shared;
use crate::thread_control::ControlServant;

/// The key of the object by which cancellation arrives.
pub const CONTROL_KEY: &str = "orbium.DistributableThreads";

/// Cancels threads that have come here, and follows them.
pub(crate) struct Canceller(pub(crate) Arc<Shared>);

impl ControlServant for Canceller {
    fn cancel(&self, call: &Call<'_>, id: &[u8]) -> Result<(), SystemException> {
        let id = ThreadId::from_bytes(id);
        if let Some(thread) = id.and_then(|id| self.0.registry.find_or_remember(id)) {
            thread.cancel(&call.orb());
        }
        Ok(())
    }
}
