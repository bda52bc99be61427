// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reference asks of its calls, whatever the ORB does.

use orbium_channel::ProtocolPolicy;

use crate::client::connection_policies::ConnectionPolicies;
use crate::client::time_policies::TimePolicies;

/// The policies of a reference, where it has its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overrides {
    /// How long calls may take.
    pub(crate) times: TimePolicies,
    /// ClientProtocolPolicy.
    pub(crate) protocols: Option<ProtocolPolicy>,
    /// How calls share connections.
    pub(crate) connections: ConnectionPolicies,
    /// How often calls of idempotent operations are sent again.
    pub(crate) idempotent_retries: Option<u32>,
}
