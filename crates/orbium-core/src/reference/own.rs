// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with connection policies: bands, private connections, socket properties, and
//! dedicated threads of the server.

use std::sync::Arc;

use orbium_channel::dedication::DedicationReply;
use orbium_giop::real_time::PriorityBand;

use super::ObjectRef;
use crate::{BufferingConstraint, Priority, ProtocolProperties};
use orbium_connection::PrivateConnections;

impl ObjectRef {
    /// A copy of the reference with priority-banded connections: each call uses the connection of
    /// the band that contains its priority (PriorityBandedConnectionPolicy). Bands are not checked
    /// here: the caller passes valid ones.
    #[must_use]
    pub fn with_bands(&self, bands: &[PriorityBand]) -> Self {
        self.overriding(|own| own.policies.connections.bands = Some(bands.into()))
    }

    /// A copy of the reference with connections that no other reference uses
    /// (PrivateConnectionPolicy). A connection carries one call at a time; concurrent calls open
    /// further ones.
    #[must_use]
    pub fn with_private_connections(&self) -> Self {
        self.overriding(|own| own.policies.connections.private = true)
    }

    /// A copy of the reference over connections with these socket properties instead of the ORB's.
    #[must_use]
    pub fn with_properties(&self, properties: ProtocolProperties) -> Self {
        self.overriding(|own| own.properties = Some(properties))
    }

    /// A copy of the reference over connections shared only by references with the same priority.
    /// The priority of its calls is unchanged.
    #[must_use]
    pub fn with_connections_of(&self, priority: Priority) -> Self {
        self.overriding(|own| own.connection_priority = Some(priority))
    }

    /// A copy of the reference with that constraint on the oneways buffered under a SyncScopePolicy
    /// of SYNC_NONE, from whichever scope it is. The policy is unchanged.
    #[must_use]
    pub fn with_buffering_constraint(&self, constraint: BufferingConstraint) -> Self {
        self.overriding(|own| own.policies.messaging.buffering = Some(constraint))
    }

    /// The socket properties of its connections: its own, or else those of the ORB.
    #[must_use]
    pub fn properties(&self) -> ProtocolProperties {
        let own = self.overrides().properties;
        own.unwrap_or_else(|| self.orb().config().properties)
    }

    /// Whether the reference has private connections.
    #[must_use]
    pub fn has_private_connections(&self) -> bool {
        let own = self.overrides();
        own.policies.connections.private || own.own_connections.is_some()
    }

    /// A copy of the reference with private connections, each of which requests a dedicated thread
    /// of the server at that priority, by a service context of its first request that other ORBs
    /// ignore. [`dedication`](Self::dedication) returns the server's reply.
    #[must_use]
    pub fn with_dedicated_thread(&self, priority: Option<Priority>) -> Self {
        self.with_own(PrivateConnections::dedicated(priority))
    }

    /// The reply of the server to the marker of the latest connection; `None` until it has replied,
    /// which servers without support for markers never do.
    #[must_use]
    pub fn dedication(&self) -> Option<DedicationReply> {
        self.overrides().own_connections.as_ref()?.last_reply()
    }

    /// A copy of the reference with a single connection, opened by its first call, shared only with
    /// its copies. After the connection has ended, calls raise REBIND. If priorities determine
    /// network marks, the connection has the mark of `priority`.
    #[must_use]
    pub fn with_one_connection(&self, priority: Option<Priority>) -> Self {
        self.with_own(PrivateConnections::single(priority))
    }

    fn with_own(&self, own: Arc<PrivateConnections>) -> Self {
        self.overriding(|overrides| overrides.own_connections = Some(own))
    }
}
