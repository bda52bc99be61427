// SPDX-License-Identifier: MIT OR Apache-2.0
//! Client interface of the real-time extension (`orbium-rt`).

use std::any::Any;
use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_giop::real_time::PriorityBand;
use orbium_transport::ProtocolProperties;

use crate::Priority;

/// Network mark of the traffic sent at a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkMark {
    /// The differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// The priority in this host's queues; above 6 it needs privileges.
    pub socket_priority: Option<u32>,
}

impl NetworkMark {
    /// The properties with this mark.
    #[must_use]
    pub fn on(self, properties: ProtocolProperties) -> ProtocolProperties {
        ProtocolProperties {
            dscp: Some(self.dscp),
            socket_priority: self.socket_priority.or(properties.socket_priority),
            ..properties
        }
    }
}

/// Interface that an ORB calls for references with priorities. Calls through other references do
/// not use it.
pub trait RealTime: Send + Sync + 'static {
    /// The priority of a call of this thread; `None` if it has none.
    ///
    /// # Errors
    /// DATA_CONVERSION 2 if the thread's native priority has no CORBA priority; UNKNOWN if a
    /// priority transform has none.
    fn outgoing(&self, object_key: &[u8]) -> Result<Option<Priority>, SystemException>;

    /// Whether this thread serves a request, so that the rules of [`outgoing`](Self::outgoing) for
    /// nested calls apply.
    fn is_serving(&self) -> bool;

    /// Runs `work`, once, as within an upcall: for a thread that makes a call on behalf of a
    /// serving one.
    fn while_serving(&self, work: &mut dyn FnMut());

    /// The network mark of requests of a priority; `None` leaves it to the protocol properties.
    fn network_mark(&self, priority: Priority) -> Option<NetworkMark>;

    /// The connection sharing of the ORB's calls, unless a reference overrides it.
    fn connections(&self) -> ConnectionSharing;

    /// Sets the priority of a new thread of the ORB, including the native one: the thread processes
    /// replies for callers of that priority.
    ///
    /// # Errors
    /// DATA_CONVERSION 2 without a native priority; NO_PERMISSION if the host does not allow it.
    fn begin_thread(&self, priority: Priority) -> Result<(), SystemException>;

    /// Called after the ORB has ended: no requests are served any more.
    fn end(&self);

    /// For downcasts to the implementing type.
    fn as_any(&self) -> &dyn Any;
}

/// Sharing of connections among calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSharing {
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<Arc<[PriorityBand]>>,
    /// PrivateConnectionPolicy.
    pub private: bool,
}

impl ConnectionSharing {
    /// These policies, completed by those of the wider scope.
    #[must_use]
    pub fn or(mut self, wider: &Self) -> Self {
        self.bands = self.bands.or_else(|| wider.bands.clone());
        self.private |= wider.private;
        self
    }
}
