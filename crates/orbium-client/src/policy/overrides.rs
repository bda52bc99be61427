// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of a reference that override those of its ORB.

use std::sync::Arc;

use orbium_config::BidirectionalPolicy;
use orbium_giop::ResponseFlags;
use orbium_interceptor::{ContextList, ReplyContexts};
use orbium_invocation::{CancellationToken, ConnectionSharing, Operation, Priority, SyncScope};
use orbium_transport::ProtocolProperties;

use crate::policy::client_policies::ClientPolicies;
use crate::policy::connection_policies::ConnectionPolicies;
use orbium_connection::PrivateConnections;

/// The policies of a reference, where it has its own.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Those that threads and ORBs have too.
    pub policies: ClientPolicies,
    /// Socket properties of its connections.
    pub properties: Option<ProtocolProperties>,
    /// Its connections are shared with references of the same priority alone.
    pub connection_priority: Option<Priority>,
    /// Private connections with a dedicated thread, or a single one.
    pub own_connections: Option<Arc<PrivateConnections>>,
    /// Service contexts that requests carry.
    pub contexts: ContextList,
    /// Where the service contexts of replies go.
    pub reply_contexts: Option<ReplyContexts>,
    /// How often calls of idempotent operations are sent again.
    pub idempotent_retries: Option<u32>,
    /// BidirectionalPolicy: whether the connections of its calls carry requests both ways.
    /// Without one, they do if those of the ORB do.
    pub bidirectional: Option<BidirectionalPolicy>,
    /// What cancels its calls.
    pub cancellation: Option<CancellationToken>,
}

impl Overrides {
    /// Whether there is any.
    pub(crate) fn are_any(&self) -> bool {
        self.policies.are_any()
            || self.properties.is_some()
            || self.connection_priority.is_some()
            || self.own_connections.is_some()
            || !self.contexts.is_empty()
            || self.reply_contexts.is_some()
            || self.idempotent_retries.is_some()
            || self.bidirectional.is_some()
            || self.cancellation.is_some()
    }

    /// Those for its connections, with the wider scope's sharing where it has none of its own.
    pub(crate) fn connections(&self, wider: &ConnectionSharing) -> ConnectionPolicies {
        ConnectionPolicies {
            sharing: self.policies.connections.clone().or(wider),
            properties: self.properties,
            priority: self.connection_priority,
            own: self.own_connections.clone(),
        }
    }

    /// What a request asks of its server.
    pub fn response_to(&self, operation: &Operation) -> ResponseFlags {
        if operation.is_oneway() {
            self.policies.messaging.sync_scope().response()
        } else {
            operation.response()
        }
    }

    /// Whether oneways are acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(
            self.policies.messaging.sync_scope(),
            SyncScope::WithServer | SyncScope::WithTarget
        )
    }

    /// Whether oneways are buffered.
    pub(crate) fn is_buffered(&self) -> bool {
        self.policies.messaging.sync_scope() == SyncScope::None
    }
}
