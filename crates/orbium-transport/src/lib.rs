// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints, acceptors, connectors, byte streams and datagrams.
//!
//! Transports move bytes. This crate has no notion of requests, and resolves host names only where
//! its documentation states it. A transport is added by implementing [`StreamTransport`] or
//! [`DatagramTransport`] and registering it with an ORB.
#![forbid(unsafe_code)]

mod datagram;
mod endpoint;
mod in_process;
mod listening;
mod look_up;
mod properties;
mod resolve;
mod socket_stream;
mod stage;
mod stream;
mod tcp;
pub mod ticks;
mod transport;
mod udp;
mod unix;

pub use datagram::Datagrams;
pub use endpoint::{Endpoint, EndpointError, HostPort};
pub use in_process::{InProcess, InProcessAcceptor, InProcessConnector, InProcessStream};
pub use orbium_sys::{
    Deadline, NetworkInterface, OptionError, SocketOptions as ProtocolProperties, Stamp,
};
pub use resolve::{Resolved, publication, resolve};
pub use socket_stream::{ConnectedSocket, SocketStream, TcpByteStream, UnixByteStream};
pub use stage::Stage;
pub use stream::{Acceptor, ByteStream, Peer};
pub use tcp::{Tcp, TcpAcceptor, TcpConnector};
pub use transport::{
    Connector, DatagramTransport, ListenError, Protection, StreamTransport, Transport,
};
pub use udp::{Multicast, Udp};
pub use unix::{Unix, UnixAcceptor, UnixConnector};
