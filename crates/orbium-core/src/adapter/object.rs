// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object in the active object map.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use orbium_giop::SystemException;
use orbium_interceptor::server::InterceptedObject;
use orbium_interceptor::{OrbIdentity, Policy};
use orbium_sync::SlotKey;

use crate::adapter::dispatch::forward::{ForwardRequest, ServantError};
use crate::raises::DispatchError;
use orbium_adapter::object_key::NO_HINT;
use orbium_adapter::{RegisteredAdapter, RegisteredObject, Serving};
use orbium_invocation::Expiry;
use orbium_request::UntypedReply;

use crate::adapter::{ManagerState, PoaManager, Policies};
use crate::{Extension, IncarnatedObject, OBJECT_REPOSITORY_ID, ObjectRef, Priority, Servant};
use orbium_request::Target;

/// An object adapter as seen by its objects.
pub(crate) trait Adapter: RegisteredAdapter<ActiveObject> {
    /// Its path in introspection: `RootPOA/child`.
    fn path_text(&self) -> String;

    fn policies(&self) -> &Policies;

    /// The identity of its ORB.
    fn identity(&self) -> Arc<OrbIdentity>;

    fn is_destroyed(&self) -> &AtomicBool;

    /// The reference to an object of this adapter.
    fn reference_to(&self, object: &ActiveObject) -> Result<ObjectRef, SystemException>;

    /// Called after the last request on a deactivated object has ended.
    fn object_gone(&self, object: &ActiveObject);

    /// Serves a request by the policies of the adapter; `serve` runs the servant of the object that
    /// it gets.
    fn upcall(
        self: Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        reply: &mut UntypedReply<'_>,
        serve: &mut Upcall<'_>,
    ) -> Result<(), DispatchError>;

    /// Runs `upcall` with the object that serves a request without a message: that object, or a
    /// substitute that the adapter finds. An adapter that serves one request at a time serializes
    /// it.
    ///
    /// # Errors
    /// The adapter finds no servant, or its servant locator fails once the servant has returned.
    fn within_upcall(
        self: Arc<Self>,
        object: &ActiveObject,
        operation: &[u8],
        upcall: &mut dyn FnMut(&ActiveObject),
    ) -> Result<(), ServantError>;

    /// Whether the calling thread holds the lock of an adapter that serves one request at a time.
    fn is_taken_by_this_thread(&self) -> bool;

    /// The reference to which clients that locate an object are forwarded, if its servant manager
    /// forwards them.
    fn located(self: Arc<Self>, id: &[u8]) -> Option<ForwardRequest>;
}

/// Runs the servant of an object.
pub(crate) type Upcall<'u> =
    dyn FnMut(&ActiveObject, &mut UntypedReply<'_>) -> Result<(), DispatchError> + 'u;

/// Flag of the deactivation of an object: `etherealize` is called for it.
pub(crate) const ETHEREALIZED: u8 = 1;
/// Flag of the deactivation: `etherealize` gets `cleanup_in_progress`.
pub(crate) const CLEANED_UP: u8 = 2;

/// An active object: id, servant, and the adapter it is active in.
pub(crate) struct ActiveObject {
    pub(crate) id: Box<[u8]>,
    pub(crate) servant: Arc<dyn Servant>,
    pub(super) manager: PoaManager,
    /// Distinguishes keys of this adapter from those of an earlier one at its path.
    pub(crate) stamp: u64,
    pub(crate) slot: SlotKey,
    /// Number of the lane that serves all its requests, or the number for no lane. The first field
    /// read for a request.
    pub(super) lane: AtomicU32,
    /// Its own priority, if it was assigned one.
    pub(crate) priority: Option<Priority>,
    pub(super) adapter: Arc<dyn Adapter>,
    /// The flags of its deactivation.
    pub(super) end: AtomicU8,
}

impl RegisteredObject for ActiveObject {
    #[inline]
    fn stamp(&self) -> u64 {
        self.stamp
    }
}

impl InterceptedObject for ActiveObject {
    fn object_id(&self) -> &[u8] {
        &self.id
    }

    fn adapter(&self) -> (String, u64) {
        (self.adapter_path(), self.stamp)
    }

    fn identity(&self) -> Arc<OrbIdentity> {
        self.adapter.identity()
    }

    fn is_incarnated(&self) -> bool {
        !self.stands_in()
    }

    fn repository_id(&self) -> Cow<'_, str> {
        self.interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.has_interface(repository_id)
    }

    fn known_operation(&self, operation: &[u8]) -> Option<&'static str> {
        self.known_operation(operation)
    }

    fn defined_policies(&self) -> &[Policy] {
        &self.adapter.policies().defined
    }
}

impl ActiveObject {
    /// The number of the lane that serves all its requests, or the number for no lane.
    #[inline(always)]
    pub(crate) fn lane(&self) -> u32 {
        // It guards no data: a request with the number of another lane is routed.
        self.lane.load(Ordering::Relaxed)
    }

    /// Assigns all its requests to the lane with that number.
    pub(crate) fn serve_in(&self, lane: u32) {
        self.lane.store(lane, Ordering::Relaxed);
    }

    /// Whether it is in no map: it stands in for the object of one request.
    pub(crate) fn stands_in(&self) -> bool {
        self.slot == NO_HINT
    }

    /// The path of its adapter in introspection.
    pub(crate) fn adapter_path(&self) -> String {
        self.adapter.path_text()
    }

    /// Repository id of its most derived interface.
    pub(crate) fn interface(&self) -> Cow<'_, str> {
        let poa = self.poa();
        self.servant
            .interface_of(&IncarnatedObject::new(&self.id, &poa))
    }

    /// Whether it has that interface.
    pub(crate) fn has_interface(&self, repository_id: &str) -> bool {
        repository_id == OBJECT_REPOSITORY_ID
            || self
                .servant
                .object_is_a(&IncarnatedObject::new(&self.id, &self.poa()), repository_id)
    }

    /// The policies of its adapter.
    pub(crate) fn policies(&self) -> &Policies {
        self.adapter.policies()
    }

    /// The extension of its adapter.
    #[inline]
    pub(crate) fn extension(&self) -> Option<&Extension> {
        self.adapter.policies().extension.as_ref()
    }

    /// Enters a request on the object if that is possible at once.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Serving<'_>> {
        self.manager.enter()
    }

    /// As `enter`, blocking while requests are held.
    #[cold]
    pub(crate) fn enter_slowly(
        &self,
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<Serving<'_>, SystemException> {
        let destroyed = self.adapter.is_destroyed();
        self.manager.enter_slowly(destroyed, expiry, operation)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.manager.state() == ManagerState::Holding
    }

    /// Whether its manager serves requests.
    pub(crate) fn is_active(&self) -> bool {
        self.manager.state() == ManagerState::Active
    }

    #[inline]
    pub(crate) fn reference(&self) -> Result<ObjectRef, SystemException> {
        self.adapter.reference_to(self)
    }
}

impl Target for ActiveObject {
    fn priority(&self) -> Option<Priority> {
        self.priority
    }

    fn adapter(&self) -> usize {
        Arc::as_ptr(&self.adapter).addr()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for ActiveObject {
    /// The last request on a deactivated object has ended.
    fn drop(&mut self) {
        self.adapter.object_gone(self);
    }
}

impl fmt::Debug for ActiveObject {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveObject")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
