// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated requests, without a message, to objects that their references did not find in the
//! map: the adapter finds the servant for each request.

use std::any::TypeId;
use std::cell::Cell;

use orbium_cdr::CdrReader;
use orbium_interceptor::server::UpcallResult;
use orbium_request::UntypedReply;
use orbium_request::conclusion::panicked;

use super::{Checked, Terms, called, guarded, request_of};
use crate::adapter::dispatch::dispatch;
use crate::adapter::{ActiveObject, Adapters, RequestProcessing, Served, ThreadModel, Unserved};
use crate::client::Collocated;
use crate::raises::{DispatchError, ExceptionId};
use crate::{Call, Lane, Operation};

/// Dispatches a request to its servant by marshalled arguments and reply.
pub(crate) type Dispatches<'d> =
    dyn FnMut(&mut CdrReader<'_>, &mut UntypedReply<'_>) -> Result<(), DispatchError> + 'd;

/// The ways to call the servant that an adapter finds.
pub(crate) struct Upcalls<'u, S: ?Sized> {
    /// Calls it by the interface of its caller.
    pub(crate) serve: &'u mut dyn FnMut(&S, &Call<'_>) -> Result<(), ExceptionId>,
    /// Calls it by marshalled arguments if it does not implement that interface.
    pub(crate) by_message: &'u dyn Fn(&mut Dispatches<'_>) -> UpcallResult,
    /// Copies its results.
    pub(crate) checked: &'u Checked<'u>,
}

impl ActiveObject {
    /// The servant, typed by an interface.
    fn servant_as<S: ?Sized + 'static>(&self) -> Option<&S> {
        self.servant.typed(TypeId::of::<S>())?.of()
    }

    /// Whether this object may serve a request without a message by a reference that has cached
    /// that place.
    fn serves_in_place<S: ?Sized + 'static>(&self, at: &Collocated) -> bool {
        // The object at that place has refused the request.
        (self.stands_in() || self.slot != at.slot) && self.may_serve::<S>()
    }

    /// Whether its servant may implement that interface.
    fn may_serve<S: ?Sized + 'static>(&self) -> bool {
        let is_managed = self.policies().request_processing == RequestProcessing::ServantManager;
        // The servant manager decides only during the request which servant it is.
        self.stands_in() && is_managed || self.servant_as::<S>().is_some()
    }
}

impl Adapters {
    /// Serves a request to an object with a servant that the adapter has to find, or which has been
    /// reactivated. `None`, without any effect, if the request needs a message.
    #[cold]
    pub(crate) fn serve_found<S: ?Sized + 'static>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        terms: &Terms<'_, '_>,
        upcalls: &mut Upcalls<'_, S>,
    ) -> Option<Served> {
        let request = &request_of(&self.context, at, operation, terms);
        let (is_called, is_located) = (Cell::new(false), Cell::new(false));
        let served = guarded(
            |outcome: &mut Option<Served>| {
                let Ok(object) = self.registry.find(request.key) else {
                    return;
                };
                let object = &*object;
                if !object.serves_in_place::<S>(at) {
                    return;
                }
                is_located.set(object.stands_in() && !object.policies().retains());
                *outcome = self.serve_in_place(request, object, terms, &mut |found| {
                    is_called.set(true);
                    let call = &called(request, found);
                    let Some(servant) = found.servant_as::<S>() else {
                        return (upcalls.by_message)(&mut |arguments, reply| {
                            dispatch(found, call, arguments, reply)
                        });
                    };
                    let served = (upcalls.serve)(servant, call);
                    Ok(self.as_seen(terms, served, upcalls.checked))
                });
            },
            |panic| panicked(request, panic),
        )?;
        Some(served.unwrap_or_else(|panicked| {
            // Else the code that finds the servant has panicked.
            Err(match (is_called.get(), is_located.get()) {
                (false, _) => Unserved::Refused(panicked),
                // It replaces the answer, too, like an exception of `postinvoke`.
                (true, true) => Unserved::Raised(panicked),
                (true, false) => Unserved::Panicked(panicked),
            })
        }))
    }

    /// The lane of the main thread, if it is another lane and serves the object at that place
    /// without a message.
    pub(crate) fn main_lane_of<S: ?Sized + 'static>(
        &self,
        at: &Collocated,
        terms: &Terms<'_, '_>,
    ) -> Option<&Lane> {
        let lane = self.main.lane().filter(|_| !self.main.is_this())?;
        let object = self.registry.find(&at.object_key).ok()?;
        let is_seen = terms.is_answered && self.interceptors.is_some();
        let is_lent = object.policies().thread_model == ThreadModel::MainThread
            && !self.calls_directly
            && !is_seen
            && object.may_serve::<S>();
        is_lent.then_some(lane)
    }

    /// The result of a servant as seen by interceptors.
    pub(super) fn as_seen(
        &self,
        terms: &Terms<'_, '_>,
        served: Result<(), ExceptionId>,
        checked: &Checked<'_>,
    ) -> Result<(), ExceptionId> {
        if self.interceptors.is_some() && !terms.is_answered {
            checked(served)
        } else {
            served
        }
    }
}
