// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds on what peers can make an ORB hold or wait for.

use std::time::Duration;

use orbium_cdr::MAX_NESTING;
use orbium_giop::{HEADER_LEN, MIN_FRAGMENT_LEN, ReassemblyLimits};

use crate::GiopMinor;

/// Bounds [`Limits::calls_per_connection`]: request ids name the caller.
pub const MAX_CALLS_PER_CONNECTION: usize = 1024;

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
    /// Requests of a POA that servants answer after they have returned (`@deferred` in IDL),
    /// open at once; a further one is answered with TRANSIENT. Default: 262,144.
    pub open_requests: usize,
    /// Time that `destroy` and `shutdown` wait for open requests; those that are left are
    /// answered with TRANSIENT. Default: 10 s.
    pub open_time: Duration,
    /// Maximum number of threads that serve at once, including those in nested
    /// calls, for strategies that start threads on demand; beyond it
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
    /// Size in octets of the buffer of oneways of a connection (SYNC_NONE). A oneway that does
    /// not fit blocks until its deadline, or not at all without one, and raises TRANSIENT. A single oneway may be
    /// larger. Default: 1 MiB.
    pub buffered_oneways: usize,
    /// Reply handlers of asynchronous calls that run at once, for each priority of
    /// callers; as many threads run their interceptors. Default: 4.
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
    /// References followed by one call because servers forward it. Default: 16.
    pub forwards: u32,
    /// Times that a call of an idempotent operation (`@idempotent` in IDL) is sent again
    /// when its connection was lost before the reply: COMM_FAILURE, COMPLETED_MAYBE. Before
    /// each, 10 ms, 20 ms and so on up to 1 s pass, of which up to a half is left out at
    /// random; never more than the call may take. Default: 0. References can have a number
    /// of their own (`ObjectRef::with_idempotent_retries`).
    pub idempotent_retries: u32,
}

impl Limits {
    /// The share of them that reassembly of fragments applies.
    #[must_use]
    pub const fn reassembly(&self) -> ReassemblyLimits {
        ReassemblyLimits {
            message: self.message_size,
            messages: self.messages_in_assembly,
            total: self.message_size,
        }
    }

    /// Whether the bounds make sense; the sentence that says why not.
    ///
    /// # Errors
    /// They do not.
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

    /// Whether messages can be sent in fragments above that size; the sentence that says why
    /// not.
    ///
    /// # Errors
    /// They cannot.
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
