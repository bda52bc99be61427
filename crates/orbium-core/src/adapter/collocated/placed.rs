// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated requests, without a message, to objects of lanes and of extended adapters: the
//! calling thread serves them at the priority that a message would have.

use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::{UpcallResult, raised};
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_lane::{OWN, OWN_INTERCEPTED, Route};
use orbium_request::IncomingRequest;
use orbium_request::conclusion::{busy, check_expiry, not_permitted, note_refusal};
use orbium_sync::role::while_serving_own_thread;

use super::intercepted::serve_intercepted;
use super::{Terms, called};
use crate::Extension;
use crate::adapter::dispatch::forward::ServantError;
use crate::adapter::dispatch::measured::observe;
use crate::adapter::{ActiveObject, Adapters, Served, ThreadModel, Unserved};
use crate::log::Recurring;
use crate::raises::{DispatchError, Raised};

impl Adapters {
    /// Whether a request to that object needs a message: another thread has to serve it, or
    /// interceptors see the request before its adapter does and see its reply.
    fn needs_message(&self, object: &ActiveObject, is_answered: bool) -> bool {
        let policies = object.policies();
        let is_seen = is_answered && self.interceptors.is_some();
        if self.calls_directly || !policies.is_special() {
            return is_seen && object.stands_in();
        }
        let is_of_main = policies.thread_model == ThreadModel::MainThread;
        let is_elsewhere = is_of_main && !self.main.is_this() && self.main.lane().is_some();
        is_elsewhere || is_seen
    }

    /// Runs `upcall` with the object that serves a request, as provided by its adapter.
    fn within_upcall(
        &self,
        object: &ActiveObject,
        operation: &[u8],
        upcall: &mut dyn FnMut(&ActiveObject),
    ) -> Result<(), ServantError> {
        let is_plain = self.calls_directly || !object.policies().is_special();
        if is_plain && !object.stands_in() {
            upcall(object);
            return Ok(());
        }
        Arc::clone(&object.adapter).within_upcall(object, operation, upcall)
    }

    /// Serves a request to that object at the priority of its lane or as decided by hooks or an
    /// extension of the adapter, with interceptors. `serve` calls the servant of the object that is
    /// found. `None`, without any effect, if the request needs a message.
    pub(super) fn serve_in_place(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        terms: &Terms<'_, '_>,
        serve: &mut dyn FnMut(&ActiveObject) -> UpcallResult,
    ) -> Option<Served> {
        if self.needs_message(object, terms.is_answered) {
            return None;
        }
        self.serve_placed(request, object, &mut || {
            let upcall = |run: &mut dyn FnMut(&ActiveObject)| {
                self.within_upcall(object, request.operation, run)
            };
            let seen = (terms.observed, terms.carried);
            match &self.interceptors {
                Some(all) if !terms.is_answered => {
                    serve_intercepted(all, seen, request, object, upcall, serve)
                }
                _ => serve_observed(terms, request, object, &mut || {
                    let mut served = None;
                    let found = upcall(&mut |object| served = Some(serve(object)));
                    ended(found, served)
                }),
            }
        })
    }

    /// Serves a request at the priority of its object's lane, or as decided by hooks or an
    /// extension of the adapter. `None`, without any effect, if the request needs a message.
    #[cold]
    fn serve_placed(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        serve: &mut dyn FnMut() -> Served,
    ) -> Option<Served> {
        let number = self.context.number;
        let mut serve = || while_serving_own_thread(number, &mut *serve);
        if self.calls_directly {
            return Some(serve());
        }
        if matches!(object.lane(), OWN | OWN_INTERCEPTED) {
            // Neither extensions nor policies wrap the upcall of this object.
            let _serving = object.enter()?;
            check_expiry(request).ok()?;
            return Some(serve());
        }
        let decided = match self.route(request, object) {
            Ok(Route::Here(decided)) => decided,
            Ok(Route::Elsewhere(to, _)) => return Some(Err(Unserved::Elsewhere(Arc::new(to)))),
            // No collocated call has this route.
            Ok(Route::To(..)) => return Some(Err(Unserved::Refused(busy()))),
            Err(exception) => {
                note_refusal(request, Recurring::Access, exception);
                return Some(Err(Unserved::Refused(exception)));
            }
        };
        let serve = |it: &IncomingRequest<'_>| self.serve_routed_in_place(it, object, &mut serve);
        let served = request.serve_as(&decided, serve);
        Some(served.unwrap_or_else(|error| Err(Unserved::Refused(not_permitted(&error)))))
    }

