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
    /// The priority among this host's queues; above 6 it needs privileges.
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

/// Interface that an ORB calls for references with priorities. Calls through other
/// references ask nothing.
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
    fn connections(&self) -> ConnectionSharing;

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

/// Sharing of connections among calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSharing {
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<Arc<[PriorityBand]>>,
    /// PrivateConnectionPolicy.
    pub private: bool,
}

impl ConnectionSharing {
    /// This, and of the wider scope's what this does not set.
    #[must_use]
    pub fn or(mut self, wider: &Self) -> Self {
        self.bands = self.bands.or_else(|| wider.bands.clone());
        self.private |= wider.private;
        self
    }
}
