// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be chosen when an ORB is built.

use std::time::Duration;

use orbium_cdr::MAX_NESTING;
use orbium_channel::protocol::ChannelOptions;
use orbium_giop::codeset::NativeCharSet;
use orbium_giop::{HEADER_LEN, MIN_FRAGMENT_LEN, ReassemblyLimits};
use orbium_transport::{Endpoint, ProtocolProperties};

use crate::client::CALL_SLOTS;
use crate::{
    ClientStrategy, Hook, LaneConfig, ProtocolPolicy, Protocols, ServerStrategy, TimePolicies,
};

/// Bounds on what peers can make the ORB hold or wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of the largest message sent or received, reassembled ones too.
    /// Default: 256 MiB. Memory is only taken as octets arrive.
    pub message_size: usize,
    /// Octets that peers can make the ORB hold, all connections together: receive
    /// buffers, messages in assembly, requests that wait, replies that clients do
    /// not take, what was decompressed; not what small messages need (8 KiB for a
    /// connection), nor what servants hold. `None` (the default) is half of the
    /// memory that the process may use: of the host's, of its control group's or of
    /// its address space, whichever is least. Each holder may have as much as it
    /// leaves free, so one message at most half of it. A request beyond that is
    /// answered NO_RESOURCES, and its connection goes on; a reply beyond it raises
    /// NO_RESOURCES.
    pub peer_memory: Option<usize>,
    /// Octets that each octet of a compressed frame may become, beyond the first
    /// 1 MiB of a message; a connection that brings more is closed. Default: 100.
    pub decompression_ratio: usize,
    /// Levels of nesting in a value received: recursive structs, anys in anys,
    /// encapsulations. Default: 128.
    pub nesting: u16,
    /// Messages in assembly from fragments, per connection. Default: 16.
    pub messages_in_assembly: usize,
    /// Connections of a lane served at once. Beyond, a new connection takes the place of one over
    /// which no octet ever came, of one that has been idle for `initial_idle_time`, or
    /// of an idle one of a peer (an internet address, a user of this host) that has
    /// more connections than the new one's; with none of these the new connection is closed.
    /// Default: 4096.
    pub connections: usize,
    /// Time a peer may take until the first octet of its first message, the
    /// handshake of its transport included; then its connection is closed. `None`
    /// waits for ever. Default: 30 s.
    pub initial_idle_time: Option<Duration>,
    /// Time a peer may take to complete a message it has begun. Default: 30 s.
    pub message_time: Duration,
    /// Time a peer may take to accept what is sent to it. Default: 30 s.
    pub send_time: Duration,
    /// Requests that wait for a POA manager that holds them. Default: 1024.
    pub held_requests: usize,
    /// Time that a POA manager holds a request: beyond it the answer is TRANSIENT;
    /// `None` holds it until the manager changes. Default: 30 s.
    pub hold_time: Option<Duration>,
    /// Threads that serve at once, those included that wait in calls of their
    /// own, with the strategies that start further ones when all do: beyond,
    /// requests are refused with TRANSIENT. Default: 1024.
    pub serving_threads: usize,
    /// Connections served by threads of their own because their clients asked
    /// for that, in all lanes together; others are served as usual, and bindings
    /// refused. Default: 64.
    pub dedicated_threads: usize,
    /// Connections to one server address, busy ones included; a call that finds
    /// none free waits for one. Default: 64.
    pub connections_per_server: usize,
    /// Connections to all servers together, while some are idle: beyond it idle
    /// ones are closed, the least recently used first, and a busy one never.
    /// Default: 256.
    pub idle_connections: usize,
    /// Calls at once on a connection that is shared; a further one waits.
    /// Default: 1024, which is also the most.
    pub calls_per_connection: usize,
    /// Asynchronous calls under way at once, of the whole ORB; a further one raises
    /// NO_RESOURCES. Default: 4096.
    pub asynchronous_calls: usize,
    /// Reply handlers of asynchronous calls that run at once, for each priority of
    /// callers. Default: 4.
    pub reply_threads: usize,
    /// Time after which a client closes a connection that it has not used;
    /// `None` (the default) keeps it. Looked at every quarter of it.
    pub client_idle_time: Option<Duration>,
    /// Time after which a server closes a connection over which nothing came and
    /// nothing is owed; `None` (the default) keeps it. Looked at every quarter of
    /// it. Clients find another connection without notice, and send again what
    /// was not begun. But nobody answers a oneway: one that is under way while
    /// the connection closes is lost, as GIOP has it, for what comes after
    /// CloseConnection must not be begun. Clients of orbium look first whether the server has closed. Where oneways matter, let
    /// clients close first: `client_idle_time` at half of this or less.
    pub server_idle_time: Option<Duration>,
    /// References followed by one call because servers forward it. Default: 16.
    pub forwards: u32,
    /// Times that a call of an idempotent operation (`@idempotent` in IDL) is sent again
    /// when its connection was lost before the reply: COMM_FAILURE, COMPLETED_MAYBE. Before
    /// each, 10 ms, 20 ms and so on up to 1 s pass, of which up to a half is left out at
    /// random; never more than the call may take. Default: 0. References can have a number
    /// of their own ([`ObjectRef::with_idempotent_retries`](crate::ObjectRef)).
    pub idempotent_retries: u32,
}

