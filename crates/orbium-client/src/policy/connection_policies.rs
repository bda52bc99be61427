// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection policies of a reference, merged over all scopes.

use std::sync::Arc;

use orbium_giop::real_time::{self, PublishedPolicies};
use orbium_invocation::{ConnectionSharing, Priority};
use orbium_transport::ProtocolProperties;

use orbium_connection::PrivateConnections;

/// The policies for the connections of a reference, of all scopes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionPolicies {
    /// The sharing of connections.
    pub(crate) sharing: ConnectionSharing,
    /// Socket properties of its connections.
    pub(crate) properties: Option<ProtocolProperties>,
    /// The priority of the references that share them.
    pub(crate) priority: Option<Priority>,
    /// Private connections with a dedicated thread, or a single one.
    pub(crate) own: Option<Arc<PrivateConnections>>,
}

/// The types of policies set by both sides that only one of them may set.
pub(crate) fn conflicts(
    published: &PublishedPolicies,
    sharing: &ConnectionSharing,
    client_protocols: bool,
) -> Vec<u32> {
    let protocols = client_protocols && published.has_client_protocols;
    let bands = sharing.bands.is_some() && published.bands.is_some();
    [
        (protocols, real_time::CLIENT_PROTOCOL_POLICY),
        (bands, real_time::PRIORITY_BANDED_CONNECTION_POLICY),
    ]
    .into_iter()
    .filter_map(|(both, policy)| both.then_some(policy))
    .collect()
}
