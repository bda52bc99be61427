// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of the resources and waiting times that peers can cause.

use std::time::Duration;

use orbium_cdr::MAX_NESTING;
use orbium_giop::{HEADER_LEN, MIN_FRAGMENT_LEN, ReassemblyLimits};

use crate::GiopMinor;

/// Bounds [`Limits::calls_per_connection`]: request ids identify the caller.
pub const MAX_CALLS_PER_CONNECTION: usize = 1024;

/// Limits of the resources and waiting times that peers can cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size in octets of a message sent or received, including reassembled ones. Default:
    /// 256 MiB. Memory is allocated only as octets arrive.
    pub message_size: usize,
    /// Maximum memory in bytes that peers can make the ORB hold, all connections together: receive
    /// buffers, messages in assembly, queued requests, replies that clients have not received,
    /// decompressed data; without the memory for small messages (8 KiB per connection) and that of
    /// servants. `None` (the default) is half of the memory that the process may use: the least of
    /// the host's, its control group's and its address space. Each holder may have as much as it
    /// leaves free, so one message at most half of it. A request beyond that is answered
    /// NO_RESOURCES, and its connection remains open; a reply beyond it raises NO_RESOURCES.
    pub peer_memory: Option<usize>,
    /// Maximum ratio of decompressed to compressed size of a frame, beyond the first 1 MiB of a
    /// message; a connection that exceeds it is closed. Default: 100.
    pub decompression_ratio: usize,
    /// Maximum nesting of a received value: recursive structs, anys in anys, encapsulations.
    /// Default: 128.
    pub nesting: u16,
    /// Maximum number of messages in assembly from fragments, per connection. Default: 16.
    pub messages_in_assembly: usize,
    /// Maximum number of connections of a lane. Beyond it, a new connection replaces one over which
    /// no octet was received, one that has been idle for `initial_idle_time`, or an idle one of a
    /// peer (an internet address, a user of this host) that has more connections than the new
    /// one's; if there is none, the new connection is closed. Default: 4096.
    pub connections: usize,
    /// Time a peer may take until the first octet of its first message, including the handshake of
    /// its transport; then its connection is closed. `None` waits indefinitely. Default: 30 s.
    pub initial_idle_time: Option<Duration>,
    /// Time a peer may take to complete a message. Default: 30 s.
    pub message_time: Duration,
    /// Time a peer may take to accept sent data. Default: 30 s.
    pub send_time: Duration,
    /// Maximum number of requests held by a POA manager. Default: 1024.
    pub held_requests: usize,
    /// Maximum time that a POA manager holds a request: beyond it the answer is TRANSIENT; `None`
    /// holds it until the manager changes. Default: 30 s.
    pub hold_time: Option<Duration>,
    /// Maximum number of open requests with deferred replies (`@deferred` in IDL) of a POA; a
    /// further one is answered with TRANSIENT. Default: 262,144.
    pub open_requests: usize,
    /// Time that `destroy` and `shutdown` wait for open requests; the remaining ones are answered
    /// with TRANSIENT. Default: 10 s.
    pub open_time: Duration,
    /// Threads that serve at once, those included that wait in calls of their
    /// own, with the strategies that start further ones when all do: beyond,
    /// requests are refused with TRANSIENT. With a thread per connection those that wait; at
    /// the limit each connection still has one request served at a time. Default: 1024.
    pub serving_threads: usize,
    /// Maximum number of connections with dedicated threads requested by clients, in all lanes
    /// together; further connections are served as usual, and bindings refused. Default: 64.
    pub dedicated_threads: usize,
    /// Maximum number of connections to one server address, including busy ones; a call that finds
    /// no free one waits. Default: 64.
    pub connections_per_server: usize,
    /// Maximum number of connections to all servers together, while some are idle: beyond it idle
    /// ones are closed, the least recently used first, and a busy one never. Default: 256.
    pub idle_connections: usize,
    /// Maximum number of concurrent calls on a shared connection; a further one waits. Default:
    /// 1024, which is also the maximum.
    pub calls_per_connection: usize,
    /// Maximum number of asynchronous calls in progress, of the whole ORB; a further one raises
    /// NO_RESOURCES. Default: 4096.
    pub asynchronous_calls: usize,
    /// Size in octets of the buffer of oneways of a connection (SYNC_NONE). A oneway that does not
    /// fit blocks until its deadline, or not at all without one, and raises TRANSIENT. A single
    /// oneway may be larger. Default: 1 MiB.
    pub buffered_oneways: usize,
    /// Maximum number of reply handlers of asynchronous calls that run concurrently, for each
    /// priority of callers; the same number of threads runs their interceptors. Default: 4.
    pub reply_threads: usize,
    /// Time after which a client closes a connection that it has not used;
    /// `None` (the default) keeps it. Checked every quarter of it.
    pub client_idle_time: Option<Duration>,
    /// Time after which a server closes a connection without received messages and
    /// pending replies; `None` (the default) keeps it. Checked every quarter of
    /// it. Clients reconnect transparently, and repeat requests that
    /// were not begun. A oneway that crosses
    /// CloseConnection is lost: GIOP forbids the server to begin requests after
    /// it. Clients of orbium check for CloseConnection before they send a oneway. To avoid losses, let
    /// clients close first: `client_idle_time` at half of this or less.
    pub server_idle_time: Option<Duration>,
    /// Maximum number of forwards followed by one call. Default: 16.
    pub forwards: u32,
    /// Maximum number of retries of a call of an idempotent operation (`@idempotent` in IDL) after
    /// the loss of its connection before the reply: COMM_FAILURE, COMPLETED_MAYBE. Before each
    /// retry, there is a pause of 10 ms, 20 ms and so on up to 1 s, reduced at random by up to a
    /// half, and within the deadline of the call. Default: 0. References can have a separate number
    /// (`ObjectRef::with_idempotent_retries`).
    pub idempotent_retries: u32,
}

