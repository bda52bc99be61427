// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the raw peer listens, over each transport.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;

use orbium_demo::raw::serve;

/// An address: `127.0.0.1:0` for TCP, `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RawAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl FromStr for RawAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        let tcp = text.parse().map(Self::Tcp);
        tcp.map_err(|_| "expected ADDRESS:PORT or unix:PATH".to_owned())
    }
}

impl fmt::Display for RawAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// One side of a connection of any kind.
pub(crate) trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

impl RawAddress {
    /// Connects.
    pub(crate) fn connect(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            #[cfg(unix)]
            Self::Unix(path) => Box::new(UnixStream::connect(path)?),
            #[cfg(not(unix))]
            Self::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    /// Listens.
    pub(crate) fn listen(&self) -> io::Result<Listening> {
        Ok(match self {
            Self::Tcp(address) => Listening::Tcp(TcpListener::bind(address)?),
            #[cfg(unix)]
            Self::Unix(path) => Listening::Unix(UnixListener::bind(path)?, path.clone()),
            #[cfg(not(unix))]
            Self::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        })
    }
}

/// A raw server before it serves.
pub(crate) enum Listening {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, PathBuf),
}

impl Listening {
    /// Where clients find it.
    pub(crate) fn address(&self) -> io::Result<RawAddress> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(RawAddress::Tcp),
            #[cfg(unix)]
            Self::Unix(_, path) => Ok(RawAddress::Unix(path.clone())),
        }
    }

    /// Answers clients until the listener fails.
    pub(crate) fn serve(&self) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => serve(listener),
            #[cfg(unix)]
            Self::Unix(listener, _) => serve(listener),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RawAddress;

    #[test]
    fn addresses_are_read_as_written() {
        for text in ["127.0.0.1:80", "[::1]:9", "unix:/tmp/x"] {
            assert_eq!(text.parse::<RawAddress>().unwrap().to_string(), text);
        }
        assert!("localhost:80".parse::<RawAddress>().is_err());
    }
}
