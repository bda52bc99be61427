// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measured transports: the endpoints of servers, and the raw peers for comparison.

use super::realm::Realm;
use super::scratch::Scratch;
use crate::object::reference;
use crate::tls;

/// A transport, set up in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP over the loopback interface.
    Tcp,
    /// A Unix-domain socket.
    Unix,
    /// Shared memory.
    Shm {
        /// Microseconds of spinning before a waiting side sleeps.
        spin: u16,
    },
    /// TLS over TCP over the loopback interface.
    Tls,
    /// Memory of one process, which runs both sides.
    InProcess,
}

impl Carrier {
    /// The scheme of its endpoints.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Tcp => "iiop",
            Self::Unix => "uiop",
            Self::Shm { .. } => "shmiop",
            Self::Tls => tls::SCHEME,
            Self::InProcess => "inproc",
        }
    }

    /// The name of a raw peer on it.
    pub const fn raw_name(self) -> &'static str {
        match self {
            Self::Tcp => "raw TCP socket",
            Self::Tls => "raw TLS (rustls)",
            Self::Unix => "raw Unix socket",
            Self::Shm { spin: 0 } => "raw futexes",
            Self::Shm { .. } => "raw spinning",
            Self::InProcess => "raw memory streams",
        }
    }

    /// Whether this program supports it on this machine.
    pub fn is_here(self) -> bool {
        self == Self::Tls || reference::protocols().transport(self.scheme()).is_some()
    }

    /// The endpoint of a server with a name that is unique in the folder.
    pub fn endpoint(self, scratch: &Scratch, name: &str) -> String {
        match self {
            Self::Tcp => "iiop://127.0.0.1:0".to_owned(),
            Self::Tls => "ssliop://127.0.0.1:0".to_owned(),
            Self::Shm { spin } => {
                let path = scratch.path(&format!("{name}.shmiop"));
                format!("shmiop://{path}?spin={spin}")
            }
            Self::Unix => format!("uiop://{}", scratch.path(&format!("{name}.uiop"))),
            Self::InProcess => "inproc://".to_owned(),
        }
    }

    /// The address of a raw server.
    pub fn raw_address(self, scratch: &Scratch, name: &str) -> String {
        match self {
            Self::Tcp => "127.0.0.1:0".to_owned(),
            Self::Tls => "tls:127.0.0.1:0".to_owned(),
            Self::Shm { spin } => {
                format!("shm:{spin}:{}", scratch.path(&format!("{name}.raw")))
            }
            Self::Unix => format!("unix:{}", scratch.path(&format!("{name}.raw"))),
            Self::InProcess => "inproc".to_owned(),
        }
    }

    /// Options of both sides: the certificates that they present and trust.
    pub fn options(self, realm: &Realm) -> Vec<String> {
        match self {
            Self::Tls => realm.options(),
            Self::Tcp | Self::Unix | Self::Shm { .. } | Self::InProcess => Vec::new(),
        }
    }

    /// Options of a client alone.
    pub fn client_options(self) -> Vec<String> {
        match self {
            Self::Shm { spin } => vec!["--shm-spin".to_owned(), spin.to_string()],
            Self::Tcp | Self::Unix | Self::Tls | Self::InProcess => Vec::new(),
        }
    }

    /// The same for processes on one CPU, where spinning would block the peer, or on several.
    pub fn on_one_cpu(self, one: bool) -> Self {
        match self {
            Self::Shm { .. } if one => Self::Shm { spin: 0 },
            other => other,
        }
    }
}
