// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers that come without a message.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};

use orbium_giop::{ResponseFlags, ServiceContexts, SystemException};
use orbium_invocation::collocation::TypedServant;
use orbium_server::lane::OWN;
use orbium_server::{Expiry, IncomingRequest};
use orbium_sync::role::while_serving_own_thread;

use super::dispatch::panicked;
use crate::adapter::Adapters;
use crate::client::Collocated;
use crate::{Call, Operation};

/// Calls the servant of a request; `false` if it is none of the interface that the caller
/// knows.
pub(crate) type TypedUpcall<'u> = dyn FnMut(TypedServant<'_>, &Call<'_>) -> bool + 'u;

impl Adapters {
    /// Serves a request with a servant of an interface, on the calling thread. `None` if it
    /// takes a message to do what the adapter asks for: nothing was done then.
    ///
    /// # Errors
    /// UNKNOWN: the servant has panicked.
    pub(crate) fn serve_collocated(
        &self,
        at: Collocated<'_>,
        operation: &'static Operation,
        interface: TypeId,
        upcall: &mut TypedUpcall<'_>,
    ) -> Option<Result<(), SystemException>> {
        if self.context.observes_requests() {
            return None;
        }
        let request = IncomingRequest {
            context: &self.context,
            key: at.object_key,
            operation: operation.name().as_bytes(),
            contexts: ServiceContexts::EMPTY,
            peer: None,
            response: match operation.is_oneway() {
                true => ResponseFlags::None,
                false => ResponseFlags::Full,
            },
            expiry: Expiry::NEVER,
            lane: OWN,
            decided: None,
        };
        // The last reference to a servant may be dropped in here too.
        let served = catch_unwind(AssertUnwindSafe(|| {
            let object = self.registry.find_active(at.object_key)?;
            let object = &**object;
            let _serving = match self.calls_directly {
                true => None,
                false if object.lane != OWN => return None,
                false => Some(object.enter()?),
            };
            let servant = object.servant.typed(interface)?;
            let call = Call {
                incoming: &request,
                object,
            };
            while_serving_own_thread(self.context.number, || upcall(servant, &call)).then_some(())
        }));
        match served {
            Ok(served) => served.map(Ok),
            Err(panic) => Some(Err(panicked(&request, &*panic))),
        }
    }
}
