// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests to adapters with servant managers, default servants or threading policies
//! (CORBA 3.3 Part 1, clauses 15.3.6 to 15.3.8).

use std::sync::Arc;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_request::UntypedReply;
use orbium_sync::lock::MutexGuard;

use super::{Objects, Poa, PoaCore, PoaError};
use crate::adapter::dispatch::forward::ServantError;
use crate::adapter::frames::{self, Frame};
use crate::adapter::managing::{Activating, ServantManager};
use crate::adapter::object::{ActiveObject, Adapter, Upcall};
use crate::adapter::{RequestProcessing, ThreadModel};
use crate::raises::DispatchError;
use orbium_adapter::{RegisteredAdapter, being_destroyed, no_such_object, would_wait_for_itself};

/// OBJ_ADAPTER with one of the standard's minor codes.
pub(super) fn obj_adapter(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::ObjAdapter, minor, Completion::No)
}

/// Runs `upcall` with `Current` set to that object.
fn within_frame<R>(object: &ActiveObject, upcall: impl FnOnce() -> R) -> R {
    let frame = Frame {
        adapter: Arc::clone(&object.adapter),
        id: object.id.clone(),
        servant: Some(Arc::clone(&object.servant)),
    };
    frames::within(frame, upcall)
}

/// Runs the servant of an object, with `Current` set to it.
fn run(
    object: &ActiveObject,
    reply: &mut UntypedReply<'_>,
    serve: &mut Upcall<'_>,
) -> Result<(), DispatchError> {
    within_frame(object, || serve(object, reply))
}

/// The source of the servant for the requests to an object.
enum Provided {
    /// The object itself: it is active.
    Itself,
    /// An object with the default servant, or one that was incarnated.
    Object(Arc<ActiveObject>),
    /// A servant locator, called for each request.
    Located(Arc<ServantManager>),
}

