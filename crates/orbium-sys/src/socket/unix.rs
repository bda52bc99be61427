// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unix sockets, for connections within one host.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};

use crate::{Deadline, ProcessCredentials};

/// Maximum number of pending connections.
const BACKLOG: i32 = 1024;

/// The name of a Unix socket: a path that fits, or an abstract name.
#[derive(Clone, Debug)]
pub struct UnixName(SockAddr);

impl UnixName {
    /// The name of a path.
    ///
    /// # Errors
    /// `InvalidInput`: it is empty, too long, or contains a zero octet.
    pub fn path(path: &Path) -> io::Result<Self> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_empty() || bytes.contains(&0) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        SockAddr::unix(path).map(Self)
    }

    /// A name outside of the file system, which exists until its last socket is closed.
    ///
    /// # Errors
    /// `InvalidInput`: it is empty or too long.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn abstract_name(name: &str) -> io::Result<Self> {
        if name.is_empty() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A name that begins with a zero byte is not a path.
        SockAddr::unix(format!("\0{name}")).map(Self)
    }

    /// A name outside of the file system, which this system does not have.
    ///
    /// # Errors
    /// `Unsupported`.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn abstract_name(_name: &str) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn new_socket() -> io::Result<Socket> {
    Socket::new(Domain::UNIX, Type::STREAM, None)
}

/// A socket that has a name and does not listen yet: connecting clients are refused.
#[derive(Debug)]
pub struct BoundUnix(UnixListener);

/// Binds a new socket to a name; a path is created in the file system.
///
/// # Errors
/// `AddrInUse` if the name exists; the system's error.
pub fn bind_unix(name: &UnixName) -> io::Result<BoundUnix> {
    let socket = new_socket()?;
    socket.bind(&name.0)?;
    Ok(BoundUnix(socket.into()))
}

impl BoundUnix {
    /// Listens.
    ///
    /// # Errors
    /// The system's error.
    pub fn listen(self) -> io::Result<UnixListener> {
        SockRef::from(&self.0).listen(BACKLOG)?;
        Ok(self.0)
    }
}

/// Connects before the deadline.
///
/// # Errors
/// The system's error; [`TimedOut`](io::ErrorKind::TimedOut) at the deadline, if the server does
/// not accept and its backlog is full.
pub fn connect_unix(name: &UnixName, deadline: Deadline) -> io::Result<UnixStream> {
    let socket = new_socket()?;
    loop {
        let left = deadline.remaining()?;
        if left.is_some() {
            // Connecting waits for room in the backlog, like sending.
            crate::set_timeouts(&socket, None, Some(left))?;
        }
        let Err(error) = socket.connect(&name.0) else {
            break;
        };
        match error.raw_os_error() {
            // The deadline decides. An interrupted attempt has no effect.
            Some(libc::EINTR | libc::EAGAIN) => {}
            _ => return Err(error),
        }
    }
    if deadline != Deadline::NEVER {
        crate::set_timeouts(&socket, None, Some(None))?;
    }
    Ok(socket.into())
}

/// Whether a process listens at that name; does not block.
///
/// # Errors
/// It cannot be determined, usually for lack of permission. `NotFound` if the name does not exist.
pub fn is_listening(name: &UnixName) -> io::Result<bool> {
    let socket = new_socket()?;
    socket.set_nonblocking(true)?;
    let Err(error) = socket.connect(&name.0) else {
        return Ok(true);
    };
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED) => Ok(false),
        // Its queue is full, or it is for datagrams.
        Some(libc::EAGAIN | libc::EPROTOTYPE) => Ok(true),
        _ => Err(error),
    }
}

/// The process at the other end at the time when it connected or listened. `None` if the system
/// does not provide it.
#[must_use]
pub fn peer_process<S: AsFd>(stream: &S) -> Option<ProcessCredentials> {
    crate::socket::sockopt::peer_process(stream.as_fd()).ok()
}
