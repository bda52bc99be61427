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

/// The policies set on a reference.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The policies that can be set on threads and ORBs, too.
    pub policies: ClientPolicies,
    /// Socket properties of its connections.
    pub properties: Option<ProtocolProperties>,
    /// The priority of the references with which it shares connections.
    pub connection_priority: Option<Priority>,
    /// Private connections with a dedicated thread, or a single one.
    pub own_connections: Option<Arc<PrivateConnections>>,
    /// Service contexts of its requests.
    pub contexts: ContextList,
    /// The store for the service contexts of replies.
    pub reply_contexts: Option<ReplyContexts>,
    /// The maximum number of retries of idempotent operations.
    pub idempotent_retries: Option<u32>,
    /// BidirectionalPolicy: whether the connections of its calls are bidirectional. `None`: as the
    /// ORB's.
    pub bidirectional: Option<BidirectionalPolicy>,
    /// The token that cancels its calls.
    pub cancellation: Option<CancellationToken>,
}

impl Overrides {
    /// Whether any policy is set.
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

    /// The policies for its connections; `wider` applies where it has no sharing of its own.
    pub(crate) fn connections(&self, wider: &ConnectionSharing) -> ConnectionPolicies {
        ConnectionPolicies {
            sharing: self.policies.connections.clone().or(wider),
            properties: self.properties,
            priority: self.connection_priority,
            own: self.own_connections.clone(),
        }
    }

    /// The reply that a request expects of its server.
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
