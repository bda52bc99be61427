// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of an adapter (RT-CORBA 1.2, clauses 5.7 to 5.15).

pub(crate) mod adapter;
pub(crate) mod reference_policies;
pub(crate) mod validation;
use orbium_giop::real_time::{PriorityBand, PriorityModel, PriorityModelValue};

use crate::{ProtocolList, ThreadpoolId};

/// PriorityModelPolicy: which side determines the priority at which a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityModelPolicy {
    /// The client or the server.
    pub priority_model: PriorityModel,
    /// The priority of objects without an individual one, and of requests that carry none: 0 to
    /// 32767.
    pub server_priority: i16,
}

impl PriorityModelPolicy {
    /// CLIENT_PROPAGATED; requests of clients without priorities are served at `server_priority`.
    #[must_use]
    pub const fn client_propagated(server_priority: i16) -> Self {
        Self {
            priority_model: PriorityModel::ClientPropagated,
            server_priority,
        }
    }

    /// SERVER_DECLARED; objects have `server_priority` unless they are activated with another.
    #[must_use]
    pub const fn server_declared(server_priority: i16) -> Self {
        Self {
            priority_model: PriorityModel::ServerDeclared,
            server_priority,
        }
    }

    pub(crate) const fn value(self, server_priority: i16) -> PriorityModelValue {
        PriorityModelValue {
            model: self.priority_model,
            server_priority,
        }
    }
}

/// The policies of an adapter. A policy that is `None` is that of the ORB (see
/// [`RtOrbBuilder::policies`](crate::RtOrbBuilder::policies)), or not in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RtPolicies {
    /// PriorityModelPolicy.
    pub priority_model: Option<PriorityModelPolicy>,
    /// ThreadpoolPolicy.
    pub threadpool: Option<ThreadpoolId>,
    /// PriorityBandedConnectionPolicy.
    pub bands: Option<Vec<PriorityBand>>,
    /// ServerProtocolPolicy: the protocols in references, in order of preference.
    pub server_protocols: Option<ProtocolList>,
    /// ClientProtocolPolicy: the protocols for clients.
    pub client_protocols: Option<ProtocolList>,
}

impl RtPolicies {
    /// These policies, supplemented by those of the ORB.
    pub(crate) fn or(&self, of_orb: &Self) -> Self {
        Self {
            priority_model: self.priority_model.or(of_orb.priority_model),
            threadpool: self.threadpool.or(of_orb.threadpool),
            bands: self.bands.clone().or_else(|| of_orb.bands.clone()),
            server_protocols: self
                .server_protocols
                .clone()
                .or_else(|| of_orb.server_protocols.clone()),
            client_protocols: self
                .client_protocols
                .clone()
                .or_else(|| of_orb.client_protocols.clone()),
        }
    }
}
