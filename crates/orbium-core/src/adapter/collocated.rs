// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated requests: invocations from the ORB's own process without a message.

mod found;
mod intercepted;
mod placed;
mod queueing;
use std::any::{Any, TypeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_adapter::Serving;
use orbium_giop::SystemException;
use orbium_interceptor::server::{Served, Unserved};
use orbium_lane::OWN;
use orbium_request::conclusion::panicked;
use orbium_request::{IncomingRequest, ServerContext};
use orbium_sync::Projection;
use orbium_sync::role::while_serving_own_thread;

use super::ActiveObject;
use super::dispatch::measured::observe;
use super::poa::active;
use crate::adapter::Adapters;
use crate::client::{Collocated, Terms};
use crate::raises::{ExceptionId, Raises};
use crate::{Call, Operation};
pub(crate) use found::{Dispatches, Upcalls};

/// Copies the results of a servant for its caller.
pub(crate) type Checked<'c> = dyn Fn(Result<(), ExceptionId>) -> Result<(), ExceptionId> + 'c;

/// The servant of an active object, typed by an interface, and the server context for calls without
/// a message. Cached by references; it does not keep the servant alive.
pub(crate) struct CollocatedServant<S: ?Sized> {
    object: Projection<Arc<ActiveObject>, S>,
    context: Arc<ServerContext>,
    /// Whether calls bypass POA managers and policies.
    is_direct: bool,
    /// Whether, when the reference was resolved, a lane or an extension of the adapter routed
    /// calls, or interceptors saw them: calls take `serve_placed` then. So do calls that `serve`
    /// does not serve.
    pub(crate) is_placed: bool,
}

impl Adapters {
    /// The servant of an object, typed by an interface; `None` if the object is not active, or its
    /// servant does not implement the interface.
    #[cold]
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
        let lane = object.with(|object, _| object.lane())?;
        let is_routed = !self.calls_directly && lane != OWN;
        Some(CollocatedServant {
            is_placed: is_routed || self.interceptors.is_some(),
            object,
            context: Arc::clone(&self.context),
            is_direct: self.calls_directly,
        })
    }
}

impl<S: ?Sized> CollocatedServant<S> {
    /// Serves a request on the calling thread. `None`, without any effect, if the adapter's
    /// policies require a message.
    ///
    /// # Errors
    /// UNKNOWN: the servant has panicked.
    #[inline(always)]
    pub(crate) fn serve(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<(), ExceptionId>,
    ) -> Option<Served> {
        let mut outcome = None;
        let serve = |servant: &S, call: &Call<'_>| {
            let serve = || serve(servant, call);
            observed(terms, call.incoming, active(call.object), serve)
        };
        let panic = self.serve_plainly(at, operation, terms, &mut outcome, serve);
        let served = ended(outcome, panic, |panic| self.panicked(at, operation, panic))?;
        Some(served.map_err(Unserved::Panicked))
    }

    /// As `serve`, for a request without observers and with any result type: the result is in
    /// `outcome`. Returns the payload of a panic.
    #[inline(always)]
    pub(crate) fn serve_plainly<R>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        outcome: &mut Option<R>,
        serve: impl FnOnce(&S, &Call<'_>) -> R,
    ) -> Option<Panic> {
        caught(|| {
            self.object.with(|object, servant| {
                if !self.is_direct && object.lane() != OWN {
                    // A lane that has joined serves it.
                    return;
                }
                let Some(_serving) = self.enter(object) else {
                    return;
                };
                let request = &self.request(at, operation, terms);
                let serve = || serve(servant, &called(request, object));
                *outcome = Some(while_serving_own_thread(self.context.number, serve));
            });
        })
    }

    /// Enters the object according to the policy for collocated calls.
    #[inline]
    fn enter<'o>(&self, object: &'o ActiveObject) -> Option<Option<Serving<'o>>> {
        if self.is_direct {
            Some(None)
        } else {
            Some(Some(object.enter()?))
        }
    }

    /// Serves a request that the object's lane or an extension of its adapter routes, or
    /// interceptors see: the servant's result once it is `checked`.
    #[cold]
    pub(crate) fn serve_placed(
        &self,
        adapters: &Adapters,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        checked: &Checked<'_>,
        mut serve: impl FnMut(&S, &Call<'_>) -> Result<(), ExceptionId>,
    ) -> Option<Served> {
        let begin = |outcome: &mut Option<Served>| {
            self.object.with(|object, servant| {
                let request = &self.request(at, operation, terms);
                *outcome = adapters.serve_in_place(request, object, terms, &mut |_| {
                    let served = serve(servant, &called(request, object));
                    Ok(adapters.as_seen(terms, served, checked))
                });
            });
        };
        let served = guarded(begin, |panic| self.panicked(at, operation, panic))?;
        Some(served.unwrap_or_else(|panicked| Err(Unserved::Panicked(panicked))))
    }

    /// The request as seen by its servant.
    #[inline]
    fn request<'r>(
        &'r self,
        at: &'r Collocated,
        operation: &'static Operation,
        terms: &Terms<'r, '_>,
    ) -> IncomingRequest<'r> {
        request_of(&self.context, at, operation, terms)
    }

    #[cold]
    pub(crate) fn panicked(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        panic: &(dyn Any + Send),
    ) -> SystemException {
        panicked(&self.request(at, operation, &Terms::NONE), panic)
    }
}