impl Limits {
    /// The limits of the reassembly of fragments.
    #[must_use]
    pub const fn reassembly(&self) -> ReassemblyLimits {
        ReassemblyLimits {
            message: self.message_size,
            messages: self.messages_in_assembly,
            total: self.message_size,
        }
    }

    /// Checks that the limits are consistent.
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn check(&self) -> Result<(), &'static str> {
        self.check_idle_times()?;
        if self.message_time.is_zero() || self.send_time.is_zero() {
            return Err(
                "no message can be completed in no time: message_time and send_time must be above zero",
            );
        }
        if self.connections_per_server == 0 {
            return Err("no call could be made: connections_per_server must be at least 1");
        }
        if self.connections == 0 {
            return Err("no client could be served: limits.connections must be at least 1");
        }
        if self.message_size < HEADER_LEN {
            return Err(
                "every message has a header of 12 octets: limits.message_size must be at least 12",
            );
        }
        if !(1..=MAX_CALLS_PER_CONNECTION).contains(&self.calls_per_connection) {
            return Err(
                "the ids of requests leave room for 1024 calls at once: limits.calls_per_connection must be from 1 to 1024",
            );
        }
        if self.reply_threads == 0 {
            return Err("no reply could be handled: limits.reply_threads must be at least 1");
        }
        Ok(())
    }

    /// Checks that messages can be sent in fragments above that size.
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn check_fragments(
        &self,
        size: Option<usize>,
        minor: GiopMinor,
    ) -> Result<(), &'static str> {
        let Some(size) = size else {
            return Ok(());
        };
        if minor.number() < 2 {
            return Err(
                "fragments are sent in GIOP 1.2 only: leave out fragment_size, or let giop_minor be 2",
            );
        }
        if size > self.message_size {
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

    fn check_idle_times(&self) -> Result<(), &'static str> {
        let is_zero = |time: Option<Duration>| time.is_some_and(|time| time.is_zero());
        if is_zero(self.client_idle_time) {
            return Err(
                "a connection that is closed at once can never be used again: limits.client_idle_time must be above zero",
            );
        }
        if is_zero(self.server_idle_time) {
            return Err(
                "every connection would be closed before its first request: limits.server_idle_time must be above zero",
            );
        }
        if is_zero(self.initial_idle_time) {
            return Err(
                "every connection would be closed before its first message: limits.initial_idle_time must be above zero",
            );
        }
        Ok(())
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
            open_requests: 1 << 18,
            open_time: Duration::from_secs(10),
            serving_threads: 1024,
            dedicated_threads: 64,
            connections_per_server: 64,
            idle_connections: 256,
            calls_per_connection: MAX_CALLS_PER_CONNECTION,
            asynchronous_calls: 4096,
            buffered_oneways: 1 << 20,
            reply_threads: 4,
            client_idle_time: None,
            server_idle_time: None,
            forwards: 16,
            idempotent_retries: 0,
        }
    }
}
