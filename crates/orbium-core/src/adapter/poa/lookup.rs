// SPDX-License-Identifier: MIT OR Apache-2.0
//! The POA as seen by requests: policies, state, and look-ups of objects.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use orbium_giop::SystemException;
use orbium_interceptor::OrbIdentity;
use orbium_sync::SlotKey;

use orbium_invocation::Expiry;
use orbium_request::UntypedReply;

use super::servants::Vacant;
use super::{Poa, PoaCore};
use crate::adapter::dispatch::forward::{ForwardRequest, ServantError};
use crate::adapter::managing::ServantManager;
use crate::adapter::object::{ActiveObject, Adapter, Upcall};
use crate::adapter::{Adapters, Lifespan, ManagerState, RequestProcessing, ThreadModel};
use crate::raises::DispatchError;
use crate::{Extension, ObjectRef, Policies, Priority, Servant};
use orbium_adapter::{RegisteredAdapter, being_destroyed, no_such_adapter};

impl PoaCore {
    #[inline]
    pub(super) fn extension(&self) -> Option<&Extension> {
        self.policies.extension.as_ref()
    }

    /// The priority of an object, if it is fixed.
    #[inline]
    pub(super) fn settled_priority(&self, id: &[u8]) -> Option<Priority> {
        self.extension()?.0.settled_priority(id)
    }
}

impl RegisteredAdapter<ActiveObject> for PoaCore {
    fn check_not_destroyed(&self) -> Result<(), SystemException> {
        if !self.destroyed.load(Ordering::Acquire) {
            Ok(())
        } else if self.gone.load(Ordering::Acquire) {
            Err(no_such_adapter())
        } else {
            Err(being_destroyed())
        }
    }

    fn child(&self, name: &str) -> Option<Arc<dyn RegisteredAdapter<ActiveObject>>> {
        let child = self.child_named(name)?;
        // Its activator may still be running.
        let activating = self.is_being_activated(name);
        let is_ready = activating.is_none_or(|it| it == thread::current().id());
        is_ready.then_some(child.0 as Arc<dyn RegisteredAdapter<ActiveObject>>)
    }

    fn may_get_children(&self) -> bool {
        self.has_activator() || self.manager.state() == ManagerState::Holding
    }

    fn activates(
        self: Arc<Self>,
        name: &str,
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<bool, SystemException> {
        let _serving = match self.manager.enter() {
            Some(serving) => serving,
            None => self
                .manager
                .enter_slowly(&self.destroyed, expiry, operation)?,
        };
        self.activate_child(name)
    }

    fn serves(&self, persistent: bool, stamp: u64) -> bool {
        self.serves(persistent, stamp)
    }

    fn slot_of(&self, id: &[u8]) -> Option<SlotKey> {
        self.slot_of(id)
    }

    fn stand_in(self: Arc<Self>, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let vacant: Arc<dyn Servant> = match self.policies.request_processing {
            RequestProcessing::ActiveObjectMapOnly => return None,
            RequestProcessing::DefaultServant => match self.default_servant() {
                Some(servant) => servant,
                None => Arc::new(Vacant),
            },
            RequestProcessing::ServantManager => Arc::new(Vacant),
        };
        Some(self.temporary(id, vacant))
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Adapter for PoaCore {
    fn path_text(&self) -> String {
        self.path_text()
    }

    fn policies(&self) -> &Policies {
        &self.policies
    }

    fn identity(&self) -> Arc<OrbIdentity> {
        self.identity()
    }

    fn is_destroyed(&self) -> &AtomicBool {
        &self.destroyed
    }

    fn reference_to(&self, object: &ActiveObject) -> Result<ObjectRef, SystemException> {
        let at = (&*object.id, object.slot);
        self.reference(at, &object.interface(), object.priority)
    }

    fn object_gone(&self, object: &ActiveObject) {
        if self.policies.etherealizes() && !object.stands_in() {
            self.etherealize(object);
        }
        self.lock().alive -= 1;
        self.one_gone.notify_all();
        self.release();
    }

    fn upcall(
        self: Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        reply: &mut UntypedReply<'_>,
        serve: &mut Upcall<'_>,
    ) -> Result<(), DispatchError> {
        self.serve(object, operation, reply, serve)
    }

    fn within_upcall(
        self: Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        upcall: &mut dyn FnMut(&ActiveObject),
    ) -> Result<(), ServantError> {
        self.serve_in_place(object, operation, upcall)
    }

    fn is_taken_by_this_thread(&self) -> bool {
        self.policies.thread_model == ThreadModel::SingleThread && self.turn.is_mine()
    }

    fn located(self: Arc<Self>, id: &[u8]) -> Option<ForwardRequest> {
        let manager = self.servant_manager()?;
        if self.manager.state() != ManagerState::Active {
            return None;
        }
        let adapter: Arc<dyn Adapter> = self.clone();
        let located = catch_unwind(AssertUnwindSafe(|| match &*manager {
            ServantManager::Activator(it) => it.locate(&adapter, id),
            ServantManager::Locator(it) => it.locate(&adapter, id),
        }));
        // A panic is repeated when the object is called.
        located.ok().flatten()
    }
}

impl PoaCore {
    /// Whether this adapter may serve a key of that lifespan and stamp.
    pub(crate) fn serves(&self, persistent: bool, stamp: u64) -> bool {
        match self.policies.lifespan {
            Lifespan::Persistent => persistent,
            Lifespan::Transient => !persistent && self.stamp == stamp,
        }
    }

    /// The slot of the active object with an id.
    fn slot_of(&self, id: &[u8]) -> Option<SlotKey> {
        self.lock().by_id.get(id).copied()
    }
}

impl Adapters {
    /// The root adapter, set before the ORB is complete.
    pub(crate) fn root(&self) -> Option<Poa> {
        Poa::of(self.registry.root.get()?)
    }

    /// Sets the root adapter, once.
    pub(crate) fn begin(&self, root: Poa) {
        // The ORB is not shared yet, so the cell is still empty.
        let _ = self.registry.root.set(root.0);
    }
}

impl Poa {
    /// The adapter behind the trait object of objects and the registry.
    pub(crate) fn of<A: RegisteredAdapter<ActiveObject> + ?Sized>(
        adapter: &Arc<A>,
    ) -> Option<Self> {
        let core = Arc::clone(adapter).into_any().downcast::<PoaCore>();
        core.ok().map(Self)
    }

    #[inline]
    pub(super) fn active(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let slot = self.0.slot_of(id)?;
        self.0.adapters.upgrade()?.registry.objects.get(slot)
    }

    /// The number of active objects.
    pub(crate) fn object_count(&self) -> usize {
        self.0.lock().by_id.len()
    }

    /// The ids of up to `most` active objects, and whether there are more.
    pub(crate) fn first_ids(&self, most: usize) -> (Vec<Box<[u8]>>, bool) {
        let objects = self.0.lock();
        let ids = objects.by_id.keys().take(most).cloned().collect();
        (ids, objects.by_id.len() > most)
    }

    /// The interface of the active object with an id.
    pub(crate) fn interface_of(&self, id: &[u8]) -> Option<String> {
        Some(self.active(id)?.interface().into_owned())
    }
}