impl Limits {
    pub(crate) fn reassembly(&self) -> ReassemblyLimits {
        ReassemblyLimits {
            message: self.message_size,
            messages: self.messages_in_assembly,
            total: self.message_size,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_size: 256 << 20,
            peer_memory: None,
            decompression_ratio: 100,
            nesting: MAX_NESTING,
            messages_in_assembly: 16,
            connections: 4096,
            initial_idle_time: Some(Duration::from_secs(30)),
            message_time: Duration::from_secs(30),
            send_time: Duration::from_secs(30),
            held_requests: 1024,
            hold_time: Some(Duration::from_secs(30)),
            serving_threads: 1024,
            dedicated_threads: 64,
            connections_per_server: 64,
            idle_connections: 256,
            calls_per_connection: CALL_SLOTS as usize,
            asynchronous_calls: 4096,
            reply_threads: 4,
            client_idle_time: None,
            server_idle_time: None,
            forwards: 16,
            idempotent_retries: 0,
        }
    }
}

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
    /// Who is asked where requests are served; see [`DispatchHook`](crate::DispatchHook).
    pub dispatch: Option<Hook>,
    /// Bounds.
    pub limits: Limits,
    /// The transports there are.
    pub protocols: Protocols,
    /// TLS: with anything else than the defaults, the ORB has the transport `ssliop`.
    #[cfg(feature = "tls")]
    pub tls: orbium_tls::TlsConfig,
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
    /// Deadlines of calls are not told to servers. By default they are: as time
    /// left to servers of orbium, as points of time to others, for which clocks
    /// have to agree.
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

    /// The time policies of calls whose reference and thread have none.
    pub(crate) fn time_policies(&self) -> TimePolicies {
        TimePolicies {
            roundtrip_timeout: self.call_timeout,
            request_timeout: self.request_timeout,
            ..TimePolicies::NONE
        }
    }

    /// Whether the choices make sense; the sentence that says why not.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let limits = &self.limits;
        if limits.message_time.is_zero() || limits.send_time.is_zero() {
            return Err(
                "no message can be completed in no time: message_time and send_time must be above zero",
            );
        }
        if self.connect_timeout.0.is_zero() {
            return Err("no connection can be made in no time: connect_timeout must be above zero");
        }
        if limits.connections_per_server == 0 {
            return Err("no call could be made: connections_per_server must be at least 1");
        }
        self.strategy.check(limits)?;
        self.check_lanes()?;
        if limits.connections == 0 {
            return Err("nobody could be served: limits.connections must be at least 1");
        }
        if limits.message_size < HEADER_LEN {
            return Err(
                "every message has a header of 12 octets: limits.message_size must be at least 12",
            );
        }
        if self.fragment_size.is_some() && self.giop_minor.number() < 2 {
            return Err(
                "fragments are sent in GIOP 1.2 only: leave out fragment_size, or let giop_minor be 2",
            );
        }
        if self
            .fragment_size
            .is_some_and(|size| size > limits.message_size)
        {
            return Err(
                "no message would be sent in fragments: fragment_size is above limits.message_size",
            );
        }
        if let (Some(request), Some(call)) = (self.request_timeout, self.call_timeout)
            && request > call
        {
            return Err(
                "a request that comes after its reply is due makes no sense: request_timeout must not be above call_timeout",
            );
        }
        if limits.calls_per_connection == 0 || limits.calls_per_connection > CALL_SLOTS as usize {
            return Err(
                "the ids of requests leave room for 1024 calls at once: limits.calls_per_connection must be from 1 to 1024",
            );
        }
        if limits.reply_threads == 0 {
            return Err("no reply could be handled: limits.reply_threads must be at least 1");
        }
        if limits.client_idle_time.is_some_and(|time| time.is_zero()) {
            return Err(
                "a connection that is closed at once can never be used again: limits.client_idle_time must be above zero",
            );
        }
        if limits.server_idle_time.is_some_and(|time| time.is_zero()) {
            return Err(
                "nobody could send a request in no time: limits.server_idle_time must be above zero",
            );
        }
        if limits.initial_idle_time.is_some_and(|time| time.is_zero()) {
            return Err(
                "every connection would be closed before its first message: limits.initial_idle_time must be above zero",
            );
        }
        self.client_strategy.check(self.strategy)?;
        if self
            .fragment_size
            .is_some_and(|size| size < MIN_FRAGMENT_LEN)
        {
            return Err(
                "a fragment has 16 octets of header and at least 8 of data: fragment_size must be at least 24",
            );
        }
        Ok(())
    }
}

/// Whether clients that call by a bound key are sent to the whole reference: yes by
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardBoundKeys(pub bool);

impl Default for ForwardBoundKeys {
    fn default() -> Self {
        Self(true)
    }
}

/// A connect timeout, 10 s by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectTimeout(pub Duration);

impl ConnectTimeout {
    /// No limit of its own: as long as the call may take, and the system tries.
    pub const NONE: Self = Self(Duration::MAX);
}

impl Default for ConnectTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(10))
    }
}

/// Whether a server sends replies to pipelined requests together; it does by default.
///
/// A reply is collected while the next request of its connection lies whole in the receive
/// buffer, and sent with those behind it, up to 6 KiB. It is held for 100 µs while requests
/// are served quickly, and never for longer than 2 ms and the wake-up of a thread, however
/// long a servant takes. Nothing is collected while servants take more than 50 µs each, nor
/// where one request is answered before the next is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyBatching(pub bool);

impl Default for ReplyBatching {
    fn default() -> Self {
        Self(true)
    }
}

/// A GIOP minor version from 0 to 2, 2 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GiopMinor(u8);

impl Default for GiopMinor {
    fn default() -> Self {
        Self(2)
    }
}

impl GiopMinor {
    /// GIOP 1.`minor`; `None` beyond 1.2.
    #[must_use]
    pub const fn new(minor: u8) -> Option<Self> {
        if minor <= 2 { Some(Self(minor)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}
