// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints, acceptors, connectors and byte streams.
//!
//! Bytes in, bytes out: nothing here has heard of a request, and nothing here
//! looks up a name except where its documentation says so.
#![forbid(unsafe_code)]

mod endpoint;
mod stream;
mod tcp;

pub use endpoint::{Endpoint, EndpointError, HostPort};
pub use orbium_sys::{Deadline, TcpOptions};
pub use stream::{Acceptor, ByteStream, Peer};
pub use tcp::{TcpAcceptor, TcpByteStream, connect_tcp, resolve};