impl PoaCore {
    /// The turn of an upcall, if the adapter serves one request at a time.
    fn turn_of_upcall(&self) -> Option<orbium_sync::Taken<'_>> {
        let single = self.policies.thread_model == ThreadModel::SingleThread;
        single.then(|| self.turn.take())
    }

    /// Serves a request that was admitted.
    pub(super) fn serve(
        self: &Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        reply: &mut UntypedReply<'_>,
        serve: &mut Upcall<'_>,
    ) -> Result<(), DispatchError> {
        let _turn = self.turn_of_upcall();
        let served = match self.provided(object) {
            Ok(Provided::Itself) => return run(object, reply, serve),
            Ok(Provided::Object(object)) => return run(&object, reply, serve),
            // An exception of `postinvoke` replaces the answer.
            Ok(Provided::Located(manager)) => reply.keeping(|reply| {
                let mut upcall = |object: &ActiveObject| serve(object, reply);
                self.serve_located(&manager, object, operation, &mut upcall)
            }),
            Err(error) => Err(error),
        };
        match served {
            Ok(()) => Ok(()),
            Err(ServantError::Forward(forward)) => forward.answer(reply),
            Err(ServantError::System(exception)) => Err(exception.into()),
        }
    }

    /// Serves a collocated request that was admitted.
    pub(super) fn serve_in_place(
        self: &Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        upcall: &mut dyn FnMut(&ActiveObject),
    ) -> Result<(), ServantError> {
        let _turn = self.turn_of_upcall();
        match self.provided(object)? {
            Provided::Itself => within_frame(object, || upcall(object)),
            Provided::Object(object) => within_frame(&object, || upcall(&object)),
            Provided::Located(manager) => {
                let mut upcall = |object: &ActiveObject| {
                    upcall(object);
                    Ok(())
                };
                self.serve_located(&manager, object, operation, &mut upcall)?;
            }
        }
        Ok(())
    }

    /// The source of the servant for the requests to an object.
    fn provided(self: &Arc<Self>, object: &ActiveObject) -> Result<Provided, ServantError> {
        if !object.stands_in() {
            return Ok(Provided::Itself);
        }
        self.check_not_destroyed()?;
        if self.policies.request_processing == RequestProcessing::DefaultServant {
            let servant = self.default_servant().ok_or_else(|| obj_adapter(3))?;
            return Ok(Provided::Object(self.temporary(&object.id, servant)));
        }
        let manager = self.servant_manager().ok_or_else(|| obj_adapter(4))?;
        let ServantManager::Activator(activator) = &*manager else {
            return Ok(Provided::Located(manager));
        };
        let object = self.incarnated(&**activator, &object.id)?;
        Ok(Provided::Object(object))
    }

    /// Runs `upcall` between `preinvoke` and `postinvoke` of a servant locator.
    fn serve_located(
        self: &Arc<Self>,
        manager: &ServantManager,
        object: &ActiveObject,
        operation: &[u8],
        upcall: &mut dyn FnMut(&ActiveObject) -> Result<(), DispatchError>,
    ) -> Result<(), ServantError> {
        let ServantManager::Locator(locator) = manager else {
            return Err(obj_adapter(4).into());
        };
        let adapter: Arc<dyn Adapter> = self.clone();
        locator.invoke(&adapter, &object.id, operation, &mut |servant| {
            let object = self.temporary(&object.id, servant);
            within_frame(&object, || upcall(&object))
        })
    }

    /// The object with that id, incarnated if necessary.
    fn incarnated(
        self: &Arc<Self>,
        activator: &dyn Activating,
        id: &[u8],
    ) -> Result<Arc<ActiveObject>, ServantError> {
        let poa = Poa(Arc::clone(self));
        let adapter: Arc<dyn Adapter> = self.clone();
        if frames::is_within(&adapter, id) {
            // It was deactivated by its own request, or its servant is being made further down on
            // this same stack.
            return poa.active(id).ok_or_else(|| no_such_object().into());
        }
        let _turn = loop {
            drop(self.await_end_of(id)?);
            let turn = self.turn.take();
            if let Some(active) = poa.active(id) {
                return Ok(active);
            }
            if !self.lock().ending.contains_key(id) {
                break turn;
            }
        };
        let frame = Frame {
            adapter: adapter.clone(),
            id: id.into(),
            servant: None,
        };
        let servant = frames::within(frame, || activator.incarnate(&adapter, id))?;
        let slot = match poa.insert(Some(id.into()), &servant, self.settled_priority(id)) {
            Ok((slot, _)) => slot,
            // The activator has activated it itself.
            Err(PoaError::ObjectAlreadyActive) => {
                return poa.active(id).ok_or_else(|| no_such_object().into());
            }
            Err(PoaError::ServantAlreadyActive) => return Err(obj_adapter(5).into()),
            Err(_) => {
                // The adapter was destroyed while the servant was made.
                let object = self.temporary(id, servant);
                activator.etherealize(&object, true, false);
                return Err(being_destroyed().into());
            }
        };
        let active = self.adapters()?.registry.objects.get(slot);
        active.ok_or_else(|| being_destroyed().into())
    }

    /// Blocks while a deactivated object is not etherealized yet; returns the locked objects.
    ///
    /// # Errors
    /// BAD_INV_ORDER: this thread serves a request to it, or holds the turn in which that is done.
    pub(super) fn await_end_of(
        self: &Arc<Self>,
        id: &[u8],
    ) -> Result<MutexGuard<'_, Objects>, SystemException> {
        let mut objects = self.lock();
        if !objects.ending.contains_key(id) {
            return Ok(objects);
        }
        drop(objects);
        let adapter: Arc<dyn Adapter> = self.clone();
        if frames::is_within(&adapter, id) || self.turn.is_mine() {
            return Err(would_wait_for_itself());
        }
        orbium_sync::role::about_to_block();
        objects = self.lock();
        while objects.ending.contains_key(id) {
            objects = self.one_gone.wait(objects);
        }
        Ok(objects)
    }
}
