// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where Real-time CORBA takes hold of an ORB: what a layer above
//! (`orbium-rt`) is asked, and what it can add to an adapter.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use orbium_giop::real_time::PriorityBand;
use orbium_giop::{SystemException, TaggedComponent};

use crate::{Call, Dispatch, DispatchError, Orb, Priority, ProtocolProperties, RequestInfo};

/// How what is sent at a priority is marked for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkMark {
    /// The differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// The priority among this host's queues; above 6 it needs privileges.
    pub socket_priority: Option<u32>,
}

impl NetworkMark {
    /// The properties with this mark.
    pub(crate) fn on(self, properties: ProtocolProperties) -> ProtocolProperties {
        ProtocolProperties {
            dscp: Some(self.dscp),
            socket_priority: self.socket_priority.or(properties.socket_priority),
            ..properties
        }
    }
}

/// What an ORB asks when a reference has to do with priorities. Calls through
/// other references ask nothing.
pub trait RealTime: Send + Sync + 'static {
    /// The priority that a call of this thread goes out at; `None` if it has
    /// none.
    ///
    /// # Errors
    /// DATA_CONVERSION 2 if the thread's native priority means none.
    fn outgoing(&self, object_key: &[u8]) -> Result<Option<Priority>, SystemException>;

    /// Whether this thread serves a request, and what it calls goes out as
    /// [`outgoing`](Self::outgoing) says of such calls.
    fn is_serving(&self) -> bool;

    /// Runs `work`, once, as a thread that serves a request would: for one that
    /// does, but left a call to others.
    fn while_serving(&self, work: &mut dyn FnMut());

    /// How requests of a priority are marked for the network; `None` leaves
    /// that to the protocol properties.
    fn network_mark(&self, priority: Priority) -> Option<NetworkMark>;

    /// What the ORB's calls ask of their connections, unless a reference asks
    /// itself.
    fn connections(&self) -> ConnectionWishes;

    /// Gives a new thread of the ORB a priority, the native one too: it is to
    /// process replies for callers that have it.
    ///
    /// # Errors
    /// DATA_CONVERSION 2 without a native priority; NO_PERMISSION if the host does
    /// not allow it.
    fn begin_thread(&self, priority: Priority) -> Result<(), SystemException>;

    /// The ORB has ended: nothing is served any more.
    fn end(&self);

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// How calls share connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionWishes {
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<Arc<[PriorityBand]>>,
    /// PrivateConnectionPolicy.
    pub private: bool,
}

/// What is added to an adapter.
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

impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Extension {}

impl Hash for Extension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

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
        self.core().real_time.set(real_time).is_ok()
    }

    /// The real-time extension, if one is installed.
    #[must_use]
    #[inline]
    pub fn real_time(&self) -> Option<&Arc<dyn RealTime>> {
        self.core().real_time.get()
    }
}
