// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reference asks of its calls, whatever the ORB does.

use orbium_channel::ProtocolPolicy;
use orbium_config::BidirectionalPolicy;
use orbium_giop::ResponseFlags;
use orbium_interceptor::{ContextList, Policy, ReplyContexts};
use orbium_invocation::{CancellationToken, Operation, SyncScope, TimePolicies};

use crate::connection_policies::ConnectionPolicies;
use crate::messaging_policies::MessagingPolicies;

/// The policies of a reference, where it has its own.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// How long calls may take.
    pub times: TimePolicies,
    /// ClientProtocolPolicy.
    pub protocols: Option<ProtocolPolicy>,
    /// How calls share connections.
    pub connections: ConnectionPolicies,
    /// Those of CORBA Messaging.
    pub messaging: MessagingPolicies,
    /// Service contexts that requests carry.
    pub contexts: ContextList,
    /// Where the service contexts of replies go.
    pub reply_contexts: Option<ReplyContexts>,
    /// How often calls of idempotent operations are sent again.
    pub idempotent_retries: Option<u32>,
    /// Policies of types that the program defines.
    pub defined: Vec<Policy>,
    /// BidirectionalPolicy: whether the connections of its calls carry requests both ways.
    /// Without one, they do if those of the ORB do.
    pub bidirectional: Option<BidirectionalPolicy>,
    /// What cancels its calls.
    pub cancellation: Option<CancellationToken>,
}

impl Overrides {
    /// What a request asks of its server.
    pub(crate) fn response_to(&self, operation: &Operation) -> ResponseFlags {
        match operation.is_oneway() {
            true => self.messaging.sync_scope().response(),
            false => operation.response(),
        }
    }

    /// Whether oneways are acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(
            self.messaging.sync_scope(),
            SyncScope::WithServer | SyncScope::WithTarget
        )
    }

    /// Whether oneways are buffered.
    pub(crate) fn is_buffered(&self) -> bool {
        self.messaging.sync_scope() == SyncScope::None
    }
}
