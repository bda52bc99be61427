// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant managers: what makes servants when their objects are called
//! (CORBA 3.3 Part 1, clauses 15.3.4 to 15.3.6).

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

/// Makes servants for the objects of an adapter that retains them, and takes them back.
///
/// Calls for one adapter never overlap. A panic is answered with UNKNOWN. While one runs, its thread
/// cannot wait for another object to be etherealized: it gets BAD_INV_ORDER 3 where it activates or calls one
/// that was deactivated and still serves a request.
pub trait ServantActivator: Send + Sync + 'static {
    /// Makes the servant of an object that is not active. It becomes active, and this
    /// request and all further ones go to it.
    ///
    /// # Errors
    /// The client is sent to another object, or receives an exception; the object stays
    /// inactive.
    fn incarnate(&self, object_id: &[u8], poa: &Poa) -> Result<Arc<dyn Servant>, ServantError>;

    /// Takes the servant of an object back after its last request. `cleanup_in_progress`:
    /// its adapter ends, or the manager was deactivated; `remaining_activations`: the
    /// servant also incarnates other objects of this adapter. Objects that were activated in
    /// other ways end here too. Default: drops it.
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

    /// Where a client that only locates an object that is not active is sent, if it is not
    /// here. It runs on the thread that reads the connection, so it must not block.
    /// Default: the object is here.
    fn locate(&self, object_id: &[u8], poa: &Poa) -> Option<ForwardRequest> {
        let _ = (object_id, poa);
        None
    }
}

/// Finds the servant for each request to an adapter that does not retain them.
///
/// Calls overlap, as requests do. A panic is answered with UNKNOWN.
pub trait ServantLocator: Send + Sync + 'static {
    /// What `preinvoke` hands to the `postinvoke` of the same request.
    type Cookie;

    /// Finds the servant of a request.
    ///
    /// # Errors
    /// The client is sent to another object, or receives an exception; `postinvoke` is not
    /// called then.
    fn preinvoke(
        &self,
        object_id: &[u8],
        poa: &Poa,
        operation: &[u8],
    ) -> Result<(Arc<dyn Servant>, Self::Cookie), ServantError>;

    /// The servant has served the request, or panicked: on the same thread, before the
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
    /// Sets what makes servants for objects that are not active (`set_servant_manager` with
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

    /// Sets what finds the servant of each request (`set_servant_manager` with
    /// NON_RETAIN).
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
