// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant managers: incarnation of objects on demand (CORBA 3.3 Part 1, clauses 15.3.4 to 15.3.6).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use orbium_giop::{Completion, ExceptionKind, SystemException};

use super::upcall::obj_adapter;
use super::{Poa, PoaError};
use crate::Servant;
use crate::adapter::RequestProcessing;
use crate::adapter::dispatch::forward::{ForwardRequest, ServantError};
use crate::adapter::managing::{Activating, LocatedUpcall, Locating, ServantManager};
use crate::adapter::object::{ActiveObject, Adapter};

/// Incarnates the objects of an adapter that retains servants, and etherealizes them.
///
/// Calls for one adapter never overlap. A panic is answered with UNKNOWN. During a call, its thread
/// cannot wait for the etherealization of another object: activating or calling an object that was
/// deactivated and still serves a request raises BAD_INV_ORDER 3.
pub trait ServantActivator: Send + Sync + 'static {
    /// Makes the servant of an object that is not active. The object becomes active, and the
    /// servant serves this and all further requests.
    ///
    /// # Errors
    /// The client is forwarded to another object, or receives an exception; the object stays
    /// inactive.
    fn incarnate(&self, object_id: &[u8], poa: &Poa) -> Result<Arc<dyn Servant>, ServantError>;

    /// Receives the servant of an object after its last request. `cleanup_in_progress`: the adapter
    /// is being destroyed, or the manager was deactivated; `remaining_activations`: the servant
    /// also incarnates other objects of this adapter. Called also for objects activated in other
    /// ways. Default: drops the servant.
    fn etherealize(
        &self,
        object_id: &[u8],
        poa: &Poa,
        servant: Arc<dyn Servant>,
        cleanup_in_progress: bool,
        remaining_activations: bool,
    ) {
        let _ = (object_id, poa, cleanup_in_progress, remaining_activations);
        drop(servant);
    }

    /// The reference to which a client that locates an inactive object is forwarded, if the object
    /// is not here. It runs on the thread that reads the connection, so it must not block. Default:
    /// the object is here.
    fn locate(&self, object_id: &[u8], poa: &Poa) -> Option<ForwardRequest> {
        let _ = (object_id, poa);
        None
    }
}

/// Finds the servant for each request to an adapter that does not retain servants.
///
/// Calls overlap, as requests do. A panic is answered with UNKNOWN.
pub trait ServantLocator: Send + Sync + 'static {
    /// State that `preinvoke` passes to the `postinvoke` of the same request.
    type Cookie;

    /// Finds the servant of a request.
    ///
    /// # Errors
    /// The client is forwarded to another object, or receives an exception; `postinvoke` is not
    /// called then.
    fn preinvoke(
        &self,
        object_id: &[u8],
        poa: &Poa,
        operation: &[u8],
    ) -> Result<(Arc<dyn Servant>, Self::Cookie), ServantError>;

    /// Called after the servant has served the request or panicked: on the same thread, before the
    /// client is answered. Default: drops both.
    ///
    /// # Errors
    /// The client receives this exception instead of the servant's answer.
    fn postinvoke(
        &self,
        object_id: &[u8],
        poa: &Poa,
        operation: &[u8],
        cookie: Self::Cookie,
        servant: Arc<dyn Servant>,
    ) -> Result<(), SystemException> {
        let _ = (object_id, poa, operation);
        drop((cookie, servant));
        Ok(())
    }

    /// As [`ServantActivator::locate`].
    fn locate(&self, object_id: &[u8], poa: &Poa) -> Option<ForwardRequest> {
        let _ = (object_id, poa);
        None
    }
}

/// The handle of an adapter.
pub(super) fn handle(adapter: &Arc<dyn Adapter>) -> Poa {
    match Poa::of(adapter) {
        Some(poa) => poa,
        None => unreachable!("a POA is the only adapter"),
    }
}

struct Activator<A>(A);

impl<A: ServantActivator> Activating for Activator<A> {
    fn incarnate(
        &self,
        adapter: &Arc<dyn Adapter>,
        id: &[u8],
    ) -> Result<Arc<dyn Servant>, ServantError> {
        self.0.incarnate(id, &handle(adapter))
    }

    fn etherealize(&self, object: &ActiveObject, cleans_up: bool, remains: bool) {
        let (poa, servant) = (handle(&object.adapter), Arc::clone(&object.servant));
        self.0
            .etherealize(&object.id, &poa, servant, cleans_up, remains);
    }

    fn locate(&self, adapter: &Arc<dyn Adapter>, id: &[u8]) -> Option<ForwardRequest> {
        self.0.locate(id, &handle(adapter))
    }
}

struct Locator<L>(L);

impl<L: ServantLocator> Locating for Locator<L> {
    fn invoke(
        &self,
        adapter: &Arc<dyn Adapter>,
        id: &[u8],
        operation: &[u8],
        upcall: &mut LocatedUpcall<'_>,
    ) -> Result<(), ServantError> {
        let poa = handle(adapter);
        let (servant, cookie) = self.0.preinvoke(id, &poa, operation)?;
        let served = catch_unwind(AssertUnwindSafe(|| upcall(Arc::clone(&servant))));
        let after = self.0.postinvoke(id, &poa, operation, cookie, servant);
        let served = served.unwrap_or_else(|panic| resume_unwind(panic));
        after?;
        served.map_err(|error| error.exception().into())
    }

    fn locate(&self, adapter: &Arc<dyn Adapter>, id: &[u8]) -> Option<ForwardRequest> {
        self.0.locate(id, &handle(adapter))
    }
}

impl Poa {
    /// Sets the servant activator, which incarnates inactive objects (`set_servant_manager` with
    /// RETAIN).
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_SERVANT_MANAGER; BAD_INV_ORDER 6 the second
    /// time; OBJ_ADAPTER 4 with NON_RETAIN.
    pub fn set_servant_activator(&self, activator: impl ServantActivator) -> Result<(), PoaError> {
        self.set_manager(true, || {
            ServantManager::Activator(Box::new(Activator(activator)))
        })
    }

    /// Sets the servant locator, which finds the servant of each request (`set_servant_manager`
    /// with NON_RETAIN).
    ///
    /// # Errors
    /// As [`Poa::set_servant_activator`]; OBJ_ADAPTER 4 with RETAIN.
    pub fn set_servant_locator(&self, locator: impl ServantLocator) -> Result<(), PoaError> {
        self.set_manager(false, || {
            ServantManager::Locator(Box::new(Locator(locator)))
        })
    }

    /// Whether a servant manager is set.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_SERVANT_MANAGER.
    pub fn has_servant_manager(&self) -> Result<bool, PoaError> {
        self.0.adapters()?;
        match self.0.policies.request_processing {
            RequestProcessing::ServantManager => Ok(self.0.servant_manager().is_some()),
            _ => Err(PoaError::WrongPolicy),
        }
    }

    fn set_manager(
        &self,
        retains: bool,
        manager: impl FnOnce() -> ServantManager,
    ) -> Result<(), PoaError> {
        self.has_servant_manager()?;
        if self.0.policies.retains() != retains {
            return Err(obj_adapter(4).into());
        }
        let mut place = self.0.servant_manager.lock();
        if place.is_some() {
            return Err(SystemException::omg(ExceptionKind::BadInvOrder, 6, Completion::No).into());
        }
        *place = Some(Arc::new(manager()));
        Ok(())
    }
}
