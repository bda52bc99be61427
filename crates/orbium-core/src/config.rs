// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be chosen when an ORB is built.

mod lanes;

use std::time::Duration;

use orbium_channel::protocol::ChannelOptions;
use orbium_config::MAX_CALLS_PER_CONNECTION;
use orbium_config::tls::TlsConfig;
use orbium_giop::codeset::NativeCharSet;
use orbium_giop::{HEADER_LEN, MIN_FRAGMENT_LEN};
use orbium_transport::{Endpoint, ProtocolProperties};

use crate::client::ClientConfig;
use crate::{
    ClientStrategy, ConnectTimeout, ForwardBoundKeys, GiopMinor, Hook, LaneConfig, Limits,
    ProtocolPolicy, Protocols, ReplyBatching, ServerStrategy, TimePolicies,
};

/// Everything an ORB is built from: a plain value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Where to listen. With none, the first activation listens on a free port
    /// of all interfaces.
    pub endpoints: Vec<Endpoint>,
    /// How connections are served.
    pub strategy: ServerStrategy,
    /// Lanes that the ORB has from the beginning, each with a name and a priority
    /// of its own ([`Orb::lane`](crate::Orb::lane)). They serve the adapters that
    /// name no lanes ([`Policies::lanes`](crate::Policies)), together with the
    /// ORB's own, which serves what asks for less or for nothing; that one is
    /// left out if only they have endpoints.
    pub lanes: Vec<LaneConfig>,
    /// How calls use connections, and wait for their replies.
    pub client_strategy: ClientStrategy,
    /// Decides where requests are served; see [`DispatchHook`](crate::DispatchHook).
    pub dispatch: Option<Hook>,
    /// Bounds.
    pub limits: Limits,
    /// The transports there are.
    pub protocols: Protocols,
    /// TLS: with anything else than the defaults, the ORB has the transport `ssliop`.
    pub tls: TlsConfig,
    /// ClientProtocolPolicy: protocols to call with, best first. Default: all
    /// there are, those within the host first, then as the reference has them.
    pub client_protocols: Option<ProtocolPolicy>,
    /// What is asked of every socket, both roles.
    pub properties: ProtocolProperties,
    /// RelativeRoundtripTimeout: time a call may take from beginning to end,
    /// connecting included; `None` (the default) waits as long as the connection
    /// lives.
    pub call_timeout: Option<Duration>,
    /// RelativeRequestTimeout: time until a request has to be with its servant.
    /// Default: none.
    pub request_timeout: Option<Duration>,
    /// Deadlines of calls stay at the client. By default requests carry them: as time
    /// left to servers of orbium, as points of time to others, for which clocks have to
    /// agree.
    pub keeps_deadlines: bool,
    /// What [`Orb::resolve_initial_references`](crate::Orb) gives for a name, as
    /// object URLs; what is registered goes before it.
    pub initial_references: Vec<(String, String)>,
    /// The start of an object URL for names that are not known: a slash and the
    /// name come behind it.
    pub default_initial_reference: Option<String>,
    /// Time that making a connection may take within a call. Default: 10 s.
    pub connect_timeout: ConnectTimeout,
    /// Octets above which a GIOP 1.2 message is sent in fragments; `None` (the
    /// default) never sends fragments.
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
    /// Whether clients that call by a bound key are sent to the whole reference
    /// ([`Orb::bind_key`](crate::Orb::bind_key)). Default: yes.
    pub forward_bound_keys: ForwardBoundKeys,
    /// Shows the ORB to `orbium top`, on a Unix socket of the owner's, and turns metrics
    /// on; see [`Orb::watch`](crate::Orb::watch). Default: off.
    pub watch: bool,
}

impl Config {
    /// What connections are made with.
    #[must_use]
    pub fn channel_options(&self) -> ChannelOptions {
        ChannelOptions {
            properties: self.properties,
            message_size: self.limits.message_size,
        }
    }

    /// The client's part.
    pub(crate) fn of_client(&self) -> ClientConfig {
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
        }
    }

    /// Whether the choices make sense; the sentence that says why not.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        self.check_times()?;
        self.strategy.check(&self.limits)?;
        self.check_lanes()?;
        self.check_limits()?;
        self.check_fragments()?;
        self.client_strategy.check(self.strategy)
    }

    fn check_times(&self) -> Result<(), &'static str> {
        let limits = &self.limits;
        if limits.message_time.is_zero() || limits.send_time.is_zero() {
            return Err(
                "no message can be completed in no time: message_time and send_time must be above zero",
            );
        }
        if self.connect_timeout.0.is_zero() {
            return Err("no connection can be made in no time: connect_timeout must be above zero");
        }
        if let (Some(request), Some(call)) = (self.request_timeout, self.call_timeout)
            && request > call
        {
            return Err(
                "a request that comes after its reply is due makes no sense: request_timeout must not be above call_timeout",
            );
        }
        let is_zero = |time: Option<Duration>| time.is_some_and(|time| time.is_zero());
        if is_zero(limits.client_idle_time) {
            return Err(
                "a connection that is closed at once can never be used again: limits.client_idle_time must be above zero",
            );
        }
        if is_zero(limits.server_idle_time) {
            return Err(
                "nobody could send a request in no time: limits.server_idle_time must be above zero",
            );
        }
        if is_zero(limits.initial_idle_time) {
            return Err(
                "every connection would be closed before its first message: limits.initial_idle_time must be above zero",
            );
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), &'static str> {
        let limits = &self.limits;
        if limits.connections_per_server == 0 {
            return Err("no call could be made: connections_per_server must be at least 1");
        }
        if limits.connections == 0 {
            return Err("nobody could be served: limits.connections must be at least 1");
        }
        if limits.message_size < HEADER_LEN {
            return Err(
                "every message has a header of 12 octets: limits.message_size must be at least 12",
            );
        }
        if !(1..=MAX_CALLS_PER_CONNECTION).contains(&limits.calls_per_connection) {
            return Err(
                "the ids of requests leave room for 1024 calls at once: limits.calls_per_connection must be from 1 to 1024",
            );
        }
        if limits.reply_threads == 0 {
            return Err("no reply could be handled: limits.reply_threads must be at least 1");
        }
        Ok(())
    }

    fn check_fragments(&self) -> Result<(), &'static str> {
        let Some(size) = self.fragment_size else {
            return Ok(());
        };
        if self.giop_minor.number() < 2 {
            return Err(
                "fragments are sent in GIOP 1.2 only: leave out fragment_size, or let giop_minor be 2",
            );
        }
        if size > self.limits.message_size {
            return Err(
                "no message would be sent in fragments: fragment_size is above limits.message_size",
            );
        }
        if size < MIN_FRAGMENT_LEN {
            return Err(
                "a fragment has 16 octets of header and at least 8 of data: fragment_size must be at least 24",
            );
        }
        Ok(())
    }
}
