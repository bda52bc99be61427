// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bidirectional GIOP: one connection that carries the requests of both sides.
//!
//! A [`Hub`] belongs to one ORB. Over the connections that the ORB opens it announces the endpoints
//! of the ORB, its *listen points*; over those that the ORB accepts it receives the listen points
//! of the peers that it trusts. A call to a listen point then uses the connection that announced it
//! (CORBA 3.3 Part 2, clause 9.9).
//!
//! A bidirectional connection has halves, each a stream. The server engine receives and answers
//! requests over the serving half, as over any connection that it accepted; each connection of the
//! calling side uses a separate calling half. One GIOP connection extracts the messages, which are
//! delivered whole, by kind and request id; request ids of the calling halves are replaced by even
//! ones on the side that opened the connection, by odd ones on the other.
//!
//! It has no notion of servants, references, lanes or pools.
#![forbid(unsafe_code)]

mod acceptor;
mod calling;
mod connector;
mod delivery_queue;
mod hub;
mod inbound;
mod listen_point;
mod outgoing;
mod pending_requests;
mod serving;
mod trust;
mod wire;

pub use hub::Hub;
pub use listen_point::{ListenPoint, MAX_LISTEN_POINTS};
