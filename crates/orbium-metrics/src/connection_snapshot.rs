// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open connections as data.

use std::time::Duration;

use crate::quality::Quality;
use crate::role::Role;

/// A connection that a server serves, as the book asks it.
pub trait OpenConnection: Send + Sync {
    /// The peer, as far as it is known.
    fn peer(&self) -> String;

    /// Number of the lane that serves it.
    fn lane(&self) -> u32;

    /// Requests that other threads than the reader serve, or that wait.
    fn in_flight(&self) -> usize;

    /// Whether replies wait for the peer to take them.
    fn is_held_up(&self) -> bool;

    /// What its dedicated thread has, and what was agreed on with its client; none for a connection that the threads of
    /// its lane serve.
    fn own_thread(&self) -> Option<String>;
}

/// A snapshot of an open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// Unique among the connections of its role; never used again.
    pub id: u64,
    /// Which side opened it.
    pub role: Role,
    /// The scheme of its transport, such as `iiop`.
    pub transport: String,
    /// The peer of a server; the address that a client has connected to.
    pub peer: String,
    /// Number of the lane that serves it; `None` for a client's.
    pub lane: Option<u32>,
    /// Time since it was opened.
    pub age: Duration,
    /// Octets received; `None` if metrics were off when it was opened.
    pub received: Option<u64>,
    /// Octets sent, likewise.
    pub sent: Option<u64>,
    /// Requests begun; counted for servers, while metrics are on.
    pub requests: u64,
    /// Requests that other threads than the reader serve, or that wait.
    pub in_flight: usize,
    /// Whether replies wait for the peer to take them.
    pub is_held_up: bool,
    /// What the requests of a server's connection asked for last.
    pub quality: Option<Quality>,
    /// What is in force for this connection by itself: the priority and the reservation of a dedicated thread, the terms of a
    /// binding; for a client's the band of priorities, the reference that owns it, and what its sockets have in place of the
    /// ORB's properties. Empty for none.
    pub in_force: String,
}
