// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transports that are measured: where servers listen on them, and the raw
//! peer beside them.

use super::realm::Realm;
use super::scratch::Scratch;
use crate::reference;
use crate::tls;

/// A transport, set up in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// TCP over the loopback interface.
    Tcp,
    /// A Unix-domain socket.
    Unix,
    /// TLS over TCP over the loopback interface.
    Tls,
}

impl Carrier {
    /// The scheme of its endpoints.
    pub(crate) const fn scheme(self) -> &'static str {
        match self {
            Self::Tcp => "iiop",
            Self::Unix => "uiop",
            Self::Tls => tls::SCHEME,
        }
    }

    /// What a raw peer on it is called.
    pub(crate) const fn raw_name(self) -> &'static str {
        match self {
            Self::Tcp => "raw TCP socket",
            Self::Tls => "raw TLS (rustls)",
            Self::Unix => "raw Unix socket",
        }
    }

    /// Whether this program has it, on this machine.
    pub(crate) fn is_here(self) -> bool {
        self == Self::Tls || reference::protocols().transport(self.scheme()).is_some()
    }

    /// Where a server listens that shares the folder with others of other names.
    pub(crate) fn endpoint(self, scratch: &Scratch, name: &str) -> String {
        match self {
            Self::Tcp => "iiop://127.0.0.1:0".to_owned(),
            Self::Tls => "ssliop://127.0.0.1:0".to_owned(),
            Self::Unix => format!("uiop://{}", scratch.path(&format!("{name}.uiop"))),
        }
    }

    /// Where a raw server listens.
    pub(crate) fn raw_address(self, scratch: &Scratch, name: &str) -> String {
        match self {
            Self::Tcp => "127.0.0.1:0".to_owned(),
            Self::Tls => "tls:127.0.0.1:0".to_owned(),
            Self::Unix => format!("unix:{}", scratch.path(&format!("{name}.raw"))),
        }
    }

    /// Options of both sides: whose certificates are shown and trusted.
    pub(crate) fn options(self, realm: &Realm) -> Vec<String> {
        match self {
            Self::Tcp | Self::Unix => Vec::new(),
            Self::Tls => realm.options(),
        }
    }
}
