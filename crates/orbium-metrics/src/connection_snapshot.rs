// SPDX-License-Identifier: MIT OR Apache-2.0
//! Open connections as data.

use std::time::Duration;

use crate::quality::Quality;
use crate::role::Role;

/// A connection served by a server, as queried by the book.
pub trait OpenConnection: Send + Sync {
    /// The peer, as far as known.
    fn peer(&self) -> String;

    /// Number of the lane that serves it.
    fn lane(&self) -> u32;

    /// The number of requests that are queued, or served by other threads than the reader.
    fn in_flight(&self) -> usize;

    /// Whether replies are queued because the peer does not receive.
    fn is_held_up(&self) -> bool;

    /// The settings of its dedicated thread, and its agreement with the client; none for a
    /// connection served by the threads of its lane.
    fn own_thread(&self) -> Option<String>;
}

/// A snapshot of an open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// The unique id among the connections of its role; never reused.
    pub id: u64,
    /// The role of this ORB: client or server.
    pub role: Role,
    /// The scheme of its transport, such as `iiop`.
    pub transport: String,
    /// The peer of a server; the address to which a client has connected.
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
    /// The number of requests that are queued, or served by other threads than the reader.
    pub in_flight: usize,
    /// Whether replies are queued because the peer does not receive.
    pub is_held_up: bool,
    /// The latest quality requested over a server's connection.
    pub quality: Option<Quality>,
    /// The settings of this connection: the priority and the reservation of a dedicated thread, the
    /// terms of a binding; for a client's the band of priorities, the owning reference, and the
    /// properties of its sockets that differ from the ORB's. Empty for none.
    pub in_force: String,
}