    /// Serves a request at its resolved priority; the hooks see how it ends.
    fn serve_routed_in_place(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        serve: &mut dyn FnMut() -> Served,
    ) -> Served {
        self.begins(request, object).map_err(Unserved::Refused)?;
        let entered = match object.enter() {
            Some(serving) => Ok(serving),
            None => {
                let entered = object.enter_slowly(&request.expiry, request.operation);
                entered.inspect_err(|it| note_refusal(request, Recurring::NotActive, *it))
            }
        };
        let served = match entered.and_then(|it| check_expiry(request).map(|()| it)) {
            Err(exception) => Err(Unserved::Refused(exception)),
            Ok(_serving) => match object.extension() {
                None => serve(),
                Some(extension) => serve_extended(extension, request, object, serve),
            },
        };
        let is_hooked = self.hook.is_some() || object.policies().dispatch.is_some();
        if !is_hooked || matches!(served, Err(Unserved::Panicked(_))) {
            return served;
        }
        let failure = failed(&served);
        let ended = failure.map_or(Ok(()), |exception| Err(exception.into()));
        match self.leave(request, object, ended) {
            Err(other) if Some(other.exception()) != failure => Ok(Err(other.exception().into())),
            _ => served,
        }
    }
}

/// The outcome of a request from the result of its servant, if that was called.
fn ended(found: Result<(), ServantError>, served: Option<UpcallResult>) -> Served {
    let is_begun = served.is_some();
    let interrupt = match (found, served) {
        (Ok(()), Some(Ok(served))) => return Ok(served),
        (Ok(()), Some(Err(interrupt))) => interrupt,
        // An upcall runs its servant.
        (Ok(()), None) => return Ok(Err(broken_invariant().into())),
        (Err(error), _) => error.into(),
    };
    Err(match interrupt {
        Interrupt::Forward(to) => Unserved::Elsewhere(to),
        Interrupt::Raise(exception) if is_begun => Unserved::Raised(exception),
        Interrupt::Raise(exception) => Unserved::Refused(exception),
    })
}

/// Serves a request within its metrics and its span, if there are any.
fn serve_observed(
    terms: &Terms<'_, '_>,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    serve: &mut dyn FnMut() -> Served,
) -> Served {
    let observed = terms.observed.map(|it| observe(it, request, object));
    let served = serve();
    if let Some(observed) = observed {
        observed.end(raised(&served).as_ref());
    }
    served
}

/// Serves a request within the wrapper of its adapter's extension.
fn serve_extended(
    extension: &Extension,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    serve: &mut dyn FnMut() -> Served,
) -> Served {
    let call = called(request, object);
    let mut outcome = None;
    let ended = extension.0.upcall(&call, &mut || {
        if outcome.is_some() {
            // The extension has called the servant twice.
            return Err(broken_invariant().into());
        }
        match failed(outcome.insert(serve())) {
            Some(exception) => Err(DispatchError::from(exception)),
            None => Ok(()),
        }
    });
    match (ended, outcome) {
        (Err(error), Some(outcome)) if failed(&outcome) == Some(error.exception()) => outcome,
        (Err(error), _) => Ok(Err(error.exception().into())),
        (Ok(()), Some(outcome)) => outcome,
        // The extension has not called the servant.
        (Ok(()), None) => Ok(Err(broken_invariant().into())),
    }
}

/// The system exception of a request.
fn failed(served: &Served) -> Option<SystemException> {
    match raised(served) {
        Some(Raised::System(exception)) => Some(exception),
        _ => None,
    }
}
