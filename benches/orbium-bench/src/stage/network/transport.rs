// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transports that a server of the experiments can listen on.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use clap::ValueEnum;

/// A transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// TCP, at a free port
    #[default]
    Tcp,
    /// A Unix socket
    Unix,
    /// Shared memory
    Shm,
}

impl Transport {
    /// The endpoint of a lane: at an address of the host, or in the folder of sockets.
    pub(crate) fn endpoint(self, host: IpAddr, sockets: &Path, lane: &str) -> String {
        match self {
            Self::Tcp => format!("iiop://{}", SocketAddr::new(host, 0)),
            Self::Unix => format!("uiop://{}", sockets.join(lane).display()),
            Self::Shm => format!("shmiop://{}", sockets.join(lane).display()),
        }
    }
}

/// The name on the command line.
impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
            Self::Shm => "shm",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_an_endpoint_of_its_own() {
        let host = IpAddr::from([127, 0, 0, 1]);
        let at = |transport: Transport, lane| transport.endpoint(host, Path::new("/tmp/x"), lane);
        assert_eq!(at(Transport::Tcp, "high"), "iiop://127.0.0.1:0");
        for transport in [Transport::Unix, Transport::Shm] {
            assert_ne!(at(transport, "high"), at(transport, "low"));
        }
        assert_eq!(at(Transport::Shm, "low"), "shmiop:///tmp/x/low");
    }
}
