// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ports of the loopback.

use std::mem;
use std::net::{Ipv4Addr, SocketAddrV4};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

/// A port of 127.0.0.1 without a listener: a socket is bound to it until the process ends. A free
/// port could be reused by another test's server.
///
/// # Panics
///
/// There is no free port or descriptor.
#[must_use]
pub fn dead_port() -> u16 {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a descriptor");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = getsockname(&socket).expect("an address");
    mem::forget(socket);
    SocketAddrV4::try_from(address)
        .expect("that of the family")
        .port()
}
