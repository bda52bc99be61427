// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a request to the servant and back.

pub(crate) mod forward;
mod locating;
pub(crate) mod measured;
mod route;
mod upcall;
use std::panic::{AssertUnwindSafe, catch_unwind};

use orbium_adapter::{Found, Serving};
use orbium_cdr::CdrReader;
use orbium_giop::{ResponseFlags, SystemException};
use orbium_invocation::reactor::is_within_a_wait;
use orbium_request::conclusion::{busy, check_expiry, conclude, not_permitted, note_refusal};
use orbium_request::spans::{RequestSpan, serve_within};

use crate::adapter::implicit::{is_implicit, serve_implicit};
use crate::adapter::ior_table::look_up;
use crate::adapter::{ActiveObject, Adapters};
use crate::log::{self, Recurring};
use crate::priority;
use crate::raises::DispatchError;
use crate::servant::Call;
use orbium_lane::{Decided, OWN, OWN_INTERCEPTED, Route};
use orbium_request::IncomingRequest;
use orbium_request::UntypedReply;

impl Adapters {
    /// Serves a request and answers it in every case.
    #[inline]
    pub(crate) fn serve(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) {
        if self.context.observes_requests() {
            self.serve_observed(request, arguments, reply);
        } else {
            self.serve_unobserved(request, arguments, reply);
        }
    }

    /// As `serve`, for callers that have checked for observers.
    pub(crate) fn serve_unobserved(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) {
        self.serve_caught::<false>(request, arguments, reply);
    }

