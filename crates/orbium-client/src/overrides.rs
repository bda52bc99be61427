// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reference asks of its calls, whatever the ORB does.

use orbium_channel::ProtocolPolicy;
use orbium_interceptor::{ContextList, ReplyContexts};
use orbium_invocation::TimePolicies;

use crate::connection_policies::ConnectionPolicies;

/// The policies of a reference, where it has its own.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// How long calls may take.
    pub times: TimePolicies,
    /// ClientProtocolPolicy.
    pub protocols: Option<ProtocolPolicy>,
    /// How calls share connections.
    pub connections: ConnectionPolicies,
    /// Service contexts that requests carry.
    pub contexts: ContextList,
    /// Where the service contexts of replies go.
    pub reply_contexts: Option<ReplyContexts>,
    /// How often calls of idempotent operations are sent again.
    pub idempotent_retries: Option<u32>,
}
