// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection partition: the part of a pool key that separates calls with different policies.

use std::fmt;

use orbium_giop::real_time::PriorityBand;
use orbium_invocation::{NetworkMark, Priority};
use orbium_transport::ProtocolProperties;

/// The part of a pool's key that keeps calls with different policies from sharing
/// connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionPartition {
    /// The band of priorities of their requests.
    pub band: Option<PriorityBand>,
    /// Id of the reference that owns them (PrivateConnectionPolicy).
    pub private: Option<u64>,
    /// The priority of all requests of the references that share them.
    pub priority: Option<Priority>,
    /// Each request carries its priority (CLIENT_PROPAGATED).
    pub carries: bool,
    /// DSCP mark of their packets.
    pub mark: Option<NetworkMark>,
    /// Socket properties that override the ORB's.
    pub properties: Option<ProtocolProperties>,
    /// At most one connection is ever opened.
    pub is_single: bool,
    /// Whether the server may send requests over them.
    pub is_bidirectional: bool,
    /// Oneways are buffered: no two callers share a connection.
    pub is_buffered: bool,
}

/// The properties of its connections, such as `band 0-99, private, dscp 46`; empty for those that
/// all calls share.
impl fmt::Display for ConnectionPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let band = self.band.map(|it| format!("band {}-{}", it.low, it.high));
        let own = self.properties.unwrap_or_default();
        let dscp = self.properties(own).and_then(|it| it.dscp);
        let said = [
            band,
            self.private.map(|_| "private".to_owned()),
            self.priority.map(|it| format!("priority {}", it.number())),
            dscp.map(|it| format!("dscp {it}")),
            own.pacing_rate.map(|it| format!("paced {it}/s")),
            own.send_buffer.map(|it| format!("send buffer {it}")),
        ];
        let said: Vec<_> = said.into_iter().flatten().collect();
        f.write_str(&said.join(", "))
    }
}

impl ConnectionPartition {
    /// Whether a reference owns them.
    pub fn is_private(&self) -> bool {
        self.private.is_some()
    }

    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Socket properties, with the mark, that override the ORB's.
    pub(crate) fn properties(&self, of_all: ProtocolProperties) -> Option<ProtocolProperties> {
        match (self.mark, self.properties) {
            (None, own) => own,
            (Some(mark), own) => Some(mark.on(own.unwrap_or(of_all))),
        }
    }
}
