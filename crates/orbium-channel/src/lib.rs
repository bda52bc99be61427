// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transport of GIOP messages between an ORB and its peers.
//!
//! [`Protocols`] has transports and messaging protocols by name; endpoints and the profiles of
//! references lead to [`Channel`]s; [`connection`] is one side of a GIOP connection without socket,
//! clock or thread, [`framing`] finds messages in received bytes, [`outgoing`] sends them whole or
//! in fragments, [`batch`] several in one send, [`oneway_buffer`] buffers oneways until they are
//! sent together, [`accepting`] accepts connections, at [`endpoints`] that may change, and
//! [`peer_memory`] bounds the memory that all peers together can make the ORB use.
//!
//! It has no notion of calls, servants, object adapters or threads. Its users are the ORB's own
//! crates and bridges: `orbium` has the API for programs.
#![forbid(unsafe_code)]

pub mod accepting;
pub mod batch;
mod bidirectional;
pub mod connection;
pub mod dedication;
pub mod ended;
pub mod endpoints;
pub mod framing;
pub mod oneway_buffer;
pub mod outgoing;
pub mod peer_memory;
pub mod protocol;
pub mod receive_buffer;
mod request_id;

pub use bidirectional::{Bidirectional, BidirectionalConnections, BidirectionalHalf, Deliveries};
pub use peer_memory::PeerMemory;
pub use protocol::{
    Channel, OfferedProtocol, ProtocolPolicy, ProtocolPolicyError, Protocols, UnknownProtocol,
};
pub use request_id::request_id;
