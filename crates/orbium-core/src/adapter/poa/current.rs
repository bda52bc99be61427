// SPDX-License-Identifier: MIT OR Apache-2.0
//! `PortableServer::Current`: the request of this thread, for code without access to the `Call`.

use std::fmt;
use std::sync::Arc;

use super::servant_managers::handle;
use super::{NoContext, Poa, PoaError};
use crate::adapter::frames::{self, Frame};
use crate::{IncarnatedObject, Interface, Servant};

/// The request that the calling thread serves (`PortableServer::Current`), valid while the thread
/// serves it. [`Policies::current`](crate::Policies::current) selects the adapters that support it.
#[derive(Clone)]
pub struct PoaCurrent(Frame);

impl PoaCurrent {
    /// The innermost request of this thread.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn get() -> Result<Self, NoContext> {
        frames::innermost().map(Self).ok_or(NoContext)
    }

    /// The adapter of the object called.
    #[must_use]
    pub fn poa(&self) -> Poa {
        handle(&self.0.adapter)
    }

    /// The id of the object called.
    #[must_use]
    pub fn object_id(&self) -> &[u8] {
        &self.0.id
    }

    /// The servant.
    ///
    /// # Errors
    /// [`NoContext`] while a servant activator incarnates the object.
    pub fn servant(&self) -> Result<Arc<dyn Servant>, NoContext> {
        self.0.servant.clone().ok_or(NoContext)
    }

    /// A reference to the object called.
    ///
    /// # Errors
    /// The ORB cannot listen; [`PoaError::ServantNotActive`] while a servant activator incarnates
    /// the object.
    pub fn reference<I: Interface>(&self) -> Result<I, PoaError> {
        let servant = self.0.servant.as_ref().ok_or(PoaError::ServantNotActive)?;
        let poa = self.poa();
        let interface = servant.interface_of(&IncarnatedObject::new(&self.0.id, &poa));
        let object = poa.make_reference(&self.0.id, &interface)?;
        Ok(I::from_object(object))
    }
}

impl fmt::Debug for PoaCurrent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaCurrent")
            .field("object_id", &self.0.id)
            .finish_non_exhaustive()
    }
}
