// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration from which an ORB is built.

mod lanes;

use std::sync::Arc;
use std::time::Duration;

use orbium_channel::BidirectionalConnections;
use orbium_channel::protocol::ChannelOptions;
use orbium_config::check_times;
use orbium_config::tls::TlsConfig;
use orbium_giop::codeset::NativeCharSet;
use orbium_interceptor::{Interceptors, OrbIdentity};
use orbium_transport::{Endpoint, ProtocolProperties};

use crate::{
    BidirectionalHosts, BidirectionalPolicy, ClientStrategy, Collocation, ConnectTimeout,
    ForwardBoundKeys, GiopMinor, Hook, LaneConfig, Limits, NamingTimeout, ProtocolPolicy,
    Protocols, ReplyBatching, ServerStrategy, TimePolicies,
};
use orbium_connection::ClientConfig;
use orbium_lane::check_lanes;

/// The configuration of an ORB: a plain value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The endpoints of the ORB. Without any, the first activation listens on a free port of all
    /// interfaces.
    pub endpoints: Vec<Endpoint>,
    /// The server strategy: how connections are served.
    pub strategy: ServerStrategy,
    /// Lanes that the ORB starts with, each with a name and a priority
    /// ([`Orb::lane`](crate::Orb::lane)). They serve the adapters without lanes
    /// ([`Policies::lanes`](crate::Policies)), together with the ORB's own lane, which serves
    /// requests of lower or no priority; that one is omitted if only these lanes have endpoints.
    pub lanes: Vec<LaneConfig>,
    /// The client strategy: how calls use connections and wait for their replies.
    pub client_strategy: ClientStrategy,
    /// Decides where requests are served; see [`DispatchHook`](crate::DispatchHook).
    pub dispatch: Option<Hook>,
    /// The ORB id and server id, for interceptors and object reference templates.
    pub identity: OrbIdentity,
    /// The portable interceptors of calls, requests and replies.
    pub interceptors: Interceptors,
    /// Bounds on the resources that peers can make the ORB use.
    pub limits: Limits,
    /// The registered transports and messaging protocols.
    pub protocols: Protocols,
    /// TLS: with anything else than the defaults, the ORB has the transport `ssliop`.
    pub tls: TlsConfig,
    /// ClientProtocolPolicy: protocols of calls, best first. Default: all that exist, those within
    /// the host first, then in the order of the reference.
    pub client_protocols: Option<ProtocolPolicy>,
    /// Protocol properties of every socket, in both roles.
    pub properties: ProtocolProperties,
    /// RelativeRoundtripTimeout: time a call may take from beginning to end, including connecting;
    /// `None` (the default) waits as long as the connection lives.
    pub call_timeout: Option<Duration>,
    /// RelativeRequestTimeout: time within which the server must begin a request.
    /// Default: none.
    pub request_timeout: Option<Duration>,
    /// Whether deadlines are not sent to servers. By default requests carry them: as remaining
    /// time to orbium servers, as absolute time to others, for which clocks have to be
    /// synchronized.
    pub keeps_deadlines: bool,
    /// Initial references by name, as object URLs, for
    /// [`Orb::resolve_initial_references`](crate::Orb); registered references take precedence.
    pub initial_references: Vec<(String, String)>,
    /// The start of an object URL for unknown names; a slash and the name are appended.
    pub default_initial_reference: Option<String>,
    /// Time that resolving the name of a `corbaname:` may take, within
    /// [`call_timeout`](Self::call_timeout) for each call; also the call of the Interface
    /// Repository that answers `_interface`. Default: 30 s.
    pub naming_timeout: NamingTimeout,
    /// Time-out of opening a connection within a call. Default: 10 s.
    pub connect_timeout: ConnectTimeout,
    /// Size in octets above which a GIOP 1.2 message is sent in fragments; `None` (the default)
    /// never sends fragments.
    pub fragment_size: Option<usize>,
    /// Whether replies to pipelined requests are sent together. Default: true.
    pub reply_batching: ReplyBatching,
    /// Highest GIOP minor version published and spoken. Default: 2.
    pub giop_minor: GiopMinor,
    /// The code set for `char` and `string` that references name as native. Default:
    /// ISO 8859-1.
    pub native_char_code_set: NativeCharSet,
    /// Counts and measures calls and requests, some 60 ns for each; see
    /// [`metrics`](crate::metrics). Default: off, and [`Orb::enable_metrics`](crate::Orb)
    /// can turn it on later.
    pub metrics: bool,
    /// Whether clients that call by a bound key are forwarded to the whole reference
    /// ([`Orb::bind_key`](crate::Orb::bind_key)). Default: yes.
    pub forward_bound_keys: ForwardBoundKeys,
    /// The path of calls to objects of the same ORB. Default: through the POA, without
    /// marshalling.
    pub collocation: Collocation,
    /// Whether connections are bidirectional. Default: no.
    pub bidirectional: BidirectionalPolicy,
    /// Whether single adapters and references may have BidirectionalPolicy BOTH if
    /// [`bidirectional`](Self::bidirectional) is NORMAL. Default: no. If set, all connections are
    /// prepared for requests in both directions.
    pub bidirectional_overrides: bool,
    /// Hosts that clients may announce besides their own.
    pub bidirectional_hosts: BidirectionalHosts,
    /// Whether requests for persistent objects wait while an adapter on their path is missing and
    /// the manager of its parent holds requests. Default: no, OBJECT_NOT_EXIST.
    pub awaits_adapters: bool,
    /// Shows the ORB to `orbium top`, on a Unix socket for its owner only, and turns metrics on;
    /// see [`Orb::watch`](crate::Orb::watch). Default: off.
    pub watch: bool,
}

impl Config {
    /// The options of connections.
    #[must_use]
    pub fn channel_options(&self) -> ChannelOptions {
        ChannelOptions {
            properties: self.properties,
            message_size: self.limits.message_size,
        }
    }

    /// Whether any connection may be bidirectional.
    pub(crate) fn may_go_both_ways(&self) -> bool {
        self.bidirectional.is_both() || self.bidirectional_overrides
    }

    /// The configuration of the client.
    pub(crate) fn of_client(
        &self,
        bidirectional: Option<Arc<dyn BidirectionalConnections>>,
    ) -> ClientConfig {
        ClientConfig {
            client_strategy: self.client_strategy,
            limits: self.limits.clone(),
            protocols: self.protocols.clone(),
            client_protocols: self.client_protocols.clone(),
            properties: self.properties,
            times: TimePolicies {
                roundtrip_timeout: self.call_timeout,
                request_timeout: self.request_timeout,
                ..TimePolicies::NONE
            },
            keeps_deadlines: self.keeps_deadlines,
            connect_timeout: self.connect_timeout,
            fragment_size: self.fragment_size,
            giop_minor: self.giop_minor,
            collocation: self.collocation,
            interceptors: self.interceptors.clone(),
            bidirectional,
            goes_both_ways: self.bidirectional,
        }
    }

    /// Checks that the choices are consistent.
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn check(&self) -> Result<(), &'static str> {
        let (connect, naming) = (self.connect_timeout, self.naming_timeout);
        check_times(connect, naming, self.request_timeout, self.call_timeout)?;
        self.strategy.check(&self.limits)?;
        check_lanes(&self.lanes, &self.limits)?;
        self.limits.check()?;
        self.limits
            .check_fragments(self.fragment_size, self.giop_minor)?;
        self.client_strategy.check(self.strategy)
    }
}