/// The payload of a panic of a servant.
type Panic = Box<dyn Any + Send>;

/// Runs `begin`; returns the payload of a panic.
#[inline(always)]
fn caught(begin: impl FnOnce()) -> Option<Panic> {
    // The last reference to a servant may be dropped in there too.
    catch_unwind(AssertUnwindSafe(begin)).err()
}

/// The result of a servant, or the exception for its panic. `None` if it was not called.
#[inline(always)]
fn ended<R>(
    outcome: Option<R>,
    panic: Option<Panic>,
    panicked: impl FnOnce(&(dyn Any + Send)) -> SystemException,
) -> Option<Result<R, SystemException>> {
    match (outcome, panic) {
        // A panic after the servant's result does not change it.
        (Some(outcome), _) => Some(Ok(outcome)),
        (None, None) => None,
        (None, Some(panic)) => Some(Err(panicked(&*panic))),
    }
}

/// The result of the servant called by `begin`, or the exception for its panic. `None` if `begin`
/// has not called it.
fn guarded<R>(
    begin: impl FnOnce(&mut Option<R>),
    panicked: impl FnOnce(&(dyn Any + Send)) -> SystemException,
) -> Option<Result<R, SystemException>> {
    let mut outcome = None;
    let panic = caught(|| begin(&mut outcome));
    ended(outcome, panic, panicked)
}

/// A request without a message.
#[inline]
fn request_of<'r>(
    context: &'r ServerContext,
    at: &'r Collocated,
    operation: &'static Operation,
    terms: &Terms<'r, '_>,
) -> IncomingRequest<'r> {
    let mut request = IncomingRequest::collocated(context, &at.object_key, operation, terms.expiry);
    if let Some(carried) = terms.carried {
        request.response = carried.response;
        request.contexts = carried.contexts.contexts();
    }
    request
}

/// A request to an object, as seen by its servant.
#[inline]
pub(super) fn called<'c>(request: &'c IncomingRequest<'c>, object: &'c ActiveObject) -> Call<'c> {
    Call {
        incoming: request,
        object,
    }
}

/// Calls the servant within its metrics and its span, if there are any.
#[inline(always)]
fn observed(
    terms: &Terms<'_, '_>,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    serve: impl FnOnce() -> Result<(), ExceptionId>,
) -> Result<(), ExceptionId> {
    let observed = terms.observed.map(|it| observe(it, request, object));
    let served = serve();
    if let Some(observed) = observed {
        let raised = served.as_ref().err().map(Raises::raised);
        observed.end(raised.as_ref());
    }
    served
}
