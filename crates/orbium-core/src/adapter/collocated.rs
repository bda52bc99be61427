// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers that come without a message.

use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_adapter::Serving;
use orbium_giop::{ResponseFlags, SystemException};
use orbium_invocation::Expiry;
use orbium_lane::OWN;
use orbium_server::conclusion::panicked;
use orbium_server::{IncomingRequest, ServerContext};
use orbium_sync::Projection;
use orbium_sync::role::while_serving_own_thread;

use super::ActiveObject;
use super::observed::ObservedRequest;
use crate::adapter::Adapters;
use crate::client::{Collocated, ObservedCall};
use crate::raises::Raises;
use crate::{Call, Operation};

/// The servant of an active object as one of an interface, and what calls without a message
/// need of its ORB. References remember it; it keeps no servant alive.
pub(crate) struct CollocatedServant<S: ?Sized> {
    object: Projection<Arc<ActiveObject>, S>,
    context: Arc<ServerContext>,
    /// Whether calls pass over POA managers and policies.
    is_direct: bool,
    /// Whether the object's lane, or an extension of its adapter, has a say in calls: then they take
    /// `serve_placed`.
    pub(crate) is_placed: bool,
}

impl Adapters {
    /// The servant of an object, as one of an interface; `None` if it is not active, or its
    /// servant is none of that interface.
    #[cold]
    #[inline(never)]
    pub(crate) fn collocated_servant<S: ?Sized + 'static>(
        &self,
        at: &Collocated,
    ) -> Option<CollocatedServant<S>> {
        let objects = &self.registry.objects;
        let project = || {
            objects.project(at.slot, |object| {
                let typed = object.servant.typed(TypeId::of::<S>())?;
                typed.of::<S>()
            })
        };
        // The last reference to a servant may be dropped in there.
        let object = catch_unwind(AssertUnwindSafe(project)).ok()??;
        let lane = object.pin()?.lane;
        Some(CollocatedServant {
            is_placed: !self.calls_directly && lane != OWN,
            object,
            context: Arc::clone(&self.context),
            is_direct: self.calls_directly,
        })
    }
}

/// What a call without a message says of itself besides its object and operation.
pub(crate) struct Terms<'c, 'o> {
    /// Until when it makes sense to begin.
    pub(crate) expiry: Expiry,
    /// Which answer the caller expects, if not that of the operation.
    pub(crate) response: Option<ResponseFlags>,
    /// The caller's half of its metrics and its span.
    pub(crate) observed: Option<&'c ObservedCall<'o>>,
}

impl Terms<'_, '_> {
    /// Of nearly all.
    pub(crate) const NONE: Self = Self {
        expiry: Expiry::NEVER,
        response: None,
        observed: None,
    };
}

/// What a servant came to, or that it has panicked.
pub(crate) type Served<T, E> = Result<Result<T, E>, SystemException>;

impl<S: ?Sized> CollocatedServant<S> {
    /// Serves a request on the calling thread. `None` if it takes a message to do what the
    /// adapter asks for: nothing was done then.
    ///
    /// # Errors
    /// UNKNOWN: the servant has panicked.
    #[inline(always)]
    pub(crate) fn serve<T, E: Raises>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<Served<T, E>> {
        self.guarded(at, operation, |outcome| {
            let object = self.object.pin()?;
            let _serving = self.enter(&object)?;
            let request = &self.request(at, operation, terms);
            let serve = || serve(object.view(), &called(request, &object));
            let serve = || while_serving_own_thread(self.context.number, serve);
            *outcome = Some(self.observed(terms, request, &object, serve));
            Some(())
        })
    }

    /// What a servant came to that `begin` has called, or that it has panicked. `None` if `begin`
    /// has not called it.
    #[inline(always)]
    fn guarded<T, E>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        begin: impl FnOnce(&mut Option<Result<T, E>>) -> Option<()>,
    ) -> Option<Served<T, E>> {
        let mut outcome = None;
        // The last reference to a servant may be dropped in there too.
        let ended = catch_unwind(AssertUnwindSafe(|| begin(&mut outcome)));
        match (outcome, ended) {
            // A panic behind the servant's answer does not change it.
            (Some(outcome), _) => Some(Ok(outcome)),
            (None, Ok(_)) => None,
            (None, Err(panic)) => Some(Err(self.panicked(at, operation, &*panic))),
        }
    }

    /// Calls the servant within its metrics and its span, if there are any.
    #[inline(always)]
    fn observed<T, E: Raises>(
        &self,
        terms: &Terms<'_, '_>,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        serve: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let observed = terms.observed.map(|it| self.observe(it, request, object));
        let served = serve();
        if let Some(observed) = observed {
            let raised = served.as_ref().err().map(Raises::raised);
            observed.end(raised.as_ref());
        }
        served
    }

    /// Enters the object as policies for collocated calls have it.
    #[inline]
    fn enter<'o>(&self, object: &'o ActiveObject) -> Option<Option<Serving<'o>>> {
        match self.is_direct {
            true => Some(None),
            false => Some(Some(object.enter()?)),
        }
    }

    /// Serves a request that the object's lane, or an extension of its adapter, has a say in.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve_placed<T, E: Raises>(
        &self,
        adapters: &Adapters,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<Served<T, E>> {
        self.guarded(at, operation, |outcome| {
            let object = &self.object.pin()?;
            let request = &self.request(at, operation, terms);
            *outcome = adapters.serve_placed(request, object, || {
                let serve = || serve(object.view(), &called(request, object));
                self.observed(terms, request, object, serve)
            });
            Some(())
        })
    }

    /// The request as its servant sees it.
    #[inline]
    fn request<'r>(
        &'r self,
        at: &'r Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
    ) -> IncomingRequest<'r> {
        let mut request =
            IncomingRequest::collocated(&self.context, &at.object_key, operation, terms.expiry);
        if let Some(response) = terms.response {
            request.response = response;
        }
        request
    }

    /// Begins the metrics and the span of the call, then those of its request.
    #[cold]
    #[inline(never)]
    fn observe<'r>(
        &self,
        call: &ObservedCall<'_>,
        request: &'r IncomingRequest<'r>,
        object: &ActiveObject,
    ) -> ObservedRequest<'r> {
        call.begin();
        ObservedRequest::begin(request, object)
    }

    #[cold]
    #[inline(never)]
    fn panicked(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        panic: &(dyn Any + Send),
    ) -> SystemException {
        panicked(&self.request(at, operation, &Terms::NONE), panic)
    }
}

/// A request to an object, as its servant sees it.
#[inline]
pub(super) fn called<'c>(request: &'c IncomingRequest<'c>, object: &'c ActiveObject) -> Call<'c> {
    Call {
        incoming: request,
        object,
    }
}