    /// Serves a request and answers it in every case; returns its system exception. It may have a
    /// span if it is `OBSERVED`.
    // Inline: packing an unused exception takes ten instructions.
    #[inline(always)]
    fn serve_caught<const OBSERVED: bool>(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Option<SystemException> {
        // The last reference to a servant may be dropped in here too.
        let served = catch_unwind(AssertUnwindSafe(|| {
            self.try_serve::<OBSERVED>(request, arguments, reply)
        }));
        conclude(request, served, reply)
    }

    /// As `serve`, measured or within a span, or both.
    #[cold]
    fn serve_observed(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) {
        let span = RequestSpan::begin(self, request, reply);
        let failed = match self.context.measurements() {
            Some(all) => self.serve_measured(all, request, arguments, reply),
            None => self.serve_caught::<true>(request, arguments, reply),
        };
        if let Some(span) = span {
            span.end(self, request, reply, failed);
        }
    }

    #[inline]
    pub(super) fn try_serve<const OBSERVED: bool>(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        orbium_trace::probe!(MessagingReceive);
        match self.registry.find_hinted(request.key) {
            Some(found) if found.lane() == request.lane => {
                self.serve_plainly(request, &found, arguments, reply)
            }
            Some(found) => self.serve_specially::<OBSERVED>(request, &found, arguments, reply),
            None => self.serve_unhinted(request, arguments, reply),
        }
    }

    /// Serves a request by a key without a good hint.
    #[cold]
    fn serve_unhinted(
        &self,
        request: &IncomingRequest<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        match self.find_or_forward(request, reply)? {
            None => Ok(()),
            Some(found) if found.lane() == request.lane => {
                self.serve_plainly(request, &found, arguments, reply)
            }
            // Not by `serve_specially`: its upcall would be compiled as a call.
            Some(found) if is_seen_alone(request, &found) && !log::wants_spans() => {
                self.enter_and_serve(request, &found, arguments, reply)
            }
            Some(found) => self.serve_routed(request, &found, arguments, reply),
        }
    }

    /// Serves a request to an object of this lane without extensions and special policies.
    #[inline(always)]
    fn serve_plainly(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        orbium_trace::probe!(PoaDemux);
        let _serving = self.enter(request, object, reply)?;
        let call = Call {
            incoming: request,
            object,
        };
        reply.confirm_oneway(request)?;
        dispatch(object, &call, arguments, reply)
    }

    /// The object of a key without a good hint; `None` if the client was sent to its
    /// whole reference.
    fn find_or_forward(
        &self,
        request: &IncomingRequest<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<Option<Found<'_, ActiveObject>>, DispatchError> {
        // A oneway has no reply for a forward, and collocated calls need none.
        if request.peer.is_some()
            && request.response == ResponseFlags::Full
            && let Some(to) = self.forward_of(request.key)
        {
            log::debug!(
                target: "orbium::request",
                key = %request.key.escape_ascii(),
                "client sent to the whole reference",
            );
            reply.forward(&to, false)?;
            return Ok(None);
        }
        let mut found = self.registry.find(request.key);
        let (expiry, operation) = (&request.expiry, request.operation);
        if found.is_err() && self.registry.activate(request.key, expiry, operation)? {
            found = self.registry.find(request.key);
        }
        if found.is_err()
            && let Some((to, permanent)) = look_up(&self.table, request.key)
        {
            reply.forward(&to, permanent)?;
            return Ok(None);
        }
        Ok(Some(found.inspect_err(|exception| {
            note_refusal(request, Recurring::UnknownObject, *exception);
        })?))
    }

    /// Enters a request that may be held. If the request that could release it waits further down
    /// on this same stack, another thread of the lane is held instead.
    #[cold]
    fn enter_slowly<'o>(
        &self,
        request: &IncomingRequest<'_>,
        object: &'o ActiveObject,
        reply: &mut UntypedReply<'_>,
    ) -> Result<Serving<'o>, SystemException> {
        let at = Decided {
            priority: priority::current(),
            ..Decided::default()
        };
        if is_within_a_wait()
            && object.is_held()
            && let Some(lane) = self.lane_numbered(request.lane)
            && reply.move_to(&lane, at)
        {
            // That thread will answer; the value returned here is ignored.
            return Err(busy());
        }
        let entered = object.enter_slowly(&request.expiry, request.operation);
        entered.inspect_err(|exception| note_refusal(request, Recurring::NotActive, *exception))
    }

    /// Serves a request with a dispatch hook, another lane or priority, or an adapter
    /// extension.
    #[inline(always)]
    fn serve_specially<const OBSERVED: bool>(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        orbium_trace::probe!(PoaDemux);
        if is_seen_alone(request, object)
            && !(OBSERVED && log::wants_spans())
            && let Some(all) = &self.interceptors
        {
            let _serving = self.enter(request, object, reply)?;
            return self.serve_seen(all, request, object, (arguments, reply), || true);
        }
        self.serve_routed(request, object, arguments, reply)
    }

    /// Serves a request on the lane that its route names.
    // Cold, or the compiler treats intercepted requests as rare.
    #[cold]
    fn serve_routed(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let route = self.route(request, object);
        let refused = |exception: &_| note_refusal(request, Recurring::Access, *exception);
        match route.inspect_err(refused)? {
            Route::Here(decided) => self.serve_decided(request, &decided, object, arguments, reply),
            // That lane will answer.
            Route::To(lane, decided) if reply.move_to(&lane, decided) => Ok(()),
            // It was queued in a lane that ends.
            Route::To(_, decided) if self.lanes.is_ending(request.lane) => {
                self.serve_decided(request, &decided, object, arguments, reply)
            }
            // It was queued while a lane joined, or its thread has handed the reading over.
            Route::To(lane, decided) => {
                let decided = decided.in_lane(&lane);
                self.serve_decided(request, &decided, object, arguments, reply)
            }
            Route::Elsewhere(to, permanent) => reply.forward(&to, permanent),
        }
    }

    /// Serves it on this thread, at the decided priority.
    #[inline]
    fn serve_decided(
        &self,
        request: &IncomingRequest<'_>,
        decided: &Decided,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        request
            .serve_as(decided, |it| self.serve_here(it, object, arguments, reply))
            .unwrap_or_else(|error| Err(not_permitted(&error).into()))
    }

    /// Serves it on this thread.
    fn serve_here(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        self.begins(request, object)?;
        let mut serve =
            |reply: &mut UntypedReply<'_>| self.enter_and_serve(request, object, arguments, reply);
        let served = if log::wants_spans() {
            serve_within(request, object, reply, serve)
        } else {
            serve(reply)
        };
        self.leave(request, object, served)
    }

    /// An extension of the adapter, or its policies, may wrap the upcall.
    #[inline(always)]
    fn enter_and_serve(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        let _serving = self.enter(request, object, reply)?;
        let policies = object.policies();
        if policies.extension.is_some() || policies.is_special() {
            self.serve_by_policies(request, object, arguments, reply)
        } else {
            self.serve_intercepted(request, object, arguments, reply)
        }
    }

    /// Enters a request, which may have been queued.
    #[inline(always)]
    fn enter<'o>(
        &self,
        request: &IncomingRequest<'_>,
        object: &'o ActiveObject,
        reply: &mut UntypedReply<'_>,
    ) -> Result<Serving<'o>, SystemException> {
        let serving = match object.enter() {
            Some(serving) => serving,
            None => self.enter_slowly(request, object, reply)?,
        };
        // After any wait.
        check_expiry(request)?;
        orbium_trace::probe!(ServantDemux);
        Ok(serving)
    }
}

/// Whether a request is special only by interceptors, and perhaps a span: neither extensions nor
/// policies wrap its upcall.
#[inline(always)]
fn is_seen_alone(request: &IncomingRequest<'_>, object: &ActiveObject) -> bool {
    object.lane() == OWN_INTERCEPTED && request.lane == OWN && request.decided.is_none()
}

#[inline]
pub(super) fn dispatch(
    object: &ActiveObject,
    call: &Call<'_>,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
) -> Result<(), DispatchError> {
    if is_implicit(call.operation()) {
        return serve_implicit(object, call, arguments, reply);
    }
    object.servant.dispatch(call, arguments, reply)
}
