// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants of objects that are not in the map: the default servant, and the stand-in for an object
//! until its servant is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use orbium_cdr::CdrReader;
use orbium_lane::ASKED;
use orbium_request::UntypedReply;
use orbium_sync::lock::Mutex;

use super::{Poa, PoaCore, PoaError};
use crate::adapter::managing::ServantManager;
use crate::adapter::{ActiveObject, RequestProcessing};
use crate::raises::{DispatchError, unknown_operation};
use crate::{Call, Interface, OBJECT_REPOSITORY_ID, Servant, ServedBy};
use orbium_adapter::object_key::NO_HINT;

/// The servant of a stand-in; it never receives a request.
pub(super) struct Vacant;

impl Servant for Vacant {
    fn repository_id(&self) -> &'static str {
        OBJECT_REPOSITORY_ID
    }

    fn is_a(&self, _: &str) -> bool {
        false
    }

    fn dispatch(
        &self,
        _: &Call<'_>,
        _: &mut CdrReader<'_>,
        _: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        Err(unknown_operation())
    }
}

impl PoaCore {
    /// The object of one request.
    pub(super) fn temporary(
        self: &Arc<Self>,
        id: &[u8],
        servant: Arc<dyn Servant>,
    ) -> Arc<ActiveObject> {
        self.lock().alive += 1;
        Arc::new(ActiveObject {
            id: id.into(),
            servant,
            manager: self.manager.clone(),
            stamp: self.stamp,
            slot: NO_HINT,
            lane: ASKED.into(),
            priority: self.settled_priority(id),
            adapter: Arc::<Self>::clone(self),
            end: AtomicU8::new(0),
        })
    }

    /// The servant manager, if one is set.
    pub(super) fn servant_manager(&self) -> Option<Arc<ServantManager>> {
        self.servant_manager.lock().clone()
    }

    /// Drops the servants and managers set by the user, once the adapter is gone and no request is
    /// in progress: references in them may hold the ORB.
    pub(super) fn release(&self) {
        // `forget` stores `gone`, then reads `alive` under the lock; the end of the last
        // request decrements `alive` under it, then loads `gone`. The lock orders the two:
        // whichever is later passes.
        if !self.gone.load(Ordering::Acquire) || self.lock().alive > 0 {
            return;
        }
        fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
            place.lock().take()
        }
        // Dropped without the locks.
        drop(take(&self.servant_manager));
        drop(take(&self.default_servant));
        drop(take(&self.activator));
    }

    /// The default servant, if one is set.
    pub(super) fn default_servant(&self) -> Option<Arc<dyn Servant>> {
        self.default_servant.lock().clone()
    }
}

/// Wraps the implementation of an interface as a [`Servant`](crate::Servant), for servant managers
/// and default servants.
///
/// ```
/// use orbium_core::{Call, SystemException, idl_interface, servant_of};
///
/// idl_interface! {
///     /// A greeter.
///     pub struct Greeter = "IDL:Hello/Greeter:1.0";
///     operations by_octet(0, 103, &[0]);
///     pub trait GreeterServant;
///
///     fn greet(name: &str) -> Result<String> = "greet";
/// }
///
/// struct Polite;
/// impl GreeterServant for Polite {
///     fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
///         Ok(format!("Hello, {name}!"))
///     }
/// }
///
/// let servant = servant_of::<Greeter, _>(Polite);
/// assert_eq!(servant.repository_id(), "IDL:Hello/Greeter:1.0");
/// ```
pub fn servant_of<I: ServedBy<S> + Interface, S>(servant: S) -> Arc<dyn Servant> {
    Arc::new(I::skeleton(servant))
}

impl Poa {
    /// The servant of all objects that are not in the map.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_DEFAULT_SERVANT, [`PoaError::NoServant`].
    pub fn get_servant(&self) -> Result<Arc<dyn Servant>, PoaError> {
        self.check_default_servant()?;
        self.0.default_servant().ok_or(PoaError::NoServant)
    }

    /// Sets the servant of all objects that are not in the map; any number of times.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_DEFAULT_SERVANT.
    pub fn set_servant(&self, servant: Arc<dyn Servant>) -> Result<(), PoaError> {
        self.check_default_servant()?;
        let mut default = self.0.default_servant.lock();
        let before = default.replace(servant);
        drop(default);
        // Dropped without the lock: the servant's own code may run here.
        drop(before);
        Ok(())
    }

    fn check_default_servant(&self) -> Result<(), PoaError> {
        self.0.adapters()?;
        match self.0.policies.request_processing {
            RequestProcessing::DefaultServant => Ok(()),
            _ => Err(PoaError::WrongPolicy),
        }
    }
}
