// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers that come without a message.

use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_server::IncomingRequest;
use orbium_server::lane::OWN;
use orbium_sync::Pinned;
use orbium_sync::role::while_serving_own_thread;

use super::ActiveObject;
use super::dispatch::panicked;
use super::manager::Serving;
use crate::adapter::Adapters;
use crate::client::Collocated;
use crate::{Call, Operation};

impl Adapters {
    /// Serves a request with a servant of an interface, on the calling thread. `None` if it
    /// takes a message to do what the adapter asks for: nothing was done then.
    ///
    /// # Errors
    /// UNKNOWN: the servant has panicked.
    #[inline]
    pub(crate) fn serve_collocated<S: ?Sized + 'static, R>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        serve: impl FnOnce(&S, &Call<'_>) -> R,
    ) -> Option<Result<R, SystemException>> {
        let mut outcome = None;
        // The last reference to a servant may be dropped in here too.
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let object = self.own_object(at)?;
            let _serving = self.enter_collocated(&object)?;
            let servant = object.servant.typed(TypeId::of::<S>())?.of::<S>()?;
            let call = Call {
                incoming: &self.own_request(at, operation),
                object: &**object,
            };
            let number = self.context.number;
            outcome = Some(while_serving_own_thread(number, || serve(servant, &call)));
            Some(())
        }));
        match (outcome, ended) {
            // A panic behind the servant's answer does not change it.
            (Some(outcome), _) => Some(Ok(outcome)),
            (None, Ok(_)) => None,
            (None, Err(panic)) => Some(Err(self.panicked_in_place(at, operation, &*panic))),
        }
    }

    #[inline(never)]
    fn own_object(&self, at: &Collocated) -> Option<Pinned<'_, Arc<ActiveObject>>> {
        self.registry.objects.pin(at.slot)
    }

    /// Enters the object as policies for collocated calls have it.
    #[inline]
    fn enter_collocated<'o>(&self, object: &'o ActiveObject) -> Option<Option<Serving<'o>>> {
        match self.calls_directly {
            true => Some(None),
            false if object.lane != OWN => None,
            false => Some(Some(object.enter()?)),
        }
    }

    /// The request as its servant sees it.
    #[inline]
    fn own_request<'r>(
        &'r self,
        at: &'r Collocated,
        operation: &'static Operation,
    ) -> IncomingRequest<'r> {
        IncomingRequest::collocated(&self.context, &at.object_key, operation)
    }

    #[cold]
    #[inline(never)]
    fn panicked_in_place(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        panic: &(dyn Any + Send),
    ) -> SystemException {
        panicked(&self.own_request(at, operation), panic)
    }
}
