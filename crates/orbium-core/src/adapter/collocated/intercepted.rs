// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated requests, without a message, that interceptors see.

use orbium_interceptor::server::{
    InterceptedRequest, RequestFacts, ServedRequest, UpcallResult, raised,
};
use orbium_interceptor::{Interceptors, Interrupt, Locality};
use orbium_request::conclusion::{panicked, servant_panicked};
use orbium_request::{IncomingRequest, intercept};

use crate::adapter::dispatch::forward::ServantError;
use crate::adapter::dispatch::measured::observe;
use crate::adapter::poa::active;
use crate::adapter::{ActiveObject, Adapters, Carried, Served};
use crate::client::ObservedCall;
use crate::raises::DispatchError;
use crate::{Call, UntypedReply};

/// Calls the servant with each point of the interceptors, within its metrics and its span.
#[cold]
pub(crate) fn serve_intercepted(
    all: &Interceptors,
    (observed, carried): (Option<&ObservedCall<'_>>, Option<&Carried>),
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    upcall: impl FnOnce(&mut dyn FnMut(&ActiveObject)) -> Result<(), ServantError>,
    serve: &mut dyn FnMut(&ActiveObject) -> UpcallResult,
) -> Served {
    let seen = InterceptedRequest {
        all,
        facts: facts_of(request),
        object,
        panicked: servant_panicked(),
    };
    let observed = observed.map(|it| observe(it, request, object));
    let upcall = |run: &mut dyn FnMut(&ActiveObject)| upcall(run).map_err(Interrupt::from);
    let mut served = seen.serve(upcall, serve);
    match (&served.panic, observed) {
        (Some(panic), _) => {
            let _ = panicked(request, &**panic);
        }
        (None, Some(observed)) => observed.end(raised(&served.served).as_ref()),
        (None, None) => {}
    }
    if let Some(carried) = carried {
        carried
            .reply_contexts
            .replace(std::mem::take(&mut served.contexts));
    }
    served.served
}

/// The view that interceptors have of a request.
fn facts_of<'r>(request: &IncomingRequest<'r>) -> RequestFacts<'r> {
    RequestFacts {
        operation: request.operation,
        contexts: request.contexts,
        response: request.response,
        locality: Locality::Local,
        served: ServedRequest::of(request),
    }
}

impl Adapters {
    /// Calls a servant that answers by a message, with each point of the interceptors, if there are
    /// any.
    ///
    /// # Errors
    /// The system exception of the request, which may be in a message already.
    pub(crate) fn answer_intercepted(
        &self,
        call: &Call<'_>,
        reply: &mut UntypedReply<'_>,
        answer: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError> {
        let Some(all) = &self.interceptors else {
            return answer(reply);
        };
        let object = active(call.object);
        intercept(all, call.incoming, object, reply, || true, answer)
    }
}
