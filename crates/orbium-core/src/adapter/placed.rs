// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers, without a message, to objects that lanes serve, and those
//! of extended adapters: the calling thread serves them at the priority that a message would have.

use orbium_invocation::call_exceptions::broken_invariant;
use orbium_invocation::scheduling;
use orbium_lane::{Decided, Route};
use orbium_server::IncomingRequest;
use orbium_server::conclusion::check_expiry;
use orbium_sync::role::while_serving_own_thread;

use super::collocated::called;
use super::{ActiveObject, Adapters};
use crate::Extension;
use crate::raises::{DispatchError, Raised, Raises};

impl Adapters {
    /// Serves a request at the priority of its object's lane, or as an extension of the adapter
    /// says; `None` if it takes a message: nothing was done then.
    #[cold]
    #[inline(never)]
    pub(super) fn serve_placed<T, E: Raises>(
        &self,
        request: &IncomingRequest<'_>,
        object: &ActiveObject,
        serve: impl FnOnce() -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let policies = object.policies();
        let is_watched = self.interceptors.is_some() || self.hook.is_some();
        if is_watched || policies.dispatch.is_some() || policies.is_special() {
            return None;
        }
        let _serving = object.enter()?;
        // What is refused or sent elsewhere is refused or sent by a message.
        let Ok(Route::Here(decided)) = self.route(request, object) else {
            return None;
        };
        check_expiry(request).ok()?;
        let number = self.context.number;
        let serve = || while_serving_own_thread(number, serve);
        let serve = || match object.extension() {
            None => serve(),
            Some(extension) => serve_extended(extension, request, object, serve),
        };
        match decided {
            Decided {
                priority: None,
                scheduling: None,
            } => Some(serve()),
            Decided {
                priority,
                scheduling,
            } => scheduling::at(priority, scheduling, serve).ok(),
        }
    }
}

/// Serves a request within what the extension of its adapter wraps around it.
fn serve_extended<T, E: Raises>(
    extension: &Extension,
    request: &IncomingRequest<'_>,
    object: &ActiveObject,
    serve: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let call = called(request, object);
    let (mut serve, mut outcome) = (Some(serve), None);
    let ended = extension.0.upcall(&call, &mut || {
        let Some(serve) = serve.take() else {
            // It has called the servant twice.
            return Err(broken_invariant().into());
        };
        match outcome.insert(serve()).as_ref().map_err(Raises::raised) {
            Err(Raised::System(exception)) => Err(DispatchError::from(exception)),
            _ => Ok(()),
        }
    });
    match (ended, outcome) {
        (Err(error), _) => Err(error.exception().into()),
        (Ok(()), Some(outcome)) => outcome,
        // Not at all.
        (Ok(()), None) => Err(broken_invariant().into()),
    }
}
