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
    /// Components of the references of an object that was given a priority of
    /// its own, or of any other.
    fn components(&self, priority: Option<Priority>) -> Vec<TaggedComponent>;

    /// The priority that an object with that id is to have, if that was settled
    /// when a reference to it was made.
    fn settled_priority(&self, object_id: &[u8]) -> Option<Priority>;

    /// A request has arrived, and no hook has said where it is served: as
    /// [`DispatchHook::arrived`](crate::DispatchHook::arrived).
    fn place(&self, request: &RequestInfo<'_>) -> Dispatch;

    /// Serves a request: calls `serve` once, or refuses.
    ///
    /// # Errors
    /// What `serve` said, or why the request is refused.
    fn upcall(
        &self,
        call: &Call<'_>,
        serve: &mut dyn FnMut() -> Result<(), DispatchError>,
    ) -> Result<(), DispatchError>;

    /// A client asks for a connection for requests of these priorities.
    ///
    /// # Errors
    /// INV_POLICY if they do not suit the adapter.
    fn bind_band(&self, band: PriorityBand) -> Result<(), SystemException>;

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// An [`AdapterExtension`] among the policies of an adapter. Two are equal if
/// they are the same.
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
