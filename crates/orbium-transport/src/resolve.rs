// SPDX-License-Identifier: MIT OR Apache-2.0
//! From host names to addresses: when listening, and once before the first
//! connection; never on the way of a request.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use orbium_sync::lock::{Condvar, Mutex};
use orbium_sys as sys;

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

/// Errors of the resolver come in kinds of all sorts; one says what they are.
fn unresolved(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, what)
}

/// Or why there is none.
fn look_up(at: &HostPort) -> Result<Vec<SocketAddr>, String> {
    let mut addresses = Vec::new();
    let why = match (at.host.as_str(), at.port).to_socket_addrs() {
        Ok(found) => {
            addresses.extend(found);
            if !addresses.is_empty() {
                return Ok(addresses);
            }
            "it has no address".into()
        }
        Err(error) => error.to_string(),
    };
    Err(format!("host `{}`: {why}", at.host))
}

/// Addresses to which a host and port resolved at the last look-up.
#[derive(Debug)]
pub struct Resolved {
    at: HostPort,
    addresses: Mutex<Vec<SocketAddr>>,
}

impl Resolved {
    /// Of that host; nothing is looked up yet.
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

    /// The addresses, looked up unless they are known; on a thread that is
    /// abandoned at the deadline.
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
            resolve_before(self.at.clone(), deadline)?
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

/// What a look-up has found, once it has.
#[derive(Default)]
struct Answer {
    found: Mutex<Option<Result<Vec<SocketAddr>, String>>>,
    there: Condvar,
}

fn resolve_before(at: HostPort, deadline: Deadline) -> io::Result<Vec<SocketAddr>> {
    let answer = Arc::new(Answer::default());
    let given = Arc::clone(&answer);
    let job = move || {
        // The caller may have given up.
        let found = look_up(&at);
        *given.found.lock() = Some(found);
        given.there.notify_one();
    };
    sys::spawn("orbium-resolve", None, Box::new(job))?;
    let mut found = answer.found.lock();
    loop {
        if let Some(found) = found.take() {
            return found.map_err(unresolved);
        }
        let left = deadline.remaining()?.unwrap_or(Duration::from_secs(3600));
        found = answer.there.wait_timeout(found, left).0;
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
        // A name or address that was asked for is published as it was written.
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
/// A wildcard is no address a client could use: the address that packets to the
/// outside leave from is published instead, without a name look-up, or the
/// loopback address on a host without a network.
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
