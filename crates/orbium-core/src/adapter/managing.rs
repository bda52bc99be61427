// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant managers and adapter activators as called by the adapters.

use std::sync::Arc;

use orbium_giop::SystemException;

use crate::Servant;
use crate::adapter::ActiveObject;
use crate::adapter::dispatch::forward::{ForwardRequest, ServantError};
use crate::adapter::object::Adapter;
use crate::raises::DispatchError;

/// The upcall to the servant that a locator has found.
pub(crate) type LocatedUpcall<'u> = dyn FnMut(Arc<dyn Servant>) -> Result<(), DispatchError> + 'u;

/// A servant manager, of either kind.
pub(crate) enum ServantManager {
    Activator(Box<dyn Activating>),
    Locator(Box<dyn Locating>),
}

/// A servant activator.
pub(crate) trait Activating: Send + Sync {
    fn incarnate(
        &self,
        adapter: &Arc<dyn Adapter>,
        id: &[u8],
    ) -> Result<Arc<dyn Servant>, ServantError>;

    /// `cleans_up` and `remains` are the flags of `etherealize`.
    fn etherealize(&self, object: &ActiveObject, cleans_up: bool, remains: bool);

    fn locate(&self, adapter: &Arc<dyn Adapter>, id: &[u8]) -> Option<ForwardRequest>;
}

/// A servant locator.
pub(crate) trait Locating: Send + Sync {
    /// Calls `preinvoke`, `upcall` and `postinvoke`.
    fn invoke(
        &self,
        adapter: &Arc<dyn Adapter>,
        id: &[u8],
        operation: &[u8],
        upcall: &mut LocatedUpcall<'_>,
    ) -> Result<(), ServantError>;

    fn locate(&self, adapter: &Arc<dyn Adapter>, id: &[u8]) -> Option<ForwardRequest>;
}

/// An adapter activator.
pub(crate) trait Creating: Send + Sync {
    fn unknown_adapter(
        &self,
        parent: &Arc<dyn Adapter>,
        name: &str,
    ) -> Result<bool, SystemException>;
}
