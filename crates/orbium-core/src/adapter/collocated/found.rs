// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of the ORB's own callers, without a message, to objects that their references did not
//! find in the map: the adapter finds the servant of each of them.

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

/// Leads a request to its servant as a message would.
pub(crate) type Dispatches<'d> =
    dyn FnMut(&mut CdrReader<'_>, &mut UntypedReply<'_>) -> Result<(), DispatchError> + 'd;

/// How the servant is called that an adapter finds.
pub(crate) struct Upcalls<'u, S: ?Sized> {
    /// As one of the interface that its caller sees.
    pub(crate) serve: &'u mut dyn FnMut(&S, &Call<'_>) -> Result<(), ExceptionId>,
    /// Where it is none of that.
    pub(crate) by_message: &'u dyn Fn(&mut Dispatches<'_>) -> UpcallResult,
    /// Copies what it has returned.
    pub(crate) checked: &'u Checked<'u>,
}

impl ActiveObject {
    /// The servant as one of an interface.
    fn servant_as<S: ?Sized + 'static>(&self) -> Option<&S> {
        self.servant.typed(TypeId::of::<S>())?.of()
    }

    /// Whether a request without a message, for which a reference knows that place, may be led to
    /// this object.
    fn serves_in_place<S: ?Sized + 'static>(&self, at: &Collocated) -> bool {
        // What is at that place has refused it.
        (self.stands_in() || self.slot != at.slot) && self.may_serve::<S>()
    }

    /// Whether its servant may be one of that interface.
    fn may_serve<S: ?Sized + 'static>(&self) -> bool {
        let is_managed = self.policies().request_processing == RequestProcessing::ServantManager;
        // Which servant it will be shows when it is there.
        self.stands_in() && is_managed || self.servant_as::<S>().is_some()
    }
}

impl Adapters {
    /// Serves a request to an object of which its adapter has to find the servant, or which was activated
    /// again since. `None` if it takes a message: nothing was done then.
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
            // Else it was what finds the servant.
            Err(match (is_called.get(), is_located.get()) {
                (false, _) => Unserved::Refused(panicked),
                // In the place of an answer too, as what `postinvoke` raises.
                (true, true) => Unserved::Raised(panicked),
                (true, false) => Unserved::Panicked(panicked),
            })
        }))
    }

    /// The lane of the main thread, if that is another one, and serves the object at that place
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

    /// What a servant has returned, as interceptors see it.
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
