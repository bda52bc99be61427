// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolution of host names: when listening, and once before the first connection; never during a
//! request.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use orbium_sync::lock::Mutex;
use orbium_sys as sys;

use crate::look_up::{look_up, look_up_before};
use crate::{Deadline, HostPort, Stage};

/// The addresses of a host; a literal address needs no look-up.
///
/// # Errors
/// `NotFound`: the name does not resolve.
pub fn resolve(at: &HostPort) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = at.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, at.port)]);
    }
    look_up(at).map_err(unresolved)
}

/// An error of uniform kind and text for the various errors of the resolver.
fn unresolved(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, what)
}

/// Addresses to which a host and port resolved at the last look-up.
#[derive(Debug)]
pub struct Resolved {
    at: HostPort,
    addresses: Mutex<Vec<SocketAddr>>,
}

impl Resolved {
    /// For that host, without a look-up.
    #[must_use]
    pub fn new(at: HostPort) -> Self {
        Self {
            at,
            addresses: Mutex::default(),
        }
    }

    /// The host and port.
    #[must_use]
    pub fn host_port(&self) -> &HostPort {
        &self.at
    }

    /// The addresses, looked up unless they are cached; on a thread that is abandoned at the
    /// deadline, and for which further callers wait until it ends.
    ///
    /// # Errors
    /// `NotFound`, `TimedOut`.
    pub fn addresses(&self, deadline: Deadline) -> io::Result<Vec<SocketAddr>> {
        let known = self.lock().clone();
        if !known.is_empty() {
            return Ok(known);
        }
        let found = if self.at.host.parse::<IpAddr>().is_ok() {
            resolve(&self.at)?
        } else {
            Stage::Resolve.enter();
            look_up_before(&self.at, deadline, look_up)?.map_err(unresolved)?
        };
        self.lock().clone_from(&found);
        Ok(found)
    }

    /// Looks the name up again the next time.
    pub fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> orbium_sync::lock::MutexGuard<'_, Vec<SocketAddr>> {
        self.addresses.lock()
    }
}

/// The address to publish for an endpoint at `listen` that listens at `local`.
#[must_use]
pub fn publication(listen: &HostPort, publish: Option<HostPort>, local: SocketAddr) -> HostPort {
    let mut at = publish.unwrap_or_else(|| HostPort {
        host: String::new(),
        port: 0,
    });
    if at.port == 0 {
        at.port = local.port();
    }
    if at.host.is_empty() {
        // A configured name or address is published as it was written.
        let named = !listen.host.is_empty() && !local.ip().is_unspecified();
        at.host = if named {
            listen.host.clone()
        } else {
            publishable(local.ip())
        };
    }
    at
}

/// The host to publish for a socket that listens at an address.
///
/// Clients cannot use a wildcard: the source address of packets to the outside is published
/// instead, without a name look-up, or the loopback address on a host without a network.
fn publishable(address: IpAddr) -> String {
    if !address.is_unspecified() {
        return format!("{address}");
    }
    // TEST-NET-1: documentation addresses, routed like any other.
    let outside = SocketAddr::new(Ipv4Addr::new(192, 0, 2, 1).into(), 9);
    match sys::own_address_towards(outside) {
        Ok(own) if !own.is_unspecified() => format!("{own}"),
        _ => format!("{}", Ipv4Addr::LOCALHOST),
    }
}
