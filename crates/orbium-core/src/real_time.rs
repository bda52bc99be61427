// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extension interface for Real-time CORBA: the additions of a layer above (`orbium-rt`) to an
//! adapter, and their installation.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use orbium_giop::real_time::PriorityBand;
use orbium_giop::{SystemException, TaggedComponent};

use orbium_invocation::{Priority, RealTime};

use crate::{Call, Dispatch, DispatchError, Orb, RequestInfo};

/// Extension of an adapter.
pub trait AdapterExtension: fmt::Debug + Send + Sync + 'static {
    /// Components of the references of an object with the priority assigned to it, or of an object
    /// without one.
    fn components(&self, priority: Option<Priority>) -> Vec<TaggedComponent>;

    /// The priority of an object with that id, if it was fixed when a reference to it was made.
    fn settled_priority(&self, object_id: &[u8]) -> Option<Priority>;

    /// Decides about a request that has arrived and that no hook has routed: as
    /// [`DispatchHook::arrived`](crate::DispatchHook::arrived).
    fn place(&self, request: &RequestInfo<'_>) -> Dispatch;

    /// Serves a request: calls `serve` once, or refuses.
    ///
    /// # Errors
    /// The error of `serve`, or the reason for the refusal.
    fn upcall(
        &self,
        call: &Call<'_>,
        serve: &mut dyn FnMut() -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError>;

    /// A client requests a connection for requests of these priorities.
    ///
    /// # Errors
    /// INV_POLICY if the adapter does not accept them.
    fn bind_band(&self, band: PriorityBand) -> Result<(), SystemException>;

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// An [`AdapterExtension`] as a policy of an adapter. Extensions are compared by identity.
#[derive(Clone)]
pub struct Extension(pub Arc<dyn AdapterExtension>);

orbium_invocation::equal_if_same!(Extension);

impl fmt::Debug for Extension {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Orb {
    /// Installs the real-time extension, which provides the priorities of calls; `false`
    /// if another one is installed already.
    #[inline]
    pub fn install_real_time(&self, real_time: Arc<dyn RealTime>) -> bool {
        self.client().install_real_time(real_time)
    }

    /// The real-time extension, if one is installed.
    #[must_use]
    #[inline]
    pub fn real_time(&self) -> Option<&Arc<dyn RealTime>> {
        self.client().real_time()
    }
}
