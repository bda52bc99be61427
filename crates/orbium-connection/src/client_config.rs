// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choices of an ORB that calls depend on.

use std::sync::Arc;

use orbium_channel::connection::{Bounds, Connection, Role};
use orbium_channel::protocol::ChannelOptions;
use orbium_channel::{BidirectionalConnections, ProtocolPolicy, Protocols};
use orbium_config::{
    BidirectionalPolicy, ClientStrategy, Collocation, ConnectTimeout, GiopMinor, Limits,
    MAX_CALLS_PER_CONNECTION,
};
use orbium_interceptor::Interceptors;
use orbium_invocation::TimePolicies;
use orbium_transport::ProtocolProperties;

/// Limit of concurrent calls over a multiplexed connection: request ids name their slots.
pub(crate) const CALL_SLOTS: u32 = MAX_CALLS_PER_CONNECTION as u32;

/// The client's part of an ORB's configuration: a plain value.
#[derive(Clone, Debug, Default)]
pub struct ClientConfig {
    /// The use of connections by calls, and their wait for replies.
    pub client_strategy: ClientStrategy,
    /// Bounds.
    pub limits: Limits,
    /// The transports and messaging protocols, charged to the ORB's budget.
    pub protocols: Protocols,
    /// ClientProtocolPolicy, if neither the reference nor the thread has one.
    pub client_protocols: Option<ProtocolPolicy>,
    /// The properties of every socket.
    pub properties: ProtocolProperties,
    /// The time policies of calls for which neither the reference nor the thread has any.
    pub times: TimePolicies,
    /// Whether requests are sent without their deadlines.
    pub keeps_deadlines: bool,
    /// Time limit for opening a connection within a call.
    pub connect_timeout: ConnectTimeout,
    /// Octets above which a GIOP 1.2 message is sent in fragments.
    pub fragment_size: Option<usize>,
    /// The interceptors of requests.
    pub interceptors: Interceptors,
    /// The highest GIOP minor version in use.
    pub giop_minor: GiopMinor,
    /// The path of calls to objects of their own ORB.
    pub collocation: Collocation,
    /// The connections that may be bidirectional (BidirectionalPolicy BOTH).
    pub bidirectional: Option<Arc<dyn BidirectionalConnections>>,
    /// Whether bidirectional connections are used through references without a policy of their own.
    pub goes_both_ways: BidirectionalPolicy,
}

impl ClientConfig {
    /// The options of connections.
    pub fn channel_options(&self) -> ChannelOptions {
        ChannelOptions {
            properties: self.properties,
            message_size: self.limits.message_size,
        }
    }

    /// The GIOP side of a connection to a server.
    pub fn giop_connection(&self) -> Connection {
        let bounds = Bounds {
            message: self.limits.message_size,
            reassembly: self.limits.reassembly(),
            // Calls have deadlines.
            message_time: None,
        };
        Connection::new(Role::Client, bounds, self.protocols.budget())
    }
}
