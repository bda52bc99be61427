// SPDX-License-Identifier: MIT OR Apache-2.0
//! The adapter and the reference of the object that a request calls.

use orbium_giop::SystemException;

use super::Poa;
use super::servant_managers::handle;
use crate::adapter::object::ActiveObject;
use crate::{Call, IncarnatedObject, Interface, RequestInfo};
use orbium_request::Target;

/// The object of a request, found by an adapter.
pub(crate) fn active(target: &dyn Target) -> &ActiveObject {
    match target.as_any().downcast_ref() {
        Some(object) => object,
        None => unreachable!("requests are dispatched to active objects alone"),
    }
}

impl ActiveObject {
    pub(crate) fn poa(&self) -> Poa {
        handle(&self.adapter)
    }
}

impl Call<'_> {
    /// The adapter that the object is active in.
    #[must_use]
    pub fn poa(&self) -> Poa {
        active(self.object).poa()
    }

    /// A reference to the object called.
    ///
    /// # Errors
    /// The ORB cannot listen.
    pub fn this<I: Interface>(&self) -> Result<I, SystemException> {
        active(self.object).reference().map(I::from_object)
    }
}

impl IncarnatedObject<'_> {
    /// The adapter of the object.
    #[must_use]
    pub fn poa(&self) -> Poa {
        match self.poa.downcast_ref::<Poa>() {
            Some(poa) => poa.clone(),
            None => unreachable!("objects are incarnated in adapters alone"),
        }
    }
}

impl RequestInfo<'_> {
    /// The adapter that the object is active in.
    #[must_use]
    pub fn poa(&self) -> Poa {
        active(self.object).poa()
    }
}
