// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a reference asks of its connections.

use std::sync::Arc;

use orbium_giop::real_time::{self, PriorityBand, PublishedPolicies};
use orbium_invocation::ConnectionSharing;
use orbium_transport::ProtocolProperties;

use crate::private_connections::PrivateConnections;

/// The client's policies for the connections of a reference.
#[derive(Clone, Debug, Default)]
pub struct ConnectionPolicies {
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<Arc<[PriorityBand]>>,
    /// PrivateConnectionPolicy.
    pub private: bool,
    /// Socket properties of its connections.
    pub properties: Option<ProtocolProperties>,
    /// Private connections with a dedicated thread, or a single one.
    pub own: Option<Arc<PrivateConnections>>,
}

impl ConnectionPolicies {
    /// These policies, with the defaults of a thread or the ORB where unset.
    pub(crate) fn or(&self, others: &ConnectionSharing) -> Self {
        Self {
            bands: self.bands.as_ref().or(others.bands.as_ref()).cloned(),
            private: self.private || others.private,
            ..self.clone()
        }
    }

    /// Whether calls share connections as with the others.
    pub(crate) fn shares_as(&self, others: &Self) -> bool {
        self.bands == others.bands && self.private == others.private
    }
}

/// Policies that client and server must not both have, as far as they do.
pub(crate) fn conflicts(
    published: &PublishedPolicies,
    connections: &ConnectionPolicies,
    client_protocols: bool,
) -> Vec<u32> {
    let protocols = client_protocols && published.has_client_protocols;
    let bands = connections.bands.is_some() && published.bands.is_some();
    [
        (protocols, real_time::CLIENT_PROTOCOL_POLICY),
        (bands, real_time::PRIORITY_BANDED_CONNECTION_POLICY),
    ]
    .into_iter()
    .filter_map(|(both, policy)| both.then_some(policy))
    .collect()
}
