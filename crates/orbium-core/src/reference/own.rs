// SPDX-License-Identifier: MIT OR Apache-2.0
//! References with policies for their connections: bands, privacy, socket properties,
//! and dedicated threads of the server.

use std::sync::Arc;

use orbium_channel::dedication::DedicationReply;
use orbium_giop::real_time::PriorityBand;

use super::ObjectRef;
use crate::{Priority, ProtocolProperties};
use orbium_connection::PrivateConnections;

impl ObjectRef {
    /// The same object with priority-banded connections: each call uses the connection
    /// of the band that contains its priority (PriorityBandedConnectionPolicy). Bands
    /// are not checked here: the caller passes valid ones.
    #[must_use]
    pub fn with_bands(&self, bands: &[PriorityBand]) -> Self {
        self.overriding(|own| own.policies.connections.bands = Some(bands.into()))
    }

    /// The same object with connections that no other reference uses
    /// (PrivateConnectionPolicy). A connection carries one call at a time; concurrent
    /// calls open further ones.
    #[must_use]
    pub fn with_private_connections(&self) -> Self {
        self.overriding(|own| own.policies.connections.private = true)
    }

    /// The same object, over connections with these socket properties rather than the
    /// ORB's.
    #[must_use]
    pub fn with_properties(&self, properties: ProtocolProperties) -> Self {
        self.overriding(|own| own.properties = Some(properties))
    }

    /// The same object, over connections that it shares with references of the same
    /// priority alone. Calls have the priority that they have without.
    #[must_use]
    pub fn with_connections_of(&self, priority: Priority) -> Self {
        self.overriding(|own| own.connection_priority = Some(priority))
    }

    /// The socket properties of its connections: its own, or else those that the ORB was built with.
    #[must_use]
    pub fn properties(&self) -> ProtocolProperties {
        let own = self.overrides().properties;
        own.unwrap_or_else(|| self.orb().config().properties)
    }

    /// Whether no other reference uses its connections, by its own choice.
    #[must_use]
    pub fn has_private_connections(&self) -> bool {
        let own = self.overrides();
        own.policies.connections.private || own.own_connections.is_some()
    }

    /// The same object with private connections, each of which requests a dedicated
    /// thread of the server at that priority, by a service context of its first request
    /// that other ORBs ignore. [`dedication`](Self::dedication) returns the server's
    /// reply.
    #[must_use]
    pub fn with_dedicated_thread(&self, priority: Option<Priority>) -> Self {
        self.with_own(PrivateConnections::dedicated(priority))
    }

    /// The reply of the server to the marker of the connection made last; `None` as long
    /// as it has said nothing, as one never does that knows no markers.
    #[must_use]
    pub fn dedication(&self) -> Option<DedicationReply> {
        self.overrides().own_connections.as_ref()?.last_reply()
    }

    /// The same object with one connection, made by its first call, that no other
    /// reference uses but those made from this one. When it has ended calls raise
    /// REBIND. Whatever is marked for the network by priorities is marked for that
    /// one.
    #[must_use]
    pub fn with_one_connection(&self, priority: Option<Priority>) -> Self {
        self.with_own(PrivateConnections::single(priority))
    }

    fn with_own(&self, own: Arc<PrivateConnections>) -> Self {
        self.overriding(|overrides| overrides.own_connections = Some(own))
    }
}
